"""The rows of T^S within the sets of groups, beside those that are found one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from discreet.table import assignments
from discreet.table.assignments import Sets, supporting_rows
from discreet.table.kernels.lists import starts_of


def sets_and_signatures(rng: np.random.Generator) -> tuple[Sets, np.ndarray, np.ndarray]:
    """Random sets of values, distinct rows of T^S, and how many values each attribute has."""
    attributes, groups = int(rng.integers(1, 5)), int(rng.integers(0, 30))
    values = rng.integers(1, 9, attributes)  # some of a set may occur in no row
    codes = np.unique(rng.integers(0, values, (int(rng.integers(1, 60)), attributes)), axis=0)
    chosen = [
        np.flatnonzero(rng.random(values[attribute]) < 0.4)
        for attribute in range(attributes)
        for _ in range(groups)
    ]
    start = starts_of(np.array([len(one) for one in chosen], np.int64))
    value = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int32)
    return Sets(start, value, groups), rng.permutation(codes).astype(np.int32), values


def members(sets: Sets, attribute: int, group: int) -> set[int]:
    """Return the values in the set of a group and an attribute."""
    which = attribute * sets.groups + group
    return set(sets.value[sets.start[which] : sets.start[which + 1]].tolist())


def rows_within(sets: Sets, codes: np.ndarray, group: int) -> list[int]:
    """Return the rows of which all values are in the sets of a group."""
    held = [members(sets, attribute, group) for attribute in range(codes.shape[1])]
    return [
        number
        for number, row in enumerate(codes.tolist())
        if all(value in values for value, values in zip(row, held, strict=True))
    ]


@pytest.mark.parametrize("table", [assignments.AT_ONCE, 0])
@pytest.mark.parametrize("limit", [10**6, 5])
@pytest.mark.parametrize("seed", range(25))
def test_supporting_rows_are_those_within_all_sets(seed, limit, table, monkeypatch):
    rng = np.random.default_rng(seed)
    sets, codes, _ = sets_and_signatures(rng)
    known = int(rng.integers(codes.shape[1]))
    monkeypatch.setattr(assignments, "AT_ONCE", table)
    begin, row = supporting_rows(sets, codes, known, limit)
    expected = [
        [number for number in rows_within(sets, codes, group) if codes[number, known] == value]
        for group in range(sets.groups)
        for value in sorted(members(sets, known, group))
    ]
    if sum(map(len, expected)) > limit:
        assert row is None
        return
    found = [sorted(row[low:high].tolist()) for low, high in pairwise(begin)]
    assert found == expected
    assert row.dtype == np.int32
