"""Writing SPSS, Stata and SAS transport files: names that they allow, labels, missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from discreet.errors import ReleaseError
from discreet.extras import require_extra
from discreet.io.formats.statistical_files import PROGRAM

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
    made: list[str] = []
    for name in names:
        kept = "".join(
            sign if sign.isalnum() and (format != "xport" or sign.isascii()) else "_"
            for sign in name
        )
        if not kept[:1].isalpha() or kept.lower() in RESERVED:
            kept = f"v_{kept}"
        short = _cut(kept, LONGEST_NAME[format])
        number = 1
        while short.casefold() in (other.casefold() for other in made):
            number += 1
            short = _cut(kept, LONGEST_NAME[format] - len(f"_{number}")) + f"_{number}"
        made.append(short)
    return made


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
    given: dict[str, Any] = {"column_labels": labels}
    if format != "xport":
        given["variable_value_labels"] = {
            name: dict(column.value_labels)
            for name, column in zip(names, columns, strict=True)
            if column.value_labels
        }
    if format == "spss":
        given["missing_ranges"] = {
            name: list(column.missing)
            for name, column in zip(names, columns, strict=True)
            if 0 < len(column.missing) <= MOST_MISSING
        }
    write = {"spss": "write_sav", "stata": "write_dta", "xport": "write_xport"}[format]
    try:
        getattr(library, write)(frame, str(path), **given)
    except Exception as error:  # its text may quote a cell
        raise ReleaseError(
            f"{path}: this table cannot be written as a {PROGRAM[format]} file "
            f"({type(error).__name__}). Choose another format."
        ) from None
    return {c.name: name for name, c in zip(names, columns, strict=True) if c.name != name}
