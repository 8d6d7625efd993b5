"""A series of releases as an attacker sees it, and what an attacker who has all of them believes.

The series knows who was in which group of every release (from a ledger or from a table of persons)
and what each group was published with (from the published files). Nothing here knows how the
releases were made.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.methods.series.beliefs.cohort_bounds import cohort_bounds
from discreet.methods.series.beliefs.components import (
    BeliefStatus,
    PublishedGroups,
    beliefs,
    components,
    greatest_beliefs,
)
from discreet.methods.series.beliefs.correlation import Correlation, Value
from discreet.methods.series.rho_different.renaming import alike_values
from discreet.methods.series.rho_different.shapes import Shapes, read_run
from discreet.table.classes import group_lists
from discreet.table.counts import order_by_class
from discreet.table.past_releases import History
from discreet.typing import Bools, Ints

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Series:
    """Persons, the groups they were in, and the values that each group was published with."""

    people: tuple[str, ...]
    group_of: Ints  # (releases, people), −1 where a person is absent
    groups: PublishedGroups  # of all releases, one after the other
    values: tuple[Value, ...]  # the dictionary
    harmless: frozenset[Value] = frozenset()  # values that may be disclosed

    @property
    def sensitive(self) -> Bools:
        """(values,) Which values are sensitive."""
        return np.array([value not in self.harmless for value in self.values], bool)

    @classmethod
    def of(cls, releases: Sequence[Sequence[tuple[Sequence[str], Sequence[Value]]]]) -> Series:
        """The series of releases that are given as groups of persons and published values."""
        names = dict.fromkeys(
            name for release in releases for persons, _ in release for name in persons
        )
        people = tuple(names)
        number = {name: at for at, name in enumerate(people)}
        known = {value for release in releases for _, values in release for value in values}
        dictionary = tuple(sorted(known, key=lambda value: (value is None, value or "")))
        code = {value: at for at, value in enumerate(dictionary)}
        group_of = np.full((len(releases), len(people)), -1, np.int64)
        start, entries, counts = [0], [], []
        for layer, release in enumerate(releases):
            for persons, published in release:
                group_of[layer, [number[name] for name in persons]] = len(start) - 1
                found, count = np.unique([code[value] for value in published], return_counts=True)
                entries += found.tolist()
                counts += count.tolist()
                start.append(len(entries))
        groups = PublishedGroups(
            np.array(start, np.int64), np.array(entries, np.int64), np.array(counts, np.int64)
        )
        return cls(people, group_of, groups, dictionary)

    @classmethod
    def of_history(cls, history: History) -> Series:
        """The series of a ledger's history; its people have numbers and no names."""
        past = history.releases
        groups, first = PublishedGroups.of([(one.start, one.value, one.count) for one in past])
        group_of = np.full((len(past), history.people), -1, np.int64)
        for layer, one in enumerate(past):
            group_of[layer, one.person] = one.group + first[layer]
        return cls(("",) * history.people, group_of, groups, history.values)

    @property
    def releases(self) -> int:
        return len(self.group_of)

    def signature(self, group: int) -> dict[Value, int]:
        """The values of a group, with their counts."""
        begin, end = self.groups.start[group], self.groups.start[group + 1]
        return {
            self.values[self.groups.value[at]]: int(self.groups.count[at])
            for at in range(begin, end)
        }


@dataclass(frozen=True)
class Invariance:
    """How the values of the groups of a person change from release to release."""

    returning: int  # people who are in two releases or more
    unchanged: int  # of them, always among the same values
    renewed: int  # among values that are all new at least once (a value changed)
    overlapping: int  # among values that are partly new: these leak
    # people who share a group with a returning person, directly or through others, where some
    # group has a value more often than another: counts of the releases then differ in what they say
    uneven: int = 0

    @property
    def holds(self) -> bool:
        """Whether no attacker believes a value more for having several releases, if values stay.

        All groups that returning persons connect have the same values, each equally often. So any
        two of these values can be exchanged in all groups at once, and all are equally likely, also
        for persons who left.
        """
        return self.overlapping == 0 and self.uneven == 0


def invariance(series: Series) -> Invariance:
    """Compare the signatures of every person in all releases, returners after a gap included."""
    groups = series.groups
    value = groups.value.astype(np.int32)
    of_entry = np.repeat(np.arange(len(groups.start) - 1, dtype=np.int32), np.diff(groups.start))
    _, order = order_by_class(of_entry, value, len(groups.start) - 1, len(series.values))
    alike = group_lists(groups.start, value[order], len(series.values))
    distinct = [
        set(groups.value[groups.start[group] : groups.start[group + 1]].tolist())
        for group in alike.first_row
    ]
    of_group = np.append(alike.class_of_row, -1)
    held = of_group[series.group_of]  # (releases, people)
    present = (series.group_of >= 0).sum(axis=0)
    least = np.where(series.group_of >= 0, held, len(distinct)).min(axis=0, initial=len(distinct))
    changing = np.flatnonzero((held.max(axis=0, initial=-1) != least) & (present > 1))
    renewed = overlapping = 0
    for person in changing:
        own = [distinct[one] for one in np.unique(held[:, person]) if one >= 0]
        apart = all(not one & other for at, one in enumerate(own) for other in own[at + 1 :])
        renewed += apart
        overlapping += not apart
    returning = int((present > 1).sum())
    return Invariance(returning, returning - len(changing), renewed, overlapping, _uneven(series))


