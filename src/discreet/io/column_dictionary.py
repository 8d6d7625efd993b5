"""From the distinct values of a column, in any order, to its sorted dictionary.

The one text of a number or date, however it is written: ``7`` for ``7``, ``007`` and ``7.0``.

Sensitive values are compared by this text, in the original and in every format of a release: a CSV
file keeps the spelling of the source, a Parquet file holds numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.table.budgets import IN_CACHE
from discreet.table.coded_table import Column, exact_value
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType
from discreet.typing import AnyInts, Codes

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


Locate = Callable[[NDArray[np.int64]], str]  # the place of a cell with one of these raw values

NOUN = {
    ValueType.INTEGER: "integers",
    ValueType.NUMBER: "numbers",
    ValueType.DATE: "dates",
}
NAMED_AT_MOST = 5
_TEXTS = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The sorted dictionary of a column, and the code of each raw value."""

    type: ValueType
    text: pl.Series
    values: pl.Series
    numbers: NDArray[np.float64] | None
    code_of_raw: Codes  # (raw values,)

    def column(self, name: str, spec: ColumnSpec, codes: Codes) -> Column:
        """The column with this dictionary."""
        usual = Distance.ORDERED if self.type.ordered else Distance.EQUAL
        return Column(
            name,
            spec.role,
            self.type,
            codes,
            self.text,
            self.values,
            self.numbers,
            spec.distance or usual,
            spec.separator,
        )


def sort_dictionary(
    name: str, spec: ColumnSpec, raw: pl.Series, missing: Collection[str], locate: Locate
) -> Dictionary:
    """Sort the distinct values of a column; those that read as the same become one."""
    kind = spec.type or _type_of(raw)
    if spec.separator is not None and kind.ordered:
        raise InputError(
            f"Column {name!r}: cells of several members have no order, so they cannot be "
            f"{NOUN[kind]}. Leave out the type or the separator."
        )
    raw = in_utc(raw)
    text = render(raw, kind)
    if spec.separator is not None:
        text = _as_sets(text, spec.separator)
    absent = [*missing]
    if spec.separator is None or spec.role is not Role.SENSITIVE:
        absent.append("")  # else it is the empty set: it becomes bits, which keep the two apart
    is_absent = text.is_in(absent)
    if is_absent.any():
        text = text.set(is_absent.fill_null(False), None)
    if raw.dtype == pl.String:
        text = _in_plain_form(name, spec, kind, text, locate)
    numbers = _parse(name, spec, kind, text, locate) if kind.ordered else None
    # Columns that are published unchanged keep every spelling; columns that are counted merge them.
    canonical = None
    if numbers is not None and not spec.role.unchanged:
        canonical = canonical_text(text, kind)
    # Sort; raw values that read as the same get one code.
    order, starts = _order(text, numbers, canonical, kind)
    code_of_raw = np.empty(len(raw), np.int32)
    code_of_raw[order] = np.cumsum(starts) - 1
    first = pl.Series(order[starts])
    if canonical is not None:
        canonical = canonical.gather(first)
    text = text.gather(first)
    # The published text, and the typed values of a typed source.
    is_text = raw.dtype == pl.String
    if canonical is not None and is_text:
        # The spelling chosen among several could occur only in a suppressed row.
        several = pl.Series(np.bincount(code_of_raw, minlength=len(first)) > 1)
        text = canonical.zip_with(several, text)
    values = text
    if not is_text and _is_kept_by_parquet(raw.dtype):
        values = raw.gather(pl.select(pl.when(text.is_not_null()).then(first)).to_series())
        if kind is ValueType.INTEGER and values.dtype.is_float():  # pandas: integers and a null
            values = values.cast(pl.Int64)
    if canonical is not None and spec.role is Role.SENSITIVE:
        text = canonical
    return Dictionary(
        kind,
        text.alias(name),
        values.alias(name),
        None if numbers is None else numbers[order[starts]],
        code_of_raw,
    )


