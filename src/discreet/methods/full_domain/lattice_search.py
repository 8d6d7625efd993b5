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
* it may rule out others by itself (``ruled_out``);
* what its hopeless rows cost (those that fail a condition that gets easier upward) is added for
  all below, whose hopeless rows include these and have more left to lose.

The next node is the cheapest open one if it is known to be within the budget: it would have to be
examined in any case. Else it is the one that promises to close most: if it fails, the open nodes
below it; if not, those that are more expensive. The greater the smaller of the two numbers, the
better.

Ties: less height, then the lexicographically least levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.methods.shared.lattice import Lattice, Node, sum_below
from discreet.typing import Bools, Floats, StopFlag


@dataclass(frozen=True)
class NodeResult:
    """What was seen at a node."""

    within: bool  # whether the condition that gets easier upward holds
    cost: float | None = None  # None if the node can't be published
    floor: float = 0.0  # a lower bound of the cost of all nodes above
    surcharge: float = 0.0  # what is added to the floor of all nodes below, and of this one
    ruled_out: Bools | None = None  # (nodes,) other nodes that cannot be published


Examine = Callable[[Node], NodeResult]


def minimal_nodes(lattice: Lattice, holds: Callable[[Node], bool]) -> list[Node]:
    """All nodes at which a condition that gets easier upward holds and below which it does not."""
    levels = lattice.levels
    unknown = np.ones(lattice.nodes, bool)
    holding = np.zeros(lattice.nodes, bool)
    while unknown.any():
        below = unknown.astype(np.int64)
        sum_below(below, lattice.shape)
        above = unknown[::-1].astype(np.int64)  # the lattice upside down has the same shape
        sum_below(above, lattice.shape)
        flat = int(np.where(unknown, np.minimum(below, above[::-1]), -1).argmax())
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

    ``floor`` is a lower bound of the cost of each node before anything is examined, and ``guide``
    any figure by which costs can be expected to be ordered. ``closed_upward`` says that a node
    above a publishable one is publishable and no cheaper.
    """

    def __init__(
        self,
        lattice: Lattice,
        floor: Floats,
        guide: Floats,
        *,
        closed_upward: bool,
        tolerance: float,
    ) -> None:
        self.lattice = lattice
        self.examined: list[Node] = []
        self.optimum: Optimum | None = None
        self._floor = floor.ravel().copy()
        self._surcharge = np.zeros(lattice.nodes)
        self._closed_upward = closed_upward
        self._tolerance = tolerance
        self._within = np.zeros(lattice.nodes, bool)  # known to be within the budget
        self._rank = lattice.levels.sum(axis=1, dtype=np.int64) * lattice.nodes
        self._rank += np.arange(lattice.nodes)  # the order of ties
        self._open = np.argsort(-guide.ravel(), kind="stable").astype(
            np.int32
        )  # most expensive first

    @property
    def share_closed(self) -> float:
        """The share of the nodes of which it is known that they are not the optimum."""
        return 1 - len(self._open) / self.lattice.nodes

    @property
    def complete(self) -> bool:
        """Whether no node is left that could be better than the optimum found."""
        return not len(self._open)

    def run(self, examine: Examine, stop: StopFlag) -> Optimum | None:
        """Examine nodes until none that is open is left, or until the flag is set."""
        while not self.complete and not stop[0]:
            flat = _cheapest(self._open, self._floor, self._surcharge)
            if not self._within[flat]:
                flat = _most_telling(self._open, self._within, self.lattice.shape)
            self._examine(flat, examine)
        return self.optimum

    def examine_top(self, examine: Examine) -> Optimum | None:
        """Examine the most general node, the likeliest to be publishable."""
        self._examine(self.lattice.nodes - 1, examine)
        return self.optimum

    def _examine(self, flat: int, examine: Examine) -> None:
        node = self.lattice.node(flat)
        self.examined.append(node)
        self._learn(flat, node, examine(node))

    def _learn(self, flat: int, node: Node, finding: NodeResult) -> None:
        if finding.cost is not None and self._beats(flat, finding.cost):
            self.optimum = Optimum(node, finding.cost)
        if finding.ruled_out is not None:
            self._open = self._open[~finding.ruled_out[self._open]]
        self._close(flat, finding)

    def _close(self, examined: int, finding: NodeResult) -> None:
        """Keep open what may still be the optimum, in the same order."""
        nodes = self._open[self._open != examined]
        levels, own = self.lattice.levels[nodes], self.lattice.levels[examined]
        above, below = (levels >= own).all(axis=1), (levels <= own).all(axis=1)
        closed = above & self._closed_upward if finding.within else below
        nodes, above, below = nodes[~closed], nodes[above & ~closed], nodes[below & ~closed]
        self._floor[above] = np.maximum(self._floor[above], finding.floor)
        self._within[above] |= finding.within
        self._surcharge[below] = np.maximum(self._surcharge[below], finding.surcharge)
        best = self.optimum
        cost = np.inf if best is None else best.cost
        first = 0 if best is None else self._rank[self.lattice.flat(best.node)]
        bound = self._floor[nodes] + self._surcharge[nodes]
        tied = (bound <= cost + self._tolerance) & (self._rank[nodes] < first)
        self._open = nodes[(bound < cost - self._tolerance) | tied]

    def _beats(self, flat: int, cost: float) -> bool:
        best = self.optimum
        if best is None or cost < best.cost - self._tolerance:
            return True
        earlier = bool(self._rank[flat] < self._rank[self.lattice.flat(best.node)])
        return cost <= best.cost + self._tolerance and earlier


def _cheapest(open_nodes: NDArray[np.int32], floor: Floats, surcharge: Floats) -> int:
    """The open node with the least bound; of equal ones the cheapest by the guide, the last."""
    bound = floor[open_nodes] + surcharge[open_nodes]
    return int(open_nodes[len(bound) - 1 - bound[::-1].argmin()])


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
