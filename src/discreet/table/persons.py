"""The persons behind the rows of a table, and one row for each of them.

The counts of classes whose members are persons with one or several rows each.

Let P be the persons with a row in a class. A requirement is judged on one of four counts:

* the number of persons;
* *touched*: how many persons of P have a value in at least one of their rows of the class;
* *mass*: every person weighs 1, spread evenly over their rows of the class; in the table that
  classes are compared with, over all their rows;
* *matched*: of the values, as many as different persons can supply, one each.

Where every person has one row, all are the counts of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, RefinedCounts, sum_counts
from discreet.table.graphs import greatest_flow
from discreet.table.kernels.lists import distinct_values
from discreet.typing import AnyInts, Codes, Floats, Ints, Ints32


class CollapseRule(StrEnum):
    """The rule by which the values of a person's rows become one."""

    SET = "set"  # all that occur
    CONSTANT = "constant"  # the one that all rows have; refused where they differ
    FIRST = "first"
    LAST = "last"
    MOST_FREQUENT = "most-frequent"  # the least of equally frequent ones
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    MEAN = "mean"
    COUNT = "count"  # of rows with a value

    @property
    def numeric(self) -> bool:
        """Whether the rule applies only to numbers."""
        return self in (CollapseRule.SUM, CollapseRule.MEAN)

    @property
    def ordered(self) -> bool:
        """Whether the rule applies only to ordered values."""
        return self in (CollapseRule.MIN, CollapseRule.MAX)


class Scope(StrEnum):
    """What is grouped where all rows of persons are published."""

    PERSONS = "persons"  # every row of a person carries the cells of the person's group
    ROWS = "rows"  # the rows of a person may be in several groups, each of enough persons


class Link(StrEnum):
    """What a release says of which rows belong to the same person."""

    NONE = "none"
    PSEUDONYM = "pseudonym"  # a random number for each person, new in every release


@dataclass(frozen=True)
class Keeping:
    """How all rows of persons are published."""

    scope: Scope = Scope.PERSONS
    link: Link = Link.NONE
    at_most: int | None = None  # published rows of a person

    @property
    def numbered(self) -> bool:
        """Whether rows carry the number of their person."""
        return self.link is Link.PSEUDONYM


@dataclass(frozen=True)
class PersonCounts:
    """The number of rows of the persons of a table."""

    rows: int
    persons: int
    most: int  # rows of one person
    unnamed: int  # rows without an identifier, each counted as a person of its own
    persons_by_rows: Mapping[str, int]  # 1, 2, 3–4, 5–8, …: persons with this many rows

    def sentence(self, place: str) -> str:
        """Return the counts, which name no person."""
        unnamed = f" {self.unnamed:,} rows have no identifier and count as a person each."
        return (
            f"The table has {self.rows:,} rows of {self.persons:,} persons by {place}; one person "
            f"has {self.most:,} rows.{unnamed if self.unnamed else ''}"
        )


@dataclass(frozen=True)
class OneRowEach:
    """The rules by which a table was reduced to one row for each person."""

    counts: PersonCounts  # of the source
    rules: Mapping[str, CollapseRule] | None = None  # by attribute; None: the source had one each
    count: str | None = None  # the attribute that is the number of a person's rows
    # (source rows,) the person of each, where this machine has read them
    person_of_row: Ints | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Persons:
    """The person of each row, numbered in the order of their first rows."""

    number: Ints  # (rows,)
    count: int
    unnamed: int

    @cached_property
    def rows_of(self) -> Ints:
        """The number of rows of each person."""
        return np.bincount(self.number, minlength=self.count)

    @property
    def counts(self) -> PersonCounts:
        """The figures for the publisher."""
        most = int(self.rows_of.max(initial=0))
        size = np.ceil(np.log2(self.rows_of)).astype(np.int64)  # 1, 2, 3–4, 5–8, …
        persons = np.bincount(size).tolist()
        by_rows = {
            f"{2**i // 2 + 1}–{2**i}" if i > 1 else f"{2**i}": of for i, of in enumerate(persons)
        }
        return PersonCounts(len(self.number), self.count, most, self.unnamed, by_rows)

    @cached_property
    def first_row(self) -> Ints:
        """The first row of each person."""
        return self.rows_in_order()[self.start]

    def take(self, rows: AnyInts) -> Persons:
        """The persons of some rows, under the same numbers."""
        return Persons(self.number[rows], self.count, self.unnamed)

    def rows_in_order(self, order: Codes | None = None) -> Ints:
        """The rows, person by person; those of one person by a column, else as in the table."""
        if order is None:
            return self._in_order
        return np.lexsort((order, self.number))

    @cached_property
    def _in_order(self) -> Ints:
        return np.argsort(self.number, kind="stable")

    @cached_property
    def start(self) -> Ints:
        """The start of each person's rows in ``rows_in_order``."""
        return np.concatenate(([0], np.cumsum(self.rows_of)[:-1])).astype(np.int64)


