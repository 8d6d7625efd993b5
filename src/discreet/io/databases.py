"""Databases as places for tables: SQLite files and PostgreSQL servers, by URL.

``sqlite:///people.db`` is a file beside the job, ``sqlite:////data/people.db`` an absolute path,
``postgresql://host/name`` a server. DuckDB files, which are read alone, have a module of their own.
A URL never contains a password: PostgreSQL takes it from ``PGPASSWORD`` or the password file, and a
URL with a password is refused before anything reads it. No message repeats a URL beyond its
database's name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from discreet.errors import InputError
from discreet.extras import require_extra

if TYPE_CHECKING:
    import polars as pl

Dialect = Literal["sqlite", "postgresql", "duckdb"]
SCHEMES: dict[str, Dialect] = {
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
READ_SCHEMES: dict[str, Dialect] = {**SCHEMES, "duckdb": "duckdb"}  # of sources
SECRETS = ("password", "sslpassword", "sslkey")  # parameters that a URL may not contain
ROWS_AT_ONCE = 50_000
MOST_DIGITS = 38  # of a decimal
READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


def dialect_of(url: str, *, to_read: bool = False) -> Dialect:
    """Return the kind of database that a URL names; raise if it names none or has a password.

    DuckDB files are read and not written.
    """
    parts = urlsplit(url)
    dialect = (READ_SCHEMES if to_read else SCHEMES).get(parts.scheme)
    if dialect is None:
        known = "sqlite:///, duckdb:/// or" if to_read else "sqlite:/// or"
        where = "" if to_read or parts.scheme != "duckdb" else " DuckDB files are read alone."
        raise InputError(
            f"The URL of a database starts with {known} postgresql://, not "
            f"'{parts.scheme}:'.{where}"
        )
    named = [name for name, _ in parse_qsl(parts.query) if name.lower() in SECRETS]
    if parts.password is not None or named:
        raise InputError(
            "The URL of a database contains a password. Remove it, and use PGPASSWORD or "
            "the password file (~/.pgpass)."
        )
    return dialect


def name_of(url: str) -> str:
    """Return the name of a database for messages: the last part of its path."""
    return unquote(urlsplit(url).path).rsplit("/", 1)[-1] or "the default database"


def file_of(url: str, folder: Path) -> Path:
    """The file of an SQLite URL; a relative one lies in ``folder``."""
    path = unquote(urlsplit(url).path)
    return folder / path.removeprefix("/")


class Database:
    """A connection that takes the same SQL for both kinds; transactions are opened explicitly."""

    def __init__(self, connection: Any, dialect: Dialect, name: str) -> None:
        self.connection = connection
        self.dialect = dialect
        self.name = name

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows, if it has any."""
        with self._reporting():
            cursor = self.connection.execute(self._written(sql), tuple(values))
            return list(cursor.fetchall()) if cursor.description else []

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for many rows."""
        with self._reporting():
            cursor = self.connection.cursor()
            cursor.executemany(self._written(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one transaction."""
        self.run("BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN")
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        self.run("COMMIT")

    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""
        if self.dialect == "sqlite":
            return bool(self.run("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))
        return self.run("SELECT to_regclass(?)", (quoted(name),))[0][0] is not None

    def close(self) -> None:
        self.connection.close()

    def _written(self, sql: str) -> str:
        return sql if self.dialect == "sqlite" else sql.replace("?", "%s")

    @contextmanager
    def _reporting(self, what: str = "") -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise database_error(self.name, error, what) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "psycopg":
                raise
            raise database_error(self.name, error, what) from None


CONDITIONS = {  # SQLSTATE, or its class, in our own words: those of a server may quote cells
    "08": "the connection was lost",
    "22": "a cell does not fit what the statement does with it, for example a type conversion",
    "25006": "the statement writes, and a source is read-only",
    "28": "the server refused the user or the password",
    "3D000": "there is no such database",
    "40": "a concurrent transaction interfered; run again",
    "42501": "the user may not read this",
    "42601": "the statement is not one SQL query",
    "42703": "there is no such column",
    "42P01": "there is no such table",
    "42": "the statement does not fit the tables of the database",
    "53": "the server has too little memory, disk or connections",
    "54": "the statement or its result is too large for the server",
    "55": "another connection holds the table; run again",
    "57": "the server stopped the statement",
}
SQLITE_CONDITIONS = {
    "SQLITE_AUTH": "the statement does more than read, and a source is read-only",
    "SQLITE_BUSY": "another connection is writing; run again",
    "SQLITE_CANTOPEN": "the file cannot be opened",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_CONSTRAINT": "a row breaks a constraint of the table",
    "SQLITE_ERROR": "the statement does not fit the tables of the database",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the file cannot be read or written",
    "SQLITE_LOCKED": "another connection is writing; run again",
    "SQLITE_NOTADB": "the file is not an SQLite database",
    "SQLITE_READONLY": "the statement writes, and the database is read-only",
}
REFUSALS = {  # parts of libpq's messages where no server answered with a code
    "password": "the server refused the user or the password",
    "does not exist": "there is no such database or user",
    "refused": "no server answers at this address",
    "timeout": "the server does not answer",
    "translate host name": "there is no such host",
}


DAMAGE = (  # codes of statements that no longer fit their tables, or of cells that are no text
    "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH", "OperationalError",
    "DatabaseError", "DataError", "42", "22",
)  # fmt: skip


class DatabaseError(InputError):
    """A database refused a statement, or cannot be read."""

    def __init__(self, message: str, code: str = "", reason: str = "") -> None:
        self.code, self.reason = code, reason
        super().__init__(message)

    @property
    def damaged(self) -> bool:
        """Whether a statement that fitted the tables when they were made does so no longer."""
        return self.code.startswith(DAMAGE)

    def __reduce__(self) -> tuple[type[DatabaseError], tuple[str, str, str]]:
        return DatabaseError, (str(self), self.code, self.reason)


def database_error(name: str, error: Exception, what: str = "") -> DatabaseError:
    """Return the error of a database in our own words: the original message may quote cells."""
    code = str(getattr(error, "sqlstate", None) or "")
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorname", None) or type(error).__name__
        family = "_".join(code.split("_")[:2])
        reason = SQLITE_CONDITIONS.get(family, "the statement cannot be run")
        if "one statement at a time" in str(error):
            reason = "a source is read by one statement, and there are several"
    elif code:
        reason = CONDITIONS.get(code) or CONDITIONS.get(code[:2]) or "the server refused it"
    else:
        message = str(error)
        reason = next((ours for part, ours in REFUSALS.items() if part in message), "it failed")
        code = type(error).__name__
    where = f" ({what})" if what else ""
    return DatabaseError(f"Database '{name}'{where}: {reason} ({code}).", code, reason)


def connect(
    url: str, folder: Path, *, read_only: bool = False, wait: float = 30.0, create: bool = False
) -> Database:
    """Open a database; wait up to ``wait`` seconds for another writer."""
    # A file is opened as far as it is needed.
    dialect = dialect_of(url)
    name = name_of(url)
    if dialect == "sqlite":
        path = file_of(url, folder)
        if not path.is_file() and not create:
            raise InputError(f"{path}: there is no such database. Check the URL.")
        mode = "ro" if read_only else "rwc" if create else "rw"
        try:
            connection: Any = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=wait,
                isolation_level=None,
            )
            connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()
        except sqlite3.Error as error:
            raise database_error(name, error) from None
        return Database(connection, dialect, name)
    # A server.
    connection = _psycopg(url, name)
    if read_only:
        connection.execute("SET default_transaction_read_only = on")
    return Database(connection, dialect, name)


def _psycopg(url: str, name: str) -> Any:
    psycopg = require_extra("psycopg", "Tables of PostgreSQL", "postgres")
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.Error as error:
        raise database_error(name, error) from None


def quoted(name: str) -> str:
    """Quote the name of a table or column for SQL; a dot separates schema and table."""
    return ".".join(map(column_name, name.split(".")))


def column_name(name: str) -> str:
    """Quote the name of a column for SQL; a dot is part of it."""
    return '"' + name.replace('"', '""') + '"'


def fetch(
    database: Database, statement: str
) -> tuple[list[tuple[str, Any]], list[tuple[Any, ...]]]:
    """Run one statement that only reads; return names and types of columns, and the rows.

    PostgreSQL declares a cursor for it inside a read-only transaction: the protocol then takes one
    statement, a cursor takes queries alone, and nothing inside a query ends the transaction.
    SQLite runs one statement at a time; the authorizer lets it do nothing but read.
    """
    with reading_cursor(database, statement) as cursor:
        return [(column[0], column[1]) for column in cursor.description], cursor.fetchall()


@contextmanager
def reading_cursor(database: Database, statement: str) -> Iterator[Any]:
    """Yield a cursor on the rows of one statement, by a connection that then can only read."""
    connection = database.connection
    if database.dialect == "postgresql":
        connection.execute("BEGIN READ ONLY")
        with connection.cursor(name="discreet") as cursor:
            cursor.execute(statement)
            yield cursor
        return
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(_reads_alone)
    cursor = connection.execute(statement)
    if cursor.description is None:
        raise InputError(f"Database '{database.name}': the query returns no table.")
    yield cursor


def _reads_alone(action: int, *_: object) -> int:
    """Allow a statement of SQLite to select, to read columns and to call functions."""
    return sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY


def column_of_cells(name: str, cells: Sequence[Any]) -> pl.Series:
    """Return a column of a result: typed where all cells have the same type, else as text."""
    import polars as pl

    kinds = {type(cell) for cell in cells if cell is not None}
    names = {kind.__name__ for kind in kinds}
    if names == {"Decimal"}:
        return _decimals(name, cells)
    plain = len(kinds) <= 1 and not names & {"UUID", "dict", "list", "bytes", "memoryview"}
    if plain or kinds == {int, float}:
        return pl.Series(name, cells, strict=False)
    texts = [None if cell is None else str(cell) for cell in cells]
    return pl.Series(name, texts, dtype=pl.String)


def _decimals(name: str, cells: Sequence[Any]) -> pl.Series:
    """Return decimals of one scale, as text where they have too many digits."""
    import polars as pl

    parts = [cell.as_tuple() for cell in cells if cell is not None]
    if all(isinstance(part.exponent, int) for part in parts):  # not NaN
        scale = max(max(-part.exponent, 0) for part in parts)
        digits = scale + max(len(part.digits) + part.exponent for part in parts)
        if max(digits, scale) <= MOST_DIGITS:
            return pl.Series(name, cells, dtype=pl.Decimal(MOST_DIGITS, scale))
    texts = [None if cell is None else format(cell, "f") for cell in cells]
    return pl.Series(name, texts, dtype=pl.String)


@contextmanager
def writing_tables(
    url: str, folder: Path, frames: Mapping[str, pl.DataFrame], *, force: bool
) -> Iterator[None]:
    """Write tables in one transaction, which is committed when the block ends without an error."""
    database = connect(url, folder, create=True)
    try:
        with database.transaction():
            for name, frame in frames.items():
                _write_frame(database, name, frame, force=force)
            yield
    finally:
        database.close()


def _write_frame(database: Database, name: str, frame: pl.DataFrame, *, force: bool) -> None:
    if database.has_table(name):
        if not force:
            raise InputError(
                f"Database '{database.name}': the table '{name}' already exists. Use --force "
                "to replace it, or choose another `prefix:`."
            )
        database.run(f"DROP TABLE {quoted(name)}")
    columns = ", ".join(f"{quoted(c.name)} {_type_of(c.dtype, database.dialect)}" for c in frame)
    database.run(f"CREATE TABLE {quoted(name)} ({columns})")
    if database.dialect == "postgresql":
        with (
            database._reporting(),
            database.connection.cursor() as cursor,
            cursor.copy(f"COPY {quoted(name)} FROM STDIN") as copy,
        ):
            for row in frame.iter_rows():
                copy.write_row(row)
        return
    marks = ", ".join("?" * frame.width)
    for part in frame.iter_slices(ROWS_AT_ONCE):
        rows = [[_cell(cell) for cell in row] for row in part.iter_rows()]
        database.run_many(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)


def _type_of(dtype: pl.DataType, dialect: Dialect) -> str:
    import polars as pl

    if isinstance(dtype, pl.Decimal):
        return f"NUMERIC({dtype.precision}, {dtype.scale})" if dialect != "sqlite" else "TEXT"
    if dtype.is_integer():
        return "BIGINT"
    if dtype.is_float():
        return "DOUBLE PRECISION"
    if dialect != "sqlite" and (name := _TIMES.get(str(dtype).partition("(")[0])):
        zoned = getattr(dtype, "time_zone", None) is not None
        return f"{name} WITH TIME ZONE" if zoned else name
    return {"Date": "DATE", "Boolean": "BOOLEAN"}.get(str(dtype), "TEXT")


_TIMES = {"Datetime": "TIMESTAMP", "Time": "TIME"}  # SQLite has none


def _cell(value: Any) -> Any:
    """Return a value for SQLite, which has neither dates nor decimals: they are written as text."""
    if type(value).__name__ == "Decimal":
        return str(value)
    return value.isoformat() if hasattr(value, "isoformat") else value
