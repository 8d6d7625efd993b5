"""What the rows of a group can become when terms are removed from them.

Of the 2^w subsets of a row's w terms many leave the same label set K; and as the cost depends only
on how many terms remain, of those the largest is the best: all terms whose own label set holds K.
So a row's outcomes are the distinct intersections of its terms' label sets, found breadth first
from "no term at all", and each outcome keeps every term that its K allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.links import hash_row
from discreet.knowledge.table import every_label
from discreet.table.kernels import kernel
from discreet.typing import StopFlag


class Outcomes(NamedTuple):
    """The outcomes of all rows of one group; those of row r are ``start[r]`` to ``start[r + 1]``.

    The first outcome of a row is the untouched row; then the cost rises. Label v of outcome o has
    the belief ``share[o] · weight[v]`` in the group.
    """

    start: NDArray[np.int64]  # (rows + 1,)
    remaining: NDArray[np.int64]  # (outcomes,) terms
    cost: NDArray[np.float64]  # (outcomes,) not normalized
    share: NDArray[np.float64]  # (outcomes,)
    bits: NDArray[np.uint64]  # (outcomes, words) the label set K
    label_start: NDArray[np.int64]  # (outcomes + 1,)
    label: NDArray[np.int32]
    complete: bool  # whether no outcome was left out


@kernel
def labels_of(outcomes: Outcomes, outcome: int) -> NDArray[np.int32]:
    """The labels of one outcome."""
    return outcomes.label[outcomes.label_start[outcome] : outcomes.label_start[outcome + 1]]


@kernel
def harmonic(greatest: int) -> NDArray[np.float64]:
    """1 + 1/2 + … + 1/w for each w: what removing all w terms of a row costs."""
    sums = np.zeros(greatest + 1)
    for terms in range(1, greatest + 1):
        sums[terms] = sums[terms - 1] + 1 / terms
    return sums


@kernel
def group_outcomes(
    rows: tuple[int, int],
    row_start: NDArray[np.int64],
    term: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
    weight: NDArray[np.float64],
    most: int,
    stop: StopFlag,
) -> Outcomes:
    """The outcomes of the rows of a group, at most so many a row (then ``complete`` is false)."""
    first, last = rows
    count = last - first
    words = labels_of_term.shape[1]
    start = np.zeros(count + 1, np.int64)
    capacity = 256
    bits = np.empty((capacity, words), np.uint64)
    remaining = np.empty(capacity, np.int64)
    complete = True
    for row in range(count):
        terms = term[row_start[first + row] : row_start[first + row + 1]]
        if row and _same(terms, term[row_start[first + row - 1] : row_start[first + row]]):
            low, high = start[row - 1], start[row]
            own = bits[low:high].copy()
            left = remaining[low:high].copy()
        else:
            own, left, whole = _row_outcomes(terms, labels_of_term, len(weight), most, stop)
            complete = complete and whole
        size = start[row] + len(left)
        while size > capacity:
            capacity *= 2
            grown = np.empty((capacity, words), np.uint64)
            grown[: start[row]] = bits[: start[row]]
            bits = grown
            longer = np.empty(capacity, np.int64)
            longer[: start[row]] = remaining[: start[row]]
            remaining = longer
        bits[start[row] : size] = own
        remaining[start[row] : size] = left
        start[row + 1] = size
    total = start[count]
    cost = np.empty(total)
    for row in range(count):
        width = row_start[first + row + 1] - row_start[first + row]
        sums = harmonic(width)
        for outcome in range(start[row], start[row + 1]):
            cost[outcome] = sums[width] - sums[remaining[outcome]]
    share, label_start, label = labels_of_sets(bits[:total], weight, count)
    return Outcomes(
        start,
        remaining[:total].copy(),
        cost,
        share,
        bits[:total].copy(),
        label_start,
        label,
        complete,
    )


@kernel
def _same(first: NDArray[np.int32], second: NDArray[np.int32]) -> bool:
    if len(first) != len(second):
        return False
    for place in range(len(first)):
        if first[place] != second[place]:
            return False
    return True


@kernel
def _row_outcomes(
    terms: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
    labels: int,
    most: int,
    stop: StopFlag,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], bool]:
    """The distinct label sets of one row, the untouched one first, with the terms each keeps."""
    words = labels_of_term.shape[1]
    width = len(terms)
    capacity = 256
    slots = np.full(4 * capacity, -1, np.int64)
    found = np.empty((capacity, words), np.uint64)
    full = every_label(labels)
    found[0] = full
    for place in range(width):
        full &= labels_of_term[terms[place]]
    count = 1
    slots[np.int64(hash_row(found[0]) & np.uint64(4 * capacity - 1))] = 0
    candidate = np.empty(words, np.uint64)
    complete = True
    reached = 0
    while reached < count and complete:
        for place in range(width):
            differs = False
            for word in range(words):
                candidate[word] = found[reached, word] & labels_of_term[terms[place], word]
                differs = differs or candidate[word] != found[reached, word]
            if not differs:
                continue
            slot = np.int64(hash_row(candidate) & np.uint64(4 * capacity - 1))
            while slots[slot] >= 0 and not _same_bits(found, slots[slot], candidate):
                slot = (slot + 1) & (4 * capacity - 1)
            if slots[slot] >= 0:
                continue
            if count >= most - 1 or stop[0]:
                complete = False
                break
            slots[slot] = count
            found[count] = candidate
            count += 1
            if count == capacity:
                found, slots = _grown(found, count)
                capacity *= 2
        reached += 1
    if not complete:  # the untouched row is always among them
        known = False
        for which in range(count):
            known = known or _same_bits(found, which, full)
        if not known:
            found[count] = full
            count += 1
    return _by_remaining(found[:count], terms, labels_of_term, complete)


@kernel
def _grown(found: NDArray[np.uint64], count: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    capacity = 2 * len(found)
    larger = np.empty((capacity, found.shape[1]), np.uint64)
    larger[:count] = found[:count]
    slots = np.full(4 * capacity, -1, np.int64)
    for which in range(count):
        slot = np.int64(hash_row(larger[which]) & np.uint64(4 * capacity - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (4 * capacity - 1)
        slots[slot] = which
    return larger, slots


@kernel
def _same_bits(found: NDArray[np.uint64], which: int, row: NDArray[np.uint64]) -> bool:
    for word in range(len(row)):
        if found[which, word] != row[word]:
            return False
    return True


@kernel
def keeps(
    sets: NDArray[np.uint64], which: int, labels_of_term: NDArray[np.uint64], term: int
) -> bool:
    """Whether a term may stay in a row that is to link to the whole of one of some label sets."""
    for word in range(sets.shape[1]):
        if sets[which, word] & ~labels_of_term[term, word]:
            return False
    return True


@kernel
def _by_remaining(
    found: NDArray[np.uint64],
    terms: NDArray[np.int32],
    labels_of_term: NDArray[np.uint64],
    complete: bool,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], bool]:
    """Count the terms that each label set keeps, and order by them, the most first."""
    count, width = len(found), len(terms)
    kept = np.zeros(count, np.int64)
    at_level = np.zeros(width + 2, np.int64)
    for which in range(count):
        for place in range(width):
            if keeps(found, which, labels_of_term, terms[place]):
                kept[which] += 1
        at_level[width - kept[which] + 1] += 1
    for level in range(width + 1):
        at_level[level + 1] += at_level[level]
    ordered = np.empty_like(found)
    remaining = np.empty(count, np.int64)
    for which in range(count):
        place = at_level[width - kept[which]]
        at_level[width - kept[which]] += 1
        ordered[place] = found[which]
        remaining[place] = kept[which]
    return ordered, remaining, complete


@kernel
def labels_of_sets(
    bits: NDArray[np.uint64], weight: NDArray[np.float64], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """The labels of bit rows as lists, and the share of one unit of weight in a group of rows."""
    outcomes, words = bits.shape
    start = np.zeros(outcomes + 1, np.int64)
    for outcome in range(outcomes):
        size = 0
        for word in range(words):
            rest = bits[outcome, word]
            while rest:
                rest &= rest - np.uint64(1)
                size += 1
        start[outcome + 1] = start[outcome] + size
    label = np.empty(start[outcomes], np.int32)
    share = np.empty(outcomes)
    place = 0
    for outcome in range(outcomes):
        total = 0.0
        for word in range(words):
            rest = bits[outcome, word]
            bit = word * 64
            while rest:
                while rest & np.uint64(0xF) == np.uint64(0):
                    rest >>= np.uint64(4)
                    bit += 4
                if rest & np.uint64(1):
                    label[place] = bit
                    total += weight[bit]
                    place += 1
                rest >>= np.uint64(1)
                bit += 1
        share[outcome] = 1 / (rows * total) if total > 0 else 0.0
    return share, start, label
