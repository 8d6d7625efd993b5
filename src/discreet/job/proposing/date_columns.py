"""Dates of birth and dates of events, told apart by when they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.job.proposing.value_forms import Shape
from discreet.table.budgets import LOOKED_AT
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

DATE_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d",
)  # fmt: skip
YEAR = 365.25
OLDEST = 115  # years
LIVES = 15  # years that persons have lived on average before an event, at least
SPREAD = 40  # years that dates of birth span, at least, where no other date is known


def date_format(text: pl.Series) -> str | None:
    """Return the format in which all texts are dates; of several, the first that is common."""
    texts = text.drop_nulls()
    if not len(texts) or not texts.str.contains(r"^\d{1,4}[-./]?\d{1,2}[-./]?\d{1,4}$").all():
        return None
    return next((known for known in DATE_FORMATS if _all_days(texts, known)), None)


def _all_days(text: pl.Series, known: str) -> bool:
    days = text.str.to_date(known, strict=False, exact=True)
    return days.null_count() == 0 and bool(days.dt.year().is_between(1850, 2150).all())


def _days(column: Column) -> NDArray[np.float64] | None:
    """The day of each distinct value, NaN for a missing one; None where they are no dates."""
    if column.type is ValueType.DATE:
        return column.numbers
    if column.type is not ValueType.TEXT:
        return None
    known = date_format(column.text.gather_every(max(len(column.text) // 200, 1)))
    if known is None:
        return None
    days = column.text.str.to_date(known, strict=False).cast(pl.Int32)
    if days.null_count() > column.has_null:
        return None
    return days.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def judged_dates(columns: Sequence[Column]) -> dict[str, bool]:
    """Return for each column of dates whether they are dates of birth."""
    days = {c.name: day for c in columns if (day := _days(c)) is not None}
    step = -(-len(columns[0].codes) // LOOKED_AT) if columns else 1
    rows = {c.name: days[c.name][c.codes[::step]] for c in columns if c.name in days}
    return {
        name: any(_lives(own, other) for at, other in rows.items() if at != name)
        or (len(rows) == 1 and _spread(own) >= SPREAD)
        for name, own in rows.items()
    }


def _lives(born: NDArray[np.float64], event: NDArray[np.float64]) -> bool:
    """Whether one date precedes another by the length of lives."""
    years = (event - born) / YEAR
    years = years[np.isfinite(years)]
    if not len(years):
        return False
    possible = (years >= 0) & (years <= OLDEST)
    return bool(possible.mean() >= 0.99 and years.mean() >= LIVES)


def _spread(days: NDArray[np.float64]) -> float:
    known = days[np.isfinite(days)]
    return float(np.ptp(known)) / YEAR if len(known) else 0.0


def is_birth(shape: Shape) -> bool:
    """Whether values can be dates or years of birth."""
    numbers = shape.numbers
    if numbers is not None:  # years, or days such as 19840131
        low, high = float(numbers.min(initial=1900)), float(numbers.max(initial=1900))
        years = low >= 1880 and high <= 2100
        return years or (low >= 18800101 and high <= 21001231)
    return shape.column.type is ValueType.DATE or shape.share(r"\d{2}") > 0.5
