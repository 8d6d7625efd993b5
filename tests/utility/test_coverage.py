from __future__ import annotations

from datetime import date
from itertools import combinations

import numpy as np
import pytest
from tests.tables import coded_column, hierarchy_from_rows

from discreet.errors import InputError
from discreet.hierarchies.cells import set_cell
from discreet.hierarchies.coverage import cover, identity
from discreet.table.roles import Role


def covered(column, cell, hierarchy=None, level=None):
    row = cover(column, [cell], hierarchy, level).matrix()[0]
    return [value for value, inside in zip(column.text.to_list(), row, strict=True) if inside]


AGES = coded_column("age", [20, 25, 30, 35, None])


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("25", ["25"]),
        (None, [None]),
        ("*", ["20", "25", "30", "35", None]),
        ("[20, 30)", ["20", "25"]),
        ("[20, 30]", ["20", "25", "30"]),
        ("[0, 99]", ["20", "25", "30", "35"]),
        ("[22.5, 31)", ["25", "30"]),
        ("{20, 35}", ["20", "35"]),
        ('{20, ""}', ["20", None]),
    ],
)
def test_cells_of_a_numeric_column(cell, values):
    assert covered(AGES, cell) == values


def test_dates():
    column = coded_column("born", [date(1969, 12, 31), date(1970, 1, 1), date(1980, 6, 30)])
    assert covered(column, "[1960-01-01, 1970-01-01)") == ["1969-12-31"]
    assert covered(column, "[1970-01-01, 1980-06-30]") == ["1970-01-01", "1980-06-30"]
    assert covered(column, "[1970-01-01, 1980-06-30)") == ["1970-01-01"]


def test_sets_of_awkward_text():
    column = coded_column("job", ["a, b", 'c"d', "e", None])
    assert covered(column, '{"a, b", "c""d", ""}') == ["a, b", 'c"d', None]


def test_escaped_cells():
    column = coded_column("sign", ["*", "\\*", "\\plain", "plain"])
    assert covered(column, "\\*") == ["*"]
    assert covered(column, "\\\\*") == ["\\*"]
    assert covered(column, "\\plain") == ["\\plain"]  # needs no backslash, so it is its own
    assert covered(column, "*") == ["*", "\\*", "\\plain", "plain"]
    assert covered(column, "{\\*, \\\\*}") == ["*", "\\*"]


def test_cells_of_a_dictionary_that_is_escaped_already():
    """As an audit with the original has it: '*' and '\\*' became '\\*' and '\\\\*'."""
    column = coded_column("sign", ["\\*", "\\\\*", "plain"])
    assert covered(column, "\\*") == ["\\*"]
    assert covered(column, "\\\\*") == ["\\\\*"]
    assert covered(column, "{\\\\*, plain}") == ["\\\\*", "plain"]


def test_ancestors_cover_the_leaves_below_them():
    column = coded_column("land", ["be", "cn", "de", "jp"])
    rows = [["be", "Europe", "*"], ["cn", "Asia", "*"], ["de", "Europe", "*"]]
    rows += [["jp", "Asia", "*"], ["vn", "Asia", "*"]]
    hierarchy = hierarchy_from_rows(column, rows)
    assert covered(column, "Europe", hierarchy) == ["be", "de"]
    assert covered(column, "Asia", hierarchy) == ["cn", "jp"]
    assert covered(column, "cn", hierarchy) == ["cn"]
    assert covered(column, "{be, jp}", hierarchy) == ["be", "jp"]


def test_a_label_on_two_levels_is_read_on_both_unless_the_level_is_known():
    column = coded_column("job", ["other", "cook"])
    hierarchy = hierarchy_from_rows(column, [["other", "other", "*"], ["cook", "other", "*"]])
    assert covered(column, "other", hierarchy) == ["cook", "other"]
    assert covered(column, "other", hierarchy, level=0) == ["other"]
    assert covered(column, "other", hierarchy, level=1) == ["cook", "other"]


def test_unknown_cells_are_named_for_quasi_identifiers_only():
    with pytest.raises(InputError, match=r"'age': 2 of 3 published cells.*: 77, \[50, 60\)\. "):
        cover(AGES, ["77", "25", "[50, 60)"])
    with pytest.raises(InputError) as raised:
        cover(coded_column("disease", ["flu"], Role.SENSITIVE), ["plague"])
    assert "plague" not in str(raised.value)


def test_sums_and_shares_agree_with_the_matrix():
    column = coded_column("x", list("abcdefgh"))
    coverage = cover(column, ["*", "{a, c, d, h}", "e", "{b, f}"])
    matrix = coverage.matrix()
    weight = np.arange(8) + 1
    assert coverage.sums(weight).tolist() == (matrix @ weight).tolist()
    member = np.random.default_rng(1).random((8, 5)) < 0.5
    expected = (matrix @ member.astype(int)) / matrix.sum(axis=1)[:, None]
    assert np.allclose(coverage.shares(member), expected)
    assert (identity(column).matrix() == np.eye(8, dtype=bool)).all()


def test_many_cells_over_many_values_stay_small():
    column = coded_column("income", list(range(40_000)))
    cells = [f"[{low}, {low + 20_000})" for low in range(4_000)]
    coverage = cover(column, cells)
    assert len(coverage.low) == 4_000
    assert (coverage.size == 20_000).all()


def test_a_set_covers_its_members_that_the_original_has():
    values = ["10", "9", "a", "b c", "d, e", "\\f", "g\x1c", "h", None]
    column = coded_column("job", values)
    members = {
        set_cell(chosen): {value for value in chosen if value != "unknown"}
        for length in range(1, len(values))
        for chosen in combinations([*values[::-1], "unknown"], length)
        if chosen != ("unknown",)
    }
    members |= {"{a,h}": {"a", "h"}, "{ a ,  h }": {"a", "h"}, "{h, a, a}": {"a", "h"}}
    matrix = cover(column, list(members)).matrix()
    text = np.array(column.text.to_list(), dtype=object)
    for row, (cell, expected) in zip(matrix, members.items(), strict=True):
        assert set(text[row]) == expected, cell


def test_a_set_that_is_a_label_is_read_as_the_label():
    column = coded_column("job", ["a", "b", "c"])
    hierarchy = hierarchy_from_rows(column, [["a", "{a, b}"], ["b", "{a, b}"], ["c", "{b, c}"]])
    assert covered(column, "{b, c}", hierarchy) == ["c"]
    assert covered(column, "{a, c}", hierarchy) == ["a", "c"]
