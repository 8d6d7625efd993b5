"""Decomposed releases: people in groups, the sets of values of each group, and T^S by itself.

``groups`` holds a row a person: quasi-identifiers, ``group``, insensitive columns. ``group_values``
lists, sorted, each value of each attribute that a person in a group may have. ``sensitive`` holds
the sensitive rows of all people with nothing that says whose they are.

Do groups and T^S agree on the primary attribute?

In a group with as many people as primary values each value is one person's. A merged group has more
people than values: each value belongs to a person, and how often is not published. The counts agree
if they can be chosen so that each value occurs in all groups together as often as in T^S: a flow
from the groups' further people to the rows of T^S that are left when each value was counted once.

Are the rows of T^S in the order of the people? Then row i would fit the sets of the group of the
person in row i more often than by chance (``row_order``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.io.column_dictionary import render
from discreet.methods.base import Decomposed, NoiseValues, Task
from discreet.releases.audit.row_order import (
    CHANCE,
    PLACES,
    are_related,
    chance_of_same_order,
)
from discreet.releases.kinds.base import Form, Kind, ReleaseTally, View, Worlds
from discreet.releases.kinds.grouped import (
    MEMBERSHIP,
    PUBLIC,
    exact_columns,
    group_column,
    group_sentences,
    invented_rows,
    people_table,
    random_numbers,
    refuse_roles,
    sole_groups,
    unaccounted_rows,
)
from discreet.releases.kinds.implied_groups import measure_sets, read_decomposition, sum_sets
from discreet.releases.manifest import Manifest, ReaderFinding
from discreet.releases.worlds.readers import (
    READERS,
    Assignments,
    count_unsupported,
    kept_values,
    reader_findings,
)
from discreet.releases.worlds.sensitive_sets import (
    ATTRIBUTE,
    PEOPLE,
    SENSITIVE,
    VALUE,
    VALUES,
    SensitiveSignatures,
    SetsAndRows,
    are_listed_in_order,
    primary_of,
    signatures_with,
)
from discreet.requirements.base import Domains, Requirement
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.sa_diversity import ConditionalLDiversity, SaDiversity
from discreet.statements import Statement
from discreet.table.assignments import World, are_within
from discreet.table.budgets import FIGURE_ROWS
from discreet.table.code_maps import code_of_text, code_of_value, taken
from discreet.table.coded_table import CodedTable, Column, Itself, SourceRows, Tables
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.graphs import greatest_flow
from discreet.table.kernels.lists import starts_of
from discreet.table.published import GROUP, PublishedColumn, PublishedTable
from discreet.table.roles import Role
from discreet.typing import AnyInts, Bools, Floats, Ints, Ints32
from discreet.utility.cell_sums import CellSums
from discreet.utility.figures import ImpliedReading, Measures

DERIVABLE = (SaDiversity, DistinctLDiversity, KAnonymity, ConditionalLDiversity)


class DecomposedKind(Kind):
    """Three tables; only ``groups`` and ``group_values`` share the group."""

    name: ClassVar[str] = "decomposed"
    outcome: ClassVar[type] = Decomposed
    publishes_counts: ClassVar[bool] = False
    makes_alike: ClassVar[bool] = False
    numbers_groups: ClassVar[bool] = True
    has_sensitive_table: ClassVar[bool] = True
    finding_rows: ClassVar[int] = FIGURE_ROWS
    derivable: ClassVar[tuple[type[Requirement], ...]] = DERIVABLE

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

    def views(self, tables: Tables, domains: Domains, *, refined: bool) -> list[View]:
        coded, sensitive = SetsAndRows.of(tables), tables[SENSITIVE]
        values = {}
        for number, name in enumerate(coded.names):
            start, value = coded.sets.of(number)
            once = np.ones(len(value), np.int64)  # how often is not published
            values[name] = ValueCounts(start, value, once, sensitive[name].cardinality)
        remaining = partial(_remaining_values, coded, sensitive)
        return [View(ClassCounts(coded.size, values, values_left=remaining), domains)]

    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        return _set_problems(SetsAndRows.of(tables))

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

    def worlds(
        self, tables: Tables, manifest: Manifest, source_rows: SourceRows | None = None
    ) -> Worlds:
        return _DecomposedWorlds(tables, manifest, source_rows)

    def order_problems(self, tables: Tables) -> list[str]:
        if not are_related(fitting_places(tables)):
            return []
        return [
            f"the rows of '{SENSITIVE}' are in the same order as those of '{PEOPLE}', which links "
            "them"
        ]

    def changes(
        self,
        tables: Tables,
        task: Task,
        manifest: Manifest,
        source_rows: SourceRows | None = None,
        *,
        part: bool = False,
    ) -> list[str]:
        people, sensitive = tables[PEOPLE], tables[SENSITIVE]
        problems = unaccounted_rows(people, task, manifest)
        if problems or sensitive.rows != task.table.rows:
            source_rows = None
        traced = source_rows or {}
        problems += invented_rows(people, PEOPLE, task, traced.get(PEOPLE))
        problems += invented_rows(sensitive, SENSITIVE, task, traced.get(SENSITIVE))
        if problems:
            return problems
        if source_rows is None:
            every = np.arange(task.table.rows, dtype=np.int32)
            return _lost_values(tables, task, sole_groups(people, task.table), every)
        if _holds_source(tables, task, source_rows):
            return []
        return _lost_values(tables, task, people[GROUP].codes, source_rows[PEOPLE])

    def reading(self, tables: Tables, task: Task, manifest: Manifest) -> ImpliedReading[Measures]:
        return read_decomposition(task.table, tables, manifest)

    def sums(self, tables: Tables, task: Task, manifest: Manifest) -> dict[str, CellSums]:
        return {"": sum_sets(task.table, tables)}

    def measures(
        self, sums: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
    ) -> Measures:
        return measure_sets(sums[""], task.table)

    def sentences(self, manifest: Manifest) -> list[str]:
        primary = getattr(manifest.method, "primary", "")
        return [
            *group_sentences(manifest),
            Statement("decomposition.lists", primary=primary),
            Statement("decomposition.confidence"),
        ]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        return [
            Statement("weakness.sensitive-table"),
            MEMBERSHIP,
        ]


class _DecomposedWorlds(Worlds):
    """All assignments of the rows of T^S to the people of groups, within the groups' sets."""

    def __init__(self, tables: Tables, manifest: Manifest, source_rows: SourceRows | None) -> None:
        self._tables, self._manifest, self._source_rows = tables, manifest, source_rows

    def problems(self) -> list[str]:
        tables = self._tables
        problems = _struck_problems(tables, primary_of(self._manifest), self._source_rows)
        if not are_listed_in_order(tables[VALUES], tables[SENSITIVE], SetsAndRows.of(tables).names):
            problems.append(f"'{VALUES}' is not sorted by group, attribute and value")
        return problems

    def remarks(self) -> list[str]:
        remarks = _unjudged(self._tables, primary_of(self._manifest))
        fitting = fitting_places(self._tables)
        chance = chance_of_same_order(fitting)
        if fitting.diagonal().all() and CHANCE <= chance < 1:
            remarks.append(
                f"Each row of '{SENSITIVE}' fits the group of the row of '{PEOPLE}' at the same "
                f"place. A random order does that with a chance of at most {chance:.2g}, too much "
                "to tell an accident from rows that were never shuffled. Publish again for another "
                "order."
            )
        return remarks

    def readers(self) -> list[ReaderFinding]:
        return reader_findings(self._tables, self._manifest)

    def evidence(self) -> PrimaryCounts:
        primary, coded = primary_of(self._manifest), SetsAndRows.of(self._tables)
        start, value = coded.sets.of(coded.names.index(primary))
        return PrimaryCounts.of(start, value, coded.size, self._tables[SENSITIVE][primary].counts)