def render(values: pl.Series, kind: ValueType = ValueType.TEXT) -> pl.Series:
    """Values as text: dates as ISO, whole floats of an integer column without a fraction."""
    dtype = values.dtype
    if dtype == pl.String:
        return values
    if dtype.is_float():
        values = values.fill_nan(None)
        if kind is ValueType.INTEGER:
            whole = values.cast(pl.Int64, strict=False)
            if (whole.cast(pl.Float64) == values.cast(pl.Float64)).all():
                return whole.cast(pl.String)
    if isinstance(dtype, pl.Datetime) and _all_midnight(values):
        return values.dt.date().cast(pl.String)
    if not is_cell_type(dtype):
        name = getattr(dtype, "ext_name", None)  # of a type that only another library knows
        raise no_cells(values.name, name() if callable(name) else type(dtype).__name__)
    return values.cast(pl.String)


def in_utc(values: pl.Series) -> pl.Series:
    """Return times of another zone in UTC, which files keep; those at midnight are dates there."""
    zone = getattr(values.dtype, "time_zone", None)
    if zone in (None, "UTC") or _all_midnight(values):
        return values
    return values.dt.convert_time_zone("UTC")


def is_cell_type(dtype: pl.DataType) -> bool:
    """Return whether values of a type are cells: text, a number, a truth value, a date or time."""
    temporal = (pl.Date, pl.Datetime, pl.Time)
    return dtype.is_numeric() or dtype in (*_TEXTS, pl.Boolean, pl.Null, *temporal)


def no_cells(name: str, kind: str) -> InputError:
    """The error of a column whose values are not cells."""
    return InputError(
        f"Column {name!r} holds values of type {kind}, which are not cells. Make them text, "
        f"such as frame[{name!r}].astype(str) in pandas; join the members of a list with a "
        "separator and name it as `multi_valued`."
    )


def _is_kept_by_parquet(dtype: pl.DataType) -> bool:
    """Return whether a Parquet file keeps a type: it knows no time zone but UTC."""
    if isinstance(dtype, pl.Datetime):
        return dtype.time_zone in (None, "UTC")
    return dtype != pl.Int128


def _all_midnight(values: pl.Series) -> bool:
    return bool((values.dt.time() == datetime.time()).all())


def _type_of(raw: pl.Series) -> ValueType:
    if raw.dtype.is_integer():
        return ValueType.INTEGER
    if raw.dtype.is_numeric():
        return ValueType.NUMBER
    if raw.dtype == pl.Date or (isinstance(raw.dtype, pl.Datetime) and _all_midnight(raw)):
        return ValueType.DATE
    return ValueType.TEXT


def _as_sets(text: pl.Series, separator: str) -> pl.Series:
    members = pl.element().str.strip_chars()
    tidy = members.filter(members != "").unique().sort()
    return text.str.split(separator).list.eval(tidy).list.join(separator)


def _in_plain_form(
    name: str, spec: ColumnSpec, kind: ValueType, text: pl.Series, locate: Locate
) -> pl.Series:
    """Return dates of another format as ISO, and numbers with a decimal point."""
    if kind is ValueType.DATE and spec.date_format is not None:
        dates = text.str.strip_chars().str.to_date(spec.date_format, strict=False)
        plain, bad = dates.cast(pl.String), dates.is_null() & text.is_not_null()
    elif kind in (ValueType.INTEGER, ValueType.NUMBER) and spec.decimal != ".":
        plain = text.str.replace_all(spec.decimal, ".", literal=True)
        bad = text.str.contains(".", literal=True).fill_null(False)
    else:
        return text
    if bad.any():
        raise _not_values(name, spec, kind, text, bad, locate)
    return plain


def _not_values(
    name: str, spec: ColumnSpec, kind: ValueType, text: pl.Series, bad: pl.Series, locate: Locate
) -> InputError:
    """Return the error of values that are not of their column's type."""
    named = ""
    if spec.role is Role.QUASI_IDENTIFIER:
        examples = [repr(value) for value in text.filter(bad).head(NAMED_AT_MOST)]
        more = ", …" if bad.sum() > NAMED_AT_MOST else ""
        named = f": {', '.join(examples)}{more}"
    count = "1 value is" if bad.sum() == 1 else f"{bad.sum()} values are"
    noun, also = NOUN[kind], ""
    if kind is ValueType.DATE:
        noun = f"dates of the form {spec.date_format or 'YYYY-MM-DD'}"
        also = "set the `format:` of its dates, "
    elif spec.decimal != ".":
        noun += f" with {spec.decimal!r} as their decimal sign"
    return InputError(
        f"{locate(np.flatnonzero(bad.to_numpy()))}, column {name!r}: of {len(text)} distinct "
        f"values {count} not {noun}{named}. Correct the cells, {also}list such values under "
        "`missing:`, or set `type: text`."
    )


