"""Projected releases: several tables about the same people, with disjoint sensitive attributes.

Each table ``projection_1`` … ``projection_N`` has all quasi-identifiers, generalized on its own,
and some of the sensitive attributes; insensitive columns go with the first. What protects people
across tables is that nothing says which rows belong together, so the audit also tests that the
orders of the rows are unrelated (``orders``).

What a projected release is worth: each table by itself, and what the tables say together.

p2 of a projected release. A query whose sensitive attributes all are in one table is answered by
that table; one without any, by the base b, the table with the least loss. Else

    p2(q, s) = p_b(q, s_b) · Π p_u(s_u | class of q in table u)

summed over the quasi-identifiers q that it asks for (``meetings``). The lists of classes that meet
are made once for each set of tables that some query needs.

The classes of several tables about the same people that meet.

A class of the base lies evenly over the values that its cells cover, so its part in a class of
another table is the share of its values that lie in it, attribute by attribute. Where some of its
values lie in no class of another table (the base spreads over combinations that no person has), the
others answer by their whole tables. Where the classes of another table overlap (local recoding),
values are split evenly between those that cover them, on average over the class of the base.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import fitting_groups
from discreet.methods.base import Projected, Task, projection_name
from discreet.releases.adversary_view import AdversaryView, view_of_classes
from discreet.releases.audit.matching import unexplained_rows
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.kinds.base import Form, Kind, ReleaseTally, View, coarseness
from discreet.releases.kinds.generalized import (
    CoveredCells,
    MeasuredTable,
    mask_problems,
    recoded_table,
)
from discreet.releases.manifest import Manifest
from discreet.requirements.base import Domains
from discreet.requirements.mutual_information import association_loss, information_exposure
from discreet.statements import Statement
from discreet.table.budgets import AT_ONCE
from discreet.table.classes import classes_of, group_codes
from discreet.table.coded_table import CodedTable, Column, SourceRows, Tables
from discreet.table.counts import count_classes, order_by_class
from discreet.table.kernels.lists import sums_of
from discreet.table.published import PublishedTable
from discreet.table.roles import Role
from discreet.typing import Bools, Codes, Floats, Ints
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import ImpliedReading, ProjectedMeasures
from discreet.utility.implied import Implied, QueryBatch

AGREEMENT = 1e-9  # of a ratio in the manifest with the same derived again


class ProjectedKind(Kind):
    """N tables, in each a row for every published person."""

    name: ClassVar[str] = "projected"
    outcome: ClassVar[type] = Projected
    spreads_sensitive: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Projected) -> dict[str, PublishedTable]:
        tables = {}
        for number, projection in enumerate(outcome.projections):
            columns = [
                column
                for column in task.table
                if column.role is Role.QUASI_IDENTIFIER
                or column.name in projection.attributes
                or (column.role.unchanged and number == 0)
            ]
            name = projection_name(number)
            tables[name] = recoded_table(name, columns, projection.recoding)
        return tables

    def forms(self, tables: int) -> Mapping[str, Form]:
        attributes = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        first = (*attributes, Role.INSENSITIVE, Role.WEIGHT)
        return {projection_name(i): Form(attributes if i else first) for i in range(max(tables, 1))}

    def views(self, tables: Tables, domains: Domains, *, refined: bool) -> list[View]:
        return [
            View(count_classes(table.classes, table.sensitive, refined=refined), domains)
            for table in tables.values()
        ]

    def shard_problems(self, tables: Tables, manifest: Manifest) -> list[str]:
        return [line for table in tables.values() for line in mask_problems(table, manifest)]

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        problems = super().joined_problems(manifest, tally, evidence)
        return [*problems, *_plan_problems(manifest), *_bound_problems(manifest, tally)]

    def order_problems(self, tables: Tables) -> list[str]:
        return [
            same_order(first, second, related)
            for first, second in combinations(tables, 2)
            if (related := related_columns(tables[first], tables[second]))
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
        problems = []
        if manifest.source_rows != task.table.rows:
            problems.append(
                f"the original has {task.table.rows} rows; the manifest says {manifest.source_rows}"
            )
        for name, table in tables.items():
            levels = manifest.method.levels_of(name) or {}
            if table.rows != task.table.rows:
                has = f"'{name}' has {table.rows}"
                problems.append(f"the original has {task.table.rows} rows, {has}")
            source = None if source_rows is None else source_rows[name]
            problems += unexplained_rows(table, name, task, levels, source)
        # The ratios are those of the whole table.
        return problems if part else [*problems, *_ratio_problems(tables, task, manifest)]

    def reading(
        self, tables: Tables, task: Task, manifest: Manifest
    ) -> ImpliedReading[ProjectedMeasures]:
        return read_projected(tables, task, manifest)

    def sums(self, tables: Tables, task: Task, manifest: Manifest) -> dict[str, CellSums]:
        return {
            name: CoveredCells(
                table, _measured(table, task), task.hierarchies, manifest.method.levels_of(name)
            ).sums()
            for name, table in tables.items()
        }

    def measures(
        self, sums: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
    ) -> ProjectedMeasures:
        gone, levels = manifest.suppressed_rows, manifest.method.levels_of
        tables = {n: measures_of(part, task.table, gone, levels(n)) for n, part in sums.items()}
        return ProjectedMeasures(
            tables=tables, association_loss=float(facts.get("association_loss", 0.0))
        )

    def adversary_views(
        self, tables: Tables, task: Task, manifest: Manifest, rng: np.random.Generator
    ) -> list[AdversaryView]:
        return [
            view_of_classes(name, table, task, manifest.method.levels_of(name) or {}, rng)
            for name, table in tables.items()
        ]

    def quasi_identifier_sentences(self, manifest: Manifest, quasi: Sequence[str]) -> list[str]:
        levels = {table: manifest.method.levels_of(table) for table in manifest.tables}
        if not any(levels.values()):
            return super().quasi_identifier_sentences(manifest, quasi)
        return [coarseness(quasi, of or {}, table) for table, of in levels.items()]

    def sentences(self, manifest: Manifest) -> list[str]:
        plan: list[list[str]] = getattr(manifest.method, "plan", [])
        if not plan:
            return []
        blocks = tuple(", ".join(block) for block in plan)
        return [Statement("projections.split", tables=len(plan), plan=blocks)]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        weaknesses = super().weaknesses(manifest)
        if len(manifest.tables) > 1:
            weaknesses.append(Statement("weakness.associated"))
        return weaknesses


def _measured(table: CodedTable, task: Task) -> list[Column]:
    """Return the original's columns that are in a table."""
    return [*task.table.quasi_identifiers, *(task.table[c.name] for c in table.sensitive)]


