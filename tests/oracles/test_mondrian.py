"""Mondrian against all partitions of tiny tables, and against itself in the plainest Python."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_table, hierarchy_from_rows

from discreet.errors import InfeasibleError
from discreet.methods.base import Task
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity

TREE = [  # leaf, level 1, top
    ["a", "ab", "*"],
    ["b", "ab", "*"],
    ["c", "cd", "*"],
    ["d", "cd", "*"],
]
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcd"), st.integers(0, 4), st.sampled_from("xyz"), st.sampled_from("uv")
    ),
    min_size=1,
    max_size=7,
)


def task_of(rows, requirements):
    table = coded_table(
        {
            "letter": [row[0] for row in rows],
            "number": [row[1] for row in rows],
            "s": [row[2] for row in rows],
            "v": [row[3] for row in rows],
        },
        "qqss",
    )
    tree = hierarchy_from_rows(table["letter"], TREE)
    return Task(table, {"letter": tree}, requirements, np.random.default_rng(0))


def all_partitions(rows):
    """Every partition of the rows, as lists of lists of row numbers."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for partition in all_partitions(rest):
        yield [[first], *partition]
        for i, part in enumerate(partition):
            yield [*partition[:i], [first, *part], *partition[i + 1 :]]


def passes(part, rows, requirement):
    """Whether a class keeps a requirement, by its definition."""
    values = Counter(rows[i][2] for i in part)
    if isinstance(requirement, KAnonymity):
        return len(part) >= requirement.k
    if isinstance(requirement, DistinctLDiversity):
        return len(values) >= requirement.l
    assert isinstance(requirement, TCloseness)
    overall = Counter(row[2] for row in rows)
    distance = sum(
        abs(Fraction(values[v], len(part)) - Fraction(overall[v], len(rows))) for v in overall
    )
    return distance / 2 <= Fraction(str(requirement.t))


def loss_of(partition, rows):
    """The mean loss of the tightest cells of a partition."""
    numbers = [row[1] for row in rows]
    span = max(max(numbers) - min(numbers), 1)
    total = Fraction(0)
    for part in partition:
        letters = {rows[i][0] for i in part}
        leaves = 1 if len(letters) == 1 else 2 if letters <= {*"ab"} or letters <= {*"cd"} else 4
        inside = [rows[i][1] for i in part]
        width = Fraction(max(inside) - min(inside), span)
        total += len(part) * (Fraction(leaves - 1, 3) + width)
    return total / (2 * len(rows))


def published_loss(outcome):
    size = np.bincount(outcome.class_of_row)
    by_column = [cells.loss[cells.cell_of_class] @ size for cells in outcome.cells.values()]
    return sum(by_column) / (size.sum() * len(by_column))


@settings(max_examples=60, deadline=None)
@given(
    ROWS,
    st.integers(1, 3),
    st.one_of(
        st.none(),
        st.builds(DistinctLDiversity, l=st.integers(1, 3), attribute=st.just("s")),
        st.builds(TCloseness, t=st.sampled_from([0.1, 0.3, 0.5]), attribute=st.just("s")),
    ),
    st.sampled_from(["strict", "relaxed"]),
)
def test_never_better_than_the_best_partition_and_feasible_where_any_is(rows, k, more, cuts):
    requirements = [KAnonymity(k=k), *([] if more is None else [more])]
    sound = [
        partition
        for partition in all_partitions(range(len(rows)))
        if all(passes(part, rows, r) for part in partition for r in requirements)
    ]
    try:
        outcome = Mondrian(cuts=cuts).run(task_of(rows, requirements))
    except InfeasibleError as error:
        assert not sound
        assert {f["requirement"] for f in error.failures} <= {r.name for r in requirements}
        assert error.failures
        return
    found = [np.flatnonzero(outcome.class_of_row == c).tolist()
             for c in range(outcome.class_of_row.max() + 1)]  # fmt: skip
    assert all(passes(part, rows, r) for part in found for r in requirements)
    assert published_loss(outcome) == pytest.approx(float(loss_of(found, rows)))
    assert published_loss(outcome) >= min(loss_of(p, rows) for p in sound) - 1e-9


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 3))
def test_no_class_could_be_cut_at_its_median(rows, k):
    """With k alone, the most balanced cut of every class leaves a side that is too small."""
    outcome = Mondrian().run(task_of(rows, [KAnonymity(k=k)])) if len(rows) >= k else None
    if outcome is None:
        return
    for c in range(outcome.class_of_row.max() + 1):
        numbers = sorted(rows[i][1] for i in np.flatnonzero(outcome.class_of_row == c))
        for i in range(1, len(numbers)):
            assert numbers[i - 1] == numbers[i] or i < k or len(numbers) - i < k


@settings(max_examples=40, deadline=None)
@given(ROWS, st.permutations(range(7)), st.sampled_from([1, 1.5, 2]))
def test_the_order_of_rows_does_not_matter_to_strict_cuts(rows, order, ell):
    requirements = [
        EntropyLDiversity(l=ell, attribute="s"),
        MultiAttributeLDiversity(l=1, attribute="s"),
    ]
    shuffled = [rows[i] for i in order if i < len(rows)]
    results = []
    for table in (rows, shuffled):
        try:
            outcome = Mondrian().run(task_of(table, requirements))
        except InfeasibleError:
            results.append(None)
            continue
        cells = [
            (*(column.labels[column.cell_of_class[c]] for column in outcome.cells.values()), row)
            for c, row in zip(outcome.class_of_row, table, strict=True)
        ]
        results.append(Counter(cells))
    assert results[0] == results[1]