def _remaining_values(
    coded: SetsAndRows,
    sensitive: CodedTable,
    reader: str,
    known: str,
    harmless: Sequence[str | None],
) -> Mapping[str, Floats] | None:
    """The least number of values that an attacker who uses T^S keeps in each group, by attribute.

    Infinite where the attacker is left with harmless values alone; None for an unknown attacker.
    """
    if reader not in READERS or known not in coded.names:
        return None
    names, sets, signatures, _ = coded
    number = names.index(known)
    remaining = kept_values(sets, signatures, number, reader)
    # An attacker who is left with harmless values learns no secret.
    if harmless:
        remaining = remaining.astype(np.float64)
        for place, name in enumerate(names):
            secret = np.array([text not in harmless for text in sensitive[name].text.to_list()])
            part = signatures_with(signatures, place, secret)
            exposed = kept_values(sets, part.rows, number, reader)[:, place] > 0
            remaining[~exposed, place] = np.inf
    # The worst known value of each group.
    start, _ = sets.of(number)
    group = np.repeat(np.arange(sets.groups), np.diff(start))
    least = np.full((sets.groups, len(names)), np.inf)
    np.minimum.at(least, group, remaining)
    return {name: least[:, place] for place, name in enumerate(names)}


def _group_values(
    columns: Sequence[Column],
    group: Ints32,
    groups: int,
    number: Ints32,
    noise: Mapping[str, NoiseValues],
) -> PublishedTable:
    """Each value of each attribute and group once, sorted by group, attribute and value."""
    sizes = [column.cardinality for column in columns]
    every = sum(sizes)  # values of all attributes
    narrow: Any = np.uint32 if groups * every < 2**32 else np.uint64  # sorted in half the time
    # A key for each entry, of a person or of noise: its group, then its value.
    keys, before = [], 0
    for column in columns:
        keys.append(group.astype(narrow) * narrow(every) + (column.codes + before).astype(narrow))
        if column.name in noise:
            added = noise[column.name]
            of_noise = number[added.group].astype(narrow) * narrow(every)
            keys.append(of_noise + (added.value + before).astype(narrow))
        before += column.cardinality
    in_group, value = (part.astype(np.int32) for part in np.divmod(_distinct(keys), narrow(every)))
    # The texts of all attributes follow each other, as their values do.
    attribute = np.repeat(np.arange(len(columns), dtype=np.int32), sizes)[value]
    texts = pl.concat([render(column.values).alias(VALUE) for column in columns])
    names = pl.Series(ATTRIBUTE, [column.name for column in columns])
    published = [
        group_column(in_group, groups),
        PublishedColumn(ATTRIBUTE, Role.STRUCTURE, attribute, names),
        PublishedColumn(VALUE, Role.STRUCTURE, value, texts),
    ]
    return PublishedTable(VALUES, published, len(value), keeps_order=True)


