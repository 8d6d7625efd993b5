"""The cells of every column while they are specialized, and the gain of specializing one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column
from discreet.typing import Codes, Floats, Ints


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cell that may be specialized: its rows, and the child that each would have."""

    attribute: int
    cell: int
    rows: Ints  # (rows of the cell,)
    child: Codes  # (rows of the cell,) 0 … children − 1
    nodes: Ints  # (children,) at the level below
    level: int  # of the children
    score: float


class TaxonomyCuts:
    """The cells of all columns; cell 0 of each begins as the root, with every row."""

    def __init__(self, columns: Sequence[Column], hierarchies: Sequence[Hierarchy]) -> None:
        self.columns = columns
        self.hierarchies = hierarchies
        rows = len(columns[0].codes) if columns else 0
        self.codes: Codes = np.zeros((len(columns), rows), np.int32)  # the cell of each row
        self.levels = [[len(one.levels)] for one in hierarchies]  # by column and cell
        self.nodes = [[0] for _ in hierarchies]
        self.sizes = [[rows] for _ in hierarchies]

    def cells(self, attribute: int) -> int:
        """The number of cells of a column."""
        return len(self.sizes[attribute])

    def candidate(self, attribute: int, cell: int) -> Candidate | None:
        """What specializing a cell would make; None where it is a single value.

        Levels at which all rows of the cell have one node are passed: the cell becomes that node.
        """
        hierarchy, column = self.hierarchies[attribute], self.columns[attribute]
        rows = np.flatnonzero(self.codes[attribute] == cell)
        values = column.codes[rows]
        before = self._loss(attribute, cell)
        for level in range(self.levels[attribute][cell] - 1, -1, -1):
            own = hierarchy.levels[level]
            nodes, child = np.unique(own.node_of_leaf[values], return_inverse=True)
            if len(nodes) > 1:
                score = column.importance * float((before - own.loss[nodes[child]]).sum())
                return Candidate(
                    attribute, cell, rows, child.astype(np.int32), nodes.astype(np.int64), level,
                    score,
                )  # fmt: skip
            self.levels[attribute][cell], self.nodes[attribute][cell] = level, int(nodes[0])
            before = self._loss(attribute, cell)
        return None

    def _loss(self, attribute: int, cell: int) -> float:
        level = self.levels[attribute][cell]
        if level == len(self.hierarchies[attribute].levels):
            return 1.0
        return float(self.hierarchies[attribute].levels[level].loss[self.nodes[attribute][cell]])

    def specialize(self, chosen: Candidate, children: Sequence[int]) -> list[int]:
        """Give some children of a cell cells of their own; return their numbers.

        Where all children have one, the first takes over the number of the cell.
        """
        a, made = chosen.attribute, []
        size = np.bincount(chosen.child, minlength=len(chosen.nodes))
        whole = len(children) == len(chosen.nodes)
        for place, child in enumerate(children):
            if whole and place == 0:
                number = chosen.cell
                self.levels[a][number] = chosen.level
                self.nodes[a][number] = int(chosen.nodes[child])
                self.sizes[a][number] = int(size[child])
            else:
                number = len(self.sizes[a])
                self.levels[a].append(chosen.level)
                self.nodes[a].append(int(chosen.nodes[child]))
                self.sizes[a].append(int(size[child]))
                self.codes[a, chosen.rows[chosen.child == child]] = number
            made.append(number)
        if not whole:
            self.sizes[a][chosen.cell] -= int(size[list(children)].sum())
        return made

    def level_and_node(self, attribute: int, cells: Codes) -> tuple[Codes, Codes]:
        """The level and node of some cells of a column."""
        level, node = np.array(self.levels[attribute]), np.array(self.nodes[attribute])
        return level[cells].astype(np.int32), node[cells].astype(np.int32)

    def losses(self, attribute: int) -> Floats:
        """(cells,) The loss of each cell of a column."""
        return np.array([self._loss(attribute, cell) for cell in range(self.cells(attribute))])
