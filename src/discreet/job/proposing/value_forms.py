"""What the values of a column say about it, whatever its name.

Judged by the form of some distinct values, taken evenly from the sorted dictionary, and by short
lists of familiar words. Reasons name forms and counts, never a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.automatic import BRACKET
from discreet.hierarchies.standard_codes import places_of_countries
from discreet.job.identifying import without_accents
from discreet.job.proposing.familiar_values import (
    FAMILIAR,
    STREET_WORDS,
)
from discreet.job.proposing.vocabulary import Meaning
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

Judgement = tuple[Meaning, Statement]  # what a column is, and why

LOOKED_AT = 1000  # distinct values of a column
MOST = 0.8  # of them
NAMES_KNOWN = 0.2  # of the values of a column of names that have a listed name
FREE_TEXT_LENGTH = 40  # the mean number of characters
FREE_TEXT_WORDS = 5
MANY = 10  # distinct values
LAST_YEAR = 2100

ICD_FORM = r"^[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?$"
_ICD_9 = r"^(\d{3}(\.\d{1,2})?|[VE]\d{2,3}(\.\d{1,2})?)$"
_ATC = r"^[A-DGHJLMNPRSV]\d{2}[A-Z]{2}(\d{2})?$"
NUTS_COUNTRIES = (
    "AL|AT|BE|BG|CH|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IS|IT|LI|LT|LU|LV|ME|MK|MT|NL|NO|PL|PT|RO"
    "|RS|SE|SI|SK|TR|UK"
)
_POSTCODE = (
    r"^([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4} [A-Z]{2}|\d{4}-\d{3}"
    r"|\d{5}-\d{3,4}|[A-Z]{1,2}-\d{4,5})$"
)
_FIVE_DIGITS = r"^\d{5}$"
_MONEY = r"(?i)([$€£₺]|\b(eur|usd|gbp|try|tl|brl)\b|^[<>]?=? ?\d+(\.\d+)? ?k$)"
_TWO_NAMES = r"^\p{Lu}[\p{L}'’.-]+(,? \p{Lu}[\p{L}'’.-]*){1,3}$"
_ADDRESS = r"(?i)" + STREET_WORDS


class Shape(NamedTuple):
    """The distinct values of a column, as far as they are looked at."""

    rows: int  # with a value
    distinct: int
    texts: pl.Series  # of the distinct values, as text
    column: Column

    @property
    def unique(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.rows >= FEW_ROWS and self.distinct >= NEARLY_UNIQUE * self.rows

    def share(self, form: str) -> float:
        """Return the share of the values that have a form."""
        return int(self.texts.str.contains(form).sum()) / max(len(self.texts), 1)

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The distinct numbers that occur, where the type is a number's."""
        if self.column.numbers is None or self.column.type is ValueType.DATE:
            return None
        occurring = self.column.numbers[self.column.counts > 0]
        return occurring[np.isfinite(occurring)]


NEARLY_UNIQUE = 0.95  # distinct values over rows with a value
FEW_ROWS = 20  # below this nearly every column is unique, which is no evidence


