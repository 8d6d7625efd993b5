"""Published columns in the types of their source, wherever no cell changed.

A column has the type of its source where every published cell is exactly a value of it: columns
that are unchanged or sensitive, and quasi-identifiers that no row generalizes. Others are text:
ranges, sets and labels. The type says nothing that cells do not say: categories and members of an
Enum that no published row has are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.extras import PANDAS_FRAMES, require_pyarrow
from discreet.io.column_dictionary import render
from discreet.io.frames import FrameKind, frame_kind, to_frame, unwrapped_frame
from discreet.table.coded_table import CodedTable, Column
from discreet.table.published import PublishedColumn
from discreet.table.roles import Role

DATE_TIME = "%Y-%m-%d %H:%M:%S%.f"


@dataclass(frozen=True, eq=False)
class FrameTypes:
    """The kind of a frame, and the types of its columns in its own library."""

    kind: FrameKind = FrameKind.POLARS
    types: Mapping[str, Any] = field(default_factory=dict)
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # in their order

    @classmethod
    def of(cls, frame: Any) -> FrameTypes:
        """Return the types of a frame, none of its cells but the categories that it declares."""
        frame = unwrapped_frame(frame)
        kind = frame_kind(frame)
        if kind is FrameKind.POLARS_LAZY:
            return cls(kind, dict(frame.collect_schema()))
        if kind is FrameKind.POLARS:
            return cls(kind, dict(frame.schema))
        if kind is FrameKind.ARROW:
            types = {column.name: column.type for column in frame.schema}
            ordered = [n for n, kind_ in types.items() if getattr(kind_, "ordered", False) is True]
            return cls(kind, types, {name: _members(frame[name]) for name in ordered})
        types = dict(zip(frame.columns, frame.dtypes, strict=True))
        members = {n: getattr(dtype, "categories", None) for n, dtype in types.items()}
        return cls(kind, types, {n: list(c) for n, c in members.items() if c is not None})


def _members(column: Any) -> list[Any]:
    """Return the values of an ordered dictionary of Arrow."""
    whole = column.unify_dictionaries()
    return whole.chunk(0).dictionary.to_pylist() if whole.num_chunks else []


@dataclass(frozen=True)
class ColumnSchema:
    """The type of a published column, and that of its source."""

    role: Role
    source: str
    published: str
    change: Literal["", "coarser", "form"]  # 'form': the library has no such column


def exact_columns(columns: Sequence[PublishedColumn], source: CodedTable) -> list[PublishedColumn]:
    """Return published columns; quasi-identifiers whose cells are all exact have typed values."""
    return [
        replace(column, dictionary=exact_values(column.dictionary, source.columns[column.name]))
        if column.role is Role.QUASI_IDENTIFIER and column.name in source.columns
        else column
        for column in columns
    ]


def exact_values(cells: pl.Series, source: Column) -> pl.Series:
    """Return cells as values of the source's type, or unchanged where some is not such a value."""
    dtype = source.values.dtype
    read = _READERS.get(dtype.base_type())
    if cells.dtype != pl.String or (read is None and not dtype.is_numeric()):
        return cells
    typed = cells.cast(dtype, strict=False) if read is None else read(cells, dtype)
    same = typed.dtype == dtype and render(typed).equals(cells, null_equal=True)
    return typed.alias(cells.name) if same else cells


def _date_times(texts: pl.Series, dtype: Any) -> pl.Series:
    """Return times, also those that were rendered as dates: all of them at midnight."""
    bare = texts.str.replace(r"( UTC|\+00:00)$", "")
    times = bare.str.to_datetime(DATE_TIME, strict=False)
    if times.null_count() == len(times):
        times = bare.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime)
    return times.dt.replace_time_zone(dtype.time_zone).dt.cast_time_unit(dtype.time_unit)


_READERS: Mapping[Any, Callable[[pl.Series, Any], pl.Series]] = {
    pl.Boolean: lambda texts, _: texts.replace_strict(
        {"true": True, "false": False}, default=None, return_dtype=pl.Boolean
    ),
    pl.Date: lambda texts, _: texts.str.to_date("%Y-%m-%d", strict=False),
    pl.Time: lambda texts, _: texts.str.to_time("%H:%M:%S%.f", strict=False),
    pl.Datetime: _date_times,
}


def frame_of_types(
    columns: Sequence[PublishedColumn],
    like: FrameTypes,
    source: CodedTable,
    order: NDArray[np.integer] | None = None,
) -> Any:
    """Return published columns as a frame of the kind and the types that came in."""
    columns = exact_columns(columns, source)
    frame = to_frame(columns, like.kind, order)
    exact = [
        column.name
        for column in columns
        if column.name in like.types
        and (
            _is_text(like.types[column.name]) or _is_exact(column, source.columns.get(column.name))
        )
    ]
    restore = {FrameKind.ARROW: _in_arrow, FrameKind.PANDAS: _in_pandas}.get(like.kind, _in_polars)
    return restore(frame, like, exact)


