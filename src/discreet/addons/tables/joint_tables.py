"""A published table, its original and a holdout with common codes, and distances between rows.

The distance of two rows is the sum over columns (Gower, 1971): of numbers their difference over
the range of the column in all tables, of other values 0 or 1. A cell that covers m values is
(1 − 1/m)/2 from a value that it covers, so that a suppressed cell is half a column away from every
value; from any other value it is 1 away. Missing values are equal to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.coverage import cover
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.budgets import IN_CACHE, TABLE_CELLS
from discreet.table.coded_table import CodedTable, Column
from discreet.typing import Codes, Floats, Ints, Singles


@dataclass(frozen=True, eq=False)
class JointColumn:
    """One column of all tables, coded by one dictionary in the order of its values."""

    name: str
    numbers: Floats | None  # (values,) ascending, NaN of a missing value; None of other values
    cardinality: int
    published: Codes  # (published rows,)
    original: Codes  # (original rows,)
    control: Codes | None  # (rows of the holdout,)
    nearness: Singles | None  # (values, values) where cells cover several

    @cached_property
    def scaled(self) -> Singles | None:
        """(values,) The numbers over their range; None where values are equal or not."""
        if self.numbers is None or self.nearness is not None:
            return None
        spread = float(np.nanmax(self.numbers) - np.nanmin(self.numbers)) or 1.0
        return (self.numbers / spread).astype(np.float32)


@dataclass(frozen=True, eq=False)
class JointTables:
    """The columns that may be compared, in all tables."""

    columns: Sequence[JointColumn]
    rows: int  # published
    original_rows: int
    control_rows: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


def join_tables(
    published: CodedTable,
    original: CodedTable,
    control: CodedTable | None,
    covered: Mapping[str, Ints],
    hierarchies: Mapping[str, Hierarchy],
) -> JointTables:
    """Code the columns of all tables by common dictionaries."""
    columns = [
        _joint(
            published[column.name], column, None if control is None else control[column.name],
            covered[column.name], hierarchies.get(column.name),
        )
        for column in original
    ]  # fmt: skip
    return JointTables(
        columns, published.rows, original.rows, 0 if control is None else control.rows
    )


def _joint(
    published: Column,
    original: Column,
    control: Column | None,
    covered: Ints,
    hierarchy: Hierarchy | None,
) -> JointColumn:
    parts = [column for column in (published, original, control) if column is not None]
    texts = [column.text.cast(pl.String) for column in parts]
    # Numbers are compared as numbers where every cell of every table is one or is missing.
    numbers = None
    if original.numbers is not None and not (covered > 1).any():
        as_numbers = [text.cast(pl.Float64, strict=False) for text in texts]
        if original.type.value == "date":
            as_numbers = [text.str.to_date(strict=False).cast(pl.Float64) for text in texts]
        if all(n.null_count() == t.null_count() for n, t in zip(as_numbers, texts, strict=True)):
            texts = as_numbers
            numbers = True
    known = pl.concat([pl.Series("v", text) for text in texts]).unique().drop_nulls().sort()
    place = pl.DataFrame({"v": known, "c": np.arange(len(known), dtype=np.int32)})
    codes = []
    for text, column in zip(texts, parts, strict=True):
        coded = pl.DataFrame({"v": pl.Series("v", text)}).join(
            place, on="v", how="left", maintain_order="left"
        )["c"]
        codes.append(coded.fill_null(len(known)).to_numpy().astype(np.int32)[column.codes])
    cardinality = len(known) + 1  # the last: missing
    values = np.append(known.to_numpy().astype(np.float64), np.nan) if numbers else None
    nearness = None
    if numbers is None and (covered > 1).any():
        nearness = _nearness(known, published, original, covered, hierarchy)
    return JointColumn(
        original.name, values, cardinality, codes[0], codes[1],
        None if control is None else codes[2], nearness,
    )  # fmt: skip


def _nearness(
    known: pl.Series,
    published: Column,
    original: Column,
    covered: Ints,
    hierarchy: Hierarchy | None,
) -> Singles | None:
    """(values, cells) The distance of each known value from each cell; None where there are many.

    Both are numbered as ``known``, the last being a missing value.
    """
    size = len(known) + 1
    if size * size > TABLE_CELLS:
        return None
    distance = np.ones((size, size), np.float32)
    np.fill_diagonal(distance, 0)
    code = {value: number for number, value in enumerate(known.to_list())}
    source = [code.get(text, size - 1) for text in original.text.to_list()]
    several = np.flatnonzero(covered > 1)
    reading = cover(original, published.text.gather(several), hierarchy)
    names = published.text.gather(several).to_list()
    for number, (cell, covers) in enumerate(zip(names, reading.matrix(), strict=True)):
        inside = np.array(source)[covers]
        distance[inside, code.get(cell, size - 1)] = (1 - 1 / int(reading.size[number])) / 2
    return distance


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The published rows nearest to each target."""

    of_columns: Mapping[str, Ints]  # by the name of a set of columns: (targets,) the nearest row
    distance: Floats  # (targets,) from the nearest row by all columns


