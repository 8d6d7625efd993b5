"""What an attacker sees of a release: groups, their sensitive rows, and who may be in which.

A view is made of published tables and of people's exact quasi-identifiers, which the attacker
knows. The truth about the targets is in it too, and serves for nothing but to score beliefs.
Each kind of release makes its own views (``kinds/<kind>/adversary_view.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.releases.placement import Placement
from discreet.table.classes import Classes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column, Derives
from discreet.table.counts import ClassCounts, count_classes
from discreet.typing import Codes

EQUAL_ROWS = "sampled targets; every row that fits a target weighed equally"


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
class AdversaryView(Derives):
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

    def share(self, attribute: str) -> NDArray[np.float64]:
        """The share of each value among all published rows: what any person may know."""
        column = self.sensitive[attribute]
        return column.counts / max(self.rows, 1)


def certain_view(
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


def mixed_view(
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
