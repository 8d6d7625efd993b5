"""A table that counts its own rows: one GROUP BY, and only combinations with their counts leave.

Every requirement follows from counts, so a check needs no row. Identifiers are numbered where they
are (``DENSE_RANK``) and do not leave either.

Cells must be told apart as when they are read: by their bytes, whatever the collation of a column,
and by their type, where a column of SQLite has several. Ibis serves any backend, by the one
aggregation that all have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import EMPTY, InputError
from discreet.extras import require_extra
from discreet.io.database_tables import opened_relation, select_of, with_names
from discreet.io.databases import (
    READ_SCHEMES,
    Database,
    column_name,
    column_of_cells,
    connect,
    dialect_of,
    fetch,
    name_of,
    reading_cursor,
)
from discreet.io.frames import code_frame
from discreet.io.header import distinct_names, renaming_notice, require_names
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.table.roles import ColumnSpec

NUMBER = "discreet_person"  # the column of numbers in the place of identifiers
COUNT = "discreet_count"


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The distinct combinations of some columns, with the number of rows that have each."""

    frame: pl.DataFrame  # a row for each combination
    times: NDArray[np.int64]  # (combinations,)
    # (combinations,) where persons are told apart: the number of a person, −1 for an unnamed one
    person: NDArray[np.int64] | None = None


class Place(ABC):
    """A table somewhere else that can count."""

    name: str  # for messages
    remarks: tuple[str, ...] = ()  # what counts in this place do not say, once it has counted

    def named(self, written: Sequence[str]) -> tuple[str, ...]:
        """Return a name of its own for every column; where some share one, remark it."""
        names = distinct_names(written, self.name)
        notice = renaming_notice(written, names)
        self.remarks = () if notice is None else (notice,)
        return tuple(names)

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Return the names of its columns."""

    @abstractmethod
    def counted(self, columns: Sequence[str], person: Sequence[str]) -> pl.DataFrame:
        """Return the combinations by the columns' names, NUMBER (with persons) and COUNT."""

    def count(self, columns: Sequence[str], person: Sequence[str] = ()) -> CountedRows:
        """Count the rows of each combination of cells, and of each person if some are named."""
        counts = self.counted(columns, person)
        if not counts.height:
            raise InputError(f"{self.name}: the table has columns but no rows.").with_code(EMPTY)
        times = counts.get_column(COUNT).cast(pl.Int64).to_numpy()
        numbers = None
        if person:
            numbers = counts.get_column(NUMBER).cast(pl.Int64).fill_null(-1).to_numpy()
        return CountedRows(counts.select(list(columns)), times, numbers)


def is_url(data: Any) -> bool:
    """Return whether a table is named by the URL of a database."""
    return isinstance(data, str) and "://" in data


def require_one_table(table: str | None, query: str | None, *, url: bool = True) -> None:
    """Raise unless a URL comes with a table or a query, and anything else with neither."""
    if url and (table is None) == (query is None):
        raise InputError("Name either the table of the database or a query.")
    if not url and (table is not None or query is not None):
        raise InputError("A table or a query is for the URL of a database.")


def require_file_for(options: Mapping[str, Any] | None, data: Any) -> None:
    """Raise where options to read a file come with something else."""
    if options and (not isinstance(data, str | Path) or is_url(data)):
        raise InputError(f"source: {', '.join(options)} says how to read a file. Name a file.")


def place_of(data: Any, folder: Path, table: str | None, query: str | None) -> Place | None:
    """Return the place of a table that counts by itself; None for a file or a frame.

    A URL names a database, whose ``table`` or ``query`` is given beside it.
    """
    require_one_table(table, query, url=is_url(data))
    if is_url(data):
        return place_of_url(data, folder, table, query)
    library = type(data).__module__.partition(".")[0]
    if library in ("duckdb", "_duckdb"):
        return RelationPlace(data)
    if library == "ibis":
        return IbisPlace(data)
    return None


