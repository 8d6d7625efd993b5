"""Largest-ℓ group forming: each round takes one row from each of the ℓ largest buckets.

The rows of a bucket share the value of the primary attribute. From the first bucket a random row
is taken, from each next one a row with the least diversity penalty; among equals the commonest
remaining signature, the row's values of the other attributes, and then chance. Buckets of equal
size come in random order: in a fixed one, their rows of common values run out together, and on
Adult ten times as much noise is needed in the end.

Nothing here looks at quasi-identifiers, and no order of the source shows in the result: the rows
of a signature are shuffled first.

How it stays near-linear. Rows of a bucket with the same signature are alike, so signatures are kept
with their counts, the commonest first, and a choice stops at the first one without penalty. Taking
a row moves its signature to the end of those with the same count, so the order holds at no cost.
Where signatures are nearly all distinct (a numeric attribute) none is common, and looking through
those of a bucket would be quadratic: the attributes with the most values are then left out of the
signature, and of the rows of the signature that was chosen a few are tried for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.methods.decomposition.bucket_index import sign_rows
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.typing import Ints

TRIES = 16  # rows of a signature that are tried for the attributes outside it


@dataclass(frozen=True, eq=False)
class Formed:
    """The groups of a table, before residual rows joined."""

    group_of_row: NDArray[np.int32]  # (rows,) −1 for a residual row
    short: NDArray[np.bool_]  # (groups,) whether some other attribute has too few values

    @property
    def groups(self) -> int:
        return len(self.short)


def largest_groups(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    rng: np.random.Generator,
    rows: NDArray[np.int64] | None = None,
) -> Formed:
    """Form groups of ``ell`` rows with distinct values of the primary attribute.

    ``wanted`` are the distinct values that a group should have of each of the others; ``rows``
    restricts the forming to some rows.
    """
    asked = sorted(
        ((column, want) for column, want in zip(others, wanted, strict=True) if want > 1),
        key=lambda pair: pair[0].cardinality,
    )
    columns = [column if rows is None else column.take(rows) for column, _ in asked]
    bucket = primary if rows is None else primary.take(rows)
    signatures, indexed = sign_rows(bucket, columns)
    cardinality = [column.cardinality for column in columns[:indexed]]
    fine = [column.codes for column in columns[indexed:]]
    group_of_row, short = _form(
        rng,
        ell,
        signatures.bucket_start,
        signatures.count,
        signatures.values,
        signatures.row_start,
        signatures.row,
        np.argsort(-bucket.counts, kind="stable").astype(np.int32),
        np.array([want for _, want in asked], np.int64),
        np.cumsum([0, *cardinality])[:-1].astype(np.int64),
        sum(cardinality),
        np.stack(fine) if fine else np.zeros((0, 0), np.int32),
    )
    return Formed(group_of_row, short)


@kernel
def _below(rng: np.random.Generator, bound: int) -> int:
    """A random whole number from 0 on; ``Generator.integers`` takes seconds to compile."""
    return int(rng.random() * bound)


@kernel
def _shuffle(rng: np.random.Generator, items: NDArray[np.int32], first: int, end: int) -> None:
    for last in range(end - 1, first, -1):
        other = first + _below(rng, last - first + 1)
        items[last], items[other] = items[other], items[last]


@kernel
def _shuffled(
    rng: np.random.Generator, bucket_start: Ints, row_start: Ints, row: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Shuffle the rows of every signature; the signatures of each bucket's rows, shuffled too."""
    labels = np.empty(len(row), np.int32)
    for signature in range(len(row_start) - 1):
        _shuffle(rng, row, row_start[signature], row_start[signature + 1])
        labels[row_start[signature] : row_start[signature + 1]] = signature
    for bucket in range(len(bucket_start) - 1):
        first, end = row_start[bucket_start[bucket]], row_start[bucket_start[bucket + 1]]
        _shuffle(rng, labels, first, end)
    return labels


