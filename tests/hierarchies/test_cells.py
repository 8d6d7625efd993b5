"""Cells that are read many at once and one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.hierarchies.cells import Range, parse_cell, range_cells, range_labels
from discreet.hierarchies.coverage import Coverage

TEXT = st.text("[](), 12a", max_size=9)


@given(st.lists(st.none() | TEXT | st.builds("[{}, {}{}".format, TEXT, TEXT, st.sampled_from("])")))
       )  # fmt: skip
@example(["[1, 2)", "[1,2]", "[ 1 , 2 )", "[1, 2)]", "[1, )", "[1,)", "[ , 2]", "[1, 2, 3]", "[1"])
def test_ranges_that_are_read_together_are_those_that_are_read_alone(cells):
    read = range_cells(pl.Series(cells, dtype=pl.String))
    found = zip(
        read.cell.tolist(), read.low.to_list(), read.high.to_list(), read.closed.tolist(),
        strict=True,
    )  # fmt: skip
    parsed = [(n, parse_cell(cell)) for n, cell in enumerate(cells) if cell is not None]
    alone = [
        (n, one.low.strip(), one.high.strip(), one.closed)
        for n, one in parsed
        if isinstance(one, Range)
    ]
    assert list(found) == alone


def test_ranges_that_are_written_together_are_read_again():
    low, high = pl.Series(["1", "2020-01-31", "-3.5"]), pl.Series(["20", "2021-02-01", "0"])
    for n, label in enumerate(range_labels(low, high)):
        assert parse_cell(label) == Range(low[n], high[n], closed=True)


def test_a_coverage_is_exact_where_every_cell_has_one_run_of_one_value() -> None:
    def covers(cell_of_run: list[int], low: list[int], high: list[int]) -> Coverage:
        return Coverage(2, 3, *(np.array(one, np.int64) for one in (cell_of_run, low, high)))

    assert covers([0, 1], [0, 2], [1, 3]).is_exact
    assert covers([0, 1], [0, 2], [1, 2]).is_exact  # the last covers none
    assert not covers([0, 1], [0, 1], [1, 3]).is_exact
    assert not covers([0, 0], [0, 2], [1, 3]).is_exact  # two runs, and none
