"""Judge a requirement: who knows, what is counted, and what its figures say of a table.

A requirement states its figure and, as data, its algebra, its counting, its needs and its
coverage. What follows from these for every requirement alike is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from discreet.requirements.attackers.attacker import Attacker, KeySets
from discreet.requirements.base import AttributeRequirement, Domains, Requirement, Verdict
from discreet.statements import stating
from discreet.table.counts import ClassCounts
from discreet.table.persons import PersonBasis
from discreet.table.roles import Role, Unit
from discreet.typing import Floats


def limits_knowledge(requirement: Requirement) -> bool:
    """Return whether it holds only for attackers who know some of the quasi-identifiers."""
    return requirement.attackers is not None or requirement.known_parts is not None


def judged_on_items(requirement: Requirement) -> bool:
    """Return whether it is judged on the items of sets, not on classes."""
    return requirement.known_parts is not None and requirement.known_parts.items is not None


def of_counts(requirements: Iterable[Requirement]) -> bool:
    """Return whether all of them compare counts: a share above their bound is no rounding."""
    return all(requirement.algebra.of_counts for requirement in requirements)


def key_sets(requirement: Requirement, quasi: Sequence[str]) -> tuple[KeySets, ...]:
    """Return the columns that attackers may know; none where one knows all quasi-identifiers."""
    if requirement.known_parts is not None:
        columns = requirement.known_parts.columns
        return () if columns is None else (KeySets(tuple(quasi), min(columns, len(quasi))),)
    attackers = (requirement.attackers or {}).values()
    return tuple(dict.fromkeys(attacker.key_sets(quasi) for attacker in attackers))


def for_attackers(requirement: Requirement, attackers: Mapping[str, Attacker]) -> Requirement:
    """Return the same for the attackers of a job, unless it has its own."""
    if limits_knowledge(requirement) or not attackers:
        return requirement
    return requirement.model_copy(update={"attackers": dict(attackers)})


def person_basis(requirement: Requirement) -> PersonBasis | None:
    """Return what is counted where persons have several rows; None where it cannot be judged."""
    if limits_knowledge(requirement) or not requirement.coverage.of_persons:
        return None
    return requirement.counting.persons


def covered(requirement: Requirement, roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return the published attributes that the guarantee protects; none for one on sizes."""
    names: dict[Role, Any] = {
        role: dict.fromkeys(name for name, of in roles.items() if of is role)
        for role in (Role.SENSITIVE, Role.QUASI_SENSITIVE)
    }
    bare = ClassCounts(
        np.zeros(0, np.int64), names[Role.SENSITIVE], sets=names[Role.QUASI_SENSITIVE]
    )
    protected = set(requirement.attributes(bare))
    own_role = requirement.role if isinstance(requirement, AttributeRequirement) else None
    return tuple(n for n, of in roles.items() if n in protected and own_role in (None, of))


def stated(requirement: Requirement, unit: Unit = Unit.PERSON) -> str:
    """Return the promise about people or rows, with the attackers that it holds for."""
    if "unit" in signature(requirement.sentence).parameters:
        sentence = requirement.sentence(unit)
    else:  # of a plugin that knows people alone
        sentence = requirement.sentence()
        sentence = sentence if unit is Unit.PERSON else stating("guarantee.rows", sentence)
    if requirement.attackers:
        known = [attacker.statement(name) for name, attacker in requirement.attackers.items()]
        sentence = stating("guarantee.attackers", sentence, attackers=known)
    ruled_out = not requirement.coverage.stricter_on_all_values and requirement.coverage.spared
    if ruled_out and not requirement.algebra.refined:  # else the inner model's sentence has it
        sentence = stating(f"guarantee.ruled-out.{unit.plural}", sentence)
    return sentence


def shown_parameters(requirement: Requirement) -> dict[str, Any]:
    """Return the parameters without values of sensitive attributes, which no message repeats."""
    hidden = {*requirement.value_fields, "attackers"}

    def without_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: without_values(parameter) if isinstance(parameter, dict) else parameter
            for name, parameter in parameters.items()
            if name not in hidden
        }

    return without_values(requirement.parameters())


def vacuous_for(requirement: Requirement, counts: ClassCounts, domains: Domains) -> tuple[str, ...]:
    """Return the attributes of which it excludes nothing; ``""`` for sizes.

    Passing classes stay passing when they are merged, so every partition of the table passes
    if classes of single rows do: no release can fail, and no person is protected.
    """
    return tuple(
        attribute
        for attribute in requirement.attributes(counts)
        if counts.classes
        and all(
            requirement.judge(single, domains, attribute).all()
            for single in counts.single_rows(attribute)
        )
    )


def full_check(requirement: Requirement, counts: ClassCounts, domains: Domains) -> Verdict:
    """Judge a table, and whether the requirement excludes anything there."""
    verdict = requirement.check(counts, domains)
    return replace(verdict, vacuous_for=vacuous_for(requirement, counts, domains))


def least_removed(
    requirement: Requirement, counts: ClassCounts, domains: Domains, share: float
) -> Floats:
    """Return at least how many rows of each class have to go before the rest of it can pass.

    It holds whatever is left out of the table elsewhere, up to the ``share`` of all rows. A
    merged class needs no more than its parts together, so the sum over a table's classes
    never rises with generalization. 0 says that nothing is known.
    """
    if requirement.algebra.absorbing:  # no part of a failing class passes
        return np.where(requirement.passes(counts, domains), 0.0, counts.size)
    least = np.zeros(counts.classes)
    if isinstance(requirement, AttributeRequirement):
        for attribute in requirement.attributes(counts):
            values = requirement.counted(counts)[attribute]
            excess = requirement.excess(values, counts.size, domains[attribute], share)
            np.maximum(least, excess, out=least)
    return least
