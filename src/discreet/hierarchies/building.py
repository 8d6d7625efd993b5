"""The common part of all builders of hierarchies: groupings to levels, values to leaves.

A builder handles the values that are not missing, followed by the leaves that its source names
but the table lacks. This module defines the treatment of missing values and of leaves that the
table lacks, and the loss of a node:

- A missing value is a leaf where the table has one. It stays missing, at no loss, up to a level
  with a single node that is labelled ``*``: no other label covers it unless the source itself
  places it there. A quasi-identifier with a missing value and a single root gets a ``*`` above.
- Leaves that the table lacks count below their ancestors; nodes with no value of the table below
  them are left out of a level.
- A ``*`` that covers everything has loss 1 even if the domain has but one value: it is suppressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import HierarchyError
from discreet.hierarchies.cells import SUPPRESSED, range_cell, set_cell
from discreet.hierarchies.hierarchy import Hierarchy, Level, level_from_groups, require_nested
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

NAMED_AT_MOST = 5


@dataclass(frozen=True, eq=False)
class LevelGrouping:
    """One level as a builder sees it: the values that are not missing, then further leaves."""

    node_of_leaf: NDArray[np.integer]  # (values that are not missing + further leaves,)
    labels: Sequence[str | None]  # (nodes,)
    loss: NDArray[np.float64] | None = None  # (nodes,) by leaves where it is not given
    null_node: int | None = None  # where the source itself places the missing value


def present(column: Column) -> int:
    """The number of values that are not missing."""
    return column.cardinality - int(column.has_null)


def everything(leaves: int) -> LevelGrouping:
    """Return the level on which every value is suppressed."""
    return LevelGrouping(np.zeros(leaves, np.int64), (SUPPRESSED,), np.ones(1))


def assemble(
    column: Column,
    groupings: Sequence[LevelGrouping],
    place: str,
    *,
    further_leaves: int = 0,
    one_root: bool = False,
) -> Hierarchy:
    """The hierarchy whose levels above the values are these groupings, checked to nest.

    ``one_root`` says that the source ends in one node above all values that are not missing.
    """
    if one_root and _null_beside_root(column, groupings):
        groupings = [*groupings, everything(len(groupings[-1].node_of_leaf))]
    total = column.cardinality + further_leaves
    values = column.cardinality
    exact = level_from_groups(
        np.arange(values, dtype=np.int32), column.text.to_list(), np.ones(values, np.int64), total
    )
    levels = [exact]
    levels += [_level(column, grouping, total) for grouping in groupings]
    hierarchy = Hierarchy(column.name, tuple(levels), total, place)
    require_nested(hierarchy)
    return hierarchy


def _null_beside_root(column: Column, groupings: Sequence[LevelGrouping]) -> bool:
    """Return whether a published missing value has no common ancestor with the other values.

    A sensitive attribute's levels only measure distances, which need no level above.
    """
    if not column.has_null or column.role is not Role.QUASI_IDENTIFIER or not groupings:
        return False
    top = groupings[-1]
    return len(top.labels) == 1 and top.labels[0] != SUPPRESSED and top.null_node is None


def _level(column: Column, grouping: LevelGrouping, total: int) -> Level:
    values = present(column)
    node_of_leaf = np.asarray(grouping.node_of_leaf, np.int64)
    labels = list(grouping.labels)
    loss = grouping.loss
    # A missing value has a node of its own, unless the source or a star covers it.
    if column.has_null:
        null_node = grouping.null_node
        if null_node is None and len(labels) == 1 and labels[0] == SUPPRESSED:
            null_node = 0
        if null_node is None:
            null_node = len(labels)
            labels.append(None)
            loss = None if loss is None else np.append(loss, 0.0)
        node_of_leaf = np.insert(node_of_leaf, values, null_node)
    # Loss by leaves, unless the builder gives it; a star over everything loses all.
    leaves = np.bincount(node_of_leaf, minlength=len(labels)).astype(np.int64)
    if loss is None:
        loss = (leaves - 1) / max(total - 1, 1)
    if total and leaves.max() == total and labels[int(leaves.argmax())] == SUPPRESSED:
        loss = np.where(leaves == total, 1.0, loss)
    # Leave out nodes that have no value of the table.
    used = np.zeros(len(labels), bool)
    used[node_of_leaf[: column.cardinality]] = True
    number = np.cumsum(used) - 1
    return level_from_groups(
        number[node_of_leaf[: column.cardinality]].astype(np.int32),
        [labels[node] for node in np.flatnonzero(used)],
        leaves[used],
        total,
        loss[used],
    )


def grouping_by_key(key: pl.Series, label: pl.Series) -> LevelGrouping:
    """Values with the same key form a node, labelled with the label of the first of them."""
    frame = pl.DataFrame({"key": key, "label": label})
    nodes = frame.group_by("key", maintain_order=True).agg(pl.col("label").first())
    nodes = nodes.with_row_index("node")
    node_of_leaf = frame.join(nodes, on="key", how="left", maintain_order="left")["node"]
    return LevelGrouping(node_of_leaf.to_numpy().astype(np.int64), nodes["label"].to_list())


def closed_ranges(column: Column, group_of_value: NDArray[np.integer]) -> LevelGrouping:
    """Runs of neighbouring values as closed ranges; loss is a range's share of the data's."""
    assert column.numbers is not None
    numbers = column.numbers[: present(column)]
    if not len(numbers):
        return LevelGrouping(np.zeros(0, np.int64), ())
    first = np.flatnonzero(np.diff(group_of_value, prepend=group_of_value[0] - 1))
    last = np.append(first[1:], len(numbers)) - 1
    text = column.text
    labels = [
        low if low == high else range_cell(low, high, closed=True)
        for low, high in zip(text.gather(first), text.gather(last), strict=True)
    ]
    spread = numbers[-1] - numbers[0]
    loss = (numbers[last] - numbers[first]) / (spread if spread > 0 else 1.0)
    node_of_leaf = np.repeat(np.arange(len(first)), last - first + 1)
    return LevelGrouping(node_of_leaf, labels, loss)


def match_leaves(column: Column, leaves: Sequence[str]) -> NDArray[np.int64]:
    """Return the place in a list of the leaf of each value that is not missing, or −1.

    Text comes first. A value of an integer or number column without a leaf of its own text takes
    the leaf of equal number, ``07`` that of ``7``, if there is one alone; where leaves are ``7``
    and ``7.0``, the meaning is ambiguous, and ``07`` counts as missing.
    """
    place = {leaf: position for position, leaf in enumerate(leaves)}
    values = column.text.head(present(column)).to_list()
    leaf_of_value = np.fromiter((place.get(v, -1) for v in values), np.int64, len(values))
    lost = np.flatnonzero(leaf_of_value < 0)
    if not len(lost) or column.numbers is None or column.type is ValueType.DATE:
        return leaf_of_value
    of_number: dict[float, int] = {}
    for position, leaf in enumerate(leaves):
        number = _number(leaf)
        if number is not None:
            of_number[number] = -1 if number in of_number else position
    for value in lost:
        leaf_of_value[value] = of_number.get(float(column.numbers[value]), -1)
    return leaf_of_value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def named(column: Column, values: Iterable[str]) -> str:
    """Some values for a message, ``": 17, 18, 90"``; empty for a column that must not be shown."""
    if column.role is not Role.QUASI_IDENTIFIER:
        return ""
    listed = list(values)
    rest = ", …" if len(listed) > NAMED_AT_MOST else ""
    return ": " + ", ".join(listed[:NAMED_AT_MOST]) + rest


def missing_problem(column: Column, place_of_value: NDArray[np.int64], what: str) -> str | None:
    """Return the sentence that names values without a leaf; None where all have one."""
    lost = np.flatnonzero(place_of_value < 0)
    if not len(lost):
        return None
    names = named(column, column.text.gather(lost[: NAMED_AT_MOST + 1]).to_list())
    verb = "has" if len(lost) == 1 else "have"
    return f"{len(lost)} of {present(column)} values {verb} no {what}{names}"


def order_hierarchy(
    column: Column, order: Sequence[str] | None, sizes: Sequence[int], *, star: bool
) -> Hierarchy:
    """Return a level for each number of neighbours joined, and a fully suppressed one if asked for.

    ``low, middle, high, top`` becomes ``{low, middle}``, ``{high, top}``. An order that the job
    gives may name values that the table lacks; they count as leaves. Without one, an ordered
    column's values are in their own order and a group is a closed range.
    """
    place = "groups"
    # By the values' own order.
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
    # By an order that the job gives.
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
