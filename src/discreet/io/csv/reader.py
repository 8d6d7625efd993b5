"""Reading delimited text: the header, the delimiter, and every cell as a code.

The file is read in blocks. One thread cuts it at the ends of records, as many threads as there are
processors number the cells of a block each, and their dictionaries are merged in order. Memory
holds the codes, the distinct values and a few blocks, never the text of the file.
"""

from __future__ import annotations

import csv
import io
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, NoReturn

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.column_dictionary import recode, sort_dictionary
from discreet.io.csv.cell_dictionary import CellDictionary
from discreet.io.csv.tokenizer import (
    LINE_FEED,
    NO_QUOTE,
    RAGGED,
    SOUND,
    Block,
    count_lines,
    find_record,
    last_record_end,
    padded,
    tokenize,
)
from discreet.io.header import looks_like_cell, require_names
from discreet.io.source import Source, Tell, open_utf8, tell_nobody, wrong_encoding
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.typing import Bytes, Codes, Words

BLOCK_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 16
SAMPLE_RECORDS = 20
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class _Layout:
    """How the records of a file are written."""

    names: tuple[str, ...]
    delimiter: int
    quote: int

    @property
    def blanks(self) -> bool:
        """Whether a blank line is a record."""
        return len(self.names) == 1


@dataclass(frozen=True, eq=False)
class _Ahead:
    """What was read of the rows while reading the header."""

    data: Bytes
    line: int  # the number of its first line


@dataclass(frozen=True, eq=False)
class _Cut:
    """A piece of the file that holds whole records."""

    words: Words
    size: int  # in bytes
    line: int  # the number of its first line

    @property
    def data(self) -> Bytes:
        return self.words.view(np.uint8)[: self.size]


def header(source: Source) -> tuple[str, ...]:
    """The names of the columns of a text file."""
    with open_utf8(source) as file:
        return _open_layout(file, source)[0].names


def suspect_header(source: Source) -> bool:
    """Return whether the first line of a text file may be a row: some name looks like a cell."""
    return _cell_like(source) > 0


def lacks_header(source: Source) -> bool:
    """Return whether the first line is most likely a row: half of its names look like cells."""
    return 2 * _cell_like(source) >= len(header(source))


def _cell_like(source: Source) -> int:
    """How many names look like cells, or are cells of their own column in the first rows."""
    with open_utf8(source) as file:
        text = file.read(SAMPLE_BYTES).decode("utf-8", "replace")
    layout_names, delimiter = dialect(source)
    rows = [cells for cells, _ in _sample_records(text, delimiter, source.quote)][1:]
    return sum(
        looks_like_cell(name) or any(name in row[place : place + 1] for row in rows)
        for place, name in enumerate(layout_names)
    )


def dialect(source: Source) -> tuple[tuple[str, ...], str]:
    """The names of the columns, and the delimiter."""
    with open_utf8(source) as file:
        layout, _ = _open_layout(file, source)
    return layout.names, chr(layout.delimiter)


def read_delimited(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = tell_nobody
) -> CodedTable:
    """Code every column of a text file that may be published."""
    with open_utf8(source) as file:
        layout, first = _open_layout(file, source)
        coded = [name for name in layout.names if specs[name].role.published]
        cells = _code_cells(file, source, layout, first, coded, tell)
    if cells.rows == 0:
        raise InputError(f"{source.path}: there is a header and no row. Nothing can be published.")

    def code(slot: int) -> Column:
        name = coded[slot]
        chosen, array = cells.entries.of_column(slot)
        raw = _require_text(array, source, name)

        def locate(bad: NDArray[np.int64]) -> str:
            line = _line_of_row(source, cells.first_row(slot, chosen[bad]))
            return f"{source.path}, line {line}"

        dictionary = sort_dictionary(name, specs[name], raw, source.missing, locate)
        codes = cells.recoded(slot, chosen, dictionary.code_of_raw)
        return dictionary.column(name, specs[name], codes)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        columns = dict(zip(coded, pool.map(code, range(len(coded))), strict=True))
    left_out = tuple(name for name in layout.names if name not in columns)
    return CodedTable(columns, cells.rows, left_out)


