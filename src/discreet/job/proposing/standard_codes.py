"""Standard hierarchies for columns whose values are codes of a classification, ages or dates.

What a column is about says which classification to try, and every value must be a code of it:
``hierarchy: {standard: …}`` refuses a table with another value. Where a few values are no codes, or
the package of a classification is not installed, the reason says what to do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.hierarchies.standard_codes import code_system, noun_of
from discreet.job.proposing.role_judgement import Proposal
from discreet.job.proposing.value_forms import ICD_FORM, NUTS_COUNTRIES
from discreet.job.proposing.vocabulary import Meaning
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

FEWEST_CODES = 3  # distinct values
NEARLY_ALL = 0.9  # of the distinct values: some others may be errors
OLDEST = 130
LONG_SPAN = 20 * 365.25  # days, of which a decade says something
SYSTEM = {
    Meaning.DIAGNOSIS: "icd-10",
    Meaning.DRUG: "atc",
    Meaning.COUNTRY: "iso-3166",
    Meaning.PLACE: "nuts",
    Meaning.REGION: "nuts",
    Meaning.OCCUPATION: "isco-08",
    Meaning.EMPLOYMENT: "nace",
    Meaning.POSTCODE: "postcode",
}
# A condition beside that of the hierarchy, which takes any code of the right form.
FORMS = {
    "atc": r"^[A-DGHJLMNPRSV]\d{2}([A-Z]{1,2}(\d{2})?)?$",
    "nuts": rf"^({NUTS_COUNTRIES})[0-9A-Z]{{0,3}}$",
    "isco-08": r"^(0[1-3]|1[1-4]|2[1-6]|3[1-5]|4[1-4]|5[1-4]|6[1-3]|7[1-5]|8[1-3]|9[1-6])\d{0,2}$",
    "nace": r"^([A-U]|[A-U]?(0[1-35-9]|[12]\d|3[0-35-9]|4[1-35-79]|5[0-35689]|6[0-689]|7[0-57-9]"
    r"|8[0-24-8]|9\d)(\.?\d{1,2})?)$",
}


class StandardHierarchy(NamedTuple):
    """A standard hierarchy for a column, and the reason."""

    spec: dict[str, Any] | None  # as a job writes it; None where it cannot be used as things are
    reason: Statement
    is_code: bool = False  # whether its values are codes, which are read as text


def standard_of(column: Column, proposal: Proposal) -> StandardHierarchy | None:
    """Return the standard hierarchy of a column by its values; None where none fits."""
    if proposal.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return None
    occurs = column.counts[: column.cardinality - column.has_null] > 0
    if proposal.meaning is Meaning.AGE and column.type is ValueType.INTEGER:
        ages = column.numbers[: len(occurs)] if column.numbers is not None else np.empty(0)
        if len(ages) > FEWEST_CODES and ages.min() >= 0 and ages.max() <= OLDEST:
            return StandardHierarchy({"standard": "age"}, Statement("because.ages"))
    if column.type is ValueType.DATE and column.numbers is not None:
        days = column.numbers[: len(occurs)]
        if len(days) and days.max() - days.min() > LONG_SPAN:
            return StandardHierarchy({"standard": "date"}, Statement("because.decades"))
    name = None if proposal.meaning is None else SYSTEM.get(proposal.meaning)
    values = column.text.head(len(occurs)).filter(pl.Series(occurs))
    if name is None or len(values) < FEWEST_CODES or not _as_written(column, name, values):
        return None
    if name == "nace" and not values.str.contains(r"\d").any():
        return None  # letters alone may be any classes
    return _codes(name, values)


def _as_written(column: Column, name: str, values: pl.Series) -> bool:
    """Return whether values are as they were written: a number may have lost its first zero."""
    lengths = values.str.len_chars().n_unique()
    if name == "postcode":  # those of one length have finer levels by their mask
        return column.type is ValueType.TEXT and lengths > 1
    return column.type is ValueType.TEXT or lengths == 1 or column.type is ValueType.NUMBER


def _codes(name: str, values: pl.Series) -> StandardHierarchy | None:
    """Judge values as codes of a classification."""
    plain = values.str.strip_chars().str.to_uppercase()
    try:
        above = code_system(name)
    except InputError as error:  # the package of ICD-10 is not installed
        if int(plain.str.contains(ICD_FORM).sum()) < NEARLY_ALL * len(values):
            return None
        reason = Statement("because.like-codes", codes=noun_of(name), name=name, error=str(error))
        return StandardHierarchy(None, reason)
    formed = plain.str.contains(FORMS.get(name, ".")).to_list()
    pairs = zip(values.to_list(), formed, strict=True)
    known = [fits and above(value) is not None for value, fits in pairs]
    if all(known):
        reason = Statement("because.codes", values=len(values), codes=noun_of(name))
        return StandardHierarchy({"standard": name}, reason, is_code=True)
    if sum(known) < NEARLY_ALL * len(known):
        return None
    reason = Statement(
        "because.some-codes",
        known=sum(known),
        values=len(known),
        codes=noun_of(name),
        name=name,
    )
    return StandardHierarchy(None, reason)
