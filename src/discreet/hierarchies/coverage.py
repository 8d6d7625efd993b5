"""The values of the original that a published cell covers.

A cell covers the values that remain possible for an attacker: an exact value itself, ``*``
everything, a range the values between its ends, a set its members, an ancestor's label the leaves
below it. A missing value is covered by itself, by ``*``, by a set that lists it and by a
hierarchy's node above it, never by a range.

Dictionaries are sorted, so a cell nearly always covers a few runs of neighbouring codes; coverage
is kept as runs, and a sum over the covered values is a difference of two prefix sums for each run.
Thousands of cells over tens of thousands of values stay cheap.

A label that a hierarchy has on several levels is read on all of them (an attacker can't tell them
apart) unless the level is known. Behind a backslash is an escaped value, where the dictionary
holds a value that needs the backslash; else the backslash is the value's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchies.cells import (
    ESCAPE,
    SUPPRESSED,
    Range,
    ValueSet,
    escaped,
    looks_like_notation,
    parse_cell,
    range_cells,
    unescaped,
)
from discreet.hierarchies.hierarchy import Hierarchy, Level
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import entries_of
from discreet.table.roles import Role, ValueType

Run = tuple[int, int]  # codes from the first up to, not including, the second
UNIX_EPOCH = date(1970, 1, 1)  # dates are days since then


@dataclass(frozen=True, eq=False)
class Coverage:
    """The codes of the original's dictionary that each cell covers, as runs of codes."""

    cells: int
    cardinality: int  # of the original's dictionary
    cell_of_run: NDArray[np.int64]  # (runs,) ascending; every cell has a run
    low: NDArray[np.int64]  # (runs,)
    high: NDArray[np.int64]  # (runs,) not included
    ranges: Ranges | None = None  # the cells that are ranges, if cells were read

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """The number of values that each cell covers, at least 1."""
        return np.bincount(self.cell_of_run, self.high - self.low, self.cells).astype(np.int64)

    @property
    def is_exact(self) -> bool:
        """Whether each cell covers one value at most, in one run."""
        one_each = np.array_equal(self.cell_of_run, np.arange(self.cells))
        return one_each and bool((self.high - self.low <= 1).all())

    @cached_property
    def run_start(self) -> NDArray[np.int64]:
        """Where the runs of each cell start. (cells + 1,)"""
        return np.searchsorted(self.cell_of_run, np.arange(self.cells + 1))

    def covers(self, cell: NDArray[np.integer], value: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return for each pair of a cell and a value whether the cell covers the value."""
        if len(self.low) == self.cells:  # one run each
            return np.asarray((self.low[cell] <= value) & (value < self.high[cell]))
        run, pair = entries_of(self.run_start, cell)
        within = (self.low[run] <= value[pair]) & (value[pair] < self.high[run])
        return np.asarray(np.bincount(pair[within], minlength=len(cell)) > 0)

    def sums(self, of_value: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return the sum over the values that each cell covers.

        ``of_value`` is (values,) or (values, columns); the result (cells,) or (cells, columns).
        """
        one_run = len(self.low) == self.cells
        if one_run and (self.high - self.low == 1).all():  # every cell exact
            return of_value[self.low].astype(np.float64)
        prefix = np.zeros((self.cardinality + 1, *of_value.shape[1:]))
        np.cumsum(of_value, axis=0, out=prefix[1:])
        of_run = prefix[self.high] - prefix[self.low]
        if one_run:
            return np.asarray(of_run, np.float64)
        first_run = np.flatnonzero(np.diff(self.cell_of_run, prepend=-1))
        return np.asarray(np.add.reduceat(of_run, first_run, axis=0), np.float64)

    def shares(self, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        """|cell ∩ set| / |cell| for each cell and set; ``member`` is (values, sets)."""
        shares = self.sums(member)
        shares /= self.size[:, None]
        return shares

    def spread(
        self,
        cell: NDArray[np.integer],
        column: NDArray[np.integer],
        mass: NDArray[np.float64],
        columns: int,
    ) -> NDArray[np.float64]:
        """(values, columns) Masses of cells laid evenly over the values that each covers.

        Entry i gives ``mass[i]`` to the values of ``cell[i]``, in the column ``column[i]``.
        """
        if len(self.low) == self.cells and (self.high - self.low == 1).all():  # every cell exact
            place = self.low[cell] * columns + column
            laid = np.bincount(place, mass, self.cardinality * columns)
            return laid.reshape(self.cardinality, columns).astype(np.float64)
        run, entry = entries_of(self.run_start, cell)
        each = (mass / self.size[cell])[entry]
        at = column[entry]
        change = np.bincount(self.low[run] * columns + at, each, (self.cardinality + 1) * columns)
        change -= np.bincount(self.high[run] * columns + at, each, len(change))
        laid = np.cumsum(change.reshape(-1, columns), axis=0)[:-1]
        return np.asarray(np.maximum(laid, 0.0), np.float64)  # rounding may leave less than 0

    def pick(self, cell: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw for each cell one of the values that it covers, all equally likely."""
        before = np.concatenate([[0], np.cumsum(self.high - self.low)])  # values in earlier runs
        first = np.concatenate([[0], np.cumsum(self.size)])[cell]
        place = first + rng.integers(0, self.size[cell])
        run = np.searchsorted(before, place, side="right") - 1
        return np.asarray(self.low[run] + place - before[run], np.int32)

    def sole_cell(self) -> NDArray[np.int64] | None:
        """The one cell that covers each value, −1 where none does; None where cells overlap."""
        covering = np.zeros(self.cardinality + 1, np.int64)
        np.add.at(covering, self.low, 1)
        np.add.at(covering, self.high, -1)
        if (np.cumsum(covering)[:-1] > 1).any():
            return None
        cell = np.full(self.cardinality, -1, np.int64)
        for number, low, high in zip(self.cell_of_run, self.low, self.high, strict=True):
            cell[low:high] = number
        return cell

    def matrix(self) -> NDArray[np.bool_]:
        """The coverage as a matrix (cells, values); for small tables."""
        result = np.zeros((self.cells, self.cardinality), bool)
        for cell, low, high in zip(self.cell_of_run, self.low, self.high, strict=True):
            result[cell, low:high] = True
        return result


def identity(column: Column) -> Coverage:
    """The coverage of a column that is published as it is, coded by the same dictionary."""
    codes = np.arange(column.cardinality)
    return Coverage(column.cardinality, column.cardinality, codes, codes, codes + 1)


def coverage_of_cells(
    published: Column, original: Column, hierarchy: Hierarchy | None, level: int | None
) -> Coverage:
    """Return the coverage of a published column's cells, which is found once a column."""
    return published.once(
        ("coverage", original, hierarchy, level),
        lambda: cover(original, published.text, hierarchy, level),
    )


def cover(
    original: Column,
    cells: Sequence[str | None] | pl.Series,
    hierarchy: Hierarchy | None = None,
    level: int | None = None,
) -> Coverage:
    """The coverage of published cells (the dictionary of a published column).

    A cell that covers no value of the original is an error: the release was not made from it.
    """
    cells = pl.Series(cells, dtype=pl.String)
    # Ranges are read together, all others one by one.
    reader = CellReader(original, hierarchy, level)
    ranges = reader.ranges(cells)
    others = np.delete(np.arange(len(cells)), ranges.cell)
    runs_of_cell = [reader.runs(cell) for cell in cells.gather(others).to_list()]
    lengths = [len(runs) for runs in runs_of_cell]
    ends = np.array([run for runs in runs_of_cell for run in runs], np.int64).reshape(-1, 2)
    cell_of_run = np.concatenate((ranges.cell, np.repeat(others, lengths)))
    # Runs in the order of their cells; a cell without one is unknown.
    order = np.argsort(cell_of_run, kind="stable")
    low = np.concatenate((ranges.first, ends[:, 0]))[order]
    high = np.concatenate((ranges.last, ends[:, 1]))[order]
    filled = low < high
    read = np.zeros(len(cells), bool)
    read[cell_of_run[order][filled]] = True
    if not read.all():
        unknown = cells.gather(np.flatnonzero(~read)).to_list()
        raise InputError(_unknown_cells(original, unknown, len(cells)))
    return Coverage(len(cells), original.cardinality, cell_of_run[order], low, high, ranges)


def _unknown_cells(original: Column, unknown: Sequence[str | None], cells: int) -> str:
    named = ""
    if original.role is Role.QUASI_IDENTIFIER:
        shown = ", ".join("(missing)" if cell is None else cell for cell in unknown[:5])
        named = f": {shown}" + (", …" if len(unknown) > 5 else "")
    return (
        f"Column '{original.name}': {len(unknown)} of {cells} published cells cover no value of "
        f"the original{named}. A cell is a value, '*', a range, a set or a label of the column's "
        "hierarchy. Name the job that made the release, with its own table and hierarchies."
    )


class Ranges(NamedTuple):
    """The cells of a dictionary that are ranges of numbers or dates."""

    cell: NDArray[np.int64]  # (ranges,) which cell it is
    low: NDArray[np.float64]  # (ranges,) the ends
    high: NDArray[np.float64]
    first: NDArray[np.int64]  # (ranges,) the codes that are covered, up to, not including, the last
    last: NDArray[np.int64]


class CellReader:
    """Reads the cells of one published column against the original's dictionary."""

    def __init__(self, original: Column, hierarchy: Hierarchy | None, level: int | None) -> None:
        self.original = original
        levels = () if hierarchy is None else hierarchy.levels
        self.levels: tuple[Level, ...] = levels if level is None else levels[level : level + 1]
        self._nodes_of_label = _nodes_of_label(self.levels)
        self._runs_of_node = [_runs_of_node(level) for level in self.levels]

    @cached_property
    def code_of_value(self) -> dict[str | None, int]:
        """The code of each value of the original."""
        return {value: code for code, value in enumerate(self.original.text.to_list())}

    @cached_property
    def _recoded(self) -> frozenset[str]:
        """The values that are notation: cells of a column whose rare values were recoded."""
        if self.original.lost is None:
            return frozenset()
        return frozenset(
            value for value in self.code_of_value if value and looks_like_notation(value)
        )

    @cached_property
    def known_numbers(self) -> NDArray[np.float64]:
        """The numbers of the original, ascending, without that of a missing value."""
        numbers = self.original.numbers
        return np.zeros(0) if numbers is None else numbers[~np.isnan(numbers)]

    def nodes(self, cell: str | None) -> list[tuple[int, int]]:
        """The (index in ``levels``, node) pairs whose label the cell is."""
        return self._nodes_of_label.get(cell, [])

    def runs(self, cell: str | None) -> list[Run]:
        """The runs of codes that a cell covers; none if it can't be read."""
        if cell in self._recoded:
            return self._exact(cell)
        if cell == SUPPRESSED:
            return [(0, self.original.cardinality)]
        nodes = self.nodes(cell)
        if nodes:
            return merged([run for level, node in nodes for run in self._runs_of_node[level][node]])
        if cell is None:
            return self._exact(None)
        parsed = parse_cell(cell)
        if isinstance(parsed, Range):  # ``ranges`` could not read it
            return []
        if isinstance(parsed, ValueSet):
            values = [None if member is None else self.value(member) for member in parsed.members]
            return merged([run for value in values for run in self._exact(value)])
        return self._exact(self.value(cell))

    def ranges(self, cells: Sequence[str | None] | pl.Series) -> Ranges:
        """The cells that are ranges, read together: a large dictionary has little else."""
        if self.original.numbers is None:
            nothing = np.zeros(0, np.int64)
            return Ranges(nothing, np.zeros(0), np.zeros(0), nothing, nothing)
        cells = pl.Series(cells, dtype=pl.String)
        read = range_cells(cells)
        labels = self._nodes_of_label
        readable = np.ones(len(read.cell), bool)
        if labels:
            readable[:] = [cell not in labels for cell in cells.gather(read.cell).to_list()]
        low, high = self._numbers(read.low), self._numbers(read.high)
        readable &= ~np.isnan(low) & ~np.isnan(high)
        low, high = low[readable], high[readable]
        known = self.known_numbers
        closed = read.closed[readable]
        last = np.empty(len(high), np.int64)
        last[closed] = np.searchsorted(known, high[closed], "right")
        last[~closed] = np.searchsorted(known, high[~closed], "left")
        return Ranges(read.cell[readable], low, high, np.searchsorted(known, low, "left"), last)

    def _codes(self, values: pl.Series) -> NDArray[np.int64]:
        """The codes of values of the original, −1 of others."""
        codes = pl.int_range(len(self.original.text), dtype=pl.Int64, eager=True)
        return values.replace_strict(self.original.text, codes, default=-1).to_numpy()

    def _numbers(self, ends: pl.Series) -> NDArray[np.float64]:
        """Ends of ranges as numbers, NaN where one can't be read."""
        numbers = self.original.numbers
        assert numbers is not None
        code = self._codes(ends)
        end_numbers: NDArray[np.float64] = np.append(numbers, np.nan)[code]
        for place in np.flatnonzero(code < 0).tolist():
            number = self._number(ends[place])
            end_numbers[place] = np.nan if number is None else number
        return end_numbers

    @cached_property
    def _escaped(self) -> bool:
        """Whether the dictionary has the backslashes of the release already."""
        return not any(looks_like_notation(value) for value in self.code_of_value if value)

    def value(self, cell: str) -> str:
        """The source value behind a cell that is neither notation nor a label."""
        if cell.startswith(ESCAPE) and not (self._escaped and cell in self.code_of_value):
            behind = unescaped(cell)
            if behind in self.code_of_value and escaped(behind) == cell:
                return behind
        return cell

    def _exact(self, value: str | None) -> list[Run]:
        code = self.code_of_value.get(value)
        return [] if code is None else [(code, code + 1)]

    def _number(self, end: str) -> float | None:
        """Return the number of a range's end that is not a value of the original."""
        try:
            if self.original.type is ValueType.DATE:
                return float((date.fromisoformat(end) - UNIX_EPOCH).days)
            return float(end)
        except ValueError:
            return None


def _nodes_of_label(levels: Sequence[Level]) -> dict[str | None, list[tuple[int, int]]]:
    nodes: dict[str | None, list[tuple[int, int]]] = {}
    for index, level in enumerate(levels):
        present = np.zeros(level.nodes, bool)
        present[level.node_of_leaf] = True
        for node in np.flatnonzero(present):
            nodes.setdefault(level.labels[node], []).append((index, int(node)))
    return nodes


def _runs_of_node(level: Level) -> list[list[Run]]:
    """Return the runs of leaves below each node of a level."""
    runs: list[list[Run]] = [[] for _ in range(level.nodes)]
    starts = np.flatnonzero(np.diff(level.node_of_leaf, prepend=-1))
    stops = np.append(starts[1:], len(level.node_of_leaf))
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        runs[level.node_of_leaf[start]].append((start, stop))
    return runs


def merged(runs: Sequence[Run]) -> list[Run]:
    """Ascending runs that neither overlap nor touch."""
    result: list[Run] = []
    for low, high in sorted(runs):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return result
