"""Text files that workers read themselves: stretches of lines, with the reader of one machine.

A stretch begins and ends at the start of a line. Where each has an even number of quotes, and has
them around cells alone, each begins outside of quoted cells. Otherwise a line break within a cell
may be at a border, and a task reads a whole file, as it does where a file is compressed or not in
UTF-8.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import polars as pl
import pyarrow as pa

from discreet.io.csv.file_pieces import FilePiece, cut_file, read_piece
from discreet.io.csv.layout import (
    Layout,
    nul_bytes,
    open_layout,
    open_utf8,
    require_same_columns,
    wrong_encoding,
)
from discreet.io.csv.numbered_cells import whole_records
from discreet.io.source import Source
from discreet.regular_files import open_regular
from discreet.table.budgets import BYTES_AT_ONCE


class SplitCellError(Exception):
    """A quoted cell may go beyond the lines of a stretch."""


@dataclass(frozen=True, eq=False)
class FileStretch:
    """The records of a file that begin between two places of it, or all of them."""

    source: Source
    layout: Layout
    first: int  # where the records of the file begin
    begin: int
    end: int
    whole: bool = False

    def bounds(self, file: IO[bytes]) -> tuple[int, int]:
        """Where the first line from each of the two places on begins."""
        begin, end = (_line_start(file, place, self.first) for place in (self.begin, self.end))
        return begin, end

    def _require_even_quotes(self) -> None:
        quote, quotes = self.layout.quote, 0
        if not quote:
            return
        with open_regular(self.source.path) as file:
            begin, end = self.bounds(file)
            file.seek(begin)
            while begin < end and (read := file.read(min(BYTES_AT_ONCE, end - begin))):
                quotes += read.count(quote)
                begin += len(read)
        if quotes % 2:
            raise SplitCellError

    def tables(self, names: Mapping[str, str]) -> Iterator[pa.Table]:
        """Read its records, some at a time, with the columns that get a plain name."""
        schema = dict.fromkeys(self.layout.names, pl.String())
        if not self.whole:
            self._require_even_quotes()
        for piece in self._pieces():
            if not piece.sound and not self.whole:
                raise SplitCellError
            if b"\0" in piece.data:
                raise nul_bytes(self.source)
            frame = read_piece(piece, schema)
            if frame is None:
                frame = self._by_records(piece)
            cells = [frame[name].fill_null("").alias(plain) for name, plain in names.items()]
            yield pl.DataFrame(cells).to_arrow()

    def _pieces(self) -> Iterator[FilePiece]:
        if self.whole:
            with open_utf8(self.source) as stream:
                layout, ahead, lines = open_layout(stream, self.source)
                yield from cut_file(stream, layout, ahead, lines + 1)
            return
        with open_regular(self.source.path) as file:
            begin, end = self.bounds(file)
            file.seek(begin)
            if begin < end:
                stretch = io.BufferedReader(_Lines(file, end))
                yield from cut_file(stretch, self.layout, b"", 1)

    def _by_records(self, piece: FilePiece) -> pl.DataFrame:
        """Read a piece that Polars may not; raise with the line of the file where it is faulty."""
        if not self.whole:
            with open_regular(self.source.path) as file:
                begin, _ = self.bounds(file)
                file.seek(0)
                piece = replace(piece, line=piece.line + file.read(begin).count(b"\n"))
        try:
            rows = [
                [cell.decode() for cell in row]
                for _, row in whole_records(piece, str(self.source.path))
            ]
        except UnicodeDecodeError:
            raise wrong_encoding(self.source) from None
        schema = dict.fromkeys(self.layout.names, pl.String())
        return pl.DataFrame(rows, schema=schema, orient="row")


class _Lines(io.RawIOBase):
    """The lines of a file that begin before a place in it."""

    def __init__(self, file: io.BufferedReader, end: int) -> None:
        super().__init__()
        self.file, self.end = file, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.file.readinto(memoryview(buffer)[: self.end - self.file.tell()])


def _line_start(file: IO[bytes], place: int, first: int) -> int:
    if place <= first:
        return first
    file.seek(place - 1)
    file.readline()
    return file.tell()


@dataclass(frozen=True, eq=False)
class TextFiles:
    """A table in text files; all of its cells are text."""

    source: Source
    columns: list[str]
    files: Sequence[FileStretch]
    bytes_of_row: float  # of the first rows

    @classmethod
    def of(cls, source: Source, files: Sequence[Source]) -> TextFiles:
        """The files of a table."""
        stretches: list[FileStretch] = []
        sampled = lines = 0
        for file in files:
            with open_utf8(file) as stream:
                layout, ahead, _ = open_layout(stream, file)
                plain = isinstance(getattr(stream, "raw", None), io.FileIO)
                first = stream.tell() - len(ahead) if plain else 0
            if stretches:
                require_same_columns(stretches[0].layout.names, files[0], layout.names, file)
            sampled, lines = sampled + len(ahead), lines + ahead.count(b"\n")
            size = file.path.stat().st_size
            stretches.append(FileStretch(file, layout, first, first, size, whole=not plain))
        return cls(source, list(stretches[0].layout.names), stretches, sampled / max(lines, 1))

    def splits(self, rows: int, tasks: int) -> list[FileStretch]:
        """Stretches of about so many rows, but at least one for each of the tasks."""
        size = sum(file.end - file.begin for file in self.files)
        size = max(1, min(int(rows * self.bytes_of_row), -(-size // tasks)))
        return [
            file if file.whole else replace(file, begin=begin, end=min(begin + size, file.end))
            for file in self.files
            for begin in range(file.begin, file.end, file.end if file.whole else size)
        ]

    def whole(self) -> list[FileStretch]:
        """Every file as one stretch."""
        return [replace(file, whole=True) for file in self.files]
