"""p2 of releases that keep quasi-identifiers exact and publish people in groups.

A person in a group has each of the sensitive rows that the group may hold with a probability of
(its mass in the group) / (people in the group). A bucketized release publishes these masses: they
are counts. A decomposed release implies them (``raking``).

Everything here walks over the groups and, within each, over its people and its sensitive rows, so
the cost is that of people × rows of a group.

A group is the class of the structural measures; quasi-identifiers lose nothing, so what a release
gives up shows in ``loss_sensitive`` (the values left possible), in the divergence and in queries.

The utility of a decomposed release: its figures, and the distributions that it implies.

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

from discreet.errors import InputError
from discreet.hierarchies.coverage import identity
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
from discreet.table.budgets import AT_ONCE, MOST_ENTRIES
from discreet.table.classes import group_codes, group_lists
from discreet.table.code_maps import code_of_text, code_of_value
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import (
    are_in,
    entries_of,
    places_of,
    starts_of,
    stretches,
    sums_of,
)
from discreet.table.published import GROUP
from discreet.typing import Codes, Floats, Ints, Ints32
from discreet.utility.cell_sums import CellSums, bits_of_cells, measures_of
from discreet.utility.figures import ImpliedReading, Measures
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
    signature: Ints32  # (entries,)
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
        # Two attributes have a table; other queries are summed up group by group.
        answer = self._by_pairs.estimate(batch)
        if answer is not None:
            return answer
        queries = len(batch.number)
        total = np.zeros(queries)
        people, rows = self.people, self.rows
        room = AT_ONCE // max(queries, 1)  # people and rows at a time, to bound the memory
        for part in stretches(np.diff(people.start) + np.diff(rows.start) + 1, room):
            first_person, others = (
                people.start[part.start : part.stop + 1],
                rows.start[part.start : part.stop + 1],
            )
            matching = np.ones((first_person[-1] - first_person[0], queries))
            for name in batch.members.keys() & people.codes.keys():
                matching *= batch.members[name][
                    people.codes[name][first_person[0] : first_person[-1]]
                ]
            within = slice(others[0], others[-1])
            share = np.tile(rows.mass[within, None], queries)
            for name in batch.members.keys() & rows.codes.keys():
                share *= batch.members[name][rows.codes[name][rows.signature[within]]]
            size = np.maximum(np.diff(first_person), 1)[:, None]
            of_group = sums_of(first_person - first_person[0], matching) * sums_of(
                others - others[0], share
            )
            total += (of_group / size).sum(axis=0)
        return total + self.suppressed_rows * batch.share_of_domain()

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats:
        mine, rows = self.people, self.rows
        quasi = [people[name] for name in mine.codes]
        hidden = [people[name] for name in sensitive]
        # Number people by quasi-identifiers, and rows by the sensitive values that are asked for.
        of_target, of_people, kinds = _numbered(quasi, mine.codes, mine.count, people.rows)
        wanted, of_signature, numbers = _numbered(hidden, rows.codes, rows.signatures, people.rows)
        lines = group_codes([of_target, wanted], [kinds, numbers], people.rows)
        line_kind, line_number = of_target[lines.first_row], wanted[lines.first_row]
        line_start, order = order_by_class(line_kind, line_number, kinds, numbers)
        # Each kind of people is in some groups, with a share of each one's mass.
        start, entry, mass = rows.by_number(of_signature, numbers)
        pairs = group_codes([mine.group, of_people], [len(start) - 1, kinds], mine.count)
        group, kind = mine.group[pairs.first_row], of_people[pairs.first_row]
        share = pairs.size / np.diff(mine.start)[group]
        by_lines = np.diff(line_start)[kind] <= np.diff(start)[group]
        mass_of_line = np.zeros(lines.count)
        line_value = line_number[order].astype(np.int64)
        entry_key = np.repeat(np.arange(len(start) - 1), np.diff(start)) * numbers + entry
        line_key = np.repeat(np.arange(kinds), np.diff(line_start)) * numbers + line_value
        # Sum up where a target's value meets a row of a group.
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
                mass_of_line += np.bincount(order[line[both]], held, lines.count)
        domain = float(np.prod([float(column.cardinality) for column in (*quasi, *hidden)]))
        return mass_of_line[lines.class_of_row] + self.suppressed_rows / domain

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


def people_of(original: CodedTable, people: CodedTable) -> PublishedPeople:
    """The people of a release, ordered by group."""
    group = people[GROUP]
    rows = np.arange(people.rows, dtype=np.int32)
    start, order = order_by_class(group.codes, rows, group.cardinality, people.rows)
    columns = original.quasi_identifiers
    codes = {column.name: source_codes(people, column)[order] for column in columns}
    return PublishedPeople(codes, start)


def source_codes(published: CodedTable, column: Column) -> Codes:
    """A published exact column in the original's codes."""
    if column.name not in published.columns:
        raise InputError(
            f"The release lacks the column '{column.name}' of the original. "
            "Name the job that made the release."
        )
    exact = published[column.name]
    code = code_of_value(column, exact)
    if (code[exact.codes] < 0).any():
        raise InputError(
            f"Column '{column.name}' of the release has values that the original lacks. "
            "Name the job that made the release."
        )
    return code.astype(np.int32)[exact.codes]


