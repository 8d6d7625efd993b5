"""How many values each sensitive attribute is to have in a group, and whether that can be.

l_per(S) = ⌊n / n1⌋, n1 the count of the most frequent value of S, is the largest ℓ for which every
belief can be kept at 1/ℓ. A release can list more values than that in every group, but then some
value is believed with more than 1/ℓ: so more is refused, or for attributes other than the primary
one bought with noise where the publisher says so by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from discreet.by_name import nearest
from discreet.errors import InfeasibleError, InputError, JobError
from discreet.methods.base import Task
from discreet.methods.decomposition.group_forming import sensitive_mask
from discreet.methods.shared.infeasibility import NOTHING_LEFT, nothing_by_default
from discreet.requirements.base import Requirement
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.feasibility import diverse_ell, permissible_ell
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.sa_diversity import ConditionalLDiversity, SaDiversity
from discreet.table.coded_table import Column
from discreet.typing import Bools

IF_HARMLESS = "If the most frequent value is no secret, name it under 'non_sensitive_values'."


@dataclass(frozen=True, eq=False)
class Targets:
    """The primary attribute and the least number of values of each attribute in a group."""

    primary: Column
    others: tuple[Column, ...]
    ell: Mapping[str, int]  # by attribute, in the table's order
    sensitive: Mapping[str, Bools]  # (values,) by attribute

    @property
    def wanted(self) -> list[int]:
        """The numbers of the other attributes."""
        return [self.ell[column.name] for column in self.others]

    @property
    def masks(self) -> list[Bools]:
        """The sensitive values of the primary attribute and of the others."""
        return [self.sensitive[column.name] for column in (self.primary, *self.others)]

    @property
    def guarantees(self) -> list[Requirement]:
        """What is promised: ℓ values of each attribute, if a group has a sensitive one."""
        return SaDiversity(l=dict(self.ell)).sparing(self.harmless, list(self.ell))

    @property
    def harmless(self) -> dict[str, tuple[str | None, ...]]:
        """The values that are not sensitive, by attribute, where there are any."""
        return {
            column.name: tuple(column.text.filter(pl.Series(~self.sensitive[column.name])))
            for column in (self.primary, *self.others)
            if not self.sensitive[column.name].all()
        }


def find_targets(
    task: Task,
    method: str,
    primary: str | None,
    ell: Mapping[str, int],
    *,
    beyond_permissible: bool,
) -> Targets:
    """Settle what a job asks for, with l_per where it says nothing, or say why it cannot be."""
    table = task.table
    if not table.rows:
        raise InputError(f"{method}: the table has no rows.")
    columns = table.sensitive
    _check_names([*ell, *([primary] if primary else [])], [c.name for c in columns], method)
    _check_requirements(task.requirements, method)
    masks = {column.name: sensitive_mask(task, column) for column in columns}
    permissible = {c.name: permissible_ell(c.counts, masks[c.name]) for c in columns}
    usual = {c.name: diverse_ell(c.reference, masks[c.name]) for c in columns}
    first = primary or max(usual, key=lambda name: usual[name])  # the first on a tie
    asked = {name: int(want) for name, want in ell.items()}
    for requirement in task.requirements:
        for name, want in _asked_by(requirement, columns).items():
            asked[name] = max(asked.get(name, 1), want)
    settled = {name: asked.get(name, usual[name]) for name in usual}
    unprotected = [
        (column, masks[column.name])
        for column in columns
        if column.name not in asked
        and usual[column.name] == 1
        and column.name not in task.secrets.dependents
    ]
    if unprotected:
        raise nothing_by_default(method, unprotected)
    permissible[first] = diverse_ell(table[first].counts, masks[first])
    _check_permissible(settled, permissible, first, columns, masks, method, beyond_permissible)
    for requirement in task.requirements:
        if isinstance(requirement, KAnonymity) and requirement.k > settled[first]:
            raise InfeasibleError(
                f"{method}: k-anonymity asks for groups of {requirement.k}, but groups have "
                f"l = {settled[first]} rows of '{first}'. Ask for "
                f"{'at most that, or for ' if settled[first] > 1 else ''}a larger l of '{first}' "
                f"(at most {permissible[first]}).",
                [_failure(requirement, {"k": settled[first]})],
            )
    others = tuple(column for column in columns if column.name != first)
    return Targets(table[first], others, settled, masks)


def _check_names(named: Sequence[str], known: Sequence[str], method: str) -> None:
    if not known:
        raise InputError(f"{method}: no attribute is sensitive. Give one the role 'sensitive'.")
    problems = [
        f"method.{method}: '{name}' is not a sensitive attribute. {nearest(name, known)}"
        for name in dict.fromkeys(named)
        if name not in known
    ]
    if problems:
        raise JobError(problems)


PROMISED = (SaDiversity, DistinctLDiversity, KAnonymity, ConditionalLDiversity)


def _check_requirements(requirements: Sequence[Requirement], method: str) -> None:
    allowed = ", ".join(kind.name for kind in PROMISED)
    problems = [
        f"requirements: {method} cannot guarantee {requirement.name}: its release shows "
        "which values "
        f"a group has, not how often. Allowed: {allowed}."
        for requirement in requirements
        if not isinstance(requirement, PROMISED)
    ]
    if problems:
        raise JobError(problems)


def _asked_by(requirement: Requirement, columns: Sequence[Column]) -> dict[str, int]:
    """The numbers that a requirement of the job asks for."""
    if isinstance(requirement, SaDiversity):
        return dict(requirement.l)
    if isinstance(requirement, DistinctLDiversity):
        names = requirement.named or tuple(column.name for column in columns)
        return dict.fromkeys(names, requirement.l)
    return {}


def _check_permissible(
    settled: Mapping[str, int],
    permissible: Mapping[str, int],
    primary: str,
    columns: Sequence[Column],
    masks: Mapping[str, Bools],
    method: str,
    beyond_permissible: bool,
) -> None:
    sentences = []
    feasible = dict(settled)
    for column in columns:
        name, want = column.name, settled[column.name]
        values = int((column.counts > 0).sum())
        if want > permissible[name] and (name == primary or not beyond_permissible):
            feasible[name] = permissible[name]
            remedy = (
                "the primary attribute cannot have more"
                if name == primary
                else "'beyond_permissible: true' allows more, at the cost of noise"
            )
            reason = largest_reason(column, masks[name], distinct=name == primary)
            sentences.append(
                f"'{name}': l = {want} is above l_per = {permissible[name]} ({reason}; {remedy}"
            )
        elif want > values and column.counts[masks[name]].any():
            feasible[name] = values
            sentences.append(f"'{name}': l = {want}, but it has {values} values in all")
    if sentences:
        protecting = {} if min(feasible.values()) == 1 else feasible
        failure = _failure(SaDiversity(l=dict(settled)), feasible) | {"feasible": protecting}
        useless = any(feasible[name] == 1 < settled[name] for name in settled)
        advice = f"{IF_HARMLESS} {NOTHING_LEFT}" if useless else "Ask for at most that."
        raise InfeasibleError(f"{method}: {'; '.join(sentences)}. {advice}", [failure])


def largest_reason(column: Column, sensitive: Bools, *, distinct: bool) -> str:
    """Why an l is the largest, as the end of a sentence in parentheses."""
    rows, greatest = int(column.counts.sum()), int(column.counts[sensitive].max(initial=0))
    if sensitive.all():
        return (
            f"⌊{rows} / {greatest}⌋, rows over those of the most frequent value), the largest for "
            "which every belief can stay at 1/l"
        )
    if distinct:
        return (
            f"the most frequent sensitive value has {greatest} of {rows} rows), the largest for "
            "which all rows with a sensitive value are in groups of l distinct values"
        )
    return (
        f"⌊{rows} / {greatest}⌋, rows over those of the most frequent sensitive value), the "
        "largest for which every belief in a sensitive value can stay at 1/l"
    )


def _failure(requirement: Requirement, feasible: Mapping[str, int]) -> dict[str, object]:
    return {
        "requirement": requirement.name,
        "parameters": requirement.parameters(),
        "achieved": dict(feasible),
        "feasible": dict(feasible),
    }
