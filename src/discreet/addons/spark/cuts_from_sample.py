"""Mondrian's first cuts, learnt from a sample and applied to any row.

A table that no machine holds is cut into parts, and Mondrian runs on each. The cuts are those that
Mondrian itself (``partition``) makes on a sample of the rows, down to parts of a given size;
they become a tree that finds the part of a row from its codes. A value that the sample lacks goes
to a neighbour's side: where a row falls decides how tight cells are, never whether a guarantee
holds.

Whether every part can keep the guarantees is then asked of the counts of all rows; a cut with a
side that cannot is taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Task
from discreet.methods.mondrian.mondrian import Cut, partition
from discreet.methods.mondrian.regions import flattened
from discreet.methods.mondrian.units import Judge, Units
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.typing import Codes, Ints

LEAF = -1


@dataclass(frozen=True, eq=False)
class CutTree:
    """Cuts of cuts; parts are numbered from 0."""

    attribute: Ints  # (nodes,) the quasi-identifier that is cut, LEAF for a part
    first_child: Ints  # (nodes,) children are numbered one after the other
    map_at: Ints  # (nodes,) where the map from code to child starts
    child_of_code: Codes
    part: Ints  # (nodes,) the number of a part
    parent: Ints  # (nodes,) −1 of the root

    @property
    def parts(self) -> int:
        return int((self.attribute == LEAF).sum())

    def parts_of(self, columns: Sequence[Codes], rows: int) -> NDArray[np.int32]:
        """The part of each row, from the codes of its quasi-identifiers."""
        codes = np.stack(columns) if columns else np.zeros((0, rows), np.int32)
        node = np.zeros(rows, np.int64)
        row = np.arange(rows)  # those that have not reached their part
        while True:
            row = row[self.attribute[node[row]] != LEAF]
            if not len(row):
                return np.asarray(self.part[node], np.int32)
            here = node[row]
            code = codes[self.attribute[here], row]
            node[row] = self.first_child[here] + self.child_of_code[self.map_at[here] + code]

    def without(self, failing: NDArray[np.bool_]) -> tuple[CutTree, Ints]:
        """The tree without the cuts that made failing parts, and the new part of each old one."""
        node_of_part = np.flatnonzero(self.attribute == LEAF)
        node_of_part = node_of_part[np.argsort(self.part[node_of_part])]
        attribute = self.attribute.copy()
        attribute[np.maximum(self.parent[node_of_part[failing]], 0)] = LEAF
        home = np.arange(len(attribute))  # the part that a node lies in, or itself
        for node in range(1, len(attribute)):  # parents come first
            above = self.parent[node]
            if attribute[home[above]] == LEAF:
                home[node] = home[above]
        whole = (attribute == LEAF) & (home == np.arange(len(attribute)))
        part = np.where(whole, np.cumsum(whole) - 1, LEAF)
        tree = CutTree(
            attribute, self.first_child, self.map_at, self.child_of_code, part, self.parent
        )
        # nodes below a taken back cut are out of reach; they are no parts of their own
        attribute[home != np.arange(len(attribute))] = 0
        return tree, part[home[node_of_part]]


def top_cuts(sample: Task, rows_of_part: int) -> CutTree:
    """The cuts of a sample down to parts of at least so many of its rows."""
    table = sample.table
    columns = table.quasi_identifiers
    hierarchies = {
        c.name: sample.hierarchies[c.name] for c in columns if c.name in sample.hierarchies
    }
    units = Units(table, torn=False)
    attributes = flattened(columns, hierarchies, units.codes)
    large = KAnonymity(k=max(1, min(rows_of_part, table.rows)))  # a child of a hierarchy included
    sample = replace(sample, requirements=[*sample.requirements, large])
    judge = Judge(sample, units)
    cuts: list[Cut] = []
    whole = group_codes([], [], units.count)
    _, order = partition(units, attributes, judge, sample, whole, cuts)
    return _tree(cuts, units.codes[:, order], columns, hierarchies)


def _tree(
    cuts: Sequence[Cut],
    codes: Codes,
    columns: Sequence[Column],
    hierarchies: Mapping[str, Hierarchy],
) -> CutTree:
    node_of_range = {(0, codes.shape[1]): 0}
    attribute, first_child, map_at, parent = [LEAF], [0], [0], [-1]
    maps: list[Codes] = []
    length = 0
    for cut in cuts:
        node = node_of_range[cut.parent]
        column = columns[cut.attribute]
        pieces = [codes[cut.attribute, low:high] for low, high in cut.pieces]
        hierarchy = hierarchies.get(column.name)
        if hierarchy is None:
            child_of_code, order = _by_order(pieces, column.cardinality)
        else:
            nodes = hierarchy.levels[cut.level - 1].node_of_leaf
            child_of_code, order = _by_node(pieces, nodes), list(range(len(pieces)))
        attribute[node], first_child[node], map_at[node] = cut.attribute, len(attribute), length
        maps.append(child_of_code)
        length += len(child_of_code)
        for place in order:
            node_of_range[cut.pieces[place]] = len(attribute)
            attribute.append(LEAF)
            first_child.append(0)
            map_at.append(0)
            parent.append(node)
    kinds = np.array(attribute, np.int64)
    return CutTree(
        kinds,
        np.array(first_child, np.int64),
        np.array(map_at, np.int64),
        np.concatenate([*maps, np.zeros(0, np.int32)]).astype(np.int32),
        np.where(kinds == LEAF, np.cumsum(kinds == LEAF) - 1, LEAF),
        np.array(parent, np.int64),
    )


def _by_order(pieces: Sequence[Codes], cardinality: int) -> tuple[Codes, list[int]]:
    """A piece ends before the least code of the next."""
    least = [int(piece.min()) for piece in pieces]
    order = sorted(range(len(pieces)), key=least.__getitem__)
    bounds = np.array([least[place] for place in order[1:]], np.int64)
    codes = np.arange(cardinality)
    return np.searchsorted(bounds, codes, side="right").astype(np.int32), order


def _by_node(pieces: Sequence[Codes], node_of_leaf: Codes) -> Codes:
    """By the child of the common ancestor; one that no sampled row has goes to the last piece."""
    piece_of_node = np.full(int(node_of_leaf.max()) + 1, len(pieces) - 1, np.int32)
    for number, piece in enumerate(pieces):
        piece_of_node[node_of_leaf[piece]] = number
    return piece_of_node[node_of_leaf]
