"""The values of a dictionary have one order, and each text has one code."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from discreet.io import column_dictionary
from discreet.io.column_dictionary import canonical_text
from discreet.table import code_maps
from discreet.table.coded_table import exact_value
from discreet.table.roles import ValueType

TEXTS = st.lists(st.sampled_from(["", "a", "B", "é", "ab", "z\U0001f600", "\uffff", None]))
NUMBERS = st.lists(
    st.sampled_from(
        ["1", "01", "1.0", "+1", " 1", "2", "-3", "9007199254740993", "9007199254740992", None]
    )
)


def ordered(text, numbers=None, canonical=None, kind=ValueType.TEXT):
    order, starts = column_dictionary._order(text, numbers, canonical, kind)
    return [text[int(place)] for place in order], starts.tolist()


def begins(keys):
    return [place == 0 or key != keys[place - 1] for place, key in enumerate(keys)]


@given(TEXTS)
def test_texts_are_sorted_with_missing_ones_last(texts):
    expected = sorted(texts, key=lambda text: (text is None, text or ""))
    assert ordered(pl.Series(texts, dtype=pl.String)) == (expected, begins(expected))


@given(NUMBERS, st.booleans())
def test_numbers_are_sorted_by_exact_value_then_by_length(texts, merged):
    text = pl.Series(texts, dtype=pl.String)
    numbers = np.array([np.nan if t is None else float(t) for t in texts], np.float64)
    canonical = canonical_text(text, ValueType.NUMBER) if merged else None
    places, starts = ordered(text, numbers, canonical, ValueType.NUMBER)
    known = [t for t in texts if t is not None]
    exact = {t: exact_value(t.strip(), ValueType.NUMBER) for t in known}
    expected = sorted(known, key=lambda t: (exact[t], len(t), t))
    assert places == expected + [None] * (len(texts) - len(known))
    values = [exact[t] if merged else t for t in expected]
    assert starts == begins([*values, *([None] * (len(texts) - len(known)))])


@given(st.sets(st.sampled_from(["", "a", "B", "é", None])), TEXTS)
def test_a_text_has_its_place_in_the_dictionary(known, texts):
    dictionary, asked = pl.Series([*known], dtype=pl.String), pl.Series(texts, dtype=pl.String)
    place = {text: code for code, text in enumerate(dictionary.to_list())}
    expected = [place.get(text, -1) for text in texts]
    assert code_maps.code_of_text(dictionary, asked).tolist() == expected
