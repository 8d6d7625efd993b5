"""Frames in and out: pandas, Polars (eager or lazy), Arrow tables, and all that gives Arrow.

A frame of narwhals is the frame that it wraps. An object with the Arrow PyCapsule interface (a
DuckDB relation, an Ibis table, a stream of Arrow batches) is read once, into a Polars frame.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import EMPTY, InputError
from discreet.extras import PANDAS_FRAMES, require_pyarrow, require_unforked
from discreet.io.column_dictionary import is_cell_type, no_cells, recode, sort_dictionary
from discreet.io.header import names_read, require_names
from discreet.table.coded_table import CodedTable, Column
from discreet.table.published import PublishedColumn
from discreet.table.roles import ColumnSpec
from discreet.typing import Codes


class FrameKind(StrEnum):
    """The kinds of frame that are read and returned."""

    PANDAS = "pandas"
    POLARS = "polars"
    POLARS_LAZY = "polars-lazy"
    ARROW = "arrow"


def unwrapped_frame(frame: Any) -> Any:
    """Return the frame that a narwhals frame wraps; any other as it is."""
    wraps = type(frame).__module__.startswith("narwhals.") and hasattr(frame, "to_native")
    return frame.to_native() if wraps else frame


def plain_frame(frame: Any) -> Any:
    """Return a frame of one of the kinds, or a Spark frame; a query is run here, once.

    A message of a database may quote cells, so none is passed on.
    """
    require_unforked()
    frame = unwrapped_frame(frame)
    polars_frames = (pl.DataFrame, pl.LazyFrame)
    if isinstance(frame, polars_frames) or is_spark_frame(frame):
        return frame
    if _is_of(frame, "pyarrow", "Table") or _is_of(frame, "pandas", "DataFrame"):
        return _with_distinct_names(frame)
    if not hasattr(frame, "__arrow_c_stream__"):
        return frame
    try:
        return pl.DataFrame(frame)
    except pl.exceptions.DuplicateError:
        raise InputError(
            f"The {type(frame).__name__} has columns with the same name. Give each its own in the "
            "query, with AS, or give an Arrow table."
        ) from None
    except Exception as error:  # of the library behind the stream
        raise InputError(
            f"The {type(frame).__name__} cannot be read as an Arrow stream "
            f"({type(error).__name__}). Correct its query, or give an Arrow table."
        ) from None


def _with_distinct_names(frame: Any) -> Any:
    """Return a frame whose columns have names of their own; warn where some shared one."""
    names = frame_names(frame)
    if len(set(names)) == len(names) or not all(isinstance(name, str) for name in names):
        return frame
    distinct = names_read(names, "The table")
    if frame_kind(frame) is FrameKind.ARROW:
        return frame.rename_columns(distinct)
    return frame.set_axis(distinct, axis=1)


def frame_names(frame: Any) -> list[Any]:
    """The names of a frame's columns as they are, which may be shared or no text."""
    frame = unwrapped_frame(frame)
    if isinstance(frame, pl.LazyFrame):
        with _collecting():
            return frame.collect_schema().names()
    arrow = _is_of(frame, "pyarrow", "Table")
    return list(frame.column_names if arrow else frame.columns)


def frame_kind(frame: object) -> FrameKind:
    """Return the kind of frame that an object is."""
    if isinstance(frame, pl.DataFrame):
        return FrameKind.POLARS
    if isinstance(frame, pl.LazyFrame):
        return FrameKind.POLARS_LAZY
    if _is_of(frame, "pyarrow", "Table"):
        return FrameKind.ARROW
    if _is_of(frame, "pandas", "DataFrame"):
        return FrameKind.PANDAS
    raise InputError(
        "A table may be a path, a pandas, Polars, Arrow or Spark table, or an object with the "
        f"Arrow PyCapsule interface, not {type(frame).__name__}."
    )


def _is_of(frame: object, library: str, name: str) -> bool:
    """Return whether an object is of a class of a library, which is not imported for it."""
    module = sys.modules.get(library)
    return module is not None and isinstance(frame, getattr(module, name))


def is_spark_frame(frame: object) -> bool:
    """Return whether an object is a Spark data frame, which an engine of its own publishes."""
    return type(frame).__module__.startswith("pyspark.sql") and hasattr(frame, "sparkSession")


def frame_columns(frame: Any) -> tuple[str, ...]:
    """The names of a frame's columns."""
    frame_kind(frame)
    names = frame_names(frame)
    other = sorted({type(name).__name__ for name in names if not isinstance(name, str)})
    if other:
        raise InputError(
            f"Names of columns must be text, found some of type {', '.join(other)}. "
            "Rename them: frame.columns = frame.columns.map(str)."
        )
    require_names(names, "The table")
    return tuple(names)