def connected(series: Series) -> tuple[Ints, NDArray[np.bool_]]:
    """The component of each person; and whether it has a person who is in several releases."""
    component = components(series.group_of, len(series.groups.start) - 1)
    several = (series.group_of >= 0).sum(axis=0) > 1
    joined = np.zeros(int(component.max(initial=-1)) + 2, bool)  # the last: who never appears
    joined[component[several]] = True
    return component, joined[component]


def _uneven(series: Series) -> int:
    """The people of connected components with a group that has some value more often."""
    groups = series.groups
    entries = np.diff(groups.start)
    of_entry = np.repeat(np.arange(len(entries)), entries)
    most = np.zeros(len(entries) + 1, np.int64)
    np.maximum.at(most, of_entry, groups.count)
    least = np.full(len(entries) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, of_entry, groups.count)
    uneven = most > least
    component, joined = connected(series)
    of_component = np.zeros(int(component.max(initial=-1)) + 2, bool)
    layer, person = np.nonzero(series.group_of >= 0)
    np.logical_or.at(of_component, component[person], uneven[series.group_of[layer, person]])
    return int((joined & of_component[component]).sum())


def members_of(component: Ints) -> tuple[Ints, Ints]:
    """Return the persons, component by component, and where each component starts."""
    known = np.flatnonzero(component >= 0)
    ordered = known[np.argsort(component[known], kind="stable")]
    return ordered, np.concatenate([[0], np.cumsum(np.bincount(component[known]))])


@dataclass(frozen=True)
class JointFinding:
    """What an attacker who has all releases believes, who knows C."""

    greatest: tuple[float, ...]  # the greatest belief by release; bounds where not exact
    above: int  # people with a belief above the bound in some release
    exact: int  # components of persons that were enumerated
    bounded: int  # components for which the cohort certificate gives a bound that suffices
    open: int  # components of which nothing better than 1 is known
    impossible: int  # components that contradict C altogether

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def joint(series: Series, correlation: Correlation, rho: float) -> JointFinding:
    """Exact Bayes over all persons and releases, component by component.

    Components that look alike to an attacker (``algorithms.shapes``) are enumerated once.
    """
    matrix = _matrix(series, correlation)
    groups = series.groups
    component = components(series.group_of, len(groups.start) - 1)
    members, start = members_of(component)
    sizes = np.diff(start)
    shapes = Shapes.of(
        series.group_of,
        (groups.start, groups.value, groups.count),
        start,
        members,
        np.zeros(len(series.people), bool),
        alike_values(matrix),
    )
    of_member = np.repeat(np.arange(len(sizes)), sizes)
    shape_of = shapes.of_family[of_member]
    chosen = shapes.first[shape_of] == of_member  # members of the components that are enumerated
    enumerated = np.full(len(component), -1, np.int64)
    enumerated[shapes.member[chosen]] = shape_of[chosen]
    greatest, found = greatest_beliefs(series.group_of, groups, matrix, enumerated)
    sufficient = np.zeros(len(found), bool)  # where a bound does in place of the belief
    for shape in np.flatnonzero(found == BeliefStatus.TOO_LARGE):
        one = shapes.first[shape]
        run = shapes.run[shapes.start[one] : shapes.start[one + 1]]
        own, _, first, value, count = read_run(run, series.releases)
        bound = cohort_bounds(own, first, value, count, matrix)
        greatest[:, shapes.member[start[one] : start[one + 1]]] = bound
        sufficient[shape] = (bound <= rho + TOLERANCE).all()
    inside = np.arange(len(of_member)) - start[of_member]
    greatest[:, shapes.member] = greatest[:, shapes.member[start[shapes.first[shape_of]] + inside]]
    found, sufficient = found[shapes.of_family], sufficient[shapes.of_family]
    too_large = found == BeliefStatus.TOO_LARGE
    impossible = found == BeliefStatus.IMPOSSIBLE
    greatest[:, impossible[component] & (component >= 0)] = 1.0
    greatest = np.where(series.group_of >= 0, greatest, 0.0)
    return JointFinding(
        greatest=tuple(float(layer.max(initial=0.0)) for layer in greatest),
        above=int((greatest > rho + TOLERANCE).any(axis=0).sum()),
        exact=int((found == BeliefStatus.EXACT).sum()),
        bounded=int((too_large & sufficient).sum()),
        open=int((too_large & ~sufficient).sum()),
        impossible=int(impossible.sum()),
    )


def _matrix(series: Series, correlation: Correlation) -> NDArray[np.float64]:
    """P(new | old) over all values that the series or C names, the series' own first."""
    named = [value for value in correlation.values if value not in series.values]
    return correlation.matrix((*series.values, *sorted(named, key=str)))


def all_beliefs(series: Series, correlation: Correlation) -> Mapping[str, list[dict[Value, float]]]:
    """The full beliefs about every person of a small series, for reports and examples."""
    matrix = _matrix(series, correlation)
    component = components(series.group_of, len(series.groups.start) - 1)
    result: dict[str, list[dict[Value, float]]] = {name: [] for name in series.people}
    ordered, start = members_of(component)
    for begin, end in itertools.pairwise(start):
        members = ordered[begin:end]
        _, belief = beliefs(series.group_of[:, members], series.groups, matrix)
        for at, person in enumerate(members):
            result[series.people[person]] = [
                {
                    series.values[code]: float(belief[layer, at, code])
                    for code in np.flatnonzero(belief[layer, at] > 0)
                }
                for layer in range(series.releases)
            ]
    return result
