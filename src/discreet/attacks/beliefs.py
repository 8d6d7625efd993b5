"""Beliefs of an attacker who weighs every row that fits what is known.

In a group of n rows each is the target's with probability 1/n; where the target fits several
groups, a row of group g weighs w(g)/n(g). The belief in a value, given values of other attributes
that the attacker knows of the target, is the weight of the rows that have both over the weight of
the rows that have what is known. All of it is counts, so targets who are alike to the attacker are
looked at once.

What the guarantees of a release allow an attacker to believe.

Each requirement bounds the share that a value may have in a group (``share_bound``); a belief is
such a share, or a mean of some, so the same number bounds the belief. With p the share of the value
in the table, n the rows of the group, m the values of the attribute:

========================  ====================================================================
p-diversity, m-diversity  1/ℓ
m-invariance, rho         1/m and ρ, in one release of a series; the audit of a series sees all
(α,k)-anonymity           α
recursive (c,ℓ), ℓ ≥ 2    c/(c + 1): r1 < c·(the others' rest) ≤ c·(n − r1)
entropy ℓ                 the greatest x with −x ln x − (1 − x) ln((1 − x)/(m − 1)) ≥ ln ℓ
distinct ℓ                1 − (ℓ − 1)/n: each of the others has a row at least
t-closeness               p + t (equal); p + t·(m − 1) (ordered); p + t·H (hierarchical, height H)
β-likeness                (1 + β)·p
δ-disclosure              e^δ·p
multi-attribute           as its inner model, also where other sensitive attributes are known
========================  ====================================================================

What an attacker sees of persons with several published rows: their groups and their values.

A target is a person. The attacker knows the quasi-identifiers of every person, is told the group of
each row, and cannot distinguish the members of a group: not by their number of rows either, unless
the release shows it, where a group has persons with equally many. With P the members:

* *has it at all*: the share of P who have a value in at least one of their rows of the group;
* *in a given row*: the mean over P of the share of a member's rows that have the value.

The true values of a person may be several. The figure of a person is the belief in the one that the
attacker believes in most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import ROUNDING, TOLERANCE, Attack, Finding, Scene, summarize
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.persons import TablePersons
from discreet.releases.worlds.placement import Placement
from discreet.requirements.base import AttributeRequirement, Domains, Requirement
from discreet.requirements.judge import of_counts, person_basis
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.statements import Statement
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values, entries_of, places_of, stretches
from discreet.table.persons import PersonBasis, Persons, count_persons
from discreet.typing import Bools, Codes, Floats, Ints

ALL_ROWS = Statement("knows.all-rows")
AT_ALL, GIVEN_ROW = "has it at all", "in a given row"
_BASIS = {AT_ALL: PersonBasis.TOUCHED, GIVEN_ROW: PersonBasis.MASS}
# A guarantee on the persons who have a value at all bounds the mean share of their rows too.
_BOUNDED_BY = {
    AT_ALL: (PersonBasis.TOUCHED,),
    GIVEN_ROW: (PersonBasis.TOUCHED, PersonBasis.MASS),
}


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs in the truth, a line for targets who are alike to the attacker."""

    belief: NDArray[np.float64]  # (lines,) in the true value
    count: NDArray[np.int64]  # (lines,) targets
    place: NDArray[np.int32]  # (lines,)
    value: Codes  # (lines,) the true value
    line_of_target: NDArray[np.int32]  # (targets,)

    def mean_of(self, lines: Bools) -> float:
        """The mean belief in the truth over the targets of some lines."""
        count = self.count[lines]
        return float((self.belief[lines] * count).sum() / max(int(count.sum()), 1))


def ungrouped(reading: AdversaryView) -> AdversaryView:
    """The view of an attacker who has the whole table as one group: without the release."""
    return reading.once(
        "ungrouped",
        lambda: replace(
            reading,
            size=np.array([reading.rows]),
            group_of_row=np.zeros(reading.rows, np.int32),
            placement=Placement.identity(1),
            place_of_target=np.zeros(reading.targets, np.int32),
        ),
    )


