"""The records of delimited text, cell by cell: the reference for every faster reader.

A record ends at a line feed outside quotes (a carriage return before it belongs to the line end).
A cell that begins with the quote is quoted: a doubled quote in it is one, and nothing may follow
its end. A quote elsewhere is an ordinary character. A blank line is a missing cell in a table of
one column, and nothing in a wider one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from discreet.io.csv.layout import Layout


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
    delimiter, quote = re.escape(layout.delimiter), re.escape(layout.quote)
    pattern = rb"([^" + delimiter + rb"\n]*+)(" + delimiter + rb"|\n)"
    if quote:
        quoted = quote + rb"((?:[^" + quote + rb"]++|" + 2 * quote + rb")*+)" + quote
        pattern = rb"(?!" + quote + rb")" + pattern
        pattern += rb"|" + quoted + rb"(" + delimiter + rb"|\r?\n)"
    cell = re.compile(pattern)
    place = 0
    while place < len(data):
        begin = place
        cells: list[bytes] = []
        last = False
        while not last:
            found = cell.match(data, place)
            if found is None:
                closed = re.compile(quoted).match(data, place)
                fault = Fault.TEXT_AFTER_QUOTE if closed else Fault.UNCLOSED
                raise FaultyRecordError(fault, begin if closed else place, begin, len(cells))
            place = found.end()
            last = data[place - 1 : place] == b"\n"
            text = found[1]
            if text is None:
                text = found[3].replace(2 * layout.quote, layout.quote)
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
