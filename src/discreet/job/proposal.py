"""A proposal of roles, types and hierarchies for a table without a job.

The proposal follows from names and counts alone and cannot know the attacker's background
knowledge, so it is a starting point for review, never a decision. It errs on the side of caution:
a column is a quasi-identifier unless there is a reason against it. It repeats no value of a column.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from discreet.errors import InputError
from discreet.hierarchies.automatic import propose
from discreet.io.csv.layout import lacks_header
from discreet.io.frames import code_frame, frame_columns, plain_frame
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.job.identifying import count_uses, identifying_values, words_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.table.persons import CollapseRule, PersonCounts, persons_of, varying_persons
from discreet.table.roles import Role, ValueType

NEARLY_UNIQUE = 0.95  # distinct values over rows with a value
FEW_ROWS = 20  # below this nearly every column is unique, which is no evidence
FREE_TEXT_LENGTH = 40  # the mean number of characters of a distinct value
MISSING_TOKENS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan")

_IDENTIFYING = re.compile(
    r"\b(id|uuid|guid|ssn|email|mail|phone|telephone|mobile|fax|passport|iban|account|username|login"
    r"|address|street|surname|firstname|lastname|fullname|name|mrn|licen[cs]e)\b"
)
_SENSITIVE = re.compile(
    r"\b(diagnos[ie]s|dx|icd|diseases?|condition|disorder|illness|symptoms?|medications?|drugs?"
    r"|treatment|therapy|procedure|allerg(?:y|ies)|hiv|disability|pregnancy|salary|income|wages?"
    r"|earnings|debt|credit|religion|politics|party|vote|opinion|crime|conviction|offen[cs]e"
    r"|sexuality|orientation)\b"
)


class Proposal(NamedTuple):
    """A proposed role, and the reason for it."""

    role: Role
    reason: str


def suggest_roles(columns: Iterable[Column]) -> dict[str, Proposal]:
    """Propose a role for each column, independent of its present one."""
    return {column.name: _suggest(column) for column in columns}


def _suggest(column: Column) -> Proposal:
    name = words_of(column.name)
    rows = len(column.codes)
    present = int(column.counts[: column.cardinality - column.has_null].sum())
    distinct = int((column.counts[: column.cardinality - column.has_null] > 0).sum())
    unique = present >= FEW_ROWS and distinct >= NEARLY_UNIQUE * present
    if distinct + (present < rows) <= 1:
        return Proposal(Role.INSENSITIVE, "it has the same value everywhere")
    found = identifying_values(column)
    if found:
        return Proposal(Role.IDENTIFIER, f"it holds {found}")
    named = _IDENTIFYING.search(name)
    if named and 2 * distinct > present:
        return Proposal(Role.IDENTIFIER, f"its name says '{named[0]}' and most values differ")
    if unique and column.separator is None and column.type is ValueType.TEXT:
        kind = "free text" if _mean_length(column) > FREE_TEXT_LENGTH else "text"
        return Proposal(Role.IDENTIFIER, f"{kind}; {distinct} of {present} values differ")
    hinted = _SENSITIVE.search(name)
    if hinted:
        return Proposal(Role.SENSITIVE, f"its name says '{hinted[0]}'")
    if unique and column.type is ValueType.INTEGER:
        return Proposal(Role.IDENTIFIER, f"whole numbers; {distinct} of {present} values differ")
    if column.separator is not None:
        return Proposal(Role.SENSITIVE, "it holds several values in a cell")
    reason = f"{distinct} values; an attacker may know them"
    return Proposal(Role.QUASI_IDENTIFIER, reason)


def suggest_person(columns: Iterable[Column], roles: Mapping[str, Proposal]) -> Column | None:
    """The proposed identifier that several rows share; of several, that with the most values."""
    repeated = [
        (found.values, column)
        for column in columns
        if roles[column.name].role is Role.IDENTIFIER and (found := count_uses(column)).most > 1
    ]
    return max(repeated, key=lambda one: one[0])[1] if repeated else None


def _mean_length(column: Column) -> float:
    length = column.text.drop_nulls().str.len_chars().mean()
    return float(length) if isinstance(length, int | float) else 0.0


def read_untyped(data: Any) -> CodedTable:
    """Read a file or a frame that no job describes, with the types that its values suggest."""
    if isinstance(data, str | Path):
        return _read(Path(data))[0]
    frame = plain_frame(data)
    return code_frame(frame, {name: ColumnSpec(Role.INSENSITIVE) for name in frame_columns(frame)})


def _read(path: Path) -> tuple[CodedTable, tuple[str, ...]]:
    """The table, typed by its values, and the tokens in it that seem to mean "missing"."""
    source = Source.of_file(path)
    if source.is_text and lacks_header(source):
        raise InputError(
            f"{source.path}: the first line looks like a row of cells, not like a header. Add a "
            "line with the names of the columns, or write a job with `header: false`."
        )
    names = column_names(source)
    table = read_table(source, {name: ColumnSpec(Role.INSENSITIVE) for name in names})
    if not source.is_text:
        return table, ()
    missing = tuple(
        token for token in MISSING_TOKENS if any((column.text == token).any() for column in table)
    )
    specs = {c.name: ColumnSpec(Role.INSENSITIVE, suggest_type(c, missing)) for c in table}
    return read_table(source.model_copy(update={"missing": missing}), specs), missing


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


_HEAD = """\
# A proposal from names and counts alone. Review every line: only you know what attackers know.
# Roles: identifier (never published), quasi-identifier (attackers may know it; made coarser),
# sensitive (protected), insensitive (published unchanged), drop (not published).
"""

_TAIL = """\
requirements:                     # all must hold
{requirements}method: {{mondrian: {{}}}}
output: {{path: release, format: csv}}
"""


_PERSON = """\
# Each person gets one row; 'collapse' says how differing values become one: first, last (with
# 'order: COLUMN' below), most-frequent, min, max, sum, mean, count, set.
person: {named}
"""


class ProposedJob(NamedTuple):
    """A commented job file, and the persons that the job proposes where they have several rows."""

    text: str
    persons: PersonCounts | None
    person: str | None
    roles: Mapping[str, Proposal]  # by column


def propose_job(path: Path, folder: Path) -> ProposedJob:
    """Propose a job for a table, whose path is written relative to the job's folder."""
    table, missing = _read(path)
    roles = suggest_roles(table)
    person = suggest_person(table, roles)
    persons = None if person is None else persons_of([person], table.rows)
    lines = []
    for column in table:
        role, reason = roles[column.name]
        entry: dict[str, object] = {"role": str(role)}
        if column.type is not ValueType.TEXT and role.published:
            entry["type"] = str(column.type)
        if role is Role.QUASI_IDENTIFIER:
            entry["hierarchy"] = propose(column)
        if persons is not None and role.published and varying_persons(column, persons):
            entry["collapse"] = str(CollapseRule.MOST_FREQUENT)
        lines.append(f"  {_flow(column.name)}: {_flow(entry)}  # {reason}\n")
    has_sensitive = any(role is Role.SENSITIVE for role, _ in roles.values())
    requirements = "  - k-anonymity: {k: 5}\n" + (
        "  - distinct-l-diversity: {l: 2}\n"
        if has_sensitive
        else "  # - distinct-l-diversity: {l: 3}   once an attribute is sensitive\n"
    )
    relative = os.path.relpath(path.resolve(), folder)
    found: dict[str, object] = {"path": relative}
    if missing:
        found["missing"] = list(missing)
    source = f"source: {_flow(found)}\nattributes:\n"
    unit = ""
    if person is not None and persons is not None:
        named = _flow({"column": person.name, "rows": "collapse"})
        unit = f"# {persons.counts.sentence(repr(person.name))}\n" + _PERSON.format(named=named)
    text = _HEAD + source + "".join(lines) + unit + _TAIL.format(requirements=requirements)
    counts = None if persons is None else persons.counts
    return ProposedJob(text, counts, None if person is None else person.name, roles)


def _flow(value: object) -> str:
    """A value as YAML on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")
