"""Files of statistics packages: SPSS, Stata and SAS, with value labels and user-missing values.

A value is its code unless the source asks for ``labels``; a code without a label then stays. A
user-missing value (SPSS: a declared code or range; Stata ``.a`` to ``.z``; SAS ``.A`` to ``.Z``) is
missing unless the source asks to keep it. A message of pyreadstat may quote a cell, so none is
passed on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl

from discreet.errors import InputError, ReleaseError
from discreet.extras import require_extra
from discreet.io.column_dictionary import render
from discreet.io.file_readers import FileReader
from discreet.io.source import Source
from discreet.regular_files import require_unpacked_cells
from discreet.table.roles import ValueType

READERS = {
    "spss": "read_sav",
    "stata": "read_dta",
    "sas": "read_sas7bdat",
    "xport": "read_xport",
}
PROGRAM = {"spss": "SPSS", "stata": "Stata", "sas": "SAS", "xport": "SAS transport"}
EXACT_WHOLE = 1 << 53  # whole doubles below it are exact integers
CATALOG = ".sas7bcat"  # the value labels of a SAS file, in a file beside it


@dataclass(frozen=True)
class FileLabels:
    """The labels in a file: of columns, and by column those of values, and what is missing."""

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)  # ranges


class StatisticalFiles(FileReader):
    """Files of SPSS, Stata and SAS."""

    name: ClassVar[str] = "statistics"

    @classmethod
    def names(cls, source: Source) -> list[str]:
        return list(_read(source, metadataonly=True)[1].column_names)

    @classmethod
    def columns(cls, source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
        return _statistical_columns(source, names)


def _statistical_columns(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    keep = source.user_missing == "keep"
    options = {} if source.resolved_format == "xport" else {"user_missing": keep}
    shape = _read(source, metadataonly=True)[1]
    require_unpacked_cells(source.path, max(shape.number_rows or 0, 0), len(names))
    frame, metadata = _read(source, usecols=list(names), **options)
    labels = _labels_of(metadata).values if source.labels else {}
    for name in names:
        column = _plain(frame[name])
        yield _labelled(column, labels[name]) if name in labels else column


def file_labels(source: Source) -> FileLabels:
    """Return the labels of a file's columns and values."""
    options = {} if source.resolved_format == "xport" else {"user_missing": True}
    return _labels_of(_read(source, metadataonly=True, **options)[1])


def _read(source: Source, **options: Any) -> tuple[pl.DataFrame, Any]:
    kind = source.resolved_format
    library = require_extra("pyreadstat", f"{PROGRAM[kind]} files", "stats")
    source.require_file()
    if "encoding" in source.model_fields_set:
        options["encoding"] = source.encoding
    catalog = source.path.with_suffix(CATALOG)
    if kind == "sas" and catalog.is_file():
        options["catalog_file"] = str(catalog)
    try:
        frame, metadata = getattr(library, READERS[kind])(
            str(source.path), output_format="polars", **options
        )
    except Exception as error:  # of many types, and its text may quote a cell
        raise InputError(
            f"{source.path}: not a valid {PROGRAM[kind]} file ({type(error).__name__}). Set its "
            "`format:` if it is of another kind, or its `encoding:`."
        ) from None
    return frame, metadata


def _labels_of(metadata: Any) -> FileLabels:
    columns = {name: text for name, text in metadata.column_names_to_labels.items() if text}
    values = {
        name: {
            str(code)
            if metadata.readstat_variable_types[name] == "string"
            else _code_text(code): str(label)
            for code, label in labels.items()
        }
        for name, labels in metadata.variable_value_labels.items()
    }
    missing = {
        name: [
            (bounds["lo"], bounds["hi"])
            for bounds in ranges
            if not isinstance(bounds["lo"] or bounds["hi"], str)
        ]
        for name, ranges in metadata.missing_ranges.items()
    }
    return FileLabels(columns, values, missing)


