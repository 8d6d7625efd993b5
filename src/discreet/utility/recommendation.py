"""Recommend a release for a use, with the reason.

The unlinked baseline is a candidate too. Of the candidates whose 99th-percentile belief is within a
ceiling, and that neither the baseline nor another one dominates, the one with the best figure; of
equal ones the one with the lowest belief, then D, then query error:

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.utility.comparison import Point, Recommendation, Use, outdoes

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
    # Releases that have the figure of this use, and a belief.
    merit = _MERITS[use]
    able = [p for p in points if not p.failed and merit.figure(p) is not None]
    judged = [point for point in able if point.belief_99 is not None]
    none = f"Recommended for {use}: none."
    if not judged:
        return Recommendation(use, None, f"{none} No release {merit.lacking}.")
    # The ceiling can be below what is believed without any release.
    known = unlinked.belief_99
    if known is not None and known > ceiling + ROUNDING:
        return Recommendation(
            use,
            None,
            f"{none} No release can meet the ceiling of {ceiling:g}: without any link the true "
            f"value is already believed with {known:.3f}, since some value is that frequent.",
        )
    # Releases within the ceiling.
    safe = [point for point in judged if _belief(point) <= ceiling + ROUNDING]
    if not safe:
        least = min(judged, key=_belief)
        return Recommendation(
            use,
            None,
            f"{none} The lowest 99th-percentile belief is {_belief(least):.3f} ({least.label}), "
            f"above the ceiling of {ceiling:g}.",
        )
    # Those that two tables without a link do not dominate, and these tables.
    candidates = [point for point in safe if not outdoes(unlinked, point)]
    if not unlinked.failed and merit.figure(unlinked) is not None and known is not None:
        candidates.append(unlinked)
    if not candidates:
        return Recommendation(
            use,
            None,
            f"{none} Two tables without a link are no worse than every release within the ceiling, "
            "in divergence, belief and query error.",
        )
    # The best of them by the figure of the use, which need not be an axis of dominance.
    undominated = [one for one in candidates if not any(outdoes(two, one) for two in candidates)]
    best = min(undominated, key=lambda point: _order(merit, point))
    if best is unlinked:
        return Recommendation(
            use,
            unlinked.label,
            f"Recommended for {use}: no release beats two tables without a link, the "
            f"quasi-identifiers and the sensitive attributes ({merit.noun} "
            f"{merit.shown(unlinked):.3f}, 99th-percentile belief {known:.3f}).",
        )
    base = merit.shown(unlinked)
    beside = "" if base is None else f" (unlinked baseline: {base:.3f})"
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


def _order(merit: _Merit, point: Point) -> tuple[float, ...]:
    """Return what is compared; sums in another order may differ in the last digit."""
    figures = merit.figure(point), point.belief_99, point.divergence_ratio, point.query_error
    return tuple(round(figure or 0.0, DIGITS) for figure in figures)


def _belief(point: Point) -> float:
    assert point.belief_99 is not None
    return point.belief_99
