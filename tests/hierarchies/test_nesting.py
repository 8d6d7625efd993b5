"""Whatever is built nests, loses no leaf, and loses more the higher it goes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_hierarchies import build, column, paths, written

from discreet.errors import HierarchyError
from discreet.hierarchies.files import read_hierarchy_file
from discreet.hierarchies.hierarchy import Hierarchy, Level, require_nested
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

INTEGER, NUMBER, DATE = ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE
QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
odd_text = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="*"), min_size=1, max_size=6
) | st.sampled_from(["a, b", '"', "{x}", "=1", "[1, 2)", " ", "é", "日本", "\\"])


def columns_of(texts: st.SearchStrategy[str], kind: ValueType) -> st.SearchStrategy[Column]:
    cells = st.lists(texts | st.none(), min_size=1, max_size=70)
    return cells.map(lambda some: column(some, kind))


text_columns = columns_of(odd_text, ValueType.TEXT)
integer_columns = columns_of(st.integers(-300, 300).map(str), INTEGER)
number_columns = columns_of(st.decimals(-50, 50, places=2).map(str), NUMBER)
date_columns = columns_of(st.dates().map(str), DATE)
specs_and_columns = st.one_of(
    st.tuples(st.sampled_from(["suppress", "automatic"]), text_columns),
    st.tuples(st.just("automatic"), integer_columns | number_columns | date_columns),
    st.tuples(
        st.sampled_from([{"mask": "right"}, {"mask": "left"}]), text_columns | integer_columns
    ),
    st.tuples(
        st.sampled_from([{"intervals": [0.1, 0.5, "*"]}, {"intervals": [7, 21], "origin": 0.3}]),
        integer_columns | number_columns,
    ),
    st.tuples(st.just({"dates": ["day", "month", "quarter", "year", "decade", "*"]}), date_columns),
    st.tuples(st.just({"groups": [2, 6, "*"]}), integer_columns | date_columns),
)


def check(hierarchy: Hierarchy, values: Column) -> None:
    before = None
    for level in hierarchy.levels:
        assert len(level.node_of_leaf) == values.cardinality
        assert set(level.node_of_leaf.tolist()) == set(range(level.nodes))
        assert level.leaves.sum() == hierarchy.leaves
        loss = level.loss[level.node_of_leaf]
        assert ((loss >= 0) & (loss <= 1)).all()
        if before is not None:
            groups = {
                (int(low), int(high))
                for low, high in zip(before.node_of_leaf, level.node_of_leaf, strict=True)
            }
            assert len(groups) == before.nodes
            assert (loss >= before.loss[before.node_of_leaf] - 1e-12).all()
        before = level


@QUICK
@given(specs_and_columns)
def test_every_hierarchy_nests(case: tuple[Any, Column]) -> None:
    spec, values = case
    check(build(spec, values), values)


@QUICK
@given(columns_of(st.text("ab*", min_size=1, max_size=4), ValueType.TEXT))
def test_automatic_labels_are_never_mistaken_for_values(values: Column) -> None:
    hierarchy = build("automatic", values)
    check(hierarchy, values)
    exact = set(values.text.to_list()) - {"*", None}
    for level in hierarchy.levels[1:]:
        for node, label in enumerate(level.labels):
            if label in exact:
                below = values.text.filter(level.node_of_leaf == node).to_list()
                assert below == [label]


@pytest.mark.parametrize("kind", list(ValueType))
def test_a_column_without_rows_has_a_hierarchy(kind: ValueType) -> None:
    hierarchy = build("automatic", column([], kind))
    assert [level.nodes for level in hierarchy.levels] == [0, 0]


@QUICK
@given(number_columns)
def test_every_number_lies_in_its_interval(values: Column) -> None:
    for path in paths(build({"intervals": [0.1, 0.7], "origin": 0.05}, values)):
        for label in path[1:]:
            if path[0] is not None and label is not None:
                low, high = (Fraction(end) for end in label.strip("[)").split(", "))
                assert low <= Fraction(path[0]) < high


@QUICK
@given(case=specs_and_columns)
def test_files_come_back(case: tuple[Any, Column], tmp_path: Path) -> None:
    spec, values = case
    hierarchy = build(spec, values)
    written(hierarchy, values, tmp_path / "c.csv")
    again = read_hierarchy_file(values, tmp_path / "c.csv")
    assert paths(again) == paths(hierarchy)
    assert again.leaves == hierarchy.leaves


branches = st.recursive(
    st.none() | st.integers(0, 3),
    lambda inner: st.lists(inner, min_size=1, max_size=4),
    max_leaves=12,
)


def named_tree(shape: Any, name: str) -> Any:
    if isinstance(shape, list):
        return {f"{name}.{i}": named_tree(inner, f"{name}.{i}") for i, inner in enumerate(shape)}
    return [f"{name}-{i}" for i in range(shape)] if shape else None


def leaves_below(tree: Any, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    if isinstance(tree, dict):
        found: dict[str, tuple[str, ...]] = {}
        for key, inner in tree.items():
            found |= leaves_below(inner, (*above, key)) if inner else {key: above}
        return found
    return dict.fromkeys(tree, above)


def height(tree: Any) -> int:
    if isinstance(tree, dict):
        return 1 + max(height(inner) for inner in tree.values())
    return 1 if tree else 0


@QUICK
@given(st.lists(branches, min_size=2, max_size=4))
def test_trees_nest_and_measure_the_height_of_the_common_ancestor(shape: list[Any]) -> None:
    tree = named_tree(shape, "n")
    ancestors = leaves_below(tree)
    values = column(list(ancestors))
    hierarchy = build({"tree": tree}, values)
    check(hierarchy, values)
    assert hierarchy.height == height(tree)
    names = values.text.to_list()
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            inner = tree
            for one, other in zip(ancestors[first], ancestors[second], strict=False):
                if one != other:
                    break
                inner = inner[one]
            expected = 0 if i == j else height(inner) / height(tree)
            assert hierarchy.distance(np.int32(i), np.int32(j)) == pytest.approx(expected)


def level(nodes: list[int], labels: list[str]) -> Level:
    count = np.bincount(nodes).astype(np.int64)
    return Level(np.array(nodes, np.int32), tuple(labels), count, np.zeros(len(labels)))


def test_levels_that_split_a_group_or_share_a_label_are_refused() -> None:
    exact = level([0, 1, 2], ["a", "b", "c"])
    torn = (exact, level([0, 0, 1], ["ab", "c"]), level([0, 1, 1], ["a", "bc"]))
    with pytest.raises(HierarchyError, match="level 2 does not nest: 1 groups of level 1"):
        require_nested(Hierarchy("c", torn, 3, "test"))
    twins = (exact, level([0, 0, 1], ["x", "x"]))
    with pytest.raises(HierarchyError, match="two groups of level 1 have the same label"):
        require_nested(Hierarchy("c", twins, 3, "test"))


def test_values_without_levels_are_as_far_apart_as_can_be() -> None:
    flat = Hierarchy("c", (level([0, 1], ["a", "b"]),), 2)
    assert flat.distance(np.array([0, 0], np.int32), np.array([0, 1], np.int32)).tolist() == [0, 1]
