"""Check any table against requirements, without a job and without a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.errors import InputError, JobError
from discreet.io.frames import (
    code_frame,
    code_series,
    frame_columns,
    plain_frame,
    unwrapped_frame,
)
from discreet.io.header import renaming_notice
from discreet.io.in_place import Place, coded_counts, require_file_for
from discreet.io.source import Source, Tell
from discreet.io.tables import column_names, read_table, written_names
from discreet.job.key_readings import Reading, ReadKeys, read_keys
from discreet.job.model import Job
from discreet.job.proposing.untyped_table import suggest_type
from discreet.job.sampling_weights import with_weights
from discreet.job.table_check import Check, check_table
from discreet.job.value_spellings import spelled_numbers, text_by_value
from discreet.knowledge.population import Population
from discreet.methods.base import Progress, Secrets, Task, no_progress
from discreet.pipeline.prepare import (
    expand_sets,
    knowledge_of_job,
    prepare_population,
    requirements_for_attackers,
    sensitive_marks,
)
from discreet.pipeline.read import counting_place, require_columns, source_of, specs_of_job
from discreet.requirements.base import Requirement, TableTerms
from discreet.requirements.basis import Basis
from discreet.requirements.covered_values import of_sensitive_values
from discreet.requirements.judge import limits_knowledge
from discreet.requirements.registry import requirement_from_mapping
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons, persons_of
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType

Cell = str | float | None
_PLAIN = Role.INSENSITIVE  # of a column that is read to tell rows apart


def check(
    data: Any,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 (the field's name)
    t: float | None = None,
    requirements: Sequence[Requirement | Mapping[str, Any] | str] = (),
    person: str | Sequence[str] = (),
    distance: Mapping[str, str] | None = None,
    sensitive_values: Mapping[str, Sequence[Cell]] | None = None,
    harmless_values: Mapping[str, Sequence[Cell]] | None = None,
    missing: Sequence[str] = (),
    suppressed: Sequence[str] = (),
    source: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    figures: bool = False,
    progress: Progress = no_progress,
) -> Check:
    """Judge a table as it is, and return the achieved figure of every requirement.

    ``data`` is a frame, a path, the URL of a database (with its ``table`` or a ``query``), a DuckDB
    relation, an Ibis table, a Spark frame, or None for the job's own source. A database and Spark
    count by themselves; rows stay there. Roles are those of ``quasi``, ``sensitive`` and
    ``person``, or of a ``job``. ``source`` has options to read a file, such as
    ``{"sheet": "People"}``.

    ``k``, ``l`` and ``t`` are short for k-anonymity, distinct ℓ-diversity and t-closeness;
    ``requirements`` takes all others. With ``person``, persons are counted instead of rows.
    Without a requirement, or with ``figures``, the table is measured by every model. A sensitive
    attribute whose values are all numbers or dates has the ordered distance, others the equal one,
    unless ``distance`` names another. All values of a sensitive attribute are sensitive, but where
    ``sensitive_values`` names those that are, or ``harmless_values`` those that are not.

    ``missing`` are tokens of missing cells; ``"match"`` among them reads suppressed and missing
    quasi-identifiers as equal to every value, as sdcMicro does, and ``"value"`` as values. Rows of
    ``suppressed`` cells alone, such as ``*``, are counted apart, as ARX does. Where these readings
    differ, a remark has the figures.
    """
    reading: Reading = "match" if "match" in missing else "value"
    missing = [token for token in missing if token not in ("match", "value")]
    named = {} if job is not None else _attributes(quasi, sensitive, person, distance or {})
    if job is not None and (
        quasi or sensitive or person or distance or sensitive_values or harmless_values
    ):
        raise InputError(
            "A job already names the roles. Give either a job, or quasi-identifiers, sensitive "
            "attributes with their values, persons and distances."
        )
    _name_values(named, sensitive_values or {}, "sensitive_values")
    _name_values(named, harmless_values or {}, "non_sensitive_values")
    asked = [*_short_requirements(k, l, t), *map(_requirement, requirements)]
    described = Job.of(job) if job is not None else _described(named, person, asked)
    if job is not None:
        asked = [*described.requirements, *asked]
    progress("reading", 0.0)
    data = unwrapped_frame(data)
    require_file_for(source, data)
    place = counting_place(described, data, table, query)
    task, persons, remarks, keys = _task(
        described,
        asked,
        data,
        place,
        [*missing, *(described.source.missing if described.source else ())],
        source or {},
        infer=job is None,
        suppressed=_names(suppressed),
        reading=reading,
        tell=lambda share: progress("reading", share),
    )
    progress("checking", 0.0)
    checked = check_table(task, persons, figures=figures or not asked)
    beside = () if place is None else place.remarks
    remarks += [*checked.remarks, *keys.remarks, *beside]
    return replace(checked, rows=keys.rows, suppressed=keys.suppressed, remarks=tuple(remarks))


def _short_requirements(
    k: int | None,
    l: int | None,  # noqa: E741 (the field's name)
    t: float | None,
) -> list[Requirement]:
    short = (("k-anonymity", "k", k), ("distinct-l-diversity", "l", l), ("t-closeness", "t", t))
    return [
        requirement_from_mapping({name: {key: bound}})
        for name, key, bound in short
        if bound is not None
    ]


def _requirement(given: Requirement | Mapping[str, Any] | str) -> Requirement:
    return given if isinstance(given, Requirement) else requirement_from_mapping(given)


def _names(given: str | Sequence[str]) -> list[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"Names of columns are of the type {type(given).__name__}. Give a list of names."
        )
    return list(names)


def _attributes(
    quasi: Sequence[str],
    sensitive: Sequence[str],
    person: str | Sequence[str],
    distance: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    """The role of every column that a call names."""
    roles = {
        Role.QUASI_IDENTIFIER: _names(quasi),
        Role.SENSITIVE: _names(sensitive),
        Role.IDENTIFIER: _names(person),
    }
    named: dict[str, dict[str, Any]] = {}
    problems = []
    for role, names in roles.items():
        for name in names:
            if name in named:
                problems.append(f"column '{name}' has two roles: {named[name]['role']} and {role}.")
            named[name] = {"role": str(role)}
    for name, word in distance.items():
        if named.get(name, {}).get("role") != Role.SENSITIVE:
            problems.append(f"distance: '{name}' is not a sensitive attribute.")
        elif word not in (Distance.EQUAL, Distance.ORDERED):
            problems.append(f"distance of '{name}': use equal or ordered; found {word!r}.")
        else:
            named[name]["distance"] = word
    if not roles[Role.QUASI_IDENTIFIER]:
        problems.append("name the quasi-identifiers, the columns that an attacker may know.")
    if problems:
        raise JobError(problems, "check")
    return named


def _name_values(
    named: dict[str, dict[str, Any]], values: Mapping[str, Sequence[Cell]], key: str
) -> None:
    """Add the values of sensitive attributes that a call names to the roles."""
    known = [name for name, one in named.items() if one["role"] == Role.SENSITIVE]
    unknown = [name for name in values if name not in known]
    if unknown:
        allowed = ", ".join(f"'{name}'" for name in known) or "none is named"
        raise JobError(
            [f"values of '{name}': it is not a sensitive attribute. Allowed: {allowed}."
             for name in unknown], "check",
        )  # fmt: skip
    for name, given in values.items():
        named[name][key] = list(given)


def _described(
    named: Mapping[str, Mapping[str, Any]],
    person: str | Sequence[str],
    requirements: Sequence[Requirement],
) -> Job:
    """A job with the roles of a call; it validates that the requirements fit them."""
    counted = {"person": {"column": _names(person), "rows": "keep"}} if person else {}
    try:
        return Job.model_validate(
            {"attributes": named, "requirements": list(requirements), **counted}
        )
    except JobError as error:
        raise JobError(error.problems, "check") from None


def _task(
    job: Job,
    requirements: Sequence[Requirement],
    data: Any,
    place: Place | None,
    missing: Sequence[str],
    options: Mapping[str, Any],
    *,
    infer: bool,
    suppressed: Sequence[str],
    reading: Reading,
    tell: Tell,
) -> tuple[Task, Persons | None, list[str], ReadKeys]:
    """Read the columns with a role, and prepare what requirements may know; with remarks."""
    joined = [name for name, attribute in job.attributes.items() if attribute.columns]
    if joined:
        raise JobError(
            [f"attributes.{joined[0]}: check does not join 'columns'. Name each by itself."]
        )
    specs = {
        name: spec if spec.role is Role.SENSITIVE else replace(spec, type=None, date_format=None)
        for name, spec in specs_of_job(job).items()  # cells that are not sensitive are labels
        if spec.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.QUASI_SENSITIVE)
    }
    further = {  # read where the table has them; a release has no household
        **{name: ColumnSpec(Role.WEIGHT, ValueType.NUMBER) for name in job.with_role(Role.WEIGHT)},
        **{name: ColumnSpec(_PLAIN, ValueType.TEXT) for name in job.with_role(Role.HOUSEHOLD)},
    }
    person = () if job.person is None else job.person.column
    specs |= {name: ColumnSpec(Role.INSENSITIVE, ValueType.TEXT) for name in person}
    persons: Persons | None = None
    remarks: list[str] = []
    if place is not None:
        _all_specs(place.columns(), specs, place.name)
        counted = {name: spec for name, spec in specs.items() if name not in person}
        table, persons = coded_counts(place, counted, person, missing)
    else:
        table, notices = _read_rows(job, data, specs, further, missing, options, tell)
        remarks += notices
        if person:
            persons = persons_of([table[name] for name in person], table.rows)
    households = [name for name in job.with_role(Role.HOUSEHOLD) if name in table.columns]
    household = table[households[0]].codes if households else None
    columns = {
        column.name: _typed(column, specs[column.name], missing)
        if infer and column.name in specs
        else column
        for column in table
        if column.name not in (*person, *households)
    }
    table = with_weights(job, replace(table, columns=columns))
    spelled = spelled_numbers(job, table)
    decimal = "." if job.source is None else job.source.decimal
    merged = {
        name: _coded_again(table[name], text_by_value(table[name], decimal), specs[name], missing)
        for name in spelled
    }
    table = replace(table, columns={**table.columns, **merged})
    _require_rows(suppressed, reading, requirements, job, counted_apart=bool(person or households))
    keys = read_keys(table, suppressed, reading)
    table = keys.table
    task = judged_task(job, table, requirements, of_persons=persons is not None)
    population = None
    if job.population is not None and place is None:
        population = Population(*prepare_population(job, job.folder / job.population))
    basis = Basis(population=population, population_size=job.population_size, household=household)
    task = replace(task, basis=basis)
    remarks += [
        f"Column '{name}': {one}, and count as {one.numbers:,} value{'s'[: one.numbers > 1]}. If "
        "they are codes that differ, use a job with 'type: text'."
        for name, one in spelled.items()
    ]
    return task, persons, remarks, keys


def _require_rows(
    suppressed: Sequence[str],
    reading: Reading,
    requirements: Sequence[Requirement],
    job: Job,
    *,
    counted_apart: bool,
) -> None:
    """Raise where suppressed keys are to be read in a way that only rows by all keys allow."""
    if not suppressed and reading == "value":
        return
    if counted_apart:
        raise InputError(
            "--suppressed and --missing match count rows, not persons or households. Leave out one."
        )
    few = any(map(limits_knowledge, requirements_for_attackers(job, requirements, {})))
    if reading == "match" and few:
        raise InputError(
            "--missing match is for attackers who know all quasi-identifiers. Leave out "
            "requirements for attackers who know some, or the option."
        )


def judged_task(
    job: Job, table: CodedTable, requirements: Sequence[Requirement], *, of_persons: bool = False
) -> Task:
    """Prepare a coded table, whose columns have the roles of a job, for requirements on it."""
    table, bitmaps = expand_sets(job, table)
    bits = {name: bitmap.bits for name, bitmap in bitmaps.items()}
    marks, problems = sensitive_marks(job, table, bitmaps)
    if problems:
        raise JobError(problems, "check")
    terms = TableTerms({}, bits, "weights" if job.population is None else "table")
    required = [
        requirement.for_table(terms)
        for requirement in requirements_for_attackers(job, requirements, bits)
    ]
    required = of_sensitive_values(required, table, marks, of_persons=of_persons)
    task = task_of_check(job, table, required)
    knowledge = knowledge_of_job(job)
    return replace(task, bitmaps=bitmaps, knowledge=knowledge, secrets=Secrets(marks))


def task_of_check(job: Job, table: CodedTable, requirements: Sequence[Requirement]) -> Task:
    """A table with what requirements may know: hierarchies, where a distance or level needs one."""
    levelled = any(
        getattr(one, "level", None) is not None
        for requirement in requirements
        for one in (requirement, getattr(requirement, "inner", None))
    )
    specs = {
        column.name: job.attributes[column.name].hierarchy
        for column in table.sensitive
        if column.name in job.attributes  # no bit
        and (levelled or column.distance is Distance.HIERARCHICAL)
    }
    hierarchies = {
        name: spec.build(table[name], job.folder)
        for name, spec in specs.items()
        if spec is not None
    }
    numbered = [one.for_table(TableTerms(hierarchies)) for one in requirements]
    return Task(table, hierarchies, numbered, np.random.default_rng())


def _read_rows(
    job: Job,
    data: Any,
    specs: Mapping[str, ColumnSpec],
    further: Mapping[str, ColumnSpec],
    missing: Sequence[str],
    options: Mapping[str, Any],
    tell: Tell,
) -> tuple[CodedTable, list[str]]:
    """Read a file or a frame; with the notice of a file whose columns share a name."""
    if data is None or isinstance(data, str | Path):
        source = source_of(job, data, options)
        tokens = tuple(dict.fromkeys((*source.missing, *missing)))
        source = source.model_copy(update={"missing": tokens})
        present, place = column_names(source), str(source.path)
        every = _all_specs(present, specs, place, further, source)
        notice = renaming_notice(written_names(source), present)
        return read_table(source, every, tell), [] if notice is None else [notice]
    frame = plain_frame(data)  # warns where columns share a name
    every = _all_specs(frame_columns(frame), specs, "the table", further)
    return code_frame(frame, every, missing), []


def _all_specs(
    present: Sequence[str],
    specs: Mapping[str, ColumnSpec],
    place: str,
    further: Mapping[str, ColumnSpec] | None = None,
    source: Source | None = None,
) -> dict[str, ColumnSpec]:
    """The specification of every column; those without a role are not read.

    The table must have all of ``specs``; those of ``further`` are read where it has them.
    """
    require_columns(present, list(dict.fromkeys([*present, *specs])), place, source)
    known = {**(further or {}), **specs}
    return {name: known.get(name, ColumnSpec(Role.DROP)) for name in present}


def _typed(column: Column, spec: ColumnSpec, missing: Sequence[str]) -> Column:
    """A sensitive column of text by the type that all its values have."""
    if column.role is not Role.SENSITIVE or column.type is not ValueType.TEXT:
        return column
    kind = suggest_type(column)
    if kind is ValueType.TEXT:
        return column
    return _coded_again(column, column.text.cast(pl.String), replace(spec, type=kind), missing)


def _coded_again(
    column: Column, text: pl.Series, spec: ColumnSpec, missing: Sequence[str]
) -> Column:
    """A column whose values have other texts or another type."""
    values = text.alias(column.name)
    coded = code_series(values, spec, missing, f"Column '{column.name}'")
    return replace(coded, codes=coded.codes[column.codes], weights=column.weights)
