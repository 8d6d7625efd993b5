"""Counts of values by class: by addressing, sorting or merging."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import coded_table

from discreet.table import counts
from discreet.table.classes import classes_of
from discreet.table.counts import count_values


@pytest.mark.parametrize(("sparse", "fewest"), [(10**6, 1), (0, 0), (0, 10**6)])
@given(rows=st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1))
def test_values_are_counted_in_each_class(rows, sparse, fewest):
    table = coded_table({"q": [q for q, _ in rows], "s": [s for _, s in rows]}, "qs")
    classes = classes_of([table["q"]], table.rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "SPARSE", sparse)
        patch.setattr(counts, "FEWEST", fewest)
        found = count_values(classes, table["s"])
    pairs = zip(classes.class_of_row.tolist(), table["s"].codes.tolist(), strict=True)
    expected = sorted(Counter(pairs).items())
    entries = zip(found.class_of_entry.tolist(), found.value.tolist(), strict=True)
    assert list(zip(entries, found.count.tolist(), strict=True)) == expected
    assert found.one_each == (np.bincount(found.class_of_entry).tolist() == [1] * classes.count)
