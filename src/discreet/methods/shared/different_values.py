"""Groups of people whose sensitive values are pairwise different, near each other on the curve.

What the methods of re-publication share: the one sensitive attribute, the order of rows along the
curve, how many rows can be grouped at all, and the grouping itself.

Rows are cut into blocks along the curve without a look at sensitive values; within a block their
order is chance. So which quasi-identifiers meet which values inside a block is chance too, and an
attacker who knows the algorithm learns nothing from which rows were not grouped (the
minimality attack of Wong, Fu, Wang and Pei, 2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.methods.shared.hilbert import task_keys
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints

BLOCK_GROUPS = 16  # about how many groups a block of the curve holds


def sole_sensitive(table: CodedTable, method: str) -> tuple[Column]:
    """The one sensitive attribute of a table."""
    columns = table.sensitive
    if len(columns) != 1:
        names = ", ".join(f"'{column.name}'" for column in columns) or "none"
        raise InputError(
            f"{method}: follows one sensitive attribute through a series, and the job has "
            f"{len(columns)} ({names}). Give the others the role 'drop' or 'insensitive', or keep "
            "a series for each."
        )
    return (columns[0],)


def curve_places(task: Task, group_size: int) -> Ints:
    """The place of every row along the curve: by block, and by chance within it."""
    rows = task.table.rows
    order = np.lexsort((task.rng.permutation(rows), task_keys(task)))
    block = np.empty(rows, np.int64)
    block[order] = np.arange(rows) // (BLOCK_GROUPS * group_size)
    order = np.lexsort((task.rng.permutation(rows), block))
    place = np.empty(rows, np.int64)
    place[order] = np.arange(rows)
    return place


def most_that_group(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The most rows of each value that can be in groups of ``size`` or more different values.

    The greatest K with Σ min(c, ⌊K/size⌋) ≥ K, as the fixed point from above.
    """
    total = int(counts.sum())
    while True:
        fitting = np.minimum(counts, total // size)
        if int(fitting.sum()) >= total:
            return fitting
        total = int(fitting.sum())


def choose_rows(
    rows: Ints, codes: Codes, quota: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return a random choice of rows with at most ``quota`` rows of each value, as a mask."""
    shuffled = rng.permutation(len(rows))
    order = shuffled[np.argsort(codes[rows][shuffled], kind="stable")]
    ordered = codes[rows][order]
    chosen = np.empty(len(rows), bool)
    chosen[order] = rank_in_run(ordered) < quota[ordered]
    return chosen


def rank_in_run(keys: NDArray[np.integer]) -> Ints:
    """The place of each entry among equal neighbours."""
    fresh = np.ones(len(keys), bool)
    fresh[1:] = keys[1:] != keys[:-1]
    first = np.flatnonzero(fresh)
    return np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))


def group_different(rows: Ints, codes: Codes, place: Ints, values: int, size: int) -> Ints:
    """Put rows into groups of ``size`` or a few more different values; −1 for what remains.

    Along the curve, the next row is joined by the nearest rows with other values; a value that
    could not be placed otherwise goes first. If no value fills more than 1/size of the rows,
    no person remains.
    """
    order = rows[np.argsort(place[rows], kind="stable")]
    group = np.full(len(rows), -1, np.int64)
    of_order = codes[order].astype(np.int64)
    _form_groups(of_order, values, size, group)
    _place_remaining_rows(of_order, group)
    back = np.empty(len(rows), np.int64)
    back[np.argsort(place[rows], kind="stable")] = group
    return back


# Compiled: each group depends on what the groups before it took.
@kernel
def _form_groups(code: Ints, values: int, size: int, group: Ints) -> None:
    rows = len(code)
    left = np.zeros(values, np.int64)
    for row in range(rows):
        left[code[row]] += 1
    head = np.full(values, rows, np.int64)  # the next row of each value
    following = np.full(rows, rows, np.int64)
    for row in range(rows - 1, -1, -1):
        following[row] = head[code[row]]
        head[code[row]] = row
    live = np.flatnonzero(left)
    remaining = rows
    formed = 0
    chosen = np.zeros(values, np.bool_)
    while remaining >= size:
        live = live[left[live] > 0]
        if len(live) < size:
            return
        count = 0
        for v in live:
            if remaining < 2 * size or left[v] * size > remaining - size:
                chosen[v] = True
                count += 1
        while count < size:
            nearest = live[0]
            best = rows
            for v in live:
                if not chosen[v] and head[v] < best:
                    nearest = v
                    best = head[v]
            chosen[nearest] = True
            count += 1
        for v in live:
            if chosen[v]:
                chosen[v] = False
                row = head[v]
                group[row] = formed
                head[v] = following[row]
                left[v] -= 1
        remaining -= count
        formed += 1


def _place_remaining_rows(code: Ints, group: Ints) -> None:
    """Put rows that are left into the nearest group without their value."""
    groups = int(group.max(initial=-1)) + 1
    if groups <= 0:
        return
    taken = np.zeros(groups, np.bool_)
    for row in np.flatnonzero(group < 0):
        lacks = np.ones(groups + 1, np.bool_)
        lacks[group[code == code[row]]] = False
        lacks[-1] = False  # of rows without a group
        nearest = np.full(max(row + 1, len(code) - row), -1)  # by distance, before a row first
        after, before = group[row:], group[row::-1]
        nearest[: len(after)] = np.where(lacks[after], after, -1)
        nearest[: len(before)] = np.where(lacks[before], before, nearest[: len(before)])
        free = np.flatnonzero((nearest >= 0) & ~taken[nearest])
        if len(free):
            group[row] = nearest[free[0]]
            taken[group[row]] = True
