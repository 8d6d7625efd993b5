"""Decomposed releases: people in groups, the sets of values of each group, and T^S by itself.

``groups`` holds a row a person: quasi-identifiers, ``group``, insensitive columns. ``group_values``
lists, sorted, each value of each attribute that a person in a group may have. ``sensitive`` holds
the sensitive rows of all people with nothing that says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.io.column_dictionary import render
from discreet.methods.base import Decomposed, NoiseValues, Task
from discreet.releases.kinds.base import Kind, View
from discreet.releases.kinds.decomposed.aligned_order import FEW, chance_of_order
from discreet.releases.kinds.decomposed.implied import measure_sets, read_decomposition, sum_sets
from discreet.releases.kinds.decomposed.link_readers import FINDING_ROWS, reader_findings
from discreet.releases.kinds.decomposed.primary_counts import PrimaryCounts, counts_agree
from discreet.releases.kinds.decomposed.sensitive_sets import (
    ATTRIBUTE,
    PEOPLE,
    SENSITIVE,
    VALUE,
    VALUES,
    SensitiveSignatures,
    are_listed_in_order,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.releases.kinds.decomposed.supported_sets import (
    READERS,
    count_unsupported,
    kept_values,
    rows_ruled_out,
    struck_values,
)
from discreet.releases.kinds.grouped_people import (
    MEMBERSHIP,
    PUBLIC,
    exact_columns,
    group_column,
    group_columns,
    group_sentences,
    number_problems,
    people_changes,
    people_table,
    random_numbers,
    refuse_roles,
    sole_groups,
    traced_people,
    traced_rows,
)
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.releases.release_tally import ReleaseTally
from discreet.releases.table_forms import Form
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.sa_diversity import ConditionalLDiversity, SaDiversity
from discreet.table.assignments import EDGES, Sets, World, are_within
from discreet.table.code_maps import code_of_text, code_of_value, excess_rows, taken
from discreet.table.coded_table import CodedTable, Column, Itself
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.published import GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import AnyInts, Ints32
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import Measures
from discreet.utility.reading import ImpliedReading

DERIVABLE = (SaDiversity, DistinctLDiversity, KAnonymity, ConditionalLDiversity)
CHANCE = (
    1e-9  # below it, rows in the order that they would have without a shuffle are no coincidence
)
MARKS_AT_ONCE = 1 << 17  # of groups and values, so that they stay in the cache
MARKS_OF_ENTRY = 8  # at most: bytes that sorting it would take
MARKED_AT_ONCE = 1 << 15  # rows, so that the marks of their groups stay in the cache


class DecomposedKind(Kind):
    """Three tables; only ``groups`` and ``group_values`` share the group."""

    name: ClassVar[str] = "decomposed"
    outcome: ClassVar[type] = Decomposed
    publishes_counts: ClassVar[bool] = False
    makes_alike: ClassVar[bool] = False
    numbers_groups: ClassVar[bool] = True
    has_sensitive_table: ClassVar[bool] = True
    finding_rows: ClassVar[int] = FINDING_ROWS

    def tables(self, task: Task, outcome: Decomposed) -> dict[str, PublishedTable]:
        refuse_roles(task.table, self.name)
        number, groups = random_numbers(outcome.group_of_row, task.orders)
        group = number[outcome.group_of_row]
        sensitive = task.table.sensitive
        return {
            PEOPLE: people_table(PEOPLE, task, group, groups, None),
            VALUES: _group_values(sensitive, group, groups, number, outcome.noise),
            SENSITIVE: PublishedTable(SENSITIVE, exact_columns(sensitive, None), task.table.rows),
        }

    def forms(self, tables: int) -> Mapping[str, Form]:
        return {
            PEOPLE: Form(PUBLIC, (GROUP,)),
            VALUES: Form((), (GROUP, ATTRIBUTE, VALUE)),
            SENSITIVE: Form((Role.SENSITIVE,), wanted=Role.SENSITIVE),
        }

    def suppressed(self, outcome: Decomposed) -> int:
        return 0

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        names = [column.name for column in tables[SENSITIVE].sensitive]
        sets = read_sets(tables, names)
        values = {}
        for number, name in enumerate(names):
            start, value = sets.of(number)
            once = np.ones(len(value), np.int64)  # how often is not published
            values[name] = ValueCounts(start, value, once, tables[SENSITIVE][name].cardinality)
        kept = _Kept(sets, tables[SENSITIVE], names)
        return [View(ClassCounts(tables[PEOPLE][GROUP].counts, values, kept=kept), domains)]

    def verdict(self, requirement: Requirement, views: Sequence[View]) -> Verdict | None:
        if not isinstance(requirement, DERIVABLE):  # it needs counts, which are not published
            return Verdict(False, {})
        return super().verdict(requirement, views)

    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        return {"": tables[PEOPLE][GROUP].counts}

    def class_columns(self, manifest: Manifest, table: str) -> list[str] | None:
        return group_columns(manifest, table)

    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        names = [column.name for column in tables[SENSITIVE].sensitive]
        return _set_problems(read_sets(tables, names), tables[SENSITIVE], names)

    def evidence(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> PrimaryCounts:
        sensitive, primary = tables[SENSITIVE], primary_of(manifest)
        names = [column.name for column in sensitive.sensitive]
        start, value = read_sets(tables, names).of(names.index(primary))
        size = tables[PEOPLE][GROUP].counts
        return PrimaryCounts.of(start, value, size, sensitive[primary].counts)

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        problems = super().joined_problems(manifest, tally, evidence)
        if not evidence:
            return problems
        rows, people = int(evidence[0].rows_of_value.sum()), tally.rows.get(PEOPLE, 0)
        if rows != people:
            problems.append(f"'{SENSITIVE}' has {rows} rows, '{PEOPLE}' has {people}")
        if not counts_agree(evidence):
            primary = primary_of(manifest)
            problems.append(
                f"groups and '{SENSITIVE}' disagree on how often values of '{primary}' occur"
            )
        return problems

    def world_problems(
        self,
        tables: Mapping[str, CodedTable],
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]] | None = None,
    ) -> list[str]:
        return _struck_problems(tables, primary_of(manifest), source_rows)

    def structure_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        problems = number_problems(tables[PEOPLE], PEOPLE)
        names = [column.name for column in tables[SENSITIVE].sensitive]
        if not are_listed_in_order(tables[VALUES], tables[SENSITIVE], names):
            problems.append(f"'{VALUES}' is not sorted by group, attribute and value")
        return problems

    def order_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        names = [column.name for column in sensitive.sensitive]
        return _order_problems(read_sets(tables, names), signatures_of(sensitive, names), people)

    def remarks(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        if people.rows >= FEW:
            return _unjudged(tables, primary_of(manifest))
        names = [column.name for column in sensitive.sensitive]
        signatures = signatures_of(sensitive, names)
        chance = chance_of_order(read_sets(tables, names), signatures, people[GROUP].codes)
        if not CHANCE <= chance < 1:
            return []
        return [
            f"Each row of '{SENSITIVE}' fits the group of the row of '{PEOPLE}' at the same place. "
            f"A random order does that with a chance of about {chance:.2g}, too much for so few "
            "rows to tell an accident from rows that were never shuffled. Publish again for "
            "another order."
        ]

    def readers(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[ReaderFinding]:
        return reader_findings(tables, manifest)

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = people_changes(people, PEOPLE, task, manifest)
        names = [column.name for column in sensitive.sensitive]
        invented = excess_rows(sensitive, names, task.table)
        if invented:
            problems.append(f"{invented} rows of '{SENSITIVE}' are not in the original")
        if problems:
            return problems
        sole = sole_groups(people, task.table)
        return _lost_values(tables, task, sole, np.arange(task.table.rows, dtype=np.int32))

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = traced_people(people, PEOPLE, task, manifest, source_rows[PEOPLE])
        problems += traced_rows(sensitive, SENSITIVE, task, source_rows[SENSITIVE])
        if problems or sensitive.rows != task.table.rows:
            return problems or self.changes(tables, task, manifest)
        if _holds_source(tables, task, source_rows):
            return []
        return _lost_values(tables, task, people[GROUP].codes, source_rows[PEOPLE])

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[Measures]:
        return read_decomposition(task.table, tables, manifest)

    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        return {"": sum_sets(task.table, tables)}

    def measures(
        self,
        sums: Mapping[str, CellSums],
        task: Task,
        manifest: Manifest,
        facts: Mapping[str, Any],
    ) -> Measures:
        return measure_sets(sums[""], task.table)

    def sentences(self, manifest: Manifest) -> list[str]:
        primary = getattr(manifest.method, "primary", "")
        return [
            *group_sentences(manifest),
            (
                "For each group and sensitive attribute, the possible values are listed once; "
                f"groups were formed on '{primary}'. Some listed values may be noise: no row of "
                "the group has them, but whole sensitive rows support them like the others."
            ),
            "Listing l values does not limit the attacker's confidence to 1/l: a value that is "
            "common overall remains the best guess.",
        ]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [
            "Several sensitive attributes: an attacker who knows one sensitive value of a target "
            "can rule out values of the others (link-through-sensitive-table).",
            MEMBERSHIP,
        ]


class _Kept(Mapping[tuple[str, str], Mapping[str, NDArray[np.float64]]]):
    """What attackers who use T^S keep, found when it is asked for."""

    def __init__(self, sets: Sets, sensitive: CodedTable, names: Sequence[str]) -> None:
        self._sets, self._sensitive, self._names = sets, sensitive, names

    def __getitem__(self, key: tuple[str, str]) -> Mapping[str, NDArray[np.float64]]:
        reader, known = key
        if reader not in READERS or known not in self._names:
            raise KeyError(key)
        number = self._names.index(known)
        signatures = signatures_of(self._sensitive, self._names)
        kept = kept_values(self._sets, signatures, number, reader)
        start, _ = self._sets.of(number)
        group = np.repeat(np.arange(self._sets.groups), np.diff(start))
        least = np.full((self._sets.groups, len(self._names)), np.inf)
        np.minimum.at(least, group, kept)
        return {name: least[:, place] for place, name in enumerate(self._names)}

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((reader, known) for reader in READERS for known in self._names)

    def __len__(self) -> int:
        return len(READERS) * len(self._names)


def _group_values(
    columns: Sequence[Column],
    group: NDArray[np.int32],
    groups: int,
    number: NDArray[np.int32],
    noise: Mapping[str, NoiseValues],
) -> PublishedTable:
    """Each value of each attribute and group once, sorted by group, attribute and value."""
    offset = np.cumsum([0, *(column.cardinality for column in columns)])
    every = int(offset[-1])  # values of all attributes
    entries = [(group, c.codes, int(b)) for c, b in zip(columns, offset, strict=False)]
    entries += [
        (number[noise[c.name].group], noise[c.name].value, int(b))
        for c, b in zip(columns, offset, strict=False)
        if c.name in noise
    ]
    in_group, value = _distinct_entries(entries, groups, every)
    sizes = [column.cardinality for column in columns]
    attribute = np.repeat(np.arange(len(columns), dtype=np.int32), sizes)[value]
    texts = pl.concat([render(column.values).alias(VALUE) for column in columns])
    names = pl.Series(ATTRIBUTE, [column.name for column in columns])
    published = [
        group_column(in_group, groups),
        PublishedColumn(ATTRIBUTE, Role.STRUCTURE, attribute, names),
        PublishedColumn(VALUE, Role.STRUCTURE, value, texts),
    ]
    return PublishedTable(VALUES, published, len(value), keeps_order=True)


Entries = Sequence[tuple[AnyInts, AnyInts, int]]  # groups, values, values of attributes before


def _distinct_entries(entries: Entries, groups: int, every: int) -> tuple[Ints32, Ints32]:
    """Return the group and the value of each distinct entry, sorted by both.

    ``every`` is the number of values. Entries are marked in a table where that takes no more
    memory than to sort them.
    """
    count = sum(len(group) for group, _, _ in entries)
    if groups * every > MARKS_OF_ENTRY * count:
        return _sorted_entries(entries, groups, every, count)
    occurs = np.zeros(groups * every, np.bool_)
    longest = max(len(group) for group, _, _ in entries)
    for first in range(0, longest, MARKED_AT_ONCE):
        part = slice(first, first + MARKED_AT_ONCE)
        for group, value, before in entries:
            place = np.multiply(group[part], every, dtype=np.int64)
            place += value[part]
            occurs[before:][place] = True
    found = np.count_nonzero(occurs)
    in_group, of_group = np.empty(found, np.int32), np.empty(found, np.int32)
    done, some = 0, max(1, MARKS_AT_ONCE // every)
    for first in range(0, groups, some):
        marked = np.flatnonzero(occurs[first * every : (first + some) * every]).astype(np.uint32)
        part = slice(done, done + len(marked))
        np.floor_divide(marked, np.uint32(every), out=in_group[part], casting="unsafe")
        np.subtract(marked, in_group[part] * every, out=of_group[part], casting="unsafe")
        in_group[part] += first
        done += len(marked)
    return in_group, of_group


def _sorted_entries(entries: Entries, groups: int, every: int, count: int) -> tuple[Ints32, Ints32]:
    """Do the same by sorting one key for each entry."""
    narrow = np.uint32 if groups * every < 2**32 else np.uint64  # sorted in half the time
    key: NDArray[Any] = np.empty(count, narrow)
    done = 0
    for group, value, before in entries:
        own = key[done : done + len(group)]
        own[:] = group
        own *= narrow(every)
        own += (value + before).astype(narrow)
        done += len(group)
    key.sort()
    first = np.ones(len(key), np.bool_)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    key = key[first]
    return (key // narrow(every)).astype(np.int32), (key % narrow(every)).astype(np.int32)


def _order_problems(sets: Sets, signatures: SensitiveSignatures, people: CodedTable) -> list[str]:
    if chance_of_order(sets, signatures, people[GROUP].codes) >= CHANCE:
        return []
    return [
        f"the rows of '{SENSITIVE}' are in the same order as those of '{PEOPLE}', which links them"
    ]


def _unjudged(tables: Mapping[str, CodedTable], primary: str) -> list[str]:
    """Return what to say where people and rows are too many to look for assignments."""
    sensitive = tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    sets, signatures = read_sets(tables, names), signatures_of(sensitive, names)
    place, size = names.index(primary), tables[PEOPLE][GROUP].counts
    if rows_ruled_out(sets, signatures, place, size) is not None:
        return []
    length = np.diff(sets.start).reshape(len(names), sets.groups).astype(np.float64)
    most = np.minimum(length.prod(axis=0), len(signatures.count)).sum()
    if most <= EDGES:
        return []
    return [
        f"The release is too large to look for assignments of all rows of '{SENSITIVE}' to groups: "
        f"each value of '{VALUES}' was found possible in its group by itself. The method leaves no "
        "value that only all groups together rule out; this audit cannot tell."
    ]


def _set_problems(sets: Sets, sensitive: CodedTable, names: Sequence[str]) -> list[str]:
    """Whether the sets name what exists, and values that a row supports in their group."""
    problems = []
    if sets.unknown:
        problems.append(
            f"{sets.unknown} rows of '{VALUES}' name no group, attribute or value of the others"
        )
    if sets.doubled:
        problems.append(f"{sets.doubled} rows of '{VALUES}' are duplicates")
    local = count_unsupported(sets, signatures_of(sensitive, names))
    return problems + [
        f"{count} values of '{name}' in '{VALUES}' can be ruled out: no row of '{SENSITIVE}' "
        "supports them in their group"
        for name, count in zip(names, local, strict=True)
        if count
    ]


def _struck_problems(
    tables: Mapping[str, CodedTable],
    primary: str,
    source_rows: Mapping[str, NDArray[np.int32]] | None,
) -> list[str]:
    """Whether any reader of all groups can strike out a value of a set."""
    names = [column.name for column in tables[SENSITIVE].sensitive]
    sets, signatures = read_sets(tables, names), signatures_of(tables[SENSITIVE], names)
    place, size = names.index(primary), tables[PEOPLE][GROUP].counts
    world = None if source_rows is None else _source_world(tables[PEOPLE], signatures, source_rows)
    struck = struck_values(sets, signatures, place, size, world)
    if struck is None:
        return []
    counts, complete = struck
    if not complete:
        return [f"the rows of '{SENSITIVE}' cannot be assigned to groups within the groups' sets"]
    return [
        f"{count} values of '{name}' in '{VALUES}' can be ruled out: no assignment of all rows "
        f"of '{SENSITIVE}' to groups gives them to a row of their group"
        for name, count in zip(names, counts, strict=True)
        if count
    ]


def _source_world(
    people: CodedTable,
    signatures: SensitiveSignatures,
    source_rows: Mapping[str, NDArray[np.int32]],
) -> World | None:
    """Return the assignment that is the source; None where rows are not traced one to one."""
    of_person, of_row = source_rows[PEOPLE], source_rows[SENSITIVE]
    return people.once(
        ("world", signatures, Itself(of_person), Itself(of_row)),
        lambda: _traced_world(people, signatures, of_person, of_row),
    )


def _traced_world(
    people: CodedTable, signatures: SensitiveSignatures, of_person: Ints32, of_row: Ints32
) -> World | None:
    if len(of_person) != len(people[GROUP].codes) or len(of_row) != len(signatures.of_row):
        return None
    signature = np.full(max(of_person.max(initial=-1), of_row.max(initial=-1)) + 1, -1, np.int32)
    signature[of_row] = signatures.of_row
    signature = taken(signature, of_person)
    return World(people[GROUP].codes, signature) if (signature >= 0).all() else None


def _holds_source(
    tables: Mapping[str, CodedTable], task: Task, source_rows: Mapping[str, NDArray[np.int32]]
) -> bool:
    """Return whether the sets of people's groups are known to hold the people's own values.

    They are where the traced rows of T^S have the values of the source and are within the sets,
    which was found with the worlds of the release.
    """
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    known = (code_of_text(task.table[name].text, sensitive[name].text) for name in names)
    if any((code < 0).any() for code in known):  # masked
        return False
    signatures = signatures_of(sensitive, names)
    world = _source_world(people, signatures, source_rows)
    return world is not None and are_within(read_sets(tables, names), signatures.codes, world)


def _lost_values(
    tables: Mapping[str, CodedTable],
    task: Task,
    group: NDArray[np.integer],
    source_row: NDArray[np.int32],
) -> list[str]:
    """Whether the sets of people's groups, as far as these are known, hold their own values."""
    sensitive = tables[SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    sets = read_sets(tables, names)
    problems = []
    known = group >= 0
    if not known.all():
        group, source_row = group[known], source_row[known]
    for number, name in enumerate(names):
        code = code_of_value(sensitive[name], task.table[name]).astype(np.int32)
        own = code.take(task.table[name].codes.take(source_row))
        lost = len(own) - int(np.count_nonzero(sets.hold(number, group, own)))
        if lost:
            problems.append(f"{lost} rows are in a group without their value of '{name}'")
    return problems
