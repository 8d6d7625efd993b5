"""Requirements judged on persons with several rows, by the counts that each is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.requirements.judge import full_check, person_basis
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts
from discreet.table.persons import PersonBasis, Persons, count_persons, count_with_known


def verdict_on_persons(
    requirement: Requirement,
    classes: Classes,
    persons: Persons,
    sensitive: Sequence[Column],
    domains: Domains,
) -> Verdict:
    """Judge the persons of every class."""
    counts = counts_on_persons(requirement, classes, persons, sensitive)
    return full_check(requirement, counts, domains)


def counts_on_persons(
    requirement: Requirement, classes: Classes, persons: Persons, sensitive: Sequence[Column]
) -> ClassCounts:
    """The counts of persons that a requirement is judged on."""
    basis = person_basis(requirement)
    if basis is None or basis is PersonBasis.TERMS:
        raise ValueError(f"{requirement.name} cannot be judged on persons")
    if requirement.algebra.refined:
        return count_with_known(classes, persons, sensitive, basis)
    return count_persons(classes, persons, sensitive, basis)


def unfit_for_persons(requirements: Iterable[Requirement]) -> list[str]:
    """The names of requirements that cannot be judged on persons."""
    return [one.name for one in requirements if person_basis(one) is None]
