"""Reading a table from where a job says it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from discreet.data.spec import ColumnSpec
from discreet.data.table import CodedTable
from discreet.errors import InputError
from discreet.io.delimited import header, read_delimited
from discreet.io.frames import code_series
from discreet.io.names import require_names
from discreet.io.source import Source, Tell, tell_nobody


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns of a table, without reading its rows."""
    if source.is_text:
        return header(source)
    source.require_file()
    with _readable(source):
        schema = (
            pyarrow.parquet.read_schema(source.path)
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
            raise InputError(f"{source.path}: there are columns and no row.")
        columns[name] = code_series(series, specs[name], source.missing, str(source.path))
    left_out = tuple(name for name in names if name not in columns)
    return CodedTable(columns, rows, left_out)


def _read_column(source: Source, name: str) -> pl.Series:
    """One column, with texts as the dictionary that the file holds them in."""
    with _readable(source):
        if source.resolved_format == "parquet":
            # A path of names would be cut at dots; ParquetFile takes top-level names as they are.
            file = pyarrow.parquet.ParquetFile(source.path)
            index = file.schema_arrow.get_field_index(name)
            if pa.types.is_string(file.schema_arrow.field(index).type):
                file = pyarrow.parquet.ParquetFile(source.path, read_dictionary=[name])
            table = file.read(columns=[name])
        else:
            table = pyarrow.feather.read_table(source.path, columns=[name], memory_map=True)
        series = pl.from_arrow(table.column(name).combine_chunks())
    assert isinstance(series, pl.Series)
    return series.alias(name)


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{source.path}: is not a sound {source.resolved_format} file "
            f"({str(error).splitlines()[0]}). Say its `format:` if it is of another kind."
        ) from None
