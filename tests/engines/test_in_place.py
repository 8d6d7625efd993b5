"""Releases that a database makes of its own rows: the local release, audited from the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
import yaml
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.places.database_engine import DatabaseEngine
from discreet.addons.places.warehouse import counts_of, table_of
from discreet.cli.app import app
from discreet.errors import AuditError, InfeasibleError, InputError
from discreet.io.databases import writing_tables
from discreet.pipeline.engine import engine_named
from discreet.pipeline.run import publish_folder
from discreet.table.budgets import MOST_STEPS

ROWS = 3000
METHODS = {
    "full-domain": {"suppression": 0.02},
    "codip": {"plan": "greedy"},
}


def people(rows: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": rng.integers(20, 60, rows),
            "zip": [f"{1000 + place}" for place in rng.integers(0, 30, rows)],
            "sex": rng.choice(["m", "f"], rows).tolist(),
            "ill": [None if one == "g" else str(one) for one in rng.choice(list("abcdefg"), rows)],
            "pay": rng.integers(1, 6, rows) * 0.5,
            "since": pl.Series(rng.integers(10_000, 10_004, rows)).cast(pl.Date),
        }
    )


def job_for(url: str, method: str, **more: Any) -> dc.Job:
    return dc.Job.model_validate(
        {
            "source": {"url": url, "table": "people"},
            "attributes": {
                "name": {"role": "identifier"},
                "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
                "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
                "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
                "ill": {"role": "sensitive"},
                "pay": {"role": "sensitive"},
                "since": {"role": "insensitive"},
            },
            "requirements": [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 2}}],
            "method": {method: METHODS[method]},
            "output": {"path": "release", "prefix": "of_"},
            **more,
        }
    )


@pytest.fixture(params=["duckdb", "postgresql"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Callable[[str], list[Any]]]:
    """The URL of a database with a table of people, and what runs a statement there."""
    frame = people()
    if request.param == "duckdb":
        path = tmp_path / "people.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute("CREATE TABLE people AS SELECT * FROM frame")

        def run(statement: str) -> list[Any]:
            with duckdb.connect(str(path)) as connection:
                return connection.execute(statement).fetchall()

        return f"duckdb:///{path}", run
    import psycopg

    url = request.getfixturevalue("postgres")()
    with writing_tables(url, Path("/"), {"people": frame}, force=False):
        pass

    def ask(statement: str) -> list[Any]:
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    return url, ask


def publish(job: dc.Job, place: Path, **saving: Any) -> dc.Release:
    with engine_named("database").opened(place, None) as engine:
        return publish_folder(None, job, place, engine=engine, **{**UNATTACKED, **saving})


def tables_in(run: Callable[[str], list[Any]]) -> set[str]:
    listed = run("SELECT table_name FROM information_schema.tables WHERE table_schema "
                 "IN ('main', 'public')")  # fmt: skip
    return {name for (name,) in listed}


@pytest.mark.parametrize("method", METHODS)
def test_the_release_of_one_machine(base: Any, tmp_path: Path, method: str) -> None:
    url, run = base
    job = job_for(url, method)
    release = publish(job, tmp_path / "release")
    local = dc.publish(people(), job)
    manifest = release.manifest
    assert manifest.method == local.manifest.method
    assert manifest.published_rows == local.manifest.published_rows
    assert manifest.suppressed_rows == local.manifest.suppressed_rows
    assert [p.achieved for p in manifest.promises] == [p.achieved for p in local.manifest.promises]
    assert manifest.singling_out == local.manifest.singling_out
    for name, frame in local.tables.items():
        columns = ", ".join(f'"{column}"' for column in frame.columns)
        rows = run(f"SELECT {columns} FROM of_{name}")
        cells = Counter(tuple(map(str, row)) for row in rows)
        assert cells == Counter(tuple(map(str, row)) for row in frame.rows())
    assert tables_in(run) == {"people", *(f"of_{name}" for name in local.tables)}
    assert dc.audit(tmp_path / "release", database=url).ok


def test_types_stay_and_identifiers_do_not(base: Any, tmp_path: Path) -> None:
    url, run = base
    publish(job_for(url, "full-domain"), tmp_path / "release")
    types = dict(run("SELECT column_name, data_type FROM information_schema.columns "
                     "WHERE table_name = 'of_records'"))  # fmt: skip
    source = dict(run("SELECT column_name, data_type FROM information_schema.columns "
                      "WHERE table_name = 'people'"))  # fmt: skip
    assert set(types) == {"age", "zip", "sex", "ill", "pay", "since"}
    assert {name: types[name] for name in ("ill", "pay", "since")} == {
        name: source[name] for name in ("ill", "pay", "since")
    }


def test_the_order_of_rows_is_another_each_time(base: Any, tmp_path: Path) -> None:
    url, run = base
    orders = []
    for number in range(2):
        job = job_for(url, "full-domain", output={"prefix": f"r{number}_"})
        publish(job, tmp_path / f"{number}")
        orders.append(run(f"SELECT * FROM r{number}_records"))
    assert Counter(orders[0]) == Counter(orders[1])
    assert orders[0] != orders[1]
    # Neither follows the source, whose rows are numbered by their place in it.
    place = {name: row for row, (name,) in enumerate(run("SELECT since FROM people"))}
    for rows in orders:
        numbers = np.array([place[row[-1]] for row in rows[:1000]])
        assert abs(np.corrcoef(numbers, np.arange(1000))[0, 1]) < 0.2


def test_a_table_that_was_changed_fails_its_audit(base: Any, tmp_path: Path) -> None:
    url, run = base
    place = tmp_path / "release"
    publish(job_for(url, "full-domain"), place)
    with pytest.raises(InputError, match="--database URL"):
        dc.audit(place)
    run("UPDATE of_records SET ill = 'z' WHERE ill = 'a'")
    audit = dc.audit(place, database=url)
    assert not audit.ok
    assert "the rows of 'of_records' are not those that were published" in audit.problems
    statement = place / "records.sql"
    statement.write_text(statement.read_text().replace("of_records", "people"))
    assert "was changed after it was published" in dc.audit(place, database=url).problems[0]


def test_nothing_is_left_where_a_release_fails(
    base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, run = base
    place, before = tmp_path / "release", tables_in(run)
    strict = job_for(url, "full-domain", requirements=[{"k-anonymity": {"k": ROWS + 1}}])
    with pytest.raises(InfeasibleError):
        publish(strict, place)
    assert (tables_in(run), place.exists()) == (before, False)
    run("CREATE TABLE of_records (x integer)")
    with pytest.raises(InputError, match="the table 'of_records' already exists"):
        publish(job_for(url, "full-domain"), place)
    assert (tables_in(run), place.exists()) == (before | {"of_records"}, False)
    publish(job_for(url, "full-domain"), place, force=True)
    assert len(run("SELECT * FROM of_records")) > 2900
    # A database that writes other rows than the recoding says is found out before they appear.
    right = DatabaseEngine.form

    def wrong(self: Any, *given: Any) -> Any:
        tables = right(self, *given)
        tables.warehouse.copies = tables.warehouse.copies.replace("(1, ", "(0, ")
        return tables

    monkeypatch.setattr(DatabaseEngine, "form", wrong)
    with pytest.raises(AuditError, match="does not have the rows that were formed"):
        publish(job_for(url, "full-domain", output={"prefix": "wrong_"}), tmp_path / "wrong")
    assert not any(name.startswith("wrong_") for name in tables_in(run))
    assert not (tmp_path / "wrong").exists()


def test_what_the_engine_refuses(base: Any, tmp_path: Path, monkeypatch: Any) -> None:
    url, run = base
    job = job_for(url, "full-domain")
    other = {
        "mondrian": job.model_copy(update={"method": dc.Mondrian()}),
        "source: {url": job.model_copy(update={"source": None}),
        "person": job_for(url, "full-domain", person={"column": "name", "rows": "one"}),
    }
    for message, asked in other.items():
        with pytest.raises(InputError, match=message):
            publish(asked, tmp_path / "release")
    monkeypatch.setattr("discreet.addons.places.database_engine.MOST_STEPS", 10)
    with pytest.raises(InputError, match="combinations of cells, and the engine 'database' takes"):
        publish(job, tmp_path / "release")
    assert MOST_STEPS > 10
    assert tables_in(run) == {"people"}


def test_the_command_line(base: Any, tmp_path: Path, monkeypatch: Any) -> None:
    from typer.testing import CliRunner

    url, run = base
    job = job_for(url, "full-domain").model_dump(mode="json", exclude_unset=True)
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    done = runner.invoke(app, ["publish", "job.yaml", "--engine", "database", "--quiet"])
    assert done.exit_code == 0, done.output
    audited = runner.invoke(app, ["audit", "release", "--database", url])
    assert audited.exit_code == 0, audited.output
    assert "of_records" in tables_in(run)


def test_more_rows_than_this_machine_takes_are_not_attacked(
    base: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    url, _ = base
    job = job_for(url, "full-domain")
    release = publish(job, tmp_path / "release")
    assert dc.attack(release, original=job, quick=True).findings
    monkeypatch.setattr("discreet.addons.places.database_engine.FIGURE_ROWS", ROWS - 100)
    release = publish(job, tmp_path / "again", force=True)
    assert release.audit is not None and release.audit.ok
    for step in (dc.attack, dc.measure):
        with pytest.raises(InputError, match="Attacks and divergences need every row here"):
            step(release, original=job)


SNAPSHOT = Path(__file__).parent / "in_place.sql"


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
def test_the_statements_of_other_warehouses(dialect: str) -> None:
    """Rendered and parsed again; no such warehouse ran them."""
    sqlglot = pytest.importorskip("sqlglot")
    copies = "UNNEST(GENERATE_SERIES(1, shown.discreet_times)) AS copies(copy)"
    statements = [
        counts_of('SELECT * FROM "people"', ['"age"', '"ill"']),
        table_of("of_records", [("age", "r.p0"), ("ill", "c.c1")], copies),
        'SELECT "age" AS c0, "ill" AS c1, COUNT(*) AS n FROM "of_records" GROUP BY 1, 2',
        'ALTER TABLE "discreet_partial" RENAME TO "of_records"',
    ]
    rendered = [
        sqlglot.transpile(statement, read="duckdb", write=dialect, pretty=True)[0]
        for statement in statements
    ]
    for statement in rendered:
        assert sqlglot.parse_one(statement, read=dialect) is not None
    known = re.split(r"-- (\w+)\n", SNAPSHOT.read_text(encoding="utf-8"))
    of_dialect = dict(zip(known[1::2], known[2::2], strict=True))
    assert ";\n\n".join(rendered) == of_dialect[dialect].strip().rstrip(";")
