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

Recommend a release for a use, with the reason.

The unlinked baseline is a candidate too. Of the candidates whose 99th-percentile belief is within a
ceiling, or no greater than without a link, and that neither the baseline nor another one dominates,
the one with the best figure; of equal ones the one with the lowest belief, then D, then query
error:

============  ==================================================================================
use           figure
============  ==================================================================================
queries       the median error of COUNT queries
associations  the divergence ratio D
records       the loss, of releases that keep whole rows
learning      the skill of a model that was trained on the release
============  ==================================================================================
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from discreet.result import Result
from discreet.statements import Statement
from discreet.table.roles import Unit

REFUSE = "Do not publish"  # the verdict that keeps a release from appearing
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
    verdict: str | None = None  # of ``publish``, where a release was to be recommended

    @property
    def refused(self) -> bool:
        """Whether ``publish`` would refuse it."""
        return self.verdict == REFUSE

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
    provenance: Mapping[str, Any] = field(default_factory=dict)  # what a rerun needs

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
        # The table of all releases, each column as wide as its widest cell.
        rows = [_HEAD, *(_cells(point) for point in (*self.points, self.unlinked))]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            ).rstrip()
            for row in rows
        ]
        # Above it what to publish, and under which ceiling.
        advice = [recommendation.sentence for recommendation in self.recommendations]
        if advice:
            advice.insert(0, self.advice)
            ceiling = raised_ceiling(self.ceiling, self.unlinked)
            frequent = ceiling > self.ceiling + ROUNDING
            advice += [
                f"Only releases in which an attacker who knows all quasi-identifiers believes the "
                f"true value with at most {ceiling:.3g} for 99 of 100 {self.unit.plural}"
                f"{' with a sensitive value' * self.sensitive_only} are recommended"
                f"{', which is believed without any link' * frequent}.",
                "",
            ]
        # Below it failures, notes, and what was not tried.
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

    @property
    def best(self) -> Point | None:
        """The release that is recommended for most uses; of several, for the first of them."""
        labels = [advised.label for advised in self.recommendations if advised.label is not None]
        if not labels:
            return None
        best = max(labels, key=lambda label: (labels.count(label), -labels.index(label)))
        return next(point for point in (*self.points, self.unlinked) if point.label == best)

    @property
    def advice(self) -> str:
        """What to publish, and the trade-off; or what to do where nothing qualifies."""
        # Nothing qualifies: say what would be refused.
        best = self.best
        if best is None:
            refused = [point.label for point in (*self.points, self.unlinked) if point.refused]
            why = f" ('publish' would refuse {', '.join(refused)})" if refused else ""
            return (
                f"Advice: publish none of these{why}. 'discreet repair' finds changes of the job "
                "after which a release may be published."
            )
        # What to publish, and what it trades against what.
        words = [f"Advice: publish {best.label}"]
        words.append("." if best.verdict is None else f" (verdict: {best.verdict}).")
        base = self.unlinked
        if best.label == base.label:
            words.append(
                " No release beats two tables without a link: quasi-identifiers stay exact, and "
                "nothing tells which sensitive values go with them."
            )
        elif best.belief_99 is not None and base.belief_99 is not None:
            gain = "the link of quasi-identifiers and sensitive attributes is published"
            if best.query_error is not None and base.query_error is not None:
                gain = (
                    f"counts are off by {best.query_error:.1%} instead of {base.query_error:.1%} "
                    "without any link"
                )
            words.append(
                f" It is a trade: {gain}, and an attacker believes the true value of 99 of 100 "
                f"{self.unit.plural} with at most {best.belief_99:.0%} instead of "
                f"{base.belief_99:.0%}."
            )
        return "".join(words)

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
            "provenance": dict(self.provenance),
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
    "release", "D", "belief 99%", "greatest", "query error", "KL", "skill", "suppressed",
    "seconds", "",
)  # fmt: skip


def _cells(point: Point) -> tuple[str, ...]:
    def shown(figure: float | None, digits: str = ".3f") -> str:
        return "–" if figure is None else format(figure, digits)

    note = "failed" if point.failed else "refused" if point.refused else ""
    note = note or ("dominated" if point.dominated else "")
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
    """The same points, those that another one or the unlinked baseline dominates marked."""
    candidates = [*points, unlinked]
    return tuple(
        replace(
            point,
            dominated=any(dominates(other, point) for other in candidates),
            belief_gain=None
            if point.belief_99 is None or unlinked.belief_99 is None
            else point.belief_99 - unlinked.belief_99,
        )
        for point in points
    )


def dominates(point: Point, other: Point) -> bool:
    """Whether a point is no worse than another in D, belief and query error, and better in one."""
    names = ("divergence_ratio", "belief_99", "query_error")
    pairs = [(getattr(point, name), getattr(other, name)) for name in names]
    if None in pairs[0] or None in pairs[1]:
        return False
    compared = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all(a <= b for a, b in compared) and any(a < b for a, b in compared)