def _plan_problems(manifest: Manifest) -> Iterator[str]:
    """Every sensitive attribute in exactly one table, every quasi-identifier in all."""
    plan: list[list[str]] = getattr(manifest.method, "plan", [])
    home: dict[str, str] = {}
    for name in manifest.tables:
        for column in _of_role(manifest, name, Role.SENSITIVE):
            if column in home:
                yield f"'{column}' is in two tables: '{home[column]}' and '{name}'"
            home[column] = name
    written = {attribute: number for number, block in enumerate(plan) for attribute in block}
    for attribute in sorted(written.keys() - home.keys()):
        yield f"the plan has '{attribute}', and no table does"
    for attribute, name in home.items():
        if attribute not in written:
            yield f"'{attribute}' is in '{name}' and not in the plan"
        elif projection_name(written[attribute]) != name:
            yield f"the plan puts '{attribute}' elsewhere than in '{name}'"
    quasi = {name: _of_role(manifest, name, Role.QUASI_IDENTIFIER) for name in manifest.tables}
    every = {column for columns in quasi.values() for column in columns}
    for name, columns in quasi.items():
        lacking = sorted(every.difference(columns))
        if lacking:
            yield f"'{name}' lacks the quasi-identifiers {', '.join(lacking)}"


def _of_role(manifest: Manifest, table: str, role: Role) -> list[str]:
    return [name for name, other in manifest.tables[table].columns.items() if other is role]


def _bound_problems(manifest: Manifest, tally: ReleaseTally) -> Iterator[str]:
    """The ceiling that the parameters name; alpha and beta need the original."""
    ceiling = manifest.method.parameters.get("dm")
    for name, confused in tally.squares.items():
        if ceiling is not None and confused > ceiling:
            yield f"the discernibility of '{name}' is {confused}, above dm = {ceiling:g}"


