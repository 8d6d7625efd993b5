"""The counts that decide every class model: for every class, how often each value occurs.

Counts are sparse, because a class holds few of a large attribute's values: the values of class
``c`` are ``value[start[c]:start[c + 1]]``, ascending, with their counts beside them.

Secret entropy: the source of the order of published rows and of the numbers of groups.

A seed can be guessed, and an attacker who guesses it could draw the same order again and so put
every published row back in its place in the source. So no order and no group number depends on the
seed: it makes the method reproducible and nothing else.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from discreet.table.budgets import IN_CACHE
from discreet.table.classes import Classes, group_codes, pack_keys
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import stable_order, starts_of
from discreet.typing import AnyInts, Bools, Codes, Floats, Ints, Ints32

Key = TypeVar("Key")
Number = TypeVar("Number", int, float)

SPARSE = 8  # cells for each entry, above which entries are sorted
FEWEST = 64  # entries for each descent, from which on runs of ascending ones are merged


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often each value of one attribute occurs in each class."""

    start: Ints  # (classes + 1,)
    value: Ints32  # (entries,) ascending within a class
    count: Ints  # (entries,) above 0
    cardinality: int  # of the attribute's dictionary
    # (values,) how often each value occurs in the table, where these classes are not all of it
    reference: Ints | None = None

    @classmethod
    def of_table(cls, counted: Ints, column: Column) -> ValueCounts:
        """The counts of some classes, of which a table (classes, values) has a line each."""
        of_class, value = np.nonzero(counted)
        start = starts_of(np.bincount(of_class, minlength=len(counted)))
        count = counted[of_class, value]
        return cls(start, value.astype(np.int32), count, column.cardinality, column.reference)

    @property
    def classes(self) -> int:
        return len(self.start) - 1

    @cached_property
    def class_of_entry(self) -> Ints:
        return np.repeat(np.arange(self.classes), np.diff(self.start))

    @cached_property
    def one_each(self) -> bool:
        """Whether every class has one entry: entry i is then that of class i."""
        return len(self.value) == self.classes and bool((np.diff(self.start) == 1).all())

    @cached_property
    def total(self) -> Ints:
        """How often each value occurs in the table: the reference distribution.

        The counts of all classes together, unless a reference was given.
        """
        if self.reference is not None:
            return self.reference
        return np.bincount(self.value, self.count, self.cardinality).astype(np.int64)

    def grouped(self, node_of_value: Ints32, nodes: int) -> ValueCounts:
        """The counts where values of one node are one value."""
        reference = None
        if self.reference is not None:
            reference = np.bincount(node_of_value, self.reference, nodes).astype(np.int64)
        node = node_of_value[self.value]
        shape = (self.classes, nodes)
        return sum_counts(self.class_of_entry, node, self.count, shape, reference)

    def keep(self, mask: Bools) -> ValueCounts:
        """The counts of some classes alone, renumbered in order; they are then the table."""
        entries = mask[self.class_of_entry]
        lengths = np.diff(self.start)[mask]
        start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        return ValueCounts(start, self.value[entries], self.count[entries], self.cardinality)


@dataclass(frozen=True, eq=False)
class RefinedCounts:
    """The counts of one attribute where all other sensitive ones count as quasi-identifiers."""

    counts: ValueCounts  # by refined class
    size: Ints  # (refined classes,)
    class_of_refined: Ints32  # (refined classes,) the class that each lies in


