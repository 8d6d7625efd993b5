"""Exact search in the lattice of full-domain recodings, with few nodes examined.

A node is one level for each quasi-identifier; a node is *above* another if none of its levels is
lower. The search keeps, for all nodes, whether they may still be the optimum (``open``) and a
lower bound on their cost, and learns from every node that it examines:

* it is beyond the budget in a condition that only gets easier upward: nothing below is open;
* it is publishable at a cost: nothing that must cost more, or as much and stand later in the
  order of ties, is open;
* where nothing may be suppressed, publishable nodes close everything above them, since all
  measures rise upward;
* its cost without suppression is a lower bound for all above;
* what its hopeless rows cost (those that fail a condition that gets easier upward) is added for
  all below, whose hopeless rows include these and have more left to lose.

The next node is the cheapest open one if it is known to be within the budget: it would have to be
examined in any case. Else it is the one that promises to close most: if it fails, the open nodes
below it; if not, those that are dearer. The greater the smaller of the two numbers, the better.

Ties: less height, then the lexicographically least levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.costs import Costs
from discreet.algorithms.frequency_sets import Node
from discreet.errors import InputError

Marks = NDArray[np.bool_]
Region = tuple[slice | EllipsisType, ...]

NODE_LIMIT = 2**24


@dataclass(frozen=True)
class Finding:
    """What was seen at a node."""

    within: bool  # whether the condition that gets easier upward holds
    cost: float | None = None  # None if the node can't be published
    floor: float = 0.0  # a lower bound of the cost of all nodes above
    surcharge: float = 0.0  # what is added to the floor of all nodes below, and of this one


Examine = Callable[[Node], Finding]


class Lattice:
    """The nodes as the cells of a grid with one axis for each quasi-identifier."""

    def __init__(self, heights: Sequence[int]) -> None:
        self.shape = tuple(height + 1 for height in heights)
        self.nodes = 1
        for levels in self.shape:
            self.nodes *= levels
        if self.nodes > NODE_LIMIT:
            raise InputError(
                f"full-domain: {len(heights)} quasi-identifiers have {self.nodes} combinations of"
                f" levels; an exact search takes up to {NODE_LIMIT}. Give the hierarchies fewer"
                " levels, make some attributes insensitive or drop them, or use mondrian."
            )

    @property
    def top(self) -> Node:
        return tuple(levels - 1 for levels in self.shape)

    def below(self, node: Node) -> Region:
        """The part of the grid at and below a node."""
        return (*(slice(level + 1) for level in node), ...)

    def above(self, node: Node) -> Region:
        """The part of the grid at and above a node."""
        return (*(slice(level, None) for level in node), ...)

    def node(self, flat: int) -> Node:
        return tuple(int(level) for level in np.unravel_index(flat, self.shape))

    def sum_levels(self, of_level: Sequence[Costs]) -> Costs:
        """A grid of the sums of a figure of each attribute's level."""
        grid = np.zeros(self.shape)
        for axis, figures in enumerate(of_level):
            grid += figures.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return grid

    def count_below(self, marks: Marks) -> NDArray[np.int32]:
        """How many marked nodes lie at or below each node."""
        count = marks.astype(np.int32)
        for axis in range(len(self.shape)):
            np.add.accumulate(count, axis=axis, out=count)
        return count

    def count_above(self, marks: Marks) -> NDArray[np.int32]:
        """How many marked nodes lie at or above each node."""
        backwards = (slice(None, None, -1),) * len(self.shape)
        return self.count_below(marks[backwards])[backwards]


def minimal_nodes(lattice: Lattice, holds: Callable[[Node], bool]) -> list[Node]:
    """All nodes at which a condition that gets easier upward holds and below which it does not."""
    unknown = np.ones(lattice.shape, bool)
    holding = np.zeros(lattice.shape, bool)
    while unknown.any():
        gain = np.minimum(lattice.count_below(unknown), lattice.count_above(unknown))
        node = lattice.node(int(np.where(unknown, gain, -1).argmax()))
        if holds(node):
            holding[lattice.above(node)] = True
            unknown[lattice.above(node)] = False
        else:
            unknown[lattice.below(node)] = False
    minimal = holding.copy()
    for axis in range(len(lattice.shape)):
        ahead = [slice(None)] * len(lattice.shape)
        behind = list(ahead)
        ahead[axis], behind[axis] = slice(1, None), slice(-1)
        minimal[tuple(ahead)] &= ~holding[tuple(behind)]
    return [tuple(int(level) for level in node) for node in np.argwhere(minimal)]


