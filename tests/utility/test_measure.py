from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tables import coded_column, coded_table, hierarchy_from_rows

from discreet.errors import InputError
from discreet.releases.kinds.generalized import read_generalized
from discreet.utility.queries import QueryWorkload


def test_a_release_by_hand():
    original = coded_table(
        {
            "age": [20, 25, 30, 40, 60],
            "land": ["be", "de", "cn", "cn", "jp"],
            "ill": ["flu", "flu", "gout", "flu", "gout"],
        },
        "qqs",
    )
    rows = [["be", "Europe", "*"], ["de", "Europe", "*"], ["cn", "Asia", "*"]]
    rows += [["jp", "Asia", "*"], ["vn", "Asia", "*"]]
    published = coded_table(
        {
            "age": ["[20, 25]", "[20, 25]", "[30, 90)", "[30, 90)"],
            "land": ["Europe", "Europe", "Asia", "Asia"],
            "ill": ["flu", "flu", "gout", "*"],
        },
        "qqs",
    )
    hierarchies = {"land": hierarchy_from_rows(original["land"], rows)}
    measures = read_generalized(original, hierarchies, published, 1).measured()
    assert measures.structure.classes == 2
    assert measures.structure.class_size == 2.5
    assert measures.structure.discernibility == 4 + 4 + 5
    assert measures.structure.height is None
    assert measures.loss_by_attribute["age"] == pytest.approx((5 / 40 * 2 + 30 / 40 * 2 + 1) / 5)
    assert measures.loss_by_attribute["land"] == pytest.approx((1 / 4 * 2 + 2 / 4 * 2 + 1) / 5)
    assert measures.loss_by_sensitive["ill"] == pytest.approx((1 + 1) / 5)
    age = 2 * math.log2(2) + 2 * math.log2(3) + math.log2(5)
    land = 2 * math.log2(2) + 2 * math.log2(3) + math.log2(5) - 2 * math.log2(2)
    assert measures.entropy == pytest.approx(age + land)


def test_the_original_itself_loses_nothing():
    table = coded_table(
        {"age": [1, 2, 2, None], "job": ["a", None, "b", "b"], "ill": ["x", "y", "x", "x"]}, "qqs"
    )
    measures = read_generalized(table, {}, table, 0).measured(QueryWorkload(queries=60))
    figures = measures.to_dict()
    assert figures["loss"] == figures["loss_sensitive"] == 0
    assert figures["entropy"] == pytest.approx(0)
    assert figures["query_error"]["median"] == pytest.approx(0)
    assert figures["query_error"]["mean"] == pytest.approx(0)
    assert figures["query_error"]["unlinked"]["mean"] > 0.01


def test_everything_suppressed():
    original = coded_table({"age": [1, 2, 3], "ill": ["x", "y", "x"]}, "qs")
    nothing = original.take(original["age"].codes[:0])
    measures = read_generalized(original, {}, nothing, 3).measured(QueryWorkload(queries=5))
    figures = measures.to_dict()
    assert "classes              0\n" in str(measures)
    assert figures["loss"] == 1
    assert figures["classes"] == 0
    assert "class_size" not in figures
    assert figures["discernibility"] == 9
    assert figures["entropy"] == pytest.approx(3 * math.log2(3))


def test_an_empty_table():
    empty = coded_table({"age": [], "ill": []}, "qs")
    figures = read_generalized(empty, {}, empty, 0).measured(QueryWorkload()).to_dict()
    assert figures["loss"] == figures["entropy"] == figures["discernibility"] == 0
    assert "query_error" not in figures


def test_levels_give_the_height():
    table = coded_table({"age": [1, 2], "job": ["a", "b"]})
    reading = read_generalized(table, {}, table, 0, {"age": 2, "job": 1})
    assert reading.measured().to_dict()["height"] == 3


def test_rows_and_columns_must_belong_together():
    original = coded_table({"age": [1, 2], "job": ["a", "b"]})
    with pytest.raises(InputError, match="has 2 rows and 1 suppressed, the original 2"):
        read_generalized(original, {}, original, 1)
    with pytest.raises(InputError, match="lacks 1 columns of the original: job"):
        read_generalized(original, {}, coded_table({"age": [1, 2]}), 0)


def test_a_label_of_the_hierarchy_wins_over_the_width_of_its_range():
    column = coded_column("age", ["1", "2", "3"])
    rows = [["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"], ["3", "[3, 3]", "*"]]
    original = coded_table({"age": ["1", "2", "3"]})
    published = coded_table({"age": ["[1, 2]", "[1, 2]", "[3, 3]"]})
    hierarchies = {"age": hierarchy_from_rows(column, rows)}
    reading = read_generalized(original, hierarchies, published, 0)
    assert reading.measures.loss == pytest.approx(1 / 3)


def test_cells_that_no_row_has_do_not_matter():
    original = coded_table({"age": [1, 2, 3], "ill": ["x", "y", "x"]}, "qs")
    published = coded_table({"age": ["[1, 3]", "[1, 3]", "[7, 9]"], "ill": ["x", "y", "x"]}, "qs")
    reading = read_generalized(original, {}, published.take(np.array([0, 1])), 1)
    assert reading.measured().loss == 1


def test_a_sensitive_value_that_reads_like_a_label_is_exact():
    original = coded_table({"age": [1, 2, 3], "ill": ["gut", "ulcer", "gut"]}, "qs")
    hierarchy = hierarchy_from_rows(original["ill"], [["gut", "gut"], ["ulcer", "gut"]])
    reading = read_generalized(original, {"ill": hierarchy}, original, 0)
    assert reading.measures.loss_by_sensitive == {"ill": 0}


def test_attributes_with_very_many_values_are_asked_in_small_batches():
    rows = 70_000
    original = coded_table({"pay": list(range(rows)), "ill": ["x", "y"] * (rows // 2)}, "qs")
    workload = QueryWorkload(queries=260)
    batches = list(workload.batches(original, np.random.default_rng(0)))
    assert [len(batch.number) for batch in batches] == [239, 21]
    errors = read_generalized(original, {}, original, 0).measured(workload).query_error
    assert errors is not None
    assert errors.release.mean == pytest.approx(0)
