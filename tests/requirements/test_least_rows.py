"""A class with fewer rows or values than a requirement needs at least never passes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.requirements.base import Domain
from discreet.requirements.registry import requirement_from_mapping
from discreet.table.counts import ClassCounts, ValueCounts

REQUIREMENTS = [
    {"k-anonymity": {"k": 4}},
    {"distinct-l-diversity": {"l": 3}},
    {"entropy-l-diversity": {"l": 2.5}},
    {"recursive-cl-diversity": {"c": 2, "l": 3}},
    {"pd-recursive-cl-diversity": {"c": 2, "l": 3, "disclosable": ["a"]}},
    {"p-diversity": {"l": 2.5}},
    {"m-diversity": {"l": 2}},
    {"alpha-k-anonymity": {"alpha": 0.4, "k": 3}},
    {"alpha-k-anonymity": {"alpha": 0.4, "k": 3, "value": "a"}},
    {"t-closeness": {"t": 0.3}},
]


@pytest.mark.parametrize("written", REQUIREMENTS, ids=lambda written: next(iter(written)))
@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
def test_fewer_rows_or_values_fail(written, counts):
    requirement = requirement_from_mapping(written)
    held = np.array(counts)
    occurring = np.flatnonzero(held)
    values = ValueCounts(
        np.array([0, len(occurring)]),
        occurring.astype(np.int32),
        held[occurring],
        4,
        np.array([5, 5, 5, 5]),
    )
    classes = ClassCounts(np.array([held.sum()]), {"s": values})
    domains = {"s": Domain(("a", "b", "c", "d"))}
    if held.sum() < requirement.needs.rows or len(occurring) < requirement.needs.values:
        assert not requirement.passes(classes, domains).any()


def test_what_is_known_of_values():
    known = [requirement_from_mapping(written).needs.values for written in REQUIREMENTS]
    assert known == [1, 3, 3, 3, 1, 3, 2, 3, 1, 1]
    inner = {"multi-attribute-l-diversity": {"inner": {"entropy-l-diversity": {"l": 2.5}}}}
    assert requirement_from_mapping(inner).needs.values == 3