class _Cells:
    """The cells of all blocks, as entries."""

    def __init__(self, columns: int) -> None:
        self.entries = CellDictionary()
        self.rows = 0
        self._codes: list[list[Codes]] = [[] for _ in range(columns)]
        self._numbers: list[NDArray[np.int32]] = []  # the entry of each entry of a block

    def add(self, block: Block) -> None:
        self._numbers.append(self.entries.merge(block))
        self.rows += block.codes.shape[1]
        for parts, codes in zip(self._codes, block.codes, strict=True):
            parts.append(codes)

    def first_row(self, column: int, wanted: NDArray[np.int64]) -> int:
        """The first row whose cell is one of these entries."""
        row = 0
        for codes, number in zip(self._codes[column], self._numbers, strict=True):
            hits = np.flatnonzero(np.isin(number, wanted)[codes])
            if len(hits):
                return row + int(hits[0])
            row += len(codes)
        return row

    def recoded(self, column: int, chosen: NDArray[np.int64], code_of_raw: Codes) -> Codes:
        """The codes of a column's rows in its dictionary."""
        final = np.empty(self.entries.count, np.int32)
        final[chosen] = code_of_raw
        result = np.empty(self.rows, np.int32)
        done = 0
        for codes, number in zip(self._codes[column], self._numbers, strict=True):
            recode(codes, final[number], result[done : done + len(codes)])
            done += len(codes)
        return result


def _code_cells(
    file: IO[bytes],
    source: Source,
    layout: _Layout,
    first: _Ahead,
    coded: Sequence[str],
    tell: Tell,
) -> _Cells:
    slot_of_field = np.array(
        [coded.index(name) if name in coded else -1 for name in layout.names], np.int32
    )
    dialect = (layout.delimiter, layout.quote)
    cells = _Cells(len(coded))
    waiting: deque[Future[Block]] = deque()
    workers = os.cpu_count() or 1

    def take_oldest() -> None:
        block = waiting.popleft().result()
        if block.fault != SOUND:
            _raise_fault(source, layout, block, cells.rows + block.codes.shape[1])
        cells.add(block)

    done, whole = 0, source.path.stat().st_size
    with ThreadPoolExecutor(workers) as pool:
        for cut in _cuts(file, source, layout, first):
            done += cut.size
            tell(min(done / max(whole, 1), 1.0))  # a file that unzips or transcodes is longer
            task = pool.submit(tokenize, cut.words, cut.size, dialect, slot_of_field)
            waiting.append(task)
            if len(waiting) > workers + 1:
                take_oldest()
        while waiting:
            take_oldest()
    return cells


def _cuts(file: IO[bytes], source: Source, layout: _Layout, first: _Ahead) -> Iterator[_Cut]:
    """The file after its header, cut at ends of records; each piece ends with a line feed."""
    rest, line = first.data, first.line
    size = BLOCK_BYTES
    at_end = False
    while not at_end:
        words, data = padded(len(rest) + size + 1)
        data[: len(rest)] = rest
        count = len(rest) + _read_fully(file, data.data[len(rest) : len(rest) + size])
        at_end = count < len(rest) + size
        if at_end and count and data[count - 1] != LINE_FEED:
            data[count] = LINE_FEED
            count += 1
        end, opened = last_record_end(data[:count], layout.delimiter, layout.quote)
        if at_end and opened >= 0:
            raise InputError(
                f"{source.path}, line {line + count_lines(data[:opened])}: a quote opens a cell "
                "here and nothing closes it. Close it, or say `quote: null` if cells are never "
                "quoted."
            )
        rest = data[end:count].copy()
        size = BLOCK_BYTES if end else 2 * size
        if end:
            lines = count_lines(data[:end])
            yield _Cut(words, end, line)
            line += lines


def _read_fully(file: IO[bytes], room: memoryview) -> int:
    count = 0
    while count < len(room):
        got = file.readinto(room[count:])  # type: ignore[attr-defined]
        if not got:
            break
        count += got
    return count


