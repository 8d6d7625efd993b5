"""p2 of releases that keep quasi-identifiers exact and publish people in groups.

A person in a group has each of the sensitive rows that the group may hold with a probability of
(its mass in the group) / (people in the group). A bucketized release publishes these masses: they
are counts. A decomposed release implies them (``raking``).

Everything here walks over the groups and, within each, over its people and its sensitive rows, so
the cost is that of people × rows of a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.typing import Codes, Floats, Ints
from discreet.utility.implied import Implied, PairAnswers, QueryBatch, below, even_draw


@dataclass(frozen=True, eq=False)
class PublishedPeople:
    """The published people, ordered by group, in the original's codes."""

    codes: Mapping[str, Codes]  # by quasi-identifier: (people,)
    start: Ints  # (groups + 1,)

    @property
    def count(self) -> int:
        return int(self.start[-1])

    @property
    def group(self) -> Codes:
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))


@dataclass(frozen=True, eq=False)
class SensitiveRows:
    """The sensitive rows that each group may hold, and their mass in it."""

    codes: Mapping[str, Codes]  # by attribute, in the original's codes: (signatures,)
    signatures: int
    start: Ints  # (groups + 1,)
    signature: NDArray[np.int32]  # (entries,)
    mass: Floats  # (entries,) adds up to the people of each group

    @property
    def group(self) -> Codes:
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))

    def by_number(self, of_signature: Codes, numbers: int) -> tuple[Ints, Codes, Floats]:
        """The same with signatures of one number merged: starts, numbers ascending, masses."""
        groups = len(self.start) - 1
        number = of_signature[self.signature]
        merged = group_codes([self.group, number], [groups, numbers], len(number))
        mass = np.bincount(merged.class_of_row, self.mass, merged.count).astype(np.float64)
        of_group, value = self.group[merged.first_row], number[merged.first_row]
        start, order = order_by_class(of_group, value, groups, numbers)
        return start, value[order], mass[order]


class ImpliedGroups(Implied):
    """p2 where a group's people share its sensitive rows; suppressed rows lie evenly."""

    def __init__(
        self,
        original: CodedTable,
        people: PublishedPeople,
        rows: SensitiveRows,
        suppressed_rows: int = 0,
    ) -> None:
        self.original = original
        self.people = people
        self.rows = rows
        self.suppressed_rows = suppressed_rows
        self._by_pairs = PairAnswers(original, self)

    def estimate(self, batch: QueryBatch) -> Floats:
        answer = self._by_pairs.estimate(batch)
        if answer is not None:
            return answer
        asked_of_people, people = _stacked(batch, self.people.codes, self.people.count)
        asked_of_rows, rows = _stacked(batch, self.rows.codes, self.rows.signatures)
        estimate = _answers(
            self.people.start,
            people,
            asked_of_people,
            self.rows.start,
            self.rows.signature,
            self.rows.mass,
            rows,
            asked_of_rows,
        )
        return estimate + self.suppressed_rows * batch.share_of_domain()

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats:
        mine, rows = self.people, self.rows
        quasi = [people[name] for name in mine.codes]
        hidden = [people[name] for name in sensitive]
        of_target, of_people, kinds = _numbered(quasi, mine.codes, mine.count, people.rows)
        wanted, of_signature, numbers = _numbered(hidden, rows.codes, rows.signatures, people.rows)
        lines = group_codes([of_target, wanted], [kinds, numbers], people.rows)
        line_kind, line_number = of_target[lines.first_row], wanted[lines.first_row]
        line_start, order = order_by_class(line_kind, line_number, kinds, numbers)
        start, entry, mass = rows.by_number(of_signature, numbers)
        found = np.empty(lines.count)
        found[order] = _mass_of_lines(
            mine.start, of_people, start, entry, mass, line_start, line_number[order]
        )
        domain = float(np.prod([float(column.cardinality) for column in (*quasi, *hidden)]))
        return found[lines.class_of_row] + self.suppressed_rows / domain

    def pair_table(self, first: Column, second: Column) -> Floats:
        shape = first.cardinality, second.cardinality
        rows = self.rows
        if first.name in rows.codes:
            of_signature = np.bincount(rows.signature, rows.mass, rows.signatures)
            cell = rows.codes[first.name].astype(np.int64) * shape[1] + rows.codes[second.name]
            table = np.bincount(cell, of_signature, shape[0] * shape[1]).astype(np.float64)
            return table.reshape(shape) + self.suppressed_rows / table.size
        table = np.zeros(shape)
        _add_pairs(
            self.people.start,
            self.people.codes[first.name],
            rows.start,
            rows.codes[second.name],
            rows.signature,
            rows.mass,
            table,
        )
        return table + self.suppressed_rows / table.size

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        """Every person with one of the group's rows, by mass."""
        reached = np.concatenate([[0.0], np.cumsum(self.rows.mass)])  # by all rows before
        group = self.people.group
        low, high = reached[self.rows.start[:-1]][group], reached[self.rows.start[1:]][group]
        at = low + rng.random(len(group)) * (high - low)
        entry = np.searchsorted(reached, at, side="right") - 1
        last = self.rows.start[1:][group] - 1  # where rounding would reach beyond the group
        signature = self.rows.signature[np.minimum(entry, last)]
        drawn = dict(self.people.codes)
        drawn |= {name: codes[signature] for name, codes in self.rows.codes.items()}
        if not self.suppressed_rows:
            return drawn
        domain = {name: self.original[name].cardinality for name in drawn}
        return below(drawn, even_draw(domain, self.suppressed_rows, rng))


