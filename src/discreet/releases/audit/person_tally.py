"""The persons of every class counted from published rows, apart from the code of the methods.

A method judges persons by ``table.person_counts``. What the audit believes is counted here anew,
from the pairs of rows and persons: by groups of Polars, and by a matching of its own for the values
that different persons can supply. An error in one of the two makes them differ, and the release
fails.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts
from discreet.table.person_counts import WEIGHT, PersonBasis
from discreet.typing import Bools, Ints

CLASS, OF, VALUE, TIMES, WHOLE = "class", "person", "value", "times", "whole"


def judge_persons(
    requirement: Requirement,
    of_class: NDArray[np.integer],  # (rows,) from 0 without gaps
    person: NDArray[np.integer],  # (rows,)
    sensitive: Sequence[Column],
    domains: Domains,
) -> Verdict:
    """Judge a requirement on the persons of every class."""
    basis = requirement.person_basis
    if basis is None:
        raise ValueError(f"{requirement.name} cannot be judged on persons")
    counts = tally_persons(of_class, person, sensitive, basis)
    if requirement.needs_refined_counts:
        refined = {c.name: _known(of_class, person, sensitive, c, basis) for c in sensitive}
        counts = replace(counts, refined=refined)
    return requirement.full_check(counts, domains)


def tally_persons(
    of_class: NDArray[np.integer],
    person: NDArray[np.integer],
    sensitive: Sequence[Column],
    basis: PersonBasis,
) -> ClassCounts:
    """Count the persons of every class, and their values on one basis."""
    pairs = pl.DataFrame({CLASS: of_class.astype(np.int64), OF: person.astype(np.int64)})
    persons = pairs.unique().group_by(CLASS).len("size").sort(CLASS)
    size = persons["size"].to_numpy().astype(np.int64)
    if basis is PersonBasis.PERSONS:
        return ClassCounts(size, {})
    whole, scale = pairs, 1
    if basis is PersonBasis.MASS:
        whole = pairs.group_by(CLASS, OF).len(WHOLE).cast(pl.Int64)
        scale = _scale(whole[WHOLE])
    values = {}
    for column in sensitive:
        rows = pairs.with_columns(pl.Series(VALUE, column.codes.astype(np.int64)))
        touched = rows.group_by(CLASS, OF, VALUE).len(TIMES).cast(pl.Int64)
        if basis is PersonBasis.MASS:
            found = _mass(touched.join(whole, on=[CLASS, OF]), scale)
        elif basis is PersonBasis.TOUCHED:
            found = touched.group_by(CLASS, VALUE).len("count")
        else:
            found = _matched(touched)
        values[column.name] = _counts(found, len(size), column.cardinality)
    if basis is PersonBasis.MASS and int(size.sum()) > pairs[OF].n_unique():
        # some persons are in several classes; in the table that classes are compared with, each
        # weighs 1
        whole_table = np.zeros(len(person), np.int64)
        table = tally_persons(whole_table, person, sensitive, basis).values
        values = {name: replace(own, reference=table[name].total) for name, own in values.items()}
    return ClassCounts(size * scale, values)


def _known(
    of_class: NDArray[np.integer],
    person: NDArray[np.integer],
    sensitive: Sequence[Column],
    target: Column,
    basis: PersonBasis,
) -> RefinedCounts:
    """Count all rows of the persons who have the same other values in some row of a class."""
    others = {f"known {n}": c.codes for n, c in enumerate(sensitive) if c is not target}
    rows = pl.DataFrame({CLASS: of_class.astype(np.int64), OF: person.astype(np.int64), **others})
    having = rows.unique()
    known = having.select(CLASS, *others).unique().sort(CLASS, *others).with_row_index("refined")
    who = having.join(known, on=[CLASS, *others]).select("refined", CLASS, OF)
    own = rows.select(CLASS, OF, pl.Series(VALUE, target.codes))
    every = who.join(own, on=[CLASS, OF])
    column = replace(target, codes=every[VALUE].to_numpy())
    found = tally_persons(every["refined"].to_numpy(), every[OF].to_numpy(), [column], basis)
    of_refined = known[CLASS].to_numpy().astype(np.int32)
    return RefinedCounts(found.values[target.name], found.size, of_refined)


def _scale(rows: pl.Series) -> int:
    """The weight of a person: a multiple of every number of rows, or as large as a float holds."""
    return min(math.lcm(*rows.unique().to_list()), max(WEIGHT // max(int(rows.sum()), 1), 1))


def _mass(touched: pl.DataFrame, scale: int) -> pl.DataFrame:
    """The weight of each value: every person has the same, spread over their rows of the class.

    Shares that are no whole number are rounded so that those of a person add up: each is the
    difference of two rounded sums.
    """
    upto = pl.col(TIMES).cum_sum().over([CLASS, OF])
    ends = touched.sort(CLASS, OF, VALUE).with_columns(upto.alias("upto"))
    before = pl.col("upto") - pl.col(TIMES)
    share = (pl.col("upto") * scale) // pl.col(WHOLE) - (before * scale) // pl.col(WHOLE)
    return ends.group_by(CLASS, VALUE).agg(share.sum().alias("count")).filter(pl.col("count") > 0)


def _matched(touched: pl.DataFrame) -> pl.DataFrame:
    """Once each value that a greatest matching gives to a person of its own.

    No class can supply more values than it has, or persons. Where that bound is least lies the
    worst class, so a class that reaches it by simple choices decides nothing; the others are
    matched exactly. The worst figure, and whether all classes reach a given one, are exact.
    """
    box, owner = (_numbered(touched[CLASS], touched[side]) for side in (VALUE, OF))
    edges = touched.select(CLASS, VALUE, pl.Series("box", box), pl.Series("owner", owner))
    given = _greedy(box, owner)
    nodes = edges.select(CLASS, VALUE, "box").unique().sort("box")
    of_class = nodes[CLASS].to_numpy()
    classes = int(of_class.max()) + 1 if len(of_class) else 0
    owners = edges.select(CLASS, "owner").unique()[CLASS].to_numpy()
    most = np.minimum(
        np.bincount(of_class, minlength=classes), np.bincount(owners, minlength=classes)
    )
    open_ = np.bincount(of_class, given, classes) < (most.min() if classes else 0)
    unsure = pl.Series(open_)[edges[CLASS]] if classes else pl.Series([], dtype=pl.Boolean)
    sets = edges.filter(unsure).group_by(CLASS, "box").agg(pl.col("owner").sort())
    by_class: dict[int, dict[int, list[int]]] = {}
    for number, value, holders in sets.iter_rows():
        by_class.setdefault(number, {})[value] = holders
    for owners_of in by_class.values():
        given[list(owners_of)] = False
        given[supplied_values(owners_of)] = True
    found = nodes.filter(pl.Series(given)).select(CLASS, VALUE)
    return found.with_columns(pl.lit(1, pl.Int64).alias("count"))


def _numbered(of_class: pl.Series, member: pl.Series) -> Ints:
    """Number the pairs of classes and members from 0 without a gap."""
    most = int(member.to_numpy().max(initial=0)) + 1
    return np.unique(of_class.to_numpy() * most + member.to_numpy(), return_inverse=True)[1]


def _greedy(box: Ints, owner: Ints) -> Bools:
    """Which values find an owner if all choose at once, and those in the way choose again."""
    given = np.zeros(int(box.max(initial=-1)) + 1, bool)
    taken = np.zeros(int(owner.max(initial=-1)) + 1, bool)
    order = np.lexsort((np.bincount(box)[box], owner)) if len(box) else np.zeros(0, np.int64)
    box, owner = box[order], owner[order]  # each owner's rarest value first
    while len(box):
        wish = np.unique(owner, return_index=True)[1]
        chosen = wish[np.unique(box[wish], return_index=True)[1]]
        given[box[chosen]] = True
        taken[owner[chosen]] = True
        free = ~given[box] & ~taken[owner]
        box, owner = box[free], owner[free]
    return given


def supplied_values(owners_of: Mapping[int, Sequence[int]]) -> list[int]:
    """The values that different persons can supply, one each, as many as possible.

    A value with at least as many owners as there are values always finds one at last, so only the
    others are matched, each by a path that gives earlier values other owners.
    """
    every = len(owners_of)
    rare = {value: owners for value, owners in owners_of.items() if len(owners) < every}
    value_of: dict[int, int] = {}  # by person
    for value in sorted(rare, key=lambda value: len(rare[value])):
        _give_owner(value, rare, value_of)
    return [value for value in owners_of if value not in rare] + list(value_of.values())


def _give_owner(
    value: int, owners_of: Mapping[int, Sequence[int]], value_of: dict[int, int]
) -> None:
    """Find an owner by breadth first; the owners on the way each pass their value on."""
    came_from: dict[int, int] = {}  # by person: the value that asks
    waiting = [value]
    for asking in waiting:
        for owner in owners_of[asking]:
            if owner in came_from:
                continue
            came_from[owner] = asking
            if owner in value_of:
                waiting.append(value_of[owner])
                continue
            holder = {given: person for person, given in value_of.items()}
            free: int | None = owner
            while free is not None:
                asked = came_from[free]
                value_of[free], free = asked, holder.get(asked)
            return


def _counts(found: pl.DataFrame, classes: int, cardinality: int) -> ValueCounts:
    """Sparse counts, class by class."""
    found = found.sort(CLASS, VALUE)
    of_class: Ints = found[CLASS].to_numpy()
    start = np.searchsorted(of_class, np.arange(classes + 1)).astype(np.int64)
    value = found[VALUE].to_numpy().astype(np.int32)
    return ValueCounts(start, value, found["count"].to_numpy().astype(np.int64), cardinality)
