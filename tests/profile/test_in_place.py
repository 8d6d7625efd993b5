"""A profile of a table in a database is that of the same table in a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import discreet as dc
from discreet.api.demonstrate import make_patients
from discreet.io.databases import writing_tables
from discreet.io.in_place.place import Place

ATTRIBUTES = {
    "name": {"role": "identifier"},
    "birthday": {"role": "drop"},
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi-identifier"},
    "diagnosis": {"role": "sensitive"},
    "occupation": {"role": "sensitive", "multi_valued": " "},
    "income": {"role": "sensitive", "type": "integer"},
    "ward": {"role": "insensitive"},
}
ORDER = ("zip", "sex", "diagnosis", "occupation", "income", "ward")


@pytest.fixture(params=["sqlite", "postgresql", "duckdb"])
def place(request, tmp_path: Path) -> dict:
    """The data and the source of a job."""
    make_patients(tmp_path / "patients.csv", rows=400)
    frame = pl.read_csv(tmp_path / "patients.csv", schema_overrides={"zip": pl.String})
    frame = pl.concat([frame, frame.head(3)])  # three names twice
    frame.write_parquet(tmp_path / "patients.parquet")
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        connection = duckdb.connect()
        return {"data": connection.sql(f"FROM '{tmp_path / 'patients.parquet'}'"), "source": None}
    made = f"sqlite:///{tmp_path / 'patients.db'}"
    if request.param == "postgresql":
        made = request.getfixturevalue("postgres")()
    with writing_tables(made, Path("/"), {"people": frame}, force=False):
        pass
    return {"data": None, "source": {"url": made, "table": "people"}}


def test_a_database_is_profiled_by_its_counts(place, tmp_path, monkeypatch):
    here = dc.profile(tmp_path / "patients.parquet", dc.Job(attributes=ATTRIBUTES))
    asked = []
    count = Place.count

    def listening(self, columns, person=()):
        asked.append((tuple(columns), tuple(person)))
        return count(self, columns, person)

    monkeypatch.setattr(Place, "count", listening)
    there = dc.profile(place["data"], dc.Job(attributes=ATTRIBUTES, source=place["source"]))
    assert asked == [(("ward",), ()), ((), ("name",)), (ORDER[:-1], ())]
    expected, found = here.to_dict(), there.to_dict()
    columns = {one["name"]: one for one in expected.pop("columns")}
    assert {one["name"]: one for one in found.pop("columns")} == columns
    assert found == expected
    assert there.repeated[0].startswith("The identifier 'name' has 400 distinct values in 403 rows")