def persons_of(identifiers: Sequence[Column], rows: int) -> Persons:
    """Identify persons by one or several identifiers.

    A row that lacks one of them may belong to any person, so it counts as a person of its own.
    """
    classes = group_codes(
        [column.codes for column in identifiers], [c.cardinality for c in identifiers], rows
    )
    number = classes.class_of_row.astype(np.int64)
    unnamed = np.zeros(rows, bool)
    for column in identifiers:
        if column.has_null:
            unnamed |= column.codes == column.cardinality - 1
    number[unnamed] = classes.count + np.arange(int(unnamed.sum()))
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return Persons(place[number], len(first), int(unnamed.sum()))


def unique_persons(classes: Classes, persons: Persons) -> int:
    """Return how many persons have a row in a class that holds no other person."""
    pair = distinct_values(classes.class_of_row.astype(np.int64) * persons.count + persons.number)
    class_of_pair, person = np.divmod(pair, persons.count)
    alone = np.bincount(class_of_pair, minlength=classes.count)[class_of_pair] == 1
    return len(distinct_values(person[alone]))


def varying_persons(column: Column, persons: Persons) -> int:
    """Return how many persons have different values of a column; a missing value is one of them."""
    codes = column.codes[persons.rows_in_order()]
    if not persons.count:
        return 0
    low = np.minimum.reduceat(codes, persons.start)
    return int((low != np.maximum.reduceat(codes, persons.start)).sum())


def chosen_codes(
    column: Column, persons: Persons, rule: CollapseRule, order: Codes | None = None
) -> Codes:
    """The code of each person's value, by a rule that chooses among the values of their rows."""
    if not persons.count:
        return column.codes
    if rule in (CollapseRule.FIRST, CollapseRule.LAST, CollapseRule.CONSTANT):
        rows = persons.rows_in_order(order)
        last = persons.start + persons.rows_of - 1
        return column.codes[rows[last if rule is CollapseRule.LAST else persons.start]]
    if rule is CollapseRule.MOST_FREQUENT:
        return _most_frequent(column, persons)
    codes = column.codes[persons.rows_in_order()]
    if rule is CollapseRule.MIN:
        return np.minimum.reduceat(codes, persons.start)
    missing = column.cardinality - 1 if column.has_null else column.cardinality
    codes = np.maximum.reduceat(np.where(codes == missing, -1, codes), persons.start)
    return np.where(codes < 0, missing, codes).astype(np.int32)


def _most_frequent(column: Column, persons: Persons) -> Codes:
    values, in_order = column.cardinality, column.codes[persons.rows_in_order()]
    chosen: Codes = np.minimum.reduceat(in_order, persons.start)
    varies = chosen != np.maximum.reduceat(in_order, persons.start)
    rows = np.flatnonzero(varies[persons.number])
    pair, times = np.unique(persons.number[rows] * values + column.codes[rows], return_counts=True)
    person, code = np.divmod(pair, values)
    if column.has_null:
        times[code == values - 1] = 0  # a value, where there is one
    best = np.lexsort((code, -times, person))
    others = np.flatnonzero(varies)
    chosen[others] = code[best][np.searchsorted(person[best], others)]
    return chosen


def share_without(rows: Ints, with_value: Ints, dealt: Ints) -> Floats:
    """Return C(n − m, r)/C(n, r): how likely none of r rows, dealt at random, is among m of n."""
    share = np.ones(len(rows))
    order = np.argsort(-dealt, kind="stable")
    last = len(order)
    for step in range(int(dealt.max(initial=0))):
        last = int(np.searchsorted(-dealt[order[:last]], -step, side="left"))
        longer = order[:last]  # those who are dealt more than `step` rows
        left = rows[longer] - step
        share[longer] *= np.maximum(left - with_value[longer], 0) / left
    return share


# The weight of all persons together, at most: a float holds it exactly.
WEIGHT = int(1 / np.finfo(np.float64).eps)


class PersonBasis(Enum):
    """The counts that a requirement uses where persons have several rows."""

    PERSONS = auto()
    TOUCHED = auto()
    MASS = auto()
    MATCHED = auto()
    TERMS = auto()  # the cells of persons, with the terms of all their rows


