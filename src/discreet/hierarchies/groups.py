"""Neighbours in an order joined by a fixed number: ``low, middle, high, top`` → ``{low, middle}``.

An order that the job gives may name values that the table lacks; they count as leaves. Without
one, an ordered column's values are in their own order and a group is a closed range.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import HierarchyError
from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    closed_ranges,
    everything,
    match_leaves,
    missing_problem,
    present,
)
from discreet.hierarchies.cells import set_cell
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column


def order_hierarchy(
    column: Column, order: Sequence[str] | None, sizes: Sequence[int], *, star: bool
) -> Hierarchy:
    """Return a level for each size, and a fully suppressed one if asked for."""
    place = "groups"
    if order is None:
        if column.numbers is None:
            raise HierarchyError(
                f"Hierarchy of '{column.name}' ({place}): the values of a {column.type.value} "
                "column have no natural order. Give them in `order`, first to last."
            )
        positions = np.arange(present(column))
        groupings = [closed_ranges(column, positions // size) for size in sizes]
        top = [everything(len(positions))] if star else []
        return assemble(column, [*groupings, *top], place)
    position_of_value = match_leaves(column, order)
    problem = missing_problem(column, position_of_value, "place in the order")
    if problem:
        raise HierarchyError(f"Hierarchy of '{column.name}' ({place}): {problem}. Add them.")
    absent = np.setdiff1d(np.arange(len(order)), position_of_value)
    position_of_leaf = np.concatenate((position_of_value, absent))
    groupings = [_sets(order, position_of_leaf // size, size) for size in sizes]
    top = [everything(len(position_of_leaf))] if star else []
    return assemble(column, [*groupings, *top], place, further_leaves=len(absent))


def _sets(
    order: Sequence[str], node_of_leaf: np.typing.NDArray[np.int64], size: int
) -> LevelGrouping:
    members = [order[start : start + size] for start in range(0, len(order), size)]
    labels = [group[0] if len(group) == 1 else set_cell(group) for group in members]
    return LevelGrouping(node_of_leaf, labels)
