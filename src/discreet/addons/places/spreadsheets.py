"""Sheets of Excel and OpenDocument files: read by calamine (fastexcel), written as a workbook.

The first row of a sheet has the names of its columns, unless the source says ``header: false``. A
column whose cells are of several types is text.

A workbook that is written has one sheet of text, numbers and dates, and no author, no time and no
other property, which libraries add.
"""

from __future__ import annotations

import datetime
import logging
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from discreet.addons.places.statistical_files import whole_numbers
from discreet.errors import InputError, ReleaseError
from discreet.extras import require_extra
from discreet.io.file_readers import FileReader
from discreet.io.header import distinct_names, numbered_names
from discreet.io.source import Source
from discreet.regular_files import require_unpacked_archive

MOST_ROWS = (1 << 20) - 1  # below the header
LONGEST_CELL = 32_767
FIRST_DAY = datetime.date(1899, 12, 30)  # day 0; right from the first of March 1900 on
FIRST_EXACT_DAY = datetime.date(1900, 3, 1)
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the time of every part

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_DOCUMENT}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
    '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
}


class Spreadsheets(FileReader):
    """Sheets of Excel and OpenDocument files."""

    name: ClassVar[str] = "sheets"

    @classmethod
    def names(cls, source: Source) -> list[str]:
        with _readable(source):
            return _names(source, *_open(source))

    @classmethod
    def columns(cls, source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
        return _sheet_columns(source, names)


def _sheet_columns(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    """Yield some columns of a sheet."""
    with _readable(source):
        book, sheet = _open(source)
        present = distinct_names(_names(source, book, sheet), str(source.path))
        frame = book.load_sheet(
            sheet,
            header_row=None,
            skip_rows=int(source.header),
            column_names=present,
            schema_sample_rows=None,
        ).to_polars()
    for name in names:
        yield whole_numbers(frame[name])


def _open(source: Source) -> tuple[Any, str]:
    """Return the book and the name of the sheet to read."""
    library = require_extra("fastexcel", "Spreadsheets", "excel")
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without cells
    source.require_file()
    require_unpacked_archive(source.path)
    book = library.read_excel(str(source.path))
    sheets = list(book.sheet_names)
    listed = ", ".join(repr(name) for name in sheets)
    if source.sheet is None and len(sheets) != 1:
        raise InputError(f"{source.path}: has the sheets {listed}. Name one under `sheet:`.")
    if source.sheet is not None and source.sheet not in sheets:
        raise InputError(f"{source.path}: has no sheet {source.sheet!r}. It has {listed}.")
    return book, source.sheet or sheets[0]


def _names(source: Source, book: Any, sheet: str) -> list[str]:
    first = book.load_sheet(sheet, header_row=None, n_rows=1).to_polars()
    if not source.header:
        return numbered_names(first.width)
    if first.height == 0:
        raise InputError(f"{source.path}: the sheet {sheet!r} is empty. Expected a header.")
    return ["" if cell is None else str(cell) for cell in first.row(0)]


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    """Raise the failure of the library without its text, which may quote a cell."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:  # a panic of the library is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(
            f"{source.path}: not a valid spreadsheet ({type(error).__name__}). Set its `format:` "
            "if it is of another kind."
        ) from None


def write_workbook(path: Path, frame: pl.DataFrame, sheet: str) -> None:
    """Write a table as the one sheet of a workbook; its name has at most 31 characters."""
    if frame.height > MOST_ROWS:
        raise ReleaseError(
            f"{path}: a sheet has at most {MOST_ROWS} rows, and the table {frame.height}. Choose "
            "another format."
        )
    book = (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>'
        f'<sheet name={quoteattr(sheet[:31])} sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as file:
        for name, text in (*PARTS.items(), ("xl/workbook.xml", book)):
            file.writestr(zipfile.ZipInfo(name, WRITTEN), _START + text)
        part = zipfile.ZipInfo("xl/worksheets/sheet1.xml", WRITTEN)
        part.compress_type = zipfile.ZIP_DEFLATED
        with file.open(part, "w", force_zip64=True) as stream:
            stream.write(f'{_START}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            letters = [_letters(place) for place in range(frame.width)]
            stream.write(_row(1, letters, frame.columns, path))
            for number, row in enumerate(frame.iter_rows(), 2):
                stream.write(_row(number, letters, row, path))
            stream.write(b"</sheetData></worksheet>")


def _row(number: int, letters: list[str], row: Any, path: Path) -> bytes:
    cells = [
        _cell(f"{letter}{number}", cell, path)
        for letter, cell in zip(letters, row, strict=True)
        if cell is not None
    ]
    return f'<row r="{number}">{"".join(cells)}</row>'.encode()


def _cell(place: str, cell: Any, path: Path) -> str:
    if isinstance(cell, datetime.date):
        return f'<c r="{place}" s="1"><v>{(cell - FIRST_DAY).days}</v></c>'
    if isinstance(cell, str):
        if NO_XML.search(cell) or len(cell) > LONGEST_CELL:
            raise ReleaseError(
                f"{path}: a cell of the table has control characters, or more than {LONGEST_CELL} "
                "characters, which a sheet does not hold. Choose another format."
            )
        text = f'<t xml:space="preserve">{escape(cell)}</t>'
        return f'<c r="{place}" t="inlineStr"><is>{text}</is></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _letters(place: int) -> str:
    """Return the letters of a column: A, …, Z, AA, …"""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