def _distinct(keys: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the keys in ascending order, each once."""
    key = np.concatenate(keys)
    key.sort()
    return key[np.concatenate(([True], key[1:] != key[:-1]))[: len(key)]]


def _unjudged(tables: Tables, primary: str) -> list[str]:
    """Return what to say where people and rows are too many to look for assignments."""
    names, sets, signatures, size = SetsAndRows.of(tables)
    if Assignments(sets, signatures, names.index(primary), size).ruled_out() is not None:
        return []
    return [
        f"The release is too large to look for assignments of all rows of '{SENSITIVE}' to groups: "
        f"each value of '{VALUES}' was found possible in its group by itself. The method leaves no "
        "value that only all groups together rule out; this audit cannot tell."
    ]


def _set_problems(coded: SetsAndRows) -> list[str]:
    """Whether the sets name what exists, and values that a row supports in their group."""
    sets = coded.sets
    problems = []
    if sets.unknown:
        problems.append(
            f"{sets.unknown} rows of '{VALUES}' name no group, attribute or value of the others"
        )
    if sets.doubled:
        problems.append(f"{sets.doubled} rows of '{VALUES}' are duplicates")
    local = count_unsupported(sets, coded.signatures)
    return problems + [
        f"{count} values of '{name}' in '{VALUES}' can be ruled out: no row of '{SENSITIVE}' "
        "supports them in their group"
        for name, count in zip(coded.names, local, strict=True)
        if count
    ]


def _struck_problems(tables: Tables, primary: str, source_rows: SourceRows | None) -> list[str]:
    """Whether any reader of all groups can strike out a value of a set."""
    names, sets, signatures, size = SetsAndRows.of(tables)
    world = None if source_rows is None else _source_world(tables[PEOPLE], signatures, source_rows)
    struck = Assignments(sets, signatures, names.index(primary), size, world).struck_values()
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
    people: CodedTable, signatures: SensitiveSignatures, source_rows: SourceRows
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


def _holds_source(tables: Tables, task: Task, source_rows: SourceRows) -> bool:
    """Return whether the sets of people's groups are known to hold the people's own values.

    They are where the traced rows of T^S have the values of the source and are within the sets,
    which was found with the worlds of the release.
    """
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    names, sets, signatures, _ = SetsAndRows.of(tables)
    known = (code_of_text(task.table[name].text, sensitive[name].text) for name in names)
    if any((code < 0).any() for code in known):  # masked
        return False
    world = _source_world(people, signatures, source_rows)
    return world is not None and are_within(sets, signatures.codes, world)


def _lost_values(tables: Tables, task: Task, group: AnyInts, source_row: Ints32) -> list[str]:
    """Whether the sets of people's groups, as far as these are known, hold their own values."""
    sensitive, (names, sets, *_) = tables[SENSITIVE], SetsAndRows.of(tables)
    problems = []
    known = group >= 0
    if not known.all():
        group, source_row = group[known], source_row[known]
    for number, name in enumerate(names):
        code = code_of_value(sensitive[name], task.table[name]).astype(np.int32)
        value = code.take(task.table[name].codes.take(source_row))
        lost = len(value) - int(np.count_nonzero(sets.hold(number, group, value)))
        if lost:
            problems.append(f"{lost} rows are in a group without their value of '{name}'")
    return problems


@dataclass(frozen=True, eq=False)
class PrimaryCounts:
    """What some groups say of the primary values; what all say is compared with T^S."""

    listed: Ints  # (values,) the groups that list each
    rows_of_value: Ints  # (values,) rows of T^S, the same for all groups
    further: Ints  # (crowded groups,) people beyond one for each value
    start: Ints  # (crowded groups + 1,)
    value: Ints32  # the primary sets of these groups
    short: bool  # whether some group has fewer people than values

    @classmethod
    def of(cls, start: Ints, value: Ints32, size: Ints, rows_of_value: Ints) -> PrimaryCounts:
        """``start`` and ``value`` are the primary sets of the groups, ``size`` their people."""
        further = size - np.diff(start)
        crowded = np.flatnonzero(further > 0)
        length = np.diff(start)[crowded]
        first = starts_of(length)
        edges = np.arange(first[-1]) + np.repeat(start[crowded] - first[:-1], length)
        listed = np.bincount(value, minlength=len(rows_of_value)).astype(np.int64)
        short = bool((further < 0).any())
        return cls(listed, rows_of_value, further[crowded], first, value[edges], short)


def counts_agree(parts: Sequence[PrimaryCounts]) -> bool:
    """Whether all groups and T^S agree."""
    left = parts[0].rows_of_value - sum(part.listed for part in parts)
    further = np.concatenate([part.further for part in parts])
    if any(part.short for part in parts) or (left < 0).any() or further.sum() != left.sum():
        return False
    if not len(further):
        return True
    length = np.concatenate([np.diff(part.start) for part in parts])
    start = starts_of(length)
    flow = greatest_flow(left, further, start, np.concatenate([part.value for part in parts]))
    return bool(flow.sum() == left.sum())


def fitting_places(tables: Tables) -> Bools:
    """(places, places) Return whether the group of each person holds each row of T^S.

    Of some places only, the same in both tables; of none where they differ in their rows.
    """
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    rows = people.rows if people.rows == sensitive.rows else 0
    places = np.linspace(0, max(rows - 1, 0), min(rows, PLACES)).astype(np.int64)
    _, sets, signatures, _ = SetsAndRows.of(tables)
    # Each person of these places beside each row of these places.
    group = np.repeat(people[GROUP].codes[places], len(places))
    fits = np.ones(len(group), np.bool_)
    for attribute, value in enumerate(signatures.codes[signatures.of_row[places]].T):
        fits &= sets.hold(attribute, group, np.tile(value, len(places)))
    return fits.reshape(len(places), len(places))
