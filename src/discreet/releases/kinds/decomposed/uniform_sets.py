"""The paper's reading of a decomposed release: every value of a set as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import are_in, entries_of, stretches, sums_of
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
        total = np.zeros(queries)
        room = 2**22 // max(queries, 1)  # people or values at a time, to bound the memory
        people = self._people
        for part in stretches(np.diff(people.start) + 1, room):
            within = slice(people.start[part.start], people.start[part.stop])
            obeys = np.ones((people.start[part.stop] - people.start[part.start], queries))
            for name, member in batch.members.items():
                if name in people.codes:
                    obeys *= member[people.codes[name][within]]
            matching = sums_of(people.start[part.start : part.stop + 1] - within.start, obeys)
            for name, member in batch.members.items():
                if name in self._sets:
                    start, value = self._sets[name]
                    start = start[part.start : part.stop + 1]
                    inside = member[value[start[0] : start[-1]]].astype(np.float64)
                    length = np.maximum(np.diff(start), 1)[:, None]
                    matching *= sums_of(start - start[0], inside) / length
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
        found = np.zeros(lines.count)
        group = self._people.group
        for part in stretches(np.diff(start)[of_people]):
            place, person = entries_of(start, of_people[part])
            line, of_group = order[place], group[part][person]
            likely = np.ones(len(line))
            for column in hidden:
                begin, value = self._sets[column.name]
                wanted = column.codes[lines.first_row[line]]
                likely *= are_in(begin, value, of_group, wanted)
                likely /= np.maximum(np.diff(begin), 1)[of_group]
            found += np.bincount(line, likely, lines.count)
        return found[lines.class_of_row]

    def pair_table(self, first: Column, second: Column) -> Floats:
        if first.name not in self._sets:
            return self._rows_of(second).pair_table(first, second)
        (start, value), (other_start, other) = self._sets[first.name], self._sets[second.name]
        group = np.repeat(np.arange(len(start) - 1), np.diff(start))
        share = np.diff(self._people.start) / np.maximum(np.diff(start) * np.diff(other_start), 1)
        table = np.zeros(first.cardinality * second.cardinality)
        for part in stretches(np.diff(other_start)[group]):
            partner, entry = entries_of(other_start, group[part])
            cell = value[part][entry].astype(np.int64) * second.cardinality + other[partner]
            table += np.bincount(cell, share[group[part]][entry], len(table))
        return table.reshape(first.cardinality, second.cardinality)

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
