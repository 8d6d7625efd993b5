"""What a reader sees of a release: groups, their sensitive rows, and who may be in which.

A reading is made of published tables and of people's exact quasi-identifiers, which the reader
knows. The truth about the targets is in it too, and serves for nothing but to score beliefs.
Each kind of release is read in its own way:

- *generalized*, and each table of a *projected* one: the classes of equal cells are the groups; a
  person is in a group whose cells cover the person's values.
- *bucketized*: groups are written beside exact quasi-identifiers; people who look alike may be in
  several groups, in each with the share of them who are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.inference.placement import Placement, weigh
from discreet.hierarchies.covering_classes import coverages_of, fitting_groups
from discreet.methods.base import Task
from discreet.releases.kinds.bucketized.tables import PEOPLE, SENSITIVE, people_counted
from discreet.releases.kinds.generalized.tables import RECORDS
from discreet.releases.manifest import Manifest
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.code_maps import code_of_text, recoded
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, count_classes
from discreet.table.published import GROUP
from discreet.typing import Codes

SAMPLED_KINDS = 2000
EQUAL_ROWS = "sampled people; every row that fits a person weighed equally"


@dataclass(frozen=True, eq=False)
class KnownMembers:
    """People whose group is known, so far as what they look like goes."""

    row: NDArray[np.int64]  # (members,) an original row with the same quasi-identifiers
    group: NDArray[np.int32]  # (members,)
    kind: NDArray[np.int32]  # (members,) equal for people who look alike
    kind_of_person: NDArray[np.int32]  # (original rows,)

    def take(self, chosen: NDArray[np.integer]) -> KnownMembers:
        """Some of the members."""
        return KnownMembers(
            self.row[chosen], self.group[chosen], self.kind[chosen], self.kind_of_person
        )


@dataclass(frozen=True, eq=False)
class AdversaryView:
    """The groups of one published table, or of a pair that a group number links."""

    name: str
    size: NDArray[np.int64]  # (groups,) sensitive rows
    group_of_row: NDArray[np.int32]  # (sensitive rows,)
    sensitive: Mapping[str, Column]  # codes of those rows
    placement: Placement
    place_of_target: NDArray[np.int32]  # (targets,)
    truth: Mapping[str, Codes]  # (targets,) in the published codes; cardinality where unpublished
    group_of_person: NDArray[np.int32]  # (original rows,) −1 where unpublished or not certain
    members: KnownMembers
    sampled: bool = False  # whether the targets are a sample of the people

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

    def share(self, attribute: str) -> NDArray[np.float64]:
        """The share of each value among all published rows: what anybody may know."""
        column = self.sensitive[attribute]
        return column.counts / max(self.rows, 1)


def read_release(
    tables: Mapping[str, CodedTable], manifest: Manifest, task: Task, rng: np.random.Generator
) -> list[AdversaryView]:
    """All readings of a release; none for a kind that is read otherwise."""
    reader = _READERS.get(manifest.kind)
    return [] if reader is None else reader(tables, manifest, task, rng)


def _read_records(
    tables: Mapping[str, CodedTable], manifest: Manifest, task: Task, rng: np.random.Generator
) -> list[AdversaryView]:
    levels = manifest.method.levels_of(RECORDS) or {}
    return [read_generalized(RECORDS, tables[RECORDS], task, levels, rng)]


def _read_projections(
    tables: Mapping[str, CodedTable], manifest: Manifest, task: Task, rng: np.random.Generator
) -> list[AdversaryView]:
    readings = []
    for name, table in tables.items():
        levels = manifest.method.levels_of(name) or {}
        readings.append(read_generalized(name, table, task, levels, rng))
    return readings


def _read_buckets(
    tables: Mapping[str, CodedTable], manifest: Manifest, task: Task, rng: np.random.Generator
) -> list[AdversaryView]:
    return [read_bucketized(tables[PEOPLE], tables[SENSITIVE], task)]


_Reader = Callable[
    [Mapping[str, CodedTable], Manifest, Task, np.random.Generator], list[AdversaryView]
]
_READERS: dict[str, _Reader] = {
    "generalized": _read_records,
    "projected": _read_projections,
    "bucketized": _read_buckets,
}


def read_generalized(
    name: str,
    table: CodedTable,
    task: Task,
    levels: Mapping[str, int],
    rng: np.random.Generator,
) -> AdversaryView:
    """Read one generalized table with everybody's quasi-identifiers at hand."""
    people = [task.table[column.name] for column in table.quasi_identifiers]
    classes = classes_of(table.quasi_identifiers, table.rows)
    kinds = classes_of(people, task.table.rows)
    coverages = coverages_of(table, people, task.hierarchies, levels)
    cells = [column.codes[classes.first_row] for column in table.quasi_identifiers]
    values = [column.codes[kinds.first_row] for column in people]
    fits = fitting_groups(coverages, values, cells)
    sensitive = {column.name: column for column in table.sensitive}
    if fits is None:
        sample = rng.choice(kinds.count, min(SAMPLED_KINDS, kinds.count), replace=False)
        few = fitting_groups(coverages, [value[sample] for value in values], cells)
        if few is None:
            few = np.zeros(len(sample) + 1, np.int64), np.zeros(0, np.int32)
        start, group = few
        place = np.repeat(np.arange(len(sample)), np.diff(start))
        rows = np.bincount(place, classes.size[group], len(sample))
        placement = Placement(start, group, classes.size[group] / rows[place], EQUAL_ROWS)
        place_of_kind = np.full(kinds.count, -1, np.int32)
        place_of_kind[sample] = np.arange(len(sample), dtype=np.int32)
        return _mixed(name, classes, sensitive, placement, place_of_kind[kinds.class_of_row], task)
    start, group = fits
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = group
        return _certain(name, classes, sensitive, group_of_kind, kinds.class_of_row)
    suppressed = task.table.rows - table.rows
    placement = weigh(start, group, kinds.size, classes.size, suppressed)
    return _mixed(name, classes, sensitive, placement, kinds.class_of_row, task)


