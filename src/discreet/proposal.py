"""A proposal of roles for the columns of a table that nobody has described yet.

It goes by names and counts alone and can't know what a reader already knows, so it is a starting
point for a person to correct, never a decision. It errs towards caution: a column is a
quasi-identifier unless something speaks against it. No value of a column is in its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from discreet.data.roles import Role, ValueType
from discreet.data.table import Column

NEARLY_UNIQUE = 0.95  # distinct values over rows with a value
FEW_ROWS = 20  # below this nearly every column is unique, which then says nothing
FREE_TEXT_LENGTH = 40  # the mean number of characters of a distinct value

_IDENTIFYING = re.compile(
    r"\b(id|uuid|guid|ssn|email|mail|phone|telephone|mobile|fax|passport|iban|account|username|login"
    r"|address|street|surname|firstname|lastname|fullname|name|mrn|licen[cs]e)\b"
)
_SENSITIVE = re.compile(
    r"\b(diagnos[ie]s|diseases?|condition|disorder|illness|symptoms?|medications?|drugs?|treatment"
    r"|therapy|procedure|hiv|disability|pregnancy|salary|income|wages?|earnings|debt|credit|religion"
    r"|politics|party|vote|opinion|crime|conviction|offen[cs]e|sexuality|orientation)\b"
)


class Proposal(NamedTuple):
    """A proposed role, and why."""

    role: Role
    reason: str


def suggest_roles(columns: Iterable[Column]) -> dict[str, Proposal]:
    """Propose a role for each column, whatever role it has now."""
    return {column.name: _suggest(column) for column in columns}


def _suggest(column: Column) -> Proposal:
    name = _spaced(column.name)
    rows = len(column.codes)
    present = int(column.counts[: column.cardinality - column.has_null].sum())
    distinct = int((column.counts[: column.cardinality - column.has_null] > 0).sum())
    unique = present >= FEW_ROWS and distinct >= NEARLY_UNIQUE * present
    if distinct + (present < rows) <= 1:
        return Proposal(Role.INSENSITIVE, "it has the same value everywhere")
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
    reason = f"{distinct} values; others may know a person's"
    return Proposal(Role.QUASI_IDENTIFIER, reason)


def _spaced(name: str) -> str:
    """The words of a column's name, in small letters, apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"[a-z]+", apart.lower()))


def _mean_length(column: Column) -> float:
    length = column.text.drop_nulls().str.len_chars().mean()
    return float(length) if isinstance(length, int | float) else 0.0
