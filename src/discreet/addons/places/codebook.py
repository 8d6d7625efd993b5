"""The codebook of a release: tables, columns, values and their counts, from its files alone.

Everything in it can be counted in the published tables, but for labels, which the caller names a
file for. A label is kept only for a value that some published row has.
"""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.addons.places.export import (
    audited_tables,
    column_label,
    published_labels,
    published_text,
    read_labels,
)
from discreet.addons.places.spreadsheets import NO_XML
from discreet.addons.places.statistical_files import FileLabels
from discreet.errors import InputError
from discreet.regular_files import path_of
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import Column

LISTED_AT_MOST = 200  # distinct values of a column; of more, only the range is given
NAMESPACE = "ddi:codebook:2_5"
UNITS = {"integer": "INT", "number": "REAL"}


@dataclass(frozen=True)
class CodebookValue:
    """A published cell, its label, and the number of rows that have it."""

    value: str
    label: str | None
    rows: int


@dataclass(frozen=True)
class CodebookColumn:
    """A published column."""

    name: str
    label: str | None
    role: str
    type: str
    rows: int  # with a value
    missing: int  # rows without
    distinct: int
    least: str | None  # of numbers and dates
    greatest: str | None
    values: Sequence[CodebookValue]  # none where there are many


@dataclass(frozen=True)
class CodebookTable:
    """A published table."""

    name: str
    file: str
    rows: int
    columns: Sequence[CodebookColumn]


@dataclass(frozen=True)
class Codebook:
    """All tables of a release, and the method and the guarantees that its manifest states."""

    method: str
    guarantees: Sequence[str]
    tables: Sequence[CodebookTable]

    def to_dict(self) -> dict[str, Any]:
        """The codebook as plain values."""
        return asdict(self)

    def to_csv(self) -> str:
        """The codebook as text: a line for each value, one for a column without listed values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            ["table", "column", "label", "role", "type", "missing", "distinct", "least",
             "greatest", "value", "value_label", "rows"]
        )  # fmt: skip
        for table in self.tables:
            for column in table.columns:
                head = [table.name, column.name, column.label, column.role, column.type,
                        column.missing, column.distinct, column.least, column.greatest]  # fmt: skip
                for value in column.values:
                    writer.writerow([*head, value.value, value.label, value.rows])
                if not column.values:
                    writer.writerow([*head, None, None, column.rows])
        return text.getvalue()

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the codebook as JSON, CSV or DDI-Codebook XML, by the ending of the path."""
        path = Path(path)
        match path.suffix.lower():
            case ".json":
                text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
            case ".csv":
                text = self.to_csv()
            case ".xml":
                text = ddi_codebook(self)
            case _:
                raise InputError(f"{path}: a codebook ends in .json, .csv or .xml (DDI-Codebook).")
        if path.exists() and not force:
            raise InputError(f"{path} already exists. Use --force to replace it.")
        path.write_text(text, encoding="utf-8", newline="")


def codebook(release: str | Path, *, labels: str | Path | None = None) -> Codebook:
    """Return the codebook of a release that passes its audit.

    ``labels`` is an SPSS, Stata or SAS file whose labels of columns and values are kept, those of
    values that the release has.
    """
    folder = path_of(release, "The release")
    tables = audited_tables(folder)
    manifest = Manifest.load(folder)
    known = FileLabels() if labels is None else read_labels(path_of(labels, "The file of labels"))
    return Codebook(
        manifest.method.name,
        [
            " ".join(
                [
                    promise.requirement,
                    *(f"{key}={value}" for key, value in promise.parameters.items()),
                ]
            )
            for promise in manifest.promises
            if promise.holds
        ],
        [
            CodebookTable(
                name,
                manifest.tables[name].file,
                table.rows,
                [_described(column, known) for column in table],
            )
            for name, table in tables.items()
        ],
    )


def _described(column: Column, labels: FileLabels) -> CodebookColumn:
    text, counts = published_text(column), column.counts
    value_labels = published_labels(column, labels)
    present = np.flatnonzero((counts > 0) & text.is_not_null().to_numpy())
    cells = text.gather(pl.Series(present)).to_list()
    ranged = column.numbers is not None and len(cells) > 0
    return CodebookColumn(
        name=column.name,
        label=column_label(column, labels),
        role=str(column.role),
        type=str(column.type),
        rows=int(counts[present].sum()),
        missing=int(counts.sum() - counts[present].sum()),
        distinct=len(cells),
        least=cells[0] if ranged else None,
        greatest=cells[-1] if ranged else None,
        values=[
            CodebookValue(cell, value_labels.get(cell), int(counts[code]))
            for cell, code in zip(cells, present, strict=True)
        ]
        if len(cells) <= LISTED_AT_MOST
        else [],
    )


def ddi_codebook(book: Codebook) -> str:
    """Return the XML text of a codebook."""
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    study = ET.SubElement(root, "stdyDscr")
    title = ET.SubElement(ET.SubElement(study, "citation"), "titlStmt")
    _text(title, "titl", "Tables: " + ", ".join(table.name for table in book.tables))
    notes = ET.SubElement(study, "method")
    _text(notes, "notes", f"Anonymized by the method {book.method}.")
    for guarantee in book.guarantees:
        _text(notes, "notes", f"Guarantee: {guarantee}")
    for number, table in enumerate(book.tables, 1):
        file = ET.SubElement(ET.SubElement(root, "fileDscr", {"ID": f"F{number}"}), "fileTxt")
        _text(file, "fileName", table.file)
        size = ET.SubElement(file, "dimensns")
        _text(size, "caseQnty", str(table.rows))
        _text(size, "varQnty", str(len(table.columns)))
    data = ET.SubElement(root, "dataDscr")
    for number, table in enumerate(book.tables, 1):
        for place, column in enumerate(table.columns, 1):
            _add_variable(data, f"F{number}", f"F{number}V{place}", column)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _add_variable(data: ET.Element, file: str, number: str, column: CodebookColumn) -> None:
    """Add a column; the order of the parts is that of the schema."""
    continuous = column.type == "number"
    kind = "contin" if continuous else "discrete"
    name = NO_XML.sub("\ufffd", column.name)
    variable = ET.SubElement(
        data, "var", {"ID": number, "name": name, "files": file, "intrvl": kind}
    )
    if column.label:
        _text(variable, "labl", column.label)
    if column.least is not None and column.greatest is not None:
        ends = {"min": column.least, "max": column.greatest}
        if column.type in UNITS:
            ends["UNITS"] = UNITS[column.type]
        ET.SubElement(ET.SubElement(variable, "valrng"), "range", ends)
    _text(variable, "sumStat", str(column.rows), type="vald")
    _text(variable, "sumStat", str(column.missing), type="invd")
    for value in column.values:
        category = ET.SubElement(variable, "catgry")
        _text(category, "catValu", value.value)
        if value.label:
            _text(category, "labl", value.label)
        _text(category, "catStat", str(value.rows), type="freq")
    numeric = column.type in UNITS
    ET.SubElement(variable, "varFormat", {"type": "numeric" if numeric else "character"})
    _text(variable, "notes", f"Role: {column.role}")


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    """Add an element with text, in which a character that XML does not have is replaced."""
    ET.SubElement(parent, tag, attributes).text = NO_XML.sub("\ufffd", text)
