"""Tables of databases, by one statement that only reads.

PostgreSQL sends the rows as CSV (COPY), which is read as a file is. SQLite gives Python values in
batches. Either way cells are numbered as text; the distinct ones then get the type of their column,
and memory holds codes and distinct cells. DuckDB gives its columns as Arrow.
"""

from __future__ import annotations

import io
import re
import secrets
import select
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl

from discreet.errors import EMPTY, InputError
from discreet.extras import require_extra
from discreet.io.column_dictionary import sort_dictionary
from discreet.io.csv.file_pieces import cut_file
from discreet.io.csv.layout import READ_AT_ONCE, Layout
from discreet.io.csv.numbered_cells import NumberedCells, PieceReader
from discreet.io.databases import (
    MOST_DIGITS,
    ROWS_AT_ONCE,
    Database,
    column_name,
    connect,
    dialect_of,
    file_of,
    name_of,
    quoted,
    reading_cursor,
)
from discreet.io.frames import code_frame, plain_frame
from discreet.io.header import distinct_names, names_read
from discreet.table.coded_table import CodedTable
from discreet.table.roles import ColumnSpec
from discreet.typing import Ints

# Text in quotes or between dollars, comments, the end of a statement, anything else.
_TOKENS = re.compile(
    r"""(?P<text> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
               | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
      | (?P<blank> --[^\n]* | /\*.*?\*/ | \s+ )
      | (?P<end> ; )
      | .""",
    re.DOTALL | re.VERBOSE,
)


def select_of(table: str | None, query: str | None) -> str:
    """Return the statement that reads a table, or the query itself."""
    return f"SELECT * FROM {quoted(table)}" if table else _without_end(query or "")


def with_names(statement: str, names: Sequence[str]) -> str:
    """Return a statement whose columns have other names, each by its place."""
    listed = ", ".join(map(column_name, names))
    source = "discreet_named"
    return f"WITH {source}({listed}) AS (\n{statement}\n)\nSELECT * FROM {source}"


def _without_end(query: str) -> str:
    """Return a query up to the semicolon that ends it; comments may follow that.

    A query of several statements is returned as it is, for its database to refuse. Where a database
    delimits text in yet another way, a cut within it leaves text that nothing closes, which no
    database runs.
    """
    end, ended = 0, False
    for token in _TOKENS.finditer(query):
        if token["end"]:
            ended = True
        elif not token["blank"]:
            if ended:
                return query
            end = token.end()
    if end == 0:
        raise InputError("The query of the source is empty. Write one SELECT.")
    return query[:end]


Typed = Callable[[pl.Series], pl.Series]  # distinct texts as values of their column's type

INTEGERS, FLOATS = (20, 21, 23), (700, 701)  # types of PostgreSQL by their numbers
NUMERIC = 1700
BOOLEAN, DATE, TIME, TIMESTAMP, TIMESTAMP_WITH_ZONE = 16, 1082, 1083, 1114, 1184


