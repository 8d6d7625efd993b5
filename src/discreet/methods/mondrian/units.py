"""Units and their judge: counts of ranges of units, and which of them meet the requirements."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.shared.frequency_sets import OnDemand, refine
from discreet.table.classes import Classes, classes_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts, count_values
from discreet.table.kernels import kernel
from discreet.typing import Bools, Codes, Ints


class Units:
    """What is never torn: the distinct tuples of quasi-identifiers, or (``torn``) single rows."""

    def __init__(self, table: CodedTable, *, torn: bool) -> None:
        self.torn = torn
        self.sensitive = {column.name: column for column in table.sensitive}
        self.rows = table.entries
        columns = table.quasi_identifiers
        self._classes = _single_rows(table.rows) if torn else table.classes
        chosen = self._classes.first_row
        self.codes: Codes = np.empty((len(columns), len(chosen)), np.int32)
        for number, column in enumerate(columns):
            self.codes[number] = column.codes if torn else column.codes[chosen]

    @property
    def count(self) -> int:
        return self._classes.count

    @property
    def of_row(self) -> NDArray[np.int32]:
        return self._classes.class_of_row

    @property
    def weight(self) -> Ints:
        return self._classes.size

    def values(self, column: Column) -> ValueCounts:
        """A sensitive attribute's counts by unit."""
        if not self.torn:
            return count_values(self._classes, column)
        ones = np.ones(self.rows, np.int64)
        return ValueCounts(np.arange(self.rows + 1), column.codes, ones, column.cardinality)

    @cached_property
    def signatures(self) -> Classes:
        """The distinct combinations of all sensitive values."""
        return classes_of(list(self.sensitive.values()), self.rows)

    def signature_values(self) -> ValueCounts:
        """The counts of those combinations by unit."""
        column = next(iter(self.sensitive.values()))
        found = self.signatures
        text = column.text.head(0).extend_constant("", found.count)
        combined = Column("", column.role, column.type, found.class_of_row, text, text)
        return self.values(combined)


def _single_rows(rows: int) -> Classes:
    return Classes(np.arange(rows, dtype=np.int32), np.arange(rows), np.ones(rows, np.int64))


class Judge:
    """Which ranges of units meet all requirements."""

    def __init__(self, task: Task, units: Units) -> None:
        self.requirements = tuple(task.requirements)
        self.domains = task.domains
        self.least = max((r.least_rows for r in self.requirements), default=1)
        self._units = units
        self._by_unit: dict[str | None, ValueCounts] = {}
        self._refined = any(r.needs_refined_counts for r in self.requirements)
        linked = [task.table[name] for name in task.knowledge]
        self._columns = units.sensitive | {column.name: column for column in linked}
        self._linked = tuple(column.name for column in linked)

    def passes(self, order: Codes, start: Ints, end: Ints, size: Ints) -> Bools:
        """Return which of some pieces pass."""
        counts = self.counts(order, start, end, size)
        passes = np.ones(len(start), bool)
        for requirement in self.requirements:
            passes &= requirement.passes(counts, self.domains)
        return passes

    def counts(self, order: Codes, start: Ints, end: Ints, size: Ints) -> ClassCounts:
        """The counts of some pieces, each attribute's when it is first looked at."""
        names = tuple(self._units.sensitive)

        def count(name: str | None) -> ValueCounts:
            by_unit = self._of_unit(name)
            found = count_pieces(
                order, start, end, by_unit.start, by_unit.value, by_unit.count, by_unit.cardinality
            )
            reference = None if name is None else self._columns[name].reference
            return ValueCounts(*found, by_unit.cardinality, reference)

        def refined(name: str) -> RefinedCounts:
            entries = count(None)
            row = self._units.signatures.first_row[entries.value]
            of_class = entries.class_of_entry.astype(np.int32)
            return refine(of_class, row, entries.count, len(start), self._units.sensitive, name)

        inner = OnDemand(names, refined) if self._refined else None
        return ClassCounts(size, OnDemand(names, count), inner, sets=OnDemand(self._linked, count))

    def _of_unit(self, name: str | None) -> ValueCounts:
        if name not in self._by_unit:
            units = self._units
            self._by_unit[name] = (
                units.signature_values() if name is None else units.values(self._columns[name])
            )
        return self._by_unit[name]


# Compiled: counts the values of every piece of a level in one pass, where NumPy would sort.
@kernel
def count_pieces(
    order: Codes,
    start: Ints,
    end: Ints,
    unit_start: Ints,
    unit_value: Codes,
    unit_count: Ints,
    cardinality: int,
) -> tuple[Ints, Codes, Ints]:
    """How often each value occurs in each piece, from its counts by unit; sparse, ascending."""
    entries = 0
    for piece in range(len(start)):
        inside = 0
        for i in range(start[piece], end[piece]):
            inside += unit_start[order[i] + 1] - unit_start[order[i]]
        entries += min(inside, cardinality)
    first = np.zeros(len(start) + 1, np.int64)
    value = np.empty(entries, np.int32)
    count = np.empty(entries, np.int64)
    held = np.zeros(cardinality, np.int64)
    touched = np.empty(cardinality, np.int32)
    filled = 0
    for piece in range(len(start)):
        found = 0
        for i in range(start[piece], end[piece]):
            for e in range(unit_start[order[i]], unit_start[order[i] + 1]):
                if held[unit_value[e]] == 0:
                    touched[found] = unit_value[e]
                    found += 1
                held[unit_value[e]] += unit_count[e]
        if 8 * found >= cardinality:
            for v in range(cardinality):
                if held[v]:
                    value[filled], count[filled] = v, held[v]
                    held[v] = 0
                    filled += 1
        else:
            for v in np.sort(touched[:found]):
                value[filled], count[filled] = v, held[v]
                held[v] = 0
                filled += 1
        first[piece + 1] = filled
    return first, value[:filled].copy(), count[:filled].copy()
