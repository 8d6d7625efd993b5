"""The groups of a generalized table that each kind of people fits, by the cells alone.

Splits of people and groups by one column, so that few pairs of them are left to compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.budgets import AT_ONCE, IN_CACHE, MOST_ENTRIES
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import entries_of, stable_order, starts_of
from discreet.typing import Codes, Ints, Words

PART_COST = IN_CACHE  # pairs that are compared in the time that one more part takes

Part = tuple[Codes, Codes]  # some kinds of people, and the groups that may fit them


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
        # Every value is compared with all groups of the part to find its own.
        by_value = float(kinds @ covering) + (PART_COST + len(cell)) * np.count_nonzero(kinds)
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
        for same_value in np.split(order, starts[1:]):
            covers = self._coverage.covers(cell, np.full(len(cell), value[same_value[0]]))
            yield from _filled(kind[same_value], group[covers])

    def bits(self, part: Part) -> tuple[Ints, Words] | None:
        """Return the place of each kind's value, and a bit for each group that covers the value.

        None where all groups cover all values.
        """
        value, cell = self._value[part[0]], self._cell[part[1]]
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


def _filled(kind: Codes, group: Codes) -> Iterator[Part]:
    if len(kind) and len(group):
        yield kind, group


def _distinct(codes: Codes) -> tuple[Codes, Ints]:
    """Return the distinct codes in order, and the place of each code among them."""
    base = codes.min()
    seen = np.zeros(int(codes.max() - base) + 1, bool)
    seen[codes - base] = True
    return np.flatnonzero(seen).astype(np.int32) + base, (np.cumsum(seen) - 1)[codes - base]


FEW = AT_ONCE  # pairs that are compared without a further split
WORTHWHILE = 0.9  # a split leaves at most this share of the pairs to compare
WORK_LIMIT = 100_000_000_000  # pairs that are compared
KINDS_AT_ONCE, GROUPS_AT_ONCE = 4096, 2048  # compared, so that memory is bounded

Fits = tuple[NDArray[np.int64], NDArray[np.int32]]  # where each kind starts, the groups it fits


def coverages_of(
    published: CodedTable,
    columns: Sequence[Column],
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
) -> list[Coverage]:
    """Return the coverage of each quasi-identifier's published cells over some people's values."""
    return [
        coverage_of_cells(
            published[column.name],
            column,
            hierarchies.get(column.name),
            levels.get(column.name),
        )
        for column in columns
    ]


def fitting_groups(
    coverages: Sequence[Coverage],
    kinds: Sequence[Codes],  # a column each: (kinds,) codes of values
    cells: Sequence[Codes],  # a column each: (groups,) codes of cells
) -> Fits | None:
    """The groups whose cells cover each kind of people; None where there are too many pairs."""
    sole = [coverage.sole_cell() for coverage in coverages]
    count = len(kinds[0]) if kinds else 1
    groups = len(cells[0]) if cells else 1
    if not coverages:
        return np.array([0, groups]), np.arange(groups, dtype=np.int32)
    if all(cell is not None for cell in sole):
        return _sole_groups([c for c in sole if c is not None], kinds, cells, coverages)
    pairs = _fitting_pairs(coverages, kinds, cells)
    if pairs is None:
        return None
    pairs.sort()
    start = np.searchsorted(pairs, np.arange(count + 1) * groups)
    return start, (pairs % groups).astype(np.int32)


def _sole_groups(
    cell_of_value: Sequence[NDArray[np.int64]],
    kinds: Sequence[Codes],
    cells: Sequence[Codes],
    coverages: Sequence[Coverage],
) -> Fits:
    """The groups of each kind where no two cells of a column overlap: those with the same cells."""
    groups, count = len(cells[0]), len(kinds[0])
    cells_of_kind = [cell[kind] for cell, kind in zip(cell_of_value, kinds, strict=True)]
    covered = np.ones(count, bool)
    for cell in cells_of_kind:
        covered &= cell >= 0
    both = [
        np.concatenate([group, np.maximum(kind, 0)]).astype(np.int32)
        for group, kind in zip(cells, cells_of_kind, strict=True)
    ]
    classes: Classes = group_codes(both, [c.cells for c in coverages], groups + count)
    class_of_group, class_of_kind = np.split(classes.class_of_row, [groups])
    of_class = starts_of(np.bincount(class_of_group, minlength=classes.count))
    order = stable_order(class_of_group, classes.count)
    fitting = np.where(covered, np.diff(of_class)[class_of_kind], 0)
    entry, _ = entries_of(of_class, class_of_kind[fitting > 0])
    return starts_of(fitting), order[entry].astype(np.int32)


def _fitting_pairs(
    coverages: Sequence[Coverage], kinds: Sequence[Codes], cells: Sequence[Codes]
) -> Ints | None:
    """Return kind × groups + group for each pair that fits; None where there are too many.

    Kinds are split by their values in the column that leaves the fewest pairs to compare, each part
    with the groups whose cells reach into it, as an index of boxes is built. Where a split no
    longer pays, all pairs of a part are compared, a bit for each.
    """
    # Split parts while that leaves fewer pairs; then compare all pairs of a part.
    columns = [SplitColumn(*column) for column in zip(coverages, kinds, cells, strict=True)]
    groups = len(cells[0])
    whole = np.arange(len(kinds[0]), dtype=np.int32), np.arange(groups, dtype=np.int32)
    rest: list[Iterator[Part]] = [iter([whole])]  # parts are made when their turn comes
    # Millions of small arrays would lie scattered in memory, and hold on to what is freed.
    small: list[Ints] = []
    joined = [np.zeros(0, np.int64)]
    pairs = work = waiting = 0
    while rest:
        part = next(rest[-1], None)
        if part is None:
            rest.pop()
            continue
        area = len(part[0]) * len(part[1])
        if area > FEW:
            best = min(
                (c.best(part, n) for n, c in enumerate(columns)), key=lambda column: column.cost
            )
            if best.cost < WORTHWHILE * area:
                rest.append(columns[best.column].parts(part, best.below))
                continue
        work += area
        if work > WORK_LIMIT:
            return None
        for kind, group in _compared(columns, part):
            small.append(kind.astype(np.int64) * groups + group)
            pairs, waiting = pairs + len(kind), waiting + len(kind)
            if pairs > MOST_ENTRIES:
                return None
            if waiting > IN_CACHE:
                joined.append(np.concatenate(small))
                small, waiting = [], 0
    return np.concatenate(joined + small)


def _compared(columns: Sequence[SplitColumn], part: Part) -> Iterator[Part]:
    """Compare all kinds of a part with all its groups, some at a time."""
    for kind, group in product(_pieces(part[0], KINDS_AT_ONCE), _pieces(part[1], GROUPS_AT_ONCE)):
        fits = _all_groups(len(kind), len(group))
        for column in columns:
            column_bits = column.bits((kind, group))
            if column_bits is not None:
                place, covering = column_bits
                fits &= covering[place]
        row, word = np.nonzero(fits)
        bits = np.unpackbits(fits[row, word][:, None].view(np.uint8), axis=1, bitorder="little")
        at, bit = np.nonzero(bits)
        yield kind[row[at]], group[64 * word[at] + bit]


def _pieces(numbers: Codes, most: int) -> list[Codes]:
    return [numbers[first : first + most] for first in range(0, len(numbers), most)]


def _all_groups(kinds: int, groups: int) -> Words:
    """Return a bit for every pair, in words of 64 groups."""
    packed = np.zeros(-(-groups // 64) * 8, np.uint8)
    packed[: -(-groups // 8)] = np.packbits(np.ones(groups, bool), bitorder="little")
    return np.tile(packed.view(np.uint64), (kinds, 1))
