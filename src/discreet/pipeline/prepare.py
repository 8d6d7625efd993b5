"""From a job and its data to the task that a method runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import HierarchyError, InputError, JobError
from discreet.hierarchies.cells import (
    SUPPRESSED,
    ValueSet,
    escaped,
    looks_like_notation,
    parse_cell,
    set_cell,
)
from discreet.hierarchies.hierarchy import Hierarchy, Level
from discreet.hierarchies.specs import Automatic
from discreet.io.column_dictionary import canonical_text
from discreet.io.knowledge import read_knowledge
from discreet.io.tables import column_names, read_table
from discreet.job.direct_identifiers import (
    UNIQUE_AT_MOST,
    direct_identifiers,
    refusal,
    unique_by,
)
from discreet.job.identifying import SEVERAL_ROWS
from discreet.job.model import Job
from discreet.job.revealed import revealed_quasi_identifiers
from discreet.job.sampling_weights import with_weights
from discreet.job.value_spellings import spelling_problems
from discreet.knowledge.population import Population
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Ability, Progress, Secrets, Task, no_progress
from discreet.methods.registry import unmet
from discreet.methods.shared.judged_persons import unfit_for_persons
from discreet.pipeline.rare_values import Treating, at_level
from discreet.pipeline.read import SourceRows, read_source, require_columns, source_of
from discreet.requirements.base import AttributeRequirement, Requirement, TableTerms
from discreet.requirements.basis import Basis
from discreet.requirements.covered_values import of_sensitive_values
from discreet.requirements.judge import for_attackers, person_basis
from discreet.requirements.population import DeltaPresence
from discreet.table.bitmaps import Bitmap, expand
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Keeping, PersonBasis
from discreet.table.published import PERSON
from discreet.table.roles import ColumnSpec, Role, Unit
from discreet.table.secrets import LEAST_ROWS, NEARLY, connected, find_dependencies

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

_NOTATION_START = r"^\s*[\[{*]"


def prepare(
    job: Job,
    data: Any = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
) -> Task:
    """Read the data (the job's own source if none is given) and prepare the task of a job.

    With a ledger, the task also has the keyed hashes of people and the earlier releases.
    """
    progress("reading", 0.0)
    source = read_source(job, data, ledger, lambda share: progress("reading", share))
    return prepare_task(job, source, rng=rng, progress=progress, ledger=ledger)


def prepare_task(
    job: Job,
    source: SourceRows,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = no_progress,
    ledger: Ledger | None = None,
) -> Task:
    """Build hierarchies and the history of a source that was read, and check it all.

    Only dictionaries and counts are used, so the source may be spread over many machines.
    """
    rows = source.table.rows
    # Rows, hierarchies and requirements; then whom the rows are about.
    source, task, problems = _form(job, source, rng, progress)
    task = replace(task, basis=_basis(job, source, rows))
    problems += _unfit_for_persons(job, task)
    # The population, in whose cells some methods and requirements count.
    lacking = _unfit_for_population(job, task)
    problems += lacking
    if not lacking and job.population is not None:
        population = Population(*prepare_population(job, job.folder / job.population))
        task = replace(task, basis=replace(task.basis, population=population))
        asked = any(requirement.counting.population for requirement in task.requirements)
        if asked and Ability.POPULATION_CELLS in job.method.abilities:
            hierarchies = {**task.hierarchies, **population.hierarchies}
            table = population.recoded(task.table)
            task = replace(task, table=table, hierarchies=hierarchies)
    # Earlier releases, and what no requirement can be met on.
    if ledger is not None and source.people is not None:
        from discreet.pipeline.series import with_history

        progress("ledger", 0.0)
        task = with_history(task, job, ledger)
    problems += [
        f"requirements[{number}]: {problem}"
        for number, requirement in enumerate(task.requirements)
        for problem in requirement.problems(task.domains)
    ]
    if problems:
        raise JobError(problems)
    return task


class _Columns(NamedTuple):
    """The columns of a source as a method sees them, before rare values are treated."""

    table: CodedTable
    bitmaps: Mapping[str, Bitmap]
    marks: dict[str, NDArray[np.bool_]]
    hierarchies: dict[str, Hierarchy]
    problems: list[str]


def _columns_of(job: Job, table: CodedTable) -> _Columns:
    weighed = {  # columns whose information loss does not weigh 1
        name: replace(table[name], importance=attribute.importance)
        for name, attribute in job.attributes.items()
        if attribute.importance != 1 and name in table.columns
    }
    table = with_weights(job, replace(table, columns={**table.columns, **weighed}))
    table, bitmaps = expand_sets(job, table)
    marks, problems = sensitive_marks(job, table, bitmaps)
    problems += spelling_problems(job, table)
    hierarchies = _build_hierarchies(job, table)
    table, hierarchies = _guard_notation(job, table, hierarchies)
    table, hierarchies = _coarsened(job, table, hierarchies)
    return _Columns(table, bitmaps, marks, hierarchies, problems)


def _form(
    job: Job, source: SourceRows, rng: np.random.Generator | None, progress: Progress
) -> tuple[SourceRows, Task, list[str]]:
    """The rows that remain, the task, and the problems found so far."""
    # Columns with their hierarchies; rare values change both.
    _refuse_own_columns(job, source.table)
    progress("hierarchies", 0.0)
    columns = _columns_of(job, source.table)
    problems, rare = columns.problems, None
    if any(attribute.rare is not None for attribute in job.attributes.values()):
        treating = Treating(job, source)
        while treating.suppress(columns.table, columns.hierarchies):
            columns = _columns_of(job, treating.source.table)
        table, hierarchies, marks, rare = treating.recoded(
            columns.table, columns.hierarchies, columns.marks
        )
        columns = columns._replace(table=table, hierarchies=hierarchies, marks=marks)
        source = treating.source
    table, bitmaps, marks, hierarchies, _ = columns
    # Requirements for the job's attackers, secrets and sensitive values.
    knowledge = knowledge_of_job(job)
    bits = {name: bitmap.bits for name, bitmap in bitmaps.items()}
    terms = TableTerms(hierarchies, bits, "weights" if job.population is None else "table")
    requirements: list[Requirement] = [
        requirement.for_table(terms)
        for requirement in requirements_for_attackers(job, job.requirements, bits)
    ]
    problems += _unproved_secrets(job, source.sample or table)
    requirements = _of_finest(job, requirements, table)
    if Ability.SENSITIVE_VALUES in job.method.abilities:
        keeping = job.person is not None and job.person.rows == "keep"
        requirements = of_sensitive_values(requirements, table, marks, of_persons=keeping)
    task = Task(
        table,
        hierarchies,
        requirements,
        rng or np.random.default_rng(),
        progress,
        bitmaps,
        knowledge,
        secrets=Secrets(marks, job.secrets, rare),
    )
    return source, task, problems


def _unproved_secrets(job: Job, table: CodedTable) -> list[str]:
    """Return stated secrets whose columns do not reveal each other in the table.

    Guarantees and insiders take a secret as one attribute, so a false one would hide what an
    attacker learns.
    """
    problems = []
    for number, secret in enumerate(job.secrets):
        columns = [table[name] for name in secret if name in table.columns]
        pairs = [(pair.first, pair.second) for pair in find_dependencies(columns)]
        if connected(secret, pairs) != [list(secret)]:
            listed = ", ".join(f"'{name}'" for name in secret)
            problems.append(
                f"secrets[{number}]: {listed} do not reveal each other in the table: no column "
                f"determines another, or nearly (H(B|A) ≤ {NEARLY:g}·H(B), from {LEAST_ROWS} rows "
                "on). Remove what does not belong to the secret."
            )
    return problems


def _of_finest(
    job: Job, requirements: Sequence[Requirement], table: CodedTable
) -> list[Requirement]:
    """Return requirements on all sensitive attributes as those of the finest of each secret."""
    dependents = {name for secret in job.secrets for name in secret[1:]}
    if not dependents:
        return list(requirements)
    finest = tuple(column.name for column in table.sensitive if column.name not in dependents)
    return [
        requirement.model_copy(update={"attribute": finest})
        if isinstance(requirement, AttributeRequirement)
        and requirement.role is Role.SENSITIVE
        and not requirement.named
        else requirement
        for requirement in requirements
    ]


def requirements_for_attackers(
    job: Job, requirements: Sequence[Requirement], bits: Mapping[str, Sequence[str]]
) -> list[Requirement]:
    """Return requirements that hold for the job's attackers, whose columns are all named."""
    quasi = job.with_role(Role.QUASI_IDENTIFIER)
    resolved: list[Requirement] = []
    for requirement in requirements:
        requirement = for_attackers(requirement, job.attackers.declared)
        if requirement.attackers is not None:
            known = requirement.attackers.items()
            named = {name: columns.resolved(quasi, bits) for name, columns in known}
            requirement = requirement.model_copy(update={"attackers": named})
        resolved.append(requirement)
    return resolved


def _basis(job: Job, source: SourceRows, rows: int) -> Basis:
    """Whom the rows are about; ``rows`` are all of the source.

    Without persons in the job the unit follows from the identifiers: one for each person, or
    several.
    """
    basis = Basis(
        unit=Unit.PERSON,
        one_row_each=source.persons,
        persons=source.row_persons,
        keeping=Keeping() if job.person is None else job.person.keeping,
        people=source.people,
        population_size=job.population_size,
        household=source.household,
    )
    if source.persons is not None or source.row_persons is not None:
        return basis
    uses = source.uses.items()
    repeated = tuple(use.sentence(name) for name, use in uses if use.most > 1)
    complete = any(use.values == rows for _, use in uses)
    unit = Unit.PERSON if complete and not repeated else Unit.ROW
    return replace(basis, unit=unit, repeated=repeated, keeping=Keeping())


def _unfit_for_persons(job: Job, task: Task) -> list[str]:
    """Return the reasons why persons cannot keep all their rows."""
    if task.basis.persons is None:
        return []
    problems = [
        f"requirements: {name} cannot be judged on persons with several rows. Use 'person: {{…, "
        "rows: collapse}', or another requirement."
        for name in unfit_for_persons(task.requirements)
    ]
    for requirement in task.requirements:
        if person_basis(requirement) is PersonBasis.TERMS:
            demand = f"requirements: {requirement.name} on persons with several rows"
            problems += unmet(demand, Ability.TERMS, job.method)
    unfit = job.method.unfit_for_persons(task.basis.keeping)
    if unfit is not None:
        problems.append(f"method: {unfit}, or 'person: {{…, rows: collapse}}'.")
    return problems


def _unfit_for_population(job: Job, task: Task) -> list[str]:
    """Return the reasons why classes cannot be compared with a population."""
    problems = []
    # A population is larger than its sample.
    weights = task.table.sampling_weights
    if job.population_size is not None and job.population_size < task.table.rows:
        problems.append(
            f"population_size: {job.population_size:,} is less than the {task.table.rows:,} rows "
            "of the table. State how many persons the rows were sampled from."
        )
    for requirement in task.requirements:
        # A requirement needs its population or its weights, and a method that can meet it.
        if not (requirement.counting.population or requirement.counting.weights):
            continue
        if requirement.counting.population and job.population is None:
            problems.append(
                "population: is missing. Name a table with the quasi-identifiers of everybody who "
                f"might be in the source, for {requirement.name}."
            )
        elif requirement.counting.weights and weights is None:
            problems.append(
                f"requirements: {requirement.name} needs population sizes. Name a table under "
                "`population:`, or give the column of sampling weights the role 'weight'."
            )
        elif requirement.counting.weights and weights is not None and not (weights > 1).any():
            problems.append(
                f"requirements: {requirement.name}: the weights do not exceed 1, so that rows "
                "represent no more persons than themselves. Multiply normalized weights by the "
                "population's size over the number of rows."
            )
        ability = Ability.PRESENCE if isinstance(requirement, DeltaPresence) else Ability.POPULATION
        if unable := unmet(f"requirements: {requirement.name}", ability, job.method):
            problems += unable
        elif requirement.counting.weights and job.method.shrinks_cells:
            problems.append(
                f"method: cells of {job.method.name} are as narrow as the rows of a class, and "
                f"cover fewer persons than the weights of {requirement.name} say. Use 'cells: "
                "blind' or 'cells: grid', full-domain, or a population table."
            )
        elif not requirement.algebra.bears_suppression and job.method.most_suppressed(
            task.table.rows
        ):
            problems.append(
                f"method: {requirement.name} is not judged where rows are suppressed. Use "
                "'suppression: 0'."
            )
    return problems


def require_publishable(job: Job, task: Task, source: SourceRows) -> None:
    """Refuse direct identifiers and several rows of one person, unless the job allows them.

    A job whose unit is rows may have several of one person. What reveals a quasi-identifier, which
    attackers know, identifies persons too.
    """
    if task.basis.repeated and job.unit is None:
        raise InputError(f"{' '.join(task.basis.repeated)} {SEVERAL_ROWS}")
    problems, table = [], task.table
    for name, attribute in job.attributes.items():
        if name not in table.columns or attribute.allow_identifying or not attribute.role.published:
            continue
        problem = refusal(table[name], table.rows, task.basis.persons)
        if problem is not None:
            problems.append(f"attributes.{name}: {problem}")
    problems += _revealing(job, task, source)
    if problems:
        raise JobError(problems)


def _revealing(job: Job, task: Task, source: SourceRows) -> list[str]:
    """Return the published columns that reveal quasi-identifiers, which attackers know."""
    table, persons = source.sample or task.table, task.basis.persons
    if persons is not None and source.sample is None:  # one row of each
        table = table.take(np.unique(persons.number, return_index=True)[1])
    allowed = {name for name, attribute in job.attributes.items() if attribute.allow_identifying}
    others = [
        column
        for column in table
        if column.role in (Role.SENSITIVE, Role.QUASI_SENSITIVE, Role.INSENSITIVE)
        and column.name not in allowed
    ]
    revealed = revealed_quasi_identifiers(table.quasi_identifiers, others)
    return [f"attributes.{each.columns[0]}: {each.sentence()}" for each in revealed]


def _refuse_own_columns(job: Job, table: CodedTable) -> None:
    """Refuse a table with a column that the release makes for itself."""
    numbered = job.person is not None and job.person.keeping.numbered
    added = (*job.method.own_columns, *((PERSON,) if numbered else ()))
    names = [f"'{name}'" for name in added if name in table.columns]
    if names:
        raise InputError(
            f"{job.method.name}: the release makes a column {', '.join(names)} of its own, and the "
            "table has one. Rename the table's column."
        )


def expand_sets(job: Job, table: CodedTable) -> tuple[CodedTable, dict[str, Bitmap]]:
    """Put bits in the place of every multi-valued sensitive attribute."""
    columns: dict[str, Column] = {}
    bitmaps: dict[str, Bitmap] = {}
    for column in table:
        if column.role is not Role.SENSITIVE or column.separator is None:
            columns[column.name] = column
            continue
        bitmap, bits = expand(column, job.attributes[column.name].min_support or 1)
        doubled = [bit.name for bit in bits if bit.name in job.attributes]
        if doubled:
            raise InputError(
                f"Column '{column.name}': its bits would be called as the column '{doubled[0]}'. "
                "Rename one of the two."
            )
        bitmaps[column.name] = bitmap
        columns.update((bit.name, bit) for bit in bits)
    return replace(table, columns=columns), bitmaps


def sensitive_marks(
    job: Job, table: CodedTable, bitmaps: Mapping[str, Bitmap]
) -> tuple[dict[str, NDArray[np.bool_]], list[str]]:
    """Return the sensitive values of each attribute whose values the job names, and problems.

    Where the job names members of sets, having a sensitive one is sensitive, not having it is not.
    """
    marks: dict[str, NDArray[np.bool_]] = {}
    problems: list[str] = []
    for name, attribute in job.attributes.items():
        key = "non_sensitive_values" if attribute.sensitive_values is None else "sensitive_values"
        listed: tuple[str | None, ...] | None = getattr(attribute, key)
        if listed is None:
            continue
        inside, outside = key == "sensitive_values", key != "sensitive_values"
        known: set[str | None]
        if name in bitmaps:
            bitmap = bitmaps[name]
            known = {*bitmap.members.values(), None}
            for bit in bitmap.bits:
                member = bitmap.members.get(bit, "")
                holding = inside if member in listed else outside
                absent = inside if None in listed else outside
                state = {"0": False, "1": holding, None: absent}
                marks[bit] = np.array([state[text] for text in table[bit].text.to_list()], bool)
        else:
            column = table[name]
            texts = column.text.to_list()
            known = set(texts)
            named = pl.Series(listed, dtype=pl.String)
            listed = tuple(canonical_text(named, column.type).to_list())
            marks[name] = np.array([inside if v in listed else outside for v in texts], bool)
        problems += [
            f"attributes.{name}.{key}: {'a missing value' if value is None else repr(value)} does "
            "not occur. Values are compared as the text of the source, letter by letter."
            for value in listed
            if value not in known
        ]
    return marks, problems


def prepare_population(job: Job, path: str | Path) -> tuple[CodedTable, dict[str, Hierarchy]]:
    """Read the quasi-identifiers of a larger population as the job reads its own table."""
    quasi = job.with_role(Role.QUASI_IDENTIFIER)
    source = source_of(job, path)
    others = {name: Role.DROP for name in column_names(source) if name not in quasi}
    specs = {
        **{
            name: ColumnSpec(job.attributes[name].role, job.attributes[name].type) for name in quasi
        },
        **{name: ColumnSpec(role) for name, role in others.items()},
    }
    require_columns(column_names(source), specs, str(source.path), source)
    table = read_table(source, specs)
    return _coarsened(job, table, _build_hierarchies(job, table))


def _build_hierarchies(job: Job, table: CodedTable) -> dict[str, Hierarchy]:
    """The hierarchy of every column that has one; all problems at once."""
    built: dict[str, Hierarchy] = {}
    problems: list[str] = []
    for column in table:
        attribute = job.attributes.get(column.name)  # none for a bit
        spec = attribute.hierarchy if attribute else None
        wanted = job.method.needs_hierarchies or (attribute and attribute.finest is not None)
        if spec is None and column.role is Role.QUASI_IDENTIFIER and wanted:
            spec = Automatic()
        if spec is None:
            continue
        try:
            built[column.name] = spec.build(column, job.folder)
        except HierarchyError as error:
            problems.append(str(error))
    if problems:
        raise HierarchyError("\n".join(problems))
    return built


def _coarsened(
    job: Job, table: CodedTable, hierarchies: dict[str, Hierarchy]
) -> tuple[CodedTable, dict[str, Hierarchy]]:
    """Replace each value of a column by its label at the finest level that the job allows.

    Methods, audit and attacks then see the labels as the column's values.
    """
    columns, trees = dict(table.columns), dict(hierarchies)
    problems = []
    for name, column in table.columns.items():
        attribute = job.attributes.get(name)  # none for a bit
        if attribute is None or attribute.finest is None:
            continue
        place, hierarchy = f"attributes.{name}.finest", hierarchies[name]
        level = hierarchy.number_of(attribute.finest)
        if level is None:
            problems.append(
                f"{place}: the hierarchy has no level {attribute.finest!r}. "
                + hierarchy.levels_in_words
            )
        elif hierarchy.levels[level].nodes < 2:
            problems.append(
                f"{place}: all rows have one label at level {level}. Use a lower level, or give "
                "the column the role 'drop'."
            )
        else:
            columns[name], trees[name] = at_level(column, hierarchy, level)
            unique = unique_by(columns[name])
            direct = None if attribute.allow_identifying else direct_identifiers(column)
            if direct is not None and unique > UNIQUE_AT_MOST * table.rows:
                problems.append(
                    f"attributes.{name}: {direct.sentence()}, and at level {level} of its "
                    f"hierarchy {unique:,} of {table.rows:,} rows still have a label of their own. "
                    "Use a higher 'finest', or the role 'identifier' or 'drop'."
                )
    if problems:
        raise JobError(problems)
    return replace(table, columns=columns), trees


def knowledge_of_job(job: Job) -> dict[str, Knowledge]:
    """The knowledge table of every quasi-sensitive attribute that has one; all problems at once."""
    knowledge: dict[str, Knowledge] = {}
    problems: list[str] = []
    for name, attribute in job.attributes.items():
        if attribute.knowledge is not None:
            try:
                knowledge[name] = read_knowledge(attribute.knowledge, job.folder)
            except InputError as error:
                problems.append(str(error))
    if problems:
        raise InputError("\n".join(problems))
    return knowledge


def _guard_notation(
    job: Job, table: CodedTable, hierarchies: dict[str, Hierarchy]
) -> tuple[CodedTable, dict[str, Hierarchy]]:
    """Refuse source values that look like published notation, or escape them if the job asks."""
    columns = dict(table.columns)
    refused: list[str] = []
    for column in table:
        if column.role is Role.QUASI_SENSITIVE and _starred(column):
            raise InputError(
                f"Column '{column.name}': some cells hold the term '*', which in a release is a "
                "cell of which all terms were removed. Change it, or list it under `missing:`."
            )
        published = column.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        if not published or column.name not in job.attributes:  # a bit
            continue
        if job.attributes[column.name].escape:
            columns[column.name], hierarchies = _escape(column, hierarchies)
        else:
            text = column.text.drop_nulls()
            suspects = text.filter(text.str.contains(_NOTATION_START)).to_list()
            if any(looks_like_notation(value) for value in suspects):
                refused.append(column.name)
    if refused:
        names = ", ".join(repr(name) for name in refused)
        raise InputError(
            f"Column {names}: some values are '*' or look like a range '[a, b]' or a set "
            "'{a, b}' and would be misread in a release. Change them, or add 'escape: true' to the "
            "attribute, which publishes them behind a backslash."
        )
    return replace(table, columns=columns), hierarchies


def _starred(column: Column) -> bool:
    text = column.text.drop_nulls()
    if column.separator is None:
        return bool((text == SUPPRESSED).any())
    suspects = text.filter(text.str.contains(SUPPRESSED, literal=True))
    return any(SUPPRESSED in cell.split(column.separator) for cell in suspects.to_list())


def _escape(
    column: Column, hierarchies: dict[str, Hierarchy]
) -> tuple[Column, dict[str, Hierarchy]]:
    text = [None if value is None else escaped(value) for value in column.text.to_list()]
    series = pl.Series(column.text.name, text, dtype=pl.String)
    hierarchy = hierarchies.get(column.name)
    if hierarchy is not None:
        leaves = replace(hierarchy.levels[0], labels=tuple(text))
        raw = column.text.to_list()
        levels = (leaves, *(_escape_level(level, raw) for level in hierarchy.levels[1:]))
        hierarchies = {**hierarchies, column.name: replace(hierarchy, levels=levels)}
    return replace(column, text=series, values=series), hierarchies


def _escape_level(level: Level, raw: Sequence[str | None]) -> Level:
    """The same level with escaped members in sets, and an escaped label where it is a value."""
    values = set(raw)
    labels = list(level.labels)
    for node, label in enumerate(labels):
        cell = None if label is None else parse_cell(label)
        if isinstance(cell, ValueSet) and all(member in values for member in cell.members):
            labels[node] = set_cell(None if v is None else escaped(v) for v in cell.members)
    for leaf in np.flatnonzero(level.leaves[level.node_of_leaf] == 1).tolist():
        node, value = level.node_of_leaf[leaf], raw[leaf]
        if value is not None and level.labels[node] == value:
            labels[node] = escaped(value)
    return replace(level, labels=tuple(labels))
