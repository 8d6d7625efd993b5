"""Splits of people and groups by one column, so that few pairs of them are left to compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.typing import AnyInts, Codes, Ints, Words

FEW_VALUES, FEW_CELLS = 32, 2**16  # of a column whose coverage is kept as a matrix
PART_COST = 2**16  # pairs that are compared in the time that one more part takes

Part = tuple[Ints, Ints]  # some kinds of people, and the groups that may fit them


@dataclass(frozen=True)
class ColumnSplit:
    """A split by one column: kinds below a value and the rest, or the kinds of each value."""

    cost: float  # pairs that are left to compare, and what the parts cost beside
    column: int
    below: int | None  # None: by each value


class SplitColumn:
    """One column of the kinds of people and of the groups' cells."""

    def __init__(self, coverage: Coverage, value: Codes, cell: Codes) -> None:
        self._coverage, self._value, self._cell = coverage, value, cell
        starts = coverage.run_start[:-1]
        self._one_run = len(coverage.low) == coverage.cells
        self._first = np.minimum.reduceat(coverage.low, starts).astype(np.int32)  # (cells,)
        self._end = np.maximum.reduceat(coverage.high, starts).astype(np.int32)  # (cells,)
        few = coverage.cardinality <= FEW_VALUES and coverage.cells <= FEW_CELLS
        self._matrix = coverage.matrix().T.copy() if few else None  # (values, cells)

    def best(self, part: Part, number: int) -> ColumnSplit:
        """Return the split of a part that leaves the fewest pairs to compare."""
        value, cell = self._value[part[0]], self._cell[part[1]]
        base = int(value.min())
        kinds = np.bincount(value - base)
        width = len(kinds)
        # groups whose cells start at, or end before, each value: base, base + 1, …
        started, ended = (
            np.cumsum(np.bincount(np.clip(bound[cell] - base, 0, width), minlength=width))[:width]
            for bound in (self._first, self._end)
        )
        covering = started - ended if self._one_run else self._covering(cell)[base : base + width]
        by_value = float(kinds @ covering) + PART_COST * np.count_nonzero(kinds)
        if width == 1:
            return ColumnSplit(by_value, number, None)
        below = np.cumsum(kinds)[:-1]  # at base + 1, base + 2, …
        cost = below * started[:-1] + (len(value) - below) * (len(cell) - ended[1:])
        cut = int(np.argmin(cost))
        in_two = float(cost[cut]) + 2 * PART_COST
        if in_two <= by_value:
            return ColumnSplit(in_two, number, base + cut + 1)
        return ColumnSplit(by_value, number, None)

    def _covering(self, cell: Codes) -> Ints:
        """Return how many of the groups with these cells cover each value."""
        coverage = self._coverage
        of_run = np.bincount(cell, minlength=coverage.cells)[coverage.cell_of_run]
        change = np.bincount(coverage.low, of_run, coverage.cardinality + 1)
        change -= np.bincount(coverage.high, of_run, len(change))
        return np.cumsum(change).astype(np.int64)

    def parts(self, part: Part, below: int | None) -> Iterator[Part]:
        """Split a part at a value or by each value; parts without kinds or groups are left out."""
        kind, group = part
        value, cell = self._value[kind], self._cell[group]
        if below is not None:
            low = value < below
            yield from _filled(kind[low], group[self._first[cell] < below])
            yield from _filled(kind[~low], group[self._end[cell] > below])
            return
        order = np.argsort(value, kind="stable")
        starts = np.flatnonzero(np.diff(value[order], prepend=-1))
        for some in np.split(order, starts[1:]):
            covers = self._coverage.covers(
                np.arange(self._coverage.cells),
                np.full(self._coverage.cells, value[some[0]]),
            )
            yield from _filled(kind[some], group[covers[cell]])

    def bits(self, part: Part) -> tuple[AnyInts, Words] | None:
        """Return the place of each kind's value, and a bit for each group that covers the value.

        None where all groups cover all values.
        """
        value, cell = self._value[part[0]], self._cell[part[1]]
        place: AnyInts = value
        if self._matrix is not None:
            covers = self._matrix.take(cell, axis=1)
        else:
            value, place = _distinct(value)
            if self._one_run:
                covers = (self._first[cell] <= value[:, None]) & (value[:, None] < self._end[cell])
            else:
                cells, of_group = _distinct(cell)
                pairs = np.tile(cells, len(value)), np.repeat(value, len(cells))
                covers = self._coverage.covers(*pairs).reshape(len(value), -1)[:, of_group]
        if covers.all():
            return None
        packed = np.zeros((len(covers), -(-len(cell) // 64) * 8), np.uint8)
        packed[:, : -(-len(cell) // 8)] = np.packbits(covers, axis=1, bitorder="little")
        return place, packed.view(np.uint64)


def _filled(kind: Ints, group: Ints) -> Iterator[Part]:
    if len(kind) and len(group):
        yield kind, group


def _distinct(codes: Codes) -> tuple[Codes, Ints]:
    """Return the distinct codes in order, and the place of each code among them."""
    base = codes.min()
    seen = np.zeros(int(codes.max() - base) + 1, bool)
    seen[codes - base] = True
    return np.flatnonzero(seen).astype(np.int32) + base, (np.cumsum(seen) - 1)[codes - base]
