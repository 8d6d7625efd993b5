"""Exact search in the lattice of full-domain recodings, with few nodes examined.

A node is one level for each quasi-identifier; a node is *above* another if none of its levels is
lower. The search keeps, for all nodes, whether they may still be the optimum (``open``) and a
lower bound on their cost, and learns from every node that it examines:

* it is beyond the budget in a condition that only gets easier upward: nothing below is open;
* it is publishable at a cost: nothing that must cost more, or as much and is later in the
  order of ties, is open;
* where nothing may be suppressed, publishable nodes close everything above them, since all
  measures rise upward;
* its cost without suppression is a lower bound for all above;
* what its hopeless rows cost (those that fail a condition that gets easier upward) is added for
  all below, whose hopeless rows include these and have more left to lose.

Where the levels alone decide what a node costs, but for suppression, the next node is the one that
promises to close most: if it fails, the open nodes below it; if not, those that are more expensive.
The greater the smaller of the two numbers, the better. Where only examining a node tells its cost,
and rows may be suppressed, one that does not fail closes nodes above it instead of more expensive
ones; of these, some nodes of one height, none of which is above another, are chosen at once.

Ties: less height, then the lexicographically least levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from discreet.methods.shared.lattice import Lattice, Node, sum_below
from discreet.typing import Bools, Floats, StopFlag

AT_ONCE = 64  # nodes of one height that are examined before the next are chosen


@dataclass(frozen=True)
class NodeResult:
    """What was seen at a node."""

    within: bool  # whether the condition that gets easier upward holds
    cost: float | None = None  # None if the node can't be published
    floor: float = 0.0  # a lower bound of the cost of all nodes above
    surcharge: float = 0.0  # what is added to the floor of all nodes below, and of this one


Examine = Callable[[Node], NodeResult]
Region = tuple[
    EllipsisType | slice, ...
]  # a range of levels for each attribute, behind an ellipsis


def minimal_nodes(lattice: Lattice, holds: Callable[[Node], bool]) -> list[Node]:
    """All nodes at which a condition that gets easier upward holds and below which it does not."""
    levels = lattice.levels
    unknown = np.ones(lattice.nodes, bool)
    holding = np.zeros(lattice.nodes, bool)
    while unknown.any():
        flat = int(np.where(unknown, np.minimum(*_around(unknown, lattice.shape)), -1).argmax())
        if holds(lattice.node(flat)):
            reached = (levels >= levels[flat]).all(axis=1)
            holding |= reached
        else:
            reached = (levels <= levels[flat]).all(axis=1)
        unknown &= ~reached
    minimal = holding.copy()
    for axis, stride in enumerate(lattice.strides):
        higher = np.flatnonzero(levels[:, axis])
        minimal[higher] &= ~holding[higher - stride]
    return [lattice.node(int(flat)) for flat in np.flatnonzero(minimal)]


@dataclass(frozen=True)
class Optimum:
    """The cheapest node that can be published."""

    node: Node
    cost: float


class Search:
    """The search for the cheapest node.

    ``floor`` is a lower bound of the cost of each node before anything is examined, None where
    nothing is known of it, and ``guide`` any figure by which costs can be expected to be ordered.
    ``closed_upward`` says that a node above a publishable one is publishable and no cheaper.
    """

    def __init__(
        self,
        lattice: Lattice,
        floor: Floats | None,
        guide: Floats,
        *,
        closed_upward: bool,
        tolerance: float,
    ) -> None:
        self.lattice = lattice
        self.examined: list[Node] = []
        self.optimum: Optimum | None = None
        self._priced = floor is not None
        self._floor = np.zeros(lattice.nodes) if floor is None else floor.ravel().copy()
        self._surcharge = np.zeros(lattice.nodes)
        self._closed_upward = closed_upward
        self._tolerance = tolerance
        self._within = np.zeros(lattice.nodes, bool)  # known to be within the budget
        heights = lattice.sum_levels([np.arange(levels) for levels in lattice.shape.tolist()])
        self._rank = heights.astype(np.int64) * lattice.nodes
        self._rank += np.arange(lattice.nodes)  # the order of ties
        # Nodes that were open when one was last chosen, the most expensive first; which are open.
        self._open = np.argsort(-guide.ravel(), kind="stable").astype(np.int32)
        self._is_open = np.ones(lattice.nodes, bool)
        self._chosen: list[int] = []  # to be examined next, if they are still open

    @property
    def share_closed(self) -> float:
        """The share of the nodes of which it is known that they are not the optimum."""
        return 1 - np.count_nonzero(self._is_open) / self.lattice.nodes

    @property
    def complete(self) -> bool:
        """Whether no node is left that could be better than the optimum found."""
        return not self._is_open.any()

    def run(self, examine: Examine, stop: StopFlag) -> Optimum | None:
        """Examine nodes until none that is open is left, or until the flag is set."""
        while not self.complete and not stop[0]:
            self._examine(self._next(), examine)
        return self.optimum

    def _next(self) -> int:
        """The node to examine next."""
        if self._priced or self._closed_upward:
            self._forget_closed()
            return _most_telling(self._open, self._within, self.lattice.shape)
        self._chosen = [flat for flat in self._chosen if self._is_open[flat]]
        if not self._chosen:
            self._forget_closed()
            self._chosen = _telling_antichain(self._open, self._within, self.lattice)
        return self._chosen[0]

    def _forget_closed(self) -> None:
        self._open = self._open[self._is_open[self._open]]

    def examine_top(self, examine: Examine) -> Optimum | None:
        """Examine the most general node, the likeliest to be publishable."""
        self._examine(self.lattice.nodes - 1, examine)
        return self.optimum

    def _examine(self, flat: int, examine: Examine) -> None:
        node = self.lattice.node(flat)
        self.examined.append(node)
        finding = examine(node)
        self._is_open[flat] = False
        above: Region = (..., *(slice(level, None) for level in node))
        below: Region = (..., *(slice(level + 1) for level in node))
        self._learn(finding, above, below)
        if finding.cost is not None and self._beats(flat, finding.cost):
            self.optimum = Optimum(node, finding.cost)
            self._close_costly((...,))
        elif self.optimum is not None:
            self._close_costly(above)
            if finding.surcharge:
                self._close_costly(below)

    def _learn(self, finding: NodeResult, above: Region, below: Region) -> None:
        """Raise the bounds of nodes above and below, and close those that cannot be published."""
        shape = self.lattice.shape
        is_open, floor = self._is_open.reshape(shape), self._floor.reshape(shape)
        if not finding.within:
            is_open[below] = False
        else:
            self._within.reshape(shape)[above] = True
            if self._closed_upward:
                is_open[above] = False
        np.maximum(floor[above], finding.floor, out=floor[above])
        if finding.surcharge:
            surcharge = self._surcharge.reshape(shape)[below]
            np.maximum(surcharge, finding.surcharge, out=surcharge)

    def _close_costly(self, region: Region) -> None:
        """Close the nodes of a region that cannot be better than the optimum found."""
        best = self.optimum
        assert best is not None
        shape = self.lattice.shape
        bound = self._floor.reshape(shape)[region] + self._surcharge.reshape(shape)[region]
        earlier = self._rank.reshape(shape)[region] < self._rank[self.lattice.flat(best.node)]
        tied = (bound <= best.cost + self._tolerance) & earlier
        is_open = self._is_open.reshape(shape)[region]
        is_open &= (bound < best.cost - self._tolerance) | tied

    def _beats(self, flat: int, cost: float) -> bool:
        best = self.optimum
        if best is None or cost < best.cost - self._tolerance:
            return True
        earlier = bool(self._rank[flat] < self._rank[self.lattice.flat(best.node)])
        return cost <= best.cost + self._tolerance and earlier


def _most_telling(
    open_nodes: NDArray[np.int32],  # most expensive first
    within: Bools,
    shape: NDArray[np.int64],
) -> int:
    """The node of which both outcomes close many."""
    unknown = open_nodes[~within[open_nodes]]
    if not len(unknown):
        return int(open_nodes[0])
    below = np.zeros(len(within), np.int64)
    below[unknown] = 1
    sum_below(below, shape)
    costlier = np.arange(1, len(unknown) + 1)
    return int(unknown[np.minimum(costlier, below[unknown]).argmax()])


def _telling_antichain(open_nodes: NDArray[np.int32], within: Bools, lattice: Lattice) -> list[int]:
    """Nodes of one height whose outcomes close many, above or below; the most telling first."""
    is_open = np.zeros(lattice.nodes, bool)
    is_open[open_nodes] = True
    below, above = (count[open_nodes] for count in _around(is_open, lattice.shape))
    closing = np.where(within[open_nodes], above, np.minimum(below, above))
    height = lattice.levels[open_nodes].sum(axis=1)
    best = closing.argmax()
    chosen = np.flatnonzero((height == height[best]) & (2 * closing >= closing[best]))
    chosen = chosen[np.argsort(-closing[chosen], kind="stable")[:AT_ONCE]]
    return [int(flat) for flat in open_nodes[chosen]]


def _around(chosen: Bools, shape: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of some nodes are below and above each node, the node itself included."""
    below = chosen.astype(np.int64)
    sum_below(below, shape)
    above = chosen[::-1].astype(np.int64)  # the lattice upside down has the same shape
    sum_below(above, shape)
    return below, above[::-1]
