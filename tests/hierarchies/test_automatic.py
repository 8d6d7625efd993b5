from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from made_hierarchies import build, column, paths

from discreet.hierarchies.automatic import LEVELS, automatic_hierarchy, propose
from discreet.hierarchies.hierarchy import ambiguous_labels
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

INTEGER, NUMBER, DATE = ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE


def test_ordered_values_become_ranges_of_equal_frequency() -> None:
    cells = [*["1"] * 10, *(str(n) for n in range(2, 12)), None]
    hierarchy = automatic_hierarchy(column(cells, INTEGER))
    assert [level.labels for level in hierarchy.levels[1:]] == [
        ("1", "[2, 6]", "[7, 11]", None),
        ("1", "[2, 11]", None),
        ("*",),
    ]
    assert hierarchy.levels[1].loss.tolist() == [0.0, 0.4, 0.4, 0.0]


@pytest.mark.parametrize("kind", [ValueType.TEXT, INTEGER])
@pytest.mark.parametrize("cells", [["1"], ["1", "2"], ["1", None], [None]])
def test_one_or_two_values_are_suppressed_at_once(cells: list[str | None], kind: ValueType) -> None:
    hierarchy = automatic_hierarchy(column(cells, kind))
    assert [path[1:] for path in paths(hierarchy)] == [["*"]] * len(set(cells))


def test_the_rarest_values_are_joined_first() -> None:
    cells = ["a"] * 9 + ["b"] * 5 + ["c"] * 2 + ["d"]
    hierarchy = automatic_hierarchy(column(cells))
    assert [level.labels for level in hierarchy.levels[1:]] == [("a", "{b, c, d}"), ("*",)]


def test_codes_keep_their_first_characters() -> None:
    cells = [f"{zone}{number:02d}" for zone in (10, 20, 30) for number in range(30)]
    labels = paths(automatic_hierarchy(column(cells)))[0]
    assert labels == ["1000", "100*", "10**", "*"]


def test_many_names_are_grouped_by_how_they_begin() -> None:
    cells = [f"{first}{second}" for first in "ABCDEFGH" for second in ("ann", "bob", "cy") * 3]
    cells += [f"{first}x{n}" for first in "ABCDEFGH" for n in range(12)]
    hierarchy = automatic_hierarchy(column([*cells, None]))
    assert hierarchy.levels[-1].labels == ("*",)
    assert hierarchy.levels[-2].labels == (*(f"{first}*" for first in "ABCDEFGH"), None)
    assert ambiguous_labels(hierarchy) == []


def test_labels_that_a_value_looks_like_are_not_used() -> None:
    cells = [f"A{n}" for n in range(60)] + [f"B{n}" for n in range(60)] + ["A*"]
    hierarchy = automatic_hierarchy(column(cells))
    assert ambiguous_labels(hierarchy) == []


def distinct_values(kind: ValueType, count: int) -> Column:
    """A column of nothing but different values."""
    numbers = np.arange(count)
    codes = numbers.astype(np.int32)
    if kind is INTEGER:
        digits = pl.Series(numbers).cast(pl.String)
        return Column(
            "c", Role.QUASI_IDENTIFIER, INTEGER, codes, digits, digits, numbers.astype(np.float64)
        )
    names = pl.Series([f"name {number}" for number in range(count)]).sort()
    return Column("c", Role.QUASI_IDENTIFIER, ValueType.TEXT, codes, names, names)


@pytest.mark.parametrize("kind", [ValueType.TEXT, INTEGER])
def test_a_million_values_take_time_in_proportion_and_short_labels(kind: ValueType) -> None:
    spent = []
    for count in (50_000, 1_000_000):
        values = distinct_values(kind, count)
        began = time.process_time()
        hierarchy = automatic_hierarchy(values)
        spent.append(time.process_time() - began)
    assert spent[1] < 100 * spent[0]  # 20 times the values; a comparison of all pairs takes 400
    assert 2 <= hierarchy.height <= LEVELS
    assert max(len(label or "") for level in hierarchy.levels for label in level.labels) < 40


@pytest.mark.parametrize(
    ("cells", "kind", "proposal"),
    [
        ([str(n) for n in range(17, 91)], INTEGER, {"intervals": [5, 10, 20, "*"]}),
        ([str(n / 100) for n in range(100)], NUMBER, {"intervals": [0.1, 0.2, 0.4, "*"]}),
        (["0"] * 99 + ["5", "99999"], INTEGER, "automatic"),
        (["1", "2"], INTEGER, "suppress"),
        (
            ["1900-01-01", "1950-02-02", "1999-03-03"],
            DATE,
            {"dates": ["month", "year", "decade", "*"]},
        ),
        (
            ["2020-01-01", "2021-02-02", "2023-03-03"],
            DATE,
            {"dates": ["month", "quarter", "year", "*"]},
        ),
        ([f"130{n:02d}" for n in range(40)], ValueType.TEXT, {"mask": "right"}),
        (["m", "f", None], ValueType.TEXT, "suppress"),
        (list("abcdef"), ValueType.TEXT, "automatic"),
    ],
)
def test_proposals_fit_and_build(
    cells: list[str | None], kind: ValueType, proposal: object
) -> None:
    values = column(cells, kind)
    assert propose(values) == proposal
    assert build(proposal, values).levels[-1].labels == ("*",)
