"""Requirements judged on persons with several rows, by the counts that each is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.table.classes import Classes
from discreet.table.coded_table import Column
from discreet.table.person_counts import count_persons
from discreet.table.persons import Persons


def verdict_on_persons(
    requirement: Requirement,
    classes: Classes,
    persons: Persons,
    sensitive: Sequence[Column],
    domains: Domains,
) -> Verdict:
    """Judge the persons of every class."""
    if requirement.person_basis is None:
        raise ValueError(f"{requirement.name} cannot be judged on persons")
    counts = count_persons(classes, persons, sensitive, requirement.person_basis)
    return requirement.full_check(counts, domains)


def unfit_for_persons(requirements: Iterable[Requirement]) -> list[str]:
    """The names of requirements that cannot be judged on persons."""
    return [one.name for one in requirements if one.person_basis is None]
