"""Cells that say no more than the rows of a class need.

A column with a hierarchy is published as the lowest common ancestor of the class's values, a
column of numbers or dates as the closed range from the least to the greatest, any other as the set
of values; one value alone as itself. Missing values lie in no range, so a class that has them
beside numbers is published as the set of its values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HierarchyError
from discreet.hierarchies.cells import SUPPRESSED, range_cell, set_cell
from discreet.hierarchies.hierarchy import Hierarchy, ambiguous_labels
from discreet.methods.base import CellColumn
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.typing import Codes, Ints


def tightened(
    column: Column,
    hierarchy: Hierarchy | None,
    code: Codes,  # (members,) of the column's dictionary, class after class
    start: Ints,  # (classes + 1,) where each class starts
    *,
    suppress_mixed: bool = False,
) -> CellColumn:
    """The published cell of each class.

    ``suppress_mixed`` publishes a class with numbers and missing values as ``*``, not as a set.
    """
    if hierarchy is not None:
        return _ancestors(hierarchy, code, start)
    classes = len(start) - 1
    member_class = np.repeat(np.arange(classes, dtype=np.int32), np.diff(start))
    low = np.minimum.reduceat(code, start[:-1])
    high = np.maximum.reduceat(code, start[:-1])
    numbers = column.numbers
    as_set = low < high
    if numbers is not None:
        as_set &= np.isnan(numbers[high])
    lone_or_range = group_codes([low, high], [column.cardinality] * 2, classes)
    text = column.text.to_list()
    labels: list[str | None] = []
    losses: list[float] = []
    cell_of_class = lone_or_range.class_of_row
    span = 1.0 if numbers is None else _span(numbers)
    for number in lone_or_range.first_row:
        first, last = int(low[number]), int(high[number])
        if first == last:
            labels.append(text[first])
            losses.append(0.0)
        else:
            labels.append(range_cell(text[first] or "", text[last] or "", closed=True))
            gap = 1.0 if numbers is None else float(numbers[last] - numbers[first])
            losses.append(gap / span)
    if suppress_mixed and numbers is not None:
        cell_of_class = np.where(as_set, len(labels), cell_of_class)
        labels.append(SUPPRESSED)
        losses.append(1.0)
    elif as_set.any():
        cell_of_class = cell_of_class.copy()
        inside = as_set[member_class]
        cells = _sets(column, code[inside], member_class[inside])
        cell_of_class[cells.classes] = len(labels) + np.array(cells.cell_of_class)
        labels += cells.labels
        losses += cells.losses
    return _only_used(cell_of_class, labels, losses)


def _span(numbers: NDArray[np.float64]) -> float:
    known = numbers[~np.isnan(numbers)]  # none where every cell is missing
    return max(float(np.ptp(known)) if len(known) else 0.0, np.finfo(float).tiny)


class _Sets:
    """The distinct sets of values among some classes."""

    def __init__(self) -> None:
        self.classes: list[int] = []
        self.cell_of_class: list[int] = []
        self.labels: list[str | None] = []
        self.losses: list[float] = []


def _sets(column: Column, code: Codes, member_class: NDArray[np.int32]) -> _Sets:
    distinct = group_codes(
        [member_class, code], [int(member_class.max()) + 1, column.cardinality], len(code)
    ).first_row
    of_class, value = member_class[distinct], code[distinct]
    by_class = np.lexsort((value, of_class))
    of_class, value = of_class[by_class], value[by_class]
    starts = np.flatnonzero(np.diff(of_class, prepend=-1))
    stops = np.append(starts[1:], len(of_class))
    text = column.text.to_list()
    found = _Sets()
    cell_of_set: dict[bytes, int] = {}
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        members = value[start:stop]
        key = members.tobytes()
        if key not in cell_of_set:
            cell_of_set[key] = len(found.labels)
            found.labels.append(set_cell(text[member] for member in members))
            found.losses.append((stop - start - 1) / max(column.cardinality - 1, 1))
        found.classes.append(int(of_class[start]))
        found.cell_of_class.append(cell_of_set[key])
    return found


def _only_used(cell_of_class: Codes, labels: list[str | None], losses: list[float]) -> CellColumn:
    used, cell = np.unique(cell_of_class, return_inverse=True)
    return CellColumn(
        cell.astype(np.int32),
        tuple(labels[number] for number in used),
        np.array(losses)[used],
    )


def _ancestors(hierarchy: Hierarchy, code: Codes, start: Ints) -> CellColumn:
    node_of_leaf = np.stack([level.node_of_leaf for level in hierarchy.levels])
    ancestor_level, ancestor = _lowest_common(node_of_leaf, code, start)
    labels: list[str | None] = []
    losses: list[float] = []
    first = np.zeros(len(hierarchy.levels) + 1, np.int64)
    for number, level in enumerate(hierarchy.levels):
        labels += level.labels
        losses += level.loss.tolist()
        first[number + 1] = len(labels)
    labels.append(SUPPRESSED)  # the root above several nodes of the top level
    losses.append(1.0)
    return _only_used((first[ancestor_level] + ancestor).astype(np.int32), labels, losses)


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
        found = waiting & ~apart
        ancestor_level[found], ancestor[found] = level, first[found]
        waiting &= apart
        rest = waiting[place]
        entry, place = entry[rest], place[rest]
    return ancestor_level, ancestor


def require_one_meaning(hierarchy: Hierarchy) -> None:
    """Raise where a label would be misread, because levels of the hierarchy are mixed."""
    found = ambiguous_labels(hierarchy)
    if found:
        listed = ", ".join(f"'{label}'" for label in found[:5])
        more = ", …" if len(found) > 5 else ""
        raise HierarchyError(
            f"Hierarchy of '{hierarchy.column}' ({hierarchy.place}): {listed}{more} denotes "
            "different values at different levels, and this method mixes levels. Give each node "
            "its own label, or use full-domain."
        )
