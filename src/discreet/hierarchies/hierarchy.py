"""A hierarchy over the dictionary of one column: a row of levels, each a grouping of the last.

Level 0 is the values themselves. A level maps every leaf (a code of the column's dictionary) to
one of its nodes, and knows for each node the label that is published, how many leaves of the whole
hierarchy lie below it (also leaves that the table lacks), and the share of the domain that it
covers, which is its loss. A missing value keeps to itself until a level with a single node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import Codes


@dataclass(frozen=True, eq=False)
class Level:
    """One level: its nodes and where each leaf goes."""

    node_of_leaf: Codes  # (values of the column,)
    labels: tuple[str | None, ...]  # (nodes,) what is published; None is a missing value
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
    place: str = ""  # where it comes from, for messages: a file, or "automatic"

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

    def distance(self, first: Codes, second: Codes) -> NDArray[np.float64]:
        """The height of the lowest common ancestor of two leaves, over the hierarchy's height."""
        height = np.zeros(np.broadcast(first, second).shape, np.int64)
        for level in self.levels:
            height += level.node_of_leaf[first] != level.node_of_leaf[second]
        return np.minimum(height, self.height) / max(self.height, 1)


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
