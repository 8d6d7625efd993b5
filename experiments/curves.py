"""Space-filling curves in the place of Hilbert's, which MSA-diversity groups along.

Abdalaal (2012, section 5.5.1) names Peano's curve and the Z-order beside Hilbert's. Each is here as
a key a row: rows are cut into cells of a grid, and a key is the place of the cell on the curve.

==========  ====================================================================================
curve       place of a cell
==========  ====================================================================================
hilbert     the product's own
z           the bits of all coordinates, interleaved (Morton)
gray        the same bits, read as a reflected Gray code
peano       ternary digits, interleaved; each is reflected where the digits of other coordinates
            before it have an odd sum
sweep       the first quasi-identifier, then the second, …: no curve at all
random      by chance
==========  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.msa_diversity import msa_diversity
from discreet.methods.shared.hilbert import scale_of_values, task_keys
from discreet.typing import Words

BITS, DIGITS = 60, 36  # of a key: 2^60 and 3^36 both fit 64 bits


def grid(task: Task, cells: int) -> NDArray[np.int64]:
    """(rows, quasi-identifiers) The cell of each row, of so many on each axis."""
    columns = task.table.quasi_identifiers
    scales = [scale_of_values(column, task.hierarchies.get(column.name)) for column in columns]
    places = [scale[column.codes] for scale, column in zip(scales, columns, strict=True)]
    cell = np.floor(np.stack(places, axis=1) * (cells - 1) + 1e-9)
    return cell.astype(np.int64)


def z_keys(cell: NDArray[np.int64], bits: int) -> Words:
    """Interleaved bits, the first axis foremost."""
    key = np.zeros(len(cell), np.uint64)
    for bit in range(bits - 1, -1, -1):
        for axis in range(cell.shape[1]):
            key = key << np.uint64(1) | (cell[:, axis] >> bit & 1).astype(np.uint64)
    return key


def gray_keys(cell: NDArray[np.int64], bits: int) -> Words:
    """Where interleaved bits are among all words in the order of the reflected Gray code."""
    key = z_keys(cell, bits)
    shift = 1
    while shift < 64:
        key = key ^ key >> np.uint64(shift)
        shift *= 2
    return key


def peano_keys(cell: NDArray[np.int64], digits: int) -> Words:
    """Peano's curve through cells with so many ternary digits on each axis."""
    axes = cell.shape[1]
    key = np.zeros(len(cell), np.uint64)
    before = np.zeros((axes, len(cell)), np.int64)  # sum of the digits so far, by axis
    for place in range(digits - 1, -1, -1):
        for axis in range(axes):
            digit = cell[:, axis] // 3**place % 3
            odd = (before.sum(axis=0) - before[axis]) % 2 == 1
            key = key * np.uint64(3) + np.where(odd, 2 - digit, digit).astype(np.uint64)
            before[axis] += digit
    return key


def _by_bits(keys: Callable[[NDArray[np.int64], int], Words]) -> Callable[[Task], Words]:
    def of_task(task: Task) -> Words:
        bits = BITS // max(len(task.table.quasi_identifiers), 1)
        return keys(grid(task, 2 ** min(bits, 31)), min(bits, 31))

    return of_task


def _peano(task: Task) -> Words:
    digits = min(DIGITS // max(len(task.table.quasi_identifiers), 1), 18)
    return peano_keys(grid(task, 3**digits), digits)


def _sweep(task: Task) -> Words:
    cell = grid(task, 2**31)
    order = np.lexsort(cell.T[::-1])
    changes = (np.diff(cell[order], axis=0) != 0).any(axis=1)
    key = np.empty(len(cell), np.uint64)
    key[order] = np.concatenate([[0], np.cumsum(changes)]).astype(np.uint64)
    return key


def _random(task: Task) -> Words:
    return np.random.default_rng(task.table.rows).permutation(task.table.rows).astype(np.uint64)


CURVES: dict[str, Callable[[Task], Words]] = {
    "hilbert": task_keys,
    "z": _by_bits(z_keys),
    "gray": _by_bits(gray_keys),
    "peano": _peano,
    "sweep": _sweep,
    "random": _random,
}


@contextmanager
def grouping_along(curve: str) -> Iterator[None]:
    """Let MSA-diversity order rows by another curve, for this process."""
    own = msa_diversity.task_keys
    msa_diversity.task_keys = CURVES[curve]
    try:
        yield
    finally:
        msa_diversity.task_keys = own
