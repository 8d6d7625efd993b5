"""What an attacker sees of a release: groups, their sensitive rows, and who may be in which.

A view is made of published tables and of people's exact quasi-identifiers, which the attacker
knows. The truth about the targets is in it too, and serves for nothing but to score beliefs.

Where quasi-identifiers are generalized, a person is in a group whose cells cover the person's
values; several groups may. Where they are exact, the group is published beside them, and people who
look alike may be in several groups, in each with the share of them who are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Task
from discreet.releases.worlds.placement import Placement, weigh
from discreet.statements import Statement
from discreet.table.budgets import SAMPLE
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import CodedTable, Column, Derives
from discreet.table.counts import ClassCounts, count_classes
from discreet.typing import AnyInts, Codes, Floats, Ints, Ints32

EQUAL_ROWS = Statement("figures.equal-rows")


@dataclass(frozen=True, eq=False)
class KnownMembers:
    """People whose group is known, so far as what they look like goes."""

    row: Ints  # (members,) an original row with the same quasi-identifiers
    group: Ints32  # (members,)
    kind: Ints32  # (members,) equal for people who look alike
    kind_of_person: Ints32  # (original rows,)

    def take(self, chosen: AnyInts) -> KnownMembers:
        """Some of the members."""
        return KnownMembers(
            self.row[chosen], self.group[chosen], self.kind[chosen], self.kind_of_person
        )


@dataclass(frozen=True, eq=False)
class AdversaryView(Derives):
    """The groups of one published table, or of a pair that a group number links."""

    name: str
    size: Ints  # (groups,) sensitive rows
    group_of_row: Ints32  # (sensitive rows,)
    sensitive: Mapping[str, Column]  # codes of those rows
    placement: Placement
    place_of_target: Ints32  # (targets,)
    truth: Mapping[str, Codes]  # (targets,) in the published codes; cardinality where unpublished
    group_of_person: Ints32  # (original rows,) −1 where unpublished or not certain
    members: KnownMembers
    sampled: bool = False  # whether the targets are a sample of the people
    estimated: bool = False  # whether they were drawn from all targets, to estimate

    @property
    def groups(self) -> int:
        return len(self.size)

    @property
    def rows(self) -> int:
        return len(self.group_of_row)

    @property
    def targets(self) -> int:
        return len(self.place_of_target)

    @cached_property
    def classes(self) -> Classes:
        """The groups as classes of the sensitive rows."""
        first = np.zeros(self.groups, np.int64)
        first[self.group_of_row[::-1]] = np.arange(self.rows)[::-1]
        return Classes(self.group_of_row, first, self.size)

    @cached_property
    def counts(self) -> ClassCounts:
        """How often each value occurs in each group."""
        return count_classes(self.classes, list(self.sensitive.values()))

    def share(self, attribute: str) -> Floats:
        """The share of each value among all published rows: what any person may know."""
        column = self.sensitive[attribute]
        return column.counts / max(self.rows, 1)


def certain_view(
    name: str,
    classes: Classes,
    sensitive: Mapping[str, Column],
    group_of_kind: Ints32,
    kind_of_person: Ints32,
) -> AdversaryView:
    """Everybody fits one group, so the published rows themselves are the targets."""
    group_of_person = group_of_kind[kind_of_person]
    return AdversaryView(
        name,
        classes.size,
        classes.class_of_row,
        sensitive,
        Placement.identity(classes.count),
        classes.class_of_row,
        {name: column.codes for name, column in sensitive.items()},
        group_of_person,
        _placed(group_of_person, kind_of_person),
    )


def mixed_view(
    name: str,
    classes: Classes,
    sensitive: Mapping[str, Column],
    placement: Placement,
    place_of_person: Ints32,
    task: Task,
) -> AdversaryView:
    """Some people fit several groups: the targets are the people who fit any."""
    degree = np.diff(placement.start)
    targets = np.flatnonzero((place_of_person >= 0) & (degree[place_of_person] > 0))
    # The values of the targets, in the published codes.
    truth = {
        column.name: recoded(column, task.table[column.name])[targets]
        for column in sensitive.values()
    }
    # People who fit one group alone are certain members of it.
    sole = np.where(degree == 1, 1, 0)
    group_of_place = np.full(placement.places, -1, np.int32)
    has_one = np.flatnonzero(sole)
    group_of_place[has_one] = placement.group[placement.start[has_one]]
    group_of_person = np.where(place_of_person >= 0, group_of_place[place_of_person], -1)
    return AdversaryView(
        name,
        classes.size,
        classes.class_of_row,
        sensitive,
        placement,
        place_of_person[targets],
        truth,
        group_of_person.astype(np.int32),
        _placed(group_of_person.astype(np.int32), place_of_person),
        sampled=placement.method == EQUAL_ROWS,
    )


def _placed(group_of_person: Ints32, kind_of_person: Ints32) -> KnownMembers:
    """The people who fit one group alone."""
    row = np.flatnonzero(group_of_person >= 0)
    return KnownMembers(row, group_of_person[row], kind_of_person[row], kind_of_person)


def covering_view(
    name: str,
    classes: Classes,  # of the sensitive rows, by group
    sensitive: Mapping[str, Column],
    cells: CodedTable,  # the table with generalized quasi-identifiers
    row_of_group: Ints,  # (groups,) a row of it with the group's cells
    size: Ints,  # (groups,) its rows
    levels: Mapping[str, int],
    task: Task,
    rng: np.random.Generator,
) -> AdversaryView:
    """Read the cells of each group with every person's quasi-identifiers given."""
    # People who look alike are one kind; find the groups whose cells cover it.
    people = [task.table[column.name] for column in cells.quasi_identifiers]
    kinds = classes_of(people, task.table.rows)
    coverages = coverages_of(cells, people, task.hierarchies, levels)
    of_group = [column.codes[row_of_group] for column in cells.quasi_identifiers]
    values = [column.codes[kinds.first_row] for column in people]
    fits = fitting_groups(coverages, values, of_group)
    # Too many pairs of kinds and groups: place a sample of the kinds.
    if fits is None:
        placement, place = sampled_placement(coverages, values, of_group, size, rng)
        return mixed_view(name, classes, sensitive, placement, place[kinds.class_of_row], task)
    # Every kind in one group at most needs no weights.
    start, group = fits
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = group
        return certain_view(name, classes, sensitive, group_of_kind, kinds.class_of_row)
    # Otherwise weigh the groups by the worlds that put the kind there.
    placement = weigh(start, group, kinds.size, size, task.table.rows - cells.rows)
    return mixed_view(name, classes, sensitive, placement, kinds.class_of_row, task)


