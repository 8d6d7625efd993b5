"""Which release to take for a use, in a sentence with its reason.

Of the releases in which the belief in 99 of 100 rows is no more than a ceiling, the one that
serves the use best. What serves a use:

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

from discreet.utility.comparison import Point, Recommendation, Use

ROUNDING = 1e-9  # by which a belief of exactly the ceiling may pass it


@dataclass(frozen=True)
class _Merit:
    noun: str
    figure: Callable[[Point], float | None]  # less is better
    shown: Callable[[Point], float | None]
    best: str = "least"
    lacking: str = "has the figure that it takes"


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
        "skill", _without_skill, lambda p: p.skill, "greatest", "was learnt from (--learning)"
    ),
}


def recommend(points: Sequence[Point], unlinked: Point, use: Use, ceiling: float) -> Recommendation:
    """The release to take for a use."""
    merit = _MERITS[use]
    able = [p for p in points if not p.failed and merit.figure(p) is not None]
    judged = [point for point in able if point.belief_99 is not None]
    if not judged:
        return Recommendation(use, None, f"For {use}: none, since no release {merit.lacking}.")
    safe = [point for point in judged if _belief(point) <= ceiling + ROUNDING]
    if not safe:
        least = min(judged, key=_belief)
        return Recommendation(
            use,
            None,
            f"For {use}: none, since the least belief of an attacker in 99 of 100 rows is "
            f"{_belief(least):.3f} ({least.label}), above the ceiling of {ceiling:g}.",
        )
    best = min(safe, key=lambda point: (merit.figure(point) or 0.0, _belief(point)))
    base = merit.shown(unlinked)
    beside = "" if base is None else f" ({base:.3f} with no link at all)"
    reader = (
        f"in which an attacker who knows all quasi-identifiers believes in the truth by at most "
        f"{ceiling:g} for 99 of 100 rows"
    )
    if len(safe) == 1:
        row = "that keeps whole rows and " if use is Use.RECORDS else ""
        reason = (
            f"it is the only release {row}{reader} (by {_belief(best):.3f}); its {merit.noun} is "
            f"{merit.shown(best):.3f}{beside}"
        )
    else:
        reason = (
            f"its {merit.noun} of {merit.shown(best):.3f}{beside} is the {merit.best} of the "
            f"{len(safe)} releases {reader}; for this one by {_belief(best):.3f}"
        )
    return Recommendation(use, best.label, f"For {use}: {best.label}, since {reason}.")


def _belief(point: Point) -> float:
    assert point.belief_99 is not None
    return point.belief_99
