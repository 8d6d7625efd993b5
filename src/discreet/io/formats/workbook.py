"""Writing one sheet of an Excel workbook: text, numbers and dates.

The file has no author, no time and no other property, which libraries add.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from discreet.errors import ReleaseError

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
