"""Few values are sorted and looked up in Python, as Polars does it for many."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.io import column_dictionary
from discreet.io.canonical_text import canonical_text
from discreet.table import code_maps
from discreet.table.roles import ValueType

TEXTS = st.lists(st.sampled_from(["", "a", "B", "é", "ab", "z\U0001f600", "\uffff", None]))
NUMBERS = st.lists(
    st.sampled_from(
        ["1", "01", "1.0", "+1", " 1", "2", "-3", "9007199254740993", "9007199254740992", None]
    )
)


def both_orders(text: pl.Series, numbers, canonical, kind: ValueType):
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for small in (len(text), -1):
            patch.setattr(column_dictionary, "SMALL", small)
            order, starts = column_dictionary._order(text, numbers, canonical, kind)
            found.append(([text[int(place)] for place in order], starts.tolist()))
    return found


@given(TEXTS)
def test_texts_have_one_order(texts):
    text = pl.Series(texts, dtype=pl.String)
    small, large = both_orders(text, None, None, ValueType.TEXT)
    assert small == large


@given(NUMBERS, st.booleans())
def test_numbers_have_one_order(texts, merged):
    text = pl.Series(texts, dtype=pl.String)
    numbers = np.array([np.nan if one is None else float(one) for one in texts], np.float64)
    canonical = canonical_text(text, ValueType.NUMBER) if merged else None
    small, large = both_orders(text, numbers, canonical, ValueType.NUMBER)
    assert small == large


@given(st.sets(st.sampled_from(["", "a", "B", "é", None])), TEXTS)
def test_codes_of_texts_are_the_same(known, texts):
    dictionary, asked = pl.Series([*known], dtype=pl.String), pl.Series(texts, dtype=pl.String)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for small in (100, -1):
            patch.setattr(code_maps, "SMALL", small)
            found.append(code_maps.code_of_text(dictionary, asked).tolist())
    assert found[0] == found[1]
