"""A series of releases as an attacker sees it, and what an attacker who has all of them believes.

The series knows who was in which group of every release (from a ledger or from a table of persons)
and what each group was published with (from the published files). Nothing here knows how the
releases were made.

*Together*: what the series reveals where no guarantee covers the releases together, if values stay.
Targets are all persons whose beliefs another release can change: those in several releases, and
those who share a group with one of them, directly or through others. A person who left is such a
target: what the others have tells what the person had.

*Estimates* (Abdalaal, 2012, section 4.3) are reported beside the exact belief. They follow each
person alone; people who were among the same values in all releases are followed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
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
from discreet.methods.series.beliefs.estimates import individual, persistence, shares
from discreet.methods.series.rho_different.shapes import Shapes, distinct_runs, read_run
from discreet.statements import Statement
from discreet.table.budgets import MOST_STATES
from discreet.table.classes import group_lists
from discreet.table.counts import order_by_class
from discreet.table.past_releases import History
from discreet.typing import Bools, Floats, Ints

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
    def of_history(cls, history: History) -> Series:
        """The series of a ledger's history; its people have numbers and no names."""
        past = history.releases
        groups, first = PublishedGroups.of(
            [(release.start, release.value, release.count) for release in past]
        )
        group_of = np.full((len(past), history.people), -1, np.int64)
        for layer, release in enumerate(past):
            group_of[layer, release.person] = release.group + first[layer]
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
        held_lists = [distinct[number] for number in np.unique(held[:, person]) if number >= 0]
        apart = all(
            not number & other
            for at, number in enumerate(held_lists)
            for other in held_lists[at + 1 :]
        )
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

    Components that look alike to an attacker are enumerated once.
    """
    matrix = value_matrix(series, correlation)
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
    )
    of_member = np.repeat(np.arange(len(sizes)), sizes)
    shape_of = shapes.of_family[of_member]
    chosen = shapes.first[shape_of] == of_member  # members of the components that are enumerated
    enumerated = np.full(len(component), -1, np.int64)
    enumerated[shapes.member[chosen]] = shape_of[chosen]
    greatest, status = greatest_beliefs(series.group_of, groups, matrix, enumerated)
    sufficient = np.zeros(len(status), bool)  # where a bound does in place of the belief
    for shape in np.flatnonzero(status == BeliefStatus.TOO_LARGE):
        component_of_shape = shapes.first[shape]
        run = shapes.run[shapes.start[component_of_shape] : shapes.start[component_of_shape + 1]]
        path, _, first, value, count = read_run(run, series.releases)
        bound = cohort_bounds(path, first, value, count, matrix)
        greatest[:, shapes.member[start[component_of_shape] : start[component_of_shape + 1]]] = (
            bound
        )
        sufficient[shape] = (bound <= rho + TOLERANCE).all()
    inside = np.arange(len(of_member)) - start[of_member]
    greatest[:, shapes.member] = greatest[:, shapes.member[start[shapes.first[shape_of]] + inside]]
    status, sufficient = status[shapes.of_family], sufficient[shapes.of_family]
    too_large = status == BeliefStatus.TOO_LARGE
    impossible = status == BeliefStatus.IMPOSSIBLE
    greatest[:, impossible[component] & (component >= 0)] = 1.0
    greatest = np.where(series.group_of >= 0, greatest, 0.0)
    return JointFinding(
        greatest=tuple(float(layer.max(initial=0.0)) for layer in greatest),
        above=int((greatest > rho + TOLERANCE).any(axis=0).sum()),
        exact=int((status == BeliefStatus.EXACT).sum()),
        bounded=int((too_large & sufficient).sum()),
        open=int((too_large & ~sufficient).sum()),
        impossible=int(impossible.sum()),
    )


def value_matrix(series: Series, correlation: Correlation) -> NDArray[np.float64]:
    """P(new | old) over all values that the series or C names, the series' own first."""
    named = [value for value in correlation.values if value not in series.values]
    return correlation.matrix((*series.values, *sorted(named, key=str)))


STAY = Correlation(unstated="stay")


@dataclass(frozen=True)
class Together:
    """The beliefs in the values of one attribute over all releases."""

    attribute: str
    returning: int  # people who are in two releases or more
    targets: int  # people whose beliefs were enumerated
    not_assessed: int  # people among too many others, or whose values changed
    greatest: float
    certain: int  # targets whose value all releases show for certain, and no release alone
    above: int  # targets with a belief above what a release guarantees by itself

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def sentence(self) -> Statement:
        """The beliefs in words."""
        statement = Statement(
            "series.together",
            attribute=self.attribute,
            certain=self.certain,
            targets=self.targets,
            greatest=self.greatest,
        )
        if not self.not_assessed:
            return statement
        return Statement("series.not-assessed", together=statement, records=self.not_assessed)


