"""``discreet check``: exit statuses, JSON, a page, and databases by URL."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

TABLE = """\
id,age,zip,diagnosis,income
1,30,*,flu,10
1,30,*,gout,20
2,30,*,flu,30
3,[40; 50],13*,gout,10
4,[40; 50],13*,flu,20
5,[40; 50],13*,ache,30
"""
ROLES = ("--quasi", "age,zip", "--sensitive", "diagnosis", "--sensitive", "income")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)
    return lambda *arguments: CliRunner().invoke(app, ["check", *arguments])


def test_exit_0_where_all_requirements_hold(run):
    done = run("people.csv", *ROLES, "--k", "3", "--l", "2", "--t", "0.3", "--page", "page.html")
    assert done.exit_code == 0
    assert "All 3 requirements hold." in done.stdout
    assert "[k-anonymity: k = 3]" in done.stdout
    assert "All 3 requirements hold" in Path("page.html").read_text()


def test_exit_1_where_one_fails_with_the_sizes_of_its_classes(run):
    done = run("people.csv", *ROLES, "--k", "3", "--person", "id", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["ok"] is False
    assert found["requirements"][0]["achieved"] == {"k": 2}
    assert found["requirements"][0]["failing"] == {"classes": 1, "members": 2, "sizes": {"2": 1}}


def test_any_requirement_as_a_job_writes_it(run):
    done = run(
        "people.csv", *ROLES, "--require", "entropy-l-diversity: {l: 1.9, attribute: income}"
    )
    assert done.exit_code == 0
    assert (
        run("people.csv", *ROLES, "--require", "recursive-cl-diversity: {c: 1, l: 3}").exit_code
        == 1
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing.csv", *ROLES, "--k", "2"),
        ("people.csv", "--quasi", "agee", "--k", "2"),
        ("people.csv", *ROLES, "--require", "{"),
        ("people.csv", *ROLES, "--require", "k-anonymity: {k: two}"),
        ("sqlite:///nothing.db", "--table", "people", *ROLES),
        ("postgresql://me:secret@host/base", "--table", "people", *ROLES),
        (),
    ],
)
def test_exit_2_for_wrong_input(run, arguments):
    done = run(*arguments, "--json")
    assert done.exit_code == 2
    assert "secret" not in done.output
    assert json.loads(done.stdout)["exit_status"] == 2


def test_a_job_with_a_database_is_counted_in_place(run):
    with sqlite3.connect("people.db") as base:
        base.execute("CREATE TABLE people (age, zip, diagnosis, income)")
        rows = [line.split(",")[1:] for line in TABLE.splitlines()[1:]]
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    base.close()
    Path("job.yaml").write_text(
        """
source: {url: "sqlite:///people.db", table: people}
attributes:
  age: {role: quasi-identifier}
  zip: {role: quasi-identifier}
  diagnosis: {role: sensitive}
  income: {role: sensitive, type: integer}
requirements:
  - k-anonymity: {k: 3}
  - t-closeness: {t: 0.3}
"""
    )
    done = run("--job", "job.yaml")
    assert done.exit_code == 0, done.output
    here = run("people.csv", *ROLES, "--k", "3", "--t", "0.3", "--json")
    there = run("--job", "job.yaml", "--json")
    assert json.loads(here.stdout) == json.loads(there.stdout)
    by_query = ("sqlite:///people.db", "--query", "SELECT * FROM people -- all", *ROLES)
    assert run(*by_query, "--k", "4").exit_code == 1


@pytest.mark.parametrize(
    "query",
    [
        "COPY people TO 'stolen.csv'",
        "SELECT 1) AS source; COPY people TO 'stolen.csv'; SELECT * FROM (SELECT 1",
        "SELECT * FROM nothing",
    ],
)
def test_a_query_of_duckdb_only_reads(run, query):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect("people.duckdb") as base:
        base.sql("CREATE TABLE people AS FROM 'people.csv'")
    place = ("duckdb:///people.duckdb", *ROLES, "--k", "3")
    assert run(*place, "--query", query).exit_code == 2
    assert not Path("stolen.csv").exists()
    here = run("people.csv", *ROLES, "--k", "3", "--json").stdout
    assert run(*place, "--table", "people", "--json").stdout == here


def test_options_say_how_to_read_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """check, init and profile read a file that needs options; the job keeps them."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 3};{'Köln' if n % 2 else 'Bonn'};-;{n % 4},5" for n in range(20)]
    Path("people.csv").write_bytes("\n".join(rows).encode("latin-1"))
    options = ["encoding=latin-1", "header=false", "delimiter=;", "decimal=,", "missing=-,NA"]
    given = [word for one in options for word in ("--source", one)]
    runner = CliRunner()
    checked = runner.invoke(
        app, ["check", "people.csv", *given, "--quasi", "column_1,column_2", "--k", "3", "--json"]
    )
    assert checked.exit_code == 0, checked.output
    assert json.loads(checked.stdout)["rows"] == 20
    proposed = runner.invoke(app, ["init", "people.csv", *given])
    assert proposed.exit_code == 0, proposed.output
    job = dc.Job.of(Path("job.yaml"))
    assert job.source is not None
    assert (job.source.encoding, job.source.header, job.source.delimiter) == ("latin-1", False, ";")
    assert (job.source.decimal, job.source.missing) == (",", ("-", "NA"))
    assert str(job.attributes["column_4"].type) == "number"
    assert dc.profile(None, job).rows == 20
    shown = runner.invoke(app, ["profile", "people.csv", *given, "--json"])
    assert json.loads(shown.stdout)["rows"] == 20
    wrong = runner.invoke(app, ["check", "people.csv", "--source", "sheeet=1", "--quasi", "x"])
    assert wrong.exit_code == 2
    assert "sheeet" in wrong.output
    assert "encoding, header" in wrong.output
    for options in ({"header": "perhaps"}, {"encoding": "klingon"}):
        with pytest.raises(dc.InputError, match=next(iter(options))):
            dc.check("people.csv", quasi=["column_1"], k=1, source=options)
    frame = {"data": [1]}
    with pytest.raises(dc.InputError, match="how to read a file"):
        dc.check(pl.DataFrame(frame), quasi=["data"], k=1, source={"header": False})
    with pytest.raises(dc.InputError, match="without a job"):
        dc.profile("people.csv", job, source={"header": False})


def test_a_row_of_cells_in_place_of_a_header_is_never_repeated(tmp_path):
    from typer.testing import CliRunner

    from discreet.cli.app import app

    place = tmp_path / "people.csv"
    place.write_text("Ann Smith,1970-01-02,HIV\nBob Jones,1980-02-03,flu\n")
    done = CliRunner().invoke(app, ["check", str(place), "--quasi", "age"])
    text = done.stdout + done.stderr
    assert done.exit_code == 2
    assert "header=false" in text
    assert not any(cell in text for cell in ("Ann", "1970", "HIV", "Bob"))
