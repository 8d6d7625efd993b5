"""The Hilbert curve: quasi-identifiers of any number to one dimension, near rows to near places.

Skilling, "Programming the Hilbert curve" (2004), for the index; Abdalaal (2012, section
5.5.1) for its use. Every quasi-identifier becomes a coordinate of ``bits`` bits: integers, numbers
and dates by value, texts with a hierarchy by the order of its leaves, so that siblings are
neighbours, other texts by rank. A missing value lies at the far end.

``bits`` is the least number that tells all values of every column apart, but the whole index has
at most 64 bits where there are at most 64 columns. Rows that share a cell of the grid share a key.

Cost: rows × columns × bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Task
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.typing import Words

WORD = 64  # bits
FINEST = 32  # bits of a coordinate


def task_keys(task: Task) -> Words:
    """The place of every row on the curve through the quasi-identifiers; (rows,)."""
    return curve_keys(task.table.quasi_identifiers, task.hierarchies, task.table.rows)


def curve_keys(columns: Sequence[Column], hierarchies: Mapping[str, Hierarchy], rows: int) -> Words:
    """The place of every row on the curve through some columns; one place if there are none."""
    if not columns:
        return np.zeros(rows, np.uint64)
    scales = [scale_of_values(column, hierarchies.get(column.name)) for column in columns]
    bits = min(max(_bits_of(scale) for scale in scales), max(WORD // len(columns), 1), FINEST)
    top = (1 << bits) - 1
    codes = [column.codes for column in columns]
    grids = [np.floor(scale * top + 1e-9).astype(np.uint64) for scale in scales]
    words = (len(columns) * bits + WORD - 1) // WORD
    index = np.zeros((words, rows), np.uint64)
    if rows:
        start = np.cumsum([0, *(len(grid) for grid in grids)])[:-1]
        _index_rows(np.stack(codes), np.concatenate(grids), start, bits, index)
    return index[0] if words == 1 else _ranks(index)


def hilbert_index(points: NDArray[np.integer], bits: int) -> Words:
    """The index of points (points, dimensions) with coordinates below 2^bits.

    (words, points), the most significant word first; the words of an index hold together
    dimensions × bits bits.
    """
    count, dimensions = points.shape
    words = (dimensions * bits + WORD - 1) // WORD
    index = np.zeros((max(words, 1), count), np.uint64)
    grid, code = np.unique(points, return_inverse=True)
    codes = code.reshape(points.shape).T.astype(np.int32)
    _index_rows(
        np.ascontiguousarray(codes), grid.astype(np.uint64), np.zeros(dimensions, np.int64), bits,
        index,
    )  # fmt: skip
    return index


def scale_of_values(column: Column, hierarchy: Hierarchy | None) -> NDArray[np.float64]:
    """Where each value of a column lies between 0 and 1."""
    values = column.cardinality
    if column.numbers is None:
        rank = np.empty(values, np.float64)
        rank[leaf_order(column, hierarchy)] = np.arange(values)
        return rank / max(values - 1, 1)
    numbers = np.asarray(column.numbers, np.float64)
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(values)
    width = float(known.max() - known.min())
    scale: NDArray[np.float64] = (numbers - known.min()) / (width if width > 0 else 1.0)
    return np.where(np.isnan(scale), 1.0, scale)


def leaf_order(column: Column, hierarchy: Hierarchy | None) -> NDArray[np.int64]:
    """The codes of a column in the order of the hierarchy's leaves; as they are without one.

    Nodes of a level lie in the order of their numbers, the leaves of a node in that of their codes.
    """
    if hierarchy is None:
        return np.arange(column.cardinality)
    levels = [level.node_of_leaf for level in hierarchy.levels]
    return np.lexsort(np.stack(levels))  # by the last, the top, first


def _bits_of(scale: NDArray[np.float64]) -> int:
    """Return how many bits keep values apart that are apart."""
    gaps = np.diff(np.unique(scale))
    if not len(gaps):
        return 1
    return max(1, math.ceil(math.log2(1 / float(gaps.min()) + 1) - 1e-9))


def _ranks(index: Words) -> Words:
    """One key a row in the order of indices of several words."""
    frame = pl.DataFrame({str(word): column for word, column in enumerate(index)})
    ranked = frame.select(pl.struct(pl.all()).rank("dense"))
    return ranked.to_series().to_numpy().astype(np.uint64)


def _index_at_once(
    codes: NDArray[np.int32],
    grid: NDArray[np.uint64],
    start: NDArray[np.int64],
    bits: int,
    index: Words,
) -> None:
    place = [grid[first + own] for first, own in zip(start, codes, strict=True)]
    levels = [np.uint64(1 << level) for level in range(bits - 1, 0, -1)]
    below = [level - np.uint64(1) for level in levels]
    nothing = np.uint64(0)
    for here, lower in zip(levels, below, strict=True):
        for axis, own in enumerate(place):
            turns = own & here != nothing
            swap = np.where(turns, nothing, (place[0] ^ own) & lower)
            place[0] = place[0] ^ np.where(turns, lower, swap)
            if axis:
                place[axis] = own ^ swap
    for axis in range(1, len(place)):
        place[axis] ^= place[axis - 1]
    turned = np.zeros(codes.shape[1], np.uint64)
    for here, lower in zip(levels, below, strict=True):
        turned ^= np.where(place[-1] & here != nothing, lower, nothing)
    position = len(place) * bits
    for level in range(bits - 1, -1, -1):
        for own in place:
            position -= 1
            bit = ((own ^ turned) >> np.uint64(level)) & np.uint64(1)
            index[len(index) - 1 - position // WORD] |= bit << np.uint64(position % WORD)


# Compiled: rows × columns × bits single operations; NumPy takes five times as long.
@kernel(interpreted=_index_at_once)
def _index_rows(
    codes: NDArray[np.int32],  # (columns, rows)
    grid: NDArray[np.uint64],  # the coordinate of every value, columns one after the other
    start: NDArray[np.int64],  # (columns,) where each begins in it
    bits: int,
    index: Words,  # (words, rows), zero
) -> None:
    unit = np.uint64(1)
    zero = np.uint64(0)
    axes, words = len(codes), len(index)
    place = np.empty(axes, np.uint64)
    for row in range(codes.shape[1]):
        for axis in range(len(codes)):
            place[axis] = grid[start[axis] + codes[axis, row]]
        for level in range(bits - 1, 0, -1):  # undo the turns of the curve, coarsest first
            here = unit << np.uint64(level)
            below = here - unit
            for axis in range(axes):
                if place[axis] & here != zero:
                    place[0] ^= below
                else:
                    swap = (place[0] ^ place[axis]) & below
                    place[0] ^= swap
                    place[axis] ^= swap
        for axis in range(1, axes):  # Gray code to rank, over the axes of each level
            place[axis] ^= place[axis - 1]
        turned = zero
        for level in range(bits - 1, 0, -1):
            if place[axes - 1] & (unit << np.uint64(level)) != zero:
                turned ^= (unit << np.uint64(level)) - unit
        position = axes * bits
        for level in range(bits - 1, -1, -1):
            for axis in range(axes):
                position -= 1
                bit = ((place[axis] ^ turned) >> np.uint64(level)) & unit
                word = words - 1 - position // WORD
                index[word, row] |= bit << np.uint64(position % WORD)
