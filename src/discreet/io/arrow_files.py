"""Parquet and Arrow files: one, several by a pattern, or a folder partitioned by columns.

A folder ``year=2024/region=north`` gives every row of the files in it the cells ``2024`` and
``north`` of the columns ``year`` and ``region``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from discreet.errors import InputError
from discreet.io.column_dictionary import no_cells
from discreet.io.source import Source
from discreet.regular_files import open_regular, require_unpacked_cells, require_unpacked_stream

SHARED = (
    "Give each column a name of its own where the file is written, or read it with pyarrow and "
    "give its table to Python: columns that share a name are then numbered."
)
DECIMAL_DIGITS = 38  # that Polars reads
MAGIC = b"ARROW1"  # of an Arrow file; a stream has none
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the name of a folder whose rows have no value


def arrow_names(source: Source) -> list[str]:
    """Return the names of a table's columns, those of its partitions last."""
    first = _files(source)[0]
    names = list(_schema(source, first))
    return [*names, *(name for name in _partitions(source, first) if name not in names)]


def arrow_columns(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    """Yield some columns of a table, each from all of its files."""
    files = _files(source)
    for path in files:
        with _readable(source):
            rows = _rows(source, path)
        require_unpacked_cells(path, rows, len(names))
    for name in names:
        with _readable(source):
            column = pl.concat([_read_file(source, path, name) for path in files])
        yield _typed(column) if name in _partitions(source, files[0]) else column


def _files(source: Source) -> list[Path]:
    """The files of a table: its own, those of a pattern, or all of a folder."""
    ending = "parquet" if source.resolved_format == "parquet" else "arrow"
    files: list[Path] = []
    if source.path.is_dir():
        files = sorted(path for path in source.path.rglob(f"*.{ending}") if path.is_file())
    elif source.is_pattern:
        files = source.matching()
    if files:
        return files
    source.require_file()
    return [source.path]


def _partitions(source: Source, file: Path) -> dict[str, str | None]:
    """The columns and cells that the names of the folders of a file give."""
    parts = [unquote(part).partition("=") for part in file.relative_to(source.root).parts[:-1]]
    return {name: None if cell == NO_VALUE else cell for name, sign, cell in parts if sign}


def _typed(column: pl.Series) -> pl.Series:
    """Return the cells of a partition as integers where they are written like such."""
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).eq_missing(column).all() else column


def _schema(source: Source, path: Path) -> Mapping[str, pl.DataType]:
    with _readable(source):
        if source.resolved_format == "parquet":
            return pl.read_parquet_schema(path)
        if _is_stream(path):
            require_unpacked_stream(path)
            return pl.read_ipc_stream(path, n_rows=0).schema
        return pl.read_ipc_schema(path)


def _is_stream(path: Path) -> bool:
    with open_regular(path) as file:
        return file.read(len(MAGIC)) != MAGIC


def _rows(source: Source, path: Path) -> int:
    """Return the number of rows in a file's metadata; 0 for a stream, which has none."""
    if source.resolved_format == "parquet":
        lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    elif _is_stream(path):
        return 0
    else:
        lazy = pl.scan_ipc(path, glob=False, hive_partitioning=False)
    return int(lazy.select(pl.len()).collect().item())


def _read_file(source: Source, path: Path, name: str) -> pl.Series:
    """Return one column of a file, by its number: Polars takes some names for patterns."""
    schema = _schema(source, path)
    partitions = _partitions(source, path)
    if name in schema:
        dtype, number = schema[name], list(schema).index(name)
        if isinstance(dtype, pl.Decimal) and (dtype.precision or 0) > DECIMAL_DIGITS:
            raise no_cells(name, f"decimal256({dtype.precision}, {dtype.scale})")
        if source.resolved_format == "parquet":
            lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        elif _is_stream(path):
            return pl.read_ipc_stream(path, columns=[number]).to_series()
        else:
            lazy = pl.scan_ipc(path, glob=False, hive_partitioning=False)
        return lazy.select(pl.nth(number)).collect().to_series()
    if name not in partitions:
        raise pl.exceptions.ColumnNotFoundError
    rows = _read_file(source, path, next(iter(schema))).len()
    return pl.Series(name, [partitions[name]], dtype=pl.String).new_from_index(0, rows)


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if isinstance(error, pl.exceptions.ColumnNotFoundError | pl.exceptions.SchemaError):
            problem = "its files have different columns or types"
        elif isinstance(error, pl.exceptions.DuplicateError):
            raise InputError(f"{source.path}: columns share a name. {SHARED}") from None
        elif isinstance(error, pl.exceptions.PanicException):
            raise InputError(
                f"{source.path}: not a valid {source.resolved_format} file, or columns share a "
                f"name. {SHARED}"
            ) from None
        else:
            problem = f"not a valid {source.resolved_format} file"
        raise InputError(
            f"{source.path}: {problem} ({type(error).__name__}). Set its `format:` if it is of "
            "another kind."
        ) from None
