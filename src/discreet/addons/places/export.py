"""Export a table of a release as a file of another program.

The release itself is CSV or Parquet, in the one form that an audit can check. An export is derived
from it: the release is audited first, and the file is read again and compared cell by cell before
it takes its name.

The columns of a published table as other programs hold them, with the labels that they keep.

A label is kept only for a value that some published row has: a list of labels would otherwise say
which values the source knows and the release hides. A quasi-identifier keeps its value labels only
if every cell of it is a value that the source labels, for a cell may also be a node of a hierarchy.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

import numpy as np
import polars as pl

from discreet.addons.places.spreadsheets import FIRST_EXACT_DAY, write_workbook
from discreet.addons.places.statistical_files import (
    EXACT_WHOLE,
    FileLabels,
    LabelledColumn,
    file_labels,
    write_statistical,
)
from discreet.errors import AuditError, InputError, ReleaseError
from discreet.extras import require_extra
from discreet.io.atomic import hidden_folder
from discreet.io.column_dictionary import canonical_text, render
from discreet.io.source import FORMAT_OF_ENDING, Source, ignore_progress
from discreet.io.tables import column_names, read_table
from discreet.io.writing import typed_values, write_csv
from discreet.regular_files import open_regular, path_of
from discreet.releases.audit.audit import audit_folder, read_tables
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import CodedTable, Column, Tables
from discreet.table.published import PublishedColumn
from discreet.table.roles import ColumnSpec, Role, ValueType

ExportFormat = Literal["csv", "parquet", "arrow", "spss", "stata", "xport", "excel"]
ENDINGS = {
    "csv": ".csv",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "spss": ".sav",
    "stata": ".dta",
    "xport": ".xpt",
    "excel": ".xlsx",
}
PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"  # written as any program would write it again


@dataclass(frozen=True)
class Export:
    """What was written."""

    path: Path
    table: str
    rows: int
    renamed: Mapping[str, str] = field(default_factory=dict)  # names that the format refuses

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "path": str(self.path),
            "table": self.table,
            "rows": self.rows,
            "renamed": dict(self.renamed),
        }


def export(
    release: str | Path,
    path: str | Path,
    *,
    table: str | None = None,
    labels: str | Path | None = None,
    format: ExportFormat | None = None,
    force: bool = False,
) -> Export:
    """Write a table of a release as SPSS, Stata, SAS transport, Excel, CSV, Parquet or Arrow file.

    ``labels`` is an SPSS, Stata or SAS file whose labels of columns and values are kept, those of
    values that the table has. The format follows from the ending of ``path``.
    """
    path = path_of(path, "The output")
    format = format or _format_of(path)
    if path.exists() and not force:
        raise ReleaseError(f"{path} already exists. Use --force to replace it, or another path.")
    name, chosen = audited_table(path_of(release, "The release"), table)
    known = FileLabels() if labels is None else read_labels(path_of(labels, "The file of labels"))
    with hidden_folder(path) as folder:
        partial = folder / "table"
        renamed = _write(partial, format, name, chosen, known, path.suffix)
        _require_same(partial, format, chosen, path)
        partial.replace(path)
    return Export(path, name, chosen.rows, renamed)


def audited_table(folder: Path, table: str | None) -> tuple[str, CodedTable]:
    """Return a table of a release, with its name, once the release has passed its audit."""
    tables = audited_tables(folder)
    listed = ", ".join(repr(name) for name in tables)
    if table is None and len(tables) > 1:
        raise InputError(f"{folder}: has the tables {listed}. Name one with --table.")
    if table is not None and table not in tables:
        raise InputError(f"{folder}: has no table {table!r}. It has {listed}.")
    name = table or next(iter(tables))
    return name, tables[name]


def audited_tables(folder: Path) -> Tables:
    """Return the tables of a release that passes its audit; raise if it does not."""
    manifest = Manifest.load(folder)
    if not audit_folder(folder).ok:
        raise AuditError(
            f"{folder}: the release does not pass its audit, so nothing was written. Run: discreet "
            f"audit {folder}"
        )
    return read_tables(folder, manifest)


def read_labels(path: Path) -> FileLabels:
    """Return the labels in an SPSS, Stata or SAS file."""
    source = Source.of_file(path)
    if source.resolved_format not in ("spss", "stata", "sas", "xport"):
        raise InputError(f"{path}: labels are in SPSS, Stata and SAS files. Name one.")
    return file_labels(source)


def _format_of(path: Path) -> ExportFormat:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in (".gz", ".zst"):
        endings = endings[:-1] if endings[-2:-1] == [".csv"] else []
    format = FORMAT_OF_ENDING.get(endings[-1]) if endings else None
    if format is None or ENDINGS.get(format) != endings[-1]:
        listed = ", ".join(ENDINGS.values())
        raise InputError(
            f"{path}: tables are exported as {listed}, .csv.gz or .csv.zst. Choose one of these "
            f"endings, or one of --format {', '.join(get_args(ExportFormat))}."
        )
    return cast(ExportFormat, format)


def _write(
    path: Path, format: ExportFormat, name: str, table: CodedTable, labels: FileLabels, ending: str
) -> dict[str, str]:
    if format == "csv":
        _write_text(path, table, ending)
        return {}
    as_doubles = format not in ("parquet", "arrow")
    columns = labelled_columns(table, labels, as_doubles=as_doubles)
    if format in ("spss", "stata", "xport"):
        return write_statistical(path, format, columns)
    frame = pl.DataFrame([column.cells for column in columns])
    if format == "excel":
        write_workbook(path, frame.with_columns(*_early_dates(frame)), name)
    elif format == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
    return {}


def _early_dates(frame: pl.DataFrame) -> list[pl.Series]:
    """Return columns of dates as text where a sheet has no number for some of them."""
    return [
        column.cast(pl.String)
        for column in frame
        if column.dtype == pl.Date and not (column >= FIRST_EXACT_DAY).all()
    ]


def _write_text(path: Path, table: CodedTable, ending: str) -> None:
    columns = [PublishedColumn(c.name, c.role, c.codes, published_text(c)) for c in table]
    with path.open("xb") as file:
        if ending == ".gz":
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                write_csv(cast(IO[bytes], packed), columns, None, ignore_progress)
        elif ending == ".zst":
            library = require_extra("zstandard", "Files of zstd", "zstd")
            with library.ZstdCompressor().stream_writer(file, closefd=False) as packed:
                write_csv(packed, columns, None, ignore_progress)
        else:
            write_csv(file, columns, None, ignore_progress)


def _require_same(path: Path, format: ExportFormat, table: CodedTable, place: Path) -> None:
    """Read a written file again; raise unless it has the cells of the table, row by row."""
    source = Source(path=path, format=format, user_missing="keep")
    if format == "csv":
        source = source.model_copy(update={"delimiter": ","})
    names = column_names(source)
    again = read_table(source, {name: ColumnSpec(Role.INSENSITIVE) for name in names})
    different = [
        column.name
        for column, name in zip(table, names, strict=True)
        if again.rows != table.rows
        or not _cells(column, column.type).equals(_cells(again[name], column.type), null_equal=True)
    ]
    if different:
        listed = ", ".join(repr(name) for name in different[:5])
        raise ReleaseError(
            f"{place}: a {format} file does not hold the cells of {listed} as they are published, "
            "such as spaces at their end. Nothing was written. Choose another format."
        )


def _cells(column: Any, kind: Any) -> pl.Series:
    """The cells of a column in canonical form, row by row."""
    text = canonical_text(render(column.values, kind), kind)
    return text.gather(pl.Series(column.codes.astype(np.uint32))).alias("cells")


def copy_to(path: Path, stream: Any) -> None:
    """Copy a file to an open stream."""
    with open_regular(path) as file:
        shutil.copyfileobj(file, stream)


def published_text(column: Column) -> pl.Series:
    """The distinct cells of a column as text, as published."""
    return render(column.values, column.type)


def published_labels(column: Column, labels: FileLabels) -> dict[str, str]:
    """The value labels of a file that a published column keeps, by the text of the cell."""
    if column.role is Role.STRUCTURE:
        return {}
    known = labels.values.get(column.name, {})
    cells = published_text(column).filter(pl.Series(column.counts > 0)).drop_nulls()
    labelled = {cell: known[cell] for cell in cells if cell in known}
    return {} if column.role is Role.QUASI_IDENTIFIER and len(labelled) < len(cells) else labelled


def column_label(column: Column, labels: FileLabels) -> str | None:
    """The label of a column in the file; None for one that the release made."""
    return None if column.role is Role.STRUCTURE else labels.columns.get(column.name)


def labelled_columns(
    table: CodedTable, labels: FileLabels, *, as_doubles: bool
) -> list[LabelledColumn]:
    """The columns of a table; ``as_doubles`` where a file holds integers as doubles."""
    columns = []
    for column in table:
        values = _typed(column, as_doubles)
        value_labels = published_labels(column, labels) if values.dtype.is_integer() else {}
        ranges = labels.missing.get(column.name, ()) if column.role is not Role.STRUCTURE else ()
        missing = [
            value
            for value in (values.drop_nulls() if values.dtype.is_integer() else ())
            if any(low <= value <= high for low, high in ranges)
        ]
        columns.append(
            LabelledColumn(
                column.name,
                values.gather(pl.Series(column.codes)),
                column_label(column, labels),
                {int(value): label for value, label in value_labels.items()},
                missing,
            )
        )
    return columns


def _typed(column: Column, as_doubles: bool) -> pl.Series:
    """The distinct cells as integers, doubles or dates where that loses nothing, else as text."""
    text = published_text(column)
    present = text.drop_nulls()
    kind = column.type
    if kind is ValueType.TEXT and len(present) and present.str.contains(PLAIN_INTEGER).all():
        kind = ValueType.INTEGER
    typed = typed_values(text, kind)
    if as_doubles and typed.dtype.is_integer() and not (typed.abs() < EXACT_WHOLE).all():
        return text
    return typed