# By attacker, known attribute and harmless values; None for an attacker who is not known.
KeptCounts = Callable[[str, str, Sequence[str | None]], Mapping[str, Floats] | None]


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """The size of every class and, for each sensitive attribute, its value counts.

    ``refined`` is None unless it was requested: multi-attribute ℓ-diversity needs it. The
    cells of quasi-sensitive attributes, sets of terms, are counted apart in ``sets``.
    """

    size: Ints  # (classes,)
    values: Mapping[str, ValueCounts]
    refined: Mapping[str, RefinedCounts] | None = None
    # By attacker and known attribute, then by attribute: the least number of values that remain
    # possible in each class. Only a decomposed release has these.
    values_left: KeptCounts | None = None
    sets: Mapping[str, ValueCounts] = field(default_factory=dict)
    real: Ints | None = None  # (classes,) where some rows are counterfeits: the others
    # (classes + 1,) where a population is given: its persons whom the cells of each class cover,
    # and last those whom no class does
    population: Ints | None = None
    weight: Floats | None = None  # (classes,) the sum of sampling weights

    @property
    def members(self) -> Ints:
        """How many rows of every class are about a person: all but the counterfeits."""
        return self.size if self.real is None else self.real

    @property
    def classes(self) -> int:
        return len(self.size)

    @property
    def rows(self) -> int:
        return int(self.size.sum())

    def single_rows(self, attribute: str) -> Iterator[ClassCounts]:
        """The finest partition: a class of one row for each value, in chunks; the same reference.

        Classes of one row with the same value have the same counts, so one represents all.
        """
        if not attribute:
            yield ClassCounts(np.ones(1, np.int64), {})
            return
        counts = self.sets[attribute] if attribute in self.sets else self.values[attribute]
        occurring = np.flatnonzero(counts.total).astype(np.int32)
        for begin in range(0, len(occurring), IN_CACHE):
            value = occurring[begin : begin + IN_CACHE]
            ones = np.ones(len(value), np.int64)
            start = np.arange(len(value) + 1)
            single = ValueCounts(start, value, ones, counts.cardinality, counts.total)
            refined = RefinedCounts(single, ones, np.arange(len(value), dtype=np.int32))
            by_name = {attribute: single}
            # who knows the other attributes of a single row is left with its own value
            alone = {attribute: np.ones(len(value))}
            remaining = None if self.values_left is None else lambda *_, alone=alone: alone
            yield ClassCounts(ones, by_name, {attribute: refined}, remaining, by_name)

    def keep(self, mask: Bools) -> ClassCounts:
        """The counts of some classes alone, as if the others had been suppressed."""
        refined = None
        if self.refined is not None:
            number = np.cumsum(mask) - 1
            refined = {}
            for name, inner in self.refined.items():
                refined_mask = mask[inner.class_of_refined]
                refined[name] = RefinedCounts(
                    inner.counts.keep(refined_mask),
                    inner.size[refined_mask],
                    number[inner.class_of_refined[refined_mask]].astype(np.int32),
                )
        values = {name: counts.keep(mask) for name, counts in self.values.items()}
        sets = {name: counts.keep(mask) for name, counts in self.sets.items()}
        weight = None if self.weight is None else self.weight[mask]
        population = None if self.population is None else self.population[np.append(mask, True)]
        return ClassCounts(
            self.size[mask], values, refined, sets=sets, population=population, weight=weight
        )


def count_classes(
    classes: Classes,
    sensitive: Sequence[Column],
    *,
    refined: bool = False,
    quasi_sensitive: Sequence[Column] = (),
) -> ClassCounts:
    """Count the sensitive values of every class, and its sets of quasi-sensitive terms."""
    values = {column.name: count_values(classes, column) for column in sensitive}
    inner = {c.name: _refine(classes, sensitive, c) for c in sensitive} if refined else None
    sets = {column.name: count_values(classes, column) for column in quasi_sensitive}
    return ClassCounts(classes.size, values, inner, sets=sets)


def summed_weights(table: CodedTable, classes: Classes) -> Floats | None:
    """(classes,) The sum of the sampling weights of each class; None without weights."""
    weights = table.sampling_weights
    if weights is None:
        return None
    return np.bincount(classes.class_of_row, weights, classes.count).astype(np.float64)


def count_values(classes: Classes, column: Column) -> ValueCounts:
    """Count the values of one attribute in every class."""
    shape = (classes.count, column.cardinality)
    key, _ = pack_keys([classes.class_of_row, column.codes], shape, len(column.codes))
    return _sum_keys(key, column.weights, shape, column.total)


