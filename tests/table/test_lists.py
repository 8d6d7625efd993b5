"""Operations on lists of entries, beside plain Python."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.methods.msa_diversity import unplaced_rows
from discreet.table.kernels.lists import distinct_values


@given(st.lists(st.integers(-5, 300)), st.sampled_from([np.int16, np.int32, np.int64]))
def test_distinct_values_are_those_of_a_set(values: list[int], kind: type[np.integer]) -> None:
    assert distinct_values(np.array(values, kind)).tolist() == sorted(set(values))


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 200))))
def test_distinct_codes_are_counted_for_each_group(pairs: list[tuple[int, int]]) -> None:
    group = np.array([one for one, _ in pairs], np.int32)
    code = np.array([other for _, other in pairs], np.int64)
    wanted = [len({other for one, other in pairs if one == number}) for number in range(5)]
    with patch.object(unplaced_rows, "STRETCH", 3):
        assert unplaced_rows.distinct_codes(group, code, 5).tolist() == wanted
