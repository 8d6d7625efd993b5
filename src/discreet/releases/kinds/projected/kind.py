"""Projected releases: several tables about the same people, with disjoint sensitive attributes.

Each table ``projection_1`` … ``projection_N`` has all quasi-identifiers, generalized on its own,
and some of the sensitive attributes; insensitive columns go with the first. What protects people
across tables is that nothing says which rows belong together, so the audit also tests that the
orders of the rows are unrelated (``orders``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Projected, Task, projection_name
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.matching import excess_problems, unmatched_rows
from discreet.releases.audit.row_order import related_columns, same_order
from discreet.releases.audit.tracing import untraced_rows
from discreet.releases.kinds.base import Kind, View
from discreet.releases.kinds.generalized.adversary_view import view_of_classes
from discreet.releases.kinds.generalized.tables import mask_problems, recoded_table
from discreet.releases.kinds.projected.implied import read_projected
from discreet.releases.manifest import Manifest
from discreet.releases.table_forms import Form
from discreet.releases.wording import coarseness
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.mutual_information import association_loss, information_exposure
from discreet.table.coded_table import CodedTable
from discreet.table.counts import count_classes
from discreet.table.published import PublishedTable
from discreet.table.roles import Role
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
                or (column.role is Role.INSENSITIVE and number == 0)
            ]
            name = projection_name(number)
            tables[name] = recoded_table(name, own, projection.recoding)
        return tables

    def forms(self, tables: int) -> Mapping[str, Form]:
        own = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        first = (*own, Role.INSENSITIVE)
        return {projection_name(i): Form(own if i else first) for i in range(max(tables, 1))}

    def suppressed(self, outcome: Projected) -> int:
        return 0

    def views(
        self, tables: Mapping[str, CodedTable], domains: Domains, *, refined: bool
    ) -> list[View]:
        return [
            View(count_classes(table.classes, table.sensitive, refined=refined), domains)
            for table in tables.values()
        ]

    def verdict(self, requirement: Requirement, views: Sequence[View]) -> Verdict:
        """What a requirement says of each table, together; all that it names must be there."""
        verdicts = []
        for view in views:
            part = requirement.within(tuple(view.counts.values))
            if part is not None:
                verdicts.append(part.check(view.counts, view.domains))
        _, smaller_is_better = requirement.figure
        verdict = Verdict.worst(verdicts, smaller_is_better=smaller_is_better)
        present = {name for view in views for name in view.counts.values}
        return verdict if present.issuperset(requirement.named) else replace(verdict, holds=False)

    def sizes(self, tables: Mapping[str, CodedTable]) -> dict[str, NDArray[np.int64]]:
        return {name: table.classes.size for name, table in tables.items()}

    def inconsistencies(self, tables: Mapping[str, CodedTable], manifest: Manifest) -> list[str]:
        problems = [*_row_problems(tables, manifest), *_plan_problems(tables, manifest)]
        problems += _bound_problems(tables, manifest)
        problems += [line for table in tables.values() for line in mask_problems(table)]
        return problems

    def order_problems(self, tables: Mapping[str, CodedTable]) -> list[str]:
        return [
            same_order(first, second, related)
            for first, second in combinations(tables, 2)
            if (related := related_columns(tables[first], tables[second]))
        ]

    def changes(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> list[str]:
        def excess(name: str) -> int | None:
            return unmatched_rows(tables[name], task, manifest.method.levels_of(name) or {})

        return _changes(tables, task, manifest, excess)

    def traced_changes(
        self,
        tables: Mapping[str, CodedTable],
        task: Task,
        manifest: Manifest,
        source_rows: Mapping[str, NDArray[np.int32]],
    ) -> list[str]:
        def excess(name: str) -> int | None:
            return untraced_rows(
                tables[name], task, manifest.method.levels_of(name) or {}, source_rows[name]
            )

        return _changes(tables, task, manifest, excess)

    def reading(
        self, tables: Mapping[str, CodedTable], task: Task, manifest: Manifest
    ) -> ImpliedReading[ProjectedMeasures]:
        return read_projected(tables, task, manifest)

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
        return [
            f"In '{table}', quasi-identifiers {coarseness(quasi, of or {})}."
            for table, of in levels.items()
        ]

    def sentences(self, manifest: Manifest) -> list[str]:
        plan: list[list[str]] = getattr(manifest.method, "plan", [])
        if not plan:
            return []
        split = " | ".join(", ".join(block) for block in plan)
        return [
            f"The sensitive attributes are split over {len(plan)} tables of the same rows, each in "
            f"its own random order: {split}.",
        ]

    def weaknesses(self, manifest: Manifest) -> list[str]:
        found = super().weaknesses(manifest)
        if len(manifest.tables) > 1:
            found.append(
                "Several tables: an attacker who knows how values of different tables correlate "
                "may join the tables (associated)."
            )
        return found


def _changes(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    excess_of: Callable[[str], int | None],
) -> list[str]:
    problems = []
    if manifest.source_rows != task.table.rows:
        problems.append(
            f"the original has {task.table.rows} rows; the manifest says {manifest.source_rows}"
        )
    for name, table in tables.items():
        if table.rows != task.table.rows:
            problems.append(f"the original has {task.table.rows} rows, '{name}' has {table.rows}")
        problems += excess_problems(excess_of(name), table.rows, name)
    return [*problems, *_ratio_problems(tables, task, manifest)]


def _row_problems(tables: Mapping[str, CodedTable], manifest: Manifest) -> Iterator[str]:
    if manifest.published_rows + manifest.suppressed_rows != manifest.source_rows:
        yield (
            f"published and suppressed rows ({manifest.published_rows} + "
            f"{manifest.suppressed_rows}) are not the {manifest.source_rows} source rows"
        )
    for name, table in tables.items():
        if table.rows != manifest.published_rows:
            yield (
                f"the manifest says {manifest.published_rows} published rows; "
                f"'{name}' has {table.rows}"
            )


def _plan_problems(tables: Mapping[str, CodedTable], manifest: Manifest) -> Iterator[str]:
    """Every sensitive attribute in exactly one table, every quasi-identifier in all."""
    plan: list[list[str]] = getattr(manifest.method, "plan", [])
    home: dict[str, str] = {}
    for name, table in tables.items():
        for column in table.sensitive:
            if column.name in home:
                yield f"'{column.name}' is in two tables: '{home[column.name]}' and '{name}'"
            home[column.name] = name
    written = {attribute: number for number, block in enumerate(plan) for attribute in block}
    for attribute in sorted(written.keys() - home.keys()):
        yield f"the plan has '{attribute}', and no table does"
    for attribute, name in home.items():
        if attribute not in written:
            yield f"'{attribute}' is in '{name}' and not in the plan"
        elif projection_name(written[attribute]) != name:
            yield f"the plan puts '{attribute}' elsewhere than in '{name}'"
    every = {column.name for table in tables.values() for column in table.quasi_identifiers}
    for name, table in tables.items():
        lacking = sorted(every - {column.name for column in table.quasi_identifiers})
        if lacking:
            yield f"'{name}' lacks the quasi-identifiers {', '.join(lacking)}"


def _bound_problems(tables: Mapping[str, CodedTable], manifest: Manifest) -> Iterator[str]:
    """The ceiling that the parameters name; alpha and beta need the original."""
    ceiling = manifest.method.parameters.get("dm")
    for name, table in tables.items():
        confused = int((table.classes.size**2).sum())
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
