"""Tables of databases and of Ibis that count their own rows: one GROUP BY each.

Cells must be told apart as when they are read: by their bytes, whatever the collation of a column,
and by their type, where a column of SQLite has several. Ibis serves any backend, by the one
aggregation that all have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import polars as pl

from discreet.addons.places.database_tables import (
    opened_relation,
    opened_table,
    select_of,
    with_names,
)
from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.databases import (
    Database,
    column_name,
    column_of_cells,
    connect,
    fetch,
    name_of,
    reading_cursor,
)
from discreet.io.header import distinct_names, require_names
from discreet.io.in_place import COUNT, NUMBER, Place, PlaceKind, RemoteTable

# Types of PostgreSQL whose values are compared as they are read: truth values, numbers,
# dates and times. All others are compared as text, as the server writes it.
PLAIN_TYPES = {16, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184, 1700}
TEXT_TYPES = {25, 1043}


def count_statement(select: str, cells: Sequence[str], keys: Sequence[str], person: str) -> str:
    """The one GROUP BY: ``cells`` are returned, ``keys`` tell combinations apart.

    ``person`` is the expression that orders identifiers, or empty.
    """
    source = f"(\n{select}\n) AS source"
    shown = [f"{cell} AS c{number}" for number, cell in enumerate(cells)]
    keys = list(keys)
    if person:
        rank = f"DENSE_RANK() OVER (ORDER BY {person})"
        source = f"(SELECT *, {rank} AS {NUMBER} FROM {source}) AS numbered"
        absent = " OR ".join(f"({expression}) IS NULL" for expression in person.split(",\n"))
        number = f"CASE WHEN {absent} THEN NULL ELSE {NUMBER} END"
        shown.append(f"{number} AS {NUMBER}")
        keys.append(number)
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*shown, f'COUNT(*) AS {COUNT}'])} FROM {source}{grouped}"


class DatabasePlace(Place):
    """A table of SQLite or PostgreSQL, read by a connection that cannot write."""

    def __init__(self, url: str, folder: Path, table: str | None, query: str | None) -> None:
        self.url, self.folder = url, folder
        self.select = select_of(table, query)
        self.name = f"Database '{name_of(url)}'" + (f" (table '{table}')" if table else " (query)")

    def columns(self) -> tuple[str, ...]:
        with self._database() as database:
            written = [name for name, _ in _described(database, self.select)]
        names = self.named(written)
        if list(names) != written:
            self.select = with_names(self.select, names)
        return names

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        with self._database() as database:
            types = dict(_described(database, self.select))
        sqlite = urlsplit(self.url).scheme == "sqlite"
        cells, keys = [], []
        for name in columns:
            cell = column_name(name)
            if sqlite:
                keys += [f"typeof({cell})", f"{cell} COLLATE BINARY"]
            else:
                cell = postgres_key(name, types[name])
                keys.append(cell)
            cells.append(cell)
        texts = [f"CAST({column_name(name)} AS TEXT) COLLATE BINARY" for name in person]
        if not sqlite:
            texts = [written_text(column_name(name), types[name]) for name in person]
        ranked = [f"NULLIF({text}, '')" for text in texts]
        statement = count_statement(self.select, cells, keys, ",\n".join(ranked))
        with self._database() as database:
            _, rows = fetch(database, statement)
        return pl.DataFrame(
            [column_of_cells(str(place), cells)
             for place, cells in enumerate(zip(*rows, strict=True))]
        )  # fmt: skip

    @contextmanager
    def _database(self) -> Iterator[Database]:
        database = connect(self.url, self.folder, read_only=True)
        try:
            with database._reporting(self.name.partition(" (")[2].rstrip(")")):
                yield database
        finally:
            database.close()


def postgres_key(name: str, kind: int) -> str:
    """The expression by which cells of a column of PostgreSQL are told apart."""
    cell = column_name(name)
    return cell if kind in PLAIN_TYPES else written_text(cell, kind)


def duckdb_key(name: str, kind: str) -> str:
    """The expression by which cells of a column of DuckDB are told apart: text by its bytes."""
    cell = column_name(name)
    is_text = kind.startswith(("VARCHAR", "ENUM"))
    return f"decode(encode(CAST({cell} AS VARCHAR)))" if is_text else cell


def written_text(cell: str, kind: int) -> str:
    """A cell of PostgreSQL as the text that the server writes; a cast would trim some types."""
    text = f"CASE WHEN {cell} IS NULL THEN NULL ELSE concat({cell}) END"
    text = cell if kind in TEXT_TYPES else text
    return f'({text}) COLLATE "C"'


def _described(database: Database, select: str) -> list[tuple[str, Any]]:
    """The names of the columns, and their types in PostgreSQL."""
    with reading_cursor(database, select) as cursor:
        return [(column[0], column[1]) for column in cursor.description]


class RelationPlace(Place):
    """A relation of DuckDB, counted by its own connection."""

    def __init__(self, relation: Any, name: str = "The DuckDB relation") -> None:
        if not hasattr(relation, "query"):
            raise InputError(
                f"A DuckDB relation is needed, not {type(relation).__name__}. Use "
                "connection.table('…') or connection.sql('…')."
            )
        self.relation = relation
        self.name = name

    def columns(self) -> tuple[str, ...]:
        return self.named(self.relation.columns)

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        names = distinct_names(self.relation.columns, self.name)
        types = dict(zip(names, map(str, self.relation.types), strict=True))
        cells = [duckdb_key(name, types[name]) for name in columns]
        ranked = [f"NULLIF({duckdb_key(name, 'VARCHAR')}, '')" for name in person]
        view = "discreet_source"
        select = with_names(f"SELECT * FROM {view}", names)
        statement = count_statement(select, cells, cells, ",\n".join(ranked))
        try:
            return pl.DataFrame(self.relation.query(view, statement))
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
                raise
            raise InputError(  # the message of DuckDB may quote cells
                f"{self.name}: the rows cannot be counted ({type(error).__name__})."
            ) from None


class DuckDBFile(Place):
    """A table of a DuckDB file, ``duckdb:///people.duckdb``."""

    def __init__(self, url: str, folder: Path, table: str | None, query: str | None) -> None:
        self.source = (url, folder, table, query)
        self.name = f"Database '{name_of(url)}'"

    def columns(self) -> tuple[str, ...]:
        with opened_relation(*self.source) as (_, written):
            return self.named(written)

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        with opened_relation(*self.source) as (relation, _):
            return RelationPlace(relation, self.name).counted(columns, person)


