"""A table compressed to its distinct combinations of quasi-identifier values, called tuples.

After this the number of rows does not matter. Sensitive values are counted by tuple only when
they are requested, as entries (class, value, count) in the order of values: merging classes is
then one pass without sorting, because an entry that joins another comes directly after it among
those of its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.shared.lattice import Lattice, Node
from discreet.table.classes import KEY_LIMIT, Classes, classes_of, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, count_values, order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.tiers import is_loaded
from discreet.typing import Codes, Ints

FEW = 2**16  # tuples or entries that NumPy sorts, which needs no compiled code
NEVER = -(2**40)  # no node of a lattice
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
        if len(self.value) <= FEW:
            key = self.value.astype(np.int64) * classes + class_of_class[self.of_class]
            if classes * self.cardinality <= SPARSE * len(key):
                count = np.bincount(key, self.count).astype(np.int64)
                found = np.flatnonzero(count)
                count = count[found]
            else:
                found, entry = np.unique(key, return_inverse=True)
                count = np.bincount(entry, self.count).astype(np.int64)
            value, of_class = (part.astype(np.int32) for part in np.divmod(found, classes))
            return ClassValueCounts(of_class, value, count, self.cardinality)
        merged = _merge_entries(self.of_class, self.value, self.count, class_of_class, classes)
        return ClassValueCounts(*merged, self.cardinality)

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
        maps = [level.node_of_leaf for h in hierarchies for level in h.levels]
        self.node_of_leaf = np.concatenate([np.zeros(0, np.int32), *maps])
        self._ends = np.cumsum([0, *(len(m) for m in maps)])
        heights = np.cumsum([0, *(len(h.levels) for h in hierarchies)])
        self._offsets = [self._ends[low:high] for low, high in pairwise(heights)]

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
        """Group tuples at a node: the class of each, a tuple and the size of each class."""
        if len(tuples) <= FEW and not is_loaded(_group_tuples):
            return self._group_by_sorting(tuples, size, node)
        nodes = [h.levels[level].nodes for h, level in zip(self.hierarchies, node, strict=True)]
        column = np.array([j for j, count in enumerate(nodes) if count > 1], np.int64)
        offset = np.array([self._offsets[j][node[j]] for j in column], np.int64)
        stride = np.ones(len(column), np.int64)
        bound = 1
        for i, j in enumerate(column):
            if bound * nodes[j] > KEY_LIMIT:
                return self._group_by_sorting(tuples, size, node)
            stride[i] = bound
            bound *= nodes[j]
        return _group_tuples(
            tuples, size, self.leaf, self.node_of_leaf, column, offset, stride, bound
        )

    @cached_property
    def _leaf_by_column(self) -> Codes:
        """(attributes, tuples) The leaves, so that those of an attribute lie together."""
        return np.ascontiguousarray(self.leaf.T)

    def joining_nodes(self, tuple_: int, lattice: Lattice) -> Ints:
        """The lowest node at which each tuple is in one tuple's class; below 0 where none is."""
        node = np.zeros(self.tuples, np.int64)
        for a, hierarchy in enumerate(self.hierarchies):
            of_leaf = np.stack([level.node_of_leaf for level in hierarchy.levels])
            joined = of_leaf == of_leaf[:, self.leaf[tuple_, a], None]  # (levels, leaves)
            step = np.where(joined.any(axis=0), joined.argmax(axis=0) * lattice.strides[a], NEVER)
            node += step.take(self._leaf_by_column[a])
        return node

    def _group_by_sorting(self, tuples: Codes, size: Ints, node: Node) -> tuple[Codes, Codes, Ints]:
        """The same for a few tuples, which need no kernel, or where keys would pass 64 bits."""
        levels = [h.levels[level] for h, level in zip(self.hierarchies, node, strict=True)]
        told = [(j, level) for j, level in enumerate(levels) if level.nodes > 1]
        codes = [level.node_of_leaf.take(self._leaf_by_column[j].take(tuples)) for j, level in told]
        grouped = group_codes(codes, [level.nodes for _, level in told], len(tuples))
        total = np.bincount(grouped.class_of_row, size, grouped.count).astype(np.int64)
        return grouped.class_of_row, tuples[grouped.first_row], total


# Compiled: called for every node of the lattice; six times as fast as packing and sorting keys.
@kernel(wraps=True)
def _group_tuples(
    tuples: Codes,
    size: Ints,
    leaf: Codes,
    node_of_leaf: Codes,
    column: Ints,
    offset: Ints,
    stride: Ints,
    bound: int,
) -> tuple[Codes, Codes, Ints]:
    count = len(tuples)
    direct = bound <= 4 * count + 1024
    capacity = 16
    while capacity < 2 * count:
        capacity *= 2
    class_of_slot = np.full(bound if direct else capacity, -1, np.int32)
    key_of_class = np.empty(0 if direct else count, np.int64)
    class_of = np.empty(count, np.int32)
    chosen = np.empty(count, np.int32)
    total = np.zeros(count, np.int64)
    classes = 0
    for i in range(count):
        t = tuples[i]
        key = 0
        for a in range(len(column)):
            key += node_of_leaf[offset[a] + leaf[t, column[a]]] * stride[a]
        slot = np.int64(key)
        if not direct:
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
            slot = np.int64(mixed & np.uint64(capacity - 1))
            while class_of_slot[slot] >= 0 and key_of_class[class_of_slot[slot]] != key:
                slot = (slot + 1) & (capacity - 1)
        found = class_of_slot[slot]
        if found < 0:
            found = classes
            class_of_slot[slot] = found
            if not direct:
                key_of_class[found] = key
            chosen[found] = t
            classes += 1
        class_of[i] = found
        total[found] += size[i]
    return class_of, chosen[:classes].copy(), total[:classes].copy()


# Compiled: called for every node of the lattice; one pass where NumPy would sort.
@kernel
def _merge_entries(
    of_class: Codes, value: Codes, count: Ints, class_of_class: Codes, classes: int
) -> tuple[Codes, Codes, Ints]:
    last = np.full(classes, -1, np.int64)  # the last entry of each class
    new_class = np.empty(len(value), np.int32)
    new_value = np.empty(len(value), np.int32)
    new_count = np.empty(len(value), np.int64)
    entries = 0
    for e in range(len(value)):
        c = class_of_class[of_class[e]]
        at = last[c]
        if at >= 0 and new_value[at] == value[e]:
            new_count[at] += count[e]
        else:
            last[c] = entries
            new_class[entries] = c
            new_value[entries] = value[e]
            new_count[entries] = count[e]
            entries += 1
    return new_class[:entries].copy(), new_value[:entries].copy(), new_count[:entries].copy()


def _sort_entries(key: Codes, other: Codes, count: Ints, keys: int) -> tuple[Ints, Codes, Ints]:
    """Sort entries by key, stably; also where each key starts."""
    start, order = order_by_class(key, np.zeros(len(key), np.int32), keys, 1)
    return start, other[order], count[order]
