from __future__ import annotations

import numpy as np
import pytest
from made_hierarchies import ADAPTER, build, column, paths
from pydantic import ValidationError

from discreet.errors import HierarchyError
from discreet.hierarchies.hierarchy import ambiguous_labels
from discreet.table.roles import Role, ValueType

INTEGER, NUMBER, DATE = ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE


def problems(spec: object) -> str:
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(spec)
    return "; ".join(error["msg"] for error in caught.value.errors())


def test_suppress_has_one_level_above_the_values_and_takes_null() -> None:
    hierarchy = build("suppress", column(["a", "b", None]))
    assert paths(hierarchy) == [["a", "*"], ["b", "*"], [None, "*"]]
    assert hierarchy.levels[1].loss.tolist() == [1.0]
    assert hierarchy.levels[1].leaves.tolist() == [3]


def test_a_suppressed_cell_costs_1_even_where_there_is_one_value() -> None:
    assert build("suppress", column(["a"])).levels[1].loss.tolist() == [1.0]


def test_intervals_are_the_given_widths_and_no_more() -> None:
    hierarchy = build({"intervals": [5, 10]}, column(["17", "20", "24", "25", None], INTEGER))
    assert paths(hierarchy) == [
        ["17", "[15, 20)", "[10, 20)"],
        ["20", "[20, 25)", "[20, 30)"],
        ["24", "[20, 25)", "[20, 30)"],
        ["25", "[25, 30)", "[20, 30)"],
        [None, None, None],
    ]
    # Clipped to the data's range of 17 to 25; missing alone costs nothing.
    assert hierarchy.levels[1].loss.tolist() == [3 / 8, 5 / 8, 0.0, 0.0]
    assert hierarchy.levels[2].loss.tolist() == [3 / 8, 5 / 8, 0.0]


def test_a_star_after_the_widths_takes_null_at_loss_1() -> None:
    hierarchy = build({"intervals": [10, "*"]}, column(["1", "12", None], INTEGER))
    assert [path[-1] for path in paths(hierarchy)] == ["*", "*", "*"]
    assert hierarchy.levels[-1].loss.tolist() == [1.0]


def test_a_single_interval_does_not_swallow_null() -> None:
    hierarchy = build({"intervals": [100]}, column(["1", "2", None], INTEGER))
    assert paths(hierarchy)[2] == [None, None]


def test_decimal_widths_are_exact() -> None:
    values = column(["0.1", "0.3", "0.7", "-0.1", "1.15"], NUMBER)
    labels = [path[1:] for path in paths(build({"intervals": [0.1, 0.5]}, values))]
    assert labels == [
        ["[-0.1, 0)", "[-0.5, 0)"],
        ["[0.1, 0.2)", "[0, 0.5)"],
        ["[0.3, 0.4)", "[0, 0.5)"],
        ["[0.7, 0.8)", "[0.5, 1)"],
        ["[1.1, 1.2)", "[1, 1.5)"],
    ]


def test_intervals_from_another_origin_and_below_zero() -> None:
    hierarchy = build({"intervals": [5], "origin": 2}, column(["-4", "1", "2", "6", "7"], INTEGER))
    labels = [path[1] for path in paths(hierarchy)]
    assert labels == ["[-8, -3)", "[-3, 2)", "[2, 7)", "[2, 7)", "[7, 12)"]


def test_integers_beyond_a_floats_reach_fall_into_their_own_interval() -> None:
    hierarchy = build({"intervals": [1]}, column(["9007199254740993"], INTEGER))
    assert paths(hierarchy)[0][1] == "[9007199254740993, 9007199254740994)"


def test_one_number_alone_loses_nothing_in_an_interval() -> None:
    assert build({"intervals": [5]}, column(["7"], INTEGER)).levels[1].loss.tolist() == [0.0]


def test_intervals_of_text_are_refused() -> None:
    with pytest.raises(HierarchyError, match=r"type is text, but intervals need integer or number"):
        build({"intervals": [5]}, column(["a"]))


def test_mask_right() -> None:
    hierarchy = build({"mask": "right"}, column(["13053", "13068", "14853"]))
    assert paths(hierarchy)[0] == ["13053", "1305*", "130**", "13***", "1****", "*"]
    assert [level.nodes for level in hierarchy.levels] == [3, 3, 2, 2, 1, 1]


def test_mask_of_uneven_values_nests() -> None:
    hierarchy = build({"mask": "right", "character": "x"}, column(["12", "1234", "1299", None]))
    assert paths(hierarchy) == [
        ["12", "12", "12xx", "1xxx", "*"],
        ["1234", "123x", "12xx", "1xxx", "*"],
        ["1299", "129x", "12xx", "1xxx", "*"],
        [None, None, None, None, "*"],
    ]


