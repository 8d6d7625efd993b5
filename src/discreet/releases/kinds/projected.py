"""Projected releases: several tables about the same people, with disjoint sensitive attributes.

Each table ``projection_1`` … ``projection_N`` has all quasi-identifiers, generalized on its own,
and some of the sensitive attributes; insensitive columns go with the first. What protects people
across tables is that nothing says which rows belong together, so the audit also tests that the
orders of the rows are unrelated (``orders``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Projected, Task, projection_name
from discreet.releases.adversary_view import AdversaryView, view_of_classes
from discreet.releases.audit.matching import excess_problems, unmatched_rows, untraced_rows
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.kinds.base import Form, Kind, ReleaseTally, View, coarseness
from discreet.releases.kinds.generalized import mask_problems, recoded_table, sum_cells
from discreet.releases.kinds.implied_projections import read_projected
from discreet.releases.manifest import Manifest
from discreet.requirements.base import Domains
from discreet.requirements.mutual_information import association_loss, information_exposure
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable
from discreet.table.counts import count_classes
from discreet.table.published import PublishedTable
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums, measures_of
from discreet.utility.figures import ProjectedMeasures
from discreet.utility.reading import ImpliedReading

AGREEMENT = 1e-9  # of a ratio in the manifest with the same derived again


class ProjectedKind(Kind):
    """N tables, in each a row for every published person."""

    name: ClassVar[str] = "projected"
    outcome: ClassVar[type] = Projected
    spreads_sensitive: ClassVar[bool] = True

    def tables(self, task: Task, outcome: Projected) -> dict[str, PublishedTable]:
        tables = {}
        for number, projection in enumerate(outcome.projections):
            own = [
                column
                for column in task.table
                if column.role is Role.QUASI_IDENTIFIER
                or column.name in projection.attributes
                or (column.role.unchanged and number == 0)
            ]
            name = projection_name(number)
            tables[name] = recoded_table(name, own, projection.recoding)
        return tables

    def forms(self, tables: int) -> Mapping[str, Form]:
        own = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        first = (*own, Role.INSENSITIVE, Role.WEIGHT)
        return {projection_name(i): Form(own if i else first) for i in range(max(tables, 1))}

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        return [
            View(count_classes(table.classes, table.sensitive, refined=refined), domains)
            for table in tables.values()
        ]

    def shard_problems(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        return [line for table in tables.values() for line in mask_problems(table, manifest)]

    def joined_problems(
        self, manifest: Manifest, tally: ReleaseTally, evidence: Sequence[Any]
    ) -> list[str]:
        problems = super().joined_problems(manifest, tally, evidence)
        return [*problems, *_plan_problems(manifest), *_bound_problems(manifest, tally)]

    def order_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        return [
            same_order(first, second, related)
            for first, second in combinations(tables, 2)
            if (related := related_columns(tables[first], tables[second]))
        ]

    def changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]] | None = None,
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
                found = f"'{name}' has {table.rows}"
                problems.append(f"the original has {task.table.rows} rows, {found}")
            excess = (
                unmatched_rows(table, task, levels)
                if source_rows is None
                else untraced_rows(table, task, levels, source_rows[name])
            )
            problems += excess_problems(excess, table.rows, name)
        # The ratios are those of the whole table.
        return problems if part else [*problems, *_ratio_problems(tables, task, manifest)]

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[ProjectedMeasures]:
        return read_projected(tables, task, manifest)

    def sums(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> dict[str, CellSums]:
        return {
            name: sum_cells(
                table,
                [*task.table.quasi_identifiers, *(task.table[c.name] for c in table.sensitive)],
                task.hierarchies,
                manifest.method.levels_of(name),
            )
            for name, table in tables.items()
        }

    def measures(
        self,
        sums: Mapping[str, CellSums],
        task: Task,
        manifest: Manifest,
        facts: Mapping[str, Any],
    ) -> ProjectedMeasures:
        gone, levels = manifest.suppressed_rows, manifest.method.levels_of
        tables = {n: measures_of(own, task.table, gone, levels(n)) for n, own in sums.items()}
        return ProjectedMeasures(
            tables=tables, association_loss=float(facts.get("association_loss", 0.0))
        )

    def adversary_views(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        rng: np.random.Generator,
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
        found = super().weaknesses(manifest)
        if len(manifest.tables) > 1:
            found.append(Statement("weakness.associated"))
        return found


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
    return [name for name, own in manifest.tables[table].columns.items() if own is role]


def _bound_problems(manifest: Manifest, tally: ReleaseTally) -> Iterator[str]:
    """The ceiling that the parameters name; alpha and beta need the original."""
    ceiling = manifest.method.parameters.get("dm")
    for name, confused in tally.squares.items():
        if ceiling is not None and confused > ceiling:
            yield f"the discernibility of '{name}' is {confused}, above dm = {ceiling:g}"


def _ratio_problems(
    tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
) -> Iterator[str]:
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
        found = derive(information, plan)
        if found > ceiling + AGREEMENT:
            yield f"the {figure} is {found:.6g}, above {bound} = {ceiling:.6g}"
