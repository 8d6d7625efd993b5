"""Orders of rows: no sound release of a sorted file is refused, and related orders are found."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.io.frames import code_frame
from discreet.pipeline.run import make_release
from discreet.releases.audit.row_order import related_columns, source_order_problems
from discreet.releases.kinds.decomposed.aligned_order import chance_of_order
from discreet.releases.kinds.decomposed.sensitive_sets import index_signatures, read_sets
from discreet.table.column_spec import ColumnSpec
from discreet.table.roles import Distance, Role, ValueType

ROWS = 100_000  # more than 65,536: the first places of a sorted file are no sample of it
SPEC = ColumnSpec(Role.QUASI_IDENTIFIER, ValueType.TEXT, Distance.EQUAL, None)
METHODS = {
    "generalized": ("mondrian", [{"k-anonymity": {"k": 50}}]),
    "counted": ({"anatomy": {"l": 2}}, []),
    "bucketized": ({"msa-diversity": {"publish": "buckets"}}, [{"m-diversity": {"l": 2}}]),
    "decomposed": ({"decomposition": {"l": {"drug": 2}}}, []),
    "projected": ({"codip": {"plan": "given", "tables": [["drug"]]}}, [{"k-anonymity": {"k": 2}}]),
}


def drifting(rows: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "region": rng.choice(["centre", "east", "north", "west"], rows, p=[0.6, 0.2, 0.1, 0.1]),
            "year": [str(1990 + year) for year in rng.geometric(0.2, rows).clip(max=30)],
            "drug": rng.choice(["a", "b", "c", "d"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "note": rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1]),
        }
    )


def job_of(kind: str) -> dc.Job:
    method, requirements = METHODS[kind]
    return dc.Job(
        attributes={
            "region": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "year": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "drug": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        requirements=requirements,
        method=method,
    )


@pytest.mark.parametrize("column", ["region", "year", "drug", "note"])
@pytest.mark.parametrize("kind", METHODS)
def test_a_large_sorted_file_is_published(kind, column):
    frame = drifting().sort(column)
    assert dc.publish(frame, job_of(kind)).audit.ok


def coded(frame: pl.DataFrame):
    return code_frame(frame, dict.fromkeys(frame.columns, SPEC))


@pytest.mark.parametrize("column", ["region", "year", "drug", "note"])
def test_random_orders_of_a_sorted_file_are_never_called_related(column):
    original = coded(drifting().sort(column))
    rng = np.random.default_rng(3)
    for _ in range(10):
        shuffled = original.take(rng.permutation(ROWS))
        assert not related_columns(shuffled, original)
        assert not related_columns(original, shuffled)


@pytest.mark.parametrize("part", [1.0, 0.25])
@pytest.mark.parametrize("where", ["first", "last", "spread"])
def test_an_order_that_is_kept_in_part_is_found(where, part):
    """A shuffle that missed some rows of a sorted file, wherever they are."""
    original = coded(drifting().sort("note"))
    rng = np.random.default_rng(4)
    kept = {
        "first": np.arange(ROWS) < part * ROWS,
        "last": np.arange(ROWS) >= (1 - part) * ROWS,
        "spread": rng.random(ROWS) < part,
    }[where]
    order = np.arange(ROWS)
    order[~kept] = rng.permutation(order[~kept])
    assert {"region", "year", "drug"} <= set(related_columns(original.take(order), original))
    assert source_order_problems({"records": original.take(order)}, original)


def decomposed_tables(rows: int):
    made = make_release(drifting(rows).sort("drug"), job_of("decomposed"), seed=1)
    people, sensitive = (made.formed.orders[name] for name in ("groups", "sensitive"))
    return made, people, sensitive


def chance(made, sensitive_order) -> float:
    made.formed.orders = {**made.formed.orders, "sensitive": sensitive_order}
    tables = made.coded_tables()
    names = [column.name for column in tables["sensitive"].sensitive]
    sets = read_sets(tables, names)
    signatures = index_signatures(tables["sensitive"], names)
    return chance_of_order(sets, signatures, tables["groups"]["group"].codes)


@pytest.mark.parametrize("rows", [300, 30_000])
def test_decomposed_rows_in_the_order_of_the_people_even_in_part_are_found(rows):
    made, people, sensitive = decomposed_tables(rows)
    assert chance(made, people) < 1e-12
    if rows > 1000:
        rng = np.random.default_rng(5)
        partly = people.copy()
        moved = np.flatnonzero(rng.random(rows) < 0.5)
        partly[moved] = people[rng.permutation(moved)]
        assert chance(made, partly) < 1e-12
    assert chance(made, sensitive) > 1e-6


@pytest.mark.parametrize("rows", [24, 300])
def test_the_chance_of_an_order_bounds_how_often_random_orders_fit_as_well(rows):
    made, _, _ = decomposed_tables(rows)
    rng = np.random.default_rng(6)
    found = sorted(chance(made, rng.permutation(rows).astype(np.int32)) for _ in range(200))
    for place, bound in enumerate(found):  # place + 1 of 200 orders have at most this bound
        assert (place + 1) / 200 <= bound + 3 * math.sqrt(bound / 200) + 0.02
