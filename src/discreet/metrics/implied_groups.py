"""p2 of releases that keep quasi-identifiers exact and publish people in groups.

Somebody in a group has each of the sensitive rows that the group may hold with a probability of
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

from discreet.data.classes import group_codes
from discreet.data.counts import order_by_class
from discreet.data.table import CodedTable, Codes, Column
from discreet.kernels import kernel
from discreet.metrics.implied import Implied, QueryBatch

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """The published people, ordered by group, in the original's codes."""

    codes: Mapping[str, Codes]  # by quasi-identifier: (people,)
    start: Places  # (groups + 1,)

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
    start: Places  # (groups + 1,)
    signature: NDArray[np.int32]  # (entries,)
    mass: Floats  # (entries,) adds up to the people of each group

    @property
    def group(self) -> Codes:
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))


class ImpliedGroups(Implied):
    """p2 where a group's people share its sensitive rows; suppressed rows lie evenly."""

    def __init__(
        self, original: CodedTable, people: People, rows: SensitiveRows, suppressed_rows: int = 0
    ) -> None:
        self.original = original
        self.people = people
        self.rows = rows
        self.suppressed_rows = suppressed_rows

    def estimate(self, batch: QueryBatch) -> Floats:
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
        share = np.ones(len(batch.number))
        for member in batch.members.values():
            share *= member.mean(axis=0)
        return estimate + self.suppressed_rows * share

    def kl_divergence(self) -> float:
        """Σ p1 ln(p1/p2) in nats, over the joint distribution of all attributes."""
        table, people, rows = self.original, self.people, self.rows
        quasi, quasi_count = _numbered(table.quasi_identifiers, people.codes, people.count, table)
        whole, whole_count = _numbered(table.sensitive, rows.codes, rows.signatures, table)
        of_original, of_people = np.split(quasi, [table.rows])
        in_original, of_signature = np.split(whole, [table.rows])
        pairs = group_codes([of_original, in_original], [quasi_count, whole_count], table.rows)
        pair_quasi, pair_whole = of_original[pairs.first_row], in_original[pairs.first_row]
        pair_start, order = order_by_class(pair_quasi, pair_whole, quasi_count, whole_count)
        entry = of_signature[rows.signature]
        start, by_signature = order_by_class(rows.group, entry, len(rows.start) - 1, whole_count)
        mass = _mass_of_pairs(
            people.start,
            of_people,
            start,
            entry[by_signature],
            rows.mass[by_signature],
            pair_start,
            pair_whole[order],
        )
        mass += self.suppressed_rows / _domain_size(table)
        count = pairs.size[order]
        with np.errstate(divide="ignore"):
            return float(count @ np.log(count / mass)) / max(table.rows, 1)

    def pair_table(self, quasi_identifier: Column, sensitive: Column) -> Floats:
        """The mass of every pair of a quasi-identifier's and a sensitive attribute's values."""
        rows = self.rows
        value = rows.codes[sensitive.name][rows.signature]
        groups = len(rows.start) - 1
        merged = group_codes([rows.group, value], [groups, sensitive.cardinality], len(value))
        mass = np.bincount(merged.class_of_row, rows.mass, merged.count).astype(np.float64)
        of_group, of_value = rows.group[merged.first_row], value[merged.first_row]
        start, order = order_by_class(of_group, of_value, groups, sensitive.cardinality)
        table = np.zeros((quasi_identifier.cardinality, sensitive.cardinality))
        codes = self.people.codes[quasi_identifier.name]
        _add_pairs(self.people.start, codes, start, of_value[order], mass[order], table)
        return table + self.suppressed_rows / table.size

    def sensitive_pair_table(self, first: Column, second: Column) -> Floats:
        """The mass of every pair of two sensitive attributes' values."""
        rows = self.rows
        of_signature = np.bincount(rows.signature, rows.mass, rows.signatures)
        cell = rows.codes[first.name].astype(np.int64) * second.cardinality
        cell += rows.codes[second.name]
        shape = first.cardinality, second.cardinality
        table = np.bincount(cell, of_signature, shape[0] * shape[1]).astype(np.float64)
        return table.reshape(shape) + self.suppressed_rows / table.size


def _numbered(
    columns: Sequence[Column], others: Mapping[str, Codes], count: int, table: CodedTable
) -> tuple[NDArray[np.int32], int]:
    """One number for each combination, of the original's rows and then of the others."""
    both = [np.concatenate([column.codes, others[column.name]]) for column in columns]
    grouped = group_codes(both, [column.cardinality for column in columns], table.rows + count)
    return grouped.class_of_row, grouped.count


def _domain_size(table: CodedTable) -> float:
    columns = (*table.quasi_identifiers, *table.sensitive)
    return float(np.prod([float(column.cardinality) for column in columns]))


def _stacked(
    batch: QueryBatch, codes: Mapping[str, Codes], count: int
) -> tuple[NDArray[np.uint8], Places]:
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
    people_start: Places,
    people: Places,  # (people, attributes)
    asked_of_people: NDArray[np.uint8],  # (values, queries)
    rows_start: Places,
    signature: NDArray[np.int32],
    mass: Floats,
    rows: Places,  # (signatures, attributes)
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
def _mass_of_pairs(
    people_start: Places,
    people: NDArray[np.int32],  # (people,) the number of each one's quasi-identifiers
    rows_start: Places,
    entry: NDArray[np.int32],  # (entries,) numbers of sensitive rows, ascending in each group
    mass: Floats,  # (entries,)
    pair_start: Places,  # by quasi-identifiers
    pair_whole: NDArray[np.int32],  # (pairs,) numbers of sensitive rows, ascending in each
) -> Floats:
    result = np.zeros(len(pair_whole))
    for group in range(len(people_start) - 1):
        size = people_start[group + 1] - people_start[group]
        first, end = rows_start[group], rows_start[group + 1]
        for person in range(people_start[group], people_start[group + 1]):
            begin, stop = pair_start[people[person]], pair_start[people[person] + 1]
            if stop - begin <= end - first:
                for pair in range(begin, stop):
                    at = first + np.searchsorted(entry[first:end], pair_whole[pair])
                    if at < end and entry[at] == pair_whole[pair]:
                        result[pair] += mass[at] / size
            else:
                for at in range(first, end):
                    pair = begin + np.searchsorted(pair_whole[begin:stop], entry[at])
                    if pair < stop and pair_whole[pair] == entry[at]:
                        result[pair] += mass[at] / size
    return result


@kernel
def _add_pairs(
    people_start: Places, people: Codes, start: Places, value: Codes, mass: Floats, table: Floats
) -> None:
    for group in range(len(people_start) - 1):
        size = people_start[group + 1] - people_start[group]
        for person in range(people_start[group], people_start[group + 1]):
            for entry in range(start[group], start[group + 1]):
                table[people[person], value[entry]] += mass[entry] / size
