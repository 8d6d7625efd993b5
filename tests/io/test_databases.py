"""Databases as sources and sinks, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import datetime
import decimal
import sqlite3
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.places.database_tables import opened_table, select_of
from discreet.errors import InputError, JobError
from discreet.io.databases import connect, dialect_of, name_of, writing_tables
from discreet.table.roles import ColumnSpec, Role

PEOPLE = pl.DataFrame(
    {
        "name": [f"Å{number}" for number in range(8)],
        "zip": ["01", "02"] * 4,
        "born": [datetime.date(1980 + number, 1, 2) for number in range(8)],
        "income": [1000, None, 3000, 4000, 5000, 6000, 7000, 8000],
        "ill": ["flu", "ache"] * 4,
    }
)
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "zip": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "born": {"role": "drop"},
    "income": {"role": "drop"},
    "ill": {"role": "sensitive"},
}


def read_frame(url: str, folder: Path, table: str | None, query: str | None) -> pl.DataFrame:
    with opened_table(url, folder, table, query) as found:
        specs = {name: ColumnSpec(Role.INSENSITIVE) for name in found.names}
        columns = found.coded(specs, ())
    return pl.DataFrame([c.values.gather(pl.Series(c.codes)).alias(c.name) for c in columns])


def database_of(kind: str, request, folder: Path) -> str:
    """The URL of a new database with the table of people."""
    if kind == "duckdb":
        return duckdb_file(folder)
    made = f"sqlite:///{folder / 'data.db'}"
    if kind == "postgresql":
        made = request.getfixturevalue("postgres")()
    with writing_tables(made, Path("/"), {"people": PEOPLE}, force=False):
        pass
    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path: Path) -> str:
    return database_of(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql", "duckdb"])
def readable(request, tmp_path: Path) -> str:
    """A database that a source may be in; DuckDB is read alone."""
    return database_of(request.param, request, tmp_path)


def duckdb_file(folder: Path) -> str:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.register("frame", PEOPLE.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return f"duckdb:///{folder / 'data.duckdb'}"


def job(**parts) -> dc.Job:
    return dc.Job(
        attributes=ATTRIBUTES, requirements=[dc.KAnonymity(k=2)], method=dc.FullDomain(), **parts
    )


def test_what_is_written_is_read_back(url):
    found = read_frame(url, Path("/"), "people", None).sort("name")
    assert found["income"].to_list() == PEOPLE["income"].to_list()
    assert found["zip"].to_list() == PEOPLE["zip"].to_list()
    assert [str(day) for day in found["born"]] == [str(day) for day in PEOPLE["born"]]


def test_a_job_reads_a_table_or_a_query_and_writes_its_tables(url, tmp_path):
    table = job(source={"url": url, "table": "people"})
    query = job(
        source={"url": url, "query": "SELECT * FROM people WHERE zip = '01';"},
        output={"url": url, "prefix": "made_"},
    )
    assert dc.publish(None, table).manifest.published_rows == 8
    release = dc.publish(None, query)
    assert release.manifest.published_rows == 4
    release.save(tmp_path / "release", **UNATTACKED)
    records = read_frame(url, Path("/"), "made_records", None)
    assert records.columns == ["zip", "ill"]
    assert records["ill"].to_list() == ["flu"] * 4
    with pytest.raises(InputError, match="'made_records' already exists"):
        release.save(tmp_path / "again", **UNATTACKED)
    assert not (tmp_path / "again").exists()
    release.save(tmp_path / "again", force=True, **UNATTACKED)
    for file in (tmp_path / "release").iterdir():
        assert url not in file.read_text(encoding="utf-8")


def test_nothing_is_written_if_the_folder_cannot_take_its_place(url, tmp_path, monkeypatch):
    made = dc.publish(None, job(source={"url": url, "table": "people"}, output={"url": url}))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.io.atomic._put_in_place", fail)
    with pytest.raises(dc.ReleaseError, match="No space left"):
        made.save(tmp_path / "release", **UNATTACKED)
    database = connect(url, Path("/"))
    assert not database.has_table("records")
    database.close()


WRITING = [
    "DELETE FROM people",
    "SELECT * FROM people; DELETE FROM people",
    "SELECT * FROM people; COMMIT; DELETE FROM people",
    "COMMIT",
    "DROP TABLE people",
    "CREATE TABLE other AS SELECT * FROM people",
]
WRITING_POSTGRESQL = [
    "SELECT * FROM people; COMMIT; SET TRANSACTION READ WRITE; DELETE FROM people",
    "SELECT 1; COMMIT; SET default_transaction_read_only = off; DELETE FROM people",
    "DO $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; DELETE FROM people; COMMIT; END $$",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "SELECT set_config('transaction_read_only', 'off', false), name FROM people",
    "COPY people TO PROGRAM 'true'",
    "SELECT * INTO other FROM people",
    "CALL empty_people()",
    "SELECT emptied() FROM people",
    "SELECT 1) TO PROGRAM 'true'",
    "SELECT 1) TO PROGRAM 'true' --",
    "SELECT 1) TO STDOUT; DELETE FROM people; --",
    "SELECT 1) TO STDOUT; COMMIT; DELETE FROM people; COPY (SELECT 1",
    "TABLE people) TO PROGRAM 'true' WITH (FORMAT csv) --",
]
WRITING_SQLITE = [
    "PRAGMA query_only = OFF",
    "ATTACH DATABASE 'other.db' AS other",
    "VACUUM INTO 'copy.db'",
    "REPLACE INTO people SELECT * FROM people",
]


def test_a_source_cannot_be_written_to(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    further = WRITING_SQLITE
    if url.startswith("postgresql"):
        further = WRITING_POSTGRESQL
        database = connect(url, Path("/"))
        database.run(
            "CREATE PROCEDURE empty_people() LANGUAGE plpgsql AS $$ BEGIN COMMIT; "
            "SET TRANSACTION READ WRITE; DELETE FROM people; COMMIT; END $$"
        )
        database.run(
            "CREATE FUNCTION emptied() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM set_config('transaction_read_only', 'off', true); DELETE FROM people; "
            "RETURN 1; END $$"
        )
        database.close()
    before = sorted(path.name for path in tmp_path.iterdir())
    for statement in [*WRITING, *further]:
        with pytest.raises(InputError):
            read_frame(url, Path("/"), None, statement)
        assert len(read_frame(url, Path("/"), "people", None)) == 8, statement
        with pytest.raises(InputError, match="no such table|does not fit"):
            read_frame(url, Path("/"), "other", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "query",
    [
        "WITH part AS (SELECT * FROM people) SELECT * FROM part;",
        "SELECT name FROM people UNION SELECT name FROM people ORDER BY name",
        "VALUES (1), (2)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT i FROM n",
        "SELECT upper(name) AS name, '50%' AS share FROM people -- a comment",
        "SELECT name FROM people;",
        "SELECT name FROM people ; ;\n",
        "SELECT name FROM people; -- all; of them",
        "SELECT name FROM people; /* all;\nof them */ -- 'quoted",
        "-- people;\nSELECT name -- the name;\nFROM people\n-- no more",
        "SELECT name, 'a; -- b' AS \"; --\" FROM people; -- c",
    ],
)
def test_a_source_is_any_query(readable, query):
    """A semicolon and comments may follow, for rows and for counts in place."""
    found = read_frame(readable, Path("/"), None, query)
    assert len(found) >= 2
    quasi = found.columns[:1]
    assert dc.check(readable, query=query, quasi=quasi, k=1).rows == len(found)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT name FROM people; SELECT 1", "several|one SQL query|does not fit"),
        ("SELECT name FROM people; -- all\n; SELECT 1", "several|one SQL query|does not fit"),
        ("-- SELECT name FROM people", "The query of the source is empty"),
        (" ; ", "The query of the source is empty"),
    ],
)
def test_a_source_is_one_query(readable, query, problem):
    with pytest.raises(InputError, match=problem):
        read_frame(readable, Path("/"), None, query)
    with pytest.raises(InputError, match=problem):
        dc.check(readable, query=query, quasi=["name"], k=1)


def test_quotes_of_other_databases_hide_no_statement():
    """A misread quote leaves text open, which no database runs; it never reveals a statement."""
    assert select_of(None, "SELECT $x$;'$x$, E'\\';' FROM t; -- x") == (
        "SELECT $x$;'$x$, E'\\';' FROM t"
    )
    assert select_of("a.b", None) == 'SELECT * FROM "a"."b"'


def test_errors_of_a_database_quote_no_cell(url):
    """The words of a server hold the cell that does not fit; its code does not."""
    sqlite = url.startswith("sqlite")
    query = (
        "SELECT abs(json(ill)) FROM people" if sqlite else "SELECT CAST(ill AS integer) FROM people"
    )
    with pytest.raises(InputError) as caught:
        read_frame(url, Path("/"), None, query)
    assert "flu" not in str(caught.value)
    assert "Database '" in str(caught.value)
    if not sqlite:
        assert "a cell does not fit" in str(caught.value)
        assert "22P02" in str(caught.value)


def test_columns_of_a_query_that_share_a_name(readable):
    query = "SELECT zip, ill, zip, name AS zip FROM people"
    with pytest.warns(UserWarning, match="'zip' as 'zip_2', 'zip' as 'zip_3'"):
        found = read_frame(readable, Path("/"), None, query)
    assert found.columns == ["zip", "ill", "zip_2", "zip_3"]
    assert sorted(found["zip"]) == sorted(found["zip_2"]) == sorted(PEOPLE["zip"])
    assert sorted(found["zip_3"]) == sorted(PEOPLE["name"])
    with pytest.warns(UserWarning, match="'zip' as 'zip_2'"):
        proposed = dc.propose(readable, query=query).text
    assert "value for value: 'zip_2'" in proposed and "zip_2:" not in proposed
    checked = dc.check(readable, query=query, quasi=["ill"], sensitive=["zip_3"], k=4)
    assert checked.ok and any("'zip' as 'zip_3'" in remark for remark in checked.remarks)


def test_unknown_tables_columns_and_databases(url, tmp_path):
    with pytest.raises(InputError, match="nothere"):
        read_frame(url, Path("/"), "nothere", None)
    with pytest.raises(JobError, match="no column 'ill'"):
        query = "SELECT name, zip, born, income FROM people"
        dc.publish(None, job(source={"url": url, "query": query}))
    with pytest.raises(InputError, match="no such database"):
        read_frame(f"sqlite:///{tmp_path}/absent.db", Path("/"), "people", None)


def test_mixed_and_exact_cells_become_text(tmp_path):
    path = tmp_path / "odd.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (a, b)")
        made.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), ("two", "y"), (None, "z")])
    made.close()
    found = read_frame(f"sqlite:///{path}", Path("/"), "t", None)
    assert found["a"].to_list() == ["1", "two", None]


def test_decimals_keep_their_digits(postgres):
    url = postgres()
    database = connect(url, Path("/"))
    database.run("CREATE TABLE money (amount NUMERIC(10, 3))")
    database.run("INSERT INTO money VALUES (?)", (decimal.Decimal("1.500"),))
    database.close()
    assert read_frame(url, Path("/"), "money", None)["amount"].to_list() == [
        decimal.Decimal("1.500")
    ]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"url": "sqlite:///a.db"}, "either the 'table'"),
        ({"url": "sqlite:///a.db", "table": "t", "query": "q"}, "either the 'table'"),
        ({"url": "sqlite:///a.db", "path": "a.csv", "table": "t"}, "either the 'path'"),
        ({"path": "a.csv", "table": "t"}, "are for a database"),
        ({"url": "mysql://h/d", "table": "t"}, "starts with sqlite"),
        ({"url": "postgresql://u:secret@h/d", "table": "t"}, "PGPASSWORD"),
    ],
)
def test_a_source_is_one_file_or_one_table(source, problem):
    with pytest.raises(JobError) as caught:
        job(source=source)
    assert problem in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_wrong_password_is_not_repeated(postgres, monkeypatch):
    url = postgres()
    monkeypatch.setenv("PGPASSWORD", "not-the-password")
    with pytest.raises(InputError) as caught:
        connect(url, Path("/"))
    assert "not-the-password" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value) or "password" in str(caught.value)


def test_names():
    assert dialect_of("postgres://h/d") == "postgresql"
    assert name_of("postgresql://user@host:1/people") == "people"


ODD = [None, "", 'say "it"', "a,b", "two\nlines", "\r", "\\.", "\\N", " spaced ", "Å𝄞", "*"]


def test_text_is_read_cell_by_cell(url):
    """Nulls and empty cells differ where the cell is a set; all others keep every character."""
    frame = pl.DataFrame({"id": range(len(ODD)), "cell": ODD})
    with writing_tables(url, Path("/"), {"odd": frame}, force=False):
        pass
    found = read_frame(url, Path("/"), "odd", None).sort("id")
    assert found["id"].to_list() == frame["id"].to_list()
    assert found["cell"].to_list() == [cell or None for cell in ODD]
    with opened_table(url, Path("/"), None, "SELECT cell FROM odd") as table:
        sets = table.coded({"cell": ColumnSpec(Role.SENSITIVE, separator=";")}, ())["cell"]
    assert {sets.text[int(code)] for code in sets.codes[:2]} == {None, ""}


def test_types_of_postgresql(postgres):
    url = postgres()
    query = (
        "SELECT * FROM (VALUES (true, 1::float8/3, date '1980-02-29', timestamp '2020-01-02 03:04',"
        " timestamptz '2020-01-02 03:04+02', time '01:02:03', 9223372036854775807, 'x'::char(3)),"
        " (NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL))"
        " AS t(well, third, born, at, zoned, hour, wide, padded)"
    )
    found = read_frame(url, Path("/"), None, query).row(0, named=True)
    assert found["well"] is True
    assert found["third"] == 1 / 3
    assert found["born"] == datetime.date(1980, 2, 29)
    assert found["at"] == datetime.datetime(2020, 1, 2, 3, 4)
    assert found["zoned"] == datetime.datetime(2020, 1, 2, 1, 4, tzinfo=datetime.UTC)
    assert found["hour"] == datetime.time(1, 2, 3)
    assert found["wide"] == 2**63 - 1
    assert found["padded"] == "x  "
    nulls = read_frame(url, Path("/"), None, query).row(1)
    assert [cell for cell in nulls if cell is not None and cell == cell] == []


def test_rows_of_several_batches(url, monkeypatch):
    monkeypatch.setattr("discreet.addons.places.database_tables.ROWS_AT_ONCE", 3)
    monkeypatch.setattr("discreet.io.csv.file_pieces.BLOCK_BYTES", 40)
    found = read_frame(url, Path("/"), "people", None).sort("name")
    assert found["name"].to_list() == PEOPLE["name"].to_list()
    assert found["income"].to_list() == PEOPLE["income"].to_list()


@pytest.mark.parametrize("error", [KeyboardInterrupt, dc.InputError("too many rows")])
def test_an_end_amid_the_rows_is_not_hidden(url, monkeypatch, error):
    """The server still sends, and the cursor cannot be closed properly."""

    def stop(*_: object) -> None:
        raise error

    frame = pl.DataFrame({"cell": [f"{number:0100}" for number in range(50_000)]})
    with writing_tables(url, Path("/"), {"long": frame}, force=False):
        pass
    monkeypatch.setattr("discreet.addons.places.database_tables.PieceReader.add", stop)
    monkeypatch.setattr("discreet.addons.places.database_tables._texts", stop)
    with pytest.raises(type(error) if isinstance(error, Exception) else error) as raised:
        read_frame(url, Path("/"), "long", None)
    assert "in progress" not in str(raised.value)


def test_a_job_reads_a_duckdb_file(tmp_path, monkeypatch):
    """A release of a table or a query is that of the frame with the same rows."""
    monkeypatch.chdir(tmp_path)
    url = duckdb_file(tmp_path)
    relative = "duckdb:///data.duckdb"
    of_frame = dc.publish(PEOPLE, job(), seed=1)
    for source in ({"table": "people"}, {"query": "SELECT * FROM people;"}):
        for place in (url, relative):
            read = job(source={"url": place, **source})
            found = dc.publish(None, read, seed=1)
            assert found.tables["records"].equals(of_frame.tables["records"])
            found.save(tmp_path / "release", force=True, **UNATTACKED)
            assert dc.audit(tmp_path / "release").ok
    frame = read_frame(url, Path("/"), "people", None)
    assert frame.equals(PEOPLE)
    assert {path.name.split(".")[0] for path in tmp_path.iterdir()} == {"data", "release"}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"table": "absent"}, r"Database 'data.duckdb' \(table 'absent'\): it cannot be read"),
        ({"query": "DELETE FROM people"}, "cannot be read"),
        (
            {"query": "SELECT 1) AS a; DELETE FROM people; SELECT * FROM (SELECT 1"},
            "cannot|several",
        ),
        ({"query": "COPY people TO 'copy.csv'"}, "cannot be read"),
        (
            {"query": "SELECT * REPLACE (CAST(ill AS integer) AS ill) FROM people"},
            "Arrow stream|cannot be read",
        ),
        ({"query": "SELECT zip, ill FROM people"}, "no column 'name'"),
        ({"query": "SELECT * FROM people WHERE zip = '99'"}, "no rows"),
    ],
)
def test_a_duckdb_file_that_cannot_be_read(tmp_path, monkeypatch, source, problem):
    monkeypatch.chdir(tmp_path)
    url = duckdb_file(tmp_path)
    with pytest.raises((InputError, JobError), match=problem) as caught:
        dc.publish(None, job(source={"url": url, **source}))
    assert "flu" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["data.duckdb"]
    assert len(read_frame(url, Path("/"), "people", None)) == 8


def test_duckdb_is_an_extra_and_is_read_alone(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"absent\.duckdb: there is no such database"):
        read_frame(f"duckdb:///{tmp_path}/absent.duckdb", Path("/"), "people", None)
    (tmp_path / "no.duckdb").write_text("not a database")
    with pytest.raises(InputError, match=r"Database 'no\.duckdb' \(table 'people'\)"):
        read_frame(f"duckdb:///{tmp_path}/no.duckdb", Path("/"), "people", None)
    with pytest.raises(JobError, match="DuckDB files are read alone"):
        job(output={"url": "duckdb:///out.duckdb"})
    url = duckdb_file(tmp_path)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[duckdb\]'"):
        dc.publish(None, job(source={"url": url, "table": "people"}))


def test_a_database_that_is_named_like_a_file(tmp_path):
    """The message has the URL that is meant."""
    duckdb_file(tmp_path)
    with sqlite3.connect(tmp_path / "people.db") as made:
        made.execute("CREATE TABLE people (zip)")
    made.close()
    for name, kind in (("people.db", "sqlite"), ("data.duckdb", "duckdb")):
        with pytest.raises(InputError, match=f"Give its URL, {kind}:///.*{name}, with a table"):
            dc.check(tmp_path / name, quasi=["zip"], k=1)
    with pytest.raises(InputError, match="not 'mysql'. Other databases are checked .* Ibis"):
        dc.check("mysql://host/people", table="people", quasi=["zip"], k=1)
