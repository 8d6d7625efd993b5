"""Frequency sets: the classes of a full-domain recoding with their counts, and how to roll them up.

A frequency set of a node (one level for each quasi-identifier) says how the tuples of the
compressed table fall into classes. It keeps one representative tuple for each class, so the
classes of any higher node follow from the representatives alone: look up their values' nodes at
the new levels, pack them into a key, group equal keys. Every node is rolled up from the smallest
set that is known at or below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from discreet.methods.shared.distinct_tuples import ClassValueCounts, Compressed
from discreet.methods.shared.lattice import Node
from discreet.table.budgets import MOST_ENTRIES
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, RefinedCounts
from discreet.typing import Codes, Ints

Made = TypeVar("Made")


class FrequencySet:
    """The classes of one node: a representative tuple, the size, and counts on demand."""

    def __init__(
        self,
        table: Compressed,
        node: Node,
        tuples: Codes,
        size: Ints,
        source: FrequencySet | None = None,
        class_of_source: Codes | None = None,
    ) -> None:
        self.table = table
        self.node = node
        self.tuples = tuples  # (classes,)
        self.size = size  # (classes,)
        self._source = source
        self.class_of_source = class_of_source  # (classes of the source,)
        self._entries: dict[str | None, ClassValueCounts] = {}

    @property
    def classes(self) -> int:
        return len(self.size)

    @property
    def class_of_tuple(self) -> Codes:
        """The class of each tuple of the compressed table."""
        if self._source is None or self.class_of_source is None:
            return np.arange(self.classes, dtype=np.int32)
        return self.class_of_source[self._source.class_of_tuple]

    def roll_up(self, node: Node) -> FrequencySet:
        """The frequency set of a higher node."""
        class_of, tuples, size = self.table.group(self.tuples, self.size, node)
        return FrequencySet(self.table, node, tuples, size, self, class_of)

    def entries(self, attribute: str | None) -> ClassValueCounts:
        """The counts of an attribute's values, or (None) of all sensitive ones' combinations."""
        if attribute not in self._entries:
            if self._source is not None and self.class_of_source is not None:
                below = self._source.entries(attribute)
                entries = below.merge(self.class_of_source, self.classes)
            elif attribute is None:
                entries = self.table.signature_entries()
            else:
                entries = self.table.entries(attribute)
            self._entries[attribute] = entries
        return self._entries[attribute]

    def forget(self, attribute: str) -> None:
        """Free the counts of an attribute."""
        self._entries.pop(attribute, None)

    def counts(self, *, refined: bool = False) -> ClassCounts:
        """Return what requirements read; each attribute is counted when it is first looked at."""
        names = tuple(self.table.sensitive)
        values = OnDemand(names, lambda name: self.entries(name).by_class(self.classes))
        inner = OnDemand(names, self._refine) if refined else None
        return ClassCounts(self.size, values, inner)

    def _refine(self, attribute: str) -> RefinedCounts:
        entries = self.entries(None)
        row = self.table.signatures.first_row[entries.value]
        return refine(
            entries.of_class, row, entries.count, self.classes, self.table.sensitive, attribute
        )


def refine(
    of_class: Codes,  # (entries,)
    row: Ints,  # (entries,) a row that has the entry's sensitive values
    count: Ints,  # (entries,)
    classes: int,
    sensitive: Mapping[str, Column],
    attribute: str,
) -> RefinedCounts:
    """The counts of an attribute where all other sensitive ones are quasi-identifiers."""
    others = [column for name, column in sensitive.items() if name != attribute]
    inner = group_codes(
        [of_class, *(column.codes[row] for column in others)],
        [classes, *(column.cardinality for column in others)],
        len(row),
    )
    target = sensitive[attribute]
    size = np.bincount(inner.class_of_row, count, inner.count).astype(np.int64)
    value = target.codes[row]
    by_value = np.argsort(value, kind="stable")
    sorted_entries = ClassValueCounts(
        inner.class_of_row[by_value], value[by_value], count[by_value], target.cardinality
    )
    return RefinedCounts(sorted_entries.by_class(inner.count), size, of_class[inner.first_row])


class OnDemand(Mapping[str, Made]):
    """A mapping whose values are made when they are first looked at."""

    def __init__(self, names: Sequence[str], make: Callable[[str], Made]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class FrequencySets:
    """The frequency sets of all nodes, each rolled up from the smallest known one below."""

    def __init__(self, table: Compressed) -> None:
        bottom = (0,) * len(table.hierarchies)
        tuples = np.arange(table.tuples, dtype=np.int32)
        first = FrequencySet(table, bottom, tuples, table.classes.size)
        self.bottom = first
        self._known = [first]
        self._by_node = {bottom: first}
        self._levels = np.zeros((len(bottom), 64), np.int16)  # (q, known and room for more)
        self._classes = np.full(64, table.tuples)  # (known and room for more,)
        self._room = MOST_ENTRIES - table.tuples

    def __getitem__(self, node: Node) -> FrequencySet:
        known = self._by_node.get(node)
        if known is None:
            known = self._nearest(node).roll_up(node)
            if known.classes <= self._room:
                self._keep(known)
        return known

    def forget(self, attribute: str) -> None:
        """Free the counts of an attribute, which is not needed again soon."""
        for known in self._known:
            known.forget(attribute)

    def _nearest(self, node: Node) -> FrequencySet:
        known = len(self._known)
        highest = np.array(node, np.int16)[:, None]
        below = (self._levels[:, :known] <= highest).all(axis=0)
        return self._known[int(np.where(below, self._classes[:known], 2**62).argmin())]

    def _keep(self, rolled: FrequencySet) -> None:
        known = len(self._known)
        if known == len(self._classes):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)], axis=1)
            self._classes = np.concatenate([self._classes, np.zeros_like(self._classes)])
        self._levels[:, known] = rolled.node
        self._classes[known] = rolled.classes
        self._known.append(rolled)
        self._by_node[rolled.node] = rolled
        self._room -= rolled.classes
