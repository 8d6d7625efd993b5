"""Judge any table by requirements, as it is: without a method, a release or a manifest.

Every distinct cell is a label. ``*``, ranges and sets of a table that was generalized elsewhere are
cells like any other, so rows are in one class exactly where all their quasi-identifiers are written
alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import JobError
from discreet.job.value_spellings import spelling_warnings
from discreet.knowledge.population_figures import PopulationFigures, population_figures
from discreet.methods.base import Task
from discreet.methods.shared.judged_persons import counts_on_persons, verdict_on_persons
from discreet.releases.audit.figures import SizeBand, size_bands
from discreet.requirements.attackers.judging import judge_key_sets
from discreet.requirements.attackers.km_anonymity import judge_items
from discreet.requirements.base import Requirement, Verdict
from discreet.requirements.closeness import TCloseness
from discreet.requirements.covered_values import of_sensitive_values
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    PDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.judge import (
    covered,
    full_check,
    judged_on_items,
    key_sets,
    limits_knowledge,
    person_basis,
    stated,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.population import DeltaPresence
from discreet.requirements.value_bounds import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from discreet.result import Result
from discreet.statements import Statement
from discreet.table.budgets import BEYOND
from discreet.table.counts import count_classes
from discreet.table.persons import PersonBasis, PersonCounts, Persons, count_persons
from discreet.table.roles import Unit

# The models whose figure follows from a table alone, whatever their bound.
MODELS: tuple[Requirement, ...] = (
    KAnonymity(k=1),
    DistinctLDiversity(l=1),
    EntropyLDiversity(l=1),
    RecursiveClDiversity(c=1, l=2),
    PDiversity(l=1),
    AlphaKAnonymity(alpha=1, k=1),
    TCloseness(t=1),
    BetaLikeness(beta=1),
    DeltaDisclosure(delta=1),
    MultiAttributeLDiversity(l=1),
)
MASKED = "*"


@dataclass(frozen=True)
class FailingClasses:
    """The classes that fail a requirement; never what they hold."""

    classes: int
    members: int  # rows, or persons where these are counted
    sizes: Mapping[int, int]  # by size: how many failing classes have it, the smallest first


@dataclass(frozen=True)
class KnownColumns:
    """What was found for attackers who know some columns: those of one set, out of many."""

    sets: int
    failing_sets: int
    worst_set: tuple[str, ...]  # of those that fail, the one with the smallest group
    by_length: Mapping[int, Mapping[str, float]]  # figures by the number of known columns


@dataclass(frozen=True)
class CheckedRequirement:
    """A requirement, and the figures of a table that it was judged by."""

    requirement: Requirement
    holds: bool
    achieved: Mapping[str, float]  # the worst figure over classes and attributes, by parameter
    by_attribute: Mapping[str, float]
    failing: FailingClasses
    excludes_nothing: tuple[str, ...]  # the attributes of which it excludes nothing
    attackers: KnownColumns | None = None  # where they know some columns, not all

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; a figure without bound is None."""
        return {
            "requirement": self.requirement.name,
            "parameters": self.requirement.parameters(),
            "holds": self.holds,
            "achieved": _plain(self.achieved),
            "by_attribute": _plain(self.by_attribute),
            "failing": {
                **asdict(self.failing),
                "sizes": {str(size): n for size, n in self.failing.sizes.items()},
            },
            "excludes_nothing": list(self.excludes_nothing),
            **({} if self.attackers is None else {"attackers": self._known_columns()}),
        }

    def _known_columns(self) -> dict[str, Any]:
        known = self.attackers
        assert known is not None
        return {
            "sets": known.sets,
            "failing_sets": known.failing_sets,
            "worst_set": list(known.worst_set),
            "by_length": {str(length): _plain(one) for length, one in known.by_length.items()},
        }


