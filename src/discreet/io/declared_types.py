"""Published columns of a declared type as values of that type, for Parquet files and databases.

A CSV file keeps the text of the source. Elsewhere an integer is an int64, a number a double and a
date a date32, where every published cell is exactly such a value: an integer beyond 64 bits, a
number that no double equals and a masked cell keep their column text. Quasi-identifiers are cells
(ranges, sets, labels), so they keep the type that the release gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from discreet.io.canonical_text import as_floats, canonical_text
from discreet.io.column_dictionary import render
from discreet.table.published import PublishedColumn
from discreet.table.roles import Role, ValueType

EXACT_ROLES = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)


def typed_columns(
    columns: Sequence[PublishedColumn], types: Mapping[str, ValueType]
) -> list[PublishedColumn]:
    """Return the columns of a table, those that are published as they are with their type."""
    return [
        replace(column, dictionary=typed_values(column.dictionary, types[column.name]))
        if column.role in EXACT_ROLES and column.name in types
        else column
        for column in columns
    ]


def typed_values(dictionary: pl.Series, kind: ValueType) -> pl.Series:
    """Return a dictionary as values of a type, or unchanged where some value is not exactly one."""
    from_float = kind is ValueType.INTEGER and not dictionary.dtype.is_integer()
    if not kind.ordered or (dictionary.dtype != pl.String and not from_float):
        return dictionary
    text = render(dictionary, kind)
    bare = text.str.strip_chars()
    match kind:
        case ValueType.INTEGER:
            typed = bare.cast(pl.Int64, strict=False)
        case ValueType.DATE:
            typed = bare.str.to_date("%Y-%m-%d", strict=False)
        case _:
            typed = as_floats(bare)
    exact = canonical_text(render(typed), kind).eq_missing(canonical_text(text, kind))
    return typed.alias(dictionary.name) if exact.all() else dictionary
