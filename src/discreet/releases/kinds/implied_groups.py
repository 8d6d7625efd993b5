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
from discreet.table.kernels.lists import entries_of, places_of, stretches, sums_of
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
        key = self.group * np.int64(numbers) + number
        if (np.diff(key) > 0).all():
            return self.start, number, self.mass
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
        self._by_value: dict[str, tuple[Ints, Codes, Floats]] = {}  # rows, by attribute

    def estimate(self, batch: QueryBatch) -> Floats:
        answer = self._by_pairs.estimate(batch)
        if answer is not None:
            return answer
        queries = len(batch.number)
        total = np.zeros(queries)
        people, rows = self.people, self.rows
        room = 2**20 // max(queries, 1)  # people and rows at a time, to bound the memory
        for part in stretches(np.diff(people.start) + np.diff(rows.start) + 1, room):
            some, others = (
                people.start[part.start : part.stop + 1],
                rows.start[part.start : part.stop + 1],
            )
            matching = np.ones((some[-1] - some[0], queries))
            for name in batch.members.keys() & people.codes.keys():
                matching *= batch.members[name][people.codes[name][some[0] : some[-1]]]
            within = slice(others[0], others[-1])
            share = np.tile(rows.mass[within, None], queries)
            for name in batch.members.keys() & rows.codes.keys():
                share *= batch.members[name][rows.codes[name][rows.signature[within]]]
            size = np.maximum(np.diff(some), 1)[:, None]
            of_group = sums_of(some - some[0], matching) * sums_of(others - others[0], share)
            total += (of_group / size).sum(axis=0)
        return total + self.suppressed_rows * batch.share_of_domain()

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
        pairs = group_codes([mine.group, of_people], [len(start) - 1, kinds], mine.count)
        group, kind = mine.group[pairs.first_row], of_people[pairs.first_row]
        share = pairs.size / np.diff(mine.start)[group]
        by_lines = np.diff(line_start)[kind] <= np.diff(start)[group]
        found = np.zeros(lines.count)
        line_value = line_number[order].astype(np.int64)
        entry_key = np.repeat(np.arange(len(start) - 1), np.diff(start)) * numbers + entry
        line_key = np.repeat(np.arange(kinds), np.diff(line_start)) * numbers + line_value
        for searched in (True, False):  # the smaller side is laid out, the other searched
            chosen = np.flatnonzero(by_lines == searched)
            laid, lists = (line_start, kind) if searched else (start, group)
            for part in stretches(np.diff(laid)[lists[chosen]]):
                place, pair = entries_of(laid, lists[chosen[part]])
                pair = chosen[part][pair]
                if searched:
                    at = places_of(
                        entry_key, group[pair].astype(np.int64) * numbers + line_value[place]
                    )
                    line = place
                else:
                    at = place
                    line = places_of(line_key, kind[pair].astype(np.int64) * numbers + entry[place])
                both = (at >= 0) & (line >= 0)
                held = mass[at[both]] * share[pair[both]]
                found += np.bincount(order[line[both]], held, lines.count)
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
        if second.name not in self._by_value:
            self._by_value[second.name] = rows.by_number(rows.codes[second.name], shape[1])
        start, value, mass = self._by_value[second.name]
        people, values = np.diff(self.people.start), np.diff(start)
        code, group, alike = self.people.codes[first.name], self.people.group, None
        if 2 * np.minimum(people, shape[0]) @ values < people @ values:  # many of a group are alike
            pairs = group_codes([group, code], [len(people), shape[0]], len(code))
            code, group, alike = code[pairs.first_row], group[pairs.first_row], pairs.size
        mass = mass / np.repeat(np.maximum(people, 1), values)  # of one person
        place = code.astype(np.int64) * shape[1]
        table = np.zeros(shape[0] * shape[1])
        for part in stretches(values[group]):
            entry, person = entries_of(start, group[part])
            held = mass[entry] if alike is None else alike[part][person] * mass[entry]
            table += np.bincount(place[part][person] + value[entry], held, len(table))
        return table.reshape(shape) + self.suppressed_rows / table.size

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
