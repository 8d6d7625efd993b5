"""A table compressed to its distinct combinations of quasi-identifier values, called tuples.

After this the number of rows does not matter. Sensitive values are counted by tuple only when
they are requested, as entries (class, value, count) in the order of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.shared.lattice import Node
from discreet.table.budgets import AT_ONCE, BEYOND
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, count_values, order_by_class
from discreet.typing import AnyInts, Codes, Ints

BLOCK = 4096  # combinations of values that are looked up together: a table that stays in the cache
SPARSE = 16  # possible entries for each one that occurs, from which on sorting is faster


@dataclass(frozen=True, eq=False)
class ClassValueCounts:
    """Counts of values by class, in the order of values."""

    of_class: Codes  # (entries,)
    value: Codes  # (entries,) ascending
    count: Ints  # (entries,)
    cardinality: int

    @staticmethod
    def of(counts: ValueCounts) -> ClassValueCounts:
        start, of_class, count = _sort_entries(
            counts.value, counts.class_of_entry.astype(np.int32), counts.count, counts.cardinality
        )
        value = np.repeat(np.arange(counts.cardinality, dtype=np.int32), np.diff(start))
        return ClassValueCounts(of_class, value, count, counts.cardinality)

    def merge(self, class_of_class: Codes, classes: int) -> ClassValueCounts:
        """The entries of coarser classes."""
        key = self.value.astype(np.int64) * classes + class_of_class[self.of_class]
        if classes * self.cardinality <= SPARSE * len(key):
            count = np.bincount(key, self.count).astype(np.int64)
            pairs = np.flatnonzero(count)
            count = count[pairs]
        else:
            pairs, entry = np.unique(key, return_inverse=True)
            count = np.bincount(entry, self.count).astype(np.int64)
        value, of_class = (part.astype(np.int32) for part in np.divmod(pairs, classes))
        return ClassValueCounts(of_class, value, count, self.cardinality)

    def by_class(self, classes: int) -> ValueCounts:
        start, value, count = _sort_entries(self.of_class, self.value, self.count, classes)
        return ValueCounts(start, value, count, self.cardinality)


class Compressed:
    """A table's distinct quasi-identifier tuples, and its sensitive values by tuple on demand."""

    def __init__(
        self,
        columns: Sequence[Column],
        hierarchies: Sequence[Hierarchy],
        entries: int,
        sensitive: Sequence[Column],
        weights: Ints | None = None,
    ) -> None:
        self.classes: Classes = classes_of(columns, entries, weights)
        self.entries_given = entries
        self.weights = weights
        self.hierarchies = tuple(hierarchies)
        self.sensitive = {column.name: column for column in sensitive}
        leaves = [column.codes[self.classes.first_row] for column in columns]
        self.leaf = np.ascontiguousarray(  # (tuples, quasi-identifiers)
            np.array(leaves, np.int32).reshape(len(columns), self.classes.count).T
        )
        self._joining: dict[tuple[int, int], Ints] = {}
        self._nodes: dict[tuple[int, Node], tuple[Ints, int]] = {}  # of blocks at some levels

    @property
    def tuples(self) -> int:
        return self.classes.count

    def entries(self, attribute: str) -> ClassValueCounts:
        """The counts of a sensitive attribute's values by tuple."""
        return ClassValueCounts.of(count_values(self.classes, self.sensitive[attribute]))

    @cached_property
    def signatures(self) -> Classes:
        """The distinct combinations of all sensitive values."""
        return classes_of(list(self.sensitive.values()), self.entries_given)

    def signature_entries(self) -> ClassValueCounts:
        """The counts of the combinations of all sensitive values by tuple."""
        pairs = group_codes(
            [self.signatures.class_of_row, self.classes.class_of_row],
            [self.signatures.count, self.tuples],
            self.entries_given,
            self.weights,
        )
        signature = self.signatures.class_of_row[pairs.first_row]
        of_class = self.classes.class_of_row[pairs.first_row]
        start, of_class, count = _sort_entries(
            signature, of_class, pairs.size, self.signatures.count
        )
        value = np.repeat(np.arange(self.signatures.count, dtype=np.int32), np.diff(start))
        return ClassValueCounts(of_class, value, count, self.signatures.count)

    def group(self, tuples: Codes, size: Ints, node: Node) -> tuple[Codes, Codes, Ints]:
        """Group ascending tuples at a node: the class of each; a tuple and a size of each class."""
        codes: list[Ints] = []
        bounds: list[int] = []
        chosen_tuples = None if len(tuples) == self.tuples else tuples.astype(np.int64)
        for place, (block, number) in enumerate(self._blocks):
            of_number, nodes = self._nodes_of_block(place, tuple(node[a] for a in block))
            if nodes == 1:
                continue
            chosen = number if chosen_tuples is None else number.take(chosen_tuples)
            if codes and bounds[-1] * nodes <= BEYOND:
                codes[-1] += (of_number * bounds[-1]).take(chosen)
                bounds[-1] *= nodes
            else:
                codes.append(of_number.take(chosen))
                bounds.append(nodes)
        return _grouped(codes, bounds, tuples, size)

    def _nodes_of_block(self, place: int, levels: Node) -> tuple[Ints, int]:
        """The number of each combination of a block's values at some levels; how many numbers."""
        numbered = self._nodes.get((place, levels))
        if numbered is None:
            of_number, nodes = np.zeros(1, np.int64), 1
            for attribute, level in zip(self._blocks[place][0], levels, strict=True):
                of_leaf = self.hierarchies[attribute].levels[level]
                of_number = np.add.outer(of_number, of_leaf.node_of_leaf * nodes).ravel()
                nodes *= of_leaf.nodes
            numbered = of_number, nodes
            if len(of_number) * len(self._nodes) < AT_ONCE:
                self._nodes[place, levels] = numbered
        return numbered

    @cached_property
    def _blocks(self) -> list[tuple[list[int], Ints]]:
        """Attributes with few combinations of values, and the combination of each tuple.

        What is the same for all tuples with some values is looked up once for a block of attributes
        instead of once for each.
        """
        values = [len(h.levels[0].node_of_leaf) for h in self.hierarchies]
        blocks: list[list[int]] = []
        combinations = 1
        for attribute in sorted(range(len(values)), key=values.__getitem__):
            combinations *= values[attribute]
            if not blocks or combinations > BLOCK:
                blocks.append([])
                combinations = values[attribute]
            blocks[-1].append(attribute)
        numbered = []
        for block in blocks:
            number = np.zeros(self.tuples, np.int64)
            for attribute in block:
                number *= values[attribute]
                number += self.leaf[:, attribute]
            numbered.append((block, number))
        return numbered


def _grouped(
    codes: Sequence[AnyInts], bounds: Sequence[int], tuples: Codes, size: Ints
) -> tuple[Codes, Codes, Ints]:
    classes = group_codes(codes, bounds, len(tuples))
    total = np.bincount(classes.class_of_row, size, classes.count).astype(np.int64)
    return classes.class_of_row, tuples[classes.first_row], total


def _sort_entries(key: Codes, other: Codes, count: Ints, keys: int) -> tuple[Ints, Codes, Ints]:
    """Sort entries by key, stably; also where each key starts."""
    start, order = order_by_class(key, np.zeros(len(key), np.int32), keys, 1)
    return start, other[order], count[order]
