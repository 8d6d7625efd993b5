"""Columns that follow from others: copies under another name, and coarser or finer versions.

A column determines another where nearly every value of it occurs with one value of the other: of
the rows that the other's most frequent value misses, 98 % are predicted (Goodman and Kruskal's
lambda). Pairs are found on some rows by the values of neighbours and confirmed on all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import classes_of
from discreet.table.coded_table import Column

LOOKED_AT = 5000  # rows
LIKELY = 0.9  # on these rows
DETERMINED = 0.98  # on all
ROWS_OF_VALUE = 5  # on average, at least; nearly unique values determine everything
NEIGHBOURS = 50  # pairs of rows with an equal value, at least


def determined_columns(columns: Sequence[Column]) -> set[tuple[str, str]]:
    """Return the pairs of names of which the first column determines the second."""
    rows = len(columns[0].codes) if columns else 0
    varying = [column for column in columns if np.count_nonzero(column.counts) > 1]
    if rows < NEIGHBOURS or len(varying) < 2:
        return set()
    step = -(-rows // LOOKED_AT)
    codes = np.column_stack([column.codes[::step] for column in varying])  # (some rows, columns)
    misses = np.array([_different(codes[:, at]) for at in range(len(varying))])
    found = set()
    for at, first in enumerate(varying):
        if np.count_nonzero(first.counts) * ROWS_OF_VALUE > rows:
            continue
        ordered = codes[np.argsort(codes[:, at], kind="stable")]
        unequal = ordered[1:] != ordered[:-1]  # (pairs of neighbours, columns)
        alike = unequal[~unequal[:, at]]
        if len(alike) < NEIGHBOURS:
            continue
        likely = 1 - alike.mean(axis=0) / np.maximum(misses, 1e-12) >= LIKELY
        likely &= misses > 0
        found |= {
            (first.name, second.name)
            for second in (varying[number] for number in np.flatnonzero(likely))
            if second is not first and predicted(first, second) >= DETERMINED
        }
    return found


def _different(codes: NDArray[np.int32]) -> float:
    """The chance that two rows have different values."""
    share = np.unique(codes, return_counts=True)[1] / len(codes)
    return float(1 - (share**2).sum())


def predicted(first: Column, second: Column) -> float:
    """Return lambda: the share of a column's misses that another column's values avoid."""
    pair = first.codes.astype(np.int64) * second.cardinality + second.codes
    values, count = np.unique(pair, return_counts=True)
    best = np.zeros(first.cardinality, np.int64)
    np.maximum.at(best, values // second.cardinality, count)
    rows, largest = len(pair), int(second.counts.max())
    return 1.0 if rows == largest else (int(best.sum()) - largest) / (rows - largest)


def unique_shares(known: Sequence[Column], others: Sequence[Column], rows: int) -> list[float]:
    """Return the share of rows that are unique by known columns and by each other one as well."""
    if not rows:
        return [0.0] * (len(others) + 1)
    classes = classes_of(known, rows)
    label, size = classes.class_of_row.astype(np.int64), classes.size
    alone = int((size == 1).sum())
    shared = np.flatnonzero(size[label] > 1)  # rows that another column may tell apart
    shares = [alone / rows]
    for column in others:
        pair = label[shared] * column.cardinality + column.codes[shared]
        count = np.unique(pair, return_counts=True)[1]
        shares.append((alone + int((count == 1).sum())) / rows)
    return shares
