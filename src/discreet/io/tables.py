"""Reading a table from the source of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from discreet.errors import InputError
from discreet.io.column_dictionary import no_cells
from discreet.io.csv.layout import header
from discreet.io.csv.reader import read_delimited
from discreet.io.frames import code_series
from discreet.io.header import require_names
from discreet.io.source import Source, Tell, ignore_progress
from discreet.table.coded_table import CodedTable
from discreet.table.column_spec import ColumnSpec

DECIMAL_DIGITS = 38  # that Polars reads


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns of a table, without reading its rows."""
    if source.is_text:
        return header(source)
    first = _files(source)[0]
    names = list(_schema(source, first))
    require_names(names, str(source.path))
    return tuple(names)


def read_table(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = ignore_progress
) -> CodedTable:
    """Read and code a table; specs name all its columns."""
    if source.is_text:
        return read_delimited(source, specs, tell)
    names = column_names(source)
    coded = [name for name in names if specs[name].role.published]
    columns = {}
    rows = 0
    for number, name in enumerate(coded):
        tell(number / len(coded))
        series = _read_column(source, name)
        rows = len(series)
        if rows == 0:
            raise InputError(f"{source.path}: the file has columns but no rows.")
        columns[name] = code_series(series, specs[name], source.missing, str(source.path))
    left_out = tuple(name for name in names if name not in columns)
    return CodedTable(columns, rows, left_out)


def _read_column(source: Source, name: str) -> pl.Series:
    """Return one column of all files of a table."""
    return pl.concat([_read_file(source, path, name) for path in _files(source)])


def _schema(source: Source, path: Path) -> Mapping[str, pl.DataType]:
    read = pl.read_parquet_schema if source.resolved_format == "parquet" else pl.read_ipc_schema
    with _readable(source):
        return read(path)


def _files(source: Source) -> list[Path]:
    """The files of a table: its own, or all Parquet files of a folder."""
    if source.path.is_dir() and source.resolved_format == "parquet":
        files = sorted(source.path.glob("*.parquet"))
        if files:
            return files
    source.require_file()
    return [source.path]


def _read_file(source: Source, path: Path, name: str) -> pl.Series:
    """Return one column of a file, by its number: Polars takes some names for patterns."""
    schema = _schema(source, path)
    with _readable(source):
        if name not in schema:
            raise pl.exceptions.ColumnNotFoundError
        dtype, number = schema[name], list(schema).index(name)
        if isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > DECIMAL_DIGITS:
            raise no_cells(name, f"decimal256({dtype.precision}, {dtype.scale})")
        if source.resolved_format == "parquet":
            lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        else:
            lazy = pl.scan_ipc(path, glob=False, hive_partitioning=False)
        return lazy.select(pl.nth(number)).collect().to_series()


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(
            f"{source.path}: not a valid {source.resolved_format} file "
            f"({type(error).__name__}). Set its `format:` if it is of another kind."
        ) from None
