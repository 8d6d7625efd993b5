"""What every group of units needs, and whether groups keep the guarantees of a task.

Requirements say how many rows a class has at least, and how many different values of an attribute:
the needs, which can be counted row by row. A group that has both may still fail (a class of three
values need not be entropy-diverse); one that lacks either can't pass. A hull below which there are
too few of either can be left out with all that it contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.local_recoding.hulls import UnitGrouping
from discreet.methods.shared.frequency_sets import OnDemand, refine
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts, sum_counts
from discreet.typing import Bools, Codes, Floats, Ints


class Needs(NamedTuple):
    """How many rows and values every group needs, and the values of each unit.

    The attribute that needs most values comes first.
    """

    rows: int
    values: Ints  # (attributes,) different ones; at least 2
    value: Codes  # (units, attributes)
    cardinality: int  # of the attribute with most values

    def take(self, units: NDArray[np.integer]) -> Needs:
        """The same for some units; values are numbered anew."""
        value = np.empty((len(units), len(self.values)), np.int32)
        for j in range(len(self.values)):
            of_unit = self.value[units, j]
            number = np.cumsum(np.bincount(of_unit) > 0, dtype=np.int32)
            value[:, j] = number[of_unit] - 1
        return self._replace(value=value, cardinality=int(value.max(initial=-1)) + 1)


def needs_of(
    requirements: Sequence[Requirement], sensitive: Sequence[Column], row_of_unit: Ints
) -> Needs:
    """The needs that some requirements imply together."""
    rows = max((requirement.needs.rows for requirement in requirements), default=1)
    least: dict[str, int] = {}
    for requirement in requirements:
        if requirement.needs.values > 1:
            for name in requirement.coverage.names or [column.name for column in sensitive]:
                least[name] = max(least.get(name, 1), requirement.needs.values)
    columns = [column for column in sensitive if column.name in least]
    columns.sort(key=lambda column: -least[column.name])
    value = np.empty((len(row_of_unit), len(columns)), np.int32)
    for j, column in enumerate(columns):
        value[:, j] = column.codes[row_of_unit]
    values = np.array([least[column.name] for column in columns], np.int64)
    cardinality = max((column.cardinality for column in columns), default=0)
    return Needs(rows, values, value, cardinality)


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
        self._refined = any(r.algebra.refined for r in self.requirements)

    def of(self, units: Ints) -> Promises:
        """The same where only some units are there, numbered anew."""
        return Promises(self._task, self._row_of_unit[units])

    def counted(self, grouping: UnitGrouping) -> CountedGroups:
        """The groups as they are judged: one piece for all units with the same values."""
        group = grouping.group_of_piece.astype(np.int32)
        values = self._values
        pairs = group_codes(
            [group, values.class_of_row[grouping.unit]], [grouping.count, values.count], len(group)
        )
        rows = np.bincount(pairs.class_of_row, grouping.rows, pairs.count).astype(np.int64)
        of_group = group[pairs.first_row]  # ascending, since pieces are in the order of groups
        start = np.searchsorted(of_group, np.arange(grouping.count + 1))
        return CountedGroups(start, grouping.unit[pairs.first_row], rows)

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
            sign = -1 if requirement.algebra.smaller_is_better else 1
            for attribute in requirement.attributes(counts):
                figures = requirement.figures(counts, self.domains, attribute)
                yield (
                    np.clip(sign * figures, -FAR, FAR),
                    requirement.judge(counts, self.domains, attribute),
                )

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
