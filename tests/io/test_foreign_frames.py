"""Frames of DuckDB, Ibis and narwhals publish the same as the frame behind them."""

from __future__ import annotations

import duckdb
import ibis
import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import discreet as dc
from discreet.errors import InputError

FRAME = pl.DataFrame({"age": [30, 30, 41, 41], "ill": ["flu", None, "flu", "ache"]})
JOB = dc.Job(
    attributes={
        "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "ill": {"role": "sensitive"},
    },
    requirements=[dc.KAnonymity(k=2)],
)


def rows(release: dc.Release) -> list[tuple[object, ...]]:
    frame = release.tables["records"]
    return sorted(pl.DataFrame(frame).rows(), key=str)


@pytest.mark.parametrize("kind", ["duckdb", "ibis", "narwhals", "narwhals-lazy"])
def test_the_same_release(kind: str) -> None:
    made = {
        "duckdb": lambda: duckdb.from_arrow(FRAME.to_arrow()),
        "ibis": lambda: ibis.memtable(FRAME.to_arrow()),
        "narwhals": lambda: nw.from_native(FRAME),
        "narwhals-lazy": lambda: nw.from_native(FRAME.lazy()),
    }[kind]()
    release = dc.publish(made, JOB)
    assert rows(dc.publish(FRAME.lazy().collect(), JOB)) == sorted(
        release.tables["records"].lazy().collect().rows(), key=str
    )
    assert dc.profile(made).to_dict()["rows"] == 4
    assert dc.check(made, quasi=["age"], k=2).ok
    assert not dc.check(made, quasi=["age"], sensitive=["ill"], k=2, l=3).ok


def test_narwhals_gives_back_the_frame_that_it_wraps() -> None:
    release = dc.publish(nw.from_native(FRAME.to_pandas()), JOB)
    assert isinstance(release.tables["records"], pd.DataFrame)


def test_a_failing_query_ends_without_its_cells() -> None:
    failing = duckdb.sql("SELECT CAST(v AS INTEGER) AS age FROM (VALUES ('secret')) AS t(v)")
    with pytest.raises(InputError, match="cannot be read as an Arrow stream") as error:
        dc.publish(failing, JOB)
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="or an object with the Arrow PyCapsule interface, not"):
        dc.publish(object(), JOB)