def _is_text(dtype: Any) -> bool:
    """Return whether a type of any library is text, so that every label is such a value."""
    return str(dtype).partition("[")[0].lower().removeprefix("large_") in ("str", "string")


def _is_exact(column: PublishedColumn, source: Column | None) -> bool:
    """Return whether all published cells are values of the source."""
    if source is None or column.role is not Role.QUASI_IDENTIFIER:
        return source is not None
    if column.dictionary.dtype != pl.String:
        return True
    return bool(column.dictionary.drop_nulls().is_in(source.text.to_list()).all())


def schema_of(frame: Any, roles: Mapping[str, Role], like: FrameTypes) -> dict[str, ColumnSchema]:
    """Compare the types of a published frame with those that came in, column by column."""
    published = FrameTypes.of(frame).types
    schema = {}
    for name, role in roles.items():
        before, after = like.types.get(name), published[name]
        changed = before is not None and _bare(before) != _bare(after)
        coarser = changed and role is Role.QUASI_IDENTIFIER
        schema[name] = ColumnSchema(
            role,
            "" if before is None else str(before),
            str(after),
            "coarser" if coarser else "form" if changed else "",
        )
    return schema


def _bare(dtype: Any) -> str:
    """Return the name of a type without its categories, which are those that are published."""
    return "Enum" if isinstance(dtype, pl.Enum) else str(dtype)


def _in_polars(frame: Any, like: FrameTypes, exact: Sequence[str]) -> Any:
    lazy = isinstance(frame, pl.LazyFrame)
    whole = frame.collect() if lazy else frame
    whole = whole.with_columns(_polars_column(whole[name], like.types[name]) for name in exact)
    return whole.lazy() if lazy else whole


def _polars_column(column: pl.Series, dtype: Any) -> pl.Series:
    if isinstance(dtype, pl.Datetime) and isinstance(column.dtype, pl.Datetime):
        return column.dt.convert_time_zone(dtype.time_zone) if dtype.time_zone else column
    if column.dtype != pl.String:
        return column
    if isinstance(dtype, pl.Categorical):
        return column.cast(pl.Categorical)
    if isinstance(dtype, pl.Enum):
        occurring = set(column.unique().drop_nulls())
        members = [member for member in dtype.categories if member in occurring]
        return column.cast(pl.Enum(members)) if len(members) == len(occurring) else column
    return column


def _in_arrow(frame: Any, like: FrameTypes, exact: Sequence[str]) -> Any:
    pa = require_pyarrow()
    for name in exact:
        place, dtype = frame.schema.get_field_index(name), like.types[name]
        column = frame.column(place)
        if column.type == dtype:
            continue
        try:
            if pa.types.is_dictionary(dtype):
                column = _arrow_dictionary(column, dtype, like.categories.get(name))
            else:
                column = column.cast(dtype)
        except (pa.ArrowException, ValueError):
            continue
        frame = frame.set_column(place, name, column)
    return frame


def _arrow_dictionary(column: Any, dtype: Any, members: Sequence[Any] | None) -> Any:
    """Return a column as a dictionary of its own values, which keep an order of the source."""
    pa = require_pyarrow()
    values = column.unique().drop_null()
    if members is not None:
        occurring = set(values.to_pylist())
        values = pa.array([m for m in members if m in occurring], values.type)
    indices = pa.compute.index_in(column.combine_chunks(), values)
    return pa.DictionaryArray.from_arrays(
        indices.cast(dtype.index_type), values.cast(dtype.value_type), ordered=dtype.ordered
    )


def _in_pandas(frame: Any, like: FrameTypes, exact: Sequence[str]) -> Any:
    import pandas as pd

    require_pyarrow(PANDAS_FRAMES)
    for name in exact:
        column, dtype = frame[name], like.types[name]
        if column.dtype == dtype:
            continue
        if str(dtype) == "object":
            cells = [None if pd.isna(cell) else cell for cell in column.tolist()]
            frame[name] = pd.Series(cells, dtype=object)
            continue
        if name in like.categories:
            occurring = set(column.dropna())
            members = [member for member in like.categories[name] if member in occurring]
            if len(members) == len(occurring):
                frame[name] = pd.Categorical(column, categories=members, ordered=dtype.ordered)
            continue
        try:
            typed = column.astype(dtype)
        except (TypeError, ValueError, NotImplementedError):
            continue
        if typed.isna().equals(column.isna()) and _same_cells(typed, column):
            frame[name] = typed
    return frame


def _same_cells(typed: Any, column: Any) -> bool:
    """Return whether a column has the same cells in another type of pandas."""
    present = ~column.isna()
    same: bool = typed[present].tolist() == column[present].tolist()
    return same or bool(typed.astype(column.dtype).equals(column))
