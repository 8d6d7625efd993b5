"""The Hilbert curve by its definition: it visits every cell once, in unit steps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_column, coded_table, hierarchy_from_rows

from discreet.methods.shared.hilbert import curve_keys, hilbert_index, leaf_order


@pytest.mark.parametrize(
    ("dimensions", "bits"),
    [(1, 1), (1, 6), (2, 1), (2, 2), (2, 3), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (7, 1)],
)
def test_curve_visits_every_cell_once_in_unit_steps(dimensions, bits):
    cells = np.array(list(product(range(2**bits), repeat=dimensions)))
    index = hilbert_index(cells, bits)[0].astype(np.int64)
    assert sorted(index) == list(range(len(cells)))
    path = cells[np.argsort(index)]
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


@given(
    dimensions=st.integers(2, 12),
    bits=st.integers(2, 16),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_a_finer_curve_refines_the_coarser_one(dimensions, bits, seed):
    """All cells below one coarse cell follow each other, also where an index needs many words."""
    points = np.random.default_rng(seed).integers(0, 2**bits, (40, dimensions))
    points = np.concatenate((points, points ^ 1))  # neighbours in the same coarse cell
    fine = [tuple(words) for words in hilbert_index(points, bits).T.tolist()]
    order = sorted(range(len(points)), key=lambda number: fine[number])
    coarse = [tuple(cell) for cell in (points >> 1).tolist()]
    seen = []
    for number in order:
        if not seen or seen[-1] != coarse[number]:
            seen.append(coarse[number])
    assert len(seen) == len(set(coarse))
    assert len(set(fine)) == len({tuple(point) for point in points.tolist()})


def test_index_of_many_words_agrees_with_one_word():
    points = np.random.default_rng(3).integers(0, 4, (50, 40))  # 80 bits
    high, low = hilbert_index(points, 2)
    joined = [int(a) << 64 | int(b) for a, b in zip(high, low, strict=True)]
    columns = {f"q{j}": points[:, j].tolist() for j in range(40)}
    table = coded_table(columns)
    coarse = curve_keys(table.quasi_identifiers, {}, 50)  # one bit a column
    assert max(joined) < 2**80
    assert len(set(joined)) == 50
    assert coarse.max() < 2**40


def test_more_columns_than_bits_in_a_word():
    points = np.random.default_rng(4).integers(0, 2, (30, 70))
    table = coded_table({f"q{j}": points[:, j].tolist() for j in range(70)})
    keys = curve_keys(table.quasi_identifiers, {}, 30)
    exact = [tuple(words) for words in hilbert_index(points, 1).T.tolist()]
    assert np.argsort(keys, kind="stable").tolist() == sorted(range(30), key=exact.__getitem__)


def test_nine_people_of_the_paper():
    """Abdalaal (2012), table 43: axes zip then age, 3 bits; the dissertation counts from 1."""
    table = coded_table(
        {
            "zip": [3000, 3500, 4000, 6500, 4500, 5500, 6000, 5000, 6500],
            "age": [20, 25, 25, 30, 35, 40, 45, 50, 55],
        }
    )
    keys = curve_keys(table.quasi_identifiers, {}, 9)
    assert (keys + np.uint64(1)).tolist() == [1, 3, 8, 50, 11, 34, 46, 37, 43]


def test_numbers_lie_by_value_and_missing_ones_at_the_far_end():
    table = coded_table({"age": [10, 11, 90, None]})
    keys = curve_keys(table.quasi_identifiers, {}, 4).tolist()
    assert keys[0] < keys[1] < keys[2] == keys[3]
    assert keys[1] - keys[0] < keys[2] - keys[1]


def test_siblings_are_neighbours():
    column = coded_column("country", ["Chile", "Denmark", "Peru", "Spain"])
    tree = [
        ["Chile", "America", "*"],
        ["Denmark", "Europe", "*"],
        ["Peru", "America", "*"],
        ["Spain", "Europe", "*"],
    ]
    order = leaf_order(column, hierarchy_from_rows(column, tree))
    assert column.text.gather(order).to_list() == ["Chile", "Peru", "Denmark", "Spain"]


def test_degenerate_tables():
    assert curve_keys([], {}, 3).tolist() == [0, 0, 0]
    one_value = coded_table({"age": [7, 7], "sex": ["f", "f"]})
    assert curve_keys(one_value.quasi_identifiers, {}, 2).tolist() == [0, 0]
    nothing = coded_table({"age": [None, None]})
    assert len(set(curve_keys(nothing.quasi_identifiers, {}, 2).tolist())) == 1