def on_lines_of(lines: Beliefs, other: Beliefs) -> NDArray[np.float64]:
    """Another attacker's beliefs about the targets of each line, who are alike to that one too."""
    target = np.zeros(len(lines.belief), np.int64)
    target[lines.line_of_target] = np.arange(len(lines.line_of_target))
    return other.belief[other.line_of_target[target]]


def beliefs_in(reading: AdversaryView, attribute: str, known: Sequence[str] = ()) -> Beliefs:
    """The belief in each target's true value, given the target's values of other attributes."""
    column, truth = reading.sensitive[attribute], reading.truth[attribute]
    if not known:
        return reading.once(
            ("beliefs", attribute),
            lambda: weighted_beliefs(reading, column.codes, truth, column.cardinality),
        )
    before, after = _known(reading, known), _known(reading, (*known, attribute))
    lines = group_codes(
        [reading.place_of_target, before.of_target, truth],
        [reading.placement.places, before.cardinality, column.cardinality + 1],
        reading.targets,
    )
    first = lines.first_row
    place = reading.place_of_target[first]
    top = _fitting_weight(reading, after.counted, place, after.of_target[first])
    bottom = _fitting_weight(reading, before.counted, place, before.of_target[first])
    belief = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    return Beliefs(belief, lines.size, place, truth[first], lines.class_of_row)


def weighted_beliefs(
    reading: AdversaryView, of_row: Codes, truth: Codes, cardinality: int
) -> Beliefs:
    """The same for any grouping of rows, kinds of values for one, and no known value."""
    lines = group_codes(
        [reading.place_of_target, truth],
        [reading.placement.places, cardinality + 1],
        reading.targets,
    )
    place, value = reading.place_of_target[lines.first_row], truth[lines.first_row]
    counted = _counted(reading, of_row, cardinality + 1)
    belief = _fitting_weight(reading, counted, place, value)
    return Beliefs(belief, lines.size, place, value, lines.class_of_row)


class _Counted(NamedTuple):
    """How many rows of each group have each code."""

    key: Ints  # (classes,) ascending, of group and code
    rows: Ints  # (classes,)
    cardinality: int  # of the codes


class _Known(NamedTuple):
    """Values of some attributes together, as one code."""

    of_target: Codes
    cardinality: int  # of the codes
    counted: _Counted


def _counted(reading: AdversaryView, of_row: Codes, cardinality: int) -> _Counted:
    classes = group_codes(
        [reading.group_of_row, of_row], [reading.groups, cardinality], reading.rows
    )
    first = classes.first_row
    key = reading.group_of_row[first].astype(np.int64) * cardinality + of_row[first]
    ascending = np.argsort(key)
    return _Counted(key[ascending], classes.size[ascending], cardinality)


def _fitting_weight(
    reading: AdversaryView,
    counted: _Counted,
    place: NDArray[np.int32],  # (lines,)
    of_line: Codes,  # (lines,)
) -> Floats:
    """Return the weight of the rows with a line's code: Σ w(g) · count(g) / n(g)."""
    start, group = reading.placement.start, reading.placement.group
    weight = np.zeros(len(place))
    for part in stretches(np.diff(start)[place]):
        edge, line = entries_of(start, place[part])
        of_edge = group[edge]
        key = of_edge.astype(np.int64) * counted.cardinality + of_line[part][line]
        found = places_of(counted.key, key)
        share = np.where(found >= 0, counted.rows[found], 0) / reading.size[of_edge]
        mass = reading.placement.weight[edge] * share
        weight[part] = np.bincount(line, mass, len(weight[part]))
    return weight


def _known(reading: AdversaryView, names: Sequence[str]) -> _Known:
    """The values that rows and targets have of some attributes; found once."""
    chosen = tuple(sorted(names))
    return reading.once(("known", chosen), lambda: _find_known(reading, chosen))


