"""Export a table of a release as a file of another program.

The release itself is CSV or Parquet, in the one form that an audit can check. An export is derived
from it: the release is audited first, and the file is read again and compared cell by cell before
it takes its name.
"""

from __future__ import annotations

import gzip
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

import numpy as np
import polars as pl

from discreet.errors import AuditError, InputError, ReleaseError
from discreet.extras import require_extra
from discreet.io.canonical_text import canonical_text
from discreet.io.column_dictionary import render
from discreet.io.formats.statistical_files import FileLabels, file_labels
from discreet.io.formats.statistical_writing import write_statistical
from discreet.io.formats.workbook import FIRST_EXACT_DAY, write_workbook
from discreet.io.source import COMPRESSED, FORMAT_OF_ENDING, Source, ignore_progress
from discreet.io.tables import column_names, read_table
from discreet.io.writing import write_csv
from discreet.releases.audit.audit import audit_folder, read_tables
from discreet.releases.exporting.export_columns import labelled_columns, published_text
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import CodedTable
from discreet.table.column_spec import ColumnSpec
from discreet.table.published import PublishedColumn
from discreet.table.roles import Role

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
    path = Path(path)
    format = format or _format_of(path)
    if path.exists() and not force:
        raise ReleaseError(f"{path} already exists. Use --force to replace it, or another path.")
    name, found = audited_table(Path(release), table)
    known = FileLabels() if labels is None else read_labels(Path(labels))
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        renamed = _write(partial, format, name, found, known, path.suffix)
        _require_same(partial, format, found, path)
        partial.replace(path)
    except OSError as error:
        raise ReleaseError(f"{path}: cannot be written ({error.strerror or error}).") from None
    finally:
        partial.unlink(missing_ok=True)
    return Export(path, name, found.rows, renamed)


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


def audited_tables(folder: Path) -> Mapping[str, CodedTable]:
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
    if endings and endings[-1] in COMPRESSED:
        endings = endings[:-1] if endings[-2:-1] == [".csv"] else []
    found = FORMAT_OF_ENDING.get(endings[-1]) if endings else None
    if found is None or ENDINGS.get(found) != endings[-1]:
        listed = ", ".join(ENDINGS.values())
        raise InputError(
            f"{path}: tables are exported as {listed}, .csv.gz or .csv.zst. Choose one of these "
            f"endings, or one of --format {', '.join(get_args(ExportFormat))}."
        )
    return cast(ExportFormat, found)


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
    with path.open("rb") as file:
        shutil.copyfileobj(file, stream)