def _ratio_problems(tables: Tables, task: Task, manifest: Manifest) -> Iterator[str]:
    """Γα and Γβ, derived from the original, against the bounds that the parameters name.

    The release does not state them: both need the dependence between attributes of different
    tables, which no published table has.
    """
    information = task.information
    number = {name: i for i, name in enumerate(information.names)}
    plan = [
        [number[column.name] for column in table.sensitive if column.name in number]
        for table in tables.values()
    ]
    for bound, figure, derive in (
        ("alpha", "association loss", association_loss),
        ("beta", "information exposure", information_exposure),
    ):
        ceiling = manifest.method.parameters.get(bound, 1.0)
        ratio = derive(information, plan)
        if ratio > ceiling + AGREEMENT:
            yield f"the {figure} is {ratio:.6g}, above {bound} = {ceiling:.6g}"


def read_projected(
    tables: Tables, task: Task, manifest: Manifest
) -> ImpliedReading[ProjectedMeasures]:
    """Read the tables of a projected release against the original."""
    parts = {
        name: MeasuredTable(
            table,
            _measured(table, task),
            task.hierarchies,
            manifest.method.levels_of(name),
            task.table,
            manifest.suppressed_rows,
        )
        for name, table in tables.items()
    }
    information = task.information
    number = {name: i for i, name in enumerate(information.names)}
    plan = [[number[column.name] for column in table.sensitive] for table in tables.values()]
    measures = ProjectedMeasures(
        tables={name: part.measures for name, part in parts.items()},
        association_loss=association_loss(information, plan),
    )
    return ImpliedReading(
        task.table, measures, lambda: ImpliedProjected(list(parts.values()), list(tables.values()))
    )


class ImpliedProjected(Implied):
    """p2 of a projected release."""

    def __init__(self, parts: Sequence[MeasuredTable], tables: Sequence[CodedTable]) -> None:
        self._parts = parts
        self._classes = [ClassTable(part, table) for part, table in zip(parts, tables, strict=True)]
        self._home = {
            column.name: number for number, table in enumerate(tables) for column in table.sensitive
        }
        losses = [part.measures.loss for part in parts]
        self._base = int(np.argmin(losses))
        self._rows = tables[0].rows
        self._meetings: dict[tuple[int, ...], Meeting] = {}

    def estimate(self, batch: QueryBatch) -> Floats:
        homes = {self._home[name] for name in batch.members if name in self._home}
        if len(homes) <= 1:
            number = next(iter(homes), self._base)
            return self._parts[number].implied.estimate(batch)
        return self._meeting(homes).estimate(batch)

    def mass_of_people(self, people: CodedTable, sensitive: Sequence[str]) -> Floats | None:
        """Everybody is in a class of every table, so p_u given the class is p_u given q."""
        at_home: dict[int, list[str]] = {}
        for name in sensitive:
            at_home.setdefault(self._home[name], []).append(name)
        base = next(iter(at_home)) if len(at_home) == 1 else self._base
        mass = self._parts[base].implied.mass_of_people(people, at_home.pop(base, []))
        for number, names in at_home.items():
            table = self._parts[number].implied
            both, known = table.mass_of_people(people, names), table.mass_of_people(people, ())
            if mass is None or both is None or known is None:
                return None
            mass = mass * both / np.maximum(known, np.finfo(float).tiny)
        return mass

    def pair_table(self, first: Column, second: Column) -> Floats:
        homes = {self._home[column.name] for column in (first, second) if column.name in self._home}
        if len(homes) == 1:
            return self._parts[homes.pop()].implied.pair_table(first, second)
        meeting, values = self._meeting(homes), second.cardinality
        counts = np.empty((first.cardinality, values))
        for value in range(first.cardinality):
            asked = np.broadcast_to(np.arange(len(counts))[:, None] == value, counts.shape)
            members = {first.name: asked, second.name: np.eye(values, dtype=bool)}
            counts[value] = meeting.estimate(QueryBatch(np.arange(values), members))
        return counts

    def _meeting(self, homes: set[int]) -> Meeting:
        others = tuple(sorted(homes - {self._base}))
        if others not in self._meetings:
            base = self._classes[self._base]
            self._meetings[others] = Meeting(base, [self._classes[u] for u in others])
        return self._meetings[others]

    def draw(self, rng: np.random.Generator) -> dict[str, Codes]:
        """Rows of the base, each with a row of its class in every other table."""
        drawn = self._parts[self._base].implied.draw(rng)
        for number, table in enumerate(self._classes):
            if number != self._base:
                drawn |= table.draw_beside(drawn, rng)
        return drawn


