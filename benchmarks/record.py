"""The figures of the suite, kept in ``results.json``; RESULTS.md is made from them alone.

A part that runs again replaces its own figures, so that every line has the day and the load of the
run that measured it.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

FOLDER = Path(__file__).resolve().parent
RECORD = FOLDER / "results.json"
RESULTS = FOLDER / "RESULTS.md"
PACKAGES = ("numpy", "polars", "pydantic", "numba", "pyarrow", "pyspark")
HEAD = [
    "| what | rows | seconds | processor | GB | loss | ratio | to | asked for | met |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |",
]
SHOWN_FIRST: dict[str, tuple[str, ...]] = {  # beginnings of the lines that most readers look for
    "whole-path": ("Adult",),
    "decomposition": ("discreet publish", "anatomy"),
    "peers": ("anonypy", "anjana", "discreet"),
    "check": ("pycanon", "discreet check, CSV"),
    "spark": ("mondrian",),
}


@dataclass
class Part:
    """What one part of the suite measured, and when."""

    name: str
    day: str
    load: float  # average of the 15 minutes before it ended
    minutes: float
    quick: bool
    figures: list[Figure]

    @classmethod
    def of(cls, name: str, figures: list[Figure], seconds: float, quick: bool) -> Part:
        """Return a part that has just ended."""
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        return cls(name, day, round(os.getloadavg()[2], 1), round(seconds / 60, 1), quick, figures)


@dataclass
class Record:
    """The newest figures of every part, in the order of the suite."""

    machine: str = ""
    parts: list[Part] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path = RECORD) -> Record:
        """Return the record of earlier runs; an empty one where there is none."""
        if not path.exists():
            return cls()
        kept = json.loads(path.read_text(encoding="utf-8"))
        parts = [
            Part(**{**part, "figures": [Figure(**figure) for figure in part["figures"]]})
            for part in kept["parts"]
        ]
        return cls(kept["machine"], parts)

    def add(self, part: Part, order: Sequence[str]) -> None:
        """Replace what the part measured before."""
        self.machine = machine()
        self.parts = [one for one in self.parts if one.name != part.name] + [part]
        self.parts.sort(key=lambda one: list(order).index(one.name))

    def write(self, folder: Path = FOLDER) -> None:
        """Write the record, and the page that is made from it."""
        kept = asdict(self)
        for part in kept["parts"]:
            part["figures"] = [_without_defaults(figure) for figure in part["figures"]]
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        (folder / RECORD.name).write_text(text + "\n", encoding="utf-8")
        (folder / RESULTS.name).write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """Return RESULTS.md."""
        lines = [
            "# Benchmark results",
            "",
            f"{self.machine}. Made by `make bench`; do not edit: "
            "`results.json` has the same figures. Seconds by the clock and of all processors "
            "together are those of one run, or of the best of a few; GB is the greatest resident "
            "size of the process. Ratios are of the same run. Where the load is above the number "
            "of processors, others were at work, and processor time says more than the clock.",
            "",
            "| part | day | load | minutes |",
            "| --- | --- | ---: | ---: |",
        ]
        lines += [
            f"| {part.name}{' (quick)' if part.quick else ''} | {part.day} | {part.load:.1f} | "
            f"{part.minutes:.1f} |"
            for part in self.parts
        ]
        lines += ["", "## In short", "", *HEAD, *self._shown_first()]
        missed = [
            f"- {figure.section}: {figure.what}, {figure.rows:,} rows: {figure.ratio:.3g} × "
            f"{figure.ratio_to}, asked for {figure.bound}"
            for part in self.parts
            for figure in part.figures
            if figure.met is False
        ]
        lines += ["", "## What is asked for and not reached", "", *(missed or ["Nothing."])]
        for part in self.parts:
            tables: dict[str, list[str]] = {}
            for figure in part.figures:
                tables.setdefault(figure.section, []).append(_line(figure))
            for section, table in tables.items():
                lines += ["", f"## {section}", "", *HEAD, *table]
        return "\n".join(lines) + "\n"

    def _shown_first(self) -> Iterator[str]:
        for part in self.parts:
            for figure in part.figures:
                if figure.seconds and figure.what.startswith(SHOWN_FIRST.get(part.name, ())):
                    yield _line(figure)


def machine() -> str:
    """Return processors, memory, system and versions in a line."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    programs = [f"Python {platform.python_version()}"]
    programs += [f"{name} {version(name)}" for name in PACKAGES]
    return (
        f"{os.cpu_count()} processors ({model}), {memory:.0f} GB, {platform.system()}, "
        f"{', '.join(programs)}"
    )


def _without_defaults(figure: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figure.items() if value not in (None, "")}


def _line(figure: Figure) -> str:
    return f"| {' | '.join(cells(figure))} |"


def cells(figure: Figure) -> list[str]:
    """Return the cells of a line, as they are printed."""

    def shown(number: float | None, digits: str) -> str:
        return "" if number is None else format(number, digits)

    met = {None: "", True: "yes", False: "**no**"}[figure.met]
    return [
        figure.what,
        f"{figure.rows:,}" if figure.rows else "",
        shown(figure.seconds, ".3g"),
        shown(figure.processor, ".3g"),
        shown(figure.memory, ".2f"),
        shown(figure.loss, ".4f"),
        shown(figure.ratio, ".3g"),
        figure.ratio_to,
        figure.bound,
        met,
    ]
