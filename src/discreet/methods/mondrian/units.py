"""Units and their judge: counts of ranges of units, and which of them meet the requirements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.errors import InfeasibleError
from discreet.knowledge.population import Population
from discreet.methods.base import Task
from discreet.methods.mondrian.regions import ranges_of
from discreet.methods.shared.frequency_sets import OnDemand, refine
from discreet.requirements.attackers.judging import Demand
from discreet.requirements.population import PopulationRisk
from discreet.table.classes import Classes, classes_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import (
    ClassCounts,
    RefinedCounts,
    ValueCounts,
    count_values,
    sum_counts,
)
from discreet.table.kernels.lists import entries_of
from discreet.typing import AnyInts, Bools, Codes, Floats, Ints

PEOPLE, ROWS, WEIGHT = "people", "rows", "weight"  # sums over the units of a class


class Units:
    """What is never torn: the distinct tuples of quasi-identifiers, or (``torn``) single rows.

    With a population these are its distinct tuples, of which the table may have no row: the cells
    of a class then span the population's values, so that it covers all persons of its region.
    """

    def __init__(
        self, table: CodedTable, *, torn: bool, population: Population | None = None
    ) -> None:
        self.torn = torn
        self.people: Ints | None = None  # (units,) the persons of the population
        self.sampling_weights = table.sampling_weights
        self.sensitive = {column.name: column for column in table.sensitive}
        self.rows = table.entries
        self.codes: Codes  # (quasi-identifiers, units)
        columns = table.quasi_identifiers
        if population is not None:
            self.people = population.kinds.size
            of_row = population.kind_of_row(table)
            rows = np.bincount(of_row, minlength=len(self.people))
            first = population.kinds.first_row
            self._number(Classes(of_row, first, rows))
            self.codes = np.array([population.table[c.name].codes[first] for c in columns])
            return
        self._number(_single_rows(table.rows) if torn else table.classes)
        chosen = self._classes.first_row
        self.codes = np.empty((len(columns), len(chosen)), np.int32)
        for number, column in enumerate(columns):
            self.codes[number] = column.codes if torn else column.codes[chosen]

    def _number(self, classes: Classes) -> None:
        self._classes = classes
        self.count = classes.count
        self.of_row = classes.class_of_row
        self.weight = classes.size  # (units,) rows

    def values(self, column: Column) -> ValueCounts:
        """A sensitive attribute's counts by unit."""
        if not self.torn:
            return count_values(self._classes, column)
        ones = np.ones(self.rows, np.int64)
        return ValueCounts(np.arange(self.rows + 1), column.codes, ones, column.cardinality)

    def sums(self, *, weighted: bool) -> dict[str, Ints | Floats]:
        """By name what is added up over the units of a class, beside their values: (units,)."""
        sums: dict[str, Ints | Floats] = {}
        if self.people is not None:
            sums |= {PEOPLE: self.people, ROWS: self.weight}
        if weighted and self.sampling_weights is not None:
            sums[WEIGHT] = np.bincount(self.of_row, self.sampling_weights, self.count)
        return sums

    @cached_property
    def signatures(self) -> Classes:
        """The distinct combinations of all sensitive values."""
        return classes_of(list(self.sensitive.values()), self.rows)

    def signature_values(self) -> ValueCounts:
        """The counts of those combinations by unit."""
        column = next(iter(self.sensitive.values()))
        combinations = self.signatures
        text = column.text.head(0).extend_constant("", combinations.count)
        combined = Column("", column.role, column.type, combinations.class_of_row, text, text)
        return self.values(combined)


def _single_rows(rows: int) -> Classes:
    return Classes(np.arange(rows, dtype=np.int32), np.arange(rows), np.ones(rows, np.int64))


