"""The paper's reading of a decomposed release: every value of a set as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.typing import Codes, Floats, Ints, Ints32
from discreet.utility.implied import Implied, PairAnswers, QueryBatch


class UniformSets(Implied):
    """p2 of a decomposed release where sets are read uniformly and attributes independently."""

    def __init__(
        self,
        original: CodedTable,
        people: PublishedPeople,
        attributes: Sequence[Column],
        sets: Sequence[tuple[Ints, Ints32]],  # by attribute: starts and values, original's codes
    ) -> None:
        self._original = original
        self._people = people
        self._sets = {column.name: one for column, one in zip(attributes, sets, strict=True)}
        self._by_pairs = PairAnswers(original, self)

    def estimate(self, batch: QueryBatch) -> Floats:
        answer = self._by_pairs.estimate(batch)
        if answer is not None:
            return answer
        queries = len(batch.number)
        groups = len(self._people.start) - 1
        asked = [name for name in batch.members if name in self._people.codes]
        of_people = [batch.members[name].astype(np.uint8) for name in asked]
        offset = np.cumsum([0, *(len(member) for member in of_people)])[:-1]
        place = np.zeros((self._people.count, len(asked)), np.int64)
        for i, name in enumerate(asked):
            place[:, i] = self._people.codes[name] + offset[i]
        stacked = np.concatenate(of_people) if asked else np.zeros((0, queries), np.uint8)
        total = np.zeros(queries)
        block = max(1, 2**22 // max(queries, 1))  # groups at a time, to bound the memory
        for first in range(0, groups, block):
            end = min(first + block, groups)
            matching = _matching_people(self._people.start, place, stacked, first, end)
            for name, member in batch.members.items():
                if name in self._sets:
                    start, value = self._sets[name]
                    _times_share(start, value, member.astype(np.uint8), first, matching)
            total += matching.sum(axis=0)
        return total

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats:
        """Where quasi-identifiers are unique, 1 / Π |G.S_i|."""
        quasi = [people[name] for name in self._people.codes]
        both = [np.concatenate([c.codes, self._people.codes[c.name]]) for c in quasi]
        rows = people.rows + self._people.count
        alike = group_codes(both, [c.cardinality for c in quasi], rows)
        of_target, of_people = np.split(alike.class_of_row, [people.rows])
        hidden = [people[name] for name in sensitive]
        lines = group_codes(
            [of_target, *(column.codes for column in hidden)],
            [alike.count, *(column.cardinality for column in hidden)],
            people.rows,
        )
        kind = of_target[lines.first_row]
        start, order = order_by_class(kind, np.zeros(lines.count, np.int32), alike.count, 1)
        first_row = lines.first_row[order]
        sets = [self._sets[name] for name in sensitive]
        offset = np.cumsum([0, *(len(value) for _, value in sets)])
        groups = len(self._people.start)
        found = np.empty(lines.count)
        found[order] = _mass_of_lines(
            self._people.start,
            of_people,
            start,
            _matrix([column.codes[first_row] for column in hidden], len(first_row), np.int32),
            _matrix([begin + offset[i] for i, (begin, _) in enumerate(sets)], groups, np.int64),
            np.concatenate([np.zeros(0, np.int32), *(value for _, value in sets)]),
        )
        return found[lines.class_of_row]

    def pair_table(self, first: Column, second: Column) -> Floats:
        if first.name not in self._sets:
            return self._rows_of(second).pair_table(first, second)
        table = np.zeros((first.cardinality, second.cardinality))
        size = np.diff(self._people.start).astype(np.float64)
        _add_products(*self._sets[first.name], *self._sets[second.name], size, table)
        return table

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        drawn = dict(self._people.codes)
        for name in self._sets:
            drawn[name] = self._rows_of(self._original[name]).draw(rng)[name]
        return drawn

    def _rows_of(self, attribute: Column) -> ImpliedGroups:
        """The release as if it had one sensitive attribute, each value of a set as likely."""
        start, value = self._sets[attribute.name]
        length = np.diff(start)
        mass = np.repeat(np.diff(self._people.start) / np.maximum(length, 1), length)
        every = np.arange(attribute.cardinality, dtype=np.int32)
        rows = SensitiveRows({attribute.name: every}, attribute.cardinality, start, value, mass)
        return ImpliedGroups(self._original, self._people, rows)


def _matrix(lines: Sequence[NDArray[Any]], length: int, kind: type[np.integer[Any]]) -> Any:
    """Arrays of one length below each other, also where there are none."""
    return np.array(lines, kind).reshape(len(lines), length)


@kernel
def _matching_people(
    start: Ints, place: Ints, asked: NDArray[np.uint8], first: int, end: int
) -> Floats:
    result = np.zeros((end - first, asked.shape[1]))
    for group in range(first, end):
        for person in range(start[group], start[group + 1]):
            for query in range(asked.shape[1]):
                obeys = 1
                for attribute in range(place.shape[1]):
                    obeys &= asked[place[person, attribute], query]
                result[group - first, query] += obeys
    return result


@kernel
def _times_share(
    start: Ints, value: Ints32, member: NDArray[np.uint8], first: int, result: Floats
) -> None:
    for number in range(len(result)):
        begin, end = start[first + number], start[first + number + 1]
        for query in range(result.shape[1]):
            inside = 0
            for entry in range(begin, end):
                inside += member[value[entry], query]
            result[number, query] *= inside / max(end - begin, 1)


@kernel
def _add_products(
    start: Ints, value: Ints32, other_start: Ints, other: Ints32, size: Floats, table: Floats
) -> None:
    for group in range(len(size)):
        own, theirs = start[group + 1] - start[group], other_start[group + 1] - other_start[group]
        for entry in range(start[group], start[group + 1]):
            for partner in range(other_start[group], other_start[group + 1]):
                table[value[entry], other[partner]] += size[group] / (own * theirs)


@kernel
def _mass_of_lines(
    people_start: Ints,
    people: Ints32,
    line_start: Ints,
    codes: Ints32,  # (attributes, lines)
    set_start: Ints,  # (attributes, groups + 1)
    value: Ints32,
) -> Floats:
    """Over people, how likely each line with their quasi-identifiers is theirs."""
    mass = np.zeros(codes.shape[1])
    for group in range(len(people_start) - 1):
        for person in range(people_start[group], people_start[group + 1]):
            for line in range(line_start[people[person]], line_start[people[person] + 1]):
                likely = 1.0
                for attribute in range(codes.shape[0]):
                    begin, end = set_start[attribute, group], set_start[attribute, group + 1]
                    found = False
                    for entry in range(begin, end):
                        if value[entry] == codes[attribute, line]:
                            found = True
                            break
                    if not found:
                        likely = 0.0
                        break
                    likely /= end - begin
                mass[line] += likely
    return mass