@dataclass(frozen=True)
class Optimum:
    """The cheapest node that can be published."""

    node: Node
    cost: float


class Search:
    """The search for the cheapest node.

    ``floor`` is a lower bound of the cost of each node before anything is examined, and ``guide``
    any figure by which costs can be expected to be ordered. ``closed_upward`` says that a node
    above a publishable one is publishable and no cheaper.
    """

    def __init__(
        self,
        lattice: Lattice,
        floor: Costs,
        guide: Costs,
        *,
        closed_upward: bool,
        tolerance: float,
    ) -> None:
        self.lattice = lattice
        self.examined: list[Node] = []
        self.optimum: Optimum | None = None
        self._floor = floor.copy()
        self._surcharge = np.zeros(lattice.shape)
        self._closed_upward = closed_upward
        self._tolerance = tolerance
        self._open = np.ones(lattice.shape, bool)
        self._within = np.zeros(lattice.shape, bool)  # known to be within the budget
        heights = lattice.sum_levels([np.arange(levels, dtype=float) for levels in lattice.shape])
        in_order = np.arange(lattice.nodes).reshape(lattice.shape)
        self._rank = heights.astype(np.int64) * lattice.nodes + in_order
        self._by_guide = np.argsort(-guide, axis=None, kind="stable")

    def run(self, examine: Examine) -> Optimum | None:
        """Examine nodes until none that is open is left."""
        while True:
            bound = np.where(self._open, self._floor + self._surcharge, np.inf)
            cheapest = int(bound.argmin())
            if not self._open.flat[cheapest]:
                return self.optimum
            node = self.lattice.node(cheapest)
            if not self._within[node]:
                node = self._most_telling()
            self.examined.append(node)
            self._learn(node, examine(node))

    def _most_telling(self) -> Node:
        unknown = self._open & ~self._within
        if_it_fails = self.lattice.count_below(unknown)
        if_it_holds = np.empty(self.lattice.nodes, np.int32)
        if_it_holds[self._by_guide] = np.cumsum(unknown.ravel()[self._by_guide], dtype=np.int32)
        gain = np.minimum(if_it_fails.ravel(), if_it_holds)
        return self.lattice.node(int(np.where(unknown.ravel(), gain, -1).argmax()))

    def _learn(self, node: Node, finding: Finding) -> None:
        above, below = self.lattice.above(node), self.lattice.below(node)
        self._open[node] = False
        if not finding.within:
            self._open[below] = False
        elif self._closed_upward:
            self._open[above] = False
        else:
            self._within[above] = True
        raised = False
        if finding.floor > self._floor[node]:
            np.maximum(self._floor[above], finding.floor, out=self._floor[above])
            raised = True
        if finding.surcharge > self._surcharge[node]:
            np.maximum(self._surcharge[below], finding.surcharge, out=self._surcharge[below])
            raised = True
        if finding.cost is not None and self._beats(node, finding.cost):
            self.optimum = Optimum(node, finding.cost)
            raised = True
        if raised and self.optimum is not None:
            self._close_dearer(self.optimum)

    def _beats(self, node: Node, cost: float) -> bool:
        best = self.optimum
        if best is None or cost < best.cost - self._tolerance:
            return True
        return cost <= best.cost + self._tolerance and self._rank[node] < self._rank[best.node]

    def _close_dearer(self, best: Optimum) -> None:
        bound = self._floor + self._surcharge
        self._open &= (bound < best.cost - self._tolerance) | (
            (bound <= best.cost + self._tolerance) & (self._rank < self._rank[best.node])
        )
