"""Mondrian: the table is cut in ever smaller parts as long as all of them keep the promise.

LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity"; the cuts of attributes
with a hierarchy after their "Workload-aware anonymization".

=============================  ================================================================
papers                         here
=============================  ================================================================
multidimensional region        a part: a range of units (``partitioning``)
allowable cut                  every piece passes ``Requirement.passes`` for every requirement
strict, relaxed partitioning   ``cuts: strict`` (units are distinct tuples), ``relaxed`` (rows)
choose_dimension               widest first, by the share of the domain that the part spans
summary statistic              ``tightening``: lowest common ancestor, closed range, or set
=============================  ================================================================

Departures. (1) Parts are cut in rounds, all open ones at once, so that requirements judge the
pieces of a round together on their counts: no requirement is written twice, and any class
requirement can be asked for. Those that compare with the table are given the table's own counts as
reference. (2) A table is first compressed to its distinct tuples; strict cuts never tear one, so
after that the number of rows does not matter. (3) A hierarchy is cut at the children of the lowest
common ancestor; children that fail alone are pooled into one piece, and if the pool fails too,
passing children join it, the smallest first, twice as many each time. So one small child does not
forbid a cut. (4) A numeric cut that is not allowed is tried once more on the other side of the
median. (5) Missing values are first cut apart from numbers. (6) Widths: a hierarchy's loss of the
common ancestor; for numbers their range over the table's; for text without a hierarchy the span in
the order of the dictionary over all values.

Every cut only ever splits, so at the end no part can be cut by the cuts that are tried. All
classes are judged once more before they are returned.

Cost: O(distinct tuples · attributes · depth); depth is about log2(tuples / k).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.algorithms.frequency_sets import OnDemand, refine
from discreet.algorithms.infeasibility import infeasible
from discreet.algorithms.method import Generalized, Method, Task
from discreet.algorithms.partitioning import (
    Attributes,
    Pieces,
    count_pieces,
    measure_parts,
    propose_cuts,
    put_failing_last,
)
from discreet.algorithms.tightening import require_one_meaning, tightened
from discreet.data.classes import Classes, classes_of
from discreet.data.counts import ClassCounts, RefinedCounts, ValueCounts, count_values
from discreet.data.table import CodedTable, Codes, Column
from discreet.errors import InputError
from discreet.hierarchies.hierarchy import Hierarchy, Level

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Mondrian(Method):
    """Cut the table in ever smaller parts as long as every part meets all requirements."""

    name: ClassVar[str] = "mondrian"

    cuts: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="Whether people with the same value stay on one side of a numeric cut.",
    )
    cells: Literal["free", "levels"] = Field(
        default="free",
        description="Whether attributes without a hierarchy are published as ranges and sets, or "
        "every cell is a label of a hierarchy's level; hierarchies are then built where the job "
        "gives none.",
    )

    @property
    def needs_hierarchies(self) -> bool:
        return self.cells == "levels"

    def run(self, task: Task) -> Generalized:
        """The classes, or InfeasibleError where not even the whole table passes."""
        table = task.table
        if not table.rows:
            raise InputError("mondrian: the table has no rows. Give it at least one.")
        columns = table.quasi_identifiers
        hierarchies = {
            c.name: task.hierarchies[c.name] for c in columns if c.name in task.hierarchies
        }
        for hierarchy in hierarchies.values():
            require_one_meaning(hierarchy)
        torn = self.cuts == "relaxed" and len(hierarchies) < len(columns)
        units = Units(table, torn=torn)
        attributes = flattened(columns, hierarchies, units.codes)
        judge = Judge(task, units)
        start, order = partition(units, attributes, judge, task, split_ties=units.torn)
        class_of_unit = np.empty(units.count, np.int32)
        class_of_unit[order] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        cells = {
            column.name: tightened(
                column, hierarchies.get(column.name), units.codes[number][order], start
            )
            for number, column in enumerate(columns)
        }
        facts: dict[str, Any] = {"partitions": len(start) - 1}
        if self.cells == "levels":
            facts["hierarchies"] = {name: _said(h.place) for name, h in hierarchies.items()}
        return Generalized(class_of_unit[units.of_row], cells, facts)


def _said(place: str) -> str:
    """What a release may say of where a hierarchy comes from: no path of this machine."""
    path = PurePath(place)
    return path.name if path.is_absolute() or ".." in path.parts else place


class Units:
    """What is never torn: the distinct tuples of quasi-identifiers, or (``torn``) single rows."""

    def __init__(self, table: CodedTable, *, torn: bool) -> None:
        self.torn = torn
        self.sensitive = {column.name: column for column in table.sensitive}
        self.rows = table.rows
        columns = table.quasi_identifiers
        self._classes = _single_rows(table.rows) if torn else classes_of(columns, table.rows)
        chosen = self._classes.first_row
        self.codes: Codes = np.empty((len(columns), len(chosen)), np.int32)
        for number, column in enumerate(columns):
            self.codes[number] = column.codes if torn else column.codes[chosen]

    @property
    def count(self) -> int:
        return self._classes.count

    @property
    def of_row(self) -> NDArray[np.int32]:
        return self._classes.class_of_row

    @property
    def weight(self) -> Numbers:
        return self._classes.size

    def values(self, column: Column) -> ValueCounts:
        """A sensitive attribute's counts by unit."""
        if not self.torn:
            return count_values(self._classes, column)
        ones = np.ones(self.rows, np.int64)
        return ValueCounts(np.arange(self.rows + 1), column.codes, ones, column.cardinality)

    @cached_property
    def signatures(self) -> Classes:
        """The distinct combinations of all sensitive values."""
        return classes_of(list(self.sensitive.values()), self.rows)

    def signature_values(self) -> ValueCounts:
        """The counts of those combinations by unit."""
        column = next(iter(self.sensitive.values()))
        found = self.signatures
        text = column.text.head(0).extend_constant("", found.count)
        combined = Column("", column.role, column.type, found.class_of_row, text, text)
        return self.values(combined)