class ClassTable:
    """One table: the cells of its classes, and how many rows of each answer a predicate."""

    def __init__(self, part: MeasuredTable, table: CodedTable) -> None:
        quasi = [cells for cells in part.cells.values() if cells.role is Role.QUASI_IDENTIFIER]
        self.names = [column.name for column in quasi]
        classes = classes_of(quasi, table.rows)
        self.size = classes.size.astype(np.float64)  # (classes,)
        self.cells = np.array(  # (attributes, classes)
            [column.codes[classes.first_row] for column in quasi], np.int64
        ).reshape(len(self.names), classes.count)
        self.coverages: list[Coverage] = [part.coverages[name] for name in self.names]
        self._class_of_row = classes.class_of_row
        self._sensitive = {c.name: c for c in part.cells.values() if c.role is Role.SENSITIVE}
        self._sensitive_coverages = part.coverages
        self._combinations: dict[tuple[str, ...], tuple[Ints, list[Codes], Floats]] = {}

    def answering(self, batch: QueryBatch) -> Floats:
        """(classes, queries) The rows of each class that answer the sensitive part of queries."""
        names = tuple(name for name in batch.members if name in self._sensitive)
        if not names:
            return np.repeat(self.size[:, None], len(batch.number), axis=1)
        start, cells, count = self._combined(names)
        share = np.repeat(count[:, None], len(batch.number), axis=1)
        for name, cell in zip(names, cells, strict=True):
            share *= self._sensitive_coverages[name].shares(batch.members[name])[cell]
        return sums_of(start, share)

    def _combined(self, names: tuple[str, ...]) -> tuple[Ints, list[Codes], Floats]:
        """Combinations of some sensitive cells: where a class's start, the cells, the rows."""
        if names not in self._combinations:
            columns = [self._sensitive[name] for name in names]
            grouped = group_codes(
                [self._class_of_row, *(column.codes for column in columns)],
                [len(self.size), *(column.cardinality for column in columns)],
                len(self._class_of_row),
            )
            of_class = self._class_of_row[grouped.first_row]
            same = np.zeros(grouped.count, np.int32)
            start, order = order_by_class(of_class, same, len(self.size), 1)
            cells = [column.codes[grouped.first_row[order]] for column in columns]
            self._combinations[names] = start, cells, grouped.size[order].astype(np.float64)
        return self._combinations[names]

    def draw_beside(self, drawn: Mapping[str, Codes], rng: np.random.Generator) -> dict[str, Codes]:
        """For drawn people the sensitive values of a row of their class; of any, if in none."""
        codes = [drawn[name] for name in self.names]
        people = len(codes[0]) if codes else int(self.size.sum())
        kinds = group_codes(codes, [c.cardinality for c in self.coverages], people)
        values = [column[kinds.first_row] for column in codes]
        fits = fitting_groups(self.coverages, values, list(self.cells.astype(np.int32)))
        start, group = fits if fits is not None else (np.zeros(kinds.count + 1, np.int64), None)
        held = np.diff(start)[kinds.class_of_row]
        row = rng.integers(0, len(self._class_of_row), people)
        inside = np.flatnonzero(held)
        if group is not None and len(inside):
            place = start[kinds.class_of_row[inside]] + rng.integers(0, held[inside])
            mine = group[place]
            first, order = order_by_class(
                self._class_of_row, np.zeros(len(self._class_of_row), np.int32), len(self.size), 1
            )
            row[inside] = order[first[mine] + rng.integers(0, self.size[mine].astype(np.int64))]
        return {
            name: self._sensitive_coverages[name].pick(column.codes[row], rng)
            for name, column in self._sensitive.items()
        }

    @cached_property
    def matrices(self) -> list[Bools]:
        """For each quasi-identifier (cells, values): what each cell covers."""
        return [coverage.matrix() for coverage in self.coverages]


