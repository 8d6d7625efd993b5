"""Reading a table from where a job says it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from discreet.errors import InputError
from discreet.io.csv.layout import header
from discreet.io.csv.reader import read_delimited
from discreet.io.frames import code_series, require_cells
from discreet.io.header import require_names
from discreet.io.source import Source, Tell, tell_nobody
from discreet.table.coded_table import CodedTable
from discreet.table.column_spec import ColumnSpec


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns of a table, without reading its rows."""
    if source.is_text:
        return header(source)
    first = _files(source)[0]
    with _readable(source):
        schema = (
            pyarrow.parquet.read_schema(first)
            if source.resolved_format == "parquet"
            else pa.ipc.open_file(pa.memory_map(str(source.path))).schema
        )
    require_names(schema.names, str(source.path))
    return tuple(schema.names)


def read_table(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = tell_nobody
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
    """One column, with texts as the dictionary that the file holds them in."""
    with _readable(source):
        if source.resolved_format == "parquet":
            table = pa.concat_tables([_read_parquet(path, name) for path in _files(source)])
            table = table.unify_dictionaries()
        else:
            table = pyarrow.feather.read_table(source.path, columns=[name], memory_map=True)
    require_cells(name, table.column(name).type)
    with _readable(source):
        series = pl.from_arrow(table.column(name).combine_chunks())
    assert isinstance(series, pl.Series)
    return series.alias(name)


def _files(source: Source) -> list[Path]:
    """The files of a table: its own, or all Parquet files of a folder."""
    if source.path.is_dir() and source.resolved_format == "parquet":
        files = sorted(source.path.glob("*.parquet"))
        if files:
            return files
    source.require_file()
    return [source.path]


def _read_parquet(path: Path, name: str) -> pa.Table:
    # A path of names would be cut at dots; ParquetFile takes top-level names as they are.
    file = pyarrow.parquet.ParquetFile(path)
    index = file.schema_arrow.get_field_index(name)
    if pa.types.is_string(file.schema_arrow.field(index).type):
        file = pyarrow.parquet.ParquetFile(path, read_dictionary=[name])
    return file.read(columns=[name])


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{source.path}: not a valid {source.resolved_format} file "
            f"({type(error).__name__}). Set its `format:` if it is of another kind."
        ) from None
