"""A text file cut into pieces of whole records, and each piece as a Polars frame.

``records`` reads cell by cell and defines what a record is, for every faster reader. A record ends
at a line feed outside quotes (a carriage return before it belongs to the line end). A cell that
begins with the quote is quoted: a doubled quote in it is one, and nothing may follow its end. A
quote elsewhere is an ordinary character. A blank line is a missing cell in a table of one column,
and nothing in a wider one.

Polars reads a piece where it is known to agree with ``records``: quotes are around cells alone,
carriage returns in line ends alone, and there are as many cells as that many records have. Any
other piece, such as one with a blank line, and one that Polars refuses, is left to ``records``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import IO

import numpy as np
import polars as pl

from discreet.io.csv.layout import Layout
from discreet.typing import Bools, Bytes


class Fault(Enum):
    """An error in a record."""

    RAGGED = "ragged"
    TEXT_AFTER_QUOTE = "text after quote"
    UNCLOSED = "unclosed"


class FaultyRecordError(Exception):
    """A record that cannot be read."""

    def __init__(self, fault: Fault, place: int, record: int, fields: int) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.place = place  # where the record begins; of an unclosed cell, where the cell does
        self.record = record  # where the record begins
        self.fields = fields


def records(data: bytes, layout: Layout) -> Iterator[tuple[int, list[bytes]]]:
    """Yield where each record begins, and its cells; the data ends with a line feed."""
    # A cell is text up to a mark, or quoted text with a mark behind it.
    delimiter, quote = re.escape(layout.delimiter), re.escape(layout.quote)
    pattern = rb"([^" + delimiter + rb"\n]*+)(" + delimiter + rb"|\n)"
    if quote:
        quoted = quote + rb"((?:[^" + quote + rb"]++|" + 2 * quote + rb")*+)" + quote
        pattern = rb"(?!" + quote + rb")" + pattern
        pattern += rb"|" + quoted + rb"(" + delimiter + rb"|\r?\n)"
    cell = re.compile(pattern)
    # Take cells up to a line end, and check their number.
    place = 0
    while place < len(data):
        begin = place
        cells: list[bytes] = []
        last = False
        while not last:
            match = cell.match(data, place)
            if match is None:
                closed = re.compile(quoted).match(data, place)
                fault = Fault.TEXT_AFTER_QUOTE if closed else Fault.UNCLOSED
                raise FaultyRecordError(fault, begin if closed else place, begin, len(cells))
            place = match.end()
            last = data[place - 1 : place] == b"\n"
            text = match[1]
            if text is None:
                text = match[3].replace(2 * layout.quote, layout.quote)
            elif last:
                text = text.removesuffix(b"\r")
            cells.append(text)
        blank = data[begin:place] in (b"\n", b"\r\n")
        if blank and layout.fields > 1:
            continue
        if len(cells) != layout.fields:
            raise FaultyRecordError(Fault.RAGGED, begin, begin, len(cells))
        yield begin, cells


def end_of_records(data: bytes, layout: Layout) -> int:
    """Return where the last whole record ends: before a quoted cell that nothing closes."""
    try:
        for _ in records(data, layout):
            pass
    except FaultyRecordError as error:
        if error.fault is Fault.UNCLOSED:
            return error.record
    return len(data)


BLOCK_BYTES = 1 << 23
LINE_FEED, CARRIAGE_RETURN = 10, 13


@dataclass(frozen=True, eq=False)
class FilePiece:
    """A piece of a file that holds whole records, behind one record of empty cells.

    That record gives Polars the number of cells, and is not a byte order mark.
    """

    data: bytes
    layout: Layout
    line: int  # the number of the first line behind the empty record
    sound: bool = True  # whether quotes are around cells, or doubled within, and nowhere else

    @property
    def records(self) -> bytes:
        """The records of the file."""
        return self.data[self.layout.fields :]

    @cached_property
    def line_feeds(self) -> int:
        """How often a line feed occurs, that of the empty record included."""
        return _count(_bytes(self.data), LINE_FEED, None)

    def line_at(self, place: int) -> int:
        """Return the number of the line at a place among the records."""
        return self.line + self.records.count(b"\n", 0, place)


def cut_file(file: IO[bytes], layout: Layout, ahead: bytes, line: int) -> Iterator[FilePiece]:
    """Yield the file after its header in pieces; the last one may end within a quoted cell."""
    empty = layout.delimiter * (layout.fields - 1) + b"\n"
    rest, size, at_end = ahead, BLOCK_BYTES, False
    while not at_end:
        read = file.read(size)
        at_end = len(read) < size
        data = b"".join((empty, rest, read, file.readline()))
        if not data.endswith(b"\n"):
            data += b"\n"
        if at_end and layout.fields > 1:
            data = _without_blank_end(data)
        end, sound = _end_of_records(data, layout)
        if at_end:
            end = len(data)
        rest = data[end:]
        size = BLOCK_BYTES if end > len(empty) else 2 * size
        if end > len(empty):
            piece = FilePiece(data if end == len(data) else data[:end], layout, line, sound)
            yield piece
            line += piece.line_feeds - 1


def _without_blank_end(data: bytes) -> bytes:
    """Return the data without the blank lines at its end, which many files have."""
    end = data.find(b"\n", len(data.rstrip(b"\r\n"))) + 1
    return data[:end] if b"\r" not in data[end:].replace(b"\r\n", b"\n") else data


def _bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)


def _end_of_records(data: bytes, layout: Layout) -> tuple[int, bool]:
    """Return where the last whole record ends, and whether quotes are around cells alone.

    The data ends with a line feed.
    """
    if not layout.quote or layout.quote not in data:
        return len(data), True
    quote, delimiter = layout.quote[0], layout.delimiter[0]
    bytes_ = _bytes(data)
    places = np.flatnonzero(bytes_ == quote)
    before = bytes_[places[::2] - 1]  # the empty record is before the first
    after = bytes_[places[1::2] + 1]  # a line feed is behind the last
    opens = (before == delimiter) | (before == LINE_FEED) | (before == quote)
    closes = (after == delimiter) | (after == LINE_FEED) | (after == quote)
    if not closes.all():
        second = bytes_[places[1::2][~closes] + 2] == LINE_FEED
        closes[~closes] = (after[~closes] == CARRIAGE_RETURN) & second
    if quote == delimiter or not (opens.all() and closes.all()):
        return layout.fields + end_of_records(data[layout.fields :], layout), False
    end = len(data)
    if len(places) % 2:  # the last quote opens a cell that the data does not close
        end = data.rfind(b"\n", 0, places[-1]) + 1
        while np.searchsorted(places, end) % 2:  # within an earlier cell of the same record
            end = data.rfind(b"\n", 0, end - 1) + 1
    return end, True


def read_piece(piece: FilePiece, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
    """Return the cells of a piece, null where empty; None unless they are known to be right."""
    data, layout = _bytes(piece.data), piece.layout
    if not piece.sound or _has_lone_return(piece.data):
        return None
    quoted = bool(layout.quote) and layout.quote in piece.data
    outside = _outside_quotes(data, layout.quote[0]) if quoted else None
    lines = piece.line_feeds if outside is None else _count(data, LINE_FEED, outside)
    cells = _count(data, layout.delimiter[0], outside) + lines
    # Polars refuses a record with more cells than the schema; this many cells in all records then
    # mean that no record has fewer, and that no line of a wider table is blank.
    if cells != lines * layout.fields:
        return None
    try:
        frame = pl.read_csv(
            piece.data,
            has_header=False,
            schema=schema,
            separator=layout.delimiter.decode(),
            quote_char=layout.quote.decode() if quoted else None,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame.slice(1) if frame.height == lines else None


def _has_lone_return(data: bytes) -> bool:
    """Return whether a carriage return is not part of a line end: Polars may drop it."""
    if b"\r" not in data:
        return False
    bytes_ = _bytes(data)
    return bool(((bytes_[:-1] == CARRIAGE_RETURN) & (bytes_[1:] != LINE_FEED)).any())


def _outside_quotes(data: Bytes, quote: int) -> Bools:
    """Return for each byte whether an even number of quotes is before it or at it."""
    inside = np.bitwise_xor.accumulate((data == quote).view(np.uint8))
    outside: Bools = inside == 0
    return outside


def _count(data: Bytes, byte: int, outside: Bools | None) -> int:
    """Return how often a byte occurs outside quotes."""
    matches = data == byte
    return int(np.count_nonzero(matches if outside is None else matches & outside))
