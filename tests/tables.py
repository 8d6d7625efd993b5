"""Small coded tables for tests, made from lists without any reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Distance, Role, ValueType

EPOCH = date(1970, 1, 1)
ROLES = {
    "q": Role.QUASI_IDENTIFIER,
    "s": Role.SENSITIVE,
    "i": Role.INSENSITIVE,
}


def _number(value: Any) -> float:
    return float((value - EPOCH).days) if isinstance(value, date) else float(value)


def coded_column(
    name: str,
    cells: Sequence[Any],
    role: Role = Role.QUASI_IDENTIFIER,
    separator: str | None = None,
    distance: Distance = Distance.EQUAL,
) -> Column:
    """A column of str, int, float or date cells; None is missing."""
    kinds = {type(cell) for cell in cells if cell is not None} or {str}
    (kind,) = kinds
    types = {str: ValueType.TEXT, int: ValueType.INTEGER, float: ValueType.NUMBER}
    value_type = types.get(kind, ValueType.DATE)
    values = sorted({cell for cell in cells if cell is not None})
    domain = [*values, *([None] if None in cells else [])]
    code_of_value = {value: code for code, value in enumerate(domain)}
    text = [None if value is None else str(value) for value in domain]
    numbers = None
    if value_type.ordered:
        numbers = np.array([np.nan if value is None else _number(value) for value in domain])
    return Column(
        name=name,
        role=role,
        type=value_type,
        codes=np.array([code_of_value[cell] for cell in cells], np.int32),
        text=pl.Series(name, text, dtype=pl.String),
        values=pl.Series(name, domain, strict=False),
        numbers=numbers,
        distance=distance,
        separator=separator,
    )


def coded_table(columns: Mapping[str, Sequence[Any]], roles: str | None = None) -> CodedTable:
    """A table; ``roles`` has a letter for each column: q, s or i (all q by default)."""
    letters = roles or "q" * len(columns)
    coded = {
        name: coded_column(name, cells, ROLES[letter])
        for (name, cells), letter in zip(columns.items(), letters, strict=True)
    }
    rows = len(next(iter(columns.values()))) if columns else 0
    return CodedTable(coded, rows)


def coded_frame(frame: pl.DataFrame, roles: str | None = None) -> CodedTable:
    """A table from a frame of strings and integers."""
    return coded_table({name: frame[name].to_list() for name in frame.columns}, roles)


def hierarchy_from_rows(column: Column, rows: Sequence[Sequence[str]]) -> Hierarchy:
    """A hierarchy from rows of leaf, level 1, …, top, which may hold leaves the column lacks."""
    of_leaf = {row[0]: row for row in rows}
    levels = []
    for depth in range(len(rows[0])):
        labels = sorted({row[depth] for row in rows})
        leaves = np.array([sum(row[depth] == label for row in rows) for label in labels])
        node_of_leaf = np.array([labels.index(of_leaf[v][depth]) for v in column.text.to_list()])
        levels.append(level_from_groups(node_of_leaf, labels, leaves, len(rows)))
    return Hierarchy(column.name, tuple(levels), len(rows), "a test")
