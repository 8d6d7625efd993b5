"""Which values of the original a published cell covers.

A cell covers what a reader must hold possible: an exact value itself, ``*`` everything, a range
the values between its ends, a set its members, an ancestor's label the leaves below it. A missing
value is covered by itself, by ``*``, by a set that lists it and by a hierarchy's node above it,
never by a range.

Dictionaries are sorted, so what a cell covers is nearly always a few runs of neighbouring codes;
coverage is kept as runs, and a sum over the covered values is a difference of two prefix sums for
each run. That is what keeps thousands of cells over tens of thousands of values cheap.

A label that a hierarchy has on several levels is read on all of them (a reader can't tell them
apart) unless the level is known. Behind a backslash stands an escaped value, where the dictionary
holds a value that needs the backslash; else the backslash is the value's own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.data.roles import Role, ValueType
from discreet.data.table import Column
from discreet.errors import InputError
from discreet.hierarchies.cells import (
    ESCAPE,
    SUPPRESSED,
    Range,
    ValueSet,
    escaped,
    parse_cell,
    unescaped,
)
from discreet.hierarchies.hierarchy import Hierarchy, Level

Run = tuple[int, int]  # codes from the first up to, not including, the second
UNIX_EPOCH = date(1970, 1, 1)  # dates are days since then


@dataclass(frozen=True, eq=False)
class Coverage:
    """For each cell the codes of the original's dictionary that it covers, as runs of codes."""

    cells: int
    cardinality: int  # of the original's dictionary
    cell_of_run: NDArray[np.int64]  # (runs,) ascending; every cell has a run
    low: NDArray[np.int64]  # (runs,)
    high: NDArray[np.int64]  # (runs,) not included

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """The number of values that each cell covers, at least 1."""
        return np.bincount(self.cell_of_run, self.high - self.low, self.cells).astype(np.int64)

    def sums(self, of_value: NDArray[np.generic]) -> NDArray[np.float64]:
        """For each cell the sum over the values it covers.

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
        run_start = np.searchsorted(self.cell_of_run, np.arange(self.cells + 1))
        length = np.diff(run_start)[cell]
        entry = np.repeat(np.arange(len(cell)), length)
        first = np.cumsum(length) - length
        run = run_start[cell][entry] + np.arange(len(entry)) - first[entry]
        each = (mass / self.size[cell])[entry]
        at = column[entry]
        change = np.bincount(self.low[run] * columns + at, each, (self.cardinality + 1) * columns)
        change -= np.bincount(self.high[run] * columns + at, each, len(change))
        laid = np.cumsum(change.reshape(-1, columns), axis=0)[:-1]
        return np.asarray(np.maximum(laid, 0.0), np.float64)  # rounding may leave less than 0

    def pick(self, cell: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int32]:
        """For each cell one of the values that it covers, all equally likely."""
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
        """The same as a matrix (cells, values); for small tables."""
        result = np.zeros((self.cells, self.cardinality), bool)
        for cell, low, high in zip(self.cell_of_run, self.low, self.high, strict=True):
            result[cell, low:high] = True
        return result


def identity(column: Column) -> Coverage:
    """The coverage of a column that is published as it is, coded by the same dictionary."""
    codes = np.arange(column.cardinality)
    return Coverage(column.cardinality, column.cardinality, codes, codes, codes + 1)


def cover(
    original: Column,
    cells: Sequence[str | None],
    hierarchy: Hierarchy | None = None,
    level: int | None = None,
) -> Coverage:
    """The coverage of published cells (the dictionary of a published column).

    A cell that covers no value of the original is an error: the release was not made from it.
    """
    reader = CellReader(original, hierarchy, level)
    runs_of_cell = [reader.runs(cell) for cell in cells]
    unknown = [cell for cell, runs in zip(cells, runs_of_cell, strict=True) if not runs]
    if unknown:
        raise InputError(_unknown_cells(original, unknown, len(cells)))
    lengths = [len(runs) for runs in runs_of_cell]
    ends = np.array([run for runs in runs_of_cell for run in runs], np.int64).reshape(-1, 2)
    cell_of_run = np.repeat(np.arange(len(cells)), lengths)
    return Coverage(len(cells), original.cardinality, cell_of_run, ends[:, 0], ends[:, 1])


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


class CellReader:
    """Reads the cells of one published column against the original's dictionary."""

    def __init__(self, original: Column, hierarchy: Hierarchy | None, level: int | None) -> None:
        self.original = original
        self.code_of_value = {value: code for code, value in enumerate(original.text.to_list())}
        levels = () if hierarchy is None else hierarchy.levels
        self.levels: tuple[Level, ...] = levels if level is None else levels[level : level + 1]
        self._nodes_of_label = _nodes_of_label(self.levels)
        self._runs_of_node = [_runs_of_node(level) for level in self.levels]

    @cached_property
    def known_numbers(self) -> list[float]:
        """The numbers of the original, ascending, without that of a missing value."""
        numbers = self.original.numbers
        if numbers is None:
            return []
        return [float(number) for number in numbers[~np.isnan(numbers)]]

    def nodes(self, cell: str | None) -> list[tuple[int, int]]:
        """The (index in ``levels``, node) pairs whose label the cell is."""
        return self._nodes_of_label.get(cell, [])

    def runs(self, cell: str | None) -> list[Run]:
        """The runs of codes that a cell covers; none if it can't be read."""
        if cell == SUPPRESSED:
            return [(0, self.original.cardinality)]
        nodes = self.nodes(cell)
        if nodes:
            return merged([run for level, node in nodes for run in self._runs_of_node[level][node]])
        if cell is None:
            return self._exact(None)
        parsed = parse_cell(cell)
        if isinstance(parsed, Range):
            return self._range(parsed)
        if isinstance(parsed, ValueSet):
            return merged([run for member in parsed.members for run in self._exact(member)])
        return self._exact(self.value(cell))

    def value(self, cell: str) -> str:
        """The source value behind a cell that is neither notation nor a label."""
        if cell.startswith(ESCAPE):
            behind = unescaped(cell)
            if behind in self.code_of_value and escaped(behind) == cell:
                return behind
        return cell

    def ends(self, cell: Range) -> tuple[float, float] | None:
        """The ends of a range as numbers; None if they can't be read or nothing is ordered."""
        low, high = self._number(cell.low), self._number(cell.high)
        return None if low is None or high is None else (low, high)

    def _exact(self, value: str | None) -> list[Run]:
        code = self.code_of_value.get(value)
        return [] if code is None else [(code, code + 1)]

    def _range(self, cell: Range) -> list[Run]:
        ends = self.ends(cell)
        if ends is None:
            return []
        low = bisect_left(self.known_numbers, ends[0])
        search = bisect_right if cell.closed else bisect_left
        high = search(self.known_numbers, ends[1])
        return [(low, high)] if low < high else []

    def _number(self, end: str) -> float | None:
        if self.original.numbers is None:
            return None
        code = self.code_of_value.get(end)
        if code is not None:
            return float(self.original.numbers[code])
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
    """For each node of a level the runs of leaves below it."""
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
