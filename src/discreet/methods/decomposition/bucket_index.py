"""The signatures of the rows in each bucket of largest-ℓ group forming, the commonest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.typing import Ints

SIGNATURES = 2**16  # in all buckets together, and 1 024 in each bucket: more are not indexed
SIGNATURES_OF_BUCKET = 1024
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
    codes, cardinality = [bucket.codes], [bucket.cardinality]
    found = group_codes(codes, cardinality, rows)
    indexed = 0
    if rows > 2 * FEW_ROWS:
        limit = min(limit, rows // 2)
    for column in columns:
        if np.count_nonzero(column.counts) > limit:  # no need to look which go together
            break
        finer = group_codes(
            [found.class_of_row, column.codes], [found.count, column.cardinality], rows
        )
        if finer.count > limit:
            break
        found = finer
        indexed += 1
    of_bucket = bucket.codes[found.first_row]
    order = np.lexsort((-found.size, of_bucket))
    number = np.empty(found.count, np.int32)
    number[order] = np.arange(found.count, dtype=np.int32)
    size = found.size[order]
    buckets = np.bincount(of_bucket, minlength=bucket.cardinality)
    values = np.zeros((found.count, indexed), np.int32)
    for place, column in enumerate(columns[:indexed]):
        values[:, place] = column.codes[found.first_row[order]]
    start = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    same = np.zeros(len(found.class_of_row), np.int32)
    _, by_signature = order_by_class(number[found.class_of_row], same, found.count, 1)
    signatures = BucketSignatures(
        np.concatenate(([0], np.cumsum(buckets))).astype(np.int64),
        size,
        values,
        start,
        by_signature.astype(np.int32),
    )
    return signatures, indexed