def code_frame(
    frame: object, specs: Mapping[str, ColumnSpec], missing: Collection[str] = ()
) -> CodedTable:
    """Code every column of a frame that may be published; specs name all columns."""
    names = frame_columns(frame)
    coded = [name for name in names if specs[name].role.published]
    native: Any = frame
    if isinstance(frame, pl.LazyFrame):
        with _collecting():
            native = frame.select(coded).collect()
    kind = frame_kind(frame)
    if kind is FrameKind.PANDAS:
        require_pyarrow(PANDAS_FRAMES)
    if len(native) == 0:
        raise InputError("The table has columns but no rows. Nothing can be published.").with_code(
            EMPTY
        )
    columns = {
        name: code_series(_to_polars(native, kind, name), specs[name], missing, "The table")
        for name in coded
    }
    left_out = tuple(name for name in names if name not in columns)
    return CodedTable(columns, len(native), left_out)


@contextmanager
def _collecting() -> Iterator[None]:
    """Raise the failure of a lazy frame without the message of Polars, which quotes cells."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:  # of a file or an object store
        raise InputError(
            f"The lazy frame cannot be collected ({type(error).__name__}). Correct its query; "
            "frame.collect() shows the error."
        ) from None


def _to_polars(frame: Any, kind: FrameKind, name: str) -> pl.Series:
    """Return one column of a frame."""
    if kind is FrameKind.ARROW:
        _require_arrow_cells(name, frame.schema.field(name).type)
    if kind is FrameKind.PANDAS:
        _require_pandas_cells(name, frame[name].dtype)
        _require_arrow_cells(name, _arrow_type(frame[name]))
    column: pl.Series
    try:
        if kind is FrameKind.ARROW:
            column = pl.DataFrame(frame.select([name]))[name]
        elif kind is FrameKind.PANDAS:
            column = pl.from_pandas(frame[[name]])[name]
        else:
            column = frame.get_column(name)
    except Exception as error:  # any error of the frame's library for mixed objects
        raise InputError(
            f"Column {name!r} of the table cannot be read as one type "
            f"({type(error).__name__}). Make its values one type, such as text."
        ) from None
    return column


def _require_pandas_cells(name: str, dtype: Any) -> None:
    """Raise where values are ranges or periods: some releases of Polars read them as numbers."""
    categories = getattr(dtype, "categories", None)  # of a column made by pd.cut
    word = str(dtype if categories is None else categories.dtype).partition("[")[0]
    if word in ("interval", "period"):
        raise no_cells(name, f"pandas.{word}")


def _arrow_type(series: Any) -> Any:
    """Return the Arrow type of a pandas column, where it may be one that Polars cannot read."""
    arrow_type = getattr(series.dtype, "pyarrow_dtype", None)
    if arrow_type is not None:
        return arrow_type
    first = (
        series.first_valid_index() if series.dtype == object and series.index.is_unique else None
    )
    if first is None or not isinstance(series[first], Decimal):
        return None
    pa = require_pyarrow(PANDAS_FRAMES)
    try:
        return pa.Array.from_pandas(series).type
    except (pa.ArrowException, TypeError):
        return None  # values of several types; reading reports them


def _require_arrow_cells(name: str, kind: Any) -> None:
    """Refuse the decimals of 256 bits, on which Polars panics."""
    inner = str(getattr(kind, "value_type", kind))  # of a dictionary
    if inner.startswith("decimal256"):
        raise no_cells(name, inner)


def code_series(
    series: pl.Series, spec: ColumnSpec, missing: Collection[str], place: str
) -> Column:
    """Code a column of any dtype; its distinct values stay in that dtype."""
    raw, codes = factorize(series)

    def locate(bad: NDArray[np.int64]) -> str:
        return f"{place}, row {int(np.flatnonzero(np.isin(codes, bad))[0]) + 1}"

    dictionary = sort_dictionary(series.name, spec, raw, missing, locate)
    recode(codes, dictionary.code_of_raw, codes)
    return dictionary.column(series.name, spec, codes)


def factorize(series: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct values that occur, a null among them, and the number of each row's value."""
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if not is_cell_type(series.dtype):
        return series, np.arange(len(series), dtype=np.int32)  # refused when it is rendered
    raw = series.unique(maintain_order=True)
    numbered = pl.DataFrame({"value": raw, "code": np.arange(len(raw), dtype=np.int32)})
    codes = series.to_frame("value").join(
        numbered, on="value", how="left", nulls_equal=True, maintain_order="left"
    )["code"]
    return raw, codes.to_numpy().copy()


def to_frame(
    columns: Sequence[PublishedColumn], like: FrameKind, order: NDArray[np.integer] | None = None
) -> Any:
    """Published columns as a frame of the kind that came in, rows in the given order."""
    series = []
    for column in columns:
        codes = column.codes if order is None else column.codes[order]
        series.append(column.dictionary.gather(pl.Series(codes)).alias(column.name))
    frame = pl.DataFrame(series)
    match like:
        case FrameKind.POLARS:
            return frame
        case FrameKind.POLARS_LAZY:
            return frame.lazy()
        case FrameKind.ARROW:
            return frame.to_arrow()
        case FrameKind.PANDAS:
            return _to_pandas(frame)


def _to_pandas(frame: pl.DataFrame) -> Any:
    """A pandas frame in which integers with a missing value among them stay integers."""
    result = frame.to_pandas()
    for series in frame:
        if series.null_count() and (series.dtype.is_integer() or series.dtype == pl.Boolean):
            result[series.name] = series.to_pandas(use_pyarrow_extension_array=True)
    return result