def _numbered(
    columns: Sequence[Column], others: Mapping[str, Codes], count: int, rows: int
) -> tuple[Codes, Codes, int]:
    """One number for each combination: of the columns' rows, of the others, and how many."""
    both = [np.concatenate([column.codes, others[column.name]]) for column in columns]
    grouped = group_codes(both, [column.cardinality for column in columns], rows + count)
    mine, theirs = np.split(grouped.class_of_row, [rows])
    return mine, theirs, grouped.count


def _stacked(
    batch: QueryBatch, codes: Mapping[str, Codes], count: int
) -> tuple[NDArray[np.uint8], Ints]:
    """Which queries each value obeys, all attributes below each other, and each item's places."""
    names = [name for name in batch.members if name in codes]
    place = np.empty((count, len(names)), np.int64)
    first = 0
    for number, name in enumerate(names):
        place[:, number] = codes[name] + first
        first += len(batch.members[name])
    if not names:
        return np.zeros((0, len(batch.number)), np.uint8), place
    return np.concatenate([batch.members[name] for name in names]).astype(np.uint8), place


@kernel
def _answers(
    people_start: Ints,
    people: Ints,  # (people, attributes)
    asked_of_people: NDArray[np.uint8],  # (values, queries)
    rows_start: Ints,
    signature: NDArray[np.int32],
    mass: Floats,
    rows: Ints,  # (signatures, attributes)
    asked_of_rows: NDArray[np.uint8],
) -> Floats:
    queries = asked_of_people.shape[1]
    total = np.zeros(queries)
    matching = np.empty(queries)
    share = np.empty(queries)
    obeys = np.empty(queries)
    for group in range(len(people_start) - 1):
        size = people_start[group + 1] - people_start[group]
        if not size:
            continue
        matching[:] = 0
        for person in range(people_start[group], people_start[group + 1]):
            obeys[:] = 1
            for attribute in range(people.shape[1]):
                asked = asked_of_people[people[person, attribute]]
                for query in range(queries):
                    obeys[query] *= asked[query]
            matching += obeys
        share[:] = 0
        for entry in range(rows_start[group], rows_start[group + 1]):
            obeys[:] = mass[entry] / size
            for attribute in range(rows.shape[1]):
                asked = asked_of_rows[rows[signature[entry], attribute]]
                for query in range(queries):
                    obeys[query] *= asked[query]
            share += obeys
        total += matching * share
    return total


@kernel
def _mass_of_lines(
    people_start: Ints,
    people: NDArray[np.int32],  # (people,) the number of each one's quasi-identifiers
    rows_start: Ints,
    entry: NDArray[np.int32],  # (entries,) numbers of sensitive values, ascending in each group
    mass: Floats,  # (entries,)
    line_start: Ints,  # by quasi-identifiers
    line_value: NDArray[np.int32],  # (lines,) numbers of sensitive values, ascending in each
) -> Floats:
    result = np.zeros(len(line_value))
    for group in range(len(people_start) - 1):
        size = people_start[group + 1] - people_start[group]
        first, end = rows_start[group], rows_start[group + 1]
        for person in range(people_start[group], people_start[group + 1]):
            begin, stop = line_start[people[person]], line_start[people[person] + 1]
            if stop - begin <= end - first:
                for line in range(begin, stop):
                    at = first + np.searchsorted(entry[first:end], line_value[line])
                    if at < end and entry[at] == line_value[line]:
                        result[line] += mass[at] / size
            else:
                for at in range(first, end):
                    line = begin + np.searchsorted(line_value[begin:stop], entry[at])
                    if line < stop and line_value[line] == entry[at]:
                        result[line] += mass[at] / size
    return result


@kernel
def _add_pairs(
    people_start: Ints,
    people: Codes,  # (people,)
    rows_start: Ints,
    value_of_signature: Codes,
    signature: NDArray[np.int32],
    mass: Floats,
    table: Floats,
) -> None:
    share = np.empty(table.shape[1])  # of a group's people, by value
    values = np.empty(table.shape[1], np.int64)  # of the group
    last_group = np.full(table.shape[1], -1)  # that has each value
    for group in range(len(people_start) - 1):
        size = people_start[group + 1] - people_start[group]
        if not size:
            continue
        count = 0
        for entry in range(rows_start[group], rows_start[group + 1]):
            value = value_of_signature[signature[entry]]
            if last_group[value] != group:
                last_group[value] = group
                share[value] = 0
                values[count] = value
                count += 1
            share[value] += mass[entry] / size
        for person in range(people_start[group], people_start[group + 1]):
            for place in range(count):
                table[people[person], values[place]] += share[values[place]]