def _single_rows(rows: int) -> Classes:
    return Classes(np.arange(rows, dtype=np.int32), np.arange(rows), np.ones(rows, np.int64))


class Judge:
    """Which ranges of units meet all requirements."""

    def __init__(self, task: Task, units: Units) -> None:
        self.requirements = tuple(task.requirements)
        self.domains = task.domains
        self.least = max((r.least_rows for r in self.requirements), default=1)
        self._units = units
        self._by_unit: dict[str | None, ValueCounts] = {}
        self._refined = any(r.needs_refined_counts for r in self.requirements)

    def passes(self, order: Codes, start: Numbers, end: Numbers, size: Numbers) -> Mask:
        """Which of some pieces pass."""
        counts = self.counts(order, start, end, size)
        passes = np.ones(len(start), bool)
        for requirement in self.requirements:
            passes &= requirement.passes(counts, self.domains)
        return passes

    def counts(self, order: Codes, start: Numbers, end: Numbers, size: Numbers) -> ClassCounts:
        """The counts of some pieces, each attribute's when it is first looked at."""
        names = tuple(self._units.sensitive)

        def count(name: str | None) -> ValueCounts:
            by_unit = self._of_unit(name)
            found = count_pieces(
                order, start, end, by_unit.start, by_unit.value, by_unit.count, by_unit.cardinality
            )
            reference = None if name is None else self._units.sensitive[name].counts
            return ValueCounts(*found, by_unit.cardinality, reference)

        def refined(name: str) -> RefinedCounts:
            entries = count(None)
            row = self._units.signatures.first_row[entries.value]
            of_class = entries.class_of_entry.astype(np.int32)
            return refine(of_class, row, entries.count, len(start), self._units.sensitive, name)

        inner = OnDemand(names, refined) if self._refined else None
        return ClassCounts(size, OnDemand(names, count), inner)

    def _of_unit(self, name: str | None) -> ValueCounts:
        if name not in self._by_unit:
            units = self._units
            self._by_unit[name] = (
                units.signature_values() if name is None else units.values(units.sensitive[name])
            )
        return self._by_unit[name]