def _find_known(reading: AdversaryView, names: Sequence[str]) -> _Known:
    rows, targets = reading.rows, reading.targets
    codes = [np.concatenate([reading.sensitive[n].codes, reading.truth[n]]) for n in names]
    cardinalities = [reading.sensitive[name].cardinality + 1 for name in names]
    classes = group_codes(codes, cardinalities, rows + targets)
    of_row, of_target = np.split(classes.class_of_row, [rows])
    return _Known(of_target, classes.count, _counted(reading, of_row, classes.count))


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """The greatest share that each value of an attribute may have in a group."""

    of_value: Floats  # (values,) infinite where nothing is promised
    distinct: int = 1  # at least so many values in every group

    @property
    def everywhere(self) -> float:
        """A bound for every value, infinite where some value has none."""
        return float(self.of_value.max(initial=0.0))

    def of_lines(self, reading: AdversaryView, beliefs: Beliefs) -> Floats:
        """The bound of each line of beliefs, infinite where nothing is promised."""
        padded = np.append(self.of_value, 1.0)  # the last: a value that was not published
        bounds = padded[np.minimum(beliefs.value, len(self.of_value))]
        if self.distinct > 1:
            largest = np.zeros(reading.placement.places)
            place = np.repeat(np.arange(len(largest)), np.diff(reading.placement.start))
            np.maximum.at(largest, place, reading.size[reading.placement.group])
            room = np.maximum(largest[beliefs.place], 1)
            bounds = np.minimum(bounds, 1 - (self.distinct - 1) / room)
        return bounds


def least_group(requirements: Sequence[Requirement]) -> int | None:
    """The k that is promised, if one is."""
    promised = [r.k for r in requirements if isinstance(r, KAnonymity | AlphaKAnonymity)]
    return max(promised) if promised else None


def value_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    reading: AdversaryView,
    attribute: str,
    *,
    others_known: bool = False,
) -> ValueBounds:
    """What is guaranteed for an attribute; ``others_known``: also where other attributes are."""
    share, domain = reading.share(attribute), domains[attribute]
    of_value, distinct = np.full(len(share), np.inf), 1
    for requirement in requirements_about(requirements, attribute):
        inner = requirement.given_others()
        if inner is None:
            if others_known:
                continue
            inner = requirement
        if inner.counts_values:
            distinct = max(distinct, inner.needs.values)
        np.minimum(of_value, inner.share_bound(share, domain), out=of_value)
    return ValueBounds(of_value, distinct)


def kind_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    attribute: str,
    share: Floats,  # (kinds,) of the table
    apart: float | None,  # the least hierarchical distance between values of two kinds
) -> Floats:
    """Return what is guaranteed for kinds of values."""
    bounds = np.full(len(share), np.inf)
    for requirement in requirements_about(requirements, attribute):
        own = requirement.kind_share_bound(share, domains[attribute], apart)
        np.minimum(bounds, own, out=bounds)
    return np.minimum(bounds, 1.0) if np.isfinite(bounds).all() else bounds


def requirements_about(
    requirements: Sequence[Requirement], attribute: str
) -> Iterator[AttributeRequirement]:
    """Yield the requirements that cover a sensitive attribute."""
    for requirement in requirements:
        if isinstance(requirement, AttributeRequirement) and (
            requirement.attribute is None or attribute in requirement.named
        ):
            yield requirement


@dataclass(frozen=True, eq=False)
class TrueValues:
    """The values that persons have, and the belief in each: a line for each group and value."""

    person: Ints  # (lines,)
    value: Ints  # (lines,)
    belief: Floats  # (lines,)

    def of(self, covered: Bools) -> TrueValues:
        """The same of some values alone."""
        kept = covered[self.value]
        return TrueValues(self.person[kept], self.value[kept], self.belief[kept])

    def of_persons(self, persons: Ints) -> TrueValues:
        """The same of some persons alone."""
        kept = np.isin(self.person, persons)
        return TrueValues(self.person[kept], self.value[kept], self.belief[kept])

    def of_lines(self, lines: TrueValues, values: int) -> Floats:
        """(lines,) The greatest belief of these in the person and value of each of some lines."""
        key, of_line = np.unique(self.person * values + self.value, return_inverse=True)
        belief = np.zeros(len(key) + 1)  # the last: a value that these do not have
        np.maximum.at(belief, of_line, self.belief)
        found: Floats = belief[places_of(key, lines.person * values + lines.value)]
        return found

    def greatest(self, persons: int) -> Floats:
        """The belief in the value of each person that is believed in most."""
        found = np.zeros(persons)
        np.maximum.at(found, self.person, self.belief)
        return found


