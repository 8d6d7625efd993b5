"""Cells that are integers get the codes that their texts get."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.io.csv import numbered_cells
from discreet.io.csv.numbered_cells import NumberedCells

PLAIN = st.sampled_from(["0", "7", "12", "4000", None])
ANY = st.sampled_from(["0", "7", "007", "+7", "-7", " 7", "1e3", "x", "99999999999999999999", None])


def texts_of(cells: NumberedCells) -> list[str | None]:
    """The text of each row, read from codes."""
    numbers, distinct = cells.distinct(empty=None)
    codes = cells.recoded(numbers, np.arange(len(numbers), dtype=np.int32))
    assert distinct.n_unique() == len(distinct)
    return distinct.gather(codes).to_list()


@given(st.lists(st.lists(PLAIN, min_size=1) | st.lists(ANY, min_size=1), min_size=1), st.data())
def test_integers_that_are_looked_up_keep_their_texts(pieces, data):
    cells = NumberedCells(integers=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_cells, "PROBED", 1)
        patch.setattr(numbered_cells, "LOOKED_UP", data.draw(st.sampled_from([10, 10_000])))
        for piece in pieces:
            cells.in_doubt |= data.draw(st.booleans())
            cells.add(pl.Series(piece, dtype=pl.String))
    assert texts_of(cells) == [cell for piece in pieces for cell in piece]


def test_few_distinct_integers_are_read_as_categories():
    cells = NumberedCells(integers=True)
    assert cells.dtype == pl.String
    cells.add(pl.Series(["1", "2", None] * 10))
    assert isinstance(cells.dtype, pl.Categorical)
    many = NumberedCells(integers=True)
    many.add(pl.Series(range(5000)).cast(pl.String))
    assert many.dtype == pl.String