def coded_counts(
    place: Place,
    specs: Mapping[str, ColumnSpec],
    person: Sequence[str] = (),
    missing: Collection[str] = (),
) -> tuple[CodedTable, Persons | None]:
    """Count and code some columns: an entry for each combination, with persons one for each row."""
    counted = place.count(list(specs), person)
    table = code_frame(counted.frame, specs, missing)
    if counted.person is None:
        return table.counted(counted.times), None
    entry = np.repeat(np.arange(len(counted.times)), counted.times)
    return table.take(entry), numbered_persons(counted.person[entry])


def numbered_persons(number: NDArray[np.int64]) -> Persons:
    """Return the person of each row; a row without a number is a person of its own."""
    unnamed = number < 0
    number = number.copy()
    number[unnamed] = number.max(initial=-1) + 1 + np.arange(int(unnamed.sum()))
    distinct, number = np.unique(number, return_inverse=True)
    return Persons(number.astype(np.int64), len(distinct), int(unnamed.sum()))


# Types of PostgreSQL whose values are compared as they are read: truth values, integers, floats,
# dates and times. All others are compared as text, as the server writes it.
PLAIN_TYPES = {16, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184}
TEXT_TYPES = {25, 1043}


def place_of_url(url: str, folder: Path, table: str | None, query: str | None) -> Place:
    """Return the table or the query of a database."""
    if urlsplit(url).scheme not in READ_SCHEMES:
        raise InputError(
            f"A check in place by URL is for {', '.join(READ_SCHEMES)}, not "
            f"'{urlsplit(url).scheme}'. Other databases are checked in Python through Ibis: "
            "dc.check(connection.table('people'), …)."
        )
    if dialect_of(url, to_read=True) == "duckdb":
        return DuckDBFile(url, folder, table, query)
    return DatabasePlace(url, folder, table, query)


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
                cell = cell if types[name] in PLAIN_TYPES else _written(cell, types[name])
                keys.append(cell)
            cells.append(cell)
        texts = [f"CAST({column_name(name)} AS TEXT) COLLATE BINARY" for name in person]
        if not sqlite:
            texts = [_written(column_name(name), types[name]) for name in person]
        ranked = [f"NULLIF({text}, '')" for text in texts]
        statement = count_statement(self.select, cells, keys, ",\n".join(ranked))
        with self._database() as database:
            _, rows = fetch(database, statement)
        shown = [*columns, *([NUMBER] if person else []), COUNT]
        cells_by_column: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * len(shown)
        return pl.DataFrame(
            [column_of_cells(n, c) for n, c in zip(shown, cells_by_column, strict=True)]
        )

    @contextmanager
    def _database(self) -> Iterator[Database]:
        database = connect(self.url, self.folder, read_only=True)
        try:
            with database._reporting(self.name.partition(" (")[2].rstrip(")")):
                yield database
        finally:
            database.close()


def _written(cell: str, kind: int) -> str:
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
        cells = [
            _binary(column_name(name)) if types[name] == "VARCHAR" else column_name(name)
            for name in columns
        ]
        ranked = [
            f"NULLIF({_binary(f'CAST({column_name(name)} AS VARCHAR)')}, '')" for name in person
        ]
        view = "discreet_source"
        select = with_names(f"SELECT * FROM {view}", names)
        statement = count_statement(select, cells, cells, ",\n".join(ranked))
        try:
            counts = pl.DataFrame(self.relation.query(view, statement))
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
                raise
            raise InputError(  # the message of DuckDB may quote cells
                f"{self.name}: the rows cannot be counted ({type(error).__name__})."
            ) from None
        shown = [*columns, *([NUMBER] if person else []), COUNT]
        return counts.rename(dict(zip(counts.columns, shown, strict=True)))


def _binary(cell: str) -> str:
    """Compare text by its bytes, whatever the collation of its column."""
    return f"decode(encode({cell}))"


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
