"""A table that no job describes, with the types that its values suggest."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from discreet.errors import InputError
from discreet.io.csv.layout import lacks_header
from discreet.io.databases import dialect_of, file_of
from discreet.io.frames import (
    code_frame,
    frame_columns,
    frame_names,
    plain_frame,
    unwrapped_frame,
)
from discreet.io.header import renaming_notice, without_copies
from discreet.io.in_place import (
    is_url,
    opened_table,
    require_file_for,
    require_one_table,
)
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table, written_names
from discreet.job.proposing.date_columns import DATE_FORMATS, date_format
from discreet.listing import looks_like_cell
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec, Role, ValueType

MISSING_TOKENS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan")


@dataclass(frozen=True, eq=False)
class UntypedTable:
    """A table typed by its values, what its text means, and the source that it is from."""

    table: CodedTable
    source: Mapping[str, Any] = field(default_factory=dict)  # as a job in this folder writes it
    missing: tuple[str, ...] = ()  # tokens that seem to mean "missing"
    formats: Mapping[str, str] = field(default_factory=dict)  # of dates that are not ISO
    notices: tuple[str, ...] = ()  # what was not read as it is written

    def source_from(self, folder: Path) -> dict[str, Any]:
        """Return the ``source`` of a job in a folder; empty for a frame."""
        place = dict(self.source)
        if "path" in place:
            place["path"] = os.path.relpath(Path(place["path"]).resolve(), folder)
        if "url" in place and dialect_of(place["url"], to_read=True) != "postgresql":
            file = os.path.relpath(file_of(place["url"], Path.cwd()).resolve(), folder)
            place["url"] = f"{urlsplit(place['url']).scheme}:///{quote(file)}"
        place["missing"] = list(self.missing) or None
        return {key: value for key, value in place.items() if value is not None or key == "quote"}


def read_untyped(
    data: Any,
    *,
    options: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
) -> UntypedTable:
    """Read a file by ``options`` of its source, a table or query of a database, or a frame."""
    require_file_for(options, data)
    if is_url(data):
        require_one_table(table, query)
        with opened_table(str(data), Path.cwd(), table, query) as found:
            coded = found.coded({name: ColumnSpec(Role.INSENSITIVE) for name in found.names}, ())
        coded, notices = _without_copies(coded, found.written)
        origin = {"url": str(data), "table": table, "query": query}
        return UntypedTable(coded, origin, notices=notices)
    require_one_table(table, query, url=False)
    if isinstance(data, str | Path):
        return _read_file(Path(data), options or {})
    unwrapped = unwrapped_frame(data)
    frame = plain_frame(unwrapped)  # warns where columns share a name
    specs = {name: ColumnSpec(Role.INSENSITIVE) for name in frame_columns(frame)}
    renamed = type(frame) is type(unwrapped)  # not a stream, which was read
    written = frame_names(unwrapped if renamed else frame)
    coded, notices = _without_copies(code_frame(frame, specs), written)
    return UntypedTable(coded, notices=notices)


def _read_file(path: Path, options: Mapping[str, Any]) -> UntypedTable:
    source = Source.of_file(path, **options)
    if _lacks_header(source):
        raise InputError(
            f"{source.path}: the first line looks like a row of cells, not like a header. Add a "
            "line with the names of the columns, or read it with 'header: false' (--source "
            "header=false). If it is a header, state it with 'header: true'."
        )
    stated = source.model_dump(mode="json", include=set(options) - {"missing"})
    written = {"path": str(path), **stated}
    names = column_names(source)
    table = read_table(source, {name: ColumnSpec(Role.INSENSITIVE) for name in names})
    table, notices = _without_copies(table, written_names(source))
    if not source.is_text:
        return UntypedTable(table, written, source.missing, notices=notices)
    tokens = [token for token in MISSING_TOKENS if any((c.text == token).any() for c in table)]
    missing = tuple(dict.fromkeys((*source.missing, *tokens)))
    if "decimal" not in options and _decimal_commas(table, missing):
        written["decimal"] = ","
        source = source.model_copy(update={"decimal": ","})
    formats = {c.name: form for c in table if (form := other_date_format(c, missing))}
    specs = {
        c.name: ColumnSpec(Role.INSENSITIVE, ValueType.DATE, date_format=formats[c.name])
        if c.name in formats
        else ColumnSpec(
            Role.INSENSITIVE, suggest_type(c, missing, source.decimal), decimal=source.decimal
        )
        for c in table
    }
    specs |= {name: ColumnSpec(Role.DROP) for name in names if name not in specs}
    typed = read_table(source.model_copy(update={"missing": missing}), specs)
    return UntypedTable(typed, written, missing, formats, notices)


def _decimal_commas(table: CodedTable, missing: Sequence[str]) -> bool:
    """Return whether more columns have numbers with decimal commas than with points.

    Three digits behind each comma may as well be thousands. A source has one decimal sign, so the
    numbers of the other columns stay text, such as a room 1.12 beside measures such as 7,4.
    """
    commas = points = 0
    for column in table:
        text = column.text.drop_nulls()
        text = text.filter(~text.is_in(list(missing)))
        if not len(text):
            continue
        points += bool(text.str.contains(r"^[+-]?\d*\.\d+$").all())
        is_comma = text.str.contains(r"^[+-]?\d+(,\d+)?$").all()
        commas += bool(is_comma and text.str.contains(r",(\d{1,2}|\d{4,})$").any())
    return commas > points


def _lacks_header(source: Source) -> bool:
    if source.is_text:
        return lacks_header(source)
    if source.resolved_format not in ("excel", "ods") or "header" in source.model_fields_set:
        return False
    names = column_names(source)
    return source.header and 2 * sum(map(looks_like_cell, names)) >= len(names)


def _without_copies(
    table: CodedTable, written: Sequence[str]
) -> tuple[CodedTable, tuple[str, ...]]:
    """Return a table without the columns that repeat one of the same written name, and notices."""
    names = list(table.columns)
    notice = renaming_notice(written, names)
    if notice is None:
        return table, ()
    first = dict(zip(reversed(written), reversed(names), strict=True))  # by written name
    copies = [
        read
        for name, read in zip(written, names, strict=True)
        if read != first[name] and _equal(table[read], table[first[name]])
    ]
    distinct = {name: column for name, column in table.columns.items() if name not in copies}
    left_out = (*table.left_out, *copies)
    return replace(table, columns=distinct, left_out=left_out), (without_copies(notice, copies),)


def _equal(first: Column, second: Column) -> bool:
    return first.text.equals(second.text) and bool((first.codes == second.codes).all())


def other_date_format(column: Column, missing: Sequence[str] = ()) -> str | None:
    """Return the format of dates that are not in ISO form; None for other values."""
    text = column.text.drop_nulls()
    text = text.filter(~text.is_in(list(missing)))
    if not len(text) or date_format(text.head(1)) is None:
        return None
    form = date_format(text)
    return None if form == DATE_FORMATS[0] else form


def suggest_type(column: Column, missing: Sequence[str] = (), decimal: str = ".") -> ValueType:
    """The type that all values of a text column have; codes with leading zeros are text."""
    text = column.text.drop_nulls()
    text = text.filter(~text.is_in(list(missing)))
    if not len(text) or text.str.contains(r"^[+-]?0\d").any():
        return ValueType.TEXT
    if text.str.contains(r"^[+-]?\d{1,15}$").all():
        return ValueType.INTEGER
    sign = re.escape(decimal)
    if text.str.contains(rf"^[+-]?(\d+{sign}?\d*|{sign}\d+)([eE][+-]?\d+)?$").all():
        return ValueType.NUMBER
    if text.str.contains(r"^\d{4}-\d{2}-\d{2}$").all():
        dates = text.str.to_date(strict=False)
        return ValueType.TEXT if dates.null_count() else ValueType.DATE
    return ValueType.TEXT
