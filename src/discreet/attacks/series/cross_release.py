"""Five attacks on several releases whose values stay (Abdalaal, 2012, sections 4.2.1 to 4.2.5).

| attack | knowledge | belief |
| --- | --- | --- |
| record-linking | columns that two releases share | 1/(matching rows) |
| value-association | who is in which release | share of worlds over all releases |
| correspondence | that a person is in several releases | least count of each value over them |
| value-equivalence | the same | share of worlds in which two people agree |
| tuple-equivalence | that some people agree | the same, in those worlds alone |

A world gives every person one value, the same in all releases, such that each group can be
published as it was. Worlds are counted one by one on components of persons; nothing is said of
people in components with too many, or beyond the first ``MOST_COMPONENTS``. Where it is not stated
which people are known to agree, tuple-equivalence takes every pair that may agree in turn, and
reports the worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.attacks.series.series_view import Series, members_of
from discreet.attacks.series.together import beliefs_together
from discreet.methods.series.beliefs.components import components
from discreet.methods.series.beliefs.correlation import Value
from discreet.methods.series.beliefs.enumeration import MOST_PEOPLE
from discreet.typing import Ints

MOST_WORLDS = 200_000
MOST_COMPONENTS = 20_000  # whose worlds are listed one by one
MOST_PAIRS = 20_000_000  # worlds times pairs of people of a component

Agreement = dict[tuple[str, str], float]


@dataclass(frozen=True)
class CrossFinding:
    """How well one attack does on a series."""

    attack: str
    targets: int
    mean: float  # of the greatest belief about each target
    greatest: float
    certain: int  # targets whose value the attacker knows for certain
    bound: float | None  # what the releases promise together; None if nothing
    not_assessed: int = 0  # targets in components that are too large

    @property
    def exceeded(self) -> bool:
        return self.bound is not None and self.greatest > self.bound + 1e-9

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "exceeded": self.exceeded}


def record_linking(frames: Sequence[pl.DataFrame]) -> CrossFinding:
    """How surely a row of one release is found again in another: 1/(matching rows).

    Rows match where they agree in all columns that both releases have.
    """
    found: list[float] = []
    for number, frame in enumerate(frames):
        best = np.zeros(frame.height)
        for other in [*frames[:number], *frames[number + 1 :]]:
            shared = [name for name in frame.columns if name in other.columns]
            if shared:
                counted = other.group_by(shared).agg(pl.len().alias(" rows"))
                joined = frame.select(shared).join(
                    counted, on=shared, how="left", nulls_equal=True, maintain_order="left"
                )
                matching = joined[" rows"].cast(pl.Float64).fill_null(np.inf).to_numpy()
                best = np.maximum(best, 1 / matching)
        found += best[best > 0].tolist()
    return _finding("record-linking", found, None, 0)


def value_association(series: Series, bound: float | None = None) -> CrossFinding:
    """What is left possible where persons are in several releases, with values that stay.

    Who shares a group with such a person, directly or through others, is a target too.
    """
    belief, joined, assessed = beliefs_together(series)
    skipped = int((joined & ~assessed).sum())
    return _finding("value-association", belief[assessed].tolist(), bound, skipped)


def correspondence(series: Series, bound: float | None = None) -> CrossFinding:
    """The least count of each value over all releases in which a person is."""
    greatest: list[float] = []
    _, first, size = np.unique(series.group_of, axis=1, return_index=True, return_counts=True)
    for person, alike in zip(first, size, strict=True):
        belief = _corresponding(series, int(person)) or {}
        told = [share for value, share in belief.items() if value not in series.harmless]
        if told:
            greatest += [max(told)] * int(alike)
    return _finding("correspondence", greatest, bound, 0)


def corresponding(series: Series, person: str) -> dict[Value, float] | None:
    """The correspondence attack on one person; None for who is in one release only."""
    return _corresponding(series, series.people.index(person))


def _corresponding(series: Series, at: int) -> dict[Value, float] | None:
    groups = [int(group) for group in series.group_of[:, at] if group >= 0]
    if len(groups) < 2:
        return None
    left = series.signature(groups[0])
    for group in groups[1:]:
        other = series.signature(group)
        left = {v: min(count, other[v]) for v, count in left.items() if v in other}
    total = sum(left.values())
    return {v: count / total for v, count in left.items()} if total else None


def value_equivalence(series: Series, bound: float | None = None) -> CrossFinding:
    """Return persons who must share a value with a person of another group."""
    return _agreeing("value-equivalence", series, (), bound)


def tuple_equivalence(
    series: Series,
    alike: Sequence[Sequence[str]] | None = None,
    bound: float | None = None,
) -> CrossFinding:
    """The same for an attacker who knows of some people, or of any one pair, that they agree."""
    return _agreeing("tuple-equivalence", series, alike, bound)


def agreement(series: Series, alike: Sequence[Sequence[str]] = ()) -> tuple[Agreement, int]:
    """How likely two people of a component have the same value; and who is in none assessed."""
    result: Agreement = {}
    skipped = 0
    for members, worlds in _listed_worlds(series):
        if worlds is None:
            skipped += len(members)
            continue
        names = [series.people[member] for member in members]
        one, other = np.triu_indices(len(members), 1)
        left = _known(series, members, worlds, alike)
        shares = (left[:, one] == left[:, other]).mean(axis=0) if len(left) else np.zeros(len(one))
        for i, j, share in zip(one, other, shares, strict=True):
            result[names[i], names[j]] = float(share)
    return result, skipped


def _agreeing(
    attack: str, series: Series, alike: Sequence[Sequence[str]] | None, bound: float | None
) -> CrossFinding:
    """Return for every person the greatest belief to share a value; None: any pair is known."""
    told = {(a, b) for group in alike or () for a in group for b in group}
    greatest: list[float] = []
    skipped = 0
    for members, worlds in _listed_worlds(series):
        if worlds is None:
            skipped += len(members)
            continue
        one, other = np.triu_indices(len(members), 1)
        left = _known(series, members, worlds, alike or ())
        if not len(one) or not len(left):
            continue
        same = left[:, one] == left[:, other]  # (worlds, pairs)
        if alike is None and same.size <= MOST_PAIRS:
            belief = _given_any_pair(same)
        else:
            belief = same.mean(axis=0)
        names = [series.people[member] for member in members]
        new = np.array([(names[i], names[j]) not in told
                        for i, j in zip(one, other, strict=True)])  # fmt: skip
        best = np.zeros(len(members))
        np.maximum.at(best, one[new], belief[new])
        np.maximum.at(best, other[new], belief[new])
        greatest += best.tolist()
    return _finding(attack, greatest, bound, skipped)


def _given_any_pair(same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each pair its greatest chance to agree where one other pair is known to."""
    sums = same.astype(np.float64)
    together = sums.T @ sums  # (pairs, pairs) worlds in which both agree
    alone = np.diag(together).copy()
    possible = alone > 0
    np.fill_diagonal(together, 0.0)
    given = together[possible] / alone[possible, None]
    return np.asarray(np.maximum(alone / len(same), given.max(axis=0, initial=0.0)))


