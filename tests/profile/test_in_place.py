"""A profile of a table in a database is that of the same table in a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import discreet as dc
from discreet.api.demonstrate import make_patients
from discreet.cli.app import app
from discreet.io.databases import writing_tables
from discreet.io.in_place import Place

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


@pytest.mark.parametrize("rows", ["one", "keep", "collapse"])
def test_a_database_counts_persons(place, tmp_path, monkeypatch, rows):
    """Persons are numbered in place: no row and no identifier is read."""
    collapse = {"collapse": "most-frequent"} if rows == "collapse" else {}
    attributes = {
        name: given | (collapse if given["role"] not in ("identifier", "drop") else {})
        for name, given in ATTRIBUTES.items()
        if name not in ("occupation", "birthday")
    }
    parts = {
        "attributes": attributes,
        "others": "drop",
        "person": {"column": "name", "rows": rows},
        "method": "mondrian",
    }
    source = place["source"]
    if rows == "one":  # three names are of two rows
        with pytest.raises(dc.InputError, match="403 rows of 400 persons by 'name'"):
            dc.profile(place["data"], dc.Job(**parts, source=source))
        del parts["attributes"]["ward"]
        data = place["data"] if source is None else None
        query = "SELECT DISTINCT * FROM people"
        if data is not None:
            data = data.distinct()
        else:
            source = {"url": source["url"], "query": query}
        pl.read_parquet(tmp_path / "patients.parquet").unique().write_parquet(
            tmp_path / "patients.parquet"
        )
        place = {"data": data}
    here = dc.profile(tmp_path / "patients.parquet", dc.Job(**parts))
    monkeypatch.setattr("discreet.api.profile.prepare", None)
    there = dc.profile(place["data"], dc.Job(**parts, source=source))
    expected, found = here.to_dict(), there.to_dict()
    columns = {one["name"]: one for one in expected.pop("columns")}
    assert {one["name"]: one for one in found.pop("columns")} == columns
    assert found == expected
    assert there.persons.persons == 400
    assert there.unique_persons is not None


def test_rows_of_persons_are_read_where_their_order_matters(tmp_path):
    frame = pl.DataFrame({"id": [1, 1, 2], "day": [2, 1, 1], "zip": ["a", "b", "a"]})
    url = f"sqlite:///{tmp_path / 'visits.db'}"
    with writing_tables(url, Path("/"), {"visits": frame}, force=False):
        pass
    job = dc.Job(
        source={"url": url, "table": "visits"},
        attributes={
            "id": {"role": "identifier"},
            "day": {"role": "drop"},
            "zip": {"role": "quasi-identifier", "collapse": "last"},
        },
        person={"column": "id", "rows": "collapse", "order": "day"},
    )
    assert dc.profile(None, job).unique_persons == 0.0


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_a_job_is_proposed_for_a_table_of_a_database(kind, request, tmp_path, monkeypatch):
    """check, init, profile and publish take the same URL; files are found from the job's folder."""
    make_patients(tmp_path / "patients.csv", rows=200)
    frame = pl.read_csv(tmp_path / "patients.csv", schema_overrides={"zip": pl.String})
    url = f"{kind}:///patients.db"
    monkeypatch.chdir(tmp_path)
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        with duckdb.connect("patients.db") as connection:
            connection.execute("CREATE TABLE people AS FROM 'patients.csv'")
            connection.execute("ALTER TABLE people ALTER zip TYPE VARCHAR")
    else:
        if kind == "postgresql":
            url = request.getfixturevalue("postgres")()
        with writing_tables(url, tmp_path, {"people": frame}, force=False):
            pass
    (tmp_path / "jobs").mkdir()
    runner = CliRunner()
    found = runner.invoke(
        app, ["init", url, "--table", "people", "-o", "jobs/job.yaml", "--budget", "0s"]
    )
    assert found.exit_code == 0, found.output
    job = dc.Job.of(tmp_path / "jobs" / "job.yaml")
    assert job.source.table == "people"
    of_file = dc.propose(tmp_path / "patients.csv")
    assert {n: str(a.role) for n, a in job.attributes.items()} == {
        name: str(one.role) for name, one in of_file.roles.items()
    }
    assert dc.profile(None, job).rows == 200
    assert dc.publish(None, job, seed=1).audit.ok
    query = "SELECT * FROM people WHERE income > 0; -- earners"
    proposed = dc.propose(url, query=query)
    assert proposed.job.source.query == query
    shown = runner.invoke(app, ["profile", url, "--query", query])
    assert shown.exit_code == 0, shown.output
    for command in ("init", "profile"):
        refused = runner.invoke(app, [command, url])
        assert refused.exit_code == 2
        refused = runner.invoke(app, [command, "patients.csv", "--table", "people", "--json"])
        assert "for the URL of a database" in refused.output