def count_persons(
    classes: Classes, persons: Persons, sensitive: Sequence[Column], basis: PersonBasis
) -> ClassCounts:
    """Count the persons of every class, and their values on one basis."""
    # A member is a person in a class.
    pair = classes.class_of_row.astype(np.int64) * persons.count + persons.number
    if basis is PersonBasis.PERSONS:
        class_of_pair = distinct_values(pair) // max(persons.count, 1)
        return ClassCounts(np.bincount(class_of_pair, minlength=classes.count).astype(np.int64), {})
    member, of_row, rows = np.unique(pair, return_inverse=True, return_counts=True)
    class_of_member = (member // max(persons.count, 1)).astype(np.int32)
    size = np.bincount(class_of_member, minlength=classes.count).astype(np.int64)
    scale = _scale(rows) if basis is PersonBasis.MASS else 1
    # Each value that a member has is a touch; its weight follows from the basis.
    values = {}
    for column in sensitive:
        touch, times = np.unique(
            of_row.astype(np.int64) * column.cardinality + column.codes, return_counts=True
        )
        of_member, value = np.divmod(touch, max(column.cardinality, 1))
        if basis is PersonBasis.MASS:
            weight = _shares(of_member, times, rows, scale)
        else:
            weight = np.ones(len(touch), np.int64)
        if basis is PersonBasis.MATCHED:
            touches = _matched(class_of_member[of_member], value, of_member, column.cardinality)
            of_member, value, weight = of_member[touches], value[touches], weight[touches]
        of_class = class_of_member[of_member].astype(np.int64)
        values[column.name] = sum_counts(
            of_class, value, weight, (classes.count, column.cardinality)
        )
    # Where persons are in several classes, masses compare with the persons of the table.
    person = member % max(persons.count, 1)
    if basis is PersonBasis.MASS and len(distinct_values(person)) < len(person):
        one_class = Classes.of_numbers(np.zeros(len(persons.number), np.int32))
        whole = count_persons(one_class, persons, sensitive, basis).values
        values = {
            name: replace(counts, reference=whole[name].total) for name, counts in values.items()
        }
    return ClassCounts(size * scale, values)


def count_with_known(
    classes: Classes, persons: Persons, sensitive: Sequence[Column], basis: PersonBasis
) -> ClassCounts:
    """Count values also where the other sensitive attributes of one row of a person are known.

    A refined class has the persons of a class who have the known values in some row. All their
    rows of the class are counted: who is left has the values of any of them.
    """
    counts = count_persons(classes, persons, sensitive, basis)
    refined = {
        column.name: _refined(classes, persons, sensitive, column, basis) for column in sensitive
    }
    return ClassCounts(counts.size, counts.values, refined)


def _refined(
    classes: Classes,
    persons: Persons,
    sensitive: Sequence[Column],
    target: Column,
    basis: PersonBasis,
) -> RefinedCounts:
    others = [column for column in sensitive if column is not target]
    known = group_codes(
        [classes.class_of_row, *(column.codes for column in others)],
        [classes.count, *(column.cardinality for column in others)],
        len(target.codes),
    )
    pair = classes.class_of_row.astype(np.int64) * persons.count + persons.number
    _, member, rows = np.unique(pair, return_inverse=True, return_counts=True)
    in_order = np.argsort(member, kind="stable")
    start = np.cumsum(rows) - rows
    having = distinct_values(known.class_of_row.astype(np.int64) * len(rows) + member)
    refined, of_member = np.divmod(having, max(len(rows), 1))
    times = rows[of_member]
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    row = in_order[np.repeat(start[of_member], times) + within]
    copies = Classes.of_numbers(np.repeat(refined, times).astype(np.int32))
    counts = count_persons(copies, persons.take(row), [target.take(row)], basis)
    of_class = classes.class_of_row[known.first_row]
    return RefinedCounts(counts.values[target.name], counts.size, of_class)


def _scale(rows: Ints) -> int:
    """Return the weight of a person, so that each of the person's rows has an integer weight.

    Where that weight is too large, shares are rounded; up to four million rows, to a billionth.
    """
    most = max(WEIGHT // max(int(rows.sum()), 1), 1)
    return min(math.lcm(*np.unique(rows).tolist()), most)


def _shares(of_member: Ints, times: Ints, rows: Ints, scale: int) -> Ints:
    """The weight of each value of a member; those of a member add up to the scale."""
    before = np.cumsum(times) - times
    first = np.flatnonzero(np.diff(of_member, prepend=-1))
    offset = np.repeat(before[first], np.diff(first, append=len(of_member)))
    low, whole = before - offset, rows[of_member]
    weight: Ints = scale * (low + times) // whole - scale * low // whole
    return weight


def _matched(of_class: Ints32, value: Ints, member: Ints, cardinality: int) -> NDArray[np.intp]:
    """One touch of each value that a maximum matching gives to a person of its own."""
    class_value = of_class.astype(np.int64) * cardinality + value
    values, box = np.unique(class_value, return_inverse=True)
    members = int(member.max(initial=-1)) + 1
    first = np.searchsorted(member, np.arange(members + 1))  # touches come member by member
    one_each = np.ones(max(len(values), members), np.int64)
    flow = greatest_flow(one_each[: len(values)], one_each[:members], first, box.astype(np.int32))
    return np.flatnonzero(flow)
