"""The five attacks on several releases of paper 001, section 4.2, on a series whose values stay.

| attack | knowledge | belief |
| --- | --- | --- |
| record-linking | columns that two releases share | 1/(matching rows) |
| value-association | who is in several releases | share of worlds over all releases |
| correspondence | that a person is in several releases | least count of each value over them |
| value-equivalence | the same | share of worlds in which two people agree |
| tuple-equivalence | that some people agree | the same, in those worlds alone |

A world gives every person one value, the same in all releases, such that each group can be
published as it was. Worlds are counted one by one on components of persons; ``None`` stands where a
component has too many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.attacks.series import Series, members_of
from discreet.models.correlation import Correlation, Value
from discreet.models.enumeration import MOST_PEOPLE
from discreet.models.series import Belief, beliefs, components

MOST_WORLDS = 200_000
STAY = Correlation(unstated="stay")

Agreement = dict[tuple[str, str], float]


@dataclass(frozen=True)
class CrossFinding:
    """How well one attack does on a series."""

    attack: str
    targets: int
    mean: float  # of the greatest belief about each target
    greatest: float
    certain: int  # targets about whom the reader is certain
    bound: float | None  # what the releases promise together; None if nothing
    not_assessed: int = 0  # targets in components that are too large

    @property
    def exceeded(self) -> bool:
        return self.bound is not None and self.greatest > self.bound + 1e-9

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "exceeded": self.exceeded}


def record_linking(
    first: Sequence[Mapping[str, Value]],
    second: Sequence[Mapping[str, Value]],
    target: str,
) -> list[dict[Value, float]]:
    """For each row of the second release, the belief in the target column of the first.

    Rows are joined where they agree in all columns that both releases have.
    """
    shared = [name for name in (second[0] if second else {}) if first and name in first[0]]
    by_key: dict[tuple[Value, ...], Counter[Value]] = {}
    for row in first:
        by_key.setdefault(tuple(row[name] for name in shared), Counter())[row[target]] += 1
    result = []
    for row in second:
        found = by_key.get(tuple(row[name] for name in shared), Counter())
        total = sum(found.values())
        result.append({value: count / total for value, count in found.items()})
    return result


def value_association(series: Series, bound: float | None = None) -> CrossFinding:
    """What is left possible for those who are in several releases, with values that stay."""
    matrix = STAY.matrix(series.values)
    component = components(series.group_of, len(series.groups.start) - 1)
    greatest: list[float] = []
    skipped = 0
    for members in members_of(component):
        own = series.group_of[:, members]
        several = (own >= 0).sum(axis=0) > 1
        if not several.any():
            continue
        found, belief = beliefs(own, series.groups, matrix)
        if found is Belief.TOO_LARGE:
            skipped += int(several.sum())
        elif found is Belief.EXACT:
            greatest += belief.max(axis=(0, 2))[several].tolist()
    return _finding("value-association", greatest, bound, skipped)


def correspondence(series: Series, bound: float | None = None) -> CrossFinding:
    """The least count of each value over all releases in which a person is."""
    greatest = []
    for person in np.flatnonzero((series.group_of >= 0).sum(axis=0) > 1):
        belief = _corresponding(series, int(person))
        if belief is not None:
            greatest.append(max(belief.values()))
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
    """Who must have the same value as somebody that the reader never saw beside them."""
    return _agreeing("value-equivalence", series, (), bound)


def tuple_equivalence(
    series: Series, alike: Sequence[Sequence[str]], bound: float | None = None
) -> CrossFinding:
    """The same for a reader who knows of some people that they have one value."""
    return _agreeing("tuple-equivalence", series, alike, bound)


def agreement(series: Series, alike: Sequence[Sequence[str]] = ()) -> tuple[Agreement, int]:
    """How likely two people of a component have the same value; and who is in none assessed."""
    result: Agreement = {}
    skipped = 0
    component = components(series.group_of, len(series.groups.start) - 1)
    for members in members_of(component):
        names = [series.people[member] for member in members]
        place = {name: at for at, name in enumerate(names)}
        known = [[place[name] for name in one if name in place] for one in alike]
        worlds = _worlds(series, members.tolist())
        if worlds is None:
            skipped += len(members)
            continue
        kept = [w for w in worlds if all(len({w[at] for at in one}) <= 1 for one in known)]
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                same = sum(world[one] == world[other] for world in kept)
                result[names[one], names[other]] = same / len(kept) if kept else 0.0
    return result, skipped


def _agreeing(
    attack: str, series: Series, alike: Sequence[Sequence[str]], bound: float | None
) -> CrossFinding:
    pairs, skipped = agreement(series, alike)
    told = {frozenset(pair) for one in alike for pair in ((a, b) for a in one for b in one)}
    greatest: dict[str, float] = {}
    for (one, other), share in pairs.items():
        if frozenset((one, other)) in told:
            continue
        greatest[one] = max(greatest.get(one, 0.0), share)
        greatest[other] = max(greatest.get(other, 0.0), share)
    return _finding(attack, list(greatest.values()), bound, skipped)


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