@dataclass(frozen=True)
class Check(Result):
    """What a table guarantees: a verdict on each requirement, with the figures of the table."""

    rows: int
    persons: PersonCounts | None  # where persons are counted
    classes: int
    sizes: tuple[SizeBand, ...]  # of the classes, in rows or in persons
    quasi_identifiers: tuple[str, ...]
    distances: Mapping[str, str]  # by sensitive attribute: the ground distance of t-closeness
    requirements: tuple[CheckedRequirement, ...]
    # by model without a bound: the figure of the table, by attribute ("" for sizes)
    figures: Mapping[str, Mapping[str, float]]
    remarks: tuple[str, ...]  # what the figures do not say
    population: PopulationFigures | None = None  # the risk of links, where sizes are known
    suppressed: int = 0  # rows of suppressed keys alone, which are in no class

    @property
    def ok(self) -> bool:
        """Whether all requirements hold; true where none was given."""
        return all(one.holds for one in self.requirements)

    @property
    def unit(self) -> Unit:
        """The unit that was counted."""
        return Unit.ROW if self.persons is None else Unit.PERSON

    def sentence(self, one: CheckedRequirement) -> str:
        """Return what a requirement demands, in plain words."""
        return stated(one.requirement, self.unit)

    def __str__(self) -> str:
        return "\n".join(import_module("discreet.report.pages.check_page").check_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            **({"suppressed": self.suppressed} if self.suppressed else {}),
            "persons": None if self.persons is None else asdict(self.persons),
            "classes": self.classes,
            "sizes": [asdict(band) for band in self.sizes],
            "quasi_identifiers": list(self.quasi_identifiers),
            "distances": dict(self.distances),
            "requirements": [one.to_dict() for one in self.requirements],
            "figures": {name: _plain(figures) for name, figures in self.figures.items()},
            "remarks": list(self.remarks),
            **({} if self.population is None else {"population": self.population.to_dict()}),
        }


def check_table(task: Task, persons: Persons | None = None, *, figures: bool = False) -> Check:
    """Judge the table of a task by its requirements, on rows or on persons.

    With ``figures``, also measure the table by every model that has a figure without a bound.
    """
    # Form the classes, and judge each.
    _require_fit(task, persons)
    classes = task.table.classes
    size = classes.size
    if persons is not None:
        size = count_persons(classes, persons, (), PersonBasis.PERSONS).size
    verdicts = _verdicts(task, persons)
    return Check(
        rows=task.table.rows,
        persons=None if persons is None else persons.counts,
        classes=classes.count,
        sizes=size_bands(size),
        quasi_identifiers=tuple(column.name for column in task.table.quasi_identifiers),
        distances={column.name: str(column.distance) for column in task.table.sensitive},
        requirements=tuple(
            _checked_for_attackers(requirement, task)
            if verdict is None
            else _checked(requirement, verdict, size)
            for requirement, verdict in zip(task.requirements, verdicts, strict=True)
        ),
        figures=dict(_measured(task, persons)) if figures else {},
        remarks=tuple(_remarks(task, persons)),
        population=None if persons is not None else _population(task),
    )


def _population(task: Task) -> PopulationFigures | None:
    """The risk that rows are linked to the population."""
    people = (
        None
        if task.basis.population is None
        else task.basis.population.persons_fitting(task.table, {})
    )
    return population_figures(
        task.table, people=people, size=task.basis.population_size, household=task.basis.household
    )


def _require_fit(task: Task, persons: Persons | None) -> None:
    """Raise all reasons why requirements cannot be judged on this table."""
    # What the table lacks, or the requirement does not know.
    problems = [problem for one in task.requirements for problem in one.problems(task.domains)]
    problems += [
        f"{one.name} compares with a population, which this check lacks. Check by a job whose "
        "`population:` names its table."
        for one in task.requirements
        if one.counting.population
        and (task.basis.population is None or isinstance(one, DeltaPresence))
    ]
    problems += [
        f"{one.name} sums up sampling weights, which this check lacks. Check by a job in which a "
        "column has the role 'weight'."
        for one in task.requirements
        if one.counting.weights and task.table.sampling_weights is None
    ]
    problems += [
        f"{one.name} is not judged for attackers who know some columns. Leave it or them out."
        for one in task.requirements
        if limits_knowledge(one) and one.counting.sizes != "rows"
    ]
    if persons is not None:
        problems += [
            f"{one.name} cannot be judged on persons with several rows. Leave out the person to "
            "judge rows, or check another requirement."
            for one in task.requirements
            if person_basis(one) in (None, PersonBasis.TERMS)
        ]
    if problems:
        raise JobError(problems, "check")


