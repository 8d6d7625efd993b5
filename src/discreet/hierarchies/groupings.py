"""Ranges on a line: intervals of numbers, and the calendar's days, months, quarters and so on.

A range's loss is its width, clipped to the data's range, as a share of that range. Bounds are exact
decimals: a width of 0.1 never shows as 0.30000000000000004, and 0.3 lies in ``[0.3, 0.4)``.

Masking characters: ``13053`` → ``1305*`` → ``130**`` → … → ``*``.

Values of different length are compared as if the shorter were padded with spaces on the masked
side, so that masking from the right keeps the same number of leading characters of every value.
A short value of which only the padding is masked is unchanged; once one of its own characters is
reached, it joins the longer values that begin like it. So ``12`` beside ``1234`` is ``12`` on
level 1, ``12**`` on level 2 together with ``1234``, and levels nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import HierarchyError
from discreet.hierarchies.building import LevelGrouping, everything, grouping_by_key, named, present
from discreet.hierarchies.cells import range_cell
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

Side = Literal["left", "right"]


def mask_groupings(column: Column, side: Side, character: str) -> list[LevelGrouping]:
    """One level for each character of the longest value; the last is ``*``."""
    text = column.text.head(present(column))
    longest = _longest(text)
    groupings = []
    for keep in range(longest - 1, 0, -1):
        grouping = masked(text, keep, side, character * (longest - keep))
        misread = collisions(text, grouping)
        if misread:
            raise HierarchyError(
                f"Hierarchy of '{column.name}' (mask): {len(misread)} of {len(text)} values "
                f"look like a masked one{named(column, misread)}. Choose another `character`."
            )
        groupings.append(grouping)
    return [*groupings, everything(len(text))]


def masked(text: pl.Series, keep: int, side: Side, mask: str) -> LevelGrouping:
    """Keep some characters of every value, counted from the side that is not masked."""
    value = pl.col("value")
    shown = value.str.head(keep) if side == "right" else value.str.tail(keep)
    label = (
        pl.concat_str(shown, pl.lit(mask))
        if side == "right"
        else pl.concat_str(pl.lit(mask), shown)
    )
    exact = value.str.len_chars() < keep
    frame = pl.DataFrame({"value": text}).select(
        # A short value is a node of its own: the first letter keeps it apart from longer ones.
        key=pl.when(exact)
        .then(pl.concat_str(pl.lit("e"), value))
        .otherwise(pl.concat_str(pl.lit("m"), shown)),
        label=pl.when(exact).then(value).otherwise(label),
    )
    return grouping_by_key(frame["key"], frame["label"])


def begins_alike(text: pl.Series, keep: int) -> NDArray[np.bool_]:
    """Return whether each value but the first of a sorted column begins like the one before it."""
    heads = text.str.head(keep)
    return (heads.slice(1) == heads.head(max(len(heads) - 1, 0))).to_numpy()


def collisions(text: pl.Series, grouping: LevelGrouping) -> list[str]:
    """Values that equal the label of a node with other values."""
    labels = pl.Series(grouping.labels, dtype=pl.String)
    same = np.flatnonzero(text.is_in(labels.implode()).to_numpy())
    size = np.bincount(grouping.node_of_leaf)
    return [
        text[int(value)]
        for value in same
        if grouping.labels[grouping.node_of_leaf[value]] != text[int(value)]
        or size[grouping.node_of_leaf[value]] > 1
    ]


def _longest(text: pl.Series) -> int:
    longest = text.str.len_chars().max() if len(text) else 0
    assert isinstance(longest, int)
    return longest


CalendarUnit = Literal["day", "month", "quarter", "year", "decade"]
_ROUNDING = 1e-14  # relative; quotients as close to a whole number are computed again, exactly
_EXACT_UP_TO = 2.0**52
_LARGEST = 10**300  # of a width or an origin: bounds beyond it are no floating-point numbers
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def exact(number: int | float) -> Fraction:
    """The decimal that a number was written as."""
    return Fraction(repr(number))


def interval_grouping(column: Column, width: Fraction, origin: Fraction) -> LevelGrouping:
    """Half-open ranges of one width, counted from the origin."""
    numbers = _numbers(column, "intervals", (ValueType.INTEGER, ValueType.NUMBER))
    for name, number in (("width", width), ("origin", origin)):
        if abs(number) > _LARGEST:
            raise HierarchyError(
                f"Hierarchy of '{column.name}' (intervals): the {name} is above 1e+300. "
                "Use a smaller one; '*' is one range for all values."
            )
    quotients, node_of_leaf = np.unique(
        _quotients(column, numbers, width, origin), return_inverse=True
    )
    digits = _digits(width, origin)
    step, start = int(width * 10**digits), int(origin * 10**digits)
    bounds = [start + quotient * step for quotient in quotients.tolist()]
    labels = [
        range_cell(_decimal(low, digits), _decimal(low + step, digits), closed=False)
        for low in bounds
    ]
    low = np.array([float(Fraction(bound, 10**digits)) for bound in bounds], np.float64)
    high = low + float(width)
    return LevelGrouping(node_of_leaf, labels, clipped_share(low, high, numbers))


def calendar_grouping(column: Column, unit: CalendarUnit) -> LevelGrouping:
    """The days, months, quarters, years or decades of a date column."""
    days = np.floor(_numbers(column, "dates", (ValueType.DATE,))).astype(np.int64)
    if unit == "day":
        starts, node_of_leaf = np.unique(days, return_inverse=True)
        labels = [str(day) for day in starts.astype("datetime64[D]")]
        return LevelGrouping(node_of_leaf, labels, np.zeros(len(starts)))
    step = _MONTHS[unit]
    month_of_day = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    # Months count from 1970-01, and 1970 begins a decade: floor division finds every unit's start.
    starts, node_of_leaf = np.unique(month_of_day // step * step, return_inverse=True)
    low = starts.astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
    high = (starts + step).astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
    labels = [_calendar_label(int(month), unit) for month in starts]
    return LevelGrouping(node_of_leaf, labels, clipped_share(low, high, days.astype(np.float64)))


def _calendar_label(month: int, unit: CalendarUnit) -> str:
    year = 1970 + month // 12
    if unit == "decade":
        return range_cell(f"{year:04d}", f"{year + 10:04d}", closed=False)
    if unit == "year":
        return f"{year:04d}"
    if unit == "quarter":
        return f"{year:04d}-Q{month % 12 // 3 + 1}"
    return f"{year:04d}-{month % 12 + 1:02d}"


def _numbers(column: Column, what: str, allowed: Sequence[ValueType]) -> NDArray[np.float64]:
    names = " or ".join(kind.value for kind in allowed)
    if column.type not in allowed or column.numbers is None:
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({what}): the column's type is {column.type.value}, "
            f"but {what} need {names}. Set its type, or use another kind of hierarchy."
        )
    numbers = column.numbers[: present(column)]
    if not np.isfinite(numbers).all():
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({what}): {int((~np.isfinite(numbers)).sum())} values "
            "are infinite or not numbers. Name them in the source's `missing`, or remove them."
        )
    return numbers


def _quotients(
    column: Column, numbers: NDArray[np.float64], width: Fraction, origin: Fraction
) -> NDArray[np.int64]:
    """``floor((number − origin) / width)``, exactly."""
    largest = np.abs(numbers).max(initial=0.0) + abs(float(origin))
    whole = width.denominator == 1 and origin.denominator == 1
    exact_integers = largest < _EXACT_UP_TO and width < _EXACT_UP_TO
    if column.type is ValueType.INTEGER and whole and exact_integers:
        return (numbers.astype(np.int64) - int(origin)) // int(width)
    with np.errstate(over="ignore"):  # an infinite ratio is refused
        ratio = (numbers - float(origin)) / float(width)
    if np.abs(ratio).max(initial=0.0) >= 2.0**62:
        raise HierarchyError(
            f"Hierarchy of '{column.name}' (intervals): a width of {float(width)} is too small "
            "for the column's values. Use a larger width."
        )
    result = np.floor(ratio).astype(np.int64)
    doubt = _ROUNDING * (np.abs(numbers) + abs(float(origin))) / float(width)
    near = np.abs(ratio - np.round(ratio)) <= doubt
    for value in np.flatnonzero(near):
        written = _written(column.text[int(value)], float(numbers[value]))
        result[value] = (written - origin) // width
    return result


def _written(text: str, number: float) -> Fraction:
    """A value as it was written, or as its number is where the text has another form."""
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return exact(number)


def _digits(*numbers: Fraction) -> int:
    """Return how many decimals it takes to write some decimal numbers."""
    digits = 0
    while any(10**digits % number.denominator for number in numbers):
        digits += 1
    return digits


def _decimal(scaled: int, digits: int) -> str:
    """The number ``scaled / 10**digits`` without needless zeros."""
    if digits == 0 or scaled == 0:
        return str(scaled)
    whole, part = divmod(abs(scaled), 10**digits)
    fraction = f".{part:0{digits}d}".rstrip("0").rstrip(".")
    return f"{'-' if scaled < 0 else ''}{whole}{fraction}"


def clipped_share(
    low: NDArray[np.float64], high: NDArray[np.float64], numbers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The width of each range, clipped to that of some numbers, as a share of it."""
    if not len(numbers):
        return np.zeros(0)
    least, most = numbers.min(), numbers.max()
    if most == least:
        return np.zeros(len(low))
    width = np.minimum(high, most) - np.maximum(low, least)
    share: NDArray[np.float64] = np.clip(width / (most - least), 0.0, 1.0)
    return share
