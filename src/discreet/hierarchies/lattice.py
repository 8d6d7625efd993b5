"""The lattice of full-domain recodings: a node is one level for each quasi-identifier.

A node's index is its levels read as digits of a mixed radix, the last quasi-identifier fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy

Nodes = NDArray[np.int64]  # (nodes, quasi-identifiers)
Indices = NDArray[np.int64]  # (nodes,)


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels from 0 up to each height."""

    heights: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.size >= 2**62:
            raise InputError(
                f"The lattice of {len(self.heights)} hierarchies has {self.size} nodes, more than "
                "can be numbered. Give fewer quasi-identifiers or hierarchies with fewer levels."
            )

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy]) -> Lattice:
        """The lattice over the levels of some hierarchies."""
        return cls(tuple(hierarchy.height for hierarchy in hierarchies))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(height + 1 for height in self.heights)

    @property
    def bottom(self) -> tuple[int, ...]:
        """The node that changes nothing."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> tuple[int, ...]:
        """The most general node."""
        return self.heights

    @cached_property
    def strides(self) -> Indices:
        """How far apart the indices of two nodes are that differ by one level."""
        radix = np.array(self.heights, np.int64) + 1
        return np.append(np.cumprod(radix[:0:-1])[::-1], 1)[: len(radix)].astype(np.int64)

    def index(self, nodes: Nodes) -> Indices:
        """The indices of some nodes."""
        return np.asarray(nodes, np.int64) @ self.strides

    def nodes(self, indices: Indices) -> Nodes:
        """The nodes with some indices."""
        digits = np.asarray(indices, np.int64)[..., None] // self.strides
        return digits % (np.array(self.heights, np.int64) + 1)

    def successors(self, index: int) -> Indices:
        """The nodes one level higher in one quasi-identifier."""
        node = self.nodes(np.array([index], np.int64))[0]
        above: Indices = index + self.strides[node < np.array(self.heights, np.int64)]
        return above

    def predecessors(self, index: int) -> Indices:
        """The nodes one level lower in one quasi-identifier."""
        node = self.nodes(np.array([index], np.int64))[0]
        below: Indices = index - self.strides[node > 0]
        return below

    def is_below(self, lower: Nodes, upper: Nodes) -> NDArray[np.bool_]:
        """Whether a node generalizes at most as far as another in every quasi-identifier."""
        return np.asarray((np.asarray(lower) <= np.asarray(upper)).all(axis=-1))
