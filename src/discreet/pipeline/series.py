"""A ledger's releases as a series: history for a method, and guarantees of the whole series.

The earlier releases come from the ledger, whose seals are checked; the new one from the tables as
they were written, which must agree with the record that the ledger is about to take.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.cross_release import correspondence_problems, correspondences
from discreet.attacks.series_beliefs import (
    Invariance,
    JointFinding,
    Series,
    invariance,
    joint,
    together,
)
from discreet.errors import InputError
from discreet.io.correlations import read_correlation
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import (
    BCF_ANONYMITY,
    M_INVARIANCE,
    RHO_DIFFERENT,
    Contents,
    Entry,
    GroupSignatures,
    domain_of_series,
    greatest_k,
    history_of,
    least_rho,
    past_contents,
    require_same_terms,
    terms_of,
    values_of,
)
from discreet.methods.base import Past, Task
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.shared.different_values import sole_sensitive
from discreet.pipeline.engine import Reading
from discreet.pipeline.record import Draft
from discreet.releases.audit.audit import Audit
from discreet.releases.kinds.bucketized import PEOPLE, SENSITIVE, people_counted
from discreet.requirements.republication import SeriesBcfAnonymity, SeriesRequirement
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column, exact_value
from discreet.table.published import GROUP

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


_NO_PEOPLE = np.zeros((0, 2), np.uint64)


def with_series(
    audit: Audit,
    ledger: Ledger,
    draft: Draft,
    reading: Reading,
    correlation: Correlation | None,
) -> Audit:
    """Return the audit of a new release with its guarantees about the series decided."""
    # What would not hold, and what no guarantee covers.
    problems = series_problems(ledger, draft, reading, correlation)
    asked = [promise.to_requirement() for promise in audit.promises]
    spared = [one for one in asked if one.coverage.spared]
    harmless = {name: one.coverage.spared for one in spared for name in one.coverage.names}
    warnings = series_warnings(ledger, draft, harmless)
    k = max((one.k for one in asked if isinstance(one, SeriesBcfAnonymity)), default=None)
    if k is not None and draft.entry.parameters.get(BCF_ANONYMITY) != k:
        problems.append("the ledger would not record the BCF-anonymity that the release states")
    # Every guarantee of the series holds, or none does.
    promises = tuple(
        promise.model_copy(update={"holds": not problems, "unproved": None})
        if isinstance(promise.to_requirement(), SeriesRequirement)
        else promise
        for promise in audit.promises
    )
    return replace(
        audit,
        promises=promises,
        problems=(*audit.problems, *problems),
        series_warnings=tuple(warnings),
    )


def series_warnings(
    ledger: Ledger, draft: Draft, harmless: Mapping[str, Sequence[str | None]]
) -> list[str]:
    """Return what no guarantee covers where records are in earlier releases of the ledger too.

    ``harmless`` has the values of attributes that the new release lets be disclosed.
    """
    entries = ledger.entries()
    if not entries:
        return []
    contents = [*(ledger.contents(entry) for entry in entries), draft.contents]
    covered = _guaranteed_attribute([*entries, draft.entry], contents)
    returning = _returning(contents)
    if not returning or set(draft.contents.signatures) == {covered}:
        return []
    warnings: list[str] = [Statement("series.uncovered-records", records=returning)]
    for attribute, signatures in draft.contents.signatures.items():
        series = None if attribute == covered else _series_of(contents, attribute, signatures)
        if series is not None and series.releases > 1:
            series = replace(series, harmless=frozenset(harmless.get(attribute, ())))
            finding = together(series, attribute, [np.inf] * series.releases)
            warnings.append(finding.sentence)
    return warnings


def _guaranteed_attribute(entries: Sequence[Entry], contents: Sequence[Contents]) -> str | None:
    """Return the attribute of which some release guarantees something for the whole series."""
    for entry, own in zip(entries, contents, strict=True):
        if _guarantees(entry):
            (attribute,) = own.signatures
            return attribute
    return None


def _guarantees(entry: Entry) -> bool:
    return entry.method in (M_INVARIANCE, RHO_DIFFERENT) or BCF_ANONYMITY in entry.parameters


def _returning(contents: Sequence[Contents]) -> int:
    """The people of the last release who are in an earlier one."""
    *earlier, last = [one.people[one.group >= 0] for one in contents]
    known = {tuple(person) for people in earlier for person in people.tolist()}
    return sum(tuple(person) in known for person in last.tolist())


def _series_of(contents: Sequence[Contents], attribute: str, signatures: GroupSignatures) -> Series:
    """Return the series of one attribute: the releases that publish it."""
    having = [one for one in contents if attribute in one.signatures]
    values = list(signatures.values)
    values += [value for value in values_of(having, attribute) if value not in values]
    return Series.of_history(history_of(having, attribute, _NO_PEOPLE, values))


def series_problems(
    ledger: Ledger,
    draft: Draft,
    reading: Reading,
    correlation: Correlation | None,
) -> list[str]:
    """Return which guarantees of a series would not hold if a release joined it."""
    entries = [*ledger.entries(), draft.entry]
    if not any(_guarantees(entry) for entry in entries):
        return []
    ledger.require_sound()
    contents = [*(ledger.contents(entry) for entry in entries[:-1]), draft.contents]
    attribute = _guaranteed_attribute(entries, contents)
    if attribute is None or attribute not in draft.contents.signatures:
        return []  # the release does not publish the attribute of the series
    # The ledger must be about to take what the files have.
    unlike = _unlike_tables(draft.contents, attribute, reading.tables)
    if unlike:
        return unlike
    series = _series_of(contents, attribute, draft.contents.signatures[attribute])
    problems = []
    # Each guarantee that some release of the series gives, on all of them.
    if any(entry.method == M_INVARIANCE for entry in entries):
        problems += invariance_problems(invariance(series))
    k = greatest_k([one.parameters for one in entries])
    if k is not None:
        problems += correspondence_problems(correspondences(series, k), k)
    rho = least_rho([one.parameters for one in entries if one.method == RHO_DIFFERENT])
    if rho is not None:
        finding = joint(series, correlation or Correlation(), rho)
        problems += belief_problems(finding, rho)
    return problems


def invariance_problems(found: Invariance) -> list[str]:
    """Return the sentences about people whose groups have different values, or counts of them."""
    counted = {"series.partly-new": found.overlapping, "series.uneven": found.uneven}
    return [Statement(id, records=records) for id, records in counted.items() if records]


def belief_problems(found: JointFinding, rho: float) -> list[str]:
    """Return the sentence about records with a belief above ρ."""
    if not found.above:
        return []
    return [
        f"{found.above} records have a value that an attacker who has all releases believes with "
        f"more than {rho:g}: up to {max(found.greatest):.3f}"
    ]


def _unlike_tables(
    contents: Contents, attribute: str, tables: Mapping[str, CodedTable]
) -> list[str]:
    """Return where written tables differ from the record that the ledger is about to take."""
    if SENSITIVE not in tables or GROUP not in tables[SENSITIVE].columns:
        return []  # classes of a generalized release have no numbers
    signatures = contents.signatures[attribute]
    values = len(signatures.values)
    # The values of each group in the files, with their counts.
    code_of = {value: code for code, value in enumerate(signatures.values)}
    table = tables[SENSITIVE]
    column = table[attribute]
    code = np.array([code_of.get(value, -1) for value in column.text.to_list()], np.int64)
    key = _groups(table) * values + code[column.codes]
    keys, inverse = np.unique(key, return_inverse=True)
    count = np.bincount(inverse, people_counted(table), len(keys)).astype(np.int64)
    # The same in the record.
    group = np.repeat(np.arange(contents.groups), np.diff(signatures.start))
    recorded = group * values + signatures.value
    order = np.argsort(recorded)
    sizes = np.bincount(contents.group[contents.group >= 0], minlength=contents.groups)
    same = (
        bool((code >= 0).all())
        and np.array_equal(keys, recorded[order])
        and np.array_equal(count, signatures.count[order])
        and np.array_equal(sizes, np.bincount(_groups(tables[PEOPLE]), minlength=contents.groups))
    )
    return [] if same else ["the ledger would record other groups than the written tables have"]


def _groups(table: CodedTable) -> np.ndarray:
    """Return the group of every row, from 0 on."""
    column = table[GROUP]
    numbers = column.text.cast(int).to_numpy().astype(np.int64) - 1
    groups: np.ndarray = numbers[column.codes]
    return groups


def with_history(task: Task, job: Job, ledger: Ledger) -> Task:
    """Return the task with the ledger's history; its dictionary is the domain of the series."""
    entries = ledger.entries()
    method = job.method
    # A series keeps its terms.
    correlation = _correlation(job)
    require_same_terms(
        ledger.name, entries, method.name, terms_of(method.parameters(), correlation)
    )
    if not method.needs_history or task.basis.people is None:
        return task
    ledger.require_sound()
    # Its domain: the values of the table, of earlier releases, and those that are named.
    (column,) = sole_sensitive(task.table, method.name)
    past = past_contents(ledger, entries, column.name)
    named = {*(correlation.values if correlation else ()), *method.declared_domain}
    domain = domain_of_series(entries, past, column.name)
    source_column = column
    column = _with_domain(column, {*values_of(past, column.name), *named, *(domain or ())})
    _require_one_spelling(column)
    if domain is not None:
        _require_inside(source_column, domain, named)
    # The history, by this dictionary.
    table = replace(task.table, columns={**task.table.columns, column.name: column})
    history = history_of(
        past, column.name, task.basis.people, column.text.to_list(), fixed=domain is not None
    )
    task = replace(task, table=table, past=Past(history, correlation))
    return _with_marks(task, source_column, column)


