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

import math
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
    entries_of,
    places_of,
    starts_of,
    stretches,
    sums_of,
)
from discreet.table.published import GROUP
from discreet.table.roles import Role
from discreet.typing import Codes, Floats, Ints, Ints32
from discreet.utility.cell_sums import CellSums, bits_of_cells, measures_of
from discreet.utility.figures import ImpliedReading, Measures
from discreet.utility.implied import Implied, QueryBatch, below, even_draw


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
    """p2 where a group's people share its sensitive rows; suppressed rows lie evenly.

    Where rows are given for different attributes, a person has one of each, independently.
    """

    def __init__(
        self,
        original: CodedTable,
        people: PublishedPeople,
        *rows: SensitiveRows,
        suppressed_rows: int = 0,
    ) -> None:
        self.original = original
        self.people = people
        self.rows = rows
        self.suppressed_rows = suppressed_rows
        self._last_pair: tuple[tuple[str, ...], Floats] | None = None
        self._by_value: dict[str, tuple[Ints, Codes, Floats]] = {}  # rows, by attribute

    def estimate(self, batch: QueryBatch) -> Floats:
        # Two attributes have a table; batches that ask for the same two follow each other.
        names, queries = tuple(batch.members), len(batch.number)
        pair = [self.original[name] for name in names]
        few = len(pair) == 2 and pair[0].cardinality * pair[1].cardinality <= AT_ONCE
        if few and pair[1].role is Role.SENSITIVE:
            if self._last_pair is None or self._last_pair[0] != names:
                self._last_pair = names, self.pair_table(*pair)
            first, second = (batch.members[name].astype(np.float64) for name in names)
            return np.asarray(((first.T @ self._last_pair[1]) * second.T).sum(axis=1), np.float64)
        # Other queries are summed up group by group.
        total = np.zeros(queries)
        people = self.people
        asked = [rows for rows in self.rows if batch.members.keys() & rows.codes.keys()]
        room = AT_ONCE // max(queries, 1)  # people and rows at a time, to bound the memory
        length = np.diff(people.start) + 1
        for rows in asked:
            length = length + np.diff(rows.start)
        for part in stretches(length, room):
            first_person = people.start[part.start : part.stop + 1]
            matching = np.ones((first_person[-1] - first_person[0], queries))
            for name in batch.members.keys() & people.codes.keys():
                matching *= batch.members[name][
                    people.codes[name][first_person[0] : first_person[-1]]
                ]
            of_group = sums_of(first_person - first_person[0], matching)
            size = np.maximum(np.diff(first_person), 1)[:, None]
            # The share of each group's rows that answer.
            for rows in asked:
                first_row = rows.start[part.start : part.stop + 1]
                within = slice(first_row[0], first_row[-1])
                mass = np.tile(rows.mass[within, None], queries)
                for name in batch.members.keys() & rows.codes.keys():
                    mass *= batch.members[name][rows.codes[name][rows.signature[within]]]
                of_group *= sums_of(first_row - first_row[0], mass) / size
            total += of_group.sum(axis=0)
        return total + self.suppressed_rows * batch.share_of_domain()

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats:
        mine = self.people
        quasi = [people[name] for name in mine.codes]
        asked = [rows for rows in self.rows if set(sensitive) & rows.codes.keys()] or self.rows[:1]
        # Number people by quasi-identifiers, and rows by the sensitive values that are asked for.
        of_target, of_people, kinds = _numbered(quasi, mine.codes, mine.count, people.rows)
        wanted = []
        for rows in asked:
            hidden = [people[name] for name in sensitive if name in rows.codes]
            wanted.append(_numbered(hidden, rows.codes, rows.signatures, people.rows))
        lines = group_codes(
            [of_target, *(of_row for of_row, _, _ in wanted)],
            [kinds, *(numbers for _, _, numbers in wanted)],
            people.rows,
        )
        line_kind = of_target[lines.first_row]
        line_number = wanted[0][0][lines.first_row]
        line_start, order = order_by_class(line_kind, line_number, kinds, wanted[0][2])
        # Each kind of people is in some groups, with some of each one's people.
        pairs = group_codes([mine.group, of_people], [len(mine.start) - 1, kinds], mine.count)
        group, kind = mine.group[pairs.first_row], of_people[pairs.first_row]
        size = np.diff(mine.start)
        held = [
            _HeldNumbers.of(rows, of_signature, numbers, size, of_row[lines.first_row][order])
            for rows, (of_row, of_signature, numbers) in zip(asked, wanted, strict=True)
        ]
        mass_of_line = np.zeros(lines.count)
        # Sum up where a target's values meet rows of a group: the smaller side is laid out, the
        # other searched; where several rows have to meet, the targets.
        by_lines = np.diff(line_start)[kind] <= np.diff(held[0].start)[group]
        by_lines |= len(held) > 1
        chosen = np.flatnonzero(by_lines)
        for part in stretches(np.diff(line_start)[kind[chosen]]):
            line, pair = entries_of(line_start, kind[chosen[part]])
            pair = chosen[part][pair]
            mass = pairs.size[pair].astype(np.float64)
            for numbers in held:
                mass *= numbers.share(group[pair], numbers.of_line[line])
            mass_of_line += np.bincount(order[line], mass, lines.count)
        chosen, (numbers, *_) = np.flatnonzero(~by_lines), held
        line_key = np.repeat(np.arange(kinds), np.diff(line_start)) * numbers.count
        line_key += numbers.of_line
        for part in stretches(np.diff(numbers.start)[group[chosen]]):
            entry, pair = entries_of(numbers.start, group[chosen[part]])
            pair = chosen[part][pair]
            wanted_key = kind[pair].astype(np.int64) * numbers.count + numbers.number[entry]
            line = places_of(line_key, wanted_key)
            met = line >= 0
            mass = pairs.size[pair[met]] * numbers.share_of_entry[entry[met]]
            mass_of_line += np.bincount(order[line[met]], mass, lines.count)
        domain = [*quasi, *(people[name] for name in sensitive)]
        every = math.prod(float(column.cardinality) for column in domain)
        return mass_of_line[lines.class_of_row] + self.suppressed_rows / every

    def pair_table(self, first: Column, second: Column) -> Floats:
        shape = first.cardinality, second.cardinality
        rows = next(rows for rows in self.rows if second.name in rows.codes)
        if first.name not in self.people.codes and first.name not in rows.codes:
            return self._table_of_independent(first, second)
        if first.name in rows.codes:
            of_signature = np.bincount(rows.signature, rows.mass, rows.signatures)
            cell = rows.codes[first.name].astype(np.int64) * shape[1] + rows.codes[second.name]
            table = np.bincount(cell, of_signature, shape[0] * shape[1]).astype(np.float64)
            return table.reshape(shape) + self.suppressed_rows / table.size
        start, value, mass = self._of_values(second)
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

    def _of_values(self, column: Column) -> tuple[Ints, Codes, Floats]:
        """The masses of the values of one attribute in each group, made once."""
        if column.name not in self._by_value:
            rows = next(rows for rows in self.rows if column.name in rows.codes)
            by_value = rows.by_number(rows.codes[column.name], column.cardinality)
            self._by_value[column.name] = by_value
        return self._by_value[column.name]

    def _table_of_independent(self, first: Column, second: Column) -> Floats:
        """The two-way table of sensitive attributes of which people have rows independently."""
        (start, value, mass), (other_start, other, other_mass) = map(
            self._of_values, (first, second)
        )
        group = np.repeat(np.arange(len(start) - 1), np.diff(start))
        mass = mass / np.maximum(np.diff(self.people.start), 1)[group]
        table = np.zeros(first.cardinality * second.cardinality)
        for part in stretches(np.diff(other_start)[group]):
            partner, entry = entries_of(other_start, group[part])
            cell = value[part][entry].astype(np.int64) * second.cardinality + other[partner]
            table += np.bincount(cell, mass[part][entry] * other_mass[partner], len(table))
        shape = first.cardinality, second.cardinality
        return table.reshape(shape) + self.suppressed_rows / table.size

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        """Every person with one of the group's rows, by mass."""
        group = self.people.group
        drawn = dict(self.people.codes)
        for rows in self.rows:
            reached = np.concatenate([[0.0], np.cumsum(rows.mass)])  # by all rows before
            low, high = reached[rows.start[:-1]][group], reached[rows.start[1:]][group]
            at = low + rng.random(len(group)) * (high - low)
            entry = np.searchsorted(reached, at, side="right") - 1
            last = rows.start[1:][group] - 1  # where rounding would reach beyond the group
            signature = rows.signature[np.minimum(entry, last)]
            drawn |= {name: codes[signature] for name, codes in rows.codes.items()}
        if not self.suppressed_rows:
            return drawn
        domain = {name: self.original[name].cardinality for name in drawn}
        return below(drawn, even_draw(domain, self.suppressed_rows, rng))