ROUNDING = 1e-9  # by which a belief of exactly the ceiling may pass it
DIGITS = 9  # of figures that are compared


@dataclass(frozen=True)
class _Merit:
    noun: str
    figure: Callable[[Point], float | None]  # less is better
    shown: Callable[[Point], float | None]
    best: str = "lowest"
    lacking: str = "has a figure for this use"


def _loss_of_records(point: Point) -> float | None:
    return point.loss if point.has_records else None


def _without_skill(point: Point) -> float | None:
    return None if point.skill is None else -point.skill


_MERITS = {
    Use.QUERIES: _Merit("median query error", lambda p: p.query_error, lambda p: p.query_error),
    Use.ASSOCIATIONS: _Merit(
        "divergence ratio", lambda p: p.divergence_ratio, lambda p: p.divergence_ratio
    ),
    Use.RECORDS: _Merit("loss", _loss_of_records, _loss_of_records, lacking="keeps whole rows"),
    Use.LEARNING: _Merit(
        "skill", _without_skill, lambda p: p.skill, "highest", "was used for learning (--learning)"
    ),
}


def recommend(points: Sequence[Point], unlinked: Point, use: Use, ceiling: float) -> Recommendation:
    """Return the recommended release for a use; the unlinked baseline where nothing beats it."""
    # Releases that have the figure of this use, and a belief; and two tables without a link.
    merit = _MERITS[use]
    judged = [p for p in points if _publishable(p) and merit.figure(p) is not None]
    judged = [point for point in judged if point.belief_99 is not None]
    known = unlinked.belief_99
    base = _publishable(unlinked) and merit.figure(unlinked) is not None and known is not None
    none = f"Recommended for {use}: none."
    if not judged and not base:
        return Recommendation(use, None, f"{none} No release {merit.lacking}.")
    ceiling = raised_ceiling(ceiling, unlinked)
    # Releases within the ceiling.
    safe = [point for point in judged if _belief(point) <= ceiling + ROUNDING]
    if not safe and not base:
        least = min(judged, key=_belief)
        return Recommendation(
            use,
            None,
            f"{none} The lowest 99th-percentile belief is {_belief(least):.3f} ({least.label}), "
            f"above the ceiling of {ceiling:g}.",
        )
    # Those that two tables without a link do not dominate, and these tables.
    candidates = [point for point in safe if not dominates(unlinked, point)]
    if base:
        candidates.append(unlinked)
    if not candidates:
        return Recommendation(
            use,
            None,
            f"{none} Two tables without a link dominate every release within the ceiling.",
        )
    # The best of them by the figure of the use, which need not be an axis of dominance.
    undominated = [one for one in candidates if not any(dominates(two, one) for two in candidates)]
    best = min(undominated, key=lambda point: _order(merit, point))
    if best is unlinked:
        return Recommendation(
            use,
            unlinked.label,
            f"Recommended for {use}: no release beats two tables without a link, the "
            f"quasi-identifiers and the sensitive attributes ({merit.noun} "
            f"{merit.shown(unlinked):.3f}, 99th-percentile belief {known:.3f}).",
        )
    baseline = merit.shown(unlinked)
    beside = "" if baseline is None else f" (unlinked baseline: {baseline:.3f})"
    whole = " with whole rows" if use is Use.RECORDS else ""
    better = [point for point in safe if _order(merit, point)[0] < _order(merit, best)[0]]
    rank = (
        f"the only release{whole} within the ceiling"
        if len(safe) == 1
        else f"the {merit.best} of {len(safe)} releases{whole} within the ceiling"
        if not better
        else f"the {merit.best} within the ceiling of those that no other dominates"
    )
    without = "" if known is None else f", {known:.3f} without any link"
    return Recommendation(
        use,
        best.label,
        f"Recommended for {use}: {best.label}. Its {merit.noun} is {merit.shown(best):.3f}"
        f"{beside}, {rank}; 99th-percentile belief {_belief(best):.3f}{without}.",
    )


def raised_ceiling(ceiling: float, unlinked: Point) -> float:
    """Return the ceiling, or what is believed without any link where that is more.

    A value that fills most of the table is believed whatever is published.
    """
    return max(ceiling, unlinked.belief_99 or 0.0)


def _publishable(point: Point) -> bool:
    return not point.failed and not point.refused


def _order(merit: _Merit, point: Point) -> tuple[float, ...]:
    """Return what is compared; sums in another order may differ in the last digit."""
    figures = merit.figure(point), point.belief_99, point.divergence_ratio, point.query_error
    return tuple(round(figure or 0.0, DIGITS) for figure in figures)


def _belief(point: Point) -> float:
    assert point.belief_99 is not None
    return point.belief_99