def beliefs_together(series: Series) -> tuple[Floats, Bools, Bools]:
    """The greatest belief about each person by all releases; who is a target; who is assessed.

    Beliefs are in sensitive values, and targets those for whom one is possible.
    """
    component, joined = connected(series)
    greatest, status_of_component = greatest_beliefs(
        series.group_of, series.groups, STAY.matrix(series.values), component
    )
    status = np.append(status_of_component, BeliefStatus.IMPOSSIBLE)[
        component
    ]  # the last: who never appears
    belief, exact = greatest.max(axis=0, initial=0.0), joined & (status == BeliefStatus.EXACT)
    if not series.harmless:
        return belief, joined, exact
    assessed = np.zeros(len(exact), bool)
    members, start = members_of(np.where(exact, component, -1))
    for begin, end in islice(pairwise(start), MOST_STATES):
        people = members[begin:end]
        if not len(people):
            continue
        _, every = beliefs(series.group_of[:, people], series.groups, STAY.matrix(series.values))
        belief[people] = every[:, :, series.sensitive].max(axis=(0, 2), initial=0.0)
        assessed[people] = True
    safe = assessed & (belief <= TOLERANCE)  # who certainly has a value that is not sensitive
    return belief, joined & ~safe, assessed & ~safe


def together(series: Series, attribute: str, bounds: Sequence[float]) -> Together:
    """Compare the beliefs by all releases with ``bounds``, the guarantee of each; inf for none."""
    belief, joined, assessed = beliefs_together(series)
    groups = series.groups
    entries = np.diff(groups.start)
    of_entry = np.repeat(np.arange(len(entries)), entries)
    size = np.bincount(of_entry, groups.count, len(entries))
    share = np.zeros(len(entries) + 1)  # the last for who is absent
    told = series.sensitive[groups.value]
    np.maximum.at(share, of_entry[told], (groups.count / size[of_entry])[told])
    present = series.group_of >= 0
    alone = np.where(present, share[series.group_of], 0.0).max(axis=0, initial=0.0)
    bound = np.where(present, np.asarray(bounds, np.float64)[:, None], np.inf)
    sure = belief >= 1 - TOLERANCE
    return Together(
        attribute,
        int((present.sum(axis=0) > 1).sum()),
        int(assessed.sum()),
        int((joined & ~assessed).sum()),
        float(belief[assessed].max(initial=0.0)),
        int((assessed & sure & (alone < 1)).sum()),
        int((assessed & (belief > bound.min(axis=0, initial=np.inf) + TOLERANCE)).sum()),
    )


Estimates = dict[str, tuple[float, ...]]  # the greatest belief by release


def estimates(series: Series, correlation: Correlation) -> Estimates:
    """Return what readers believe who look at one person alone: tables 40 and 41."""
    signature, first = _signatures(series)
    groups = [series.signature(int(group)) for group in first]
    beliefs: list[dict[Value, float]] = [{}]  # by state; nothing is believed before the first group
    state = np.zeros(len(series.people), np.int64)
    by_rule: dict[str, list[float]] = {"individual": [], "persistence": []}
    for layer in range(series.releases):
        here = np.flatnonzero(series.group_of[layer] >= 0)
        of_person = signature[series.group_of[layer, here]]
        keys, inverse = np.unique(state[here] * len(groups) + of_person, return_inverse=True)
        begun = len(beliefs)
        persistent = [0.0]
        for key in keys.tolist():
            prior, group = beliefs[key // len(groups)], groups[key % len(groups)]
            alone = shares(group)
            beliefs.append(individual(prior, group, correlation) if prior else alone)
            again = persistence(group, correlation) if prior else alone
            persistent.append(max(again.values()))
        state[here] = begun + inverse
        greatest_beliefs = [max(belief.values()) for belief in beliefs[begun:]]
        by_rule["individual"].append(max(greatest_beliefs, default=0.0))
        by_rule["persistence"].append(max(persistent))
    return {rule: tuple(greatest) for rule, greatest in by_rule.items()}


def _signatures(series: Series) -> tuple[Ints, Ints]:
    """Number the groups that were published with the same values alike; also a group of each."""
    groups = series.groups
    run = np.stack([groups.value, groups.count], axis=1).reshape(-1).astype(np.int32)
    return distinct_runs(2 * groups.start, run)
