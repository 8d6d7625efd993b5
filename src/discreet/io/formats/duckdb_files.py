"""Tables of DuckDB files, ``duckdb:///people.duckdb``, by a connection that cannot write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.databases import column_name, file_of, name_of
from discreet.io.formats.source_statement import select_of, with_names
from discreet.io.frames import code_frame, plain_frame
from discreet.io.header import distinct_names
from discreet.table.coded_table import CodedTable
from discreet.table.column_spec import ColumnSpec


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
            if any(len(connection.extract_statements(one)) > 1 for one in (statement, nested)):
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
