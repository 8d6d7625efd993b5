"""Releases of one table side by side: utility against disclosure risk.

Every point is measured by what all kinds of release share, the distribution p2 that they imply:

- utility: the *divergence ratio* D, 0 for the original, 1 for independent attributes;
- risk: the belief in the true value of one fixed attacker, who knows all quasi-identifiers and
  derives the sensitive value from p2. ``belief_99`` is the 99th percentile over rows,
  ``belief_max`` the greatest, both of the worst attribute; over persons where these have several
  rows.

The unlinked baseline, quasi-identifiers and sensitive attributes in two tables without a link, is a
candidate like any other: ``belief_gain`` is what a release adds to its belief. A point is
*dominated* where another candidate has no greater D, belief and query error, and less of one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from discreet.result import Result
from discreet.statements import Statement
from discreet.table.roles import Unit

CEILING = 0.5  # above it, the attacker is more often right than wrong


class Use(StrEnum):
    """What a release is wanted for."""

    QUERIES = "queries"  # counting people
    ASSOCIATIONS = "associations"  # what goes with what
    RECORDS = "records"  # a row for every person
    LEARNING = "learning"  # models that predict a sensitive attribute


@dataclass(frozen=True)
class Point:
    """One method with one setting: what came of it. Figures that could not be had are None."""

    label: str  # unique in a comparison: "anatomy l=3"
    method: str
    parameters: Mapping[str, Any]  # those that were varied
    kind: str | None = None  # of release
    has_records: bool = False  # whether one table has everything, a row a person
    divergence_ratio: float | None = None  # D
    belief_99: float | None = None
    belief_max: float | None = None
    belief_gain: float | None = None  # belief_99 above that of the unlinked baseline
    query_error: float | None = None  # the median
    kl_divergence: float | None = None  # nats
    association: float | None = None  # lost between quasi-identifiers and sensitive attributes
    association_sensitive: float | None = None  # lost between sensitive attributes
    loss: float | None = None  # of quasi-identifiers; not to be compared across kinds
    loss_sensitive: float | None = None
    skill: float | None = None  # learning: 1 as from the original, 0 as from the unlinked baseline
    accuracy: float | None = None
    pinned: float | None = None  # share of generalized cells that show a value which occurs
    population_risk: float | None = None  # mean risk of a link to the population
    population_risk_max: float | None = None
    suppressed_rows: int | None = None
    suppressed_share: float | None = None
    dominated: bool = False
    failure: str | None = None  # why there is no release
    infeasible: bool = False  # because a guarantee cannot be met
    seconds: float = 0.0  # of the method, from data to audited tables
    given: Mapping[str, Any] = field(default_factory=dict)  # the method's other parameters
    note: str | None = None  # how the job's requirements were translated

    @property
    def failed(self) -> bool:
        return self.failure is not None


@dataclass(frozen=True)
class Recommendation:
    """The recommended release for a use, and why."""

    use: Use
    label: str | None  # of the point; None where none will do
    sentence: str


@dataclass(frozen=True)
class Comparison(Result):
    """Several methods on one table."""

    points: tuple[Point, ...]  # in the order in which they were asked for
    unlinked: Point  # the baseline: all rows in one bucket
    recommendations: tuple[Recommendation, ...]
    rows: int  # of the source
    ceiling: float = CEILING  # the greatest belief_99 that a recommended release may have
    persons: int | None = None  # of the source, where one may have several rows
    untried: tuple[str, ...] = ()  # settings that the time budget left out
    sensitive_only: bool = False  # whether some values may be disclosed: beliefs leave them out

    def __getitem__(self, label: str) -> Point:
        for point in self.points:
            if point.label == label:
                return point
        raise KeyError(label)

    @property
    def counted_source(self) -> str:
        """The rows of the source, with its persons where these may have several each."""
        if self.persons is None:
            return Statement("source.rows", rows=self.rows)
        return Statement("source.persons", rows=self.rows, persons=self.persons)

    @property
    def unit(self) -> Unit:
        """The unit of ``belief_99``: the person where one may have several rows."""
        return Unit.ROW if self.persons is None else Unit.PERSON

    @property
    def published(self) -> list[Point]:
        """The points that came to a release."""
        return [point for point in self.points if not point.failed]

    def __str__(self) -> str:
        """Recommendations, a table of all releases, and the reasons of failures."""
        rows = [_HEAD, *(_cells(point) for point in (*self.points, self.unlinked))]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            ).rstrip()
            for row in rows
        ]
        advice = [recommendation.sentence for recommendation in self.recommendations]
        if advice:
            advice += [
                f"Only releases in which an attacker who knows all quasi-identifiers believes the "
                f"true value with at most {self.ceiling:g} for 99 of 100 {self.unit.plural}"
                f"{' with a sensitive value' * self.sensitive_only} are recommended.",
                "",
            ]
        failed: dict[str, list[str]] = {}
        for point in (*self.points, self.unlinked):
            if point.failure is not None:
                failed.setdefault(point.failure, []).append(point.label)
        lines += [f"{', '.join(labels)}: {reason}" for reason, labels in failed.items()]
        notes = {point.note: point.method for point in self.points if point.note}
        lines += [f"{method}: {note}." for note, method in notes.items()]
        if self.untried:
            lines.append(f"Not tried within the time budget: {', '.join(self.untried)}.")
        return "\n".join([*advice, *lines])

    def save(self, folder: str | Path) -> Path:
        """Write ``comparison.json``, ``comparison.csv`` and the page into a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        (folder / "comparison.json").write_text(text + "\n", encoding="utf-8")
        (folder / "comparison.csv").write_text(self.to_csv(), encoding="utf-8")
        self.save_page(folder / "comparison.html")
        return folder

    def to_dict(self) -> dict[str, Any]:
        """``comparison.json``."""
        return {
            "rows": self.rows,
            **({} if self.persons is None else {"persons": self.persons}),
            "ceiling": self.ceiling,
            "points": [_written(point) for point in self.points],
            "untried": list(self.untried),
            "unlinked": _written(self.unlinked),
            "recommendations": [
                {
                    "for": str(recommendation.use),
                    "label": recommendation.label,
                    "sentence": recommendation.sentence,
                }
                for recommendation in self.recommendations
            ],
        }

    def to_csv(self) -> str:
        """``comparison.csv``: a line for each point, the baseline last."""
        varied = list(dict.fromkeys(key for point in self.points for key in point.parameters))
        figures = [name for name in asdict(self.unlinked) if name not in ("parameters", "given")]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*figures[:2], *varied, *figures[2:]])
        for point in (*self.points, self.unlinked):
            cells = asdict(point)
            chosen = [point.parameters.get(key) for key in varied]
            writer.writerow(
                [cells[figures[0]], cells[figures[1]], *chosen, *(cells[n] for n in figures[2:])]
            )
        return text.getvalue()


