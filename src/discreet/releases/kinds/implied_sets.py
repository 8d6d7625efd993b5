"""The utility of a decomposed release: its figures, and the distributions that it implies.

The masses that a decomposed release implies: rows of T^S raked into the groups' sets.

A person in a group has a row of T^S whose values are all in the group's sets. Starting from the
rows' counts, masses are scaled in turn until each primary value of a group has the mass of its one
person (a merged group as a whole that of its people) and each row of T^S its count: iterative
proportional fitting, which finds the distribution nearest to "any row of T^S" that agrees with all
that is published.

A mass is a factor of its row times one of its cell, a primary value of a group or a merged group.
The first decides the second, and cells of the same people and rows have the same, so only the rows'
factors are fitted, on the cells that differ: tens of thousands where people are a million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from discreet.releases.kinds.grouped import (
    check_people,
    open_share,
    people_of,
    source_codes,
    sum_people,
)
from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.releases.manifest import Manifest
from discreet.releases.worlds.sensitive_sets import (
    PEOPLE,
    SENSITIVE,
    SensitiveSignatures,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.table.assignments import Sets, supporting_rows
from discreet.table.classes import group_codes, group_lists
from discreet.table.code_maps import code_of_value
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import are_in, entries_of, starts_of, stretches, sums_of
from discreet.table.published import GROUP
from discreet.typing import Codes, Floats, Ints, Ints32
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import Measures
from discreet.utility.implied import Implied, PairAnswers, QueryBatch
from discreet.utility.reading import ImpliedReading

ROUNDS = 200
CLOSE = 1e-6  # how far a mass may be off, relatively
ENTRIES = 2**26  # more are not raked
LEAST, GREATEST = 1e-100, 1e100  # a factor beyond belongs to a release that cannot be fitted


def read_decomposition(
    original: CodedTable, tables: Mapping[str, CodedTable], manifest: Manifest
) -> ImpliedReading[Measures]:
    """Read a decomposed release against the original: raked, and as its paper does."""
    people = tables[PEOPLE]
    check_people(original, people, 0)
    measures = measure_sets(sum_sets(original, tables), original)

    @cache
    def readings() -> DecomposedReadings:
        return read_decomposed(original, tables, primary_of(manifest))

    def raked() -> Implied:
        return readings().raked or readings().uniform

    return ImpliedReading(original, measures, raked, lambda: readings().uniform)


def sum_sets(original: CodedTable, tables: Mapping[str, CodedTable]) -> CellSums:
    """Sum over some groups what their sets of values leave open."""
    people = tables[PEOPLE]
    sums = sum_people(people, original)
    sets = read_sets(tables, [column.name for column in original.sensitive])
    for place, column in enumerate(original.sensitive):
        start, _ = sets.of(place)
        share = open_share(start, people[GROUP].counts, column.cardinality)
        sums.loss[column.name] = share * people.rows
    sums.further["mean_log_sets"] = mean_log_sets(sets, people) * people.rows
    return sums


def measure_sets(sums: CellSums, original: CodedTable) -> Measures:
    """Return the measures of a decomposed release, which suppresses no row."""
    logarithms = sums.further["mean_log_sets"] / max(sums.rows, 1)
    return replace(measures_of(sums, original, 0), further={"mean_log_sets": logarithms})


@dataclass(frozen=True, eq=False)
class DecomposedReadings:
    """Both readings of a decomposed release."""

    sets: Sets
    people: PublishedPeople
    raked: ImpliedGroups | None  # None where the rows that groups may hold are too many to rake
    uniform: UniformSets


def read_decomposed(
    original: CodedTable, tables: Mapping[str, CodedTable], primary: str
) -> DecomposedReadings:
    """p2 of a decomposed release: raked, and uniform as in the paper."""
    published, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names = [column.name for column in original.sensitive]
    code_of = {}
    for column in original.sensitive:
        source_codes(sensitive, column)
        code_of[column.name] = code_of_value(column, sensitive[column.name]).astype(np.int32)
    sets = read_sets(tables, names)
    people = people_of(original, published)
    signatures = signatures_of(sensitive, names)
    found = rake(sets, signatures, names.index(primary), published[GROUP].counts)
    raked = None
    if found is not None:
        codes = {
            name: code_of[name][signatures.codes[:, place]] for place, name in enumerate(names)
        }
        rows = SensitiveRows(codes, len(signatures.count), *found)
        raked = ImpliedGroups(original, people, rows)
    listed = [sets.of(place) for place in range(len(names))]
    in_original = [
        (start, code_of[name][value]) for name, (start, value) in zip(names, listed, strict=True)
    ]
    return DecomposedReadings(
        sets, people, raked, UniformSets(original, people, original.sensitive, in_original)
    )


def mean_log_sets(sets: Sets, people: CodedTable) -> float:
    """The mean over people of Σ ln|G.S_i|: the uniform divergence of unique quasi-identifiers."""
    size = people[GROUP].counts
    length = np.diff(sets.start).reshape(-1, sets.groups)
    return float(size @ np.log(np.maximum(length, 1)).sum(axis=0)) / max(people.rows, 1)


def rake(
    sets: Sets, signatures: SensitiveSignatures, primary: int, size: Ints
) -> tuple[Ints, Ints32, Floats] | None:
    """Where each group's rows begin, the rows, and their masses; None where they are too many."""
    pair_start, _ = sets.of(primary)
    begin, signature = supporting_rows(sets, signatures.codes, primary, ENTRIES)
    if signature is None:
        return None
    single = np.diff(pair_start) == size
    opens = np.repeat(single, np.diff(pair_start))  # a cell: each pair, or a merged group's first
    opens |= np.isin(np.arange(len(opens)), pair_start[:-1])
    first_pair = np.flatnonzero(opens)
    start = np.append(begin[first_pair], begin[-1])
    group = np.repeat(np.arange(sets.groups), np.diff(pair_start))[first_pair]
    people = np.where(single, 1, size)[group]
    count = signatures.count.astype(np.float64)
    factor = _fit_distinct(start, signature, people, count)
    return begin[pair_start], signature, _masses(start, signature, people, factor)