class Judge:
    """Which ranges of units meet all requirements."""

    def __init__(self, task: Task, units: Units, known: Sequence[Demand] = ()) -> None:
        self.requirements = tuple(task.requirements)
        self.known = tuple(known)  # requirements where values of sensitive attributes are known
        self.domains = task.domains
        self.least = max((r.needs.rows for r in self.requirements), default=1)
        if units.people is not None and self.least == 1:
            self.least = 0  # a piece without rows is not published, and may be cut off
        self._sums = units.sums(weighted=any(r.counting.weights for r in self.requirements))
        self.averages = [
            r for r in self.requirements if isinstance(r, PopulationRisk) and r.algebra.additive
        ]
        self.rows = int(units.weight.sum())
        self.weight = units.weight
        self._units = units
        self._by_unit: dict[str | None, ValueCounts] = {}
        self._refined = any(r.algebra.refined for r in self.requirements)
        linked = [task.table[name] for name in task.knowledge]
        self._columns = units.sensitive | {column.name: column for column in linked}
        self._linked = tuple(column.name for column in linked)

    def passes(self, order: Codes, start: Ints, end: Ints, size: Ints) -> Bools:
        """Return which of some pieces pass, whatever the mean over all of them is."""
        passes = self.passes_unknown(order, start, end, size)
        for demand in self.known:
            entries = self.held_together(order, start, end)
            row = self._units.signatures.first_row[entries.value]
            passes &= demand.passes_where_known(
                entries.class_of_entry, row, entries.count, len(start), self._units.sensitive,
                self.domains,
            )  # fmt: skip
        return passes

    def passes_unknown(self, order: Codes, start: Ints, end: Ints, size: Ints) -> Bools:
        """The same for attackers who know no sensitive value; pieces without rows pass."""
        passes: Bools = np.asarray(size == 0)
        rest = np.flatnonzero(~passes)
        if len(rest):
            counts = self.counts(order, start[rest], end[rest], size[rest])
            meets = np.ones(len(rest), bool)
            for requirement in self.requirements:
                if not requirement.algebra.additive:
                    meets &= requirement.passes(counts, self.domains)
            passes[rest] = meets
        return passes

    def meets_averages(self, order: Codes, start: Ints, end: Ints, size: Ints) -> bool:
        """Return whether pieces that are all of the table have low enough means."""
        if not self.averages:
            return True
        shown = np.flatnonzero(size)
        counts = self.counts(order, start[shown], end[shown], size[shown])
        return all(bool(r.passes(counts, self.domains).all()) for r in self.averages)

    def expected(self, order: Codes, start: Ints, end: Ints, size: Ints) -> Floats:
        """(means, pieces) What each piece adds to each mean that is bounded."""
        added = np.zeros((len(self.averages), len(start)))
        shown = np.flatnonzero(size)
        if self.averages and len(shown):
            counts = self.counts(order, start[shown], end[shown], size[shown])
            for number, requirement in enumerate(self.averages):
                added[number, shown] = requirement.expected(counts)
        return added

    def infeasible_where_known(self) -> InfeasibleError:
        """The error where the whole table fails for an attacker who knows a sensitive value."""
        known = " and ".join(f"'{name}'" for name in self.known[0].keys.known)
        asked = ", ".join(requirement.name for requirement in self.known[0].requirements)
        return InfeasibleError(
            f"mondrian: not even the whole table as one class meets {asked} for an attacker who "
            f"knows the value of {known}: too few rows have one of its values, or they share "
            "another value. To make it feasible: remove it from 'knows'; or ask for less; or group "
            f"the rare values of {known} before publishing.",
            [],
        )

    def held_together(self, order: Codes, start: Ints, end: Ints) -> ValueCounts:
        """The combinations of all sensitive values in some pieces."""
        unit = order[ranges_of(start, end)[0]]
        piece = np.repeat(np.arange(len(start)), end - start)
        by_unit = self._of_unit(None)
        entry, place = entries_of(by_unit.start, unit)
        shape = (len(start), by_unit.cardinality)
        return sum_counts(piece[place], by_unit.value[entry], by_unit.count[entry], shape)

    def counts(self, order: Codes, start: Ints, end: Ints, size: Ints) -> ClassCounts:
        """The counts of some pieces, each attribute's when it is first looked at."""
        unit, length = order[ranges_of(start, end)[0]], end - start
        # Sums over the units of each piece; a population has units without rows.
        names = tuple(self._units.sensitive)
        piece = np.repeat(np.arange(len(length)), length)
        sums = {
            name: np.bincount(piece, of_unit[unit], len(length)).astype(np.float64)
            for name, of_unit in self._sums.items()
        }
        if ROWS in sums:
            with_rows = self._sums[ROWS][unit] > 0
            unit, piece = unit[with_rows], piece[with_rows]

        # Counts of values, each attribute when it is looked at.
        def count(name: str | None) -> ValueCounts:
            by_unit = self._of_unit(name)
            entry: AnyInts = unit
            of_piece = piece
            if not by_unit.one_each:
                first = by_unit.start.take(unit)
                several = np.flatnonzero(by_unit.start.take(unit + 1) - first > 1)
                more, place = ranges_of(first[several] + 1, by_unit.start[unit[several] + 1])
                of_piece = np.append(piece, np.repeat(piece[several], np.diff(place)))
                entry = np.append(first, more)  # the first of each unit, then the others
            reference = None if name is None else self._columns[name].reference
            return sum_counts(
                of_piece, by_unit.value.take(entry), by_unit.count.take(entry),
                (len(length), by_unit.cardinality), reference,
            )  # fmt: skip

        def refined(name: str) -> RefinedCounts:
            entries = count(None)
            row = self._units.signatures.first_row[entries.value]
            of_class = entries.class_of_entry.astype(np.int32)
            return refine(of_class, row, entries.count, len(length), self._units.sensitive, name)

        inner = OnDemand(names, refined) if self._refined else None
        people = sums.get(PEOPLE)
        return ClassCounts(
            size,
            OnDemand(names, count),
            inner,
            sets=OnDemand(self._linked, count),
            population=None if people is None else np.append(people, 0).astype(np.int64),
            weight=sums.get(WEIGHT),
        )

    def _of_unit(self, name: str | None) -> ValueCounts:
        if name not in self._by_unit:
            units = self._units
            self._by_unit[name] = (
                units.signature_values() if name is None else units.values(self._columns[name])
            )
        return self._by_unit[name]