def _code_text(code: object) -> str:
    """Return a code of a numeric column as text: ``1`` for 1.0, ``.a`` for the missing value a."""
    if isinstance(code, str):
        return f".{code}"
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _plain(column: pl.Series) -> pl.Series:
    """Return a column as cells: whole doubles as integers, mixed values as text."""
    if column.dtype != pl.Object:
        return whole_numbers(column)
    # Numbers, and the letters of user-missing values.
    texts = [None if cell is None or cell != cell else _code_text(cell) for cell in column]
    return pl.Series(column.name, texts, dtype=pl.String)


def whole_numbers(column: pl.Series) -> pl.Series:
    """Return a column of doubles as integers where all of them are whole."""
    if not column.dtype.is_float():
        return column
    column = column.fill_nan(None)
    small = column.abs() < EXACT_WHOLE
    if not small.all() or not (column == column.round()).all():
        return column
    return column.cast(pl.Int64)


def _labelled(column: pl.Series, labels: Mapping[str, str]) -> pl.Series:
    """Return the labels of a column's values, and the code where a value has none."""
    text = render(column, ValueType.INTEGER)
    return text.replace(dict(labels)).alias(column.name)


StatisticalFormat = Literal["spss", "stata", "xport"]
LONGEST_NAME = {"spss": 64, "stata": 32, "xport": 32}  # bytes
MOST_MISSING = 3  # values that SPSS declares as missing for a column
RESERVED = {
    "all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with", "byte",
    "double", "float", "if", "in", "int", "long", "str", "strl", "using",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """A column to write: integers, doubles, dates or text, and its labels."""

    name: str
    cells: pl.Series  # (rows,)
    label: str | None = None
    value_labels: Mapping[int, str] = field(default_factory=dict)
    missing: Sequence[int] = ()  # values that are declared as missing


def allowed_names(names: Sequence[str], format: StatisticalFormat) -> list[str]:
    """Return names that a program allows, each another: letters, digits and underscores."""
    allowed: list[str] = []
    for name in names:
        letters = "".join(
            sign if sign.isalnum() and (format != "xport" or sign.isascii()) else "_"
            for sign in name
        )
        if not letters[:1].isalpha() or letters.lower() in RESERVED:
            letters = f"v_{letters}"
        short = _cut(letters, LONGEST_NAME[format])
        number = 1
        while short.casefold() in (other.casefold() for other in allowed):
            number += 1
            short = _cut(letters, LONGEST_NAME[format] - len(f"_{number}")) + f"_{number}"
        allowed.append(short)
    return allowed


def _cut(name: str, size: int) -> str:
    return name.encode()[:size].decode("utf-8", "ignore")


def write_statistical(
    path: Path, format: StatisticalFormat, columns: Sequence[LabelledColumn]
) -> dict[str, str]:
    """Write a file; return the name in it of each column that could not keep its own."""
    library: Any = require_extra("pyreadstat", f"{PROGRAM[format]} files", "stats")
    names = allowed_names([column.name for column in columns], format)
    frame = pl.DataFrame(
        [column.cells.alias(name) for name, column in zip(names, columns, strict=True)]
    )
    # A column that has another name in the file has its own in its label.
    labels = [
        column.label or (column.name if column.name != name else None)
        for name, column in zip(names, columns, strict=True)
    ]
    options: dict[str, Any] = {"column_labels": labels}
    if format != "xport":
        options["variable_value_labels"] = {
            name: dict(column.value_labels)
            for name, column in zip(names, columns, strict=True)
            if column.value_labels
        }
    if format == "spss":
        options["missing_ranges"] = {
            name: list(column.missing)
            for name, column in zip(names, columns, strict=True)
            if 0 < len(column.missing) <= MOST_MISSING
        }
    write = {"spss": "write_sav", "stata": "write_dta", "xport": "write_xport"}[format]
    try:
        getattr(library, write)(frame, str(path), **options)
    except Exception as error:  # its text may quote a cell
        raise ReleaseError(
            f"{path}: this table cannot be written as a {PROGRAM[format]} file "
            f"({type(error).__name__}). Choose another format."
        ) from None
    return {c.name: name for name, c in zip(names, columns, strict=True) if c.name != name}