def _known(
    series: Series,
    members: NDArray[np.int64],
    worlds: Ints,  # (worlds, members) the value of each person
    alike: Sequence[Sequence[str]],
) -> Ints:
    """The worlds in which people agree who are known to."""
    place = {series.people[member]: at for at, member in enumerate(members)}
    for group in alike:
        own = [place[name] for name in group if name in place]
        if own:
            worlds = worlds[(worlds[:, own] == worlds[:, own[:1]]).all(axis=1)]
    return worlds


def _listed_worlds(series: Series) -> Iterator[tuple[NDArray[np.int64], Ints | None]]:
    """The people of every component with their worlds; None where these are too many."""
    component = components(series.group_of, len(series.groups.start) - 1)
    ordered, start = members_of(component)
    for number in range(len(start) - 1):
        members = ordered[start[number] : start[number + 1]]
        worlds = _worlds(series, members.tolist()) if number < MOST_COMPONENTS else None
        if worlds is None:
            yield members, None
        else:
            yield members, np.array(worlds, np.int64).reshape(len(worlds), len(members))


def _worlds(series: Series, members: list[int]) -> list[tuple[int, ...]] | None:
    """All worlds of a component whose values stay; None if there are too many."""
    if len(members) > MOST_PEOPLE:
        return None
    left: dict[int, dict[int, int]] = {}
    for group in np.unique(series.group_of[:, members]):
        if group >= 0:
            begin, end = series.groups.start[group], series.groups.start[group + 1]
            values = series.groups.value[begin:end].tolist()
            left[int(group)] = dict(
                zip(values, series.groups.count[begin:end].tolist(), strict=True)
            )
    paths = [[int(g) for g in series.group_of[:, person] if g >= 0] for person in members]

    def walk(at: int) -> Iterator[tuple[int, ...]]:
        if at == len(paths):
            yield ()
            return
        for value in list(left[paths[at][0]]):
            if all(left[group].get(value, 0) > 0 for group in paths[at]):
                for group in paths[at]:
                    left[group][value] -= 1
                for rest in walk(at + 1):
                    yield (value, *rest)
                for group in paths[at]:
                    left[group][value] += 1

    worlds = []
    for world in walk(0):
        worlds.append(world)
        if len(worlds) > MOST_WORLDS:
            return None
    return worlds


def _finding(
    attack: str, greatest: Sequence[float], bound: float | None, skipped: int
) -> CrossFinding:
    return CrossFinding(
        attack=attack,
        targets=len(greatest),
        mean=float(np.mean(greatest)) if greatest else 0.0,
        greatest=max(greatest, default=0.0),
        certain=sum(belief > 1 - 1e-9 for belief in greatest),
        bound=bound,
        not_assessed=skipped,
    )
