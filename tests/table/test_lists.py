"""Operations on lists of entries, beside plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.table.kernels.lists import distinct_values


@given(st.lists(st.integers(-5, 300)), st.sampled_from([np.int16, np.int32, np.int64]))
def test_distinct_values_are_those_of_a_set(values: list[int], kind: type[np.integer]) -> None:
    assert distinct_values(np.array(values, kind)).tolist() == sorted(set(values))