@kernel
def _levels(count: Ints, start: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """For each bucket and c, how many of its items have a count of c or more."""
    buckets = len(start) - 1
    level_start = np.zeros(buckets + 1, np.int64)
    for bucket in range(buckets):
        greatest = 0
        for item in range(start[bucket], start[bucket + 1]):
            greatest = max(greatest, count[item])
        level_start[bucket + 1] = level_start[bucket] + greatest + 2
    at_least = np.zeros(level_start[buckets], np.int32)
    for bucket in range(buckets):
        base = level_start[bucket]
        for item in range(start[bucket], start[bucket + 1]):
            at_least[base + count[item]] += 1
        for c in range(level_start[bucket + 1] - base - 2, -1, -1):
            at_least[base + c] += at_least[base + c + 1]
    return level_start, at_least


@kernel
def _drop_one(
    item: int,
    first: int,
    base: int,
    count: Ints,
    ranked: NDArray[np.int32],
    rank: NDArray[np.int32],
    at_least: NDArray[np.int32],
) -> None:
    """Count one less of an item and keep the ranking, the greatest counts first."""
    c = count[item]
    last = first + at_least[base + c] - 1
    other = ranked[last]
    here = rank[item]
    ranked[here], ranked[last] = other, item
    rank[other], rank[item] = here, last
    at_least[base + c] -= 1
    count[item] = c - 1


@kernel
def _mix_equals(
    rng: np.random.Generator,
    ell: int,
    size: Ints,
    by_size: NDArray[np.int32],
    size_rank: NDArray[np.int32],
    of_size: NDArray[np.int32],
) -> None:
    """Put buckets of equal size in random order, as far as the first ``ell`` places show it."""
    for place in range(ell):
        end = of_size[size[by_size[place]]]
        if end - place > 1:
            other = place + _below(rng, end - place)
            one, two = by_size[place], by_size[other]
            by_size[place], by_size[other] = two, one
            size_rank[two], size_rank[one] = place, other


@kernel
def _draw(
    rng: np.random.Generator,
    bucket: int,
    labels: NDArray[np.int32],
    next_label: Ints,
    unread: Ints,
    count: Ints,
) -> int:
    """The signature of a random remaining row of a bucket.

    Labels are the signatures of the bucket's rows in random order. Rows that were taken for their
    signature represent random labels of it that are still unread: each label is skipped with the
    probability that it is one of those.
    """
    while True:
        signature = labels[next_label[bucket]]
        next_label[bucket] += 1
        gone = unread[signature] - count[signature]
        skipped = gone > 0 and _below(rng, unread[signature]) < gone
        unread[signature] -= 1
        if not skipped:
            return int(signature)


@kernel
def _choose(
    rng: np.random.Generator,
    first: int,
    base: int,
    at_least: NDArray[np.int32],
    ranked: NDArray[np.int32],
    count: Ints,
    values: NDArray[np.int32],
    penalty: Ints,
    offset: Ints,
    stamp: NDArray[np.int32],
    group: int,
) -> int:
    """The signature of a bucket with the least penalty, of those a commonest one."""
    alive = at_least[base + 1]
    best, least = -1, np.int64(2**62)
    begin = 0
    while begin < alive:
        end = at_least[base + count[ranked[first + begin]]]  # of those with the same count
        turn = _below(rng, end - begin) if end - begin > 1 else 0
        for step in range(end - begin):
            place = begin + (step + turn) % (end - begin)
            signature = ranked[first + place]
            cost = np.int64(0)
            for attribute in range(values.shape[1]):
                if (
                    penalty[attribute]
                    and stamp[offset[attribute] + values[signature, attribute]] == group
                ):
                    cost += penalty[attribute]
            if cost < least:
                best, least = signature, cost
                if cost == 0:
                    return int(best)
        begin = end
    return int(best)


@kernel
def _in_order(codes: NDArray[np.int32], row: NDArray[np.int32]) -> NDArray[np.int32]:
    """The codes of some attributes in the order of rows, so that a choice reads neighbours."""
    held = np.empty_like(codes)
    for attribute in range(len(codes)):
        for place in range(len(row)):
            held[attribute, place] = codes[attribute, row[place]]
    return held


@kernel
def _take(
    first: int,
    end: int,
    row: NDArray[np.int32],
    held: NDArray[np.int32],
    penalty: Ints,  # of the attributes outside the signature
    members: NDArray[np.int32],
    turn: int,
) -> None:
    """Choose a remaining row of a signature and put it last.

    Of a few, it is one with the least penalty outside the signature; ``members`` has the values of
    the rows that the group has already.
    """
    best, least = end - 1, np.int64(2**62)
    for step in range(min(TRIES, end - first) if len(held) else 0):
        place = end - 1 - step
        cost = np.int64(0)
        for attribute in range(len(held)):
            if penalty[attribute] and _has(members[attribute], turn, held[attribute, place]):
                cost += penalty[attribute]
        if cost < least:
            best, least = place, cost
            if cost == 0:
                break
    row[best], row[end - 1] = row[end - 1], row[best]
    for attribute in range(len(held)):
        value = held[attribute, best]
        held[attribute, best] = held[attribute, end - 1]
        held[attribute, end - 1] = value


@kernel
def _has(values: NDArray[np.int32], count: int, value: int) -> bool:
    for i in range(count):
        if values[i] == value:
            return True
    return False


@kernel(work=30)
def _form(
    rng: np.random.Generator,
    ell: int,
    bucket_start: Ints,
    counts: Ints,
    values: NDArray[np.int32],
    row_start: Ints,
    row: NDArray[np.int32],
    by_size: NDArray[np.int32],
    wanted: Ints,
    offset: Ints,
    stamps: int,
    fine: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    buckets, rows = len(bucket_start) - 1, len(row)
    indexed = values.shape[1]
    labels = _shuffled(rng, bucket_start, row_start, row)
    next_label = row_start[bucket_start[:-1]].copy()
    count = counts.copy()
    unread = counts.copy()
    ranked = np.arange(len(counts)).astype(np.int32)  # signatures of a bucket by count
    rank = ranked.copy()
    level_start, at_least = _levels(counts, bucket_start)
    size = np.diff(row_start[bucket_start])  # and buckets by size
    size_rank = np.empty(buckets, np.int32)
    size_rank[by_size] = np.arange(buckets).astype(np.int32)
    _, of_size = _levels(size, np.array([0, buckets]))

    held = _in_order(fine, row)
    members = np.empty((len(fine), ell), np.int32)
    group_of_place = np.full(rows, -1, np.int32)
    stamp = np.full(stamps, -1, np.int32)
    penalty = np.empty(len(wanted), np.int64)
    chosen = np.empty(ell, np.int32)
    short = np.zeros(rows // ell, np.bool_)
    group = 0
    while ell <= buckets and of_size[1] >= ell:
        _mix_equals(rng, ell, size, by_size, size_rank, of_size)
        chosen[:] = by_size[:ell]
        penalty[:] = wanted
        for turn in range(ell):
            bucket = chosen[turn]
            first, base = bucket_start[bucket], level_start[bucket]
            if turn == 0:
                signature = _draw(rng, bucket, labels, next_label, unread, count)
            else:
                signature = _choose(
                    rng, first, base, at_least, ranked, count, values, penalty, offset, stamp,
                    group,
                )  # fmt: skip
            begin = row_start[signature]
            taken = begin + count[signature] - 1
            _take(begin, taken + 1, row, held, penalty[indexed:], members, turn)
            _drop_one(signature, first, base, count, ranked, rank, at_least)
            group_of_place[taken] = group
            for attribute in range(indexed):
                place = offset[attribute] + values[signature, attribute]
                if stamp[place] != group:
                    stamp[place] = group
                    penalty[attribute] = max(penalty[attribute] - 1, 0)
            for attribute in range(len(fine)):
                value = held[attribute, taken]
                if not _has(members[attribute], turn, value):
                    penalty[indexed + attribute] = max(penalty[indexed + attribute] - 1, 0)
                members[attribute, turn] = value
        for turn in range(ell - 1, -1, -1):
            _drop_one(chosen[turn], 0, 0, size, by_size, size_rank, of_size)
        short[group] = penalty.any()
        group += 1
    group_of_row = np.empty(rows, np.int32)
    for place in range(rows):
        group_of_row[row[place]] = group_of_place[place]
    return group_of_row, short[:group]
