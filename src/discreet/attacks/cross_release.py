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
people in components with too many, or beyond the first ``MOST_STATES``. Where it is not stated
which people are known to agree, tuple-equivalence takes every pair that may agree in turn, and
reports the worst.

BCF-anonymity: how many rows remain for a person after correspondence attacks on a series.

Fung, Wang, Fu and Pei (2008), whose BCF-anonymity Abdalaal (2012, section 4.2.3) names. An attacker
knows a person's groups and that values stay, so a row of a person has a counterpart with the same
value in every release that has the person. n_G(s) is the number of rows of group G with value s.

- *Forward and cross*: of a person in several releases, only min n_G(s) rows with s, over the
  person's groups, can have counterparts in all of them; the other rows of each group are excluded.
  Both attacks leave Σ_s min n_G(s) rows: forward of the earlier group, cross of the later one.
- *Backward*: of a person who is in R_j and not in R_i, rows of the person's group G that must
  belong to people of R_i are excluded. Let H be all groups of R_i that share a person with G, and K
  all groups of R_j that share a person with a group of H. Of the rows of H with s, those of people
  who left and counterfeits need no counterpart, and the groups of K other than G take at most
  n_K(s) − n_G(s); so max(0, n_H(s) − left(H) − counterfeits(H) − (n_K(s) − n_G(s))) rows of G with
  s are excluded. The same, with the two releases exchanged, holds of a person who left: R_i is then
  the later release, and its rows of people who arrived and counterfeits need no counterpart.

Departures: groups share a person instead of having comparable cells, which an attacker who knows
everybody's group can tell; people may leave, where the paper only has insertions; forward and cross
attacks use all releases of a person at once, backward attacks every pair of releases. Values must
stay: a value that changed has no counterpart.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.attacks.series_beliefs import Series, beliefs_together, members_of
from discreet.methods.series.beliefs.components import components
from discreet.methods.series.beliefs.correlation import Value
from discreet.methods.series.beliefs.enumeration import MOST_PEOPLE
from discreet.table.budgets import MOST_STATES, TABLE_CELLS
from discreet.typing import Ints

ALL = np.iinfo(np.int64).max  # rows left of a person whom no attack concerns


@dataclass(frozen=True)
class Correspondences:
    """The fewest rows that remain for a person; None where no person can be attacked so."""

    returning: int | None  # after forward and cross attacks on people in several releases
    arriving: int | None  # after backward attacks on people who another release lacks
    people: int  # who can be attacked
    below: int  # of them, people for whom fewer than k rows remain

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def correspondences(series: Series, k: int) -> Correspondences:
    """Run the three attacks on every person of a series."""
    returning, arriving = _returning(series), _arriving(series)
    left = np.minimum(returning, arriving)
    return Correspondences(
        _least(returning), _least(arriving), int((left < ALL).sum()), int((left < k).sum())
    )


def correspondence_problems(remaining: Correspondences, k: int) -> list[str]:
    """Return the sentence about people for whom too few rows remain."""
    if not remaining.below:
        return []
    least = min(left for left in (remaining.returning, remaining.arriving) if left is not None)
    return [
        f"BCF-anonymity of the series: correspondence attacks leave fewer than {k} rows for "
        f"{remaining.below} records, down to {least}"
    ]


def _least(left: Ints) -> int | None:
    least = int(left.min(initial=ALL))
    return None if least == ALL else least


def _returning(series: Series) -> Ints:
    """For each person in several releases the rows that forward and cross attacks leave."""
    _, first, alike = np.unique(series.group_of, axis=1, return_index=True, return_inverse=True)
    left = np.full(len(first), ALL)
    for number, person in enumerate(first):
        rows = common_rows(series, person)
        if rows is not None:
            left[number] = rows.total()
    return left[alike.reshape(-1)]


def common_rows(series: Series, person: int) -> Counter[Value] | None:
    """The least count of each value over a person's groups; None for who is in one release only."""
    groups = [int(group) for group in series.group_of[:, person] if group >= 0]
    if len(groups) < 2:
        return None
    rows = Counter(series.signature(groups[0]))
    for group in groups[1:]:
        rows &= Counter(series.signature(group))
    return rows


def _arriving(series: Series) -> Ints:
    """For each person whom another release lacks the rows that backward attacks leave."""
    left = np.full(len(series.people), ALL)
    for release, other in itertools.permutations(range(series.releases), 2):
        remaining = np.full(len(series.groups.start), ALL)  # the last for who is in no group
        for group, rows in _remaining(series, other, release).items():
            remaining[group] = rows
        alone = (series.group_of[other] < 0) & (series.group_of[release] >= 0)
        left[alone] = np.minimum(left, remaining[series.group_of[release]])[alone]
    return left


