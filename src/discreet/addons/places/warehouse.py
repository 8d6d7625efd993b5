"""A database that counts rows and writes published tables itself, in one transaction.

The statements, for a source with the columns *c0, c1, …*:

- ``counts_of``: one ``GROUP BY`` gives each combination of cells a number and its rows;
- ``table_of``: one ``CREATE TABLE AS SELECT`` joins these combinations with the published cells
  of the rows that differ, puts these into a random order, and repeats each as often as it occurs.
  So the order of the table follows from its rows and from chance alone, never from the source.

A text is compared by its bytes, and an enumeration is a text: its type would list values that no
published row has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from discreet.addons.places.counting import duckdb_key, postgres_key
from discreet.addons.places.database_tables import select_of
from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.databases import (
    Database,
    column_name,
    column_of_cells,
    connect,
    dialect_of,
    file_of,
    name_of,
    quoted,
)

COUNTS, RECODING = "discreet_counts", "discreet_recoding"
ENTRY, TIMES, PLACE = "entry", "n", "place"


def counts_of(select: str, keys: Sequence[str]) -> str:
    """Return the statement that numbers and counts the combinations of some cells."""
    return (
        f"CREATE TEMPORARY TABLE {COUNTS} AS SELECT ROW_NUMBER() OVER () - 1 AS {ENTRY}, cells.* "
        f"FROM ({_grouped(select, keys)}) AS cells"
    )


def _grouped(select: str, keys: Sequence[str]) -> str:
    """Return the statement that counts the combinations of some cells."""
    cells = ", ".join(f"{key} AS c{number}" for number, key in enumerate(keys))
    places = ", ".join(str(number + 1) for number in range(len(keys)))
    return f"SELECT {cells}, COUNT(*) AS {TIMES} FROM (\n{select}\n) AS source GROUP BY {places}"


def table_of(name: str, columns: Sequence[tuple[str, str]], copies: str) -> str:
    """Return the statement that writes a table: the name of each column, and where it comes from.

    ``copies`` is what yields as many rows as a column ``n`` says.
    """
    cells = ", ".join(f"{source} AS {column_name(name)}" for name, source in columns)
    shown = ", ".join(f"shown.{column_name(name)}" for name, _ in columns)
    return (
        f"CREATE TABLE {quoted(name)} AS SELECT {shown} FROM (SELECT {cells}, r.{TIMES} AS "
        f"discreet_times FROM {RECODING} AS r JOIN {COUNTS} AS c ON c.{ENTRY} = r.{ENTRY} "
        f"ORDER BY r.{PLACE}) AS shown CROSS JOIN {copies}"
    )


class Warehouse(ABC):
    """A connection with one transaction, which ends in a commit or leaves no trace."""

    copies: ClassVar[str]  # of a row, as many as it counts

    def __init__(self, url: str) -> None:
        self.name = f"Database '{name_of(url)}'"

    @abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement."""

    @abstractmethod
    def frame(self, statement: str) -> pl.DataFrame:
        """Return the result of a statement."""

    @abstractmethod
    def load(self, name: str, frame: pl.DataFrame) -> None:
        """Make a temporary table of a frame, replacing an earlier one."""

    @abstractmethod
    def keys(self, select: str, names: Sequence[str]) -> list[str]:
        """Return the expressions by which cells of columns are told apart."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether a table exists."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; what was not committed is gone."""

    def grouped(self, table: str, names: Sequence[str]) -> pl.DataFrame:
        """Return the distinct rows of a table, and in the last column how often each occurs."""
        select = select_of(table, None)
        counted = self.frame(_grouped(select, self.keys(select, names)))
        return counted.rename(dict(zip(counted.columns, [*names, TIMES], strict=True)))

    def rename(self, name: str, new: str) -> None:
        """Give a table its name."""
        self.run(f"ALTER TABLE {quoted(name)} RENAME TO {column_name(new.rpartition('.')[2])}")


