"""Columns made from lists, and hierarchies over them, for the tests of this folder."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import TypeAdapter

from discreet.hierarchies.files import rows_of_hierarchy
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.hierarchies.specs import AnyHierarchy
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType

ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyHierarchy)


def column(
    cells: Sequence[str | None],
    kind: ValueType = ValueType.TEXT,
    role: Role = Role.QUASI_IDENTIFIER,
) -> Column:
    """A coded column whose rows are these cells."""
    order = {text: (_number(text, kind), text) for text in set(cells) if text is not None}
    values: list[str | None] = sorted(order, key=lambda text: order[text])
    numbers = None
    if kind.ordered:
        numbers = np.array([order[text][0] for text in values if text is not None], np.float64)
    if None in cells:
        values.append(None)
        numbers = None if numbers is None else np.append(numbers, np.nan)
    code = {text: number for number, text in enumerate(values)}
    codes = np.array([code[cell] for cell in cells], np.int32)
    text = pl.Series(values, dtype=pl.String)
    return Column("c", role, kind, codes, text, text, numbers)


def _number(text: str, kind: ValueType) -> float:
    if kind is ValueType.DATE:
        return float(np.datetime64(text, "D").astype(np.int64))
    return float(text) if kind.ordered else 0.0


def build(spec: object, values: Column) -> Hierarchy:
    hierarchy = ADAPTER.validate_python(spec).build(values, Path())
    assert isinstance(hierarchy, Hierarchy)
    return hierarchy


def paths(hierarchy: Hierarchy) -> list[list[str | None]]:
    """For each value its labels, from the value up."""
    values = len(hierarchy.levels[0].node_of_leaf)
    return [
        [level.labels[level.node_of_leaf[v]] for level in hierarchy.levels] for v in range(values)
    ]


def written(hierarchy: Hierarchy, values: Column, path: Path) -> None:
    """Write the rows that a manifest has of a hierarchy as a file of a job."""
    rows = rows_of_hierarchy(hierarchy, values)
    with path.open("w", encoding="utf-8", newline="") as file:
        # Every cell is quoted: a lone empty cell and a label with a carriage return come back.
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
