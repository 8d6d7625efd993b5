"""Writing a published table as CSV or Parquet, rows in a given order.

Every label is turned into the bytes of its cell once; a row is then a few copies of bytes. Rows
are written block by block, so memory holds the codes and little else.
"""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.io.column_dictionary import render
from discreet.io.source import Tell, tell_nobody
from discreet.table.kernels import kernel
from discreet.table.published import PublishedColumn
from discreet.typing import AnyInts

OutputFormat = Literal["csv", "parquet"]

CSV_ROWS = 1 << 14  # a block that stays in the cache between rendering and writing
PARQUET_ROWS = 1 << 20
NEEDS_QUOTES = r'[,"\r\n]'
HEADER_NEEDS_QUOTES = '[,;\t|"\r\n\ufeff]'  # also what would mislead a reader about the delimiter


def write_table(
    path: Path,
    format: OutputFormat,
    columns: Sequence[PublishedColumn],
    order: AnyInts | None = None,
    tell: Tell = tell_nobody,
) -> None:
    """Write a table and bring it to the disk; nothing is left where that fails."""
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
        raise ReleaseError(f"{path}: is there already. Remove it, or write elsewhere.") from None
    except OSError as error:
        raise ReleaseError(
            f"{path}: cannot be written ({error.strerror or error}). Nothing was left there. "
            "Make room or choose another place."
        ) from None


def _slices(rows: int, size: int, order: AnyInts | None) -> Iterator[slice | AnyInts]:
    for start in range(0, rows, size):
        part = slice(start, min(start + size, rows))
        yield part if order is None else order[part]


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
    base, start, text = _cells(columns)
    first_word, words = _align(start, text)
    length = np.diff(start)
    codes = [_narrow(column) for column in columns]

    def render_rows(part: slice | AnyInts) -> NDArray[np.uint8]:
        rows = len(codes[0][part])
        cells = np.empty((len(columns), rows), np.int32)
        for number, column in enumerate(codes):
            cells[number] = column[part]
        result, size = _render_rows(cells, base, first_word, length, words)
        return result.view(np.uint8)[:size]

    rows = _row_count(columns, order)
    for number, block in enumerate(_ahead(render_rows, _slices(rows, CSV_ROWS, order))):
        tell(number * CSV_ROWS / rows)
        file.write(block.data)


def _ahead(
    work: Callable[[slice | AnyInts], NDArray[np.uint8]], parts: Iterator[slice | AnyInts]
) -> Iterator[NDArray[np.uint8]]:
    """The results in order, computed a few ahead in threads."""
    workers = os.cpu_count() or 1
    waiting: deque[Future[NDArray[np.uint8]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _quoted(cells: pl.Series, pattern: str) -> pl.Series:
    """Cells with quotes where they need them."""
    cell = pl.col("cell")
    doubled = pl.format('"{}"', cell.str.replace_all('"', '""', literal=True))
    quoted = pl.when(cell.str.contains(pattern)).then(doubled).otherwise(cell)
    return cells.to_frame("cell").select(quoted).to_series()


def _cells(
    columns: Sequence[PublishedColumn],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Every cell with what follows it: a column's first, where each starts, and the bytes."""
    base = np.zeros(len(columns), np.int64)
    parts: list[pl.Series] = []
    for number, column in enumerate(columns):
        base[number] = sum(len(part) for part in parts)
        # A line with nothing on it is no row to many readers, so a lone missing cell is quoted.
        missing = '""' if len(columns) == 1 else ""
        cells = _quoted(render(column.dictionary), NEEDS_QUOTES).fill_null(missing)
        parts.append(cells + ("\n" if number == len(columns) - 1 else ","))
    array = pl.concat([part.alias("cell") for part in parts]).to_arrow(
        compat_level=pl.CompatLevel.oldest()
    )
    buffers: Any = array.buffers()
    _, offsets, data = buffers
    start = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1].copy()
    text = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return base, start, text.copy()


def _narrow(column: PublishedColumn) -> NDArray[np.integer]:
    """The codes in the narrowest type: to gather them in random order is to miss the cache."""
    size = len(column.dictionary)
    dtype = np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int32
    return column.codes.astype(dtype, copy=False)


@kernel
def _align(
    start: NDArray[np.int64], text: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The cells again, each from a word of its own on, the last one filled up with zeros."""
    first_word = np.zeros(len(start), np.int64)
    for cell in range(len(start) - 1):
        first_word[cell + 1] = first_word[cell] + (start[cell + 1] - start[cell] + 7) // 8
    words = np.zeros(first_word[-1], np.uint64)
    for cell in range(len(start) - 1):
        for i in range(start[cell + 1] - start[cell]):
            byte = np.uint64(text[start[cell] + i])
            words[first_word[cell] + i // 8] |= byte << np.uint64(8 * (i % 8))
    return first_word, words


@kernel
def _render_rows(
    cells: NDArray[np.int32],
    base: NDArray[np.int64],
    first_word: NDArray[np.int64],
    length: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], int]:
    """The cells of rows one after the other, eight bytes at a time; also the number of bytes."""
    columns, rows = cells.shape
    size = 0
    for column in range(columns):
        for row in range(rows):
            size += length[base[column] + cells[column, row]]
    result = np.empty(size // 8 + 2, np.uint64)
    place = 0
    pending = np.uint64(0)  # the word that is being filled, from its low end
    filled = 0  # bits of it, fewer than 64
    for row in range(rows):
        for column in range(columns):
            cell = base[column] + cells[column, row]
            bits = 8 * length[cell]
            source = first_word[cell]
            while bits > 0:
                word = words[source]
                pending |= word << np.uint64(filled)
                result[place] = pending
                total = filled + min(bits, 64)
                if total >= 64:
                    place += 1
                    pending = (word >> np.uint64(1)) >> np.uint64(63 - filled)
                    total -= 64
                filled = total
                bits -= 64
                source += 1
    result[place] = pending
    return result, size


def _write_parquet(
    file: IO[bytes], columns: Sequence[PublishedColumn], order: AnyInts | None, tell: Tell
) -> None:
    dictionaries = [column.dictionary.drop_nulls().to_arrow() for column in columns]
    schema = pa.schema(
        [(column.name, values.type) for column, values in zip(columns, dictionaries, strict=True)]
    )
    # Codes above a null move down by one once it is gone; wherever it is, it is left out.
    shifts = [
        (np.cumsum(column.dictionary.is_not_null().to_numpy()) - 1).astype(np.int32)
        for column in columns
    ]
    absent = [column.dictionary.is_null().to_numpy() for column in columns]
    with pyarrow.parquet.ParquetWriter(file, schema, store_schema=False) as writer:
        rows = _row_count(columns, order)
        for number, part in enumerate(_slices(rows, PARQUET_ROWS, order)):
            tell(number * PARQUET_ROWS / rows)
            arrays = []
            for column, values, shift, null in zip(
                columns, dictionaries, shifts, absent, strict=True
            ):
                codes = column.codes[part]
                index: Any = pa.array(shift[codes], mask=null[codes] if null.any() else None)
                arrays.append(values.take(index))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
