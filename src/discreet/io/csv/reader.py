"""Reading delimited text: every cell as a code.

The file is read in pieces, whose cells ``numbered_cells`` collects.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from discreet.errors import InputError
from discreet.io.column_dictionary import sort_dictionary
from discreet.io.csv.file_pieces import cut_file, read_piece
from discreet.io.csv.layout import nul_bytes, open_layout
from discreet.io.csv.numbered_cells import NumberedCells, add_piece, whole_records
from discreet.io.csv.text_stream import open_utf8, wrong_encoding
from discreet.io.source import Source, Tell, ignore_progress
from discreet.table.coded_table import CodedTable, Column
from discreet.table.column_spec import ColumnSpec
from discreet.typing import Ints


def read_delimited(
    source: Source, specs: Mapping[str, ColumnSpec], tell: Tell = ignore_progress
) -> CodedTable:
    """Code every column of a text file that may be published."""
    with open_utf8(source) as file:
        layout, ahead, lines = open_layout(file, source)
        coded = {name: NumberedCells() for name in layout.names if specs[name].role.published}
        whole, done, rows = source.path.stat().st_size, 0, 0
        for piece in cut_file(file, layout, ahead, lines + 1):
            try:
                rows += add_piece(piece, str(source.path), coded)
            except UnicodeDecodeError:
                raise wrong_encoding(source) from None
            done += len(piece.data)
            tell(min(done / max(whole, 1), 1.0))  # a file that unzips or transcodes is longer
    if rows == 0:
        raise InputError(
            f"{source.path}: the file has a header but no rows. Nothing can be published."
        )
    columns = {
        name: _code_column(name, specs[name], cells, source) for name, cells in coded.items()
    }
    left_out = tuple(name for name in layout.names if name not in columns)
    return CodedTable(columns, rows, left_out)


def _code_column(name: str, spec: ColumnSpec, cells: NumberedCells, source: Source) -> Column:
    numbers, raw = cells.distinct()
    if raw.str.contains("\0", literal=True).any():
        raise nul_bytes(source)

    def locate(bad: Ints) -> str:
        return f"{source.path}, line {_line_of_row(source, cells.first_row(numbers[bad]))}"

    dictionary = sort_dictionary(name, spec, raw.alias(name), source.missing, locate)
    codes = cells.recoded(numbers, dictionary.code_of_raw)
    return dictionary.column(name, spec, codes)


def _line_of_row(source: Source, row: int) -> int:
    """Return the line on which a row begins, found by reading the file again."""
    with open_utf8(source) as file:
        layout, ahead, lines = open_layout(file, source)
        schema = {name: pl.String() for name in layout.names}
        for piece in cut_file(file, layout, ahead, lines + 1):
            frame = read_piece(piece, schema)
            if frame is not None and frame.height <= row:
                row -= frame.height
                continue
            for place, _ in whole_records(piece, str(source.path)):
                if row == 0:
                    return piece.line_at(place)
                row -= 1
    raise InputError(f"{source.path}: the file changed while it was read. Run again.")
