"""The bound on the rows that have to go: never too great, and never greater after a merge."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.requirements.base import Domain, Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity
from discreet.requirements.judge import least_removed
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.roles import Distance

VALUES = 3

REQUIREMENTS = [
    KAnonymity(k=3),
    DistinctLDiversity(l=2),
    EntropyLDiversity(l=1.9),
    EntropyLDiversity(l=2.6),
    TCloseness(t=0.1),
    TCloseness(t=0.3),
]

Row = tuple[int, ...]  # how often each value occurs in a class

rows = st.tuples(*[st.integers(0, 3)] * VALUES).filter(any)


def counts_of(classes: list[Row]) -> ClassCounts:
    occurs = [[v for v in range(VALUES) if row[v]] for row in classes]
    start = np.cumsum([0, *map(len, occurs)])
    value = np.array([v for of_class in occurs for v in of_class], np.int32)
    count = np.array([row[v] for row, vs in zip(classes, occurs, strict=True) for v in vs])
    size = np.array([sum(row) for row in classes])
    return ClassCounts(size, {"s": ValueCounts(start, value, count, VALUES)})


@pytest.mark.parametrize("distance", [Distance.EQUAL, Distance.ORDERED])
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
@settings(max_examples=10, deadline=None)
@given(first=rows, second=rows, share=st.sampled_from([0.1, 0.3, 0.5]))
def test_no_smaller_removal_lets_the_rest_pass(
    requirement: Requirement, distance: Distance, first: Row, second: Row, share: float
) -> None:
    domains = {"s": Domain(("a", "b", "c"), distance)}
    least = least_removed(requirement, counts_of([first, second]), domains, share)[0]
    total = sum(first) + sum(second)
    for kept in product(*(range(n + 1) for n in (*first, *second))):
        mine, other = kept[:VALUES], kept[VALUES:]
        if not any(mine) or total - sum(kept) > share * total:
            continue
        table = counts_of([mine, other] if any(other) else [mine])
        if requirement.passes(table, domains)[0]:
            assert sum(first) - sum(mine) >= least - 1e-6


@pytest.mark.parametrize("distance", [Distance.EQUAL, Distance.ORDERED])
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
@settings(max_examples=40, deadline=None)
@given(classes=st.lists(rows, min_size=2, max_size=5), share=st.sampled_from([0.0, 0.1, 0.3]))
def test_a_merged_class_needs_no_more_than_its_parts(
    requirement: Requirement, distance: Distance, classes: list[Row], share: float
) -> None:
    domains = {"s": Domain(("a", "b", "c"), distance)}
    apart = least_removed(requirement, counts_of(classes), domains, share)
    merged = tuple(a + b for a, b in zip(classes[0], classes[1], strict=True))
    joined = least_removed(requirement, counts_of([merged, *classes[2:]]), domains, share)
    assert joined[0] <= apart[0] + apart[1] + 1e-6
    assert joined.sum() <= apart.sum() + 1e-6