def flattened(
    columns: Sequence[Column], hierarchies: Mapping[str, Hierarchy], codes: Codes
) -> Attributes:
    """The quasi-identifiers as the kernels read them."""
    key = codes
    levels, null_key, position_at, level_at = (np.zeros(len(columns), np.int64) for _ in range(4))
    null_key -= 1
    single_top = np.zeros(len(columns), bool)
    positions = [np.zeros(0)]
    of_level: list[Level] = []
    for number, column in enumerate(columns):
        position_at[number] = sum(len(part) for part in positions)
        level_at[number] = len(of_level)
        hierarchy = hierarchies.get(column.name)
        if hierarchy is not None:
            levels[number] = len(hierarchy.levels)
            single_top[number] = hierarchy.levels[-1].nodes == 1
            of_level += hierarchy.levels
            continue
        rank_of_code, position = _line(column)
        positions.append(position)
        if column.numbers is not None and column.has_null:
            null_key[number] = len(position) - 1
        if len(position) < column.cardinality:  # numbers written in several ways
            key = key.copy() if key is codes else key
            key[number] = rank_of_code[codes[number]]
    return Attributes(
        key,
        levels,
        null_key,
        position_at,
        np.concatenate(positions),
        level_at,
        _offsets([len(level.node_of_leaf) for level in of_level]),
        _offsets([level.nodes for level in of_level]),
        single_top,
        np.concatenate([np.zeros(0, np.int32), *(level.node_of_leaf for level in of_level)]),
        np.concatenate([np.zeros(0), *(level.loss for level in of_level)]),
    )


def _offsets(lengths: Sequence[int]) -> Numbers:
    return np.cumsum([0, *lengths])[:-1].astype(np.int64)


def _line(column: Column) -> tuple[Codes, NDArray[np.float64]]:
    """The rank of each code, equal for equal numbers, and the position of each rank in [0, 1].

    A missing value has the last rank and no place on the line.
    """
    if column.numbers is None:
        codes = np.arange(column.cardinality, dtype=np.int32)
        return codes, codes / max(column.cardinality - 1, 1)
    numbers = column.numbers
    starts = np.diff(numbers, prepend=np.nan) != 0  # a missing number equals none
    distinct = numbers[starts]
    known = distinct[~np.isnan(distinct)]
    position = np.zeros(len(distinct))
    if len(known) > 1:
        position[: len(known)] = (known - known[0]) / (known[-1] - known[0])
    return (np.cumsum(starts) - 1).astype(np.int32), position


@dataclass(frozen=True, eq=False)
class _Parts:
    """Open parts: their ranges, and what is known for cutting them."""

    start: Numbers
    end: Numbers
    size: Numbers
    by_width: Codes  # (parts, attributes)
    level: Codes  # (parts, attributes)
    attempt: Numbers

    @staticmethod
    def of(
        order: Codes,
        start: Numbers,
        end: Numbers,
        weight: Numbers,
        attributes: Attributes,
        least: int,
    ) -> _Parts:
        size, by_width, level = measure_parts(order, start, end, weight, attributes, least)
        return _Parts(start, end, size, by_width, level, np.zeros(len(start), np.int64))

    def take(self, chosen: NDArray[Any]) -> _Parts:
        return _Parts(
            self.start[chosen],
            self.end[chosen],
            self.size[chosen],
            self.by_width[chosen],
            self.level[chosen],
            self.attempt[chosen],
        )

    def with_others(self, others: _Parts) -> _Parts:
        return _Parts(
            np.concatenate((self.start, others.start)),
            np.concatenate((self.end, others.end)),
            np.concatenate((self.size, others.size)),
            np.concatenate((self.by_width, others.by_width)),
            np.concatenate((self.level, others.level)),
            np.concatenate((self.attempt, others.attempt)),
        )


