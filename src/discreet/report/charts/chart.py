"""A chart as a value: what is drawn, said once for the page (SVG) and for Python (Vega-Lite).

A chart has a form, two scales, marks and reference lines, and the same figures as a table for
readers who cannot see it. How each form places its marks:

========  ==========================================================================================
columns   ``lane`` is the category below, ``y`` the height
bars      ``lane`` is the category at the left, ``x`` the length
strips    a histogram in every ``lane``: from ``x`` to ``x_end`` of height ``y`` (0 to 1)
points    at ``x``, ``y``, with a whisker up to ``y_end``
lines     one line through the marks of each ``series``
========  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.statements import in_language, with_numbers

Form = Literal["columns", "bars", "strips", "points", "lines"]


@dataclass(frozen=True)
class Scale:
    """One axis."""

    title: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    percent: bool = True


@dataclass(frozen=True)
class Mark:
    """One thing that is drawn; see the table above."""

    x: float = 0.0
    y: float = 0.0
    x_end: float | None = None
    y_end: float | None = None
    lane: str = ""
    series: str = ""
    label: str = ""  # written beside it
    faint: bool = False


@dataclass(frozen=True)
class ReferenceLine:
    """A reference line across the chart, or across one lane of it."""

    axis: Literal["x", "y"]
    at: float
    label: str
    lane: str | None = None


@dataclass(frozen=True)
class Chart:
    """One chart."""

    name: str
    form: Form
    title: str
    note: str  # how to read it, in a sentence
    x: Scale
    y: Scale
    marks: tuple[Mark, ...]
    head: tuple[str, ...]  # of the table
    table: tuple[tuple[str, ...], ...]
    rules: tuple[ReferenceLine, ...] = ()

    @property
    def lanes(self) -> list[str]:
        """The categories, in the order in which they come."""
        return list(dict.fromkeys(mark.lane for mark in self.marks))

    @property
    def series(self) -> list[str]:
        """The names of what is compared, in the order in which they come."""
        return list(dict.fromkeys(mark.series for mark in self.marks if mark.series))

    def lane_text(self, lane: str) -> str:
        """Return a category in the language of the page: a range of numbers, or a name."""
        return with_numbers(lane) if self.form == "columns" else in_language(lane)