def _fit_distinct(start: Ints, signature: Ints32, people: Ints, count: Floats) -> Floats:
    """The rows' factors, fitted on one of each kind of cell."""
    lists = group_lists(start, signature, len(count))
    greatest = int(people.max(initial=0)) + 1
    kinds = group_codes(
        [lists.class_of_row, people.astype(np.int32)], [lists.count, greatest], len(people)
    )
    one = kinds.first_row
    return _fit(start[one], start[one + 1], signature, people[one] * kinds.size, count)


def _fit(begin: Ints, end: Ints, signature: Ints32, target: Ints, count: Floats) -> Floats:
    some = begin < end
    start = starts_of((end - begin)[some])
    cell = np.repeat(np.arange(len(start) - 1), np.diff(start))
    row = signature[np.arange(start[-1]) + (begin[some] - start[:-1])[cell]]
    target = target[some]
    factor = count.copy()
    for _ in range(ROUNDS - 1):
        held = np.bincount(cell, factor[row], len(target))
        total = np.bincount(row, (target / held)[cell], len(count))  # of each row, over its factor
        used = total > 0
        better = factor.copy()
        better[used] = count[used] / total[used]
        away = np.abs(factor[used] / better[used] - 1).max(initial=0.0)
        bounded = ((better[used] > LEAST) & (better[used] < GREATEST)).all()
        if away < CLOSE or not bounded:
            break
        factor = better
    return factor


def _masses(start: Ints, signature: Ints32, people: Ints, factor: Floats) -> Floats:
    """The mass of every row in every cell: together that of its people, exactly."""
    cell = np.repeat(np.arange(len(people)), np.diff(start))
    held = np.bincount(cell, factor[signature], len(people))
    return np.asarray(factor[signature] * people[cell] / held[cell], np.float64)


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
