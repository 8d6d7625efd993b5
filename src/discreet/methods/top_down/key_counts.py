"""Count the groups that children would make, for every combination of columns of an attacker.

Only combinations with the specialized column can change, and only for the rows of its cell. The
counts of fewer columns are taken first: if a child fails for some columns, it fails for more
(docs/theory/class-models.md, Theorem 2), and its rows are counted no further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np

from discreet.requirements.attackers.judging import Demand
from discreet.requirements.base import Domains
from discreet.table.budgets import AT_ONCE
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, ValueCounts, count_cells, count_classes
from discreet.typing import AnyInts, Bools, Codes, Ints

SPARSE = 8  # possible keys for each row, above which keys are numbered by those that occur


class KeyGroups:
    """Judges the children of a cell of one column by the groups of an attacker's sets."""

    def __init__(self, demand: Demand, sensitive: Mapping[str, Column], domains: Domains) -> None:
        self.demand = demand
        self.domains = domains
        self.known = [sensitive[name] for name in demand.keys.known]
        names = [name for name in sensitive if name not in demand.keys.known]
        bare = ClassCounts(np.zeros(0, np.int64), dict.fromkeys(names))  # type: ignore[arg-type]
        judged = dict.fromkeys(
            name
            for requirement in demand.requirements
            for name in requirement.attributes(bare)
            if name
        )
        self.judged = [sensitive[name] for name in judged]
        self._refined = any(requirement.algebra.refined for requirement in demand.requirements)

    def failing(
        self,
        rows: Ints,
        child: Codes,  # (rows,) 0 … children − 1
        children: int,
        codes: Codes,  # (columns, all rows)
        cells: Sequence[int],  # of each column
        partners: Sequence[int],  # the other columns of the attacker with several cells
    ) -> Bools:
        """(children,) Which have a group that fails, in some combination with other columns."""
        failed = np.zeros(children, bool)
        # Look up the cells of the rows once.
        widths = np.array([cells[a] for a in partners], np.int64)
        few = widths.max(initial=0) <= np.iinfo(np.uint8).max
        known = [child, *(column.codes[rows] for column in self.known)]
        bounds = [children, *(column.cardinality for column in self.known)]
        places = np.empty((len(partners), len(rows)), np.uint8 if few else np.int32)
        for place, number in enumerate(partners):
            places[place] = codes[number, rows]
        held = _Held(known, places, [column.codes[rows] for column in self.judged])
        most = min(self.demand.keys.length - 1, len(partners))
        for length in range(most + 1) if most < len(partners) else dict.fromkeys((0, 1, most)):
            for prefix in combinations(range(len(partners)), max(length - 1, 0)):
                after = (prefix[-1] + 1 if prefix else 0) if length else len(partners)
                if length > most or (length and after == len(partners)):
                    continue
                # Rows of children that failed are counted no further.
                left = np.flatnonzero(~failed[held.known[0]])
                if not len(left):
                    return failed
                held = held.take(left)
                key = _packed(
                    [*held.known, *held.places[list(prefix)]],
                    [*bounds, *widths[list(prefix)].tolist()],
                )
                counted_groups = self._refined_counts if self._refined else self._counts
                for of_child, counts in counted_groups(key, held, after, widths):
                    failed[of_child[~self._passes(counts)]] = True
        return failed

    def _passes(self, counts: ClassCounts) -> Bools:
        passes = np.ones(counts.classes, bool)
        for requirement in self.demand.requirements:
            passes &= requirement.passes(counts, self.domains)
        return passes

    def _counts(
        self, key: _Keys, held: _Held, after: int, widths: Ints
    ) -> Iterator[tuple[Ints, ClassCounts]]:
        """Yield the groups of some columns with each of those after, and the child of each."""
        values = [column.cardinality for column in self.judged] or [1]
        room = max(AT_ONCE // (key.bound * max(values)), int(widths[after:].max(initial=1)))
        begin = after
        while begin < len(widths) or begin == after:
            # As many columns at once as counts fit in memory.
            within = np.cumsum(widths[begin:]) <= room
            end = begin + int(np.count_nonzero(within))
            widths_at_once = widths[begin:end] if end > begin else np.ones(1, np.int64)
            places = (
                held.places[begin:end]
                if end > begin
                else np.zeros((1, len(held.known[0])), np.uint8)
            )
            counts_of_cells = []
            for count, value in zip(values, held.values or [np.zeros(1, np.int32)], strict=True):
                counted = np.zeros(key.bound * count * int(widths_at_once.sum()), np.int64)
                both = key.of_row * count
                both += value
                count_cells(both, key.bound * count, places, widths_at_once, counted)
                counts_of_cells.append(counted.reshape(-1, count))
            # Keep the groups that occur.
            size = counts_of_cells[0].sum(axis=1)
            occurs = np.flatnonzero(size)
            of_child = np.tile(key.child, int(widths_at_once.sum()))
            sparse = {
                column.name: ValueCounts.of_table(counted[occurs], column)
                for column, counted in zip(self.judged, counts_of_cells, strict=False)
            }
            yield of_child[occurs], ClassCounts(size[occurs], sparse)
            begin = max(end, begin + 1)

    def _refined_counts(
        self, key: _Keys, held: _Held, after: int, widths: Ints
    ) -> Iterator[tuple[Ints, ClassCounts]]:
        """The same for requirements that are judged where other attributes are known, too."""
        sensitive = [
            replace(column, codes=value, total=column.reference)
            for column, value in zip(self.judged, held.values, strict=True)
        ]
        of_row = key.of_row.astype(np.int32)
        for place in range(after, len(widths)) if after < len(widths) else [None]:
            codes = [of_row] if place is None else [of_row, held.places[place].astype(np.int32)]
            bounds = [key.bound] if place is None else [key.bound, int(widths[place])]
            classes = group_codes(codes, bounds, len(of_row))
            of_child = key.child[key.of_row[classes.first_row]]
            yield of_child, count_classes(classes, sensitive, refined=True)


class _Held(NamedTuple):
    """What is counted of some rows."""

    known: list[Codes]  # the child of each row, then the known sensitive values
    places: AnyInts  # (partners, rows) cells
    values: list[Codes]  # of the judged attributes

    def take(self, rows: Ints) -> _Held:
        """The same for some rows, in order."""
        if len(rows) == len(self.known[0]):
            return self
        return _Held(
            [codes[rows] for codes in self.known],
            self.places[:, rows],
            [codes[rows] for codes in self.values],
        )


class _Keys(NamedTuple):
    """The columns of a set but the last, as one key a row."""

    of_row: Ints
    bound: int
    child: Ints  # (bound,) of each key


def _packed(codes: Sequence[Codes], bounds: Sequence[int]) -> _Keys:
    """One key a row; the first code of it is the child."""
    bound = prod(bounds)
    if bound > SPARSE * len(codes[0]):
        classes = group_codes(codes, bounds, len(codes[0]))
        child = codes[0][classes.first_row].astype(np.int64)
        return _Keys(classes.class_of_row.astype(np.int64), classes.count, child)
    key = np.zeros(len(codes[0]), np.int64)
    for code, width in zip(codes, bounds, strict=True):
        key *= width
        key += code
    return _Keys(key, bound, np.repeat(np.arange(bounds[0]), bound // bounds[0]))