# Backends that compare text by its bytes, unless a column was declared otherwise.
BY_BYTES = (
    "bigquery",
    "clickhouse",
    "datafusion",
    "duckdb",
    "polars",
    "pyspark",
    "snowflake",
    "trino",
)


class IbisPlace(Place):
    """An Ibis table expression; its backend groups and counts."""

    name = "The Ibis table"

    def __init__(self, table: Any) -> None:
        if not hasattr(table, "group_by"):
            raise InputError(f"An Ibis table is needed, not {type(table).__name__}.")
        self.table = table
        self.backend = str(table.get_backend().name)

    def columns(self) -> tuple[str, ...]:
        require_names(self.table.columns, self.name)
        return tuple(self.table.columns)

    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        texts = [name for name in columns if self.table[name].type().is_string()]
        if self.backend not in BY_BYTES and texts:
            try:
                return self._grouped(columns, person, texts)
            except Exception:  # of a backend that cannot see the bytes of text
                self.remarks = (
                    f"Text was compared as the backend '{self.backend}' compares it. Where that "
                    "ignores case, accents or blanks, classes are smaller than counted here.",
                )
        try:
            return self._grouped(columns, person, ())
        except Exception as error:  # of any backend; its message may quote cells
            raise InputError(
                f"{self.name}: the backend cannot count the rows ({type(error).__name__})."
            ) from None

    def _grouped(
        self, columns: Sequence[str], person: Sequence[str], by_bytes: Sequence[str]
    ) -> pl.DataFrame:
        """Count combinations, of some columns also by the bytes of their text."""
        ibis = require_extra("ibis", "Ibis tables", "ibis")
        table, keys = self.table, list(columns)
        if person:
            texts = [table[name].cast("string").nullif("") for name in person]
            rank = ibis.dense_rank().over(ibis.window(order_by=texts))
            absent = texts[0].isnull()
            for text in texts[1:]:
                absent |= text.isnull()
            table = table.mutate(**{NUMBER: ibis.ifelse(absent, ibis.null(), rank)})
            keys.append(NUMBER)
        for number, name in enumerate(by_bytes):
            table = table.mutate(**{f"discreet_bytes_{number}": table[name].cast("binary")})
            keys.append(f"discreet_bytes_{number}")
        grouped = table.group_by(keys).aggregate(**{COUNT: table.count()})
        counts: pl.DataFrame = grouped.drop(*keys[len(keys) - len(by_bytes) :]).to_polars()
        return counts


class ServerTables(PlaceKind):
    """Tables of a PostgreSQL server."""

    name: ClassVar[str] = "postgresql"

    @classmethod
    def opened(
        cls, url: str, folder: Path, table: str | None, query: str | None
    ) -> AbstractContextManager[RemoteTable]:
        return opened_table(url, folder, table, query)

    @classmethod
    def place(cls, url: str, folder: Path, table: str | None, query: str | None) -> Place:
        return DatabasePlace(url, folder, table, query)


class SQLiteTables(ServerTables):
    """Tables of an SQLite file."""

    name: ClassVar[str] = "sqlite"


class DuckDBTables(ServerTables):
    """Tables of a DuckDB file, and relations of DuckDB in Python."""

    name: ClassVar[str] = "duckdb"

    @classmethod
    def place(cls, url: str, folder: Path, table: str | None, query: str | None) -> Place:
        return DuckDBFile(url, folder, table, query)

    @classmethod
    def place_of_frame(cls, frame: Any) -> Place:
        return RelationPlace(frame)


class IbisTables(PlaceKind):
    """Table expressions of Ibis, on any of its backends."""

    name: ClassVar[str] = "ibis"

    @classmethod
    def place_of_frame(cls, frame: Any) -> Place:
        return IbisPlace(frame)