def _open_layout(file: IO[bytes], source: Source) -> tuple[_Layout, _Ahead]:
    """The layout that the header tells, and the bytes that were read beyond it."""
    buffer = bytearray(BLOCK_BYTES)
    count = _read_fully(file, memoryview(buffer))
    if not buffer[:count].strip():
        raise InputError(f"{source.path}: the file is empty. A header and rows are needed.")
    end = SAMPLE_BYTES
    if count > end:
        end = buffer.rfind(LINE_FEED, 0, end) + 1 or count
    sample = bytes(buffer[: min(end, count)])
    if b"\0" in sample:
        raise _nul_bytes(source)
    text = sample.decode("utf-8", "replace")
    delimiter = source.delimiter or (
        "\t" if source.resolved_format == "tsv" else _sniff(text, source)
    )
    records = _sample_records(text, delimiter, source.quote)
    names, lines = next(records, (None, 0))
    if names is None:
        raise InputError(
            f"{source.path}, line 1: the header cannot be read. Check its quotes, and that lines "
            "end with a line feed (or carriage return and line feed)."
        )
    place = 0
    for _ in range(lines):
        place = sample.find(b"\n", place) + 1 or len(sample)
    try:
        sample[:place].decode()
    except UnicodeDecodeError:
        raise wrong_encoding(source) from None
    repeated = any(name in row for row, _ in islice(records, SAMPLE_RECORDS) for name in names)
    require_names(names, str(source.path), suspect=repeated)
    layout = _Layout(tuple(names), ord(delimiter), ord(source.quote) if source.quote else NO_QUOTE)
    return layout, _Ahead(np.frombuffer(buffer, np.uint8)[place:count], lines + 1)


def _sniff(text: str, source: Source) -> str:
    """The delimiter that cuts the header in most names, best where rows agree with it."""
    best, best_score = ",", (False, 1)
    for delimiter in DELIMITERS:
        records = islice(_sample_records(text, delimiter, source.quote), SAMPLE_RECORDS)
        widths = [len(names) for names, _ in records if names]
        if widths and widths[0] > 1:
            score = (len(set(widths)) == 1, widths[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _sample_records(
    text: str, delimiter: str, quote: str | None
) -> Iterator[tuple[list[str], int]]:
    """The first records, each with the number of its last line, up to one that is damaged."""
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        for record in reader:
            yield record, reader.line_num
    except csv.Error:
        return


def _nul_bytes(source: Source) -> InputError:
    return InputError(
        f"{source.path}: the file holds NUL bytes, so it is not text in {source.encoding}. Say its "
        "`encoding:`, such as utf-16, or its `format:`."
    )


def _require_text(array: Any, source: Source, name: str) -> pl.Series:
    """The distinct cells of a column, once they are known to be text."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise wrong_encoding(source) from None
    if b"\0" in array.buffers()[2].to_pybytes():
        raise _nul_bytes(source)
    series = pl.from_arrow(array)
    assert isinstance(series, pl.Series)
    return series.alias(name)


def _raise_fault(source: Source, layout: _Layout, block: Block, row: int) -> NoReturn:
    place = f"{source.path}, line {_line_of_row(source, row)}"
    if block.fault == RAGGED:
        found = "1 cell" if block.fields == 1 else f"{block.fields} cells"
        delimiter = chr(layout.delimiter)
        raise InputError(
            f"{place}: the row has {found}, the header {len(layout.names)}. Quote a cell that "
            f"holds {delimiter!r}, or add or remove cells; if {delimiter!r} is not what separates "
            "cells, say `delimiter:`."
        )
    raise InputError(
        f"{place}: text follows the closing quote of a cell. Double a quote inside a cell, or say "
        "`quote: null` if cells are never quoted."
    )


def _line_of_row(source: Source, row: int) -> int:
    """The line on which a row begins, found by reading the file again."""
    with open_utf8(source) as file:
        layout, first = _open_layout(file, source)
        for cut in _cuts(file, source, layout, first):
            begin, row = find_record(cut.data, layout.delimiter, layout.quote, layout.blanks, row)
            if begin >= 0:
                return cut.line + count_lines(cut.data[:begin])
    raise InputError(f"{source.path}: the file changed while it was read. Run again.")
