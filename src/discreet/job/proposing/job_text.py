"""A commented job for a table without one: source, types, roles, hierarchies, requirements."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from discreet.errors import InputError
from discreet.hierarchies.automatic import propose
from discreet.io.csv.layout import lacks_header
from discreet.io.frames import code_frame, frame_columns, plain_frame
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.job.identifying import count_uses, words_of
from discreet.job.model import Job
from discreet.job.proposing.date_columns import DATE_FORMATS, date_format
from discreet.job.proposing.presets import Plan, plan_for
from discreet.job.proposing.questions import Ask, ask_plan
from discreet.job.proposing.role_judgement import Proposal, suggest_person, suggest_roles
from discreet.job.proposing.vocabulary import Meaning
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.table.persons import CollapseRule, PersonCounts, persons_of, varying_persons
from discreet.table.roles import Role, ValueType

MISSING_TOKENS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan")


def read_untyped(data: Any) -> CodedTable:
    """Read a file or a frame that no job describes, with the types that its values suggest."""
    if isinstance(data, str | Path):
        return _read(Path(data)).table
    frame = plain_frame(data)
    return code_frame(frame, {name: ColumnSpec(Role.INSENSITIVE) for name in frame_columns(frame)})


class Untyped(NamedTuple):
    """A table typed by its values, and what its text means."""

    table: CodedTable
    missing: tuple[str, ...] = ()  # tokens that seem to mean "missing"
    formats: Mapping[str, str] = {}  # of dates that are not written as ISO says


def _read(path: Path, encoding: str | None = None) -> Untyped:
    source = Source.of_file(path, **({} if encoding is None else {"encoding": encoding}))
    if source.is_text and lacks_header(source):
        raise InputError(
            f"{source.path}: the first line looks like a row of cells, not like a header. Add a "
            "line with the names of the columns, or write a job with `header: false`."
        )
    names = column_names(source)
    table = read_table(source, {name: ColumnSpec(Role.INSENSITIVE) for name in names})
    if not source.is_text:
        return Untyped(table)
    missing = tuple(
        token for token in MISSING_TOKENS if any((column.text == token).any() for column in table)
    )
    formats = {c.name: found for c in table if (found := other_date_format(c, missing))}
    specs = {
        c.name: ColumnSpec(Role.INSENSITIVE, ValueType.DATE, date_format=formats[c.name])
        if c.name in formats
        else ColumnSpec(Role.INSENSITIVE, suggest_type(c, missing))
        for c in table
    }
    typed = read_table(source.model_copy(update={"missing": missing}), specs)
    return Untyped(typed, missing, formats)


def other_date_format(column: Column, missing: Sequence[str] = ()) -> str | None:
    """Return the format of dates that are not in ISO form; None for other values."""
    text = column.text.drop_nulls()
    text = text.filter(~text.is_in(list(missing)))
    if not len(text) or date_format(text.head(1)) is None:
        return None
    found = date_format(text)
    return None if found == DATE_FORMATS[0] else found


def suggest_type(column: Column, missing: Sequence[str] = ()) -> ValueType:
    """The type that all values of a text column have; codes with leading zeros are text."""
    text = column.text.drop_nulls()
    text = text.filter(~text.is_in(list(missing)))
    if not len(text) or text.str.contains(r"^[+-]?0\d").any():
        return ValueType.TEXT
    if text.str.contains(r"^[+-]?\d{1,15}$").all():
        return ValueType.INTEGER
    if text.str.contains(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$").all():
        return ValueType.NUMBER
    if text.str.contains(r"^\d{4}-\d{2}-\d{2}$").all():
        dates = text.str.to_date(strict=False)
        return ValueType.TEXT if dates.null_count() else ValueType.DATE
    return ValueType.TEXT


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
MOST_CODES = 100  # distinct whole numbers that may be codes of categories


def as_category(column: Column, proposal: Proposal) -> Column:
    """Return a column of codes as text: the distance of two codes means nothing."""
    if column.type is not ValueType.INTEGER or column.cardinality > MOST_CODES:
        keeps = proposal.meaning not in (Meaning.POSTCODE, Meaning.DIAGNOSIS, Meaning.DRUG)
        if column.type is not ValueType.INTEGER or keeps:
            return column
    coded = proposal.meaning in _CATEGORIES or (
        proposal.meaning is None and _CODE_WORDS.search(words_of(column.name))
    )
    return replace(column, type=ValueType.TEXT, numbers=None) if coded else column


_HEAD = """\
# A proposal from names and values. Review every line: only you know what attackers know.
# Roles: identifier (never published), quasi-identifier (attackers may know it; made coarser),
# sensitive (protected), insensitive (published unchanged), drop (not published).
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
    encoding: str | None = None,
    ask: Ask | None = None,
    tell: Callable[[str], object] = str,
) -> ProposedJob:
    """Propose a job for a file, whose path is written relative to the job's folder, or a frame.

    ``preset`` names the guarantees of a receiver; ``ask`` puts questions instead, and ``tell``
    says what is not possible.
    """
    known = _read(Path(data), encoding) if isinstance(data, str | Path) else None
    untyped = Untyped(read_untyped(data)) if known is None else known
    table = untyped.table
    roles = suggest_roles(table)
    person = suggest_person(table, roles)
    if ask is None:
        plan = plan_for(preset, list(table), roles)
    else:
        plan, person = ask_plan(table, roles, ask, tell)
    repeated = person is not None and count_uses(person).most > 1
    persons = persons_of([person], table.rows) if person is not None and repeated else None
    lines = []
    for column in table:
        role = plan.roles[column.name]
        entry = _entry(column, role, untyped.formats.get(column.name))
        if column.name in plan.hierarchies:
            entry["hierarchy"] = plan.hierarchies[column.name]
        if persons is not None and role.role.published and varying_persons(column, persons):
            entry["collapse"] = str(CollapseRule.MOST_FREQUENT)
        lines.append(f"  {_flow(column.name)}: {_flow(entry)}  # {_comment(role)}\n")
    source = ""
    if known is not None:
        place = os.path.relpath(Path(data).resolve(), folder)
        found = {"path": place, "encoding": encoding, "missing": list(known.missing)}
        source = f"source: {_flow({key: value for key, value in found.items() if value})}\n"
    unit = ""
    if person is not None and persons is not None:
        named = _flow({"column": person.name, "rows": "collapse"})
        unit = f"# {persons.counts.sentence(repr(person.name))}\n" + _PERSON.format(named=named)
    notes = [*plan.notes, *_sets_of_columns(plan.roles)]
    head = _HEAD + "".join(f"# {note}\n" for note in notes)
    text = f"{head}{source}attributes:\n{''.join(lines)}{unit}{_guarantees(plan)}"
    counts = None if persons is None else persons.counts
    name = person.name if person is not None and repeated else None
    return ProposedJob(text, plan.roles, name, counts, folder)


