"""Cells of classes: they cover the class's own values, and no more than they must."""

from __future__ import annotations

from datetime import date

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_column, hierarchy_from_rows

from discreet.algorithms.tightening import cells_of_classes

TREE = [
    ["Chile", "America", "*"],
    ["Denmark", "Europe", "*"],
    ["Peru", "America", "*"],
    ["Spain", "Europe", "*"],
]


def labels(column, class_of_row, hierarchy=None):
    of_row = np.array(class_of_row, np.int32)
    cells = cells_of_classes(of_row, int(of_row.max()) + 1, column, hierarchy)
    return [cells.labels[cell] for cell in cells.cell_of_class], [
        float(cells.loss[cell]) for cell in cells.cell_of_class
    ]


def test_numbers_become_ranges():
    column = coded_column("age", [20, 25, 25, 30, 60])
    assert labels(column, [0, 0, 1, 1, -1]) == (["[20, 25]", "[25, 30]"], [0.125, 0.125])
    assert labels(column, [0, 1, 1, 0, 2]) == (["[20, 30]", "25", "60"], [0.25, 0.0, 0.0])


def test_dates_become_ranges():
    column = coded_column("born", [date(2000, 1, 1), date(2000, 3, 1), date(2001, 1, 1)])
    assert labels(column, [0, 0, 1])[0] == ["[2000-01-01, 2000-03-01]", "2001-01-01"]


def test_a_missing_number_makes_a_set_or_stays_missing():
    column = coded_column("age", [20, None, None, None, 30, 40])
    assert labels(column, [0, 0, 1, 1, 2, 2])[0] == ['{20, ""}', None, "[30, 40]"]
    assert labels(column, [0, 0, 0, 0, 0, 0])[0] == ["*"]


def test_texts_without_hierarchy_become_sets():
    column = coded_column("city", ["a", "b, c", None, "d", "a"])
    assert labels(column, [0, 0, 1, 1, 2])[0] == ['{a, "b, c"}', '{d, ""}', "a"]
    assert labels(column, [0, 0, 0, 0, 0]) == (["*"], [1.0])


def test_texts_with_a_hierarchy_become_the_lowest_common_ancestor():
    column = coded_column("country", ["Chile", "Peru", "Spain", "Denmark", "Spain", "Spain"])
    tree = hierarchy_from_rows(column, TREE)
    found, loss = labels(column, [0, 0, 1, 1, 2, 2], tree)
    assert found == ["America", "Europe", "Spain"]
    assert loss == [1 / 3, 1 / 3, 0.0]
    assert labels(column, [0, 1, 0, 1, 1, 0], tree) == (["*", "*"], [1.0, 1.0])


def test_without_a_common_ancestor_all_is_suppressed():
    column = coded_column("country", ["Chile", "Spain"])
    forest = hierarchy_from_rows(column, [["Chile", "America"], ["Spain", "Europe"]])
    assert labels(column, [0, 0], forest) == (["*"], [1.0])


@given(
    cells=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c", "d", None])),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_sets_are_those_of_plain_python(cells):
    numbers = {number: place for place, number in enumerate(sorted({n for n, _ in cells}))}
    column = coded_column("q", [value for _, value in cells])
    found, _ = labels(column, [numbers[n] for n, _ in cells])
    everything = {value for _, value in cells}
    for number, place in numbers.items():
        inside = {value for n, value in cells if n == number}
        ordered = sorted(inside - {None}) + ([None] if None in inside else [])
        if len(inside) == 1:
            expected = ordered[0]
        elif inside == everything:
            expected = "*"
        else:
            expected = "{" + ", ".join('""' if v is None else v for v in ordered) + "}"
        assert found[place] == expected
