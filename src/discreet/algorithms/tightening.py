"""The tightest published cells of classes that some method has formed.

What a class is published as, column by column, so that its cells cover its own rows and no more
than the notation must:

- with a hierarchy the lowest common ancestor; ``*`` where the class has none,
- without one, integers, numbers and dates as the range from the least to the greatest value,
- otherwise the set of the class's values; ``*`` where that is all there are.

A value that the whole class shares stays exact. A range never covers a missing value, so a class
with numbers and a missing value is published as a set. Pass a hierarchy of numbers or leave it out,
according to whether its nodes or tight ranges are wanted.

Cost: linear in the rows, times the hierarchy's height.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.method import CellColumn
from discreet.data.classes import group_codes
from discreet.data.counts import order_by_class
from discreet.data.table import Codes, Column
from discreet.hierarchies.cells import SUPPRESSED, range_cell, set_cell
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.kernels import kernel


def cells_of_classes(
    class_of_row: NDArray[np.int32], classes: int, column: Column, hierarchy: Hierarchy | None
) -> CellColumn:
    """The tightest cell of every class; rows with class −1 count for nothing, no class is empty."""
    if hierarchy is not None:
        return _ancestors(class_of_row, classes, column, hierarchy)
    if column.numbers is not None:
        return _ranges(class_of_row, classes, column)
    sets = np.ones(classes, bool)
    return _joined(class_of_row, classes, column, np.full(classes, -1), sets, lambda key: ("", 0.0))


def _ancestors(
    class_of_row: NDArray[np.int32], classes: int, column: Column, hierarchy: Hierarchy
) -> CellColumn:
    node_of_leaf = np.stack([level.node_of_leaf for level in hierarchy.levels])
    leaf, level = _meet(class_of_row, classes, column.codes, node_of_leaf)
    first = np.cumsum([0, *(level.nodes for level in hierarchy.levels)])  # of each level's nodes
    joined = level <= hierarchy.height
    key = np.full(classes, first[-1])  # nowhere joined
    key[joined] = first[level[joined]] + node_of_leaf[level[joined], leaf[joined]]

    def cell(key: int) -> tuple[str | None, float]:
        if key == first[-1]:
            return SUPPRESSED, 1.0
        height = int(np.searchsorted(first, key, "right")) - 1
        node = key - int(first[height])
        found = hierarchy.levels[height]
        return found.labels[node], float(found.loss[node])

    return _labelled(key, cell)


def _ranges(class_of_row: NDArray[np.int32], classes: int, column: Column) -> CellColumn:
    assert column.numbers is not None
    values = column.cardinality - int(column.has_null)
    low, high, with_null = extents(class_of_row, classes, column.codes, values)
    only_null = high < 0
    numbers, text = column.numbers, column.text.to_list()
    spread = float(numbers[values - 1] - numbers[0]) if values else 0.0

    def cell(key: int) -> tuple[str | None, float]:
        if key == values * column.cardinality:
            return None, 0.0
        least, greatest = divmod(key, column.cardinality)
        if least == greatest:
            return text[least], 0.0
        width = float(numbers[greatest] - numbers[least])
        label = range_cell(str(text[least]), str(text[greatest]), closed=True)
        return label, width / spread if spread > 0 else 0.0

    key = low.astype(np.int64) * column.cardinality + high
    key[only_null] = values * column.cardinality
    return _joined(class_of_row, classes, column, key, with_null & ~only_null, cell)


def _joined(
    class_of_row: NDArray[np.int32],
    classes: int,
    column: Column,
    key: NDArray[np.int64],  # (classes,) of the cells that are no sets
    is_set: NDArray[np.bool_],  # (classes,)
    cell: Callable[[int], tuple[str | None, float]],
) -> CellColumn:
    """The cells of all classes, those that are sets numbered after the others."""
    if not is_set.any():
        return _labelled(key, cell)
    members, set_of_class = _sets(class_of_row, classes, column, is_set)
    beyond = int(key.max(initial=-1)) + 1
    key = np.where(is_set, beyond + set_of_class, key)
    text = column.text.to_list()

    def either(number: int) -> tuple[str | None, float]:
        if number < beyond:
            return cell(number)
        codes = members[number - beyond]
        if len(codes) == 1:
            return text[codes[0]], 0.0
        if len(codes) == column.cardinality:
            return SUPPRESSED, 1.0
        return set_cell(text[code] for code in codes), (len(codes) - 1) / (column.cardinality - 1)

    return _labelled(key, either)


def _labelled(
    key: NDArray[np.int64], cell: Callable[[int], tuple[str | None, float]]
) -> CellColumn:
    """Number the cells that occur; cells with one label are one."""
    keys, place = np.unique(key, return_inverse=True)
    number_of_label: dict[str | None, int] = {}
    losses: list[float] = []
    number = np.empty(len(keys), np.int32)
    for position, one in enumerate(keys.tolist()):
        label, loss = cell(one)
        number[position] = number_of_label.setdefault(label, len(losses))
        if number[position] == len(losses):
            losses.append(loss)
        losses[number[position]] = max(losses[number[position]], loss)
    return CellColumn(number[place], tuple(number_of_label), np.array(losses, np.float64))


def _sets(
    class_of_row: NDArray[np.int32], classes: int, column: Column, wanted: NDArray[np.bool_]
) -> tuple[list[list[int]], NDArray[np.int64]]:
    """The distinct sets of values of some classes, and which of them each class has.

    Sets are numbered by walking a tree of their members, one member of every class a round.
    """
    rows = np.flatnonzero((class_of_row >= 0) & wanted[class_of_row])
    of_class, codes = class_of_row[rows], column.codes[rows]
    _, order = order_by_class(of_class, codes, classes, column.cardinality)
    of_class, codes = of_class[order], codes[order]
    fresh = np.ones(len(codes), bool)
    fresh[1:] = (np.diff(of_class) != 0) | (np.diff(codes) != 0)
    of_class, codes = of_class[fresh], codes[fresh]
    size = np.bincount(of_class, minlength=classes)
    start = np.cumsum(size) - size
    branch = np.zeros(classes, np.int64)  # of the tree, reached so far
    branches, depth = 1, 0
    active = np.flatnonzero(size)
    while len(active):
        step = group_codes(
            [branch[active].astype(np.int32), codes[start[active] + depth]],
            [branches, column.cardinality],
            len(active),
        )
        branch[active] = branches + step.class_of_row
        branches += step.count
        depth += 1
        active = active[size[active] > depth]
    _, first, place = np.unique(branch, return_index=True, return_inverse=True)
    members = [codes[start[c] : start[c] + size[c]].tolist() for c in first]
    return members, place.reshape(branch.shape)


@kernel
def extents(
    class_of_row: NDArray[np.int32], classes: int, codes: Codes, values: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The least and the greatest code below ``values`` in each class, and whether others occur.

    ``values`` and −1 where a class has none.
    """
    low = np.full(classes, values, np.int64)
    high = np.full(classes, -1, np.int64)
    beyond = np.zeros(classes, np.bool_)
    for row in range(len(codes)):
        c = class_of_row[row]
        if c < 0:
            continue
        code = codes[row]
        if code >= values:
            beyond[c] = True
            continue
        low[c] = min(low[c], code)
        high[c] = max(high[c], code)
    return low, high, beyond


@kernel
def _meet(
    class_of_row: NDArray[np.int32], classes: int, codes: Codes, node_of_leaf: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A leaf of each class, and the lowest level on which all its leaves have one node."""
    levels = len(node_of_leaf)
    leaf = np.full(classes, -1, np.int64)
    level = np.zeros(classes, np.int64)
    for row in range(len(codes)):
        c = class_of_row[row]
        if c < 0:
            continue
        code = codes[row]
        if leaf[c] < 0:
            leaf[c] = code
            continue
        height = level[c]
        while height < levels and node_of_leaf[height, leaf[c]] != node_of_leaf[height, code]:
            height += 1
        level[c] = height
    return leaf, level
