"""A commented job for a table without one: source, types, roles, hierarchies, requirements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from discreet.hierarchies.automatic import propose
from discreet.job.edits import flow
from discreet.job.identifying import count_uses, words_of
from discreet.job.model import Job
from discreet.job.parts import MASKED_AT_MOST, UNCHANGED
from discreet.job.person_agreement import Agreement
from discreet.job.proposing.familiar_values import harmless_values
from discreet.job.proposing.presets import SAFE_HARBOR, Plan, Preset, plan_for
from discreet.job.proposing.questions import Ask, ask_plan
from discreet.job.proposing.role_judgement import (
    Proposal,
    suggest_person,
    suggest_roles,
    without_derived,
)
from discreet.job.proposing.standard_codes import StandardHierarchy, standard_of
from discreet.job.proposing.untyped_table import UntypedTable, read_untyped
from discreet.job.proposing.vocabulary import Meaning, named_meanings
from discreet.requirements.feasibility import excessive_share, rare_values
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.persons import CollapseRule, PersonCounts, persons_of, varying_persons
from discreet.table.roles import Role, ValueType
from discreet.table.secrets import Secret, find_secrets

_CATEGORIES = (
    Meaning.SEX, Meaning.ORIGIN, Meaning.REGION, Meaning.PLACE, Meaning.COUNTRY, Meaning.MARITAL,
    Meaning.OCCUPATION, Meaning.EMPLOYMENT, Meaning.RELATION, Meaning.LANGUAGE,
    Meaning.INSTITUTION, Meaning.DIAGNOSIS, Meaning.DRUG, Meaning.TREATMENT, Meaning.RELIGION,
    Meaning.POLITICS, Meaning.POSTCODE,
)  # fmt: skip
_CODE_WORDS = re.compile(
    r"\b(code|codes|type|kind|category|class|status|kod|kodu|typ|art|categorie|categoria|tipo"
    r"|clase|classe|kategorie|kategori|tur|schlussel|id)\b"
)
_MEASURE_WORDS = re.compile(
    r"\b(year|years|month|months|week|weeks|day|days|hour|hours|level|grade|rank|rating|score|count"
    r"|size|times|jahre|monate|tage|stunden|stufe|anzahl|ans|annees|mois|jours|heures|niveau|nombre"
    r"|anos|meses|dias|horas|nivel|numero|yil|yillik|ay|gun|saat|seviye|sayisi)\b"
)
MOST_CODES = 100  # distinct whole numbers that may be codes of categories


def as_category(column: Column, proposal: Proposal) -> Column:
    """Return a column of codes as text: the distance of two codes means nothing."""
    if column.type is not ValueType.INTEGER or column.cardinality > MOST_CODES:
        keeps = proposal.meaning not in (Meaning.POSTCODE, Meaning.DIAGNOSIS, Meaning.DRUG)
        if column.type is not ValueType.INTEGER or keeps:
            return column
    words = words_of(column.name)
    coded = _CODE_WORDS.search(words) is not None and not _MEASURE_WORDS.search(words)
    if proposal.meaning in _CATEGORIES and not _MEASURE_WORDS.search(words):
        # The last word says what the numbers are: those of 'job satisfaction' are no jobs.
        named = [word for meaning, word in named_meanings(words) if meaning is proposal.meaning]
        coded |= not named or words.split()[-1] in named[0].split()
    coded &= proposal.meaning is None or proposal.meaning in _CATEGORIES
    return replace(column, type=ValueType.TEXT, numbers=None) if coded else column


_HEAD = """\
# A proposal from names and values. Review every line: only you know what attackers know.
# Roles: identifier (never published), quasi-identifier (attackers may know it; made coarser),
# sensitive (protected), unchanged (published as it is), drop (not published).
"""

_PERSON = """\
# Each person gets one row; 'collapse' says how differing values become one: first, last (with
# 'order: COLUMN' below), most-frequent, min, max, sum, mean, count, set.
person: {named}
"""


@dataclass(frozen=True)
class ProposedJob:
    """A commented job, and the reason, confidence and risk of each column's role."""

    text: str  # YAML
    roles: Mapping[str, Proposal]  # by column
    person: str | None  # the column that identifies persons, where they have several rows
    persons: PersonCounts | None
    folder: Path  # that the paths of the job start from
    notices: tuple[str, ...] = ()  # what was not read as it is written

    @property
    def job(self) -> Job:
        """The job that the text describes."""
        return Job.parse(self.text, folder=self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the proposal as plain data, ready for JSON."""
        return {
            "person": self.person,
            "persons": None if self.persons is None else asdict(self.persons),
            "columns": {name: role.to_dict() for name, role in self.roles.items()},
        }

    def __str__(self) -> str:
        return self.text


def propose_job(
    data: Any,
    folder: Path,
    *,
    preset: str | None = None,
    options: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    ask: Ask | None = None,
    tell: Callable[[str], object] = str,
) -> ProposedJob:
    """Propose a job for a file, a table or query of a database, or a frame.

    A file is read by ``options`` of its source, and its place is written relative to the job's
    folder. ``preset`` names the guarantees of a receiver; ``ask`` puts questions instead, and
    ``tell`` says what is not possible.
    """
    untyped = read_untyped(data, options=options, table=table, query=query)
    return propose_for(untyped, folder, preset=preset, ask=ask, tell=tell)


def propose_for(
    untyped: UntypedTable,
    folder: Path,
    *,
    preset: str | Preset | None = None,
    ask: Ask | None = None,
    tell: Callable[[str], object] = str,
) -> ProposedJob:
    """Propose a job for a table that was read; as ``propose_job``."""
    columns = untyped.table
    roles = suggest_roles(columns)
    person = suggest_person(columns, roles)
    if preset != SAFE_HARBOR:  # which publishes all that it allows, at fixed levels
        roles = without_derived(list(columns), roles)
    if ask is None:
        plan = plan_for(preset, list(columns), roles)
    else:
        plan, person = ask_plan(columns, roles, ask, tell)
    repeated = person is not None and count_uses(person).most > 1
    persons = persons_of([person], columns.rows) if person is not None and repeated else None
    lines = []
    proposed: dict[str, Proposal] = {}
    for column in columns:
        role = plan.roles[column.name]
        standard = standard_of(column, role)
        entry = _entry(column, role, untyped.formats.get(column.name), standard)
        if persons is not None and role.role.published and varying_persons(column, persons):
            entry["collapse"] = str(CollapseRule.MOST_FREQUENT)
        elif persons is not None and role.role is Role.SENSITIVE:
            entry["collapse"] = str(CollapseRule.CONSTANT)
        if column.name in plan.hierarchies:
            entry["hierarchy"] = plan.hierarchies[column.name]
        elif standard is not None:
            both = Statement("because.also", first=role.reason, second=standard.reason)
            role = replace(role, reason=both)
        proposed[column.name] = role
        lines.append(f"  {flow(column.name)}: {flow(entry)}  # {_comment(role)}\n")
        harmless = harmless_values(column) if role.role is Role.SENSITIVE else None
        if harmless is not None:
            values, reason = harmless
            lines.append(
                f"  # Your decision: if these values of {column.name!r} are no secret, add to the "
                f"line above {flow({'non_sensitive_values': values})[1:-1]}  ({reason})\n"
            )
    secrets = find_secrets([c for c in columns if plan.roles[c.name].role is Role.SENSITIVE])
    place = untyped.source_from(folder)
    source = f"source: {flow(place)}\n" if place else ""
    unit = ""
    if person is not None and persons is not None:
        keyed: dict[str, object] = {"column": person.name, "rows": "collapse"}
        disagreeing = Agreement.of(columns, [person.name], persons).disagreeing
        if disagreeing:
            keyed["disagreeing"] = max(disagreeing.values())
        named = flow(keyed)
        if disagreeing:
            named += f"  # rows of so many persons differ: {_counts(disagreeing)}"
        unit = f"# {persons.counts.sentence(repr(person.name))}\n" + _PERSON.format(named=named)
    notes = [
        *untyped.notices,
        *plan.notes,
        *_sets_of_columns(plan.roles),
        *_needs_of_methods(columns, plan.roles, of_persons=persons is not None),
        *(secret.sentence for secret in secrets),
        *_risk_of_samples(plan.roles),
    ]
    head = _HEAD + "".join(f"# {note}\n" for note in notes)
    stated = _stated_secrets(secrets)
    guesses = _unconfirmed(plan.roles) if ask is None else ""  # answers are decisions
    text = f"{head}{source}attributes:\n{''.join(lines)}{guesses}{stated}{unit}{_guarantees(plan)}"
    counts = None if persons is None else persons.counts
    name = person.name if person is not None and repeated else None
    return ProposedJob(text, proposed, name, counts, folder, untyped.notices)


def _counts(disagreeing: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} {count:,}" for name, count in disagreeing.items())


_NUMBER_AT_END = re.compile(r"(.*?[A-Za-z])[_. -]?\d{1,2}")
_MEMBERS = (Meaning.DIAGNOSIS, Meaning.DRUG, Meaning.TREATMENT)


def _sets_of_columns(roles: Mapping[str, Proposal]) -> Iterator[str]:
    """Advise one set-valued attribute for numbered columns of one meaning."""
    stems: dict[str, list[str]] = {}
    for name, one in roles.items():
        numbered = _NUMBER_AT_END.fullmatch(name)
        if numbered and one.role is Role.SENSITIVE and one.meaning in _MEMBERS:
            stems.setdefault(numbered[1], []).append(name)
    for stem, names in stems.items():
        if len(names) > 1 and stem not in roles:
            entry = {stem: {"role": "sensitive", "columns": names, "min_support": 20}}
            yield f"Values of one attribute in {len(names)} columns may be one set: {flow(entry)}"


LEAST_ELL = 2  # below it, diversity protects nothing


def _needs_of_methods(
    columns: Iterable[Column], roles: Mapping[str, Proposal], *, of_persons: bool
) -> Iterator[str]:
    """Say from counts which methods the sensitive attributes exclude, before any of them runs."""
    sensitive = [column for column in columns if roles[column.name].role is Role.SENSITIVE]
    shares = {column.name: excessive_share(column.counts, LEAST_ELL) for column in sensitive}
    frequent = {name: share for name, share in shares.items() if share is not None}
    if frequent:
        listed = ", ".join(f"'{name}' ({share:.0%})" for name, share in frequent.items())
        yield (
            f"One value fills more than half of the rows of {listed}. While it counts as "
            "sensitive, p-diversity, m-diversity, anatomy, decomposition and msa-diversity are "
            "infeasible; if it is no secret, name it under 'non_sensitive_values'. mondrian with "
            "distinct-l-diversity or t-closeness, and unlinked, publish as it is."
        )
    rare = {column.name: rare_values(column.counts, LEAST_ELL) for column in sensitive}
    if any(rare.values()):
        listed = ", ".join(f"'{name}' ({count:,})" for name, count in rare.items() if count)
        yield (
            f"Values that a single row has: {listed}. An attacker who knows such a value finds its "
            "row in every release of whole sensitive rows (decomposition, unlinked, buckets)."
        )
    few = [column.name for column in sensitive
           if 0 < rare[column.name] <= MASKED_AT_MOST * len(column.codes)]  # fmt: skip
    if few and not of_persons:
        listed = ", ".join(f"'{name}'" for name in few)
        yield f"To lift, mask or suppress those of {listed}, add to the line of each: rare: auto"
    if len(sensitive) > 1:
        yield (
            f"{len(sensitive)} attributes are sensitive: anatomy takes one; decomposition, "
            "msa-diversity, codip and unlinked take several."
        )


def _stated_secrets(secrets: Sequence[Secret]) -> str:
    """The key of a job that states them, as a comment.

    Guarantees of a stated secret are asked of its finest column alone, and groups that differ there
    may share the coarser value: without the key every column is protected, which is stricter.
    """
    if not secrets:
        return ""
    lines = "".join(f"#   - {flow(list(secret.columns))}\n" for secret in secrets)
    return f"# secrets:  # columns that reveal each other, with one guarantee\n{lines}"


def _unconfirmed(roles: Mapping[str, Proposal]) -> str:
    """The key of a job that names the published columns whose roles are guesses."""
    guesses = [
        name for name, role in roles.items() if role.role.published and role.confidence == "low"
    ]
    if not guesses:
        return ""
    return (
        "# Guessed roles. Remove each name once its role is decided: until then no release is\n"
        f"# 'Ready to sign'.\nunconfirmed: {flow(guesses)}\n"
    )


def _risk_of_samples(roles: Mapping[str, Proposal]) -> Iterator[str]:
    """Advise a bound on the risk in the population, which weights estimate."""
    if any(one.role is Role.WEIGHT for one in roles.values()):
        yield (
            "The rows are a sample with weights. To bound the risk in the population add to "
            "`requirements:` - population-risk: {at_most: 0.09}"
        )


def _guarantees(plan: Plan) -> str:
    """Requirements, method, attacks and output of a job."""
    lines = ["requirements:                     # all must hold"]
    lines += [f"  - {flow(one)[1:-1]}" for one in plan.requirements]
    if not any(one.role is Role.SENSITIVE for one in plan.roles.values()):
        lines.append("  # - distinct-l-diversity: {l: 3}   once an attribute is sensitive")
    if not plan.requirements:
        lines = ["requirements: []"]
    if plan.attackers:
        lines.append(f"attackers: {plan.attackers}")
    lines.append(f"method: {flow(plan.method)}")
    if plan.attacks:
        lines.append("verify: attacks                   # before the release appears")
    lines.append("output: {path: release, format: csv}")
    return "\n".join(lines) + "\n"


def _entry(
    column: Column,
    proposal: Proposal,
    date_format: str | None,
    standard: StandardHierarchy | None,
) -> dict[str, object]:
    """The keys of one attribute."""
    role = proposal.role
    entry: dict[str, object] = {"role": UNCHANGED if role is Role.INSENSITIVE else str(role)}
    if not role.published:
        return entry
    coded = as_category(column, proposal)
    if standard is not None and standard.is_code and coded.type is not ValueType.TEXT:
        coded = replace(column, type=ValueType.TEXT, numbers=None)
    if coded is not column or coded.type is not ValueType.TEXT:
        entry["type"] = str(coded.type)
    if date_format is not None:
        entry["format"] = date_format
    if standard is not None and standard.spec is not None:
        entry["hierarchy"] = standard.spec
    elif role is Role.QUASI_IDENTIFIER:
        entry["hierarchy"] = propose(coded)
    return entry


def _comment(proposal: Proposal) -> str:
    """The reason and the confidence; what a wrong role costs, where it is not certain."""
    reason = f"{proposal.reason} ({proposal.confidence} confidence)"
    return reason if proposal.confidence == "high" else f"{reason}; {proposal.if_wrong}"
