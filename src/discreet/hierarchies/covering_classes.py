"""The groups of a generalized table that each kind of people fits, by the cells alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.cell_splits import Part, SplitColumn
from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import stable_order
from discreet.typing import Codes, Ints, Words

EDGE_LIMIT = 50_000_000  # pairs of a kind and a group that fits it
FEW = 2**22  # pairs that are compared without a further split
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
    found = _fitting_pairs(coverages, kinds, cells)
    if found is None:
        return None
    kind, group = found
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(kind, minlength=count), out=start[1:])
    order = stable_order(group, groups)
    order = order[stable_order(kind[order], count)]
    return start, group[order].astype(np.int32)


def _sole_groups(
    cell_of_value: Sequence[NDArray[np.int64]],
    kinds: Sequence[Codes],
    cells: Sequence[Codes],
    coverages: Sequence[Coverage],
) -> Fits:
    """The one group of each kind where no two cells of a column overlap."""
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
    group_of_class = np.full(classes.count, -1, np.int32)
    group_of_class[classes.class_of_row[:groups]] = np.arange(groups, dtype=np.int32)
    group = np.where(covered, group_of_class[classes.class_of_row[groups:]], -1)
    start = np.concatenate([[0], np.cumsum(group >= 0)])
    return start, group[group >= 0].astype(np.int32)


def _fitting_pairs(
    coverages: Sequence[Coverage], kinds: Sequence[Codes], cells: Sequence[Codes]
) -> Part | None:
    """Return all pairs of a kind and a group that fits it; None where there are too many.

    Kinds are split by their values in the column that leaves the fewest pairs to compare, each part
    with the groups whose cells reach into it, as an index of boxes is built. Where a split no
    longer pays, all pairs of a part are compared, a bit for each.
    """
    columns = [SplitColumn(*one) for one in zip(coverages, kinds, cells, strict=True)]
    rest: list[Part] = [(np.arange(len(kinds[0])), np.arange(len(cells[0])))]
    found: list[Part] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    pairs = work = 0
    while rest:
        part = rest.pop()
        area = len(part[0]) * len(part[1])
        if area > FEW:
            best = min((c.best(part, n) for n, c in enumerate(columns)), key=lambda one: one.cost)
            if best.cost < WORTHWHILE * area:
                rest += columns[best.column].parts(part, best.below)
                continue
        work += area
        if work > WORK_LIMIT:
            return None
        for some in _compared(columns, part):
            pairs += len(some[0])
            if pairs > EDGE_LIMIT:
                return None
            found.append(some)
    return np.concatenate([kind for kind, _ in found]), np.concatenate([g for _, g in found])


def _compared(columns: Sequence[SplitColumn], part: Part) -> Iterator[Part]:
    """Compare all kinds of a part with all its groups, some at a time."""
    for kind, group in product(_pieces(part[0], KINDS_AT_ONCE), _pieces(part[1], GROUPS_AT_ONCE)):
        fits = _all_groups(len(kind), len(group))
        for column in columns:
            found = column.bits((kind, group))
            if found is not None:
                place, covering = found
                fits &= covering[place]
        row, word = np.nonzero(fits)
        bits = np.unpackbits(fits[row, word][:, None].view(np.uint8), axis=1, bitorder="little")
        at, bit = np.nonzero(bits)
        yield kind[row[at]], group[64 * word[at] + bit]


def _pieces(numbers: Ints, most: int) -> list[Ints]:
    return [numbers[first : first + most] for first in range(0, len(numbers), most)]


def _all_groups(kinds: int, groups: int) -> Words:
    """Return a bit for every pair, in words of 64 groups."""
    packed = np.zeros(-(-groups // 64) * 8, np.uint8)
    packed[: -(-groups // 8)] = np.packbits(np.ones(groups, bool), bitorder="little")
    return np.tile(packed.view(np.uint64), (kinds, 1))
