"""Counts of bucketized tables, beside counting row by row."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tables import coded_table

from discreet.methods.base import Task
from discreet.releases.kinds.bucketized import count_groups, moved_rows
from discreet.table.code_maps import excess
from discreet.table.roles import Role


def tables_of(entries, people):
    """A table of counted values (group, value, count) and one of people in groups."""
    columns = {"group": [str(g) for g, _, _ in entries], "s": [v for _, v, _ in entries]}
    columns["count"] = [str(c) for _, _, c in entries]
    places = {"a": list(range(len(people))), "group": [str(g) for g in people]}
    return structured(coded_table(places, "qi")), structured(coded_table(columns, "isi"))


def structured(table):
    """The table with insensitive columns as those that the release made."""
    columns = {
        c.name: replace(c, role=Role.STRUCTURE) if c.role is Role.INSENSITIVE else c for c in table
    }
    return replace(table, columns=columns)


def test_values_of_groups_are_counted_as_row_by_row():
    rng = np.random.default_rng(2)
    entries = [
        (int(rng.integers(1, 6)), "xyz"[rng.integers(0, 3)], int(rng.integers(1, 4)))
        for _ in range(30)
    ]
    _, sensitive = tables_of(entries, [1])
    counts = count_groups(sensitive).values["s"]
    found = {}
    for group, text in enumerate(sensitive["group"].text.to_list()):
        for place in range(counts.start[group], counts.start[group + 1]):
            found[int(text), "xyz"[counts.value[place]]] = int(counts.count[place])
    expected: dict = {}
    for group, value, count in entries:
        expected[group, value] = expected.get((group, value), 0) + count
    assert found == expected


@pytest.mark.parametrize(
    ("entries", "moved"),
    [
        ([(1, "x", 1), (1, "y", 1), (2, "x", 2)], 0),
        ([(1, "x", 1), (1, "y", 1), (2, "x", 1), (2, "x", 1)], 0),
        ([(1, "x", 0), (1, "y", 2), (2, "x", 2)], 1),
        ([(1, "x", 2), (2, "y", 1), (2, "x", 1)], 2),
        ([(1, "x", 1), (1, "y", 1), (2, "x", 1), (2, "y", 1)], 1),
    ],
)
def test_rows_that_are_not_counted_in_their_group_are_moved(entries, moved):
    people, sensitive = tables_of(entries, [1, 1, 2, 2])
    original = coded_table({"a": [0, 1, 2, 3], "s": ["x", "y", "x", "x"]}, "qs")
    task = Task(original, {}, (), np.random.default_rng(0))
    problems = moved_rows(people, sensitive, task, people["group"].codes)
    expected = [f"{moved} rows are in a group without their own sensitive row"] if moved else []
    assert problems == expected


def test_the_excess_of_few_combinations_is_that_of_many():
    rng = np.random.default_rng(3)
    some = [rng.integers(0, 3, 50).astype(np.int32) for _ in range(2)]
    others = [rng.integers(0, 3, 40).astype(np.int32) for _ in range(2)]
    weights = rng.integers(1, 4, 40)
    assert excess(some, others, [3, 3], None, weights) == excess(
        some, others, [3, 10**6], None, weights
    )
