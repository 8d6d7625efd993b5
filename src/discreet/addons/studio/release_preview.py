"""A release beside its original, for a page: the same rows, and the distribution of each column.

Both show cells of the source, so they are the publisher's alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.pipeline.release import Release
from discreet.releases.measure import read_utility
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ValueType

SHOWN_ROWS = 20
MOST_BARS = 24
MOST_COLUMNS = 60
DRAWS = 3  # tables drawn from the release, whose mean is its distribution


def release_preview(release: Release) -> dict[str, Any]:
    """Return the same rows before and after, and distributions, as plain data."""
    return {
        "tables": list(_tables(release)),
        "distributions": list(_distributions(release)),
    }


def _tables(release: Release) -> Iterator[dict[str, Any]]:
    original = release.task.table
    source_rows = release.formed.source_rows() or {}
    for name, table in release.coded_tables().items():
        columns = list(table)
        rows = source_rows.get(name)
        if rows is None or len(rows) != table.entries:
            shown = np.arange(min(SHOWN_ROWS, table.entries))
            names = [column.name for column in columns]
            yield {"name": name, "columns": names, "rows": [], "sample": _rows(columns, shown)}
            continue
        # Numbers of groups have no cells before.
        columns = [column for column in columns if column.name in original.columns]
        rare = release.task.secrets.rare
        number_of_row = np.arange(original.rows) if rare is None else rare.rows
        published = np.argsort(rows, kind="stable")[:SHOWN_ROWS]  # the first rows of the source
        before = [_texts(original[column.name], rows[published]) for column in columns]
        yield {
            "name": name,
            "columns": [column.name for column in columns],
            "rows": [
                {"row": int(number) + 1, "before": list(old), "after": new}
                for number, old, new in zip(
                    number_of_row[rows[published]],
                    zip(*before, strict=True),
                    _rows(columns, published),
                    strict=True,
                )
            ],
        }


def _rows(columns: list[Column], rows: NDArray[np.int64]) -> list[list[str | None]]:
    cells = [_texts(column, rows) for column in columns]
    return [list(row) for row in zip(*cells, strict=True)]


def _texts(column: Column, rows: NDArray[Any]) -> list[str | None]:
    return column.text.gather(pl.Series(column.codes[rows])).to_list()


def _distributions(release: Release) -> Iterator[dict[str, Any]]:
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    original: CodedTable = reading.original
    rng = np.random.default_rng(0)
    total: dict[str, NDArray[np.float64]] = {}
    for _ in range(DRAWS):
        for name, codes in reading.implied.draw(rng).items():
            counts = np.bincount(codes, minlength=original[name].cardinality) / DRAWS
            total[name] = total.get(name, 0) + counts
    for name, after in list(total.items())[:MOST_COLUMNS]:
        column = original[name]
        labels, bar = _bars(column)
        yield {
            "column": name,
            "role": str(column.role),
            "ordered": column.numbers is not None,
            "labels": labels,
            "before": np.bincount(bar, column.counts, len(labels)).astype(int).tolist(),
            "after": np.bincount(bar, after, len(labels)).round(1).tolist(),
        }


def _bars(column: Column) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels of bars, and the bar of each value: a value, a range, or all others."""
    texts = ["(missing)" if text is None else text for text in column.text.to_list()]
    values = column.cardinality
    if values <= MOST_BARS:
        return texts, np.arange(values)
    if column.numbers is not None:
        return _ranges(column, texts)
    order = np.argsort(-column.counts, kind="stable")
    bar = np.full(values, MOST_BARS - 1)
    bar[order[: MOST_BARS - 1]] = np.arange(MOST_BARS - 1)
    shown_texts = [texts[code] for code in order[: MOST_BARS - 1]]
    return [*shown_texts, f"({values - len(shown_texts):,} others)"], bar


def _ranges(column: Column, texts: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Ranges of equal width over ordered values; a missing value has a bar of its own."""
    assert column.numbers is not None
    known = np.flatnonzero(np.isfinite(column.numbers))
    numbers = column.numbers[known]
    width = (numbers.max() - numbers.min()) / (MOST_BARS - 1) or 1.0
    place = np.floor((numbers - numbers.min()) / width).astype(np.int64)
    used, place = np.unique(place, return_inverse=True)
    labels = []
    for number in range(len(used)):
        inside = known[place == number]
        low, high = texts[int(inside[0])], texts[int(inside[-1])]
        joined = f"{low} – {high}" if column.type is not ValueType.TEXT else low
        labels.append(low if low == high else joined)
    bar = np.full(column.cardinality, len(labels))
    bar[known] = place
    if len(known) < column.cardinality:
        labels.append("(missing)")
    return labels, bar