@dataclass(frozen=True, eq=False)
class _HeldNumbers:
    """The numbers of the sensitive rows that each group may hold, and one person's share of each.

    ``of_line`` has the number that each target asks for.
    """

    count: int
    start: Ints  # (groups + 1,)
    number: Codes  # (entries,) ascending in each group
    share_of_entry: Floats  # (entries,)
    key: Ints  # (entries,) of group and number
    of_line: Codes

    @classmethod
    def of(
        cls, rows: SensitiveRows, of_signature: Codes, numbers: int, size: Ints, of_line: Codes
    ) -> _HeldNumbers:
        """Number the rows of each group of so many people."""
        start, number, mass = rows.by_number(of_signature, numbers)
        group = np.repeat(np.arange(len(start) - 1), np.diff(start))
        share = mass / np.maximum(size, 1)[group]
        return cls(numbers, start, number, share, group * numbers + number, of_line)

    def share(self, group: Codes, number: Codes) -> Floats:
        """Return the share of numbers in groups; 0 where a group does not hold one."""
        at = places_of(self.key, group.astype(np.int64) * self.count + number)
        share = np.zeros(len(at))
        share[at >= 0] = self.share_of_entry[at[at >= 0]]
        return share


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
    """Sum over people whose quasi-identifiers are exact, in groups.

    They lose nothing but what was lost before the method.
    """
    sums = CellSums.of_sizes(people[GROUP].counts)
    for column in original.quasi_identifiers:
        source_codes(people, column)  # refuses values of another table
        code = code_of_value(column, people[column.name])
        counts = np.bincount(code, people[column.name].counts, column.cardinality)
        sums.loss[column.name] = 0.0 if column.lost is None else float(counts @ column.lost)
        sums.bits[column.name] = bits_of_cells(column, identity(column), counts.astype(np.int64))
    return sums