class DuckDBWarehouse(Warehouse):
    """A DuckDB file."""

    copies: ClassVar[str] = "UNNEST(GENERATE_SERIES(1, shown.discreet_times)) AS copies(copy)"

    def __init__(self, url: str, folder: Path, *, read_only: bool = False) -> None:
        super().__init__(url)
        self._library = require_extra("duckdb", "DuckDB files", "duckdb")
        path = file_of(url, folder)
        if not path.is_file():
            raise InputError(f"{path}: there is no such database. Check the URL.")
        try:
            self._connection = self._library.connect(str(path), read_only=read_only)
        except self._library.Error as error:
            raise self._failed(error) from None
        self.run("BEGIN TRANSACTION")

    def _failed(self, error: Exception) -> InputError:
        """Return the error without its message, which may quote cells."""
        return InputError(f"{self.name}: the statement failed ({type(error).__name__}).")

    def run(self, statement: str) -> None:
        try:
            self._connection.execute(statement)
        except self._library.Error as error:
            raise self._failed(error) from None

    def frame(self, statement: str) -> pl.DataFrame:
        try:
            return pl.DataFrame(self._connection.sql(statement))
        except self._library.Error as error:
            raise self._failed(error) from None

    def load(self, name: str, frame: pl.DataFrame) -> None:
        self._connection.register("discreet_frame", frame)
        self.run(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS SELECT * FROM discreet_frame")
        self._connection.unregister("discreet_frame")

    def keys(self, select: str, names: Sequence[str]) -> list[str]:
        try:
            relation = self._connection.sql(select)
        except self._library.Error as error:
            raise self._failed(error) from None
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        return [duckdb_key(name, types[name]) for name in names]

    def has_table(self, name: str) -> bool:
        schema, _, table = name.rpartition(".")
        known = self.frame("SELECT schema_name, table_name FROM duckdb_tables()").rows()
        return (schema or "main", table) in known

    def close(self) -> None:
        self._connection.close()


class PostgreSQLWarehouse(Warehouse):
    """A PostgreSQL server; all statements see the same rows."""

    copies: ClassVar[str] = "LATERAL GENERATE_SERIES(1, shown.discreet_times) AS copies(copy)"

    def __init__(self, url: str, folder: Path, *, read_only: bool = False) -> None:
        super().__init__(url)
        self._database: Database = connect(url, folder, read_only=read_only)
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ")

    def run(self, statement: str) -> None:
        self._database.run(statement)

    def frame(self, statement: str) -> pl.DataFrame:
        with self._database._reporting(), self._database.connection.cursor() as cursor:
            cursor.execute(statement)
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * len(names)
        return pl.DataFrame(
            [column_of_cells(name, cells) for name, cells in zip(names, columns, strict=True)]
        )

    def load(self, name: str, frame: pl.DataFrame) -> None:
        types = {"Int64": "BIGINT", "Int32": "BIGINT", "Float64": "DOUBLE PRECISION"}
        types |= {"Date": "DATE", "Boolean": "BOOLEAN", "UInt32": "BIGINT"}
        columns = ", ".join(
            f"{column_name(column.name)} {types.get(str(column.dtype), 'TEXT')}" for column in frame
        )
        self.run(f"DROP TABLE IF EXISTS {name}")
        self.run(f"CREATE TEMPORARY TABLE {name} ({columns})")
        with (
            self._database._reporting(),
            self._database.connection.cursor() as cursor,
            cursor.copy(f"COPY {name} FROM STDIN") as copy,
        ):
            for row in frame.iter_rows():
                copy.write_row(row)

    def keys(self, select: str, names: Sequence[str]) -> list[str]:
        with self._database._reporting(), self._database.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM (\n{select}\n) AS source LIMIT 0")
            types = {column[0]: column[1] for column in cursor.description}
        return [postgres_key(name, types[name]) for name in names]

    def has_table(self, name: str) -> bool:
        return self._database.has_table(name)

    def close(self) -> None:
        self._database.close()


def opened_warehouse(url: str, folder: Path, *, read_only: bool = False) -> Warehouse:
    """Open a database that can count and write in place."""
    kinds = {"duckdb": DuckDBWarehouse, "postgresql": PostgreSQLWarehouse}
    dialect = dialect_of(url, to_read=True)
    if dialect not in kinds:
        raise InputError(
            f"The engine 'database' works in DuckDB and PostgreSQL, not in {dialect}. Use "
            "--engine local."
        )
    return kinds[dialect](url, folder, read_only=read_only)
