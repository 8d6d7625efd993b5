"""The paper's reading of a decomposed release: every value of a set as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.data.classes import group_codes
from discreet.data.counts import order_by_class
from discreet.data.table import CodedTable, Column
from discreet.kernels import kernel
from discreet.metrics.implied import Implied, QueryBatch
from discreet.metrics.implied_groups import People

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]


class UniformSets(Implied):
    """p2 of a decomposed release where sets are read uniformly and attributes independently."""

    def __init__(
        self,
        original: CodedTable,
        people: People,
        attributes: Sequence[Column],
        sets: Sequence[tuple[Ints, Small]],  # by attribute: starts and values, original's codes
    ) -> None:
        self._original = original
        self._people = people
        self._sets = {column.name: one for column, one in zip(attributes, sets, strict=True)}

    def estimate(self, batch: QueryBatch) -> Floats:
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

    def kl_divergence(self) -> float:
        """Σ p1 ln(p1/p2); the mean of Σ ln|G.S_i| where quasi-identifiers are unique."""
        table = self._original
        columns = table.quasi_identifiers
        both = [np.concatenate([c.codes, self._people.codes[c.name]]) for c in columns]
        rows = table.rows + self._people.count
        alike = group_codes(both, [c.cardinality for c in columns], rows)
        of_original, of_people = np.split(alike.class_of_row, [table.rows])
        sensitive = [table[name] for name in self._sets]
        pairs = group_codes(
            [of_original, *(column.codes for column in sensitive)],
            [alike.count, *(column.cardinality for column in sensitive)],
            table.rows,
        )
        quasi = of_original[pairs.first_row]
        start, order = order_by_class(quasi, np.zeros(pairs.count, np.int32), alike.count, 1)
        first_row = pairs.first_row[order]
        starts = [one[0] for one in self._sets.values()]
        lengths = np.cumsum([0, *(len(one[1]) for one in self._sets.values())])
        mass = _mass_of_pairs(
            self._people.start,
            of_people,
            start,
            np.stack([column.codes[first_row] for column in sensitive], axis=1),
            np.stack([begin + lengths[i] for i, begin in enumerate(starts)]),
            np.concatenate([one[1] for one in self._sets.values()]),
        )
        count = pairs.size[order]
        with np.errstate(divide="ignore"):
            return float(count @ np.log(count / mass)) / max(table.rows, 1)


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
    start: Ints, value: Small, member: NDArray[np.uint8], first: int, result: Floats
) -> None:
    for number in range(len(result)):
        begin, end = start[first + number], start[first + number + 1]
        for query in range(result.shape[1]):
            inside = 0
            for entry in range(begin, end):
                inside += member[value[entry], query]
            result[number, query] *= inside / max(end - begin, 1)


@kernel
def _mass_of_pairs(
    people_start: Ints,
    people: Small,
    pair_start: Ints,
    codes: Small,  # (pairs, attributes)
    set_start: Ints,  # (attributes, groups + 1)
    value: Small,
) -> Floats:
    """Over people, how likely each original row with their quasi-identifiers is theirs."""
    mass = np.zeros(len(codes))
    for group in range(len(people_start) - 1):
        for person in range(people_start[group], people_start[group + 1]):
            for pair in range(pair_start[people[person]], pair_start[people[person] + 1]):
                likely = 1.0
                for attribute in range(codes.shape[1]):
                    begin, end = set_start[attribute, group], set_start[attribute, group + 1]
                    found = False
                    for entry in range(begin, end):
                        if value[entry] == codes[pair, attribute]:
                            found = True
                            break
                    if not found:
                        likely = 0.0
                        break
                    likely /= end - begin
                mass[pair] += likely
    return mass
