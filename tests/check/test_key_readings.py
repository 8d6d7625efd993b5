"""Suppressed and missing keys, as ARX counts rows apart and sdcMicro matches them."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from itertools import product

import polars as pl
import pytest

import discreet as dc
from discreet.errors import InputError

WILD = ("*", None)


def drawn(seed: int) -> list[tuple[str | None, ...]]:
    """Rows of two keys and a sensitive value, some keys suppressed or missing."""
    rng = random.Random(seed)
    keys = ["a", "b", *WILD]
    weights = [4, 4, rng.choice([0, 1, 2]), rng.choice([0, 1, 2])]
    return [
        (*rng.choices(keys, weights, k=2), rng.choice("xyz")) for _ in range(rng.randint(1, 12))
    ]


def matches(first: tuple[str | None, ...], second: tuple[str | None, ...]) -> bool:
    return all(
        one in WILD or other in WILD or one == other
        for one, other in zip(first[:2], second[:2], strict=True)
    )


def smallest(groups: list[list[tuple[str | None, ...]]]) -> tuple[int, int]:
    """The least number of rows, and of different sensitive values, in a group."""
    return min(map(len, groups)), min(len({row[2] for row in group}) for group in groups)


def frame(rows: list[tuple[str | None, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String, "s": pl.String}, orient="row")


def found(rows: list[tuple[str | None, ...]], **options: object) -> tuple[int, int]:
    check = dc.check(frame(rows), quasi=["p", "q"], sensitive=["s"], k=1, l=1, **options)
    k, distinct = (one.achieved for one in check.requirements)
    return int(k["k"]), int(distinct["l"])


@pytest.mark.parametrize("part", range(10))
def test_both_readings_are_those_of_brute_force(part):
    for seed in range(part * 100, part * 100 + 100):
        rows = drawn(seed)
        by_value = [[row for row in rows if row[:2] == own[:2]] for own in rows]
        by_match = [[row for row in rows if matches(row, own)] for own in rows]
        assert found(rows) == smallest(by_value), seed
        assert found(rows, missing=["match"]) == smallest(by_match), seed
        kept = [row for row in rows if row[:2] != ("*", "*")]
        if not kept:
            with pytest.raises(InputError, match="All rows are suppressed"):
                found(rows, suppressed=["*"])
            continue
        apart = [[row for row in kept if row[:2] == own[:2]] for own in kept]
        assert found(rows, suppressed=["*"]) == smallest(apart), seed


def test_fully_suppressed_rows_are_counted_apart_as_arx_does():
    """The output and the risk figures of an example of ARX (its issue 259)."""
    rows = [
        ("<50", "female", "81***"), ("<50", "male", "81***"), (">=50", "male", "81***"),
        ("*", "*", "*"), ("<50", "female", "81***"), (">=50", "male", "81***"),
        ("<50", "male", "81***"),
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=["age", "gender", "zipcode"], orient="row")
    check = dc.check(table, quasi=["age", "gender", "zipcode"], k=2, suppressed=["*"])
    assert check.ok
    assert (check.classes, check.rows, check.suppressed) == (3, 6, 1)
    assert [(band.low, band.groups) for band in check.sizes] == [(2, 3)]
    without = dc.check(table, quasi=["age", "gender", "zipcode"], k=2)
    assert not without.ok
    (difference,) = [one for one in without.remarks if getattr(one, "id", "").startswith("check.r")]
    assert difference.parameters == {"values": 1, "apart": 2, "match": 3, "rows": 1}


def test_a_database_that_counts_in_place_is_read_alike(tmp_path):
    for seed in range(12):
        rows = drawn(seed)
        place = tmp_path / f"{seed}.db"
        with closing(sqlite3.connect(place)) as base, base:
            base.execute("CREATE TABLE people (p TEXT, q TEXT, s TEXT)")
            base.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        for options in ({"missing": ["match"]}, {"suppressed": ["*"]}):
            if all(row[:2] == ("*", "*") for row in rows):
                continue
            here = dc.check(
                f"sqlite:///{place}", table="people", quasi=["p", "q"], sensitive=["s"], k=1, l=1,
                **options,
            )  # fmt: skip
            k, distinct = (one.achieved for one in here.requirements)
            assert (int(k["k"]), int(distinct["l"])) == found(rows, **options), seed


def test_matching_is_refused_with_persons_and_for_attackers_with_few_columns():
    rows = frame(drawn(1)).with_columns(pl.int_range(pl.len()).alias("id"))
    with pytest.raises(InputError, match="count rows"):
        dc.check(rows, quasi=["p", "q"], person="id", k=1, missing=["match"])
    with pytest.raises(InputError, match="all quasi-identifiers"):
        dc.check(
            rows, quasi=["p", "q"], sensitive=["s"], missing=["match"],
            requirements=[{"lkc-privacy": {"l": 1, "k": 1, "c": 1}}],
        )  # fmt: skip


def test_ranges_in_several_spellings_are_named():
    table = pl.DataFrame({"age": ["[20, 30[", "[20,30)", "]30, 40]", "(30,40]"]})
    check = dc.check(table, quasi=["age"], k=1)
    (spelled,) = [one for one in check.remarks if getattr(one, "id", "") == "check.one-spelling"]
    assert spelled.parameters == {"classes": 4, "merged": 2, "values": 1, "smallest": 2}


def test_a_table_of_numbers_compares_matching_rows_with_the_whole_table():
    rows = [*product(["a", "b"], ["x", "x", "y"]), (None, "y")]
    table = pl.DataFrame(rows, schema=["key", "value"], orient="row")
    check = dc.check(table, quasi=["key"], sensitive=["value"], t=1, missing=["match"])
    # Each key matches 4 rows, 2 of them y; all rows have 3 of 7 y, and the missing key matches all.
    assert check.requirements[0].achieved["t"] == pytest.approx(1 / 2 - 3 / 7)