def test_mask_left_keeps_the_last_characters() -> None:
    hierarchy = build({"mask": "left"}, column(["7", "107", "208"]))
    assert [path[1:] for path in paths(hierarchy)] == [
        ["*07", "**7", "*"],
        ["*08", "**8", "*"],
        ["7", "**7", "*"],
    ]


def test_a_value_that_looks_masked_is_refused_by_name() -> None:
    with pytest.raises(HierarchyError, match=r"1 of 3 values look like a masked one: 1\*. Choose"):
        build({"mask": "right"}, column(["12", "1*", "13"]))


def test_dates() -> None:
    values = column(["1988-04-03", "1988-06-30", "1999-12-31", "1969-12-31", None], DATE)
    spec = {"dates": ["day", "month", "quarter", "year", "decade", "*"]}
    assert paths(build(spec, values)) == [
        ["1969-12-31", "1969-12-31", "1969-12", "1969-Q4", "1969", "[1960, 1970)", "*"],
        ["1988-04-03", "1988-04-03", "1988-04", "1988-Q2", "1988", "[1980, 1990)", "*"],
        ["1988-06-30", "1988-06-30", "1988-06", "1988-Q2", "1988", "[1980, 1990)", "*"],
        ["1999-12-31", "1999-12-31", "1999-12", "1999-Q4", "1999", "[1990, 2000)", "*"],
        [None, None, None, None, None, None, "*"],
    ]


def test_the_loss_of_a_month_is_its_share_of_the_days() -> None:
    hierarchy = build({"dates": ["month"]}, column(["2001-01-01", "2001-04-11"], DATE))
    assert hierarchy.levels[1].loss.tolist() == [0.31, 0.1]


def test_groups_in_a_given_order_count_values_that_the_table_lacks() -> None:
    spec = {"order": ["low", "middle", "high", "a, b", "last"], "groups": [2, 4, "*"]}
    hierarchy = build(spec, column(["high", "low", "last"]))
    assert paths(hierarchy) == [
        ["high", '{high, "a, b"}', '{low, middle, high, "a, b"}', "*"],
        ["last", "last", "last", "*"],
        ["low", "{low, middle}", '{low, middle, high, "a, b"}', "*"],
    ]
    assert hierarchy.leaves == 5
    assert hierarchy.levels[1].leaves.tolist() == [2, 2, 1]
    assert sorted(hierarchy.levels[2].loss.tolist()) == [0.0, 0.75]


def test_groups_without_an_order_are_ranges_of_neighbours() -> None:
    hierarchy = build({"groups": [2]}, column(["1", "3", "10", "12", "20"], INTEGER))
    labels = [path[1] for path in paths(hierarchy)]
    assert labels == ["[1, 3]", "[1, 3]", "[10, 12]", "[10, 12]", "20"]
    with pytest.raises(HierarchyError, match="Give them in `order`"):
        build({"groups": [2]}, column(["a", "b"]))


def test_a_value_outside_the_order_is_named() -> None:
    with pytest.raises(HierarchyError, match=r"1 of 2 values has no place in the order: b"):
        build({"order": ["a"], "groups": [1]}, column(["a", "b"]))


TREE = {"Europe": ["France", "Spain"], "Asia": {"East": ["Japan", "Korea"], "India": None}}


def test_an_uneven_tree_places_nodes_at_their_height() -> None:
    hierarchy = build({"tree": TREE}, column(["France", "Japan", "India", None]))
    assert paths(hierarchy) == [
        ["France", "Europe", "Europe", "*"],
        ["India", "India", "Asia", "*"],
        ["Japan", "East", "Asia", "*"],
        [None, None, None, "*"],
    ]
    assert hierarchy.leaves == 6
    assert dict(zip(hierarchy.levels[2].labels, hierarchy.levels[2].leaves, strict=True)) == {
        "Europe": 2,
        "Asia": 3,
        None: 1,
    }
    assert ambiguous_labels(hierarchy) == []


def test_distance_is_the_height_of_the_lowest_common_ancestor() -> None:
    hierarchy = build({"tree": TREE}, column(["France", "India", "Japan", "Korea", "Spain"]))
    france, india, japan, korea, spain = np.eye(5, dtype=np.int32).argmax(0).astype(np.int32)
    assert hierarchy.distance(france, spain) == pytest.approx(1 / 3)
    assert hierarchy.distance(japan, korea) == pytest.approx(1 / 3)
    assert hierarchy.distance(japan, india) == pytest.approx(2 / 3)
    assert hierarchy.distance(japan, france) == 1
    assert hierarchy.distance(japan, japan) == 0