def _parse(
    name: str, spec: ColumnSpec, kind: ValueType, text: pl.Series, locate: Locate
) -> NDArray[np.float64]:
    """Return the numbers that texts represent: NaN for a missing one."""
    bare = text.str.strip_chars()
    shaped = bare.str.contains(FORM[kind])
    if kind is ValueType.DATE:
        numbers = bare.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
    else:
        numbers = bare.cast(pl.Float64, strict=False)
    good = shaped & numbers.is_not_null() & numbers.is_finite().fill_null(False)
    bad = (~good & text.is_not_null()).fill_null(False)
    if bad.any():
        raise _not_values(name, spec, kind, text, bad, locate)
    return numbers.fill_null(np.nan).to_numpy() + 0.0  # −0 is 0


def _order(
    text: pl.Series,
    numbers: NDArray[np.float64] | None,
    canonical: pl.Series | None,
    kind: ValueType,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The order that sorts raw values, missing ones last, and where in it a new value begins.

    Spellings of one number are one value where their canonical texts are given.
    """
    # Numbers that all differ as floats need no further keys.
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")
        known = len(numbers) - int(np.isnan(numbers).sum())
        if known >= len(numbers) - 1 and (np.diff(numbers[order[:known]]) > 0).all():
            return order, np.ones(len(order), bool)
    # Texts are sorted as such; numbers by exact value, then the shortest spelling first.
    if numbers is None:
        sorting = text.arg_sort(nulls_last=True)
        ordered = text.gather(sorting)
        starts = ordered.ne_missing(ordered.shift(1))
    else:
        keys = pl.DataFrame(
            {
                "number": pl.Series(numbers).fill_nan(None),
                "value": text if canonical is None else canonical,
                "length": text.str.len_chars(),
                "text": text,
            }
        )
        keys = keys.with_columns(_exact_ranks(keys, kind))
        sorted_ = keys.with_row_index("place").sort(
            "number", "rank", "length", "text", nulls_last=True
        )
        sorting = sorted_["place"]
        changes = [sorted_[name].ne_missing(sorted_[name].shift(1)) for name in ("number", "value")]
        starts = changes[0] | changes[1]
    order = sorting.to_numpy().astype(np.int64)
    is_start = starts.to_numpy().copy()
    is_start[:1] = True
    return order, is_start


def _exact_ranks(keys: pl.DataFrame, kind: ValueType) -> pl.Series:
    """Rank values that are one number as a float by their exact value.

    A float has 53 bits, so long integers that differ may be equal floats; 0 where no other value
    has the same float.
    """
    alike: list[str] = []
    if keys["number"].n_unique() < len(keys):
        distinct = keys.select("number", "value").drop_nulls().unique()
        alike = distinct.filter(distinct["number"].is_duplicated())["value"].to_list()
    if not alike:
        return pl.Series("rank", np.zeros(len(keys), np.int64))
    exact: list[Any] = sorted({exact_value(value, kind) for value in alike})
    rank_of = {value: place for place, value in enumerate(exact)}
    rank = {value: rank_of[exact_value(value, kind)] for value in alike}
    return keys["value"].replace_strict(rank, default=0, return_dtype=pl.Int64).alias("rank")


def recode(codes: AnyInts, code_of_raw: AnyInts, result: AnyInts) -> None:
    """Put new codes for old ones; the result may be the codes themselves.

    A code beyond the last is taken for the last. Short pieces stay in the processor's cache.
    """
    for start in range(0, len(codes), IN_CACHE):
        part = slice(start, start + IN_CACHE)
        np.take(code_of_raw, codes[part], out=result[part], mode="clip")