@dataclass(frozen=True, eq=False)
class PersonView:
    """The persons of one published table, or of a pair that a group number links."""

    name: str
    classes: Classes  # of the published rows
    persons: Persons  # of the published rows, numbered without a gap
    sensitive: Mapping[str, Column]
    domains: Domains
    source_row: Ints | None = None  # (rows,) where the publisher knows it
    # Where targets are drawn, they and all persons; the classes are then those of the targets.
    chosen: Ints | None = None
    everybody: PersonView | None = None

    def drawn(self, rng: np.random.Generator, targets: int) -> PersonView:
        """Return the view of some persons, drawn with replacement; a small view as it is."""
        if self.persons.count <= targets:
            return self
        chosen = rng.integers(0, self.persons.count, targets)
        of_row, number = self.classes.class_of_row, self.persons.number
        near = np.zeros(self.classes.count, bool)
        near[of_row[np.isin(number, chosen)]] = True
        rows = np.flatnonzero(near[of_row])
        _, of_class = np.unique(of_row[rows], return_inverse=True)
        return replace(
            self,
            classes=Classes.of_numbers(of_class.astype(np.int32)),
            persons=replace(self.persons, number=number[rows]),
            sensitive={name: column.take(rows) for name, column in self.sensitive.items()},
            chosen=chosen,
            everybody=self,
        )

    @property
    def all(self) -> PersonView:
        """All persons in their groups, where targets are drawn too."""
        return self.everybody or self

    @property
    def targets(self) -> tuple[Ints, Ints]:
        """Return the persons who are targets, and how often each is one."""
        if self.chosen is None:
            return np.arange(self.persons.count), np.ones(self.persons.count, np.int64)
        return np.unique(self.chosen, return_counts=True)

    @classmethod
    def of(cls, name: str, found: TablePersons, source_row: Codes | None = None) -> PersonView:
        """The view of a table whose rows belong to some persons."""
        _, number = np.unique(found.number, return_inverse=True)
        published = Persons(number, int(number.max(initial=-1)) + 1, 0)
        _, of_class = np.unique(found.of_class, return_inverse=True)
        classes = Classes.of_numbers(of_class.astype(np.int32))
        sensitive = {column.name: column for column in found.sensitive}
        rows = None if source_row is None else source_row.astype(np.int64)
        return cls(name, classes, published, sensitive, found.domains, rows)

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """The group and the person of each member of a group."""
        return np.divmod(distinct_values(self.member_of_row), max(self.persons.count, 1))

    @property
    def member_of_row(self) -> Ints:
        """(rows,) The group and the person of each row, as one number."""
        return self.classes.class_of_row.astype(np.int64) * self.persons.count + self.persons.number

    @cached_property
    def size(self) -> Ints:
        """The number of persons of each group."""
        return np.bincount(self.members[0], minlength=self.classes.count)

    @property
    def whole(self) -> PersonView:
        """All persons in one group."""
        everyone = np.zeros(len(self.all.persons.number), np.int32)
        return replace(self.all, classes=Classes.of_numbers(everyone))

    def values_of(self, column: Column, reader: str) -> TrueValues:
        """The values of every person, and the belief of one reader in each."""
        counts = count_persons(self.classes, self.persons, [column], _BASIS[reader])
        found = counts.values[column.name]
        group = np.repeat(np.arange(self.classes.count), np.diff(found.start))
        key = group * column.cardinality + found.value  # ascending
        touch = distinct_values(self.member_of_row * column.cardinality + column.codes)
        member, value = np.divmod(touch, max(column.cardinality, 1))
        own, person = np.divmod(member, max(self.persons.count, 1))
        entry = np.searchsorted(key, own * column.cardinality + value)
        return TrueValues(person, value, found.count[entry] / counts.size[own])

    def share(self, column: Column, reader: str) -> Floats:
        """The share of each value over all groups: the reference of guarantees."""
        counts = count_persons(self.classes, self.persons, [column], _BASIS[reader])
        return counts.values[column.name].total / max(int(counts.size.sum()), 1)