@dataclass(frozen=True, eq=False)
class DatabaseTable:
    """The result of one statement, whose rows are read once."""

    database: Database
    statement: str
    place: str
    described: Sequence[tuple[str, Any]]  # name and type of each column
    cursor: Any
    written: Sequence[str]  # the names of the statement, which may be shared

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.described)

    def coded(self, specs: Mapping[str, ColumnSpec], missing: Collection[str]) -> CodedTable:
        """Code every column that may be published; specs name all columns."""
        cells = {name: NumberedCells() for name in self.names if specs[name].role.published}
        if self.database.dialect == "postgresql":
            rows, typed, null = self._copy(cells)
        else:
            rows, typed, null = self._fetch(cells)
        if rows == 0:
            raise InputError(f"{self.place}: the table has columns but no rows.").with_code(EMPTY)
        columns = {}
        for name, column_cells in cells.items():
            empty = None if null is None else ""
            numbers, raw = column_cells.distinct(empty)
            raw = raw if null is None else raw.replace({null: None})

            def locate(
                bad: Ints, column_cells: NumberedCells = column_cells, numbers: Ints = numbers
            ) -> str:
                return f"{self.place}, row {column_cells.first_row(numbers[bad]) + 1}"

            values = typed[name](raw).alias(name)
            dictionary = sort_dictionary(name, specs[name], values, missing, locate)
            codes = column_cells.recoded(numbers, dictionary.code_of_raw)
            columns[name] = dictionary.column(name, specs[name], codes)
        return CodedTable(columns, rows, tuple(n for n in self.names if n not in columns))

    def _copy(self, cells: Mapping[str, NumberedCells]) -> tuple[int, dict[str, Typed], str | None]:
        """Take all rows from PostgreSQL; return their number and what marks a null.

        The cursor has taken the statement, so it is one query: its brackets are balanced, and the
        COPY around it ends where it seems to.
        """
        null = secrets.token_hex(8)  # no cell has this text
        rows = 0
        layout = Layout(self.names, b",", b'"', headed=False)
        command = f"COPY (\n{self.statement}\n) TO STDOUT (FORMAT csv, NULL '{null}')"
        connection = self.database.connection
        connection.execute("SET LOCAL datestyle = 'ISO'")
        connection.execute("SET LOCAL client_encoding = 'UTF8'")
        stream = cast(IO[bytes], io.BufferedReader(_Copied(connection, command), READ_AT_ONCE))
        reader = PieceReader(cells)
        for piece in cut_file(stream, layout, b"", 1):
            rows += reader.add(piece, self.place)
        return rows, {name: _type_of_number(kind) for name, kind in self.described}, null

    def _fetch(
        self, cells: Mapping[str, NumberedCells]
    ) -> tuple[int, dict[str, Typed], str | None]:
        """Take all rows from SQLite, whose columns have the types of their cells."""
        rows = 0
        kinds: dict[str, set[type]] = {name: set() for name in cells}
        while batch := self.cursor.fetchmany(ROWS_AT_ONCE):
            rows += len(batch)
            for name, column in zip(self.names, zip(*batch, strict=True), strict=True):
                if name in cells:
                    cell_types = set(map(type, column)) - {type(None)}
                    kinds[name] |= cell_types
                    cells[name].add(_texts(column, cell_types))
        return rows, {name: _type_of_cells(cell_types) for name, cell_types in kinds.items()}, None


@contextmanager
def opened_table(
    url: str, folder: Path, table: str | None, query: str | None
) -> Iterator[DatabaseTable | DuckDBTable]:
    """Run one statement by a connection that cannot write."""
    if dialect_of(url, to_read=True) == "duckdb":
        with opened_relation(url, folder, table, query) as (relation, written):
            names_read(written, f"Database '{name_of(url)}'")  # warns
            yield DuckDBTable(relation, written)
        return
    statement = select_of(table, query)
    database = connect(url, folder, read_only=True)
    what = f"table '{table}'" if table else "query"
    place = f"Database '{database.name}' ({what})"
    try:
        with database._reporting(what), reading_cursor(database, statement) as cursor:
            described = [(column[0], column[1]) for column in cursor.description]
            written = [name for name, _ in described]
            names = names_read(written, place)
            described = [(name, kind) for name, (_, kind) in zip(names, described, strict=True)]
            yield DatabaseTable(database, statement, place, described, cursor, written)
    finally:
        database.close()


class _Copied(io.RawIOBase):
    """The bytes that a COPY of PostgreSQL sends.

    A server sends a message for each row, and psycopg's own reader takes 2 µs for each; asking its
    wrapper of libpq takes a tenth of that.
    """

    def __init__(self, connection: Any, command: str) -> None:
        self._pgconn = connection.pgconn
        self._library = import_module("psycopg")
        self._ready = memoryview(b"")
        self._pgconn.send_query_params(command.encode(), None)  # which takes one statement
        self._result(self._library.pq.ExecStatus.COPY_OUT)
        self._more = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready and self._more:
            self._ready = memoryview(self._receive())
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _receive(self) -> bytearray:
        """Return the rows of many messages; nothing at the end."""
        rows = bytearray()
        while len(rows) < READ_AT_ONCE:
            size, row = self._pgconn.get_copy_data(1)
            if size > 0:
                rows += row  # at once: to keep a million small objects costs more than to copy them
            elif size == 0:
                self._wait()
            else:
                self._more = False
                self._result(self._library.pq.ExecStatus.COMMAND_OK)
                break
        return rows

    def _result(self, expected: int) -> None:
        """Take a result of the server; raise its error if it is not the expected one."""
        while self._pgconn.is_busy():
            self._wait()
        result = self._pgconn.get_result()
        if result is None or result.status != expected:
            raise self._library.errors.error_from_result(result)

    def _wait(self) -> None:
        select.select([self._pgconn.socket], [], [])
        self._pgconn.consume_input()


