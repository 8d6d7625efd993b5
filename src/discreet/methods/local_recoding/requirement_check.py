"""Whether groups of units keep the guarantees of a task."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.methods.base import Task
from discreet.methods.local_recoding.group_needs import Needs, needs_of
from discreet.methods.local_recoding.unit_groups import UnitGrouping
from discreet.methods.shared.frequency_sets import OnDemand, refine
from discreet.requirements.base import SizeRequirement
from discreet.table.classes import Classes, group_codes
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts, sum_counts
from discreet.typing import Bools, Floats, Ints

FAR = 1e6  # for unbounded figures


class CountedGroups(NamedTuple):
    """Groups of rows of which only the sensitive values count."""

    start: Ints  # (groups + 1,) where the pieces of each group start
    unit: Ints  # (pieces,) one that has the values
    rows: Ints  # (pieces,)

    @property
    def group_of_piece(self) -> Ints:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


class Promises:
    """The requirements of a task, judged on groups of units."""

    def __init__(self, task: Task, row_of_unit: Ints) -> None:
        self.requirements = tuple(task.requirements)
        self.domains = task.domains
        self.needs: Needs = needs_of(self.requirements, task.table.sensitive, row_of_unit)
        self.least = self.needs.rows
        self.only_sizes = all(isinstance(r, SizeRequirement) for r in self.requirements)
        self._sensitive = {column.name: column for column in task.table.sensitive}
        self._task, self._row_of_unit = task, row_of_unit
        self._refined = any(r.needs_refined_counts for r in self.requirements)

    def of(self, units: Ints) -> Promises:
        """The same where only some units are there, numbered anew."""
        return Promises(self._task, self._row_of_unit[units])

    def kept_by(self, made: UnitGrouping) -> Bools:
        """Return which groups keep every guarantee."""
        return self.passes(made.unit, made.group_of_piece, made.rows, made.count)

    def counted(self, made: UnitGrouping) -> CountedGroups:
        """The groups as they are judged: one piece for all units with the same values."""
        group = made.group_of_piece.astype(np.int32)
        values = self._values
        pairs = group_codes(
            [group, values.class_of_row[made.unit]], [made.count, values.count], len(group)
        )
        rows = np.bincount(pairs.class_of_row, made.rows, pairs.count).astype(np.int64)
        of_group = group[pairs.first_row]  # ascending, since pieces are in the order of groups
        start = np.searchsorted(of_group, np.arange(made.count + 1))
        return CountedGroups(start, made.unit[pairs.first_row], rows)

    @property
    def unit_of_values(self) -> Ints:
        """A unit for each combination of sensitive values."""
        return self._values.first_row

    @cached_property
    def _values(self) -> Classes:
        """The units with the same sensitive values."""
        columns = self._sensitive.values()
        codes = [column.codes[self._row_of_unit] for column in columns]
        return group_codes(
            codes, [column.cardinality for column in columns], len(self._row_of_unit)
        )

    def passes(self, unit: Ints, group: Ints, rows: Ints, groups: int) -> Bools:
        """Return which groups keep every guarantee, from their pieces."""
        if self.only_sizes:
            return np.bincount(group, rows, groups) >= self.least
        counts = self.counts(unit, group, rows, groups)
        passes = np.ones(groups, bool)
        for requirement in self.requirements:
            passes &= requirement.passes(counts, self.domains)
        return passes

    def figures(
        self, unit: Ints, group: Ints, rows: Ints, groups: int
    ) -> Iterator[tuple[Floats, Bools]]:
        """For each requirement and attribute the groups' figures, and which of them pass.

        The greater the better, all finite.
        """
        counts = self.counts(unit, group, rows, groups)
        for requirement in self.requirements:
            sign = -1 if requirement.figure[1] else 1
            for attribute in requirement.attributes(counts):
                figures = requirement.figures(counts, self.domains, attribute)
                yield np.clip(sign * figures, -FAR, FAR), requirement.accepts(figures)

    def counts(self, unit: Ints, group: Ints, rows: Ints, groups: int) -> ClassCounts:
        """The counts of groups, compared with the whole table where that is asked for.

        Several pieces of a group may be of one unit; rows below 0 are taken away from the others.
        """
        of_class = group.astype(np.int32)
        row = self._row_of_unit[unit]
        size = np.bincount(of_class, rows, groups).astype(np.int64)

        def count(name: str) -> ValueCounts:
            column = self._sensitive[name]
            shape = groups, column.cardinality
            return sum_counts(group, column.codes[row], rows, shape, column.counts)

        def refined(name: str) -> RefinedCounts:
            """From a piece for each combination of a group and values."""
            columns = self._sensitive.values()
            pairs = group_codes(
                [of_class, *(column.codes[row] for column in columns)],
                [groups, *(column.cardinality for column in columns)],
                len(row),
            )
            total = np.bincount(pairs.class_of_row, rows, pairs.count).astype(np.int64)
            piece, total = pairs.first_row[total > 0], total[total > 0]
            return refine(of_class[piece], row[piece], total, groups, self._sensitive, name)

        names = tuple(self._sensitive)
        inner = OnDemand(names, refined) if self._refined else None
        return ClassCounts(size, OnDemand(names, count), inner)
