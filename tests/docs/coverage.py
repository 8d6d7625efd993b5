"""The share of lines that tests run, by package, as a table for ``docs/coverage.md``.

``python -m tests.docs.coverage .coverage.json`` prints it, from the JSON report of coverage.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def table(report: Path) -> str:
    """Return a row for each package below ``discreet`` and one for all, as Markdown."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file, entry in json.loads(report.read_text(encoding="utf-8"))["files"].items():
        inside = file.partition("src/discreet/")[2].split("/")
        package = f"{inside[0]}/" if len(inside) > 1 else "discreet"
        for name in (package, "all"):
            found[name][0] += entry["summary"]["num_statements"]
            found[name][1] += entry["summary"]["covered_lines"]
    rows = [
        f"| `{name}` | {lines:,} | {covered / max(lines, 1):.0%} |"
        for name, (lines, covered) in sorted(found.items(), key=lambda one: (one[0] == "all", one))
    ]
    return "\n".join(["| package | statements | run |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))  # noqa: T201
