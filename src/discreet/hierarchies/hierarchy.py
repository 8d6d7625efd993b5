"""A hierarchy over the dictionary of one column: a row of levels, each a grouping of the last.

Level 0 is the values themselves. A level maps every leaf (a code of the column's dictionary) to
one of its nodes, and knows for each node the label that is published, how many leaves of the whole
hierarchy lie below it (also leaves that the table lacks), and the share of the domain that it
covers, which is its loss. A missing value keeps to itself until a level with the single node
``*``, unless the source places it elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HierarchyError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.table.coded_table import Column
from discreet.typing import Codes


@dataclass(frozen=True, eq=False)
class Level:
    """One level: its nodes, and the node of each leaf."""

    node_of_leaf: Codes  # (values of the column,)
    labels: tuple[str | None, ...]  # (nodes,) as published; None is a missing value
    leaves: NDArray[np.int64]  # (nodes,) leaves of the whole hierarchy below each node
    loss: NDArray[np.float64]  # (nodes,) 0 for an exact value, 1 for the whole domain

    @property
    def nodes(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one column, finest first. Every level's groups are unions of the last's."""

    column: str
    levels: tuple[Level, ...]
    leaves: int  # of the whole hierarchy
    place: str = ""  # its origin, for messages: a file, or "automatic"
    level_names: tuple[str, ...] = ()  # of levels 1, 2, …, where the source names them
    finest: int = 0  # the level of the source's hierarchy that is level 0 here

    @property
    def height(self) -> int:
        """The number of the most general level."""
        return len(self.levels) - 1

    @cached_property
    def steps(self) -> tuple[Codes, ...]:
        """``steps[i]`` maps the nodes of level i to those of level i + 1."""
        return tuple(
            _step(lower, upper) for lower, upper in zip(self.levels, self.levels[1:], strict=False)
        )

    def between(self, lower: int, upper: int) -> Codes:
        """The map from the nodes of one level to those of a higher one."""
        nodes = np.arange(self.levels[lower].nodes, dtype=np.int32)
        for step in self.steps[lower:upper]:
            nodes = step[nodes]
        return nodes

    def number_of(self, level: int | str) -> int | None:
        """Return the number of a level above the values, by number or name; None if it lacks it."""
        if isinstance(level, str):
            names = self.level_names
            return names.index(level) + 1 if level in names else None
        return level if 1 <= level <= self.height else None

    @property
    def levels_in_words(self) -> str:
        """A sentence that lists its levels."""
        names = f" ({', '.join(self.level_names)})" if self.level_names else ""
        return f"It has levels 1 to {self.height}{names}."

    def distance(self, first: Codes, second: Codes) -> NDArray[np.float64]:
        """The height of the lowest common ancestor of two leaves, over the hierarchy's height.

        The lowest level at which both have the same node is that ancestor's height. Leaves that
        are still apart at the top, or in a hierarchy without levels, are at distance 1.
        """
        height = np.zeros(np.broadcast(first, second).shape, np.int64)
        for level in self.levels:
            height += level.node_of_leaf[first] != level.node_of_leaf[second]
        tallest = max(self.height, 1)
        return np.minimum(height, tallest) / tallest


def public_place(place: str) -> str:
    """Return the origin of a hierarchy as a release may state it: no path of this machine."""
    path = PurePath(place)
    return path.name if path.is_absolute() or ".." in path.parts else place


def _step(lower: Level, upper: Level) -> Codes:
    step = np.zeros(lower.nodes, np.int32)
    step[lower.node_of_leaf] = upper.node_of_leaf
    return step


def level_from_groups(
    node_of_leaf: Codes,
    labels: Sequence[str | None],
    leaves: NDArray[np.int64],
    total_leaves: int,
    loss: NDArray[np.float64] | None = None,
) -> Level:
    """A level whose loss is (leaves below − 1)/(leaves − 1) unless another is given."""
    if loss is None:
        loss = (leaves - 1) / max(total_leaves - 1, 1)
    return Level(node_of_leaf.astype(np.int32), tuple(labels), leaves, loss)


def require_nested(hierarchy: Hierarchy) -> None:
    """Raise unless every level's groups are unions of the last's and its labels are distinct."""
    where = f"Hierarchy of '{hierarchy.column}' ({hierarchy.place})"
    for number, (lower, upper) in enumerate(
        zip(hierarchy.levels, hierarchy.levels[1:], strict=False), start=1
    ):
        torn = _step(lower, upper)[lower.node_of_leaf] != upper.node_of_leaf
        if torn.any():
            raise HierarchyError(
                f"{where}: level {number} does not nest: {len(np.unique(lower.node_of_leaf[torn]))}"
                f" groups of level {number - 1} are split. Give levels that only join groups."
            )
        if len(set(upper.labels)) < upper.nodes:
            raise HierarchyError(
                f"{where}: two groups of level {number} have the same label and cannot be "
                "distinguished. Give each its own label."
            )


def ambiguous_labels(hierarchy: Hierarchy) -> list[str]:
    """Labels that denote different sets of leaves at different levels.

    They are harmless where a column is published at one level, and misread where levels are mixed.
    ``*`` is ambiguous wherever it does not cover the whole domain.
    """
    seen: dict[str, tuple[int, int]] = {}
    ambiguous: dict[str, None] = {}
    for height, level in enumerate(hierarchy.levels):
        for node, label in enumerate(level.labels):
            if label is None:
                continue
            below = seen.get(label)
            seen[label] = (height, node)
            if label == SUPPRESSED and level.leaves[node] < hierarchy.leaves:
                ambiguous[label] = None
            if below is not None and not _same_leaves(hierarchy, below, (height, node)):
                ambiguous[label] = None
    return list(ambiguous)


def _same_leaves(hierarchy: Hierarchy, lower: tuple[int, int], upper: tuple[int, int]) -> bool:
    """Return whether a node has the same leaves as one of a higher level."""
    (low, low_node), (high, high_node) = lower, upper
    for step in hierarchy.steps[low:high]:
        low_node = int(step[low_node])
    return low_node == high_node and bool(
        hierarchy.levels[low].leaves[lower[1]] == hierarchy.levels[high].leaves[high_node]
    )


@dataclass(frozen=True)
class LevelCounts:
    """The nodes of a level, those with most rows first, and the rows of each."""

    labels: tuple[str | None, ...]  # None is a missing value
    rows: tuple[int, ...]


def count_levels(column: Column, hierarchy: Hierarchy) -> list[LevelCounts]:
    """Count the rows of a column in each node, finest level first; nodes without rows are out."""
    levels = []
    for level in hierarchy.levels:
        rows = np.bincount(level.node_of_leaf, column.counts, level.nodes).astype(np.int64)
        order = [int(node) for node in np.argsort(-rows, kind="stable") if rows[node]]
        levels.append(
            LevelCounts(
                tuple(level.labels[node] for node in order), tuple(int(rows[n]) for n in order)
            )
        )
    return levels