def _texts(cells: Sequence[Any], kinds: set[type]) -> pl.Series:
    """Return cells of SQLite as text."""
    if kinds <= {str} or kinds == {int}:
        return pl.Series(cells, dtype=pl.Int64 if kinds == {int} else pl.String).cast(pl.String)
    return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _type_of_cells(kinds: set[type]) -> Typed:
    if kinds == {int}:
        return _integers
    return _floats if kinds and kinds <= {int, float} else _as_it_is


def _type_of_number(number: int) -> Typed:
    """Return how texts of a type of PostgreSQL become values; most types are text."""
    if number in INTEGERS:
        return _integers
    if number in FLOATS:
        return _floats
    known: dict[int, Typed] = {
        NUMERIC: _decimals,
        BOOLEAN: lambda texts: texts == "t",
        DATE: lambda texts: _with_unconverted(texts, texts.str.to_date("%Y-%m-%d", strict=False)),
        TIME: lambda texts: _with_unconverted(
            texts, texts.str.to_time("%H:%M:%S%.f", strict=False)
        ),
        TIMESTAMP: lambda texts: _with_unconverted(
            texts, texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
        ),
        TIMESTAMP_WITH_ZONE: lambda texts: _with_unconverted(
            texts, texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%#z", strict=False)
        ),
    }
    return known.get(number, _as_it_is)


def _as_it_is(texts: pl.Series) -> pl.Series:
    return texts


def _integers(texts: pl.Series) -> pl.Series:
    return texts.cast(pl.Int64)


def _floats(texts: pl.Series) -> pl.Series:
    """Return the nearest doubles, as Python reads them; NaN and infinity among them."""
    numbers = [np.nan if text is None else float(text) for text in texts]
    return pl.Series(numbers, dtype=pl.Float64).set(texts.is_null(), None)


def _longest(texts: pl.Series) -> int:
    """Return the number of characters of the longest text."""
    return max(texts.str.len_chars().drop_nulls().to_list(), default=0)


def _decimals(texts: pl.Series) -> pl.Series:
    """Return decimals with the digits of the longest fraction; texts where these are too many."""
    parts = texts.str.strip_chars_start("-").str.split_exact(".", 1).struct.unnest()
    scale = _longest(parts["field_1"])
    digits = scale + _longest(parts["field_0"])
    if digits > MOST_DIGITS:
        return texts
    return _with_unconverted(texts, texts.cast(pl.Decimal(MOST_DIGITS, scale), strict=False))


def _with_unconverted(texts: pl.Series, values: pl.Series) -> pl.Series:
    """Return values, or the texts where some has no value, such as a date before Christ."""
    return values if values.null_count() == texts.null_count() else texts


@contextmanager
def opened_relation(
    url: str, folder: Path, table: str | None, query: str | None
) -> Iterator[tuple[Any, list[str]]]:
    """Yield the relation of a table or a query while its file is open, and the names as written.

    Columns of a query that share a name have distinct ones in the relation.
    """
    duckdb = require_extra("duckdb", "DuckDB files", "duckdb")
    path, name = file_of(url, folder), name_of(url)
    if not path.is_file():
        raise InputError(f"{path}: there is no such database. Check the URL.")
    what = f"table '{table}'" if table else "query"
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            statement = select_of(table, query)
            # COPY, which writes files of a read-only database too, is no subquery
            nested = f"SELECT * FROM (\n{statement}\n) AS source"
            if any(len(connection.extract_statements(text)) > 1 for text in (statement, nested)):
                raise InputError(f"Database '{name}': the query is several statements. Use one.")
            connection.sql(nested)
            relation = connection.sql(statement)
            written = list(relation.columns)
            names = distinct_names(written, f"Database '{name}' ({what})")
            if names != written:
                relation = connection.sql(with_names(statement, names))
            yield relation, written
    except duckdb.Error as error:  # whose message may quote cells
        kind = type(error).__name__
        raise InputError(f"Database '{name}' ({what}): it cannot be read ({kind}).") from None


@dataclass(frozen=True, eq=False)
class DuckDBTable:
    """The result of one statement of DuckDB, whose rows are read once."""

    relation: Any
    written: Sequence[str]  # the names of the statement, which may be shared

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.relation.columns)

    def coded(self, specs: Mapping[str, ColumnSpec], missing: Collection[str]) -> CodedTable:
        """Code every column that may be published, as those of a relation given in Python are."""
        read = [name for name in self.names if specs[name].role.published]
        chosen = self.relation.project(", ".join(map(column_name, read)))
        table = code_frame(plain_frame(chosen), specs, missing)
        return replace(table, left_out=tuple(name for name in self.names if name not in read))