def nearest_rows(
    joint: JointTables,
    targets: Ints,
    sets: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    *,
    of_control: bool = False,
) -> Neighbours:
    """Return the published row nearest to each target, by several sets of columns at once.

    Distances by column are found once and added up for each set: of sets that lack one column of
    all, as the difference from the total. Equally near rows are taken in a random order.
    """
    order = rng.permutation(joint.rows)
    gauges = [_Gauge(column, order, targets, of_control=of_control) for column in joint.columns]
    place = {name: number for number, name in enumerate(joint.names)}
    plans = {key: _plan([place[name] for name in names], len(place)) for key, names in sets.items()}
    least = {key: np.full(len(targets), np.inf, np.float32) for key in sets}
    row = {key: np.zeros(len(targets), np.int64) for key in sets}
    least_of_all = np.full(len(targets), np.inf, np.float32)
    size = min(IN_CACHE, joint.rows)
    by_column = np.empty((len(gauges), size), np.float32)
    total, part = np.empty(size, np.float32), np.empty(size, np.float32)
    for start in range(0, joint.rows, IN_CACHE):
        rows = slice(start, min(start + IN_CACHE, joint.rows))
        width = rows.stop - start
        for target in range(len(targets)):
            # The distances by column, and their sum.
            for gauge, out in zip(gauges, by_column, strict=True):
                gauge.measure(rows, target, out[:width])
            whole = np.sum(by_column[:, :width], axis=0, out=total[:width])
            nearest = float(whole.min())
            least_of_all[target] = min(least_of_all[target], nearest)
            # The nearest row by each set of columns, which replaces that of earlier rows.
            for key, (complement, columns) in plans.items():
                sums = whole
                if columns and complement:
                    sums = np.subtract(whole, by_column[columns[0], :width], out=part[:width])
                    for number in columns[1:]:
                        sums -= by_column[number, :width]
                elif columns:
                    sums = part[:width]
                    sums[:] = by_column[columns[0], :width]
                    for number in columns[1:]:
                        sums += by_column[number, :width]
                place_of_least = int(sums.argmin())
                if sums[place_of_least] < least[key][target] - 1e-5:
                    least[key][target] = sums[place_of_least]
                    row[key][target] = start + place_of_least
    return Neighbours(
        {key: order[nearest] for key, nearest in row.items()}, least_of_all.astype(float)
    )


def _plan(columns: Sequence[int], count: int) -> tuple[bool, list[int]]:
    """Return whether to subtract columns from the total, and which columns; else to add them."""
    others = sorted(set(range(count)) - set(columns))
    return (True, others) if len(others) < len(columns) else (False, list(columns))


class _Gauge:
    """The distances of targets from published rows in one column."""

    def __init__(
        self, column: JointColumn, order: Ints, targets: Ints, *, of_control: bool
    ) -> None:
        source = column.control if of_control else column.original
        assert source is not None
        self._target = source[targets]
        self._missing = column.cardinality - 1
        self._scaled, self._nearness = column.scaled, column.nearness
        codes = column.published[order]
        self._values: NDArray[Any] = codes
        if self._scaled is not None:
            self._has_missing = bool((codes == self._missing).any())
            self._values = self._scaled[codes]
        elif self._nearness is None and column.cardinality <= 256:
            self._values = codes.astype(np.uint8)
        self._is_missing = codes == self._missing if self._scaled is not None else None

    def measure(self, rows: slice, target: int, out: Singles) -> None:
        """Write the distances of a target from some published rows."""
        values, code = self._values[rows], self._target[target]
        if self._nearness is not None:
            np.take(self._nearness[code], values, out=out)
        elif self._scaled is None:
            np.not_equal(values, values.dtype.type(code), out=out, casting="unsafe")
        elif code == self._missing:
            assert self._is_missing is not None
            np.logical_not(self._is_missing[rows], out=out, casting="unsafe")
        else:
            np.subtract(values, self._scaled[code], out=out)
            np.abs(out, out=out)
            if self._has_missing:
                np.nan_to_num(out, copy=False, nan=1.0)


def distances_between(
    joint: JointTables, targets: Ints, rows: Ints, columns: Sequence[str]
) -> Floats:
    """(targets, rows) The distance of some persons of the original from some published rows."""
    total = np.zeros((len(targets), len(rows)))
    out = np.empty(len(rows), np.float32)
    for column in joint.columns:
        if column.name not in columns:
            continue
        gauge = _Gauge(column, rows, targets, of_control=False)
        for target in range(len(targets)):
            gauge.measure(slice(None), target, out)
            total[target] += out
    return total
