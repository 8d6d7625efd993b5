"""Sheets of Excel and OpenDocument files, read by calamine (fastexcel).

The first row of a sheet has the names of its columns, unless the source says ``header: false``. A
column whose cells are of several types is text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.formats.statistical_files import whole_numbers
from discreet.io.header import distinct_names, numbered_names
from discreet.io.source import Source
from discreet.regular_files import require_unpacked_archive


def sheet_names(source: Source) -> list[str]:
    """Return the names of a sheet's columns as they are written."""
    with _readable(source):
        return _names(source, *_open(source))


def sheet_columns(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
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
