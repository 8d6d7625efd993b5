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

from discreet.methods.decomposition.bucket_index import ROWS_AT_ONCE, sign_rows
from discreet.methods.shared.list_orders import shuffle_lists
from discreet.table.coded_table import Column
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of
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
    bucket_start, row_start, row = signatures.bucket_start, signatures.row_start, signatures.row
    labels = np.repeat(np.arange(len(row_start) - 1, dtype=np.int32), np.diff(row_start))
    shuffle_lists(rng, row, row_start)
    shuffle_lists(rng, labels, row_start[bucket_start])
    sizes = np.diff(row_start[bucket_start])
    group_of_place, short = _form(
        rng,
        ell,
        bucket_start,
        signatures.count,
        signatures.values,
        row_start,
        row,
        np.argsort(-bucket.counts, kind="stable").astype(np.int32),
        np.array([want for _, want in asked], np.int64),
        np.cumsum([0, *cardinality])[:-1].astype(np.int64),
        sum(cardinality),
        np.stack(fine).take(row, axis=1) if fine else np.zeros((0, 0), np.int32),
        labels,
        *_levels(signatures.count, bucket_start),
        _levels(sizes, np.array([0, len(sizes)]))[1],
    )
    group_of_row = np.empty(len(row), np.int32)
    for begin in range(0, len(row), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        group_of_row[row[part]] = group_of_place[part]
    return Formed(group_of_row, short)


def _levels(count: Ints, start: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """For each bucket and c, how many of its items have a count of c or more."""
    bucket = np.repeat(np.arange(len(start) - 1), np.diff(start))
    greatest = np.zeros(len(start) - 1, np.int64)
    np.maximum.at(greatest, bucket, count)
    level_start = starts_of(greatest + 2)
    exactly = np.bincount(level_start[bucket] + count, minlength=level_start[-1])
    or_more = np.append(np.cumsum(exactly[::-1])[::-1], 0)  # in all later buckets too
    of_bucket = np.repeat(level_start[1:], np.diff(level_start))
    return level_start, (or_more[:-1] - or_more[of_bucket]).astype(np.int32)


# Compiled: called for every row that joins a group.
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


# Compiled: looks through the signatures of a bucket for every row that joins a group.
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
        turn = int(rng.random() * (end - begin)) if end - begin > 1 else 0
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


# Compiled: called for every row that joins a group.
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
            for other in range(turn if penalty[attribute] else 0):
                if members[attribute, other] == held[attribute, place]:
                    cost += penalty[attribute]
                    break
        if cost < least:
            best, least = place, cost
            if cost == 0:
                break
    row[best], row[end - 1] = row[end - 1], row[best]
    for attribute in range(len(held)):
        value = held[attribute, best]
        held[attribute, best] = held[attribute, end - 1]
        held[attribute, end - 1] = value


# Compiled: each group depends on what the groups before it took.
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
    held: NDArray[np.int32],  # (attributes outside the signatures, rows) in the order of rows
    labels: NDArray[np.int32],  # (rows,) the signatures of each bucket's rows, shuffled
    level_start: Ints,
    at_least: NDArray[np.int32],
    of_size: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    buckets, rows = len(bucket_start) - 1, len(row)
    indexed = values.shape[1]
    next_label = row_start[bucket_start[:-1]].copy()
    count = counts.copy()
    unread = counts.copy()
    ranked = np.arange(len(counts)).astype(np.int32)  # signatures of a bucket by count
    rank = ranked.copy()
    size = row_start[bucket_start[1:]] - row_start[bucket_start[:-1]]  # and buckets by size
    size_rank = np.empty(buckets, np.int32)
    size_rank[by_size] = np.arange(buckets).astype(np.int32)
    members = np.empty((len(held), ell), np.int32)
    group_of_place = np.full(rows, -1, np.int32)
    stamp = np.full(stamps, -1, np.int32)
    penalty = np.empty(len(wanted), np.int64)
    chosen = np.empty(ell, np.int32)
    short = np.zeros(rows // ell, np.bool_)
    group = 0
    while ell <= buckets and of_size[1] >= ell:
        for place in range(ell):  # buckets of equal size in random order, as far as it shows
            end = of_size[size[by_size[place]]]
            if end - place > 1:
                other = place + int(rng.random() * (end - place))
                one, two = by_size[place], by_size[other]
                by_size[place], by_size[other] = two, one
                size_rank[two], size_rank[one] = place, other
        chosen[:] = by_size[:ell]
        penalty[:] = wanted
        for turn in range(ell):
            bucket = chosen[turn]
            first, base = bucket_start[bucket], level_start[bucket]
            signature = -1
            # Labels are the signatures of a bucket's rows in random order. Rows that were taken
            # for their signature represent random labels of it that are still unread: each label
            # is skipped with the probability that it is one of those.
            while turn == 0 and signature < 0:
                label = labels[next_label[bucket]]
                next_label[bucket] += 1
                gone = unread[label] - count[label]
                if not (gone > 0 and int(rng.random() * unread[label]) < gone):
                    signature = int(label)
                unread[label] -= 1
            if turn > 0:
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
            for attribute in range(len(held)):
                value = held[attribute, taken]
                members[attribute, turn] = value
                place = 0
                while members[attribute, place] != value:
                    place += 1
                if place == turn:  # no other member has it
                    penalty[indexed + attribute] = max(penalty[indexed + attribute] - 1, 0)
        for turn in range(ell - 1, -1, -1):
            _drop_one(chosen[turn], 0, 0, size, by_size, size_rank, of_size)
        for attribute in range(len(penalty)):
            short[group] |= penalty[attribute] > 0
        group += 1
    return group_of_place, short[:group]
