"""Rows from tasks to tasks in columns: files of which other tasks read stretches.

A task sorts its rows by their target and writes those of each target as an Arrow stream, one after
the other; the task of a target reads its stretches in all files. Spark's own shuffle takes columns
apart into rows and puts them together again, which costs more than the methods themselves. The
folder is the private one that all workers reach. Text in an Enum travels as codes, and its values
once a file, at the end.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

COUNT = "count"


@dataclass(frozen=True, eq=False)
class Exchanged:
    """A file with the rows of every target."""

    path: str
    bounds: NDArray[np.int64]  # (targets + 1,) bytes at which the rows of each target begin
    coded: tuple[str, ...]  # columns in codes; their values come after the rows


def new_name() -> str:
    """A name that no other attempt at the same task has."""
    return secrets.token_hex(8)


def exchange(
    frame: pl.DataFrame, target: NDArray[np.integer], targets: int, folder: Path
) -> Exchanged:
    """Write rows for the tasks of their targets 0 … targets − 1."""
    ends = np.cumsum(np.bincount(target, minlength=targets))
    coded = [series for series in frame if series.dtype == pl.Enum]
    frame = frame.with_columns(series.to_physical() for series in coded)
    if targets > 1:
        frame = frame[np.argsort(target, kind="stable")]
    path = folder / f"{new_name()}.arrow"
    bounds = np.zeros(targets + 1, np.int64)
    with path.open("xb") as file:
        for number, end in enumerate(ends):
            begin = ends[number - 1] if number else 0
            if end > begin:
                file.write(_stream(frame[int(begin) : int(end)]))
            bounds[number + 1] = file.tell()
        if coded:
            values = {column.name: [_values(column).to_list()] for column in coded}
            file.write(_stream(pl.DataFrame(values, dict.fromkeys(values, pl.List(pl.String)))))
    return Exchanged(str(path), bounds, tuple(column.name for column in coded))


def received(files: Iterable[Exchanged], targets: Sequence[int]) -> pl.DataFrame | None:
    """The rows that all files have for some targets; None if there are none."""
    frames = [frame for file in files for frame in _stretches(file, targets)]
    return joined(frames) if frames else None


def joined(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several frames, whose Enums may have different values."""
    for name in frames[0].columns:
        column = [frame[name] for frame in frames]
        if not any(series.dtype == pl.Enum for series in column):
            continue
        if all(series.dtype == pl.Enum for series in column):
            values = [_values(series) for series in column]
            all_values = pl.Enum(pl.concat(values).unique().sort())
            column = [
                known.cast(all_values).gather(series.to_physical())
                for known, series in zip(values, column, strict=True)
            ]
        else:
            column = [series.cast(pl.String) for series in column]
        frames = [
            frame.with_columns(series.alias(name))
            for frame, series in zip(frames, column, strict=True)
        ]
    return pl.concat(frames, rechunk=True)


def _stretches(file: Exchanged, targets: Sequence[int]) -> Iterator[pl.DataFrame]:
    wanted = [t for t in targets if file.bounds[t + 1] > file.bounds[t]]
    if not wanted:
        return
    with Path(file.path).open("rb") as stream:
        values: dict[str, pl.Series] = {}
        if file.coded:
            stream.seek(int(file.bounds[-1]))
            held = pl.read_ipc_stream(BytesIO(stream.read()))
            values = {name: held[name].explode().drop_nulls() for name in file.coded}
            values = {name: texts.cast(pl.Enum(texts)) for name, texts in values.items()}
        for target in wanted:
            stream.seek(int(file.bounds[target]))
            size = int(file.bounds[target + 1] - file.bounds[target])
            rows = pl.read_ipc_stream(BytesIO(stream.read(size)))
            yield rows.with_columns(texts.gather(rows[name]) for name, texts in values.items())


def _values(series: pl.Series) -> pl.Series:
    """The values of an Enum, by their codes."""
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories


def _stream(frame: pl.DataFrame) -> bytes:
    """The rows as an Arrow stream; the oldest form of text holds no more than these rows."""
    buffer = BytesIO()
    frame.write_ipc_stream(buffer, compression="lz4", compat_level=pl.CompatLevel.oldest())
    return buffer.getvalue()


def summed(frames: Iterable[pl.DataFrame], limit: int) -> tuple[pl.DataFrame | None, int]:
    """Sum up the counts of equal rows on the driver; also the number of distinct rows.

    The driver holds no more than about twice ``limit`` rows and a frame: beyond it there is no sum,
    and the number is that of the distinct rows found so far.
    """
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) > 2 * limit + (1 << 16):
            waiting = [_sum(waiting)]
            if len(waiting[0]) > limit:
                return None, len(waiting[0])
    total = _sum(waiting)
    return (total if len(total) <= limit else None), len(total)


def _sum(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    whole = pl.concat(frames)
    keys = [name for name in whole.columns if name != COUNT]
    return whole.group_by(keys).agg(pl.col(COUNT).sum()) if keys else whole.sum()
