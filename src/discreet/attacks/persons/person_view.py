"""What an attacker sees of persons with several published rows: their groups and their values.

A target is a person. The attacker knows the quasi-identifiers of all rows of every person, is told
the group of each row, and cannot distinguish the members of a group. With P the members:

* *has it at all*: the share of P who have a value in at least one of their rows of the group;
* *in a given row*: the mean over P of the share of a member's rows that have the value.

The true values of a person may be several. The figure of a person is the belief in the one that the
attacker believes in most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.attacks.base import TOLERANCE, Attack, Finding, Scene, summarize
from discreet.attacks.inference.bounds import requirements_about
from discreet.releases.audit.kept_rows import TablePersons
from discreet.requirements.base import Domains, Requirement
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.person_counts import PersonBasis, count_persons
from discreet.table.persons import Persons
from discreet.typing import Bools, Codes, Floats, Ints

ALL_ROWS = "knows the quasi-identifiers and the groups of all rows of every person"
AT_ALL, GIVEN_ROW = "has it at all", "in a given row"
_BASIS = {AT_ALL: PersonBasis.TOUCHED, GIVEN_ROW: PersonBasis.MASS}
# A guarantee on the persons who have a value at all bounds the mean share of their rows too.
_BOUNDED_BY = {
    AT_ALL: (PersonBasis.TOUCHED,),
    GIVEN_ROW: (PersonBasis.TOUCHED, PersonBasis.MASS),
}


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
        return np.divmod(distinct_values(self._pairs), max(self.persons.count, 1))

    @property
    def _pairs(self) -> Ints:
        return self.classes.class_of_row.astype(np.int64) * self.persons.count + self.persons.number

    @cached_property
    def size(self) -> Ints:
        """The number of persons of each group."""
        return np.bincount(self.members[0], minlength=self.classes.count)

    @property
    def whole(self) -> PersonView:
        """The same persons in one group."""
        everyone = np.zeros(len(self.persons.number), np.int32)
        return replace(self, classes=Classes.of_numbers(everyone))

    def values_of(self, column: Column, reader: str) -> TrueValues:
        """The values of every person, and the belief of one reader in each."""
        counts = count_persons(self.classes, self.persons, [column], _BASIS[reader])
        found = counts.values[column.name]
        group = np.repeat(np.arange(self.classes.count), np.diff(found.start))
        key = group * column.cardinality + found.value  # ascending
        touch = distinct_values(self._pairs * column.cardinality + column.codes)
        member, value = np.divmod(touch, max(column.cardinality, 1))
        own, person = np.divmod(member, max(self.persons.count, 1))
        entry = np.searchsorted(key, own * column.cardinality + value)
        return TrueValues(person, value, found.count[entry] / counts.size[own])

    def share_of_persons(self, column: Column) -> Floats:
        """The share of all persons who have each value: the belief without groups."""
        touched = distinct_values(self.persons.number * column.cardinality + column.codes)
        counted = np.bincount(touched % max(column.cardinality, 1), minlength=column.cardinality)
        return np.asarray(counted / max(self.persons.count, 1))

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
        if requirement.person_basis not in _BOUNDED_BY[reader]:
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
) -> Finding:
    """The finding of beliefs in persons' sensitive values; the figures are those of persons."""
    count = view.persons.count
    targets = np.arange(count)
    if sensitive is not None:
        values, baseline = values.of(sensitive), baseline.of(sensitive)
        targets = distinct_values(values.person)
    of_line = bounds[values.value]
    strongest = np.zeros(count)  # the bound of the value that is believed in most
    order = np.argsort(values.belief, kind="stable")
    strongest[values.person[order]] = of_line[order]
    without = baseline.greatest(count)[targets].sum() / max(len(targets), 1)
    found = finding_on_persons(
        attack, scene, view, aim, values.greatest(count)[targets], float(without),
        strongest[targets], knowledge=knowledge, details=details,
    )  # fmt: skip
    return replace(found, exceeded=bool((values.belief > of_line + TOLERANCE).any()))


def finding_on_persons(
    attack: Attack,
    scene: Scene,
    view: PersonView,
    aim: str,
    belief: Floats,  # (persons,)
    baseline: float,
    bounds: Floats | None = None,  # (persons,)
    *,
    knowledge: str = ALL_ROWS,
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """The finding of one belief for each person."""
    return summarize(
        attack, aim, view.name, belief, np.ones(len(belief), np.int64), baseline,
        scene.threshold, bounds, knowledge=knowledge, details=details,
    )  # fmt: skip
