"""Writing a published table as CSV or Parquet, rows in a given order.

Every label gets its quotes once, in the dictionary of its column; Polars then writes cells as they
are. Rows are written block by block, so memory holds the codes and little else.

A CSV file keeps the text of the source. In Parquet files and databases an integer of a declared
type is an int64, a number a double and a date a date32, where every published cell is exactly such
a value: an integer beyond 64 bits, a number that no double equals and a masked cell keep their
column text. Quasi-identifiers are cells (ranges, sets, labels), so they keep the type that the
release gives them.

Check that a published file has exactly the bytes that discreet writes for its table.

Quotes that are not needed, a byte order mark, metadata, another compression or another layout do
not change the table and could carry anything. The table that was read is rendered again, block by
block, and compared with the file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
import polars as pl

from discreet.errors import InputError, ReleaseError
from discreet.extras import require_pyarrow
from discreet.io.column_dictionary import as_floats, canonical_text, render
from discreet.io.csv.layout import LONGEST_MARK, is_packed
from discreet.io.source import Tell, ignore_progress
from discreet.regular_files import open_regular
from discreet.table.budgets import BYTES_AT_ONCE, IN_CACHE
from discreet.table.coded_table import CodedTable
from discreet.table.published import PublishedColumn
from discreet.table.roles import Role, ValueType
from discreet.typing import AnyInts

OutputFormat = Literal["csv", "parquet"]

CSV_ROWS = 1 << 17
PARQUET_ROWS = 1 << 20
NEEDS_QUOTES = r'[,"\r\n]'
HEADER_NEEDS_QUOTES = '[,;\t|"\r\n\ufeff]'  # also characters that look like another delimiter


def write_table(
    path: Path,
    format: OutputFormat,
    columns: Sequence[PublishedColumn],
    order: AnyInts | None = None,
    tell: Tell = ignore_progress,
) -> None:
    """Write a table and flush it to the disk; on failure, remove the file."""
    write = write_csv if format == "csv" else _write_parquet
    try:
        with path.open("xb") as file:
            try:
                write(file, columns, order, tell)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise ReleaseError(f"{path} already exists. Remove it, or choose another path.") from None
    except OSError as error:
        raise ReleaseError(
            f"{path}: cannot be written ({error.strerror or error}). Nothing was left there. "
            "Make room or choose another place."
        ) from None


def require_format(format: OutputFormat | None) -> None:
    """Raise unless tables can be written in a format, before any other work."""
    if format == "parquet":
        require_pyarrow()


def _parts(rows: int, size: int) -> Iterator[slice]:
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def _row_count(columns: Sequence[PublishedColumn], order: AnyInts | None) -> int:
    return len(columns[0].codes) if order is None else len(order)


def write_csv(
    file: IO[bytes] | io.RawIOBase,
    columns: Sequence[PublishedColumn],
    order: AnyInts | None,
    tell: Tell,
) -> None:
    """Write a table to an open file."""
    names = pl.Series([column.name for column in columns])
    file.write((",".join(_quoted(names, HEADER_NEEDS_QUOTES)) + "\n").encode())
    # Many readers skip an empty line, so a lone missing cell is quoted.
    missing = '""' if len(columns) == 1 else ""
    rows = _row_count(columns, order)
    cells = [_quoted(render(c.dictionary), NEEDS_QUOTES).fill_null(missing) for c in columns]
    for part in _parts(rows, _rows_at_once(cells)):
        tell(part.start / rows)
        places = part if order is None else order[part]
        gathered = [
            text.gather(pl.Series(column.codes[places])).alias(str(number))
            for number, (text, column) in enumerate(zip(cells, columns, strict=True))
        ]
        block = io.BytesIO()
        pl.DataFrame(gathered).write_csv(block, include_header=False, quote_style="never")
        file.write(block.getbuffer())


def _rows_at_once(cells: Sequence[pl.Series]) -> int:
    """Return how many rows a block has, so that it stays small however long the cells are."""
    longest = sum(int(cast(int, text.str.len_bytes().max() or 0)) + 1 for text in cells)
    return max(1, min(CSV_ROWS, BYTES_AT_ONCE // longest))


def _quoted(cells: pl.Series, pattern: str) -> pl.Series:
    """Cells with quotes where they need them."""
    cell = pl.col("cell")
    doubled = pl.format('"{}"', cell.str.replace_all('"', '""', literal=True))
    quoted = pl.when(cell.str.contains(pattern)).then(doubled).otherwise(cell)
    return cells.to_frame("cell").select(quoted).to_series()


def _write_parquet(
    file: IO[bytes], columns: Sequence[PublishedColumn], order: AnyInts | None, tell: Tell
) -> None:
    pa = require_pyarrow()
    dictionaries = [column.dictionary.drop_nulls().to_arrow() for column in columns]
    schema = pa.schema(
        [(column.name, values.type) for column, values in zip(columns, dictionaries, strict=True)]
    )
    # The null is removed from the dictionary, so codes above it move down by one.
    shifts = [
        (np.cumsum(column.dictionary.is_not_null().to_numpy()) - 1).astype(np.int32)
        for column in columns
    ]
    absent = [column.dictionary.is_null().to_numpy() for column in columns]
    with pa.parquet.ParquetWriter(file, schema, store_schema=False) as writer:
        rows = _row_count(columns, order)
        for number, part in enumerate(_parts(rows, PARQUET_ROWS)):
            tell(number * PARQUET_ROWS / rows)
            arrays = []
            for column, values, shift, null in zip(
                columns, dictionaries, shifts, absent, strict=True
            ):
                codes = column.codes[part if order is None else order[part]]
                index: Any = pa.array(shift[codes], mask=null[codes] if null.any() else None)
                arrays.append(values.take(index))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


EXACT_ROLES = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)


def typed_columns(
    columns: Sequence[PublishedColumn], types: Mapping[str, ValueType]
) -> list[PublishedColumn]:
    """Return the columns of a table, those that are published as they are with their type."""
    return [
        replace(column, dictionary=typed_values(column.dictionary, types[column.name]))
        if column.role in EXACT_ROLES and column.name in types
        else column
        for column in columns
    ]


def typed_values(dictionary: pl.Series, kind: ValueType) -> pl.Series:
    """Return a dictionary as values of a type, or unchanged where some value is not exactly one."""
    from_float = kind is ValueType.INTEGER and not dictionary.dtype.is_integer()
    if not kind.ordered or (dictionary.dtype != pl.String and not from_float):
        return dictionary
    text = render(dictionary, kind)
    bare = text.str.strip_chars()
    match kind:
        case ValueType.INTEGER:
            typed = bare.cast(pl.Int64, strict=False)
        case ValueType.DATE:
            typed = bare.str.to_date("%Y-%m-%d", strict=False)
        case _:
            typed = as_floats(bare)
    exact = canonical_text(render(typed), kind).eq_missing(canonical_text(text, kind))
    return typed.alias(dictionary.name) if exact.all() else dictionary


COMPRESSION = "SNAPPY"  # the only one that discreet writes; its ratio is bounded
WRITER = "parquet-cpp-arrow version "
DENSE_BYTES = 1 << 33  # of one table's cells; above, a Parquet file is not rendered again


def is_compressed(path: Path) -> bool:
    """Return whether a CSV file is compressed, which reading would unpack to any size."""
    with open_regular(path) as file:
        return is_packed(file.read(LONGEST_MARK))


def is_canonical_csv(path: Path, table: CodedTable) -> bool:
    """Return whether a CSV file has the bytes that discreet writes for the table read from it."""
    columns = [PublishedColumn(c.name, c.role, c.codes, c.values) for c in table]
    with open_regular(path) as file:
        sink = _Compared(file)
        try:
            write_csv(sink, columns, None, ignore_progress)
        except _DifferentError:
            return False
        return not file.read(1)


def parquet_rows(path: Path) -> int | None:
    """Return the number of rows in a Parquet footer; None if the layout is not that of discreet.

    Reads the footer alone.
    """
    pa = require_pyarrow()
    try:
        footer = pa.parquet.read_metadata(path)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path}: not a valid Parquet file.") from None
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    sound = (
        footer.metadata is None
        and str(footer.created_by).startswith(WRITER)
        and all(group.num_rows == PARQUET_ROWS for group in groups[:-1])
        and all(0 < group.num_rows <= PARQUET_ROWS for group in groups)
        and all(
            group.column(number).compression == COMPRESSION
            for group in groups
            for number in range(group.num_columns)
        )
    )
    return footer.num_rows if sound else None


def is_of_other_library(path: Path) -> bool:
    """Return whether another version of the library, or another library, wrote a Parquet file."""
    pa = require_pyarrow()
    return bool(pa.parquet.read_metadata(path).created_by != WRITER + pa.cpp_version)


def is_canonical_parquet(path: Path, dense_bytes: int) -> bool | None:
    """Return whether a Parquet file has the bytes that discreet writes; None if that is unknown.

    Another version of the library may write the same table differently. ``dense_bytes`` is the size
    of all cells without a dictionary.
    """
    pa = require_pyarrow()
    if is_of_other_library(path) or dense_bytes > DENSE_BYTES:
        return None
    file = pa.parquet.ParquetFile(path)
    with open_regular(path) as stored:
        sink = _Compared(stored)
        schema = file.schema_arrow
        try:
            with pa.parquet.ParquetWriter(
                pa.PythonFile(sink, "w"), schema, store_schema=False
            ) as writer:
                for number in range(file.metadata.num_row_groups):
                    writer.write_table(file.read_row_group(number))
        except _DifferentError:
            pass  # the writer writes more when it closes
        return not sink.different and not stored.read(1)


class _DifferentError(Exception):
    pass


class _Compared(io.RawIOBase):
    """A file to write to that compares the bytes it receives with another file."""

    def __init__(self, other: IO[bytes]) -> None:
        self.other, self.different = other, False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for start in range(0, view.nbytes, IN_CACHE):
            part = bytes(view[start : start + IN_CACHE])  # views compare item by item
            if self.different or self.other.read(len(part)) != part:
                self.different = True
                raise _DifferentError
        return view.nbytes