def read_bucketized(people: CodedTable, sensitive: CodedTable, task: Task) -> AdversaryView:
    """Read exact quasi-identifiers with their group, and the group's sensitive rows."""
    counted = people_counted(sensitive)
    rows = np.arange(sensitive.rows) if counted is None else np.repeat(
        np.arange(sensitive.rows), counted
    )  # fmt: skip
    group_of_row = sensitive[GROUP].codes[rows]
    groups = sensitive[GROUP].cardinality
    first = np.zeros(groups, np.int64)
    first[group_of_row[::-1]] = np.arange(len(rows))[::-1]
    size = np.bincount(group_of_row, minlength=groups).astype(np.int64)
    classes = Classes(group_of_row, first, size)
    columns = {column.name: column.take(rows) for column in sensitive.sensitive}

    quasi = people.quasi_identifiers
    both = [np.concatenate([c.codes, recoded(c, task.table[c.name])]) for c in quasi]
    total = people.rows + task.table.rows
    kinds = group_codes(both, [c.cardinality + 1 for c in quasi], total)
    of_people, of_person = np.split(kinds.class_of_row, [people.rows])
    group_of_people = code_of_text(sensitive[GROUP].text, people[GROUP].text)[people[GROUP].codes]
    pairs = group_codes(
        [of_people, group_of_people.astype(np.int32)], [kinds.count, groups], people.rows
    )
    kind, group = of_people[pairs.first_row], group_of_people[pairs.first_row]
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], np.arange(kinds.count + 1))
    alike = np.bincount(of_people, minlength=kinds.count)
    weight = pairs.size[order] / alike[kind[order]]
    placement = Placement(start, group[order].astype(np.int32), weight)
    if (np.diff(start) <= 1).all():
        group_of_kind = np.full(kinds.count, -1, np.int32)
        group_of_kind[np.diff(start) > 0] = placement.group
        return _certain(SENSITIVE, classes, columns, group_of_kind, of_person)
    first_person = np.zeros(kinds.count, np.int64)
    first_person[of_person[::-1]] = np.arange(task.table.rows)[::-1]
    members = KnownMembers(
        first_person[of_people], group_of_people.astype(np.int32), of_people, of_person
    )
    mixed = _mixed(SENSITIVE, classes, columns, placement, of_person, task)
    return replace(mixed, members=members)


def _certain(
    name: str,
    classes: Classes,
    sensitive: Mapping[str, Column],
    group_of_kind: NDArray[np.int32],
    kind_of_person: NDArray[np.int32],
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


def _mixed(
    name: str,
    classes: Classes,
    sensitive: Mapping[str, Column],
    placement: Placement,
    place_of_person: NDArray[np.int32],
    task: Task,
) -> AdversaryView:
    """Some people fit several groups: the targets are the people who fit any."""
    degree = np.diff(placement.start)
    targets = np.flatnonzero((place_of_person >= 0) & (degree[place_of_person] > 0))
    truth = {
        column.name: recoded(column, task.table[column.name])[targets]
        for column in sensitive.values()
    }
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


def _placed(group_of_person: NDArray[np.int32], kind_of_person: NDArray[np.int32]) -> KnownMembers:
    """The people who fit one group alone."""
    row = np.flatnonzero(group_of_person >= 0)
    return KnownMembers(row, group_of_person[row], kind_of_person[row], kind_of_person)