def person_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    attribute: str,
    share: Floats,
    reader: str,
    *,
    of_kinds: bool = False,
    apart: float | None = None,
) -> Floats:
    """The bound that guarantees on persons set for each value, or kind of values; else infinite."""
    bounds = np.full(len(share), np.inf)
    for requirement in requirements_about(requirements, attribute):
        if person_basis(requirement) not in _BOUNDED_BY[reader]:
            continue
        if of_kinds:
            own = requirement.kind_share_bound(share, domains[attribute], apart)
        else:
            own = requirement.share_bound(share, domains[attribute])
        np.minimum(bounds, own, out=bounds)
    return bounds


def finding_on_values(
    attack: Attack,
    scene: Scene,
    view: PersonView,
    aim: str,
    values: TrueValues,
    baseline: TrueValues,
    bounds: Floats,  # (values,) infinite where nothing is guaranteed
    *,
    knowledge: str = ALL_ROWS,
    details: Mapping[str, Any] | None = None,
    sensitive: Bools | None = None,  # (values,) None where all are
    attacker: StandardAttacker | None = None,
) -> Finding:
    """The finding of beliefs in persons' sensitive values; the figures are those of persons.

    ``baseline`` has the beliefs of the same attacker where all persons are one group.
    """
    count = view.persons.count
    targets, times = view.targets
    if view.chosen is not None:
        values, baseline = values.of_persons(targets), baseline.of_persons(targets)
    if sensitive is not None:
        values, baseline = values.of(sensitive), baseline.of(sensitive)
        kept = np.isin(targets, values.person)
        targets, times = targets[kept], times[kept]
    of_line = bounds[values.value]
    strongest = np.zeros(count)  # the bound of the value that is believed in most
    order = np.argsort(values.belief, kind="stable")
    strongest[values.person[order]] = of_line[order]
    found = finding_on_persons(
        attack, scene, view, aim, values.greatest(count)[targets],
        baseline.greatest(count)[targets], strongest[targets], knowledge=knowledge,
        details=details, attacker=attacker, times=times,
    )  # fmt: skip
    # Each value by itself: a person may have one that is certain without the release, and another
    # that becomes certain by it.
    without = baseline.of_lines(values, len(bounds))
    certain = (values.belief >= 1 - TOLERANCE) & (without < 1 - TOLERANCE)
    limit = scene.threshold + TOLERANCE
    above = (values.belief > limit) & (without <= limit)
    counted = (details or {}).get("reader") == AT_ALL and of_counts(scene.guarantees)
    tolerance = ROUNDING if counted else TOLERANCE
    return replace(
        found,
        exceeded=bool((values.belief > of_line + tolerance).any()),
        newly_certain=int(times[np.isin(targets, values.person[certain])].sum()),
        newly_above=int(times[np.isin(targets, values.person[above])].sum()),
    )


def finding_on_persons(
    attack: Attack,
    scene: Scene,
    view: PersonView,
    aim: str,
    belief: Floats,  # (persons,)
    baseline: Floats | float,
    bounds: Floats | None = None,  # (persons,)
    *,
    knowledge: str = ALL_ROWS,
    details: Mapping[str, Any] | None = None,
    attacker: StandardAttacker | None = None,
    bound_tolerance: float = TOLERANCE,
    times: Ints | None = None,  # (persons,) how often each is a target; None for all persons
) -> Finding:
    """The finding of one belief for each person."""
    if times is None:
        targets, times = view.targets
        belief, bounds = belief[targets], None if bounds is None else bounds[targets]
    return summarize(
        attack, aim, view.name, belief, times, baseline, scene.threshold, bounds,
        knowledge=knowledge, details=details, attacker=attacker,
        bound_tolerance=bound_tolerance, estimated=view.chosen is not None,
    )  # fmt: skip
