"""Anatomy: groups of distinct values of one sensitive attribute, published with their counts.

Xiao and Tao, "Anatomy: simple and effective privacy preservation"; here with the group forming of
decomposition, of which it is the relative for a single attribute: every group has at least ℓ rows,
no value twice, so an attacker believes no value with more than 1/ℓ. Where a job names sensitive
values, each of these is at most once in a group of at least ℓ rows, and the rows of harmless values
are divided into parts (``divide_harmless``): ℓ is feasible if and only if no sensitive value has
more than 1/ℓ of the rows. Where ℓ different values are asked for, harmless ones are not repeated
beside a sensitive one.

Cost: linear in the rows.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, NonNegativeInt, PositiveInt

from discreet.errors import InfeasibleError, InputError, JobError
from discreet.methods.base import NOT_NUMBERED, Ability, Bucketized, ShardedMethod, Task
from discreet.methods.decomposition.group_forming import (
    divide_harmless,
    form_groups,
    join_residual_rows,
    sensitive_mask,
)
from discreet.methods.decomposition.targets import IF_HARMLESS, largest_reason
from discreet.methods.manifest_entry import MethodEntry, StatedRelease, bound_problems
from discreet.methods.shared.grouped_rows import require_all
from discreet.methods.shared.infeasibility import NOTHING_LEFT, nothing_by_default
from discreet.methods.shared.person_bands import banded_groups
from discreet.methods.shared.person_groups import groups_of_persons
from discreet.requirements.base import Requirement
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity, PDiversity
from discreet.requirements.feasibility import diverse_ell, permissible_ell
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.sa_diversity import SaDiversity
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Keeping, Persons, Scope
from discreet.table.published import COUNT, GROUP
from discreet.typing import GroupOfRow


class AnatomyEntry(MethodEntry):
    """What a manifest says of anatomy."""

    blind_to_quasi_identifiers: ClassVar[bool] = True

    name: Literal["anatomy"]
    l: PositiveInt  # noqa: E741 (the manifest's key)
    groups: NonNegativeInt = 0

    def problems(self, release: StatedRelease) -> list[str]:
        return bound_problems(self.l, release.promised)


class Anatomy(ShardedMethod):
    """Publish exact quasi-identifiers, and the values of one sensitive attribute by group."""

    name: ClassVar[str] = "anatomy"
    entry: ClassVar[type[MethodEntry]] = AnatomyEntry
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.PERSONS, Ability.SENSITIVE_VALUES})

    l: int | None = Field(  # noqa: E741 (the job's key)
        default=None,
        ge=1,
        description="The least number of rows, all of distinct values, in a group.",
    )
    prefer: Literal["nearby"] | None = Field(
        default=None, description="Form groups of rows with similar quasi-identifiers."
    )

    @property
    def own_columns(self) -> tuple[str, ...]:
        return (GROUP, COUNT)

    def shard_attribute(self, task: Task) -> str:
        return _sole_attribute(task).name

    def promises(self, task: Task) -> tuple[PDiversity]:
        column = _sole_attribute(task)
        sensitive = sensitive_mask(task, column)
        asked = task.requirements
        if task.basis.persons is not None:  # enough persons need not have different values
            asked = [r for r in asked if not isinstance(r, KAnonymity)]
        ell = max([self.l or 1, *map(_asked_by, asked)])
        if self.l is None and ell == 1:
            ell = _permissible(task, column)
            if ell == 1:
                raise nothing_by_default(self.name, [(column, sensitive)])
        harmless = tuple(column.text.filter(pl.Series(~sensitive))) or None
        return (PDiversity(l=ell, attribute=column.name, non_sensitive=harmless),)

    def most_suppressed(self, rows: int) -> int:
        return 0

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        if keeping.scope is Scope.ROWS:
            return "anatomy groups persons. Use 'scope: persons'"
        return NOT_NUMBERED.format(self.name) if keeping.numbered else None

    def run(self, task: Task) -> Bucketized:
        """Groups of at least l rows with distinct values, or InfeasibleError."""
        table = task.table
        if not table.rows:
            raise InputError("anatomy: the table has no rows. Check the source.")
        if task.basis.persons is not None:
            return self._on_persons(task, task.basis.persons)
        column = _sole_attribute(task)
        sensitive = sensitive_mask(task, column)
        distinct = any(isinstance(r, SaDiversity | DistinctLDiversity) for r in task.requirements)
        largest = diverse_ell if distinct else permissible_ell
        permissible = largest(column.counts, sensitive)
        (promise,) = self.promises(task)
        ell = int(promise.l)
        if ell > permissible:
            reason = largest_reason(column, sensitive, distinct=distinct)
            raise InfeasibleError(
                f"anatomy: l = {ell} is above l_per = {permissible} of '{column.name}' ({reason}. "
                + (
                    f"Ask for at most {permissible}."
                    if permissible > 1
                    else f"{IF_HARMLESS} {NOTHING_LEFT}"
                ),
                [
                    {
                        "requirement": promise.name,
                        "parameters": promise.parameters(),
                        "achieved": {"l": permissible},
                        "feasible": {"l": permissible} if permissible > 1 else {},
                    }
                ],
            )
        parts = column if distinct else divide_harmless(column, sensitive, ell, task.rng)
        formed = form_groups(parts, (), ell, (), task, self.prefer)
        group_of_row = join_residual_rows(formed, parts, (), (), task.rng)
        require_all(
            task,
            group_of_row,
            "anatomy: its groups do not meet all requirements",
            ("use mondrian: anatomy ensures distinct values only",),
            _BY_DISTINCT_VALUES,
        )
        facts = {"l": ell, "groups": formed.groups}
        return Bucketized(group_of_row, counted=True, facts=facts, promises=(promise,))

    def _on_persons(self, task: Task, persons: Persons) -> Bucketized:
        """Groups of persons; no value belongs to more than one of l, in any of their rows.

        Exact quasi-identifiers show how many rows a person has, and a person with many rows is
        likelier to have a value of the group: the members of a group have equally many.
        """
        (promise,) = self.promises(task)
        exact = self.model_copy(update={"l": int(promise.l)})

        def grouped(part: Task, members: Persons) -> GroupOfRow:
            part = replace(part, basis=replace(part.basis, persons=members))
            return groups_of_persons(exact, part, members, asked=())

        group_of_row, _ = banded_groups(task, persons, grouped, may_suppress=False)
        facts = {"l": int(promise.l), "groups": int(group_of_row.max()) + 1}
        return Bucketized(group_of_row, counted=True, facts=facts, promises=(promise,))


def _permissible(task: Task, column: Column) -> int:
    """The largest l for which every belief can stay at 1/l."""
    sensitive = sensitive_mask(task, column)
    values = int((column.reference > 0).sum())  # more would ask more of rare sensitive values
    if task.basis.persons is None:
        return min(permissible_ell(column.reference, sensitive), values)
    person, value = np.divmod(
        distinct_values(task.basis.persons.number * column.cardinality + column.codes),
        column.cardinality,
    )
    rows = task.basis.persons.rows_of  # only persons with equally many are grouped
    _, band, members = np.unique(rows, return_inverse=True, return_counts=True)
    having = np.bincount(
        band[person] * column.cardinality + value, minlength=len(members) * column.cardinality
    )
    most = having.reshape(len(members), -1)[:, sensitive].max(axis=1, initial=0)
    return min(int((members // np.maximum(most, 1)).min()), values)


def _sole_attribute(task: Task) -> Column:
    if len(task.table.sensitive) != 1:
        raise JobError(
            [
                f"method.anatomy: publishes one sensitive column, and the table has "
                f"{len(task.table.sensitive)} (each member of a multi-valued attribute is one). "
                f"Use 'decomposition' for several."
            ]
        )
    return task.table.sensitive[0]


# What rows of distinct values meet if they are enough.
_BY_DISTINCT_VALUES = (KAnonymity, SaDiversity, DistinctLDiversity, EntropyLDiversity, PDiversity)


def _asked_by(requirement: Requirement) -> int:
    """The rows of distinct values that a requirement of the job asks for."""
    if isinstance(requirement, KAnonymity):
        return requirement.k
    if isinstance(requirement, SaDiversity):
        return max(requirement.l.values())
    if isinstance(requirement, DistinctLDiversity | EntropyLDiversity | PDiversity):
        return ceil(requirement.l)
    return 1
