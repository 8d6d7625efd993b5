"""Values that identify a person directly: e-mail addresses, telephone and record numbers, keys.

Decided by the values, which a column's name only supports. Postal codes, dates, ages, amounts and
codes of diagnoses are shorter, of varying length, or shared by many rows.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import polars as pl

from discreet.job.checksums import LOOKED_AT, checked_numbers
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

MOST = 0.8  # of the distinct values
ONE_ROW = (
    "Use 'rows: collapse' to reduce the rows of a person to one; or 'unit: rows' without "
    "`person:`, and the guarantees count rows."
)
SEVERAL_ROWS = (
    "Groups of rows do not protect a person with several rows. Name the column that identifies a "
    "person, 'person: {column: NAME, rows: collapse}', which reduces the rows of a person to one; "
    "or state 'unit: rows' in the job: the guarantees then count rows. Give an identifier that "
    "different persons share, such as a name, the role 'drop'."
)
FEWEST_KEYS = 10  # distinct values; fewer are no keys of a table
ROWS_OF_KEY = 20  # more rows of a value on average: a category

_FORMS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "UUIDs": r"(?i)^\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?$",
    "bank account numbers": r"^[A-Z]{2}\d{2}[ ]?([A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}$",
    "IP addresses": r"^(\d{1,3}\.){3}\d{1,3}$",
}
# nine to fifteen digits with a leading + or at least two separators
_TELEPHONE = r"^(\+[\d\s().\-/]{8,24}|\(?\d+\)?[\s.\-/]+\(?\d+\)?[\s.\-/]+[\d\s.\-/]*\d)$"
_DATE = r"^(\d{4}[-/. ]\d{1,2}[-/. ]\d{1,2}|\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4})\b"
_DAY = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
_KEY_NAME = re.compile(
    r"\b(id|no|nr|nbr|num|number|key|record|mrn|patient|person|subject|member|customer|client"
    r"|account|case|encounter|visit|ssn)\b"
)


class Uses(NamedTuple):
    """The number of rows and values of an identifier."""

    rows: int  # with a value
    values: int
    most: int  # rows of one value

    def sentence(self, name: str) -> str:
        """Return the counts, which name no value."""
        return (
            f"The identifier '{name}' has {self.values:,} distinct values in {self.rows:,} rows; "
            f"one value has {self.most:,} rows."
        )


def count_uses(column: Column) -> Uses:
    """Count how often the values of an identifier are used."""
    counts = column.counts[: column.cardinality - column.has_null]
    return Uses(int(counts.sum()), int((counts > 0).sum()), int(counts.max(initial=0)))


def words_of(name: str) -> str:
    """The words of a column's name, in small letters without accents, apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", without_accents(name))
    return " ".join(re.findall(r"[a-z]+", apart.lower()))


def without_accents(text: str) -> str:
    """Return a text with plain Latin letters in the place of those with accents."""
    apart = unicodedata.normalize("NFKD", text.replace("ı", "i").replace("ß", "ss"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def identifying_values(column: Column) -> str | None:
    """Return the kind of direct identifier that a column holds; None for ordinary values."""
    if column.separator is not None or column.type in (ValueType.NUMBER, ValueType.DATE):
        return None
    occurs = pl.Series(column.counts > 0)
    text = column.text.filter(occurs).drop_nulls()
    if len(text) < 2:
        return None
    if column.type is ValueType.TEXT:
        for what, form in _FORMS.items():
            if _share(text, form) >= MOST:
                return what
        digits = text.str.count_matches(r"\d").is_between(9, 15)
        telephone = text.str.contains(_TELEPHONE) & digits & ~text.str.contains(_DATE)
        if int(telephone.sum()) >= MOST * len(text):
            return "telephone or social security numbers"
    some = text.gather_every(max(len(text) // LOOKED_AT, 1)).to_list()
    return checked_numbers(some) or _record_numbers(column, text)


def _record_numbers(column: Column, text: pl.Series) -> str | None:
    """Many values of one form with six digits or more, each of few rows."""
    present = int(column.counts[: column.cardinality - column.has_null].sum())
    if len(text) < FEWEST_KEYS or present > ROWS_OF_KEY * len(text):
        return None
    form = text.str.replace_all(r"\d", "9").str.replace_all(r"[A-Za-z]", "a").alias("form")
    usual = form.value_counts(sort=True)
    if int(usual["count"][0]) < 0.95 * len(text):
        return None
    shape = str(usual["form"][0])
    if not re.fullmatch(r"a*[-_/ ]?9+([-_/ ]9+)?", shape) or shape == "99999-9999":  # a ZIP+4
        return None
    digits = shape.count("9")
    bare = "a" not in shape
    if digits >= 8 and _share(text, _DAY) > MOST:
        return None
    enough = 8 if bare else 6
    if digits >= enough or (digits >= 6 and _KEY_NAME.search(words_of(column.name))):
        return "record numbers"
    return None


def _share(text: pl.Series, form: str) -> float:
    return int(text.str.contains(form).sum()) / len(text)
