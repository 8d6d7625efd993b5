"""The published tables of a release folder as frames."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from discreet.regular_files import path_of
from discreet.releases.audit.audit import read_tables
from discreet.releases.manifest import Manifest
from discreet.table.bitmaps import sets_of


def read_release(folder: str | Path, *, sets: bool = True) -> dict[str, pl.DataFrame]:
    """The published tables of a release folder.

    With ``sets``, the bits of a multi-valued attribute that all are in one table become sets
    again, members joined by the attribute's separator. Bits that are in several tables, that
    hide rare members or that were masked can't be put together; they stay as they are.
    """
    folder = path_of(folder, "The release")
    manifest = Manifest.load(folder)
    frames = {}
    for name, table in read_tables(folder, manifest).items():
        series = {column.name: column.values.gather(column.codes) for column in table}
        frame = pl.DataFrame(series)
        frames[name] = with_sets(frame, manifest) if sets else frame
    return frames


def with_sets(frame: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """The same table with the sets that its bits represent."""
    for attribute, entry in manifest.bitmaps.items():
        bitmap = entry.to_bitmap(attribute)
        bits = {name: frame[name] for name in bitmap.bits if name in frame.columns}
        joined = sets_of(bitmap, bits)
        if joined is None:
            continue
        first = frame.columns.index(bitmap.bits[0])
        frame = frame.insert_column(first, joined.alias(attribute)).drop(bitmap.bits)
    return frame
