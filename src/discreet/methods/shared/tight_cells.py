"""Cells that say no more than the rows of a class need.

A column with a hierarchy is published as the lowest common ancestor of the class's values, a
column of numbers or dates as the closed range from the least to the greatest, any other as the set
of values; one value alone as itself. Missing values lie in no range, so a class that has them
beside numbers is published as the set of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
import polars as pl

from discreet.errors import HierarchyError
from discreet.hierarchies.cells import SUPPRESSED, range_labels, set_cell
from discreet.hierarchies.hierarchy import Hierarchy, ambiguous_labels
from discreet.methods.base import CellColumn
from discreet.methods.shared.grid_cells import cells_on_grid, grid_of
from discreet.table.classes import group_codes, group_lists
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Codes, Floats, Ints

MARKED = 64  # pairs of a class and a value for each member, up to which all are marked


def tightened(
    column: Column,
    hierarchy: Hierarchy | None,
    code: Codes,  # (members,) of the column's dictionary, class after class
    start: Ints,  # (classes + 1,) where each class starts
    *,
    suppress_mixed: bool = False,
    grid: bool = False,
) -> CellColumn:
    """The published cell of each class.

    ``suppress_mixed`` publishes a class with numbers and missing values as ``*``, not as a set;
    ``grid`` rounds ranges outwards to steps (``grid_cells``).
    """
    if hierarchy is not None:
        return _ancestors(hierarchy, code, start)
    steps = grid_of(column) if grid else None
    if steps is not None:
        return cells_on_grid(column, steps, code, start)
    classes = len(start) - 1
    low = np.minimum.reduceat(code, start[:-1])
    high = np.maximum.reduceat(code, start[:-1])
    numbers = column.numbers
    as_set = low < high
    if numbers is not None:
        as_set &= np.isnan(numbers[high])
    high[as_set] = low[as_set]  # a label that is not used
    lone_or_range = group_codes([low, high], [column.cardinality] * 2, classes)
    cell_of_class = lone_or_range.class_of_row
    labels, losses = _ranges(column, low[lone_or_range.first_row], high[lone_or_range.first_row])
    if suppress_mixed and numbers is not None:
        cell_of_class = np.where(as_set, len(labels), cell_of_class)
        labels.append(SUPPRESSED)
        losses = np.append(losses, 1.0)
    elif as_set.any():
        member_class = np.repeat(np.arange(classes, dtype=np.int32), np.diff(start))
        inside = as_set[member_class]
        set_of_class, of_sets, sizes = _sets(column, code[inside], member_class[inside])
        cell_of_class[as_set] = len(labels) + set_of_class
        labels += of_sets
        losses = np.append(losses, (sizes - 1) / max(column.cardinality - 1, 1))
    return _only_used(cell_of_class, labels, losses)


def _ranges(column: Column, low: Codes, high: Codes) -> tuple[list[str | None], Floats]:
    """Label and loss of closed ranges between two codes, of one value where they are equal."""
    apart = low < high
    lowest, highest = column.text.gather(low), column.text.gather(high)
    labels = range_labels(lowest, highest).zip_with(pl.Series(apart), highest).to_list()
    losses = np.zeros(len(labels))
    if column.numbers is not None:
        known = column.numbers[~np.isnan(column.numbers)]  # none where every cell is missing
        span = max(float(np.ptp(known)) if len(known) else 0.0, np.finfo(float).tiny)
        losses[apart] = (column.numbers[high[apart]] - column.numbers[low[apart]]) / span
    return labels, losses


def _sets(column: Column, code: Codes, member_class: Codes) -> tuple[Codes, list[str | None], Ints]:
    """The set of each class, the classes ascending; the label and the size of each set.

    Members are given class after class.
    """
    key = member_class.astype(np.int64) * column.cardinality + code
    bound = (int(member_class[-1]) + 1) * column.cardinality
    if bound <= MARKED * len(key):
        occurs = np.zeros(bound, bool)
        occurs[key] = True
        key = np.flatnonzero(occurs)
    else:
        key = distinct_values(key)
    of_class, value = np.divmod(key, column.cardinality)
    start = np.append(np.flatnonzero(np.diff(of_class, prepend=-1)), len(of_class))
    sets = group_lists(start, value, column.cardinality)
    text = column.text.to_list()
    labels: list[str | None] = [
        set_cell(text[member] for member in value[start[first] : start[first + 1]])
        for first in sets.first_row
    ]
    return sets.class_of_row, labels, np.diff(start)[sets.first_row]


def _only_used(cell_of_class: Codes, labels: Sequence[str | None], losses: Floats) -> CellColumn:
    used = np.bincount(cell_of_class, minlength=len(labels)) > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return CellColumn(number[cell_of_class], tuple(compress(labels, used.tolist())), losses[used])


def _ancestors(hierarchy: Hierarchy, code: Codes, start: Ints) -> CellColumn:
    node_of_leaf = np.stack([level.node_of_leaf for level in hierarchy.levels])
    return cells_of_nodes(hierarchy, *_lowest_common(node_of_leaf, code, start))


def cells_of_nodes(hierarchy: Hierarchy, level_of_class: Codes, node: Codes) -> CellColumn:
    """The cell of each class by the level of its node; node 0 above the top level is the root."""
    labels: list[str | None] = []
    losses: list[float] = []
    first = np.zeros(len(hierarchy.levels) + 1, np.int64)
    for number, level in enumerate(hierarchy.levels):
        labels += level.labels
        losses += level.loss.tolist()
        first[number + 1] = len(labels)
    labels.append(SUPPRESSED)  # the root above several nodes of the top level
    losses.append(1.0)
    cell = (first[level_of_class] + node).astype(np.int32)
    return _only_used(cell, labels, np.array(losses))


def _lowest_common(node_of_leaf: Codes, code: Codes, start: Ints) -> tuple[Codes, Codes]:
    """The level and node of each class's lowest common ancestor; node 0 above the top level."""
    classes = len(start) - 1
    ancestor_level = np.full(classes, len(node_of_leaf), np.int32)
    ancestor = np.zeros(classes, np.int32)
    entry, place = np.arange(len(code)), np.repeat(np.arange(classes), np.diff(start))
    waiting = np.ones(classes, np.bool_)
    for level, node_of in enumerate(node_of_leaf):
        first = node_of[code[start[:-1]]]
        apart = np.zeros(classes, np.bool_)
        apart[place[node_of[code[entry]] != first[place]]] = True
        meeting = waiting & ~apart
        ancestor_level[meeting], ancestor[meeting] = level, first[meeting]
        waiting &= apart
        rest = waiting[place]
        entry, place = entry[rest], place[rest]
    return ancestor_level, ancestor


def require_one_meaning(hierarchy: Hierarchy) -> None:
    """Raise where a label would be misread, because levels of the hierarchy are mixed."""
    ambiguous = ambiguous_labels(hierarchy)
    if ambiguous:
        listed = ", ".join(f"'{label}'" for label in ambiguous[:5])
        more = ", …" if len(ambiguous) > 5 else ""
        raise HierarchyError(
            f"Hierarchy of '{hierarchy.column}' ({hierarchy.place}): {listed}{more} denotes "
            "different values at different levels, and this method mixes levels. Give each node "
            "its own label, or use full-domain."
        )
