"""Check that a published file has exactly the bytes that discreet writes for its table.

Quotes that are not needed, a byte order mark, metadata, another compression or another layout do
not change the table and could carry anything. The table that was read is rendered again, block by
block, and compared with the file.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

from discreet.errors import InputError
from discreet.extras import require_pyarrow
from discreet.io.csv.text_stream import GZIP, ZSTD
from discreet.io.source import ignore_progress
from discreet.io.writing import PARQUET_ROWS, write_csv
from discreet.regular_files import open_regular
from discreet.table.coded_table import CodedTable
from discreet.table.published import PublishedColumn

COMPRESSION = "SNAPPY"  # the only one that discreet writes; its ratio is bounded
WRITER = "parquet-cpp-arrow version "
COMPARED_AT_ONCE = 1 << 18
DENSE_BYTES = 1 << 33  # of one table's cells; above, a Parquet file is not rendered again


def is_compressed(path: Path) -> bool:
    """Return whether a CSV file is compressed, which reading would unpack to any size."""
    with open_regular(path) as file:
        return file.read(len(ZSTD)).startswith((GZIP, ZSTD))


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
        for start in range(0, view.nbytes, COMPARED_AT_ONCE):
            part = bytes(view[start : start + COMPARED_AT_ONCE])  # views compare item by item
            if self.different or self.other.read(len(part)) != part:
                self.different = True
                raise _DifferentError
        return view.nbytes
