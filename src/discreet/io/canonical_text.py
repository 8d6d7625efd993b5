"""The one text of a number or date, however it is written: ``7`` for ``7``, ``007`` and ``7.0``.

Sensitive values are compared by this text, in the original and in every format of a release: a CSV
file keeps the spelling of the source, a Parquet file holds numbers.
"""

from __future__ import annotations

from decimal import Decimal

import polars as pl

from discreet.table.roles import ValueType

INTEGER_FORM = r"^[+-]?[0-9]+$"
NUMBER_FORM = (
    r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?$"  # an exponent that Decimal holds
)
DATE_FORM = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
FORM = {
    ValueType.INTEGER: INTEGER_FORM,
    ValueType.NUMBER: NUMBER_FORM,
    ValueType.DATE: DATE_FORM,
}


def canonical_text(text: pl.Series, kind: ValueType) -> pl.Series:
    """Return texts in canonical form; equal exactly where the values are equal.

    A text that is not a value of the type is unchanged.
    """
    if not kind.ordered:
        return text
    bare = text.str.strip_chars()
    cells = pl.DataFrame({"bare": bare})
    fits = pl.col("bare").str.contains(FORM[kind])
    plain = bare = cells.select(pl.when(fits).then("bare")).to_series()
    if kind is not ValueType.DATE:
        plain = bare.str.replace(r"^\+", "").str.replace(r"^(-?)0+([0-9])", "$1$2")
        plain = plain.str.replace("^-0$", "0")
    if kind is ValueType.NUMBER:
        plain = _numbers(bare, plain)
    return plain.zip_with(plain.is_not_null(), text).alias(text.name)


def _numbers(bare: pl.Series, plain: pl.Series) -> pl.Series:
    """Return the shortest text of the equal float; of a number that no float equals, its digits."""
    short = as_floats(bare).cast(pl.String).str.replace(r"\.0$", "")
    with_point = plain.str.contains(".", literal=True) & ~plain.str.contains("(?i)e")
    trimmed = plain.str.replace("0+$", "").str.replace(r"\.$", "")
    cells = pl.DataFrame({"plain": plain, "trimmed": trimmed, "point": with_point, "short": short})
    digits = cells.select(pl.when("point").then("trimmed").otherwise("plain")).to_series()
    places = (digits != short).fill_null(False).arg_true()
    if not len(places):
        return short
    exact = [
        _digits(cell, like)
        for cell, like in zip(bare.gather(places), short.gather(places), strict=True)
    ]
    return short.scatter(places, exact)


def as_floats(text: pl.Series) -> pl.Series:
    """Return texts as floats, null where a text is not a number; −0 is 0."""
    numbers = text.cast(pl.Float64, strict=False)
    return numbers.set((numbers == 0).fill_null(False), 0.0)


def _digits(cell: str, short: str) -> str:
    number = Decimal(cell)
    if number == Decimal(short):
        return short
    sign, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    shift = int(exponent) + len(digits) - len(significant)
    return str(Decimal((sign, tuple(map(int, significant)), shift)))