def _remaining(series: Series, other: int, release: int) -> dict[int, int]:
    """The rows of each group of a release that need not belong to people of another one."""
    before, after = series.group_of[other], series.group_of[release]
    sources: dict[int, set[int]] = defaultdict(set)
    targets: dict[int, set[int]] = defaultdict(set)
    for source, target in {*zip(before.tolist(), after.tolist(), strict=True)}:
        if source >= 0 and target >= 0:
            sources[target].add(source)
            targets[source].add(target)
    free = Counter(before[(before >= 0) & (after < 0)].tolist())  # people of the other one alone
    members = Counter(before[before >= 0].tolist())
    for source, people in members.items():
        free[source] += sum(series.signature(source).values()) - people  # counterfeits
    rows_left = {}
    for group in {*after[after >= 0].tolist()}:
        signature = series.signature(group)
        around = {target for source in sources[group] for target in targets[source]}
        held = _rows(series, sources[group])
        room = _rows(series, around - {group})
        loose = sum(free[source] for source in sources[group])
        excluded = (max(0, held[value] - loose - room[value]) for value in signature)
        rows_left[group] = sum(signature.values()) - sum(excluded)
    return rows_left


def _rows(series: Series, groups: set[int]) -> Counter[Value]:
    """How often some groups together have each value."""
    rows: Counter[Value] = Counter()
    for group in groups:
        rows.update(series.signature(group))
    return rows


MOST_WORLDS = 200_000


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
    beliefs: list[float] = []
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
        beliefs += best[best > 0].tolist()
    return _finding("record-linking", beliefs, None, 0)


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
    for person, alike in zip(first.tolist(), size.tolist(), strict=True):
        rows = common_rows(series, person) or Counter()
        told = [count for value, count in rows.items() if value not in series.harmless]
        if told:
            greatest += [max(told) / rows.total()] * alike
    return _finding("correspondence", greatest, bound, 0)


def value_equivalence(series: Series) -> CrossFinding:
    """Return persons who must share a value with a person of another group."""
    return _agreeing("value-equivalence", series, ())


def tuple_equivalence(series: Series, alike: Sequence[Sequence[str]] | None = None) -> CrossFinding:
    """The same for an attacker who knows of some people, or of any one pair, that they agree."""
    return _agreeing("tuple-equivalence", series, alike)


def _agreeing(attack: str, series: Series, alike: Sequence[Sequence[str]] | None) -> CrossFinding:
    """Return for every person the greatest belief to share a value; None: any pair is known."""
    told = {(a, b) for group in alike or () for a in group for b in group}
    greatest: list[float] = []
    skipped = 0
    for members, worlds in _listed_worlds(series):
        if worlds is None:
            skipped += len(members)
            continue
        first, second = np.triu_indices(len(members), 1)
        left = _known(series, members, worlds, alike or ())
        if not len(first) or not len(left):
            continue
        same = left[:, first] == left[:, second]  # (worlds, pairs)
        if alike is None and same.size <= TABLE_CELLS:
            belief = _given_any_pair(same)
        else:
            belief = same.mean(axis=0)
        names = [series.people[member] for member in members]
        new = np.array([(names[i], names[j]) not in told
                        for i, j in zip(first, second, strict=True)])  # fmt: skip
        best = np.zeros(len(members))
        np.maximum.at(best, first[new], belief[new])
        np.maximum.at(best, second[new], belief[new])
        greatest += best.tolist()
    return _finding(attack, greatest, None, skipped)


def _given_any_pair(same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each pair its greatest chance to agree where one other pair is known to."""
    sums = same.astype(np.float64)
    together = sums.T @ sums  # (pairs, pairs) worlds in which both agree
    alone = np.diag(together).copy()
    possible = alone > 0
    np.fill_diagonal(together, 0.0)
    if_known = together[possible] / alone[possible, None]
    return np.asarray(np.maximum(alone / len(same), if_known.max(axis=0, initial=0.0)))


def _known(
    series: Series,
    members: NDArray[np.int64],
    worlds: Ints,  # (worlds, members) the value of each person
    alike: Sequence[Sequence[str]],
) -> Ints:
    """The worlds in which people agree who are known to."""
    place = {series.people[member]: at for at, member in enumerate(members)}
    for group in alike:
        places = [place[name] for name in group if name in place]
        if places:
            worlds = worlds[(worlds[:, places] == worlds[:, places[:1]]).all(axis=1)]
    return worlds


def _listed_worlds(series: Series) -> Iterator[tuple[NDArray[np.int64], Ints | None]]:
    """The people of every component with their worlds; None where these are too many."""
    component = components(series.group_of, len(series.groups.start) - 1)
    ordered, start = members_of(component)
    for number in range(len(start) - 1):
        members = ordered[start[number] : start[number + 1]]
        worlds = _worlds(series, members.tolist()) if number < MOST_STATES else None
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
