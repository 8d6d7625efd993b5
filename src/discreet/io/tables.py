"""Reading a table from the source of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from discreet.errors import InputError
from discreet.forks import require_unforked
from discreet.io.csv.layout import header, suspect_header, written_header
from discreet.io.csv.reader import read_delimited
from discreet.io.formats.arrow_files import arrow_columns, arrow_names
from discreet.io.frames import code_series
from discreet.io.header import distinct_names, require_names
from discreet.io.source import Source, Tell, ignore_progress
from discreet.table.coded_table import CodedTable
from discreet.table.column_spec import ColumnSpec


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns of a table, without reading its rows."""
    require_unforked()
    if source.is_text:
        return header(source)
    match source.resolved_format:
        case "spss" | "stata" | "sas" | "xport":
            from discreet.io.formats.statistical_files import statistical_names as names_of
        case "excel" | "ods":
            from discreet.io.formats.spreadsheets import sheet_names

            return tuple(distinct_names(sheet_names(source), str(source.path)))
        case _:
            names_of = arrow_names
    names = names_of(source)
    require_names(names, str(source.path))
    return tuple(names)


def suspect_names(source: Source) -> bool:
    """Return whether the names of the columns may be the cells of a row: none is repeated then."""
    return source.is_text and suspect_header(source)


def written_names(source: Source) -> tuple[str, ...]:
    """Return the header of a file as it is written, where columns may share a name."""
    if source.is_text:
        return written_header(source)
    if source.resolved_format in ("excel", "ods"):
        from discreet.io.formats.spreadsheets import sheet_names

        return tuple(sheet_names(source))
    return column_names(source)


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
    for number, series in enumerate(_read_columns(source, coded), 1):
        rows = len(series)
        if rows == 0:
            raise InputError(f"{source.path}: the file has columns but no rows.")
        name = series.name
        columns[name] = code_series(series, specs[name], source.missing, str(source.path))
        tell(number / len(coded))
    left_out = tuple(name for name in names if name not in columns)
    return CodedTable(columns, rows, left_out)


def _read_columns(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    """Yield some columns of a file that is not text, in this order."""
    match source.resolved_format:
        case "spss" | "stata" | "sas" | "xport":
            from discreet.io.formats.statistical_files import statistical_columns

            return statistical_columns(source, names)
        case "excel" | "ods":
            from discreet.io.formats.spreadsheets import sheet_columns

            return sheet_columns(source, names)
        case _:
            return arrow_columns(source, names)