def group_numbers(people: CodedTable, other: CodedTable) -> Codes:
    """The group of each row of another table, in the people's codes."""
    code = code_of_text(people[GROUP].text, other[GROUP].text)
    if (code < 0).any():
        raise InputError("The release names groups without rows. Audit it first.")
    return code.astype(np.int32)[other[GROUP].codes]


def open_share(start: Ints, size: Ints, cardinality: int) -> float:
    """The mean over people of (values left possible − 1) / (values − 1)."""
    possible = np.diff(start)
    left_open = float(size @ ((possible - 1) / max(cardinality - 1, 1)))
    return left_open / max(int(size.sum()), 1)


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
    def readings() -> tuple[ImpliedGroups | None, ImpliedGroups]:
        return read_decomposed(original, tables, primary_of(manifest))

    return ImpliedReading(
        original, measures, lambda: readings()[0] or readings()[1], lambda: readings()[1]
    )


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


def read_decomposed(
    original: CodedTable, tables: Tables, primary: str
) -> tuple[ImpliedGroups | None, ImpliedGroups]:
    """p2 of a decomposed release: raked, and uniform as in the paper.

    The first is None where the rows that groups may hold are too many to rake. In the second each
    value of a set is as likely, and attributes are independent.
    """
    published, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names = [column.name for column in original.sensitive]
    code_of = {}
    for column in original.sensitive:
        source_codes(sensitive, column)
        code_of[column.name] = code_of_value(column, sensitive[column.name]).astype(np.int32)
    sets = read_sets(tables, names)
    people = people_of(original, published)
    # Raked: the rows of T^S within the sets.
    signatures = signatures_of(sensitive, names)
    fitted = rake(sets, signatures, names.index(primary), published[GROUP].counts)
    raked = None
    if fitted is not None:
        codes = {
            name: code_of[name][signatures.codes[:, place]] for place, name in enumerate(names)
        }
        rows = SensitiveRows(codes, len(signatures.count), *fitted)
        raked = ImpliedGroups(original, people, rows)
    # Uniform: the values of each attribute's sets.
    uniform = []
    for place, column in enumerate(original.sensitive):
        start, value = sets.of(place)
        length = np.diff(start)
        mass = np.repeat(np.diff(people.start) / np.maximum(length, 1), length)
        codes = {column.name: code_of[column.name]}
        uniform.append(SensitiveRows(codes, len(code_of[column.name]), start, value, mass))
    return raked, ImpliedGroups(original, people, *uniform)


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