def _verdicts(task: Task, persons: Persons | None) -> list[Verdict | None]:
    """The verdicts on the classes; None where attackers know some columns."""
    domains, classes = task.domains, task.table.classes
    if persons is not None:
        sensitive = task.table.sensitive
        return [
            verdict_on_persons(one, classes, persons, sensitive, domains)
            for one in task.requirements
        ]
    counts = task.count(classes)
    if task.basis.population is not None:
        people = task.basis.population.persons_fitting(task.table, {})
        counts = replace(counts, population=people)
    return [
        None if limits_knowledge(one) else full_check(one, counts, domains)
        for one in task.requirements
    ]


def _checked_for_attackers(requirement: Requirement, task: Task) -> CheckedRequirement:
    if judged_on_items(requirement):
        found_items = judge_items(requirement, task.table)
        return CheckedRequirement(
            requirement,
            found_items.holds,
            found_items.achieved,
            found_items.by_attribute,
            FailingClasses(0, 0, {}),
            found_items.vacuous_for,
        )
    quasi = [column.name for column in task.table.quasi_identifiers]
    judged = judge_key_sets(
        requirement, key_sets(requirement, quasi), task.table, task.domains, by_length=True
    )
    sizes, verdict = judged.failing_sizes, judged.verdict
    return CheckedRequirement(
        requirement,
        verdict.holds,
        verdict.achieved,
        verdict.by_attribute,
        FailingClasses(sum(sizes.values()), sum(s * n for s, n in sizes.items()), sizes),
        verdict.vacuous_for,
        KnownColumns(judged.sets, judged.failing_sets, judged.worst_set, judged.by_length),
    )


def _checked(
    requirement: Requirement, verdict: Verdict, size: NDArray[np.int64]
) -> CheckedRequirement:
    failing = size[verdict.failing]
    sizes, times = np.unique(failing, return_counts=True)
    return CheckedRequirement(
        requirement,
        verdict.holds,
        verdict.achieved,
        verdict.by_attribute,
        FailingClasses(
            len(failing), int(failing.sum()), dict(zip(sizes.tolist(), times.tolist(), strict=True))
        ),
        verdict.vacuous_for,
    )


def _measured(task: Task, persons: Persons | None) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Return the worst figure of each model by attribute; bounds do not matter here."""
    sensitive, domains, classes = task.table.sensitive, task.domains, task.table.classes
    counts = None if persons is not None else count_classes(classes, sensitive, refined=True)
    for model in MODELS if sensitive else MODELS[:1]:
        if persons is not None and person_basis(model) is None:
            continue
        if model.algebra.refined and len(sensitive) < 2:
            continue
        figures: dict[str, float] = {}
        for one in _of_sensitive_values(model, task, of_persons=persons is not None):
            if persons is not None:
                counts = counts_on_persons(one, classes, persons, sensitive)
            assert counts is not None
            worst = np.max if one.algebra.smaller_is_better else np.min
            for name in one.attributes(counts):
                figure = float(worst(one.figures(counts, domains, name)))
                if not one.coverage.spared or figure < BEYOND:
                    figures[name] = figure
        yield model.name, figures


def _of_sensitive_values(
    model: Requirement, task: Task, *, of_persons: bool
) -> Sequence[Requirement]:
    """The model of sensitive values alone.

    A class without one has the figure that is asked for, so that asking for more than any class
    reaches leaves it out.
    """
    if all(mark.all() for mark in task.secrets.sensitive_values.values()):
        return [model]
    if isinstance(model, DistinctLDiversity | EntropyLDiversity | PDiversity):
        model = model.model_copy(update={"l": BEYOND})
    elif isinstance(model, MultiAttributeLDiversity):
        model = MultiAttributeLDiversity(l=BEYOND)
    return of_sensitive_values(
        [model], task.table, task.secrets.sensitive_values, of_persons=of_persons
    )


def _remarks(task: Task, persons: Persons | None) -> Iterator[str]:
    if persons is not None and persons.counts.most > 1:
        yield Statement("check.intersected-classes")
    for column in task.table.sensitive:
        masked = np.flatnonzero((column.text == MASKED).fill_null(False).to_numpy())
        if len(masked):
            cells = int(column.counts[masked].sum())
            yield Statement("check.masked", column=column.name, cells=cells)
    yield from spelling_warnings(task.table)
    roles = {column.name: column.role for column in task.table}
    protected = {name for r in task.requirements for name in covered(r, roles)}
    left = [column.name for column in task.table.sensitive if column.name not in protected]
    if task.requirements and left:
        yield Statement("check.uncovered", names=left)


def _plain(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: figure if math.isfinite(figure) else None for name, figure in figures.items()}
