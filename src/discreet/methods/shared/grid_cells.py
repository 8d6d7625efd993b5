"""Ranges whose ends are steps that were fixed before any class was seen.

The ends of a tight range are values that certainly occur in its class. Rounded outwards to the
steps of a grid, they are not: a range says only that some row lies in its first step, and some row
in its last. The steps are round numbers, about 16 between the least and the greatest value of the
column, or months, quarters or years of a date column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.hierarchies.automatic import round_width
from discreet.hierarchies.building import present
from discreet.hierarchies.cells import SUPPRESSED, parse_cell, range_cell
from discreet.hierarchies.cells import Range as RangeCell
from discreet.hierarchies.groupings import clipped_share, exact, interval_grouping
from discreet.methods.base import CellColumn
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType
from discreet.typing import Codes, Floats, Ints

STEPS = 16
_MONTHS: dict[Literal["month", "quarter", "year"], int] = {"month": 1, "quarter": 3, "year": 12}
_DAYS_OF_MONTH = 365.25 / 12


@dataclass(frozen=True, eq=False)
class Grid:
    """The steps of a column that hold a value, ascending."""

    step_of_value: Ints  # (values of the dictionary,) −1 for a missing value
    low: list[str]  # (steps,) the lower end of each step
    high: list[str]  # (steps,) the upper end, which is not in the step
    bounds: tuple[Floats, Floats]  # the same as numbers

    @property
    def steps(self) -> int:
        return len(self.low)

    def run_of(self, code: int) -> tuple[int, int]:
        """The codes in the step of one, up to, not including, the second."""
        codes = np.flatnonzero(self.step_of_value == self.step_of_value[code])
        return int(codes[0]), int(codes[-1]) + 1


def grid_of(column: Column) -> Grid | None:
    """The grid of a column; None where its values are not ordered, or not all finite."""
    values = present(column)
    if column.numbers is None or not np.isfinite(column.numbers[:values]).all() or not values:
        return None
    step = np.full(column.cardinality, -1, np.int64)
    if column.type is ValueType.DATE:
        step[:values], low, high, bounds = _calendar(column.numbers[:values])
        return Grid(step, low, high, bounds)
    numbers = column.numbers[:values]
    width = round_width(float(np.ptp(numbers)) / STEPS)
    if column.type is ValueType.INTEGER:
        width = max(width, 2)
    grouping = interval_grouping(column, exact(width), exact(0))
    step[:values] = grouping.node_of_leaf
    cells = [parse_cell(label or "") for label in grouping.labels]
    ranges = [cell for cell in cells if isinstance(cell, RangeCell)]
    low, high = [one.low for one in ranges], [one.high for one in ranges]
    return Grid(step, low, high, (np.array(low, np.float64), np.array(high, np.float64)))


def _calendar(days: Floats) -> tuple[Ints, list[str], list[str], tuple[Floats, Floats]]:
    """The steps of dates, in the largest unit of which there are 16 between the first and last."""
    months = float(np.ptp(days)) / _DAYS_OF_MONTH
    unit = max([1, *(size for size in _MONTHS.values() if months / size >= STEPS)])
    month = np.floor(days).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    first, step = np.unique(month // unit * unit, return_inverse=True)
    low, high = (
        (first + shift).astype("datetime64[M]").astype("datetime64[D]") for shift in (0, unit)
    )
    bounds = low.astype(np.float64), high.astype(np.float64)
    return step, low.astype(str).tolist(), high.astype(str).tolist(), bounds


def cells_on_grid(column: Column, grid: Grid, code: Codes, start: Ints) -> CellColumn:
    """The published range of each class; ``*`` where it has missing values beside others."""
    step = grid.step_of_value[code]
    low, high = (end.reduceat(step, start[:-1]) for end in (np.minimum, np.maximum))
    mixed = (low < 0) & (high >= 0)
    high[mixed] = grid.steps
    kinds = group_codes(
        [(low + 1).astype(np.int32), (high + 1).astype(np.int32)],
        [grid.steps + 2] * 2,
        len(start) - 1,
    )
    labels: list[str | None] = []
    losses = []
    for first, last in zip(
        low[kinds.first_row].tolist(), high[kinds.first_row].tolist(), strict=True
    ):
        if first < 0:
            labels.append(None if last < 0 else SUPPRESSED)
            losses.append(0.0 if last < 0 else 1.0)
            continue
        labels.append(range_cell(grid.low[first], grid.high[last], closed=False))
        ends = grid.bounds[0][[first]], grid.bounds[1][[last]]
        losses.append(float(clipped_share(*ends, _numbers(column))[0]))
    return CellColumn(kinds.class_of_row, tuple(labels), np.array(losses))


def _numbers(column: Column) -> Floats:
    assert column.numbers is not None
    return column.numbers[: present(column)]
