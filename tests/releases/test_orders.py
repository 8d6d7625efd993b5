"""Orders of rows: no sound release of a sorted file is refused, and related orders are found."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.io.frames import code_frame
from discreet.pipeline.run import make_release
from discreet.releases.audit.row_order import (
    CHANCE,
    are_related,
    beyond_chance,
    chance_of_same_order,
    related_columns,
)
from discreet.releases.kinds.decomposed import fitting_places
from discreet.releases.manifest import sha256_of
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType

ROWS = 70_000  # more than 65,536: the first places of a sorted file are no sample of it
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


KEPT = {  # the smallest table, by the columns of these numbers of values, whose order is found
    "rows that all differ": ([1000], 15),
    "groups of two": ([-2], 18),
    "five values": ([5], 21),
    "two values": ([2], 43),
    "two columns of two values": ([2, 2], 24),
}


def rows_like(columns: list[int], rows: int) -> np.ndarray:
    """Which rows agree: each column repeats its values in turn, or has groups of some rows."""
    place = np.arange(rows)
    agreeing = np.ones((rows, rows), bool)
    width = 1
    for values in columns:
        cell = place // -values if values < 0 else place // width % values
        width *= abs(values)
        agreeing &= cell[:, None] == cell
    return agreeing


@pytest.mark.parametrize("case", KEPT)
def test_a_kept_order_is_found_from_a_stated_number_of_rows_on(case):
    columns, least = KEPT[case]
    assert are_related(rows_like(columns, least))
    assert chance_of_same_order(rows_like(columns, least)) < CHANCE
    smaller = least - 2 if min(columns) < 0 else least - 1
    assert not are_related(rows_like(columns, smaller))
    assert chance_of_same_order(rows_like(columns, smaller)) > CHANCE


@pytest.mark.parametrize("columns", [[1000], [-3], [5], [2, 3]])
@pytest.mark.parametrize("rows", [100, 400])
def test_shifted_suppressed_and_partly_kept_rows_are_found(columns, rows):
    agreeing = rows_like(columns, rows)
    rng = np.random.default_rng(1)
    assert are_related(np.roll(agreeing, 1, axis=0))
    assert are_related(agreeing[rng.random(rows) < 0.95])
    moved = np.arange(rows)
    some = rng.permutation(rows)[: rows // 5]
    moved[some] = rng.permutation(some)
    assert are_related(agreeing[moved])


@pytest.mark.parametrize("columns", [[1000], [-3], [5], [2], [2, 3]])
@pytest.mark.parametrize("rows", [2, 5, 20, 60])
def test_the_bound_holds_for_random_orders(columns, rows, monkeypatch):
    """At a chance of 5 %, at most about 5 % of all random orders are called related."""
    monkeypatch.setattr("discreet.releases.audit.row_order.CHANCE", 0.05)
    agreeing = rows_like(columns, rows)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(rows) for _ in range(400)]
    places = sum(
        beyond_chance(int(agreeing[order].diagonal().sum()), agreeing.sum(axis=1))
        for order in orders
    )
    either = sum(are_related(agreeing[order]) for order in orders)
    assert places <= 400 * 0.05 + 15
    assert either <= 2 * 400 * 0.05 + 20


def small_people(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "drug": rng.permutation(np.array(["a", "b", "c"] * rows)[:rows]),
        }
    )


@pytest.mark.parametrize("method", ["mondrian", "full-domain", "local-recoding"])
@pytest.mark.parametrize(
    ("rows", "how"),
    [
        *((20, "kept"), (40, "kept"), (40, "shifted"), (100, "kept"), (100, "shifted")),
        *((20, "reversed"), (40, "reversed"), (100, "reversed"), (3000, "reversed")),
        *((20, "by age"), (40, "by age"), (100, "by age"), (3000, "by age"), (100, "by drug down")),
    ],
)
def test_a_folder_in_an_order_of_the_source_is_refused(tmp_path, method, rows, how):
    """By all columns together, ranges included, though no column alone is beyond chance."""
    small_people(rows).write_csv(tmp_path / "people.csv")
    job = dc.Job(
        source={"path": tmp_path / "people.csv"},
        attributes={
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [5, 10]},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "drug": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method=method,
    )
    release = dc.publish(None, job, seed=1)
    place = release.save(tmp_path / "release", report=False, **UNATTACKED)
    assert dc.audit(place, original=job).ok
    order = release.formed.orders["records"]
    records = pl.read_csv(place / "records.csv", infer_schema=False)
    in_source_order, people = records[np.argsort(order)], small_people(rows)
    kept = {
        "kept": in_source_order,
        "shifted": in_source_order[np.roll(np.arange(rows), 1)],
        "reversed": in_source_order[::-1],
        "by age": in_source_order[np.argsort(people["age"].to_numpy(), kind="stable")],
        "by drug down": in_source_order[people["drug"].arg_sort(descending=True)],
    }[how]
    kept.write_csv(place / "records.csv", line_terminator="\n")
    manifest = naive.read_manifest(place)
    manifest["tables"]["records"]["sha256"] = sha256_of(place / "records.csv")
    naive.write_manifest(place, manifest)
    assert dc.audit(place).ok
    said = {
        "reversed": "'records' is that of the original reversed",
        "by age": "'records' is that of the original sorted by 'age'",
        "by drug down": "'records' is that of the original sorted by 'drug'",
    }.get(how, "'records' is related to that of 'the original'")
    assert said in " ".join(dc.audit(place, original=job).problems)


def test_an_order_of_too_few_rows_is_not_called_tested(tmp_path):
    small_people(6).write_csv(tmp_path / "people.csv")
    job = dc.Job(
        source={"path": tmp_path / "people.csv"},
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "drug": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 3}}],
        method="mondrian",
    )
    place = dc.publish(None, job, seed=1).save(tmp_path / "release", report=False, **UNATTACKED)
    found = dc.audit(place, original=job)
    assert found.ok
    assert "The order of 'records' could not be tested: its 6 rows" in found.remarks[0]
    assert not dc.audit(place).remarks


def decomposed_tables(rows: int):
    made = make_release(drifting(rows).sort("drug"), job_of("decomposed"), seed=1)
    people, sensitive = (made.formed.orders[name] for name in ("groups", "sensitive"))
    return made, people, sensitive


def fitting(made, sensitive_order):
    made.formed.orders = {**made.formed.orders, "sensitive": sensitive_order}
    return fitting_places(made.coded_tables())


@pytest.mark.parametrize("rows", [300, 30_000])
def test_decomposed_rows_in_the_order_of_the_people_even_in_part_are_found(rows):
    made, people, sensitive = decomposed_tables(rows)
    assert are_related(fitting(made, people))
    rng = np.random.default_rng(5)
    partly = people.copy()
    moved = np.flatnonzero(rng.random(rows) < (0.5 if rows > 1000 else 0.1))
    partly[moved] = people[rng.permutation(moved)]
    assert are_related(fitting(made, partly))
    assert not are_related(fitting(made, sensitive))


@pytest.mark.parametrize("rows", [24, 300])
def test_random_orders_of_sensitive_rows_are_not_called_related(rows, monkeypatch):
    """At a chance of 5 %, at most about 5 % of them, by each of the two tests."""
    monkeypatch.setattr("discreet.releases.audit.row_order.CHANCE", 0.05)
    made, _, _ = decomposed_tables(rows)
    rng = np.random.default_rng(6)
    orders = [rng.permutation(rows).astype(np.int32) for _ in range(200)]
    assert sum(are_related(fitting(made, order)) for order in orders) <= 2 * 200 * 0.05 + 15
