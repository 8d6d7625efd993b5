"""Form groups of rows whose values of the primary attribute are distinct.

Units, counts and a bound. A *unit* is a row; the rows of a *bucket* share the value of the primary
attribute; every group takes one row from each of ℓ buckets, so no value fills more than 1/ℓ of it.
What remains can be grouped as long as no value has more than 1/ℓ of the remaining rows. Largest-ℓ
(Ye, Liu, Lv and Feng, 2009, section 4) keeps that bound by taking from the ℓ largest buckets.

From the first bucket a random row is taken, from each next one a row with the least diversity
penalty; among equals the commonest remaining signature, the row's values of the other attributes,
and then chance. Buckets of equal size come in random order: in a fixed one, their rows of common
values run out together, and on Adult ten times as much noise is needed in the end.

*Blocks.* Where near rows are preferred, rows are ordered along a Hilbert curve through the
quasi-identifiers and cut into blocks of equal size without a look at sensitive values. Each block
has buckets of its own; what blocks leave over goes on to blocks twice as large, and in the end all
of it into one. Which rows of a block meet in a group is decided by sensitive values and chance
alone, so an attacker who knows the algorithm learns nothing from it. A block may only form a group
if what remains can still be grouped: with r rows remaining, a value with more than r/ℓ − 1 of them
is *critical* and has to be in the next group, wherever that is formed; a block without it stops. So
the largest ℓ that any grouping can reach is reached here too.

*Harmless values.* A value outside S(A), the sensitive values of the primary attribute, may have
more than 1/ℓ of the rows. With m groups of ℓ distinct values, m at least the rows of the commonest
sensitive value, such a value has at most m rows in them; its *surplus* rows form groups of their
own, which contain harmless primary values alone. m is as large as the counts allow. Anatomy, whose
guarantee bounds shares, divides the rows of harmless values into parts instead
(``divide_harmless``): a harmless value may then be repeated beside a sensitive one.

*Residual rows* join a group that lacks their value. One such group always exists: with ℓ at most
⌊n / n1⌋ no value has more rows than there are groups. Preferred is a group that the row saves from
noise; among others chance decides.

Cost: near-linear in the rows. Rows of a bucket with the same signature are alike, so signatures are
kept with their counts, the commonest first, and a choice stops at the first one without penalty.
Taking a row moves its signature to the end of those with the same count, so the order holds at no
cost. Where a bucket would have too many signatures (a numeric attribute), the attributes with the
most values are left out of them, and of the rows of the chosen signature a few are tried for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.methods.shared.hilbert import task_keys
from discreet.methods.shared.list_orders import shuffle_lists
from discreet.requirements.base import Domain
from discreet.requirements.covered_values import SparingRequirement
from discreet.requirements.feasibility import most_diverse_groups
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values, starts_of
from discreet.typing import Bools, Codes, Ints, Ints32

TRIES = 16  # rows of a signature that are tried for the attributes outside it
SIGNATURES = 512  # of a bucket, on average, that are looked through
GROUPS_OF_BLOCK = (8, 16, 32, 64)  # that a block has room for, in the rounds of near groups
CONSIDERED = 512  # groups that lack values and may be saved by a residual row


@dataclass(frozen=True, eq=False)
class Formed:
    """The groups of a table, before residual rows joined."""

    group_of_row: Ints32  # (rows,) −1 for a residual row
    short: Bools  # (groups,) whether some other attribute has too few values
    harmless: int = 0  # the last groups: harmless primary values alone, which no residual row joins

    @property
    def groups(self) -> int:
        return len(self.short)


def sensitive_mask(task: Task, column: Column) -> Bools:
    """(values,) The sensitive values: those of the job, and all that a requirement covers."""
    mask = task.secrets.sensitive_values.get(column.name)
    if mask is None:
        return np.ones(column.cardinality, np.bool_)
    domain = Domain.of(column)
    for requirement in task.requirements:
        if isinstance(requirement, SparingRequirement) and column.name in (
            requirement.named or (column.name,)
        ):
            mask = mask | requirement.is_sensitive(domain)
    return mask


def form_groups(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    task: Task,
    prefer: str | None,
) -> Formed:
    """Form groups of any rows, or of near rows where the publisher prefers that.

    A group has ``ell`` rows with distinct values of the primary attribute; ``wanted`` are the
    distinct values that it should have of each of the others.
    """
    near = prefer == "nearby" and bool(task.table.quasi_identifiers)
    order = np.argsort(task_keys(task), kind="stable") if near else np.arange(task.table.rows)
    surplus = _surplus_rows(primary, sensitive_mask(task, primary), ell, task.rng)
    if not len(surplus):
        return _groups_of_rows(primary, others, ell, wanted, task, order, near)
    is_surplus = np.zeros(task.table.rows, np.bool_)
    is_surplus[surplus] = True
    diverse = _groups_of_rows(primary, others, ell, wanted, task, order[~is_surplus[order]], near)
    # Any rows may share a group of harmless values: their buckets are drawn.
    part_of_row = np.zeros(task.table.rows, np.int32)
    part_of_row[surplus] = task.rng.permutation(np.arange(len(surplus)) % ell)
    parts = replace(primary, codes=part_of_row, text=pl.Series([str(part) for part in range(ell)]))
    formed = _groups_of_rows(parts, others, ell, wanted, task, order[is_surplus[order]], near)
    group_of_row = diverse.group_of_row.copy()
    group_of_row[surplus] = formed.group_of_row[surplus] + diverse.groups
    short = np.concatenate((diverse.short, formed.short))
    last = surplus[formed.group_of_row[surplus] < 0]
    if len(short):
        group_of_row[last] = task.rng.integers(0, len(short), len(last))
        return Formed(group_of_row, short, formed.groups)
    group_of_row[last] = 0
    return Formed(group_of_row, np.zeros(1, np.bool_), 1)


def _groups_of_rows(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    task: Task,
    remaining: Ints,
    near: bool,
) -> Formed:
    """Form groups of some rows, in their order where near ones are preferred."""
    sensitive = [sensitive_mask(task, column) for column in others]
    group_of_row = np.full(task.table.rows, -1, np.int32)
    if not near:
        formed = largest_groups(
            primary, others, ell, wanted, task.rng, remaining, sensitive=sensitive
        )
        group_of_row[remaining] = formed.group_of_row
        return Formed(group_of_row, formed.short)
    short: list[Bools] = []
    groups = 0
    # Small blocks first, so that most groups are of near rows; the last block is the whole rest.
    smallest, *larger = (ell * times for times in GROUPS_OF_BLOCK)
    for block in (smallest, *larger, max(len(remaining), 1)):
        formed = largest_groups(primary, others, ell, wanted, task.rng, remaining, block, sensitive)
        # A larger block may find values for a group that lacks some. Its rows go on: with one row
        # more of ℓ values each, what remains can still be grouped.
        stays = ~formed.short if block == smallest else np.ones(formed.groups, np.bool_)
        number = np.where(stays, groups + np.cumsum(stays) - 1, -1)
        number = np.append(number, -1)[formed.group_of_row]  # the last one for ungrouped rows
        group_of_row[remaining] = number
        remaining = remaining[number < 0]
        groups += int(stays.sum())
        short.append(formed.short[stays])
    return Formed(group_of_row, np.concatenate(short))


def _surplus_rows(primary: Column, sensitive: Bools, ell: int, rng: np.random.Generator) -> Ints:
    """Rows of harmless primary values that groups of distinct values have no place for."""
    counts = primary.counts
    places = most_diverse_groups(counts, sensitive, ell)
    surplus = np.where(sensitive, 0, np.maximum(counts - places, 0))
    rows = [
        rng.choice(np.flatnonzero(primary.codes == value), surplus[value], replace=False)
        for value in np.flatnonzero(surplus)
    ]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *rows]))


def divide_harmless(
    primary: Column, sensitive: Bools, ell: int, rng: np.random.Generator
) -> Column:
    """Return the column with the rows of harmless values in parts of at most 1/ℓ of all rows.

    Groups of ℓ distinct parts and sensitive values have each sensitive value once, so its share is
    at most 1/ℓ; a harmless value may be repeated.
    """
    most = max(len(primary.codes) // ell, 1)
    harmless = rng.permutation(np.flatnonzero(~sensitive[primary.codes]))
    if not len(harmless):
        return primary
    codes = primary.codes.copy()
    codes[harmless] = primary.cardinality + np.arange(len(harmless)) // most
    text = pl.Series([str(code) for code in range(int(codes.max()) + 1)])
    # Under its name, the job's sensitive values would be looked up; here every part counts as one.
    return replace(primary, name="", codes=codes, text=text, total=None)


def lacking_groups(
    group_of_row: Ints32,
    groups: int,
    columns: Sequence[Column],
    sensitive: Sequence[Bools],
    wanted: Sequence[int],
) -> Bools:
    """(groups,) Which groups have a sensitive value of an attribute and too few values of it."""
    lacking = np.zeros(groups, np.bool_)
    for column, mask, want in zip(columns, sensitive, wanted, strict=True):
        pair = distinct_values(group_of_row.astype(np.int64) * column.cardinality + column.codes)
        group, value = np.divmod(pair, column.cardinality)
        exposed = np.bincount(group, mask[value], groups) > 0
        lacking |= exposed & (np.bincount(group, minlength=groups) < want)
    return lacking


def largest_groups(
    primary: Column,
    others: Sequence[Column],
    ell: int,
    wanted: Sequence[int],
    rng: np.random.Generator,
    rows: Ints | None = None,
    block: int | None = None,
    sensitive: Sequence[Bools] | None = None,
) -> Formed:
    """Form groups of ``ell`` rows with distinct values of the primary attribute, block by block.

    ``rows`` are those that are not grouped yet, all by default; ``block`` is how many of them, in
    their order, a block has at least. Without it, they are one block. ``sensitive`` are the
    sensitive values of each other attribute, all by default.
    """
    rows = np.arange(len(primary.codes)) if rows is None else rows
    masks = sensitive or [np.ones(column.cardinality, np.bool_) for column in others]
    asked = sorted(
        (each for each in zip(others, wanted, masks, strict=True) if each[1] > 1),
        key=lambda each: each[0].cardinality,
    )
    # A bucket is a value of the primary attribute within a block.
    value = primary.codes[rows]
    blocks = max(len(rows) // block, 1) if block else 1
    bucket, bucket_of_row = np.arange(primary.cardinality), value
    if blocks > 1:
        of_block = np.minimum(np.arange(len(rows)) // (block or 1), blocks - 1)
        key = of_block * primary.cardinality + value
        bucket, number = np.unique(key, return_inverse=True)
        bucket_of_row = number.astype(np.int32)
    block_start = np.searchsorted(bucket, np.arange(blocks + 1) * primary.cardinality)
    remaining = np.bincount(value, minlength=primary.cardinality)
    # Rows by signature, the commonest first; chance decides among the rows of each.
    columns = [column for column, _, _ in asked]
    signatures, indexed = sign_rows(bucket_of_row, len(bucket), columns, rows)
    cardinality = [column.cardinality for column in columns[:indexed]]
    marked = [mask for _, _, mask in asked]
    # The last bit of a value outside the signatures tells whether it is sensitive.
    fine = [
        2 * column.codes[rows] + mask[column.codes[rows]] for column, _, mask in asked[indexed:]
    ]
    bucket_start, row_start, row = signatures.bucket_start, signatures.row_start, signatures.row
    labels = np.repeat(np.arange(len(row_start) - 1, dtype=np.int32), np.diff(row_start))
    shuffle_lists(rng, row, row_start)
    shuffle_lists(rng, labels, row_start[bucket_start])
    # Buckets of a block by size, and how many have each size or more.
    sizes = np.diff(row_start[bucket_start])
    of_bucket = np.repeat(np.arange(blocks), np.diff(block_start))
    group_of_place, short = _form(
        rng,
        ell,
        block_start,
        (bucket % primary.cardinality).astype(np.int32),
        remaining,
        np.argsort(-remaining, kind="stable"),
        bucket_start,
        signatures.count,
        signatures.values,
        row_start,
        row,
        np.lexsort((-sizes, of_bucket)).astype(np.int32),
        np.array([want for _, want, _ in asked], np.int64),
        np.cumsum([0, *cardinality])[:-1].astype(np.int64),
        np.concatenate([np.zeros(0, np.bool_), *marked[:indexed]]),
        np.stack(fine).astype(np.int32).take(row, axis=1) if fine else np.zeros((0, 0), np.int32),
        labels,
        *_levels(signatures.count, bucket_start),
        *_levels(sizes, block_start),
    )
    group_of_row = np.empty(len(row), np.int32)
    group_of_row[row] = group_of_place
    return Formed(group_of_row, short)


def _levels(count: Ints, start: Ints) -> tuple[Ints, Ints32]:
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
    ranked: Ints32,
    rank: Ints32,
    at_least: Ints32,
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
    at_least: Ints32,
    ranked: Ints32,
    count: Ints,
    values: Ints32,
    penalty: Ints,
    offset: Ints,
    sensitive: Bools,
    exposed: Bools,
    turns: int,
    stamp: Ints32,
    group: int,
) -> int:
    """The signature of a bucket with the least penalty, of those a commonest one.

    ``exposed``: the attributes of which the group has a sensitive value. Until then, a value that
    the group has already costs nothing, and the first sensitive one costs the values that the
    ``turns`` after this one cannot supply.
    """
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
                if not penalty[attribute]:
                    continue
                at = offset[attribute] + values[signature, attribute]
                if exposed[attribute]:
                    if stamp[at] == group:
                        cost += penalty[attribute]
                elif sensitive[at]:
                    cost += max(penalty[attribute] - 1 - turns, 0)
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
    row: Ints32,
    held: Ints32,
    penalty: Ints,  # of the attributes outside the signature
    exposed: Bools,
    members: Ints32,
    turn: int,
    turns: int,
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
            if not exposed[attribute]:
                if penalty[attribute] and held[attribute, place] & 1:
                    cost += max(penalty[attribute] - 1 - turns, 0)
                continue
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
    block_start: Ints,  # (blocks + 1,) into the buckets
    value_of_bucket: Ints32,
    remaining: Ints,  # (values,) rows with each primary value
    commonest: Ints,  # (values,) those with the most rows first
    bucket_start: Ints,
    counts: Ints,
    values: Ints32,
    row_start: Ints,
    row: Ints32,
    by_size: Ints32,  # (buckets,) those of each block, the largest first
    wanted: Ints,
    offset: Ints,
    sensitive: Bools,  # (values of the attributes in the signatures,)
    held: Ints32,  # (attributes outside the signatures, rows) in the order of rows
    labels: Ints32,  # (rows,) the signatures of each bucket's rows, shuffled
    level_start: Ints,
    at_least: Ints32,
    size_start: Ints,
    of_size: Ints32,
) -> tuple[Ints32, Bools]:
    """Form groups inside every block, each of rows from the block's ``ell`` largest buckets."""
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
    here = np.full(len(remaining), -1, np.int64)  # the bucket of each value in this block
    members = np.empty((len(held), ell), np.int32)
    group_of_place = np.full(rows, -1, np.int32)
    stamp = np.full(len(sensitive), -1, np.int32)
    penalty = np.empty(len(wanted), np.int64)
    exposed = np.zeros(len(wanted), np.bool_)
    chosen = np.empty(ell, np.int32)
    short = np.zeros(rows // ell, np.bool_)
    before = remaining.copy()
    ungrouped = rows
    group = 0
    for block in range(len(block_start) - 1):
        low, high, level = block_start[block], block_start[block + 1], size_start[block]
        here[:] = -1
        for bucket in range(low, high):
            here[value_of_bucket[bucket]] = bucket
        while high - low >= ell and of_size[level + 1] >= ell:
            # Buckets of equal size come in random order, as far as it shows.
            for place in range(low, low + ell):
                end = low + of_size[level + size[by_size[place]]]
                if end - place > 1:
                    other = place + int(rng.random() * (end - place))
                    first, second = by_size[place], by_size[other]
                    by_size[place], by_size[other] = second, first
                    size_rank[second], size_rank[first] = place, other
            chosen[:] = by_size[low : low + ell]
            # The largest buckets of all rows hold every critical value; those of a block may not.
            if len(block_start) > 2 and not _include_critical(
                chosen, here, size, value_of_bucket, remaining, before, commonest, ungrouped
            ):
                break
            penalty[:] = wanted
            exposed[:] = False
            for turn in range(ell):
                bucket = chosen[turn]
                first, base = bucket_start[bucket], level_start[bucket]
                signature = -1
                # Labels are the signatures of a bucket's rows in random order. Rows that were taken
                # for their signature represent random labels of it that are still unread: each
                # label is skipped with the probability that it is one of those.
                while turn == 0 and signature < 0:
                    label = labels[next_label[bucket]]
                    next_label[bucket] += 1
                    gone = unread[label] - count[label]
                    if not (gone > 0 and int(rng.random() * unread[label]) < gone):
                        signature = int(label)
                    unread[label] -= 1
                if turn > 0:
                    signature = _choose(
                        rng, first, base, at_least, ranked, count, values, penalty, offset,
                        sensitive, exposed, ell - 1 - turn, stamp, group,
                    )  # fmt: skip
                begin = row_start[signature]
                taken = begin + count[signature] - 1
                _take(
                    begin, taken + 1, row, held, penalty[indexed:], exposed[indexed:], members,
                    turn, ell - 1 - turn,
                )  # fmt: skip
                _drop_one(signature, first, base, count, ranked, rank, at_least)
                group_of_place[taken] = group
                # A value that is new in the group lowers the penalty of its attribute.
                for attribute in range(indexed):
                    place = offset[attribute] + values[signature, attribute]
                    exposed[attribute] |= sensitive[place]
                    if stamp[place] != group:
                        stamp[place] = group
                        penalty[attribute] = max(penalty[attribute] - 1, 0)
                for attribute in range(len(held)):
                    value = held[attribute, taken]
                    exposed[indexed + attribute] |= value & 1 == 1
                    members[attribute, turn] = value
                    place = 0
                    while members[attribute, place] != value:
                        place += 1
                    if place == turn:  # no other member has it
                        penalty[indexed + attribute] = max(penalty[indexed + attribute] - 1, 0)
            for turn in range(ell - 1, -1, -1):
                bucket = chosen[turn]
                remaining[value_of_bucket[bucket]] -= 1
                _drop_one(bucket, low, level, size, by_size, size_rank, of_size)
            ungrouped -= ell
            for attribute in range(len(penalty)):
                short[group] |= exposed[attribute] and penalty[attribute] > 0
            group += 1
    return group_of_place, short[:group]


# Compiled: called for every group of a block.
@kernel
def _include_critical(
    chosen: Ints32,
    here: Ints,
    size: Ints,
    value_of_bucket: Ints32,
    remaining: Ints,
    before: Ints,  # (values,) rows with each value at first
    commonest: Ints,
    ungrouped: int,
) -> bool:
    """Let buckets of critical values replace others; whether the block has all of them."""
    ell = len(chosen)
    place = ell - 1
    for value in commonest:
        if before[value] * ell <= ungrouped - ell:
            break
        if remaining[value] * ell <= ungrouped - ell:
            continue
        bucket = here[value]
        if bucket < 0 or size[bucket] == 0:
            return False
        known = False
        for other in chosen:
            known |= other == bucket
        if known:
            continue
        while place >= 0 and remaining[value_of_bucket[chosen[place]]] * ell > ungrouped - ell:
            place -= 1  # find the smallest bucket whose value is not critical
        if place < 0:
            return False
        chosen[place] = bucket
        place -= 1
    return True


@dataclass(frozen=True, eq=False)
class BucketSignatures:
    """Signatures by bucket, the commonest first, and the rows of each."""

    bucket_start: Ints  # (buckets + 1,) into the signatures
    count: Ints  # (signatures,)
    values: Ints32  # (signatures, attributes in the signature)
    row_start: Ints  # (signatures + 1,) into the rows
    row: Ints32  # (rows,) by signature


def sign_rows(
    bucket: Codes, buckets: int, columns: Sequence[Column], rows: Ints
) -> tuple[BucketSignatures, int]:
    """Return the signatures of some rows, by their buckets, and how many columns they have.

    These are the first columns, as many as have no more than ``SIGNATURES`` in a bucket.
    """
    classes = group_codes([bucket], [buckets], len(rows))
    indexed = 0
    for column in columns:
        codes = [classes.class_of_row, column.codes[rows]]
        finer = group_codes(codes, [classes.count, column.cardinality], len(rows))
        if finer.count > SIGNATURES * buckets:
            break
        classes = finer
        indexed += 1
    first = classes.first_row
    of_bucket = bucket[first]
    order = np.lexsort((first, -classes.size, of_bucket))
    number = np.empty(classes.count, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    values = np.zeros((len(order), indexed), np.int32)
    for place, column in enumerate(columns[:indexed]):
        values[:, place] = column.codes[rows[first[order]]]
    same = np.broadcast_to(np.int32(0), len(rows))
    start, by_signature = order_by_class(number[classes.class_of_row], same, len(order), 1)
    signatures = BucketSignatures(
        starts_of(np.bincount(of_bucket, minlength=buckets)),
        classes.size[order],
        values,
        start,
        by_signature.astype(np.int32),
    )
    return signatures, indexed


def join_residual_rows(
    formed: Formed,
    primary: Column,
    others: Sequence[Column],
    wanted: Sequence[int],
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """The group of every row, residual ones included."""
    residual = rng.permutation(np.flatnonzero(formed.group_of_row < 0))
    if not len(residual):
        return formed.group_of_row
    group_of_row = formed.group_of_row.copy()
    joined = formed.groups - formed.harmless
    short = np.flatnonzero(formed.short[:joined])
    if len(short) > CONSIDERED:
        short = rng.choice(short, CONSIDERED, replace=False)
    groups_of_value = _groups_of_values(primary, residual, group_of_row)
    values = _values_of_groups(short, group_of_row, others)
    lacking = {
        int(group): [
            max(want - len(held), 0) for want, held in zip(wanted, values[int(group)], strict=True)
        ]
        for group in short
    }
    for row in residual:
        value = int(primary.codes[row])
        has_value = np.zeros(formed.groups, bool)
        has_value[groups_of_value[value]] = True
        has_value[joined:] = True
        group = _most_saved(row, has_value, values, lacking, others)
        if group is None:
            group = int(rng.choice(np.flatnonzero(~has_value)))
        group_of_row[row] = group
        groups_of_value[value] = np.append(groups_of_value[value], np.int32(group))
        for place, column in enumerate(others):
            if group in values and column.codes[row] not in values[group][place]:
                values[group][place].add(int(column.codes[row]))
                lacking[group][place] = max(lacking[group][place] - 1, 0)
    return group_of_row


def _groups_of_values(
    primary: Column, residual: NDArray[np.intp], group_of_row: NDArray[np.int32]
) -> dict[int, NDArray[np.int32]]:
    """The groups that have each residual row's primary value."""
    groups = {}
    for value in np.unique(primary.codes[residual]):
        groups_with_value = group_of_row[primary.codes == value]
        groups[int(value)] = groups_with_value[groups_with_value >= 0]
    return groups


def _values_of_groups(
    groups: NDArray[np.intp], group_of_row: NDArray[np.int32], columns: Sequence[Column]
) -> dict[int, list[set[int]]]:
    values: dict[int, list[set[int]]] = {int(g): [set() for _ in columns] for g in groups}
    for row in np.flatnonzero(np.isin(group_of_row, groups)):
        for place, column in enumerate(columns):
            values[int(group_of_row[row])][place].add(int(column.codes[row]))
    return values


def _most_saved(
    row: int,
    has_value: NDArray[np.bool_],
    values: dict[int, list[set[int]]],
    lacking: dict[int, list[int]],
    columns: Sequence[Column],
) -> int | None:
    """The group that a row saves from most noise; None where it saves none."""
    best, most = None, 0
    for group, lacks in lacking.items():
        if has_value[group]:
            continue
        saved = sum(
            lack > 0 and int(column.codes[row]) not in held
            for lack, held, column in zip(lacks, values[group], columns, strict=True)
        )
        if saved > most:
            best, most = group, saved
    return best