def shape_of(column: Column) -> Shape:
    """Return what judges the values of a column."""
    counts = column.counts[: column.cardinality - column.has_null]
    text = column.text.head(len(counts)).filter(pl.Series(counts > 0))
    step = -(-len(text) // LOOKED_AT)
    return Shape(int(counts.sum()), len(text), text.gather_every(max(step, 1)), column)


def meaning_of_values(shape: Shape) -> Judgement | None:
    """Return what the values of a column show it to be, with the reason."""
    if shape.distinct < 2 or shape.column.separator is not None:
        return None
    for judge in _JUDGES:
        meaning = judge(shape)
        if meaning is not None:
            return meaning
    return None


def is_free_text(shape: Shape, distinct: float = 0.5) -> bool:
    """Whether cells are sentences, of which at least a share of the rows differ."""
    if shape.column.type is not ValueType.TEXT or shape.distinct < distinct * shape.rows:
        return False
    length, words = shape.texts.str.len_chars().mean(), shape.texts.str.count_matches(r"\s+").mean()
    return _real(length) > FREE_TEXT_LENGTH and _real(words) + 1 > FREE_TEXT_WORDS


def _real(figure: object) -> float:
    return float(figure) if isinstance(figure, int | float) else 0.0


def _free_text(shape: Shape) -> Judgement | None:
    if is_free_text(shape):
        counts = {"distinct": shape.distinct, "rows": shape.rows}
        return Meaning.FREE_TEXT, Statement("because.sentences", **counts)
    return None


def _address(shape: Shape) -> Judgement | None:
    if address_words(shape):
        return Meaning.ADDRESS, Statement("because.streets")
    return None


def address_words(shape: Shape) -> bool:
    """Return whether most values have a word for a street and a number."""
    if not _is_text(shape) or shape.distinct < MANY:
        return False
    numbered = shape.texts.str.contains(r"\d") & shape.texts.str.contains(_ADDRESS)
    return int(numbered.sum()) >= MOST * len(shape.texts)


def _names(shape: Shape) -> Judgement | None:
    """Capitalized words that seldom repeat; listed names are found by the guard before."""
    if not _is_text(shape) or max(shape.distinct, FEW_ROWS) > shape.rows:
        return None
    if shape.share(_TWO_NAMES) >= MOST and shape.distinct > MOST * shape.rows:
        return Meaning.NAME, Statement("because.capitalized")
    return None


def _codes(shape: Shape) -> Judgement | None:
    if not _is_text(shape) or shape.distinct < 5:
        return None
    if shape.share(_ATC) >= MOST:
        return Meaning.DRUG, Statement("because.atc")
    initials = shape.texts.str.slice(0, 1).n_unique()
    if shape.share(ICD_FORM) >= MOST and initials >= 3:
        return Meaning.DIAGNOSIS, Statement("because.icd-10")
    if shape.share(_ICD_9) >= 0.95 and shape.share(r"^[VE]\d") > 0:
        return Meaning.DIAGNOSIS, Statement("because.icd-9")
    return None


def _areas(shape: Shape) -> Judgement | None:
    """Codes of countries, or of regions: nothing else has so many of them and no other value."""
    if not _is_text(shape) or shape.distinct < MANY:
        return None
    if shape.texts.str.to_uppercase().is_in(list(places_of_countries())).all():
        return Meaning.COUNTRY, Statement("because.countries")
    if shape.share(rf"^({NUTS_COUNTRIES})[0-9A-Z]{{1,3}}$") == 1.0 and shape.share(r"\d") >= MOST:
        return Meaning.REGION, Statement("because.nuts")
    return None


def _postcode(shape: Shape) -> Judgement | None:
    if not _is_text(shape) or shape.distinct < MANY or shape.distinct > MOST * shape.rows:
        return None
    five = shape.share(_FIVE_DIGITS) >= 0.99 and shape.share(r"^0") > 0
    if five or shape.share(_POSTCODE) >= MOST:
        return Meaning.POSTCODE, Statement("because.postcodes")
    return None


def _money(shape: Shape) -> Judgement | None:
    if _is_text(shape) and shape.share(_MONEY) > MOST:
        return Meaning.MONEY, Statement("because.money")
    return None


def _brackets(shape: Shape) -> Judgement | None:
    """Brackets of ages: most labels are ranges of numbers up to 120."""
    if not _is_text(shape) or shape.distinct < 3:
        return None
    matches = [BRACKET.match(value) for value in shape.texts.to_list()]
    names = ("top", "bottom", "low", "high", "from")
    ends = [float(match[name]) for match in matches if match for name in names if match[name]]
    ranges = [match for match in matches if match and match["low"]]
    upside_down = any(float(match["low"]) > float(match["high"]) for match in ranges)  # 49,4
    few = sum(match is not None for match in matches) < 0.7 * len(matches)
    if few or upside_down or max(ends, default=0) > 120:
        return None
    if max(ends) >= 60 and min(ends) <= 40:
        return Meaning.AGE, Statement("because.brackets")
    return None


def _years(shape: Shape) -> Judgement | None:
    numbers = shape.numbers
    if shape.column.type is not ValueType.INTEGER or numbers is None or len(numbers) < 3:
        return None
    if numbers.min() >= 1900 and numbers.max() <= LAST_YEAR:
        return Meaning.EVENT_DATE, Statement("because.years")
    return None


def _familiar(shape: Shape) -> Judgement | None:
    if not _is_text(shape) or shape.distinct > 300:
        return None
    plain = [without_accents(value).lower().strip() for value in shape.texts.to_list()]
    for meaning, words in FAMILIAR.items():
        hits = sum(value in words for value in plain)
        enough = 1.0 if meaning is Meaning.SEX else 0.6
        if hits >= 2 and hits >= enough * len(plain):
            noun = Statement(f"meaning.{meaning.name.lower()}")
            return meaning, Statement("because.familiar", noun=noun)
    return None


def _is_text(shape: Shape) -> bool:
    return shape.column.type is ValueType.TEXT


_JUDGES: tuple[Callable[[Shape], Judgement | None], ...] = (
    _free_text, _address, _codes, _areas, _postcode, _money, _brackets, _years, _familiar, _names,
)  # fmt: skip
