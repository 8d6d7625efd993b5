"""The signatures of the rows in each bucket of largest-ℓ group forming, the commonest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import group_codes
from discreet.table.coded_table import Column, count_codes
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import starts_of
from discreet.typing import Codes, Ints

SIGNATURES = 2**16  # in all buckets together, and 1 024 in each bucket: more are not indexed
SIGNATURES_OF_BUCKET = 1024
DIRECT_KEYS = 2**20  # combinations of values that are numbered without a look which occur
ROWS_AT_ONCE = 2**16  # so that they stay in the cache
FEW_ROWS = 512  # half of a table that is small enough for any index


@dataclass(frozen=True, eq=False)
class BucketSignatures:
    """Signatures by bucket, the commonest first, and the rows of each."""

    bucket_start: Ints  # (buckets + 1,) into the signatures
    count: Ints  # (signatures,)
    values: NDArray[np.int32]  # (signatures, attributes in the signature)
    row_start: Ints  # (signatures + 1,) into the rows
    row: NDArray[np.int32]  # (rows,) by signature


def sign_rows(bucket: Column, columns: Sequence[Column]) -> tuple[BucketSignatures, int]:
    """The signatures of as many attributes as may be indexed, those with fewest values first."""
    rows = len(bucket.codes)
    limit = max(SIGNATURES, SIGNATURES_OF_BUCKET * bucket.cardinality)
    key, size = bucket.codes, bucket.counts
    indexed = 0
    if rows > 2 * FEW_ROWS:
        limit = min(limit, rows // 2)
    for column in columns:
        if np.count_nonzero(column.counts) > limit:  # no need to look which go together
            break
        finer, count = _refined(key, len(size), column)
        if np.count_nonzero(count) > limit:
            break
        key, size = finer, count
        indexed += 1
    first = _first_rows(key, len(size))
    present = np.flatnonzero(size)
    of_bucket = bucket.codes[first[present]]
    order = present[np.lexsort((first[present], -size[present], of_bucket))]
    number = np.empty(len(size), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    values = np.zeros((len(order), indexed), np.int32)
    for place, column in enumerate(columns[:indexed]):
        values[:, place] = column.codes[first[order]]
    same = np.broadcast_to(np.int32(0), rows)
    start, by_signature = order_by_class(number.take(key), same, len(order), 1)
    signatures = BucketSignatures(
        starts_of(np.bincount(of_bucket, minlength=bucket.cardinality)),
        size[order],
        values,
        start,
        by_signature.astype(np.int32),
    )
    return signatures, indexed


def _refined(key: Codes, keys: int, column: Column) -> tuple[Codes, Ints]:
    """Return a key for each combination of a key and a value, and the count of each."""
    if keys * column.cardinality > DIRECT_KEYS:
        found = group_codes([key, column.codes], [keys, column.cardinality], len(key))
        return found.class_of_row, found.size
    finer = np.empty_like(key)
    for begin in range(0, len(key), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        np.multiply(key[part], np.int32(column.cardinality), out=finer[part])
        finer[part] += column.codes[part]
    return finer, count_codes(finer, keys * column.cardinality)


def _first_rows(key: Codes, keys: int) -> Ints:
    """Return the first row with each key."""
    first = np.zeros(keys, np.int64)
    for begin in reversed(range(0, len(key), ROWS_AT_ONCE)):
        part = key[begin : begin + ROWS_AT_ONCE][::-1]
        first[part] = np.arange(begin + len(part) - 1, begin - 1, -1)  # the last one remains
    return first
