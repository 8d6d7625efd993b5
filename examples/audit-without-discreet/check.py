"""Check a release without discreet: hashes, and guarantees of a table with one row a record.

Standard library only, so that an auditor can read all of it: ``python check.py RELEASE``.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

Group = list[dict[str, str]]


def entropy_l(counts: list[int]) -> float:
    rows = sum(counts)
    return math.exp(-sum(n / rows * math.log(n / rows) for n in counts))


# What each requirement asks of a group: its rows, an attribute, the parameters.
ASKED = {
    "k-anonymity": lambda rows, counts, asked: rows >= asked["k"],
    "distinct-l-diversity": lambda rows, counts, asked: len(counts) >= asked["l"],
    "entropy-l-diversity": lambda rows, counts, asked: entropy_l(counts) >= asked["l"] - 1e-9,
    "p-diversity": lambda rows, counts, asked: max(counts) * Fraction(str(asked["l"])) <= rows,
    "alpha-k-anonymity": lambda rows, counts, asked: (
        rows >= asked["k"] and max(counts) <= Fraction(str(asked["alpha"])) * rows
    ),
}


def groups_of(folder: Path, manifest: dict) -> tuple[list[Group], list[str]]:
    """The rows that agree in all quasi-identifiers, and the sensitive columns."""
    ((_, table),) = manifest["tables"].items()
    roles = table["columns"]
    quasi = [name for name, role in roles.items() if role == "quasi-identifier"]
    groups: dict[tuple[str, ...], Group] = defaultdict(list)
    with (folder / table["file"]).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups[tuple(row[name] for name in quasi)].append(row)
    return list(groups.values()), [name for name, role in roles.items() if role == "sensitive"]


def main(folder: Path) -> int:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for table in manifest["tables"].values():
        found = hashlib.sha256((folder / table["file"]).read_bytes()).hexdigest()
        print(f"{table['file']}: {'unchanged' if found == table['sha256'] else 'CHANGED'}")
        if found != table["sha256"]:
            return 1
    if manifest["kind"] != "generalized":
        print(f"A {manifest['kind']} release has several tables: use 'discreet audit'.")
        return 2
    if (manifest.get("person") or {}).get("rows") == "keep":
        print("A person may have several rows, and guarantees count persons: use 'discreet audit'.")
        return 2
    groups, sensitive = groups_of(folder, manifest)
    print(f"{sum(map(len, groups)):,} rows in {len(groups):,} groups, the smallest of "
          f"{min(map(len, groups))}.")  # fmt: skip
    failed = False
    for promise in manifest["promises"]:
        asked = dict(promise["parameters"])
        named = asked.get("attribute") or sensitive
        passes = ASKED.get(promise["requirement"])
        if passes is None or asked.get("level") or asked.get("non_sensitive"):
            print(f"{promise['requirement']}: not checked here")
            continue
        kept = all(
            passes(len(rows), list(Counter(row[name] for row in rows).values()), asked)
            for rows in groups
            for name in ([named] if isinstance(named, str) else named)
        )
        failed |= not kept
        print(f"{promise['requirement']} {asked}: {'holds' if kept else 'FAILS'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
