"""The counts of classes whose members are persons with one or several rows each.

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
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, RefinedCounts, sum_counts
from discreet.table.graphs import greatest_flow
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Persons

WEIGHT = 2**52  # of all persons together, at most: a float holds it exactly


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


def _scale(rows: NDArray[np.int64]) -> int:
    """Return the weight of a person, so that each of the person's rows has an integer weight.

    Where that weight is too large, shares are rounded; up to four million rows, to a billionth.
    """
    most = max(WEIGHT // max(int(rows.sum()), 1), 1)
    return min(math.lcm(*np.unique(rows).tolist()), most)


def _shares(
    of_member: NDArray[np.int64],
    times: NDArray[np.int64],
    rows: NDArray[np.int64],
    scale: int,
) -> NDArray[np.int64]:
    """The weight of each value of a member; those of a member add up to the scale."""
    before = np.cumsum(times) - times
    first = np.flatnonzero(np.diff(of_member, prepend=-1))
    offset = np.repeat(before[first], np.diff(first, append=len(of_member)))
    low, whole = before - offset, rows[of_member]
    weight: NDArray[np.int64] = scale * (low + times) // whole - scale * low // whole
    return weight


def _matched(
    of_class: NDArray[np.int32],
    value: NDArray[np.int64],
    member: NDArray[np.int64],
    cardinality: int,
) -> NDArray[np.intp]:
    """One touch of each value that a maximum matching gives to a person of its own."""
    class_value = of_class.astype(np.int64) * cardinality + value
    values, box = np.unique(class_value, return_inverse=True)
    members = int(member.max(initial=-1)) + 1
    first = np.searchsorted(member, np.arange(members + 1))  # touches come member by member
    one_each = np.ones(max(len(values), members), np.int64)
    flow = greatest_flow(one_each[: len(values)], one_each[:members], first, box.astype(np.int32))
    return np.flatnonzero(flow)