def _with_marks(task: Task, given: Column, column: Column) -> Task:
    """Return the task with marks for all values of the series; earlier ones are sensitive."""
    if column.name not in task.secrets.sensitive_values:
        return task
    mark = dict(zip(given.text.to_list(), task.secrets.sensitive_values[column.name], strict=True))
    marks = np.array([mark.get(text, True) for text in column.text.to_list()], bool)
    every = {**task.secrets.sensitive_values, column.name: marks}
    return replace(task, secrets=replace(task.secrets, sensitive_values=every))


def _correlation(job: Job) -> Correlation | None:
    """Return the correlation table of a job's method, empty where the job names no file."""
    path, unstated = job.method.correlations
    if unstated is None:
        return None
    if path is None:
        return Correlation(unstated=unstated)
    return read_correlation(job.folder / path, unstated)


def _with_domain(column: Column, values: Collection[str | None]) -> Column:
    try:
        return column.with_domain(values)
    except ValueError:
        raise InputError(
            f"Column '{column.name}' has the type {column.type}, and some values of the "
            "correlation table or of 'domain' cannot be read as such. Correct them."
        ) from None


def _require_one_spelling(column: Column) -> None:
    """Refuse a series that writes one number in several ways: an attacker reads one value."""
    texts = column.text.drop_nulls().to_list()
    if len({exact_value(text, column.type) for text in texts}) < len(texts):
        raise InputError(
            f"Column '{column.name}': the table, earlier releases, 'domain' or the correlation "
            "table write one number in several ways, such as 7 and 007. Write every number in its "
            "plain form: 7, not 007 or 7.0."
        )


def _require_inside(
    column: Column, domain: Collection[str | None], named: Collection[str | None]
) -> None:
    """Refuse values outside the domain of the series."""
    known = set(domain)
    remedy = (
        "The domain of a series is fixed by its first rho-different release: its values, those of "
        "the correlation table, and those that the job lists under 'domain'. A value that joins "
        "later would change an attacker's belief about earlier releases."
    )
    outside = np.array([value not in known for value in column.text.to_list()], bool)
    rows = int(outside[column.codes].sum())
    if rows:
        raise InputError(
            f"Column '{column.name}': {rows} rows have a value outside the domain of the series. "
            f"{remedy} Replace these values by a value of the domain, such as a catch-all 'other' "
            "that 'domain' listed from the start; or leave the rows out; or start a new series of "
            "other records with a new ledger."
        )
    added = sum(value not in known for value in named)
    if added:
        raise InputError(
            f"The job's 'domain' or correlation table names {added} values outside the domain of "
            f"the series. {remedy} Remove these values."
        )