def view_of_classes(
    name: str, table: CodedTable, task: Task, levels: Mapping[str, int], rng: np.random.Generator
) -> AdversaryView:
    """Read one generalized table, whose classes of equal cells are the groups."""
    classes = classes_of(table.quasi_identifiers, table.rows)
    sensitive = {column.name: column for column in table.sensitive}
    return covering_view(
        name, classes, sensitive, table, classes.first_row, classes.size, levels, task, rng
    )


def sampled_placement(
    coverages: Sequence[Coverage],
    values: Sequence[Codes],  # by quasi-identifier: (kinds,)
    cells: Sequence[Codes],  # by quasi-identifier: (groups,)
    size: Ints,  # (groups,)
    rng: np.random.Generator,
) -> tuple[Placement, Codes]:
    """Place some kinds of people, where too many fit too many groups: the place of each kind."""
    kinds = len(values[0])
    sample = rng.choice(kinds, min(SAMPLE, kinds), replace=False)
    few = fitting_groups(coverages, [value[sample] for value in values], cells)
    if few is None:
        few = np.zeros(len(sample) + 1, np.int64), np.zeros(0, np.int32)
    start, group = few
    place = np.repeat(np.arange(len(sample)), np.diff(start))
    rows = np.bincount(place, size[group], len(sample))
    place_of_kind = np.full(kinds, -1, np.int32)
    place_of_kind[sample] = np.arange(len(sample), dtype=np.int32)
    return Placement(start, group, size[group] / rows[place], EQUAL_ROWS), place_of_kind


class PlacedPeople(NamedTuple):
    """Published people with exact quasi-identifiers, and the groups of those who look alike."""

    kind: Codes  # (people,) equal for those who look alike
    kind_of_person: Codes  # (original rows,)
    start: Ints  # (kinds + 1,)
    group: Codes  # (edges,) the groups of each kind
    weight: Floats  # (edges,) the share of the kind in each group


def placed_people(
    people: CodedTable, group_of_people: AnyInts, groups: int, original: CodedTable
) -> PlacedPeople:
    """Place every person of the original by exact quasi-identifiers."""
    quasi = people.quasi_identifiers
    both = [np.concatenate([c.codes, recoded(c, original[c.name])]) for c in quasi]
    kinds = group_codes(both, [c.cardinality + 1 for c in quasi], people.rows + original.rows)
    of_people, of_person = np.split(kinds.class_of_row, [people.rows])
    group = group_of_people.astype(np.int32)
    pairs = group_codes([of_people, group], [kinds.count, groups], people.rows)
    kind = of_people[pairs.first_row]
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], np.arange(kinds.count + 1))
    alike = np.bincount(of_people, minlength=kinds.count)
    weight = pairs.size[order] / alike[kind[order]]
    return PlacedPeople(of_people, of_person, start, group[pairs.first_row][order], weight)


def exact_view(
    name: str,
    classes: Classes,  # of the sensitive rows, by group
    sensitive: Mapping[str, Column],
    people: CodedTable,
    group_of_people: Ints,  # (people,) their group among the classes
    task: Task,
) -> AdversaryView:
    """Read exact quasi-identifiers with their group, and the group's sensitive rows."""
    placed = placed_people(people, group_of_people, classes.count, task.table)
    of_people, of_person, start = placed.kind, placed.kind_of_person, placed.start
    kinds = len(start) - 1
    placement = Placement(start, placed.group, placed.weight)
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = placement.group
        return certain_view(name, classes, sensitive, group_of_kind, of_person)
    first_person = np.zeros(kinds, np.int64)
    first_person[of_person[::-1]] = np.arange(task.table.rows)[::-1]
    members = KnownMembers(
        first_person[of_people], group_of_people.astype(np.int32), of_people, of_person
    )
    mixed = mixed_view(name, classes, sensitive, placement, of_person, task)
    return replace(mixed, members=members)
