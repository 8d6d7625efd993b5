"""Several columns of the source as one set-valued attribute: ``diag_1``, ``diag_2``, ``diag_3``."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from discreet.errors import InputError
from discreet.io.frames import code_series
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec, ValueType

SEPARATORS = (";", "|", "¦", "\x1f")  # of the members of a set: the first that no value contains


def join_columns(job: Job, table: CodedTable) -> CodedTable:
    """Put each set-valued attribute in the place of the first of its columns."""
    sets = {name: attribute for name, attribute in job.attributes.items() if attribute.columns}
    if not sets:
        return table
    first = {attribute.columns[0]: name for name, attribute in sets.items() if attribute.columns}
    members = {name for attribute in sets.values() for name in attribute.columns or ()}
    columns: dict[str, Column] = {}
    for column in table:
        if column.name in first:
            name = first[column.name]
            columns[name] = _joined(name, sets[name], table)
        elif column.name not in members:
            columns[column.name] = column
    return replace(table, columns=columns)


def _joined(name: str, attribute: Attribute, table: CodedTable) -> Column:
    """The set of the values that a row has in some columns; missing where it has none."""
    parts = [table[member] for member in attribute.columns or ()]
    separator = attribute.multi_valued or _separator(name, parts)
    for part in parts:
        if part.text.str.contains(separator, literal=True).any():
            raise InputError(
                f"Column '{part.name}': some values contain '{separator}', which separates the "
                f"members of '{name}'. Set another `multi_valued:`."
            )
    cells = [
        part.text.gather(pl.Series(part.codes)).alias(str(number))
        for number, part in enumerate(parts)
    ]
    lists = pl.DataFrame(cells).select(pl.concat_list(pl.all()).alias(name)).to_series()
    members = lists.list.drop_nulls().list.unique().list.sort()
    text = members.list.join(separator).set(members.list.len() == 0, None)
    spec = ColumnSpec(attribute.role, ValueType.TEXT, None, separator)
    return code_series(text, spec, (), "the joined columns")


def _separator(name: str, parts: list[Column]) -> str:
    for separator in SEPARATORS:
        if not any(part.text.str.contains(separator, literal=True).any() for part in parts):
            return separator
    raise InputError(
        f"Attribute '{name}': values of its columns contain all of ; | ¦ and the unit separator. "
        "Set `multi_valued:` to another one."
    )
