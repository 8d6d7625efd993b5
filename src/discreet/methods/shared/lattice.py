"""The lattice of full-domain recodings: its nodes, and sums over all that lies below each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.table.budgets import TABLE_CELLS
from discreet.typing import Floats

Node = tuple[int, ...]  # a level for each quasi-identifier


class Lattice:
    """All nodes in lexicographic order, so that a level more is a fixed stride ahead."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.shape = np.array(heights, np.int64) + 1
        self.nodes = math.prod(height + 1 for height in heights)
        if self.nodes > TABLE_CELLS:
            raise InputError(
                f"full-domain: {len(heights)} quasi-identifiers have {self.nodes} combinations of"
                f" levels; an exact search takes up to {TABLE_CELLS}. Give the hierarchies fewer"
                " levels, make some attributes insensitive or drop them, or use mondrian."
            )

        self.levels = (
            np.indices(self.shape.tolist(), np.int16).reshape(len(heights), self.nodes).T.copy()
        )
        self.strides = np.array([1, *self.shape[:0:-1]], np.int64).cumprod()[::-1][: len(heights)]

    @property
    def top(self) -> Node:
        return self.node(self.nodes - 1)

    def node(self, flat: int) -> Node:
        return tuple(self.levels[flat].tolist())

    def flat(self, node: Node) -> int:
        return int(np.dot(node, self.strides))

    def sum_levels(self, of_level: Sequence[Floats]) -> Floats:
        """For every node, the sum of a figure of each attribute's level."""
        total = np.zeros(1)
        for figures in of_level:
            total = np.add.outer(total, figures).ravel()
        return total


def sum_below(figure: NDArray[np.int64], shape: NDArray[np.int64]) -> None:
    """Add to the figure of each node those of all nodes below it, in place."""
    sizes = shape.tolist()
    half = 0
    while math.prod(sizes[:half]) ** 2 < math.prod(sizes):
        half += 1
    _add_along(figure, sizes[:half])
    if sizes[half:]:  # last axes first, so that figures that are added lie one after the other
        turned = figure.reshape(math.prod(sizes[:half]), -1).T
        last = np.ascontiguousarray(turned)
        _add_along(last.reshape(-1), sizes[half:])
        turned[:] = last


def _add_along(figure: NDArray[np.int64], sizes: Sequence[int]) -> None:
    """Add along the first axes."""
    after = len(figure)
    for size in sizes:
        after //= size
        levels = figure.reshape(-1, size, after)
        for level in range(1, size):
            levels[:, level] += levels[:, level - 1]