def sum_counts(
    of_class: Ints, value: Codes, count: Ints, shape: tuple[int, int], reference: Ints | None = None
) -> ValueCounts:
    """Add the counts of entries with the same class and value; there are ``shape`` of both.

    Counts below 0 take others away; what sums to 0 is left out.
    """
    return _sum_keys(of_class * shape[1] + value, count, shape, reference)


def _sum_keys(
    key: Ints, count: Ints | None, shape: tuple[int, int], reference: Ints | None
) -> ValueCounts:
    """The same where class and value are packed into a key; None counts each entry once."""
    classes, cardinality = shape
    if classes * cardinality <= SPARSE * len(key):
        weights = None if count is None or (count == 1).all() else count
        sums = np.bincount(key, weights, classes * cardinality)
        keys = np.flatnonzero(sums != 0)
        sums = sums[keys]
    else:
        count = np.ones(len(key), np.int64) if count is None else count
        order = order_of_keys(key, classes * cardinality)
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        keys = key[first]
        sums = np.add.reduceat(count[order], first) if len(first) else count
        if not sums.all():
            keys, sums = keys[sums != 0], sums[sums != 0]
    start = np.searchsorted(keys, np.arange(classes + 1) * cardinality)
    value = (keys % cardinality).astype(np.int32)
    return ValueCounts(start, value, sums.astype(np.int64), cardinality, reference)


# Compiled: one step for each row and each set of columns, 5·10¹⁰ for 3 of 150.
@kernel
def count_cells(key: Ints, bound: int, cells: AnyInts, widths: Ints, counted: Ints) -> None:
    """Count the rows with each cell of a column and each key, for one column after the other."""
    begin = 0
    for number in range(len(widths)):
        cell = cells[number]
        for row in range(len(key)):
            counted[begin + np.int64(cell[row]) * bound + key[row]] += 1
        begin += bound * widths[number]


def summed(first: Mapping[Key, Number], second: Mapping[Key, Number]) -> dict[Key, Number]:
    """Add the numbers of two parts, key by key."""
    keys = dict.fromkeys([*first, *second])
    return {key: first.get(key, 0) + second.get(key, 0) for key in keys}


def order_of_keys(key: Ints, bound: int) -> Ints:
    """Return the order that sorts keys; those with few descents are merged in one pass."""
    if FEWEST * np.count_nonzero(key[1:] < key[:-1]) < len(key):
        return np.argsort(key, kind="stable")
    return stable_order(key, bound)


def order_by_class(
    of_class: Ints32, value: Ints32, classes: int, cardinality: int
) -> tuple[Ints, Ints]:
    """Return the start of each class, and the order that sorts entries by class, then by value."""
    by_value = stable_order(value, cardinality)
    order = by_value[stable_order(of_class[by_value], classes)]
    return starts_of(np.bincount(of_class, minlength=classes)), order


def _refine(classes: Classes, sensitive: Sequence[Column], target: Column) -> RefinedCounts:
    others = [column for column in sensitive if column is not target]
    inner = group_codes(
        [classes.class_of_row, *(column.codes for column in others)],
        [classes.count, *(column.cardinality for column in others)],
        len(target.codes),
        target.weights,
    )
    of_refined = classes.class_of_row[inner.first_row]
    return RefinedCounts(count_values(inner, target), inner.size, of_refined)


FIXED_ORDER = "DISCREET_INSECURE_FIXED_ORDER"
WARNING = (
    f"{FIXED_ORDER} is set: orders and group numbers follow from the seed, and an attacker who "
    "guesses it can restore the order of the source. For tests only; never publish such a release."
)


def fixed_order() -> bool:
    """Return whether orders follow from the seed, as tests of exact files need it."""
    return os.environ.get(FIXED_ORDER) == "1"


def secret_generator() -> np.random.Generator:
    """A generator that cannot be repeated: Philox with 128 bits of the system's entropy."""
    return np.random.Generator(np.random.Philox(key=secrets.randbits(128)))
