"""The columns of a published table as other programs hold them, with the labels that they keep.

A label is kept only for a value that some published row has: a list of labels would otherwise say
which values the source knows and the release hides. A quasi-identifier keeps its value labels only
if every cell of it is a value that the source labels, for a cell may also be a node of a hierarchy.
"""

from __future__ import annotations

import polars as pl

from discreet.io.column_dictionary import render
from discreet.io.declared_types import typed_values
from discreet.io.formats.statistical_files import EXACT_WHOLE, FileLabels
from discreet.io.formats.statistical_writing import LabelledColumn
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"  # written as any program would write it again


def published_text(column: Column) -> pl.Series:
    """The distinct cells of a column as text, as published."""
    return render(column.values, column.type)


def published_labels(column: Column, labels: FileLabels) -> dict[str, str]:
    """The value labels of a file that a published column keeps, by the text of the cell."""
    if column.role is Role.STRUCTURE:
        return {}
    known = labels.values.get(column.name, {})
    cells = published_text(column).filter(pl.Series(column.counts > 0)).drop_nulls()
    kept = {cell: known[cell] for cell in cells if cell in known}
    return {} if column.role is Role.QUASI_IDENTIFIER and len(kept) < len(cells) else kept


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
        kept = published_labels(column, labels) if values.dtype.is_integer() else {}
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
                {int(value): label for value, label in kept.items()},
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
