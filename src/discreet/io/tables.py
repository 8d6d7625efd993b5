"""Reading a table from the source of a job: every cell as a code.

A text file, or each file of a pattern, is read in pieces, whose cells ``numbered_cells`` collects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from discreet.errors import EMPTY, InputError
from discreet.extras import require_unforked
from discreet.io.arrow_files import arrow_columns, arrow_names
from discreet.io.column_dictionary import sort_dictionary
from discreet.io.csv.file_pieces import FilePiece, cut_file, read_piece
from discreet.io.csv.layout import (
    header,
    nul_bytes,
    open_layout,
    open_utf8,
    require_same_columns,
    suspect_header,
    written_header,
    wrong_encoding,
)
from discreet.io.csv.numbered_cells import NumberedCells, PieceReader, whole_records
from discreet.io.file_readers import FILE_READERS
from discreet.io.frames import code_series
from discreet.io.header import distinct_names, require_names
from discreet.io.source import READER_OF_FORMAT, Source, Tell, ignore_progress
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec
from discreet.typing import Ints

FileNames = Callable[[Source], Sequence[str]]  # as they are written
FileColumns = Callable[[Source, Sequence[str]], Iterator[pl.Series]]  # some, in this order


def _format(source: Source) -> tuple[FileNames, FileColumns]:
    """Return what reads the names and the columns of a file that is not text."""
    added = READER_OF_FORMAT.get(source.resolved_format)
    if added is None:
        return arrow_names, arrow_columns
    return FILE_READERS[added].names, FILE_READERS[added].columns


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns of a table, without reading its rows."""
    require_unforked()
    if source.is_text:
        return header(source)
    names, place = written_names(source), str(source.path)
    if source.resolved_format in ("excel", "ods"):
        return tuple(distinct_names(names, place))
    require_names(names, place)
    return names


def suspect_names(source: Source) -> bool:
    """Return whether the names of the columns may be the cells of a row: none is repeated then."""
    return source.is_text and suspect_header(source)


def written_names(source: Source) -> tuple[str, ...]:
    """Return the header of a file as it is written, where columns may share a name."""
    if source.is_text:
        return written_header(source)
    return tuple(_format(source)[0](source))


def read_table(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = ignore_progress
) -> CodedTable:
    """Read and code a table; specs name all its columns."""
    if source.is_text:
        return read_delimited(source, specs, tell)
    names = column_names(source)
    coded = [name for name in names if specs[name].role.published]
    columns = {}
    rows = 0
    tell(0.0)
    for number, series in enumerate(_format(source)[1](source, coded), 1):
        rows = len(series)
        if rows == 0:
            raise InputError(f"{source.path}: the file has columns but no rows.").with_code(EMPTY)
        name = series.name
        columns[name] = code_series(series, specs[name], source.missing, str(source.path))
        tell(number / len(coded))
    left_out = tuple(name for name in names if name not in columns)
    return CodedTable(columns, rows, left_out)


def read_delimited(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = ignore_progress
) -> CodedTable:
    """Code every column of a text file, or of the files of a pattern, that may be published."""
    # Number the cells of all pieces of all files.
    names = header(source)
    coded = {name: NumberedCells() for name in names if specs[name].role.published}
    files = source.files
    whole, done = sum(file.path.stat().st_size for file in files), 0
    reader = PieceReader(coded, whole)
    rows_of: list[int] = []  # by file
    for file in files:
        rows_of.append(0)
        for piece in _pieces(file):
            require_same_columns(names, files[0], piece.layout.names, file)
            try:
                rows_of[-1] += reader.add(piece, str(file.path))
            except UnicodeDecodeError:
                raise wrong_encoding(file) from None
            done += len(piece.data)
            tell(min(done / max(whole, 1), 1.0))  # a file that unzips or transcodes is longer
    rows = sum(rows_of)
    if rows == 0:
        raise InputError(
            f"{source.path}: the file has a header but no rows. Nothing can be published."
        ).with_code(EMPTY)

    # Sort each dictionary; a cell that is no value of its type is named by its line.
    def line_of(row: int) -> str:
        """Return the file and the line on which a row begins."""
        first_row = np.cumsum([0, *rows_of])
        number = int(np.searchsorted(first_row, row, side="right")) - 1
        return f"{files[number].path}, line {_line_of_row(files[number], row - first_row[number])}"

    columns = {
        name: _code_column(name, specs[name], cells, source, line_of)
        for name, cells in coded.items()
    }
    return CodedTable(columns, rows, tuple(name for name in names if name not in columns))


def _pieces(source: Source) -> Iterator[FilePiece]:
    """Yield the pieces of one file behind its header."""
    with open_utf8(source) as file:
        layout, ahead, lines = open_layout(file, source)
        yield from cut_file(file, layout, ahead, lines + 1)


def _code_column(
    name: str,
    spec: ColumnSpec,
    cells: NumberedCells,
    source: Source,
    line_of: Callable[[int], str],
) -> Column:
    numbers, raw = cells.distinct()
    if raw.str.contains("\0", literal=True).any():
        raise nul_bytes(source)

    def locate(bad: Ints) -> str:
        return line_of(cells.first_row(numbers[bad]))

    dictionary = sort_dictionary(name, spec, raw.alias(name), source.missing, locate)
    codes = cells.recoded(numbers, dictionary.code_of_raw)
    return dictionary.column(name, spec, codes)


def _line_of_row(source: Source, row: int) -> int:
    """Return the line on which a row of one file begins, found by reading the file again."""
    for piece in _pieces(source):
        frame = read_piece(piece, {name: pl.String() for name in piece.layout.names})
        if frame is not None and frame.height <= row:
            row -= frame.height
            continue
        for place, _ in whole_records(piece, str(source.path)):
            if row == 0:
                return piece.line_at(place)
            row -= 1
    raise InputError(f"{source.path}: the file changed while it was read. Run again.")