class Meeting:
    """The classes of some tables that meet: for each list of them, one of each table."""

    def __init__(self, base: ClassTable, others: Sequence[ClassTable]) -> None:
        self._base, self._others = base, others
        attributes = len(base.names)
        self._cells = base.matrices  # by attribute: (distinct cells, values)
        cell = base.cells  # (attributes, meetings)
        of_table = [np.arange(len(base.size))]
        # Meet the classes of one more table: cells that overlap in every attribute.
        for other in others:
            overlap = [
                (mine.astype(np.float32) @ theirs.T.astype(np.float32)) > 0
                for mine, theirs in zip(self._cells, other.matrices, strict=True)
            ]
            left, right = _meet(cell, other.cells, overlap)
            of_table = [numbers[left] for numbers in of_table] + [right]
            meeting, cells = [], []
            for a in range(attributes):
                pair = cell[a, left] * len(other.matrices[a]) + other.cells[a, right]
                distinct, where = np.unique(pair, return_inverse=True)
                mine, theirs = np.divmod(distinct, len(other.matrices[a]))
                cells.append(self._cells[a][mine] & other.matrices[a][theirs])
                meeting.append(where)
            self._cells = cells
            cell = np.array(meeting, np.int64).reshape(attributes, len(left))
        self._cell = cell
        self._of_table = of_table
        volume = np.ones(len(base.size))  # of each base class, in combinations of values
        spread = np.ones(cell.shape[1])  # of the part of it in each meeting
        for a in range(attributes):
            volume *= base.coverages[a].size[base.cells[a]]
            spread *= self._cells[a].sum(axis=1)[cell[a]]
        covered = np.bincount(of_table[0], spread, len(base.size)) / volume
        # what a combination weighs: less where classes of the others overlap
        self._scale = (1.0 / (volume * np.maximum(covered, 1.0)))[of_table[0]]

    def estimate(self, batch: QueryBatch) -> Floats:
        """n · p2 of queries that ask for sensitive attributes of these tables."""
        queries = len(batch.number)
        counted = self._base.answering(batch)  # (classes of the base, queries)
        answering = [other.answering(batch) for other in self._others]
        given_class = [a / o.size[:, None] for a, o in zip(answering, self._others, strict=True)]
        inside = self._inside(batch)
        estimate, met = np.zeros(queries), np.zeros(queries)
        step = max(1, AT_ONCE // max(queries, 1))
        for start in range(0, self._cell.shape[1], step):
            part = slice(start, start + step)
            mass = counted[self._of_table[0][part]] * self._scale[part, None]
            for a, of_cell in enumerate(inside):
                mass *= of_cell[self._cell[a, part]]
            met += mass.sum(axis=0)
            for number, share in enumerate(given_class, start=1):
                mass *= share[self._of_table[number][part]]
            estimate += mass.sum(axis=0)
        for a, name in enumerate(self._base.names):
            if name in batch.members:
                share = self._base.coverages[a].shares(batch.members[name])
                counted = counted * share[self._base.cells[a]]
        apart = np.ones(queries)  # by the whole tables of the others
        for rows in answering:
            apart *= rows.sum(axis=0) / self._base.size.sum()
        result: Floats = estimate + np.maximum(counted.sum(axis=0) - met, 0.0) * apart
        return result

    def _inside(self, batch: QueryBatch) -> list[Floats]:
        """By attribute (distinct cells, queries): the values of each cell that queries ask for."""
        inside = []
        for a, name in enumerate(self._base.names):
            member = batch.members.get(name)
            if member is None:
                inside.append(self._cells[a].sum(axis=1).astype(np.float64)[:, None])
            else:
                inside.append((self._cells[a].astype(np.float32) @ member).astype(np.float64))
        return inside


def _meet(mine: Ints, theirs: Ints, overlap: Sequence[Bools]) -> tuple[Ints, Ints]:
    """The pairs of classes whose cells overlap in every attribute."""
    left, right = [], []
    for other in range(theirs.shape[1]):
        meets = np.ones(mine.shape[1], bool)
        for a, matrix in enumerate(overlap):
            meets &= matrix[:, theirs[a, other]][mine[a]]
        meeting = np.flatnonzero(meets)
        left.append(meeting)
        right.append(np.full(len(meeting), other))
    return np.concatenate(left).astype(np.int64), np.concatenate(right).astype(np.int64)