_NUMBER_AT_END = re.compile(r"(.*?[A-Za-z])[_. -]?\d{1,2}")
_MEMBERS = (Meaning.DIAGNOSIS, Meaning.DRUG, Meaning.TREATMENT)


def _sets_of_columns(roles: Mapping[str, Proposal]) -> Iterator[str]:
    """Advise one set-valued attribute for numbered columns of one meaning."""
    stems: dict[str, list[str]] = {}
    for name, one in roles.items():
        found = _NUMBER_AT_END.fullmatch(name)
        if found and one.role is Role.SENSITIVE and one.meaning in _MEMBERS:
            stems.setdefault(found[1], []).append(name)
    for stem, names in stems.items():
        if len(names) > 1 and stem not in roles:
            entry = {stem: {"role": "sensitive", "columns": names, "min_support": 20}}
            yield f"Values of one attribute in {len(names)} columns may be one set: {_flow(entry)}"


def _guarantees(plan: Plan) -> str:
    """Requirements, method, attacks and output of a job."""
    lines = ["requirements:                     # all must hold"]
    lines += [f"  - {_flow(one)[1:-1]}" for one in plan.requirements]
    if not any(one.role is Role.SENSITIVE for one in plan.roles.values()):
        lines.append("  # - distinct-l-diversity: {l: 3}   once an attribute is sensitive")
    if not plan.requirements:
        lines = ["requirements: []"]
    lines.append(f"method: {_flow(plan.method)}")
    if plan.attacks:
        lines.append("verify: attacks                   # before the release appears")
    lines.append("output: {path: release, format: csv}")
    return "\n".join(lines) + "\n"


def _entry(column: Column, proposal: Proposal, date_format: str | None) -> dict[str, object]:
    """The keys of one attribute."""
    role = proposal.role
    entry: dict[str, object] = {"role": str(role)}
    if not role.published:
        return entry
    coded = as_category(column, proposal)
    if coded is not column or coded.type is not ValueType.TEXT:
        entry["type"] = str(coded.type)
    if date_format is not None:
        entry["format"] = date_format
    if role is Role.QUASI_IDENTIFIER:
        entry["hierarchy"] = propose(coded)
    return entry


def _comment(proposal: Proposal) -> str:
    """The reason and the confidence; what a wrong role costs, where it is not certain."""
    said = f"{proposal.reason} ({proposal.confidence} confidence)"
    return said if proposal.confidence == "high" else f"{said}; {proposal.if_wrong}"


def _flow(value: object) -> str:
    """A value as YAML on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")
