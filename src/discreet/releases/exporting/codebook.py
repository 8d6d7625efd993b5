"""The codebook of a release: tables, columns, values and their counts, from its files alone.

Everything in it can be counted in the published tables, but for labels, which the caller names a
file for. A label is kept only for a value that some published row has.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.io.formats.statistical_files import FileLabels
from discreet.releases.exporting.export import audited_tables, read_labels
from discreet.releases.exporting.export_columns import (
    column_label,
    published_labels,
    published_text,
)
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import Column

LISTED_AT_MOST = 200  # distinct values of a column; of more, only the range is given


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
            for one in table.columns:
                head = [table.name, one.name, one.label, one.role, one.type, one.missing,
                        one.distinct, one.least, one.greatest]  # fmt: skip
                for value in one.values:
                    writer.writerow([*head, value.value, value.label, value.rows])
                if not one.values:
                    writer.writerow([*head, None, None, one.rows])
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
                from discreet.releases.exporting.ddi import ddi_codebook

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
    folder = Path(release)
    tables = audited_tables(folder)
    manifest = Manifest.load(folder)
    known = FileLabels() if labels is None else read_labels(Path(labels))
    return Codebook(
        manifest.method.name,
        [
            " ".join(
                [one.requirement, *(f"{key}={value}" for key, value in one.parameters.items())]
            )
            for one in manifest.promises
            if one.holds
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
    kept = published_labels(column, labels)
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
            CodebookValue(cell, kept.get(cell), int(counts[code]))
            for cell, code in zip(cells, present, strict=True)
        ]
        if len(cells) <= LISTED_AT_MOST
        else [],
    )
