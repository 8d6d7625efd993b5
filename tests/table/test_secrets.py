"""Columns that reveal each other, against entropies by hand."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_column

from discreet.table.secrets import NEARLY, connected, find_dependencies, find_secrets


def columns(**cells):
    return [coded_column(name, values) for name, values in cells.items()]


def naive_remaining(first, second):
    """H(B|A) / H(B), where a value of A that one row has reveals nothing."""
    rows = len(first)

    def entropy(values):
        return -sum(n / len(values) * math.log(n / len(values)) for n in Counter(values).values())

    whole = entropy(second)
    left = 0.0
    for value, count in Counter(first).items():
        own = [b for a, b in zip(first, second, strict=True) if a == value]
        left += count / rows * (whole if count == 1 else entropy(own))
    return left / whole if whole else None


HIKES = [11 + number % 15 for number in range(150)]


def test_a_finer_column_determines_a_coarser_one_and_names_the_secret():
    ratings = [3 if hike < 20 else 4 for hike in HIKES]
    (secret,) = find_secrets(columns(rating=[str(one) for one in ratings], hike=HIKES))
    assert secret.columns == ("hike", "rating")
    assert secret.finest == "hike"
    assert [(one.first, one.second, one.exact) for one in secret.dependencies] == [
        ("hike", "rating", True)
    ]


def test_a_near_copy_is_the_same_secret_both_ways():
    first = [str(number % 2) for number in range(400)]
    second = list(first)
    second[0] = "1"  # one of 400 rows differs
    (secret,) = find_secrets(columns(a=first, b=second))
    assert {(one.first, one.second) for one in secret.dependencies} == {("a", "b"), ("b", "a")}
    assert not any(one.exact for one in secret.dependencies)
    draw = random.Random(1)
    other = [value if draw.random() < 0.9 else str(draw.randrange(2)) for value in first]
    assert naive_remaining(first, other) > NEARLY
    assert find_secrets(columns(a=first, b=other)) == []


def test_columns_of_nearly_distinct_values_determine_nothing():
    draw = random.Random(2)
    incomes = [str(number) for number in range(200)]
    answers = [str(draw.randrange(3)) for _ in range(200)]
    assert find_dependencies(columns(income=incomes, answer=answers)) == []
    assert find_dependencies(columns(income=incomes[:100] * 2, answer=answers)) == []


def test_independent_and_constant_columns_are_no_secret():
    first = [str(number % 4) for number in range(160)]
    second = [str(number // 4 % 5) for number in range(160)]
    assert find_secrets(columns(a=first, b=second, c=["x"] * 160)) == []
    few = ["1", "2"] * 5  # ten rows show nothing
    assert find_secrets(columns(a=few, b=few)) == []


def test_dependencies_connect_columns_of_one_secret():
    assert connected(list("abcde"), [("a", "b"), ("c", "b"), ("d", "e")]) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    assert connected(list("ab"), []) == []


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_figures_are_those_of_the_definition(data):
    rows = data.draw(st.integers(30, 60))
    first = data.draw(st.lists(st.sampled_from("abcdefg"), min_size=rows, max_size=rows))
    mapped = {value: data.draw(st.sampled_from("xy")) for value in "abcdefg"}
    second = [mapped[value] for value in first]
    for place in data.draw(st.lists(st.integers(0, rows - 1), max_size=3)):
        second[place] = "z"
    found = {(one.first, one.second): one for one in find_dependencies(columns(a=first, b=second))}
    left = naive_remaining(first, second)
    expected = left is not None and left <= NEARLY
    alone = sum(count for count in Counter(first).values() if count == 1)
    if expected and alone <= NEARLY * rows:
        one = found["a", "b"]
        pairs = set(zip(first, second, strict=True))
        assert one.exact == (len(pairs) == len(set(first)))
        assert one.exact or one.remaining == pytest.approx(left)
    else:
        assert ("a", "b") not in found
