"""Cells that are the regions between the cuts, whatever the rows of a class span.

A tight cell says that the rows of its class reach both of its ends. A region says only that they
lie in it: its bounds are those of a hierarchy's nodes, which were fixed before any class was seen.
A cut gives each piece the child node that it was cut off at; pieces of several pooled children
keep the region of the part that was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import CellColumn
from discreet.methods.shared.tight_cells import cells_of_nodes
from discreet.typing import Codes, Ints

if TYPE_CHECKING:
    from discreet.methods.mondrian.mondrian import Cut


def region_cells(
    hierarchies: Sequence[Hierarchy],  # of each attribute
    codes: Sequence[Codes],  # of each attribute: (units,) values in the order of the units
    start: Ints,  # (classes + 1,) where each class starts in that order
    made: Sequence[Cut],  # the first cuts first
) -> list[CellColumn]:
    """The region of each class, by attribute."""
    classes = len(start) - 1
    level, node = [], []
    for hierarchy in hierarchies:
        top = len(hierarchy.levels) - (hierarchy.levels[-1].nodes == 1)
        level.append(np.full(classes, top, np.int32))
        node.append(np.zeros(classes, np.int32))
    for cut in made:
        own, below = cut.attribute, cut.level - 1
        node_of_leaf = hierarchies[own].levels[below].node_of_leaf
        for low, high in cut.pieces:
            nodes = node_of_leaf[codes[own][low:high]]
            if (nodes == nodes[0]).all():
                inside = slice(*np.searchsorted(start, (low, high)).tolist())
                level[own][inside], node[own][inside] = below, nodes[0]
    return [cells_of_nodes(*one) for one in zip(hierarchies, level, node, strict=True)]