_HEAD = (
    "release", "D", "belief 99 %", "greatest", "query error", "KL", "skill", "suppressed",
    "seconds", "",
)  # fmt: skip


def _cells(point: Point) -> tuple[str, ...]:
    def shown(figure: float | None, digits: str = ".3f") -> str:
        return "–" if figure is None else format(figure, digits)

    note = "failed" if point.failed else "dominated" if point.dominated else ""
    return (
        point.label,
        shown(point.divergence_ratio),
        shown(point.belief_99),
        shown(point.belief_max),
        shown(point.query_error),
        shown(point.kl_divergence),
        shown(point.skill),
        shown(point.suppressed_rows, ",d"),
        shown(point.seconds or None, ".1f"),
        note,
    )


def _written(point: Point) -> dict[str, Any]:
    return {name: value for name, value in asdict(point).items() if value is not None}


def mark_dominated(points: Sequence[Point], unlinked: Point) -> tuple[Point, ...]:
    """The same points, those that another one or the unlinked baseline outdoes marked."""
    candidates = [*points, unlinked]
    return tuple(
        replace(
            point,
            dominated=any(outdoes(other, point) for other in candidates),
            belief_gain=None
            if point.belief_99 is None or unlinked.belief_99 is None
            else point.belief_99 - unlinked.belief_99,
        )
        for point in points
    )


def outdoes(point: Point, other: Point) -> bool:
    """Whether a point is no worse than another in D, belief and query error, and better in one."""
    names = ("divergence_ratio", "belief_99", "query_error")
    pairs = [(getattr(point, name), getattr(other, name)) for name in names]
    if None in pairs[0] or None in pairs[1]:
        return False
    compared = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all(a <= b for a, b in compared) and any(a < b for a, b in compared)