def partition(
    units: Units, attributes: Attributes, judge: Judge, task: Task, *, split_ties: bool
) -> tuple[Numbers, Codes]:
    """Cut until no cut is allowed: where each class starts, in an order of the units."""
    order = np.arange(units.count, dtype=np.int32)
    weight = units.weight
    whole = np.array([0]), np.array([units.count])
    parts = _Parts.of(order, *whole, weight, attributes, judge.least)
    if not judge.passes(order, *whole, parts.size).all():
        raise infeasible(
            "mondrian: no partition meets the requirements, not even the whole table as one class",
            judge.requirements,
            judge.counts(order, *whole, parts.size),
            judge.domains,
            "Ask for no more than that.",
        )
    starts = []
    closed = 0
    while len(parts.start):
        pieces = propose_cuts(
            order, parts.start, parts.end, parts.size, parts.by_width, parts.level,
            parts.attempt, weight, attributes, judge.least, split_ties,
        )  # fmt: skip
        stuck = np.diff(pieces.first) == 0
        starts.append(parts.start[stuck])
        closed += int((parts.end - parts.start)[stuck].sum())
        parts = parts.take(~stuck)
        pieces = pieces._replace(first=np.unique(pieces.first))
        start, end, allowed = _allowed_cuts(order, pieces, parts, attributes, judge)
        parts.attempt[~allowed] += 1
        parts = parts.take(~allowed).with_others(
            _Parts.of(order, start, end, weight, attributes, judge.least)
        )
        task.progress(Mondrian.name, closed / units.count)
    ends = np.sort(np.concatenate(starts))
    start = np.append(ends, units.count)
    _check(judge, order, start, weight)
    return start, order


def _allowed_cuts(
    order: Codes, pieces: Pieces, parts: _Parts, attributes: Attributes, judge: Judge
) -> tuple[Numbers, Numbers, Mask]:
    """The pieces of the cuts that are allowed, and which parts they cut."""
    if not len(pieces.start):
        return pieces.start, pieces.end, np.zeros(0, bool)
    passes = judge.passes(order, pieces.start, pieces.end, pieces.size)
    passing = np.add.reduceat(passes.astype(np.int64), pieces.first[:-1])
    allowed = passing == np.diff(pieces.first)
    attribute = parts.by_width[np.arange(len(parts.start)), parts.attempt // 2]
    pooled = ~allowed & (passing > 0) & (attributes.levels[attribute] > 0)
    chosen = np.flatnonzero(pooled)
    pool = _pool(order, pieces, chosen, passes, judge)
    allowed[chosen] = pool > pieces.first[chosen]
    keep = np.repeat(allowed, np.diff(pieces.first))
    end = pieces.end
    last = pieces.first[chosen + 1]
    end[pool] = end[last - 1]
    inside = np.zeros(len(keep) + 1, np.int64)  # pieces that lie in a pool that starts before them
    np.add.at(inside, pool + 1, 1)
    np.add.at(inside, last, -1)
    keep &= np.cumsum(inside)[:-1] == 0
    return pieces.start[keep], end[keep], allowed


def _pool(order: Codes, pieces: Pieces, chosen: Numbers, passes: Mask, judge: Judge) -> Numbers:
    """Where in the pieces of some parts the pool starts that passes; the first where none does."""
    if not len(chosen):
        return chosen
    first, last = pieces.first[chosen], pieces.first[chosen + 1]
    pool = put_failing_last(order, pieces, chosen, passes)
    open_ = np.arange(len(chosen))
    joining = 1
    while len(open_):
        rows = np.concatenate(([0], np.cumsum(pieces.size)))
        low, high = pool[open_], last[open_]
        good = judge.passes(order, pieces.start[low], pieces.end[high - 1], rows[high] - rows[low])
        open_ = open_[~good]
        pool[open_] -= joining
        joining *= 2
        pool = np.maximum(pool, first)
        open_ = open_[pool[open_] > first[open_]]
    return pool


def _check(judge: Judge, order: Codes, start: Numbers, weight: Numbers) -> None:
    """Judge all classes once more, against the table that they are together."""
    size = np.add.reduceat(weight[order], start[:-1])
    if not judge.passes(order, start[:-1], start[1:], size).all():
        raise AssertionError("a part that was judged to pass fails at the end")