def sum_people(people: CodedTable, original: CodedTable) -> CellSums:
    """Sum over people whose quasi-identifiers are exact, in groups: they lose nothing."""
    sums = CellSums.of_sizes(people[GROUP].counts)
    for column in original.quasi_identifiers:
        source_codes(people, column)  # refuses values of another table
        code = code_of_value(column, people[column.name])
        counts = np.bincount(code, people[column.name].counts, column.cardinality)
        sums.loss[column.name] = 0.0
        sums.bits[column.name] = bits_of_cells(column, identity(column), counts.astype(np.int64))
    return sums


def group_numbers(people: CodedTable, other: CodedTable) -> Codes:
    """The group of each row of another table, in the people's codes."""
    code = code_of_text(people[GROUP].text, other[GROUP].text)
    if (code < 0).any():
        raise InputError("The release names groups without rows. Audit it first.")
    return code.astype(np.int32)[other[GROUP].codes]


def open_share(start: Ints, size: Ints, cardinality: int, suppressed_rows: int = 0) -> float:
    """The mean over people of (values left possible − 1) / (values − 1)."""
    possible = np.diff(start)
    left_open = float(size @ ((possible - 1) / max(cardinality - 1, 1))) + suppressed_rows
    return left_open / max(int(size.sum()) + suppressed_rows, 1)


def check_people(original: CodedTable, people: CodedTable, suppressed_rows: int) -> None:
    """Refuse a release of other people."""
    if people.rows + suppressed_rows != original.rows:
        raise InputError(
            f"The release has {people.rows} rows and {suppressed_rows} suppressed, the original "
            f"{original.rows}. Name the job that made the release, with its own table."
        )


ROUNDS = 200
CLOSE = 1e-6  # how far a mass may be off, relatively
LEAST, GREATEST = 1e-100, 1e100  # a factor beyond belongs to a release that cannot be fitted


def read_decomposition(
    original: CodedTable, tables: Tables, manifest: Manifest
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


def sum_sets(original: CodedTable, tables: Tables) -> CellSums:
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


def read_decomposed(original: CodedTable, tables: Tables, primary: str) -> DecomposedReadings:
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
    fitted = rake(sets, signatures, names.index(primary), published[GROUP].counts)
    raked = None
    if fitted is not None:
        codes = {
            name: code_of[name][signatures.codes[:, place]] for place, name in enumerate(names)
        }
        rows = SensitiveRows(codes, len(signatures.count), *fitted)
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
    begin, signature = supporting_rows(sets, signatures.codes, primary, MOST_ENTRIES)
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
    cell = kinds.first_row
    return _fit(start[cell], start[cell + 1], signature, people[cell] * kinds.size, count)


def _fit(begin: Ints, end: Ints, signature: Ints32, target: Ints, count: Floats) -> Floats:
    filled = begin < end
    start = starts_of((end - begin)[filled])
    cell = np.repeat(np.arange(len(start) - 1), np.diff(start))
    row = signature[np.arange(start[-1]) + (begin[filled] - start[:-1])[cell]]
    target = target[filled]
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
        room = AT_ONCE // max(queries, 1)  # people or values at a time, to bound the memory
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
        # Number targets and people by quasi-identifiers, and targets by their values too.
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
        mass_of_line = np.zeros(lines.count)
        # Every person alike adds the chance of the values in the person's group.
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
            mass_of_line += np.bincount(line, likely, lines.count)
        return mass_of_line[lines.class_of_row]

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