def test_a_tree_with_one_root_ends_in_it() -> None:
    hierarchy = build({"tree": {"World": TREE}}, column(["France", "Japan"]))
    assert paths(hierarchy)[0] == ["France", "Europe", "Europe", "World"]
    assert hierarchy.height == 3


def test_null_is_not_below_a_root_that_does_not_name_it() -> None:
    hierarchy = build({"tree": {"Europe": ["France", "Spain"]}}, column(["France", "Spain", None]))
    assert paths(hierarchy) == [
        ["France", "Europe", "*"],
        ["Spain", "Europe", "*"],
        [None, None, "*"],
    ]


def test_a_null_of_a_sensitive_attribute_adds_no_level() -> None:
    cells = column(["France", "Spain", None], role=Role.SENSITIVE)
    hierarchy = build({"tree": {"Europe": ["France", "Spain"]}}, cells)
    assert paths(hierarchy) == [["France", "Europe"], ["Spain", "Europe"], [None, None]]
    france, spain, null = np.arange(3, dtype=np.int32)
    assert hierarchy.distance(france, spain) == hierarchy.distance(france, null) == 1


def test_numbers_find_leaves_by_value_where_the_text_differs() -> None:
    hierarchy = build({"tree": {"few": [7], "many": [70, 700]}}, column(["07", "70"], INTEGER))
    assert [path[1] for path in paths(hierarchy)] == ["few", "many"]


def test_values_of_a_sensitive_column_are_not_named() -> None:
    secret = column(["France", "Atlantis"], role=Role.SENSITIVE)
    with pytest.raises(HierarchyError) as caught:
        build({"tree": TREE}, secret)
    assert "1 of 2 values has no leaf in the tree." in str(caught.value)
    assert "Atlantis" not in str(caught.value)


def test_labels_with_two_meanings_are_listed() -> None:
    tree = {"Georgia": ["Tbilisi", "Batumi"], "America": ["Georgia", "Ohio"]}
    hierarchy = build({"tree": tree}, column(["Batumi", "Georgia", "Ohio", "Tbilisi"]))
    assert ambiguous_labels(hierarchy) == ["Georgia"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"intervals": [5, 12]}, "width 12 is not a multiple of 5"),
        ({"intervals": [0.1, 0.25]}, "width 0.25 is not a multiple of 0.1"),
        ({"intervals": [5, "*", 10]}, '"*" must be the last entry'),
        ({"intervals": [0]}, "width 0 is not above 0"),
        ({"intervals": []}, "at least 1 item"),
        ({"intervals": [5], "mask": "right"}, "Extra inputs are not permitted"),
        ({"mask": "up"}, "Input should be 'left' or 'right'"),
        ({"dates": ["year", "month"]}, "from fine to coarse: day, month, quarter, year, decade"),
        ({"groups": [2, 3]}, "size 3 is not a multiple of 2"),
        ({"groups": [2], "order": ["a", "a"]}, "values occur twice: a"),
        ({"tree": {"A": ["x"], "B": ["x"]}}, "the leaf 'x' occurs 2 times"),
        ({"tree": {"A": {"C": ["x"]}, "B": {"C": ["y"]}}}, "the node 'C' occurs 2 times"),
        ({"widths": [5]}, "a hierarchy is a path, 'suppress', 'automatic', or a mapping"),
        (5, "a hierarchy is a path, 'suppress', 'automatic', or a mapping"),
    ],
)
def test_what_is_wrong_with_a_spec_is_said(spec: object, message: str) -> None:
    assert message in problems(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "suppress",
        "automatic",
        {"path": "hierarchies/age.csv"},
        {"intervals": [0.5, 1, "*"], "origin": 0},
        {"mask": "left", "character": "#"},
        {"dates": ["day", "*"]},
        {"groups": [2, "*"], "order": ["a", "b"]},
        {"tree": TREE},
    ],
)
def test_a_spec_is_written_as_it_was_read(spec: object) -> None:
    value = ADAPTER.validate_python(spec)
    assert ADAPTER.dump_python(value, mode="json", exclude_none=True) == spec
    assert ADAPTER.validate_python(value) is value


def test_a_path_alone_is_a_file() -> None:
    value = ADAPTER.validate_python("hierarchies/age.csv")
    assert (type(value).__name__, value.path) == ("FileHierarchy", "hierarchies/age.csv")


def test_the_schema_tells_words_from_paths() -> None:
    schema = ADAPTER.json_schema()["$defs"]
    assert schema["Suppress"]["const"] == "suppress"
    assert schema["FileHierarchy"]["anyOf"][0]["not"] == {"enum": ["suppress", "automatic"]}
    assert set(schema["Intervals"]["properties"]) == {"intervals", "origin"}
