"""The groups of a generalized table that each kind of people fits, by the cells alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.coverage import Coverage, coverage_of_cells
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels import kernel
from discreet.table.kernels.lengthening import lengthened
from discreet.table.kernels.lists import stable_order
from discreet.table.kernels.tiers import is_loaded
from discreet.typing import Codes

EDGE_LIMIT = 50_000_000  # pairs of a kind and a group that fits it
FEW = 2**26  # bits to compare all pairs, which needs no compiled code
WORK_LIMIT = 20_000_000_000  # pairs that are compared

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
    bits = (8 * sum(c.cells for c in coverages) + groups) * count
    if bits <= FEW and not is_loaded(_pairs):
        found = _pairs_by_bits(coverages, kinds, cells)
        if found is not None:
            return found
    value_offset = np.cumsum([0, *(c.cardinality for c in coverages)])
    cell_offset = np.cumsum([0, *(c.cells for c in coverages)])
    value_of_kind = np.stack([k + o for k, o in zip(kinds, value_offset, strict=False)])
    cell_of_group = np.stack([c + o for c, o in zip(cells, cell_offset, strict=False)])
    cell_of_run = np.concatenate(
        [c.cell_of_run + o for c, o in zip(coverages, cell_offset, strict=False)]
    )
    low = np.concatenate([c.low + o for c, o in zip(coverages, value_offset, strict=False)])
    high = np.concatenate([c.high + o for c, o in zip(coverages, value_offset, strict=False)])
    run_start = np.searchsorted(cell_of_run, np.arange(cell_offset[-1] + 1))
    second = _second_columns([c.cardinality for c in coverages])
    second_of_kind = value_of_kind[second].ravel()
    by_value = np.lexsort((second_of_kind, value_of_kind.ravel()))
    kind_start = np.searchsorted(value_of_kind.ravel()[by_value], np.arange(value_offset[-1] + 1))
    group, kind, enough = _pairs(
        value_of_kind, cell_of_group, run_start, low, high, kind_start, by_value % count,
        second, second_of_kind[by_value], EDGE_LIMIT, WORK_LIMIT,
    )  # fmt: skip
    if not enough:
        return None
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], np.arange(count + 1))
    return start, group[order]


def _second_columns(cardinalities: Sequence[int]) -> NDArray[np.int64]:
    """Return for each column the other one with the most values; an only column itself."""
    columns = range(len(cardinalities))
    return np.array(
        [max(columns, key=lambda other: (other != c, cardinalities[other])) for c in columns]
    )


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


def _pairs_by_bits(
    coverages: Sequence[Coverage], kinds: Sequence[Codes], cells: Sequence[Codes]
) -> Fits | None:
    """Compare all pairs, a bit for each; None where too many may fit."""
    fits = np.full((1, 1), 255, np.uint8)  # (an eighth of the kinds, groups)
    for coverage, kind, cell in zip(coverages, kinds, cells, strict=True):
        value, of_kind = np.unique(kind, return_inverse=True)
        pairs = np.repeat(np.arange(coverage.cells), len(value)), np.tile(value, coverage.cells)
        covers = coverage.covers(*pairs).reshape(coverage.cells, len(value))
        fits = fits & np.packbits(covers.T[of_kind], axis=0)[:, cell]
    eight, group = np.nonzero(fits)
    if 8 * len(eight) > EDGE_LIMIT:
        return None
    byte, bit = np.nonzero(np.unpackbits(fits[eight, group][:, None], axis=1))
    found = 8 * eight[byte] + bit
    order = stable_order(found, 8 * len(fits))
    start = np.searchsorted(found[order], np.arange(len(kinds[0]) + 1))
    return start, group[byte][order].astype(np.int32)


# Compiled: a search for every group, through as many as billions of pairs.
@kernel(work=4)
def _pairs(
    value_of_kind: NDArray[np.int64],  # (columns, kinds)
    cell_of_group: NDArray[np.int64],  # (columns, groups)
    run_start: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    kind_start: NDArray[np.int64],
    kinds_by_value: NDArray[np.int64],  # by column and value, then by the second column
    second: NDArray[np.int64],  # (columns,)
    second_by_value: NDArray[np.int64],  # the values of those kinds in it
    edge_limit: int,
    work_limit: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64], bool]:
    """Find for each group the kinds of its narrowest cell whose other values fit too."""
    columns, groups = cell_of_group.shape
    capacity = 1024
    found_group = np.empty(capacity, np.int32)
    found_kind = np.empty(capacity, np.int64)
    found, work = 0, 0
    for g in range(groups):
        narrowest, fewest = 0, -1
        for column in range(columns):
            cell = cell_of_group[column, g]
            held = 0
            for run in range(run_start[cell], run_start[cell + 1]):
                held += kind_start[high[run]] - kind_start[low[run]]
            if fewest < 0 or held < fewest:
                narrowest, fewest = column, held
        cell, other_cell = cell_of_group[narrowest, g], cell_of_group[second[narrowest], g]
        for run in range(run_start[cell], run_start[cell + 1]):
            for value in range(low[run], high[run]):
                first, end = kind_start[value], kind_start[value + 1]
                for within in range(run_start[other_cell], run_start[other_cell + 1]):
                    place, beyond = first, end  # np.searchsorted takes seconds to compile
                    while place < beyond:
                        middle = (place + beyond) // 2
                        if second_by_value[middle] < low[within]:
                            place = middle + 1
                        else:
                            beyond = middle
                    work += 1
                    while place < end and second_by_value[place] < high[within]:
                        kind = kinds_by_value[place]
                        place += 1
                        work += 1
                        column, fits = 0, True
                        while column < columns and fits:
                            held = value_of_kind[column, kind]
                            inner = run_start[cell_of_group[column, g]]
                            ends = run_start[cell_of_group[column, g] + 1]
                            while inner < ends and not low[inner] <= held < high[inner]:
                                inner += 1
                            fits = inner < ends
                            column += 1
                        if not fits:
                            continue
                        if found == capacity:
                            if found >= edge_limit:
                                return found_group[:0], found_kind[:0], False
                            capacity *= 2
                            found_group = lengthened(found_group, capacity)
                            found_kind = lengthened(found_kind, capacity)
                        found_group[found] = g
                        found_kind[found] = kind
                        found += 1
        if work > work_limit:
            return found_group[:0], found_kind[:0], False
    return found_group[:found], found_kind[:found], True
