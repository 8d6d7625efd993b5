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

from discreet.methods.quasi_sensitive.state import Linked
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import lengthened
from discreet.typing import Bools, Floats, Ints, StopFlag, Words

HEADS = 4096  # lists of label sets by their hash


class RowTerms(NamedTuple):
    """The terms of all rows."""

    start: Ints  # (rows + 1,)
    term: NDArray[np.int32]  # (occurrences,) codes in the knowledge table
    kind: NDArray[np.int32]  # (rows,) the same for rows with the same terms
    labels_of_term: Words  # (terms, words)
    every_label: Words  # (words,)
    harmonic: Floats  # (longest row + 1,) 1 + 1/2 + … + 1/w: the cost of removing all w terms


class Outcomes(NamedTuple):
    """The outcomes of all rows of one group; those of row r are ``start[r]`` to ``start[r + 1]``.

    The first outcome of a row is the untouched row; then the cost rises.
    """

    start: Ints  # (rows + 1,)
    remaining: Ints  # (outcomes,) terms
    cost: Floats  # (outcomes,) not normalized
    bits: Words  # (outcomes, words) the label set K
    linked: Linked
    least_share: Floats  # (outcomes,) the least share among it and the cheaper ones of its row
    like_last: Bools  # (rows,) whether a row has the outcomes of the row before it
    complete: bool  # whether no outcome was left out


# Compiled: called by the search for every group.
@kernel
def group_outcomes(
    first: int, last: int, rows: RowTerms, weight: Floats, most: int, stop: StopFlag
) -> Outcomes:
    """The outcomes of the rows of a group, at most so many a row (then ``complete`` is false)."""
    count = last - first
    words = rows.labels_of_term.shape[1]
    start = np.zeros(count + 1, np.int64)
    flat, remaining = np.empty(256 * words, np.uint64), np.empty(256, np.int64)
    like_last = np.zeros(count, np.bool_)
    complete = True
    row_bits, left, whole = flat, remaining, True
    # Find the outcomes of each row, once for neighbours with the same terms.
    for row in range(count):
        if not (row and rows.kind[first + row] == rows.kind[first + row - 1]):
            terms = rows.term[rows.start[first + row] : rows.start[first + row + 1]]
            row_bits, left, whole = _row_outcomes(
                terms, rows.labels_of_term, rows.every_label, most, stop
            )
            complete = complete and whole
        low, size = start[row], start[row] + len(left)
        if size > len(remaining):
            remaining = lengthened(remaining, 2 * size)
            flat = lengthened(flat, 2 * size * words)
        before = low - start[row - 1] if row else -1
        alike = before == len(left)
        for which in range(len(left)):
            remaining[low + which] = left[which]
            alike = alike and remaining[low - before + which] == left[which]
            for word in range(words):
                bits = row_bits[which * words + word]
                flat[(low + which) * words + word] = bits
                alike = alike and flat[(low - before + which) * words + word] == bits
        like_last[row] = alike
        start[row + 1] = size
    # Price them, and link them to their labels.
    total = start[count]
    bits_of = lengthened(flat[: total * words], total * words).reshape(total, words)
    linked = labels_of_sets(bits_of, weight, count)
    cost, least_share = np.empty(total), linked.share.copy()
    for row in range(count):
        whole_row = rows.harmonic[rows.start[first + row + 1] - rows.start[first + row]]
        for outcome in range(start[row], start[row + 1]):
            cost[outcome] = whole_row - rows.harmonic[remaining[outcome]]
            if outcome > start[row]:
                least_share[outcome] = min(least_share[outcome], least_share[outcome - 1])
    left = lengthened(remaining[:total], total)
    return Outcomes(start, left, cost, bits_of, linked, least_share, like_last, complete)


# Compiled: breadth first through as many as thousands of label sets of every row.
@kernel(wraps=True)
def _row_outcomes(
    terms: NDArray[np.int32],
    labels_of_term: Words,
    every_label: Words,
    most: int,
    stop: StopFlag,
) -> tuple[Words, Ints, bool]:
    """The distinct label sets of one row, the untouched one first, with the terms each keeps."""
    words = len(every_label)
    label_sets, count = every_label.copy(), 1  # label sets, one after the other
    head, behind = np.full(HEADS, -1, np.int64), np.full(1, -1, np.int64)  # lists by hash
    candidate = np.empty(words, np.uint64)
    complete = True
    reached = 0
    while reached < count and complete:
        # Intersect a label set with that of each term, and look the result up by its hash.
        for term in terms:
            differs = False
            code = np.uint64(0)
            for word in range(words):
                held = label_sets[reached * words + word]
                candidate[word] = held & labels_of_term[term, word]
                differs = differs or candidate[word] != held
                code = (code ^ candidate[word]) * np.uint64(0x9E3779B97F4A7C15)
                code ^= code >> np.uint64(29)
            if not differs:
                continue
            slot = np.int64(code & np.uint64(HEADS - 1))
            which, known = head[slot], False
            while which >= 0 and not known:
                known = True
                for word in range(words):
                    known = known and label_sets[which * words + word] == candidate[word]
                which = behind[which]
            if known:
                continue
            # Store a set that is new, unless there are too many.
            if count >= most - 1 or stop[0]:
                complete = False
                break
            if count == len(behind):
                behind = lengthened(behind, 2 * count)
                label_sets = lengthened(label_sets, 2 * count * words)
            for word in range(words):
                label_sets[count * words + word] = candidate[word]
            head[slot], behind[count] = count, head[slot]
            count += 1
        reached += 1
    return _by_remaining(label_sets[: count * words], terms, labels_of_term, every_label, complete)


# Compiled: called by the kernel above.
@kernel
def _by_remaining(
    label_sets: Words,
    terms: NDArray[np.int32],
    labels_of_term: Words,
    every_label: Words,
    complete: bool,
) -> tuple[Words, Ints, bool]:
    """Count the terms that each label set keeps, and order by them, the most first.

    The untouched row is always among them.
    """
    words, width = len(every_label), len(terms)
    if not complete:
        untouched = every_label.copy()
        for term in terms:
            untouched &= labels_of_term[term]
        known = False
        for which in range(len(label_sets) // words):
            known = known or (label_sets[which * words : (which + 1) * words] == untouched).all()
        if not known:
            label_sets = lengthened(label_sets, len(label_sets) + words)
            for word in range(words):
                label_sets[len(label_sets) - words + word] = untouched[word]
    # Count the terms that each set keeps.
    count = len(label_sets) // words
    terms_left = np.zeros(count, np.int64)
    at_level = np.zeros(width + 2, np.int64)
    for which in range(count):
        for term in terms:
            keeps = True
            for word in range(words):
                keeps = keeps and not label_sets[which * words + word] & ~labels_of_term[term, word]
            terms_left[which] += keeps
        at_level[width - terms_left[which] + 1] += 1
    for level in range(width + 1):
        at_level[level + 1] += at_level[level]
    # Sort by that number.
    ordered, remaining = np.empty_like(label_sets), np.empty(count, np.int64)
    for which in range(count):
        place = at_level[width - terms_left[which]]
        at_level[width - terms_left[which]] += 1
        for word in range(words):
            ordered[place * words + word] = label_sets[which * words + word]
        remaining[place] = terms_left[which]
    return ordered, remaining, complete


# Compiled: called for every group.
@kernel
def labels_of_sets(bits: Words, weight: Floats, rows: int) -> Linked:
    """Return the labels of each set of bits as a list, and the belief by a unit of weight."""
    outcomes, words = bits.shape
    # Count the labels of each set, so that the lists fit.
    start = np.zeros(outcomes + 1, np.int64)
    for outcome in range(outcomes):
        size = 0
        for word in range(words):
            rest = bits[outcome, word]
            while rest:
                rest &= rest - np.uint64(1)
                size += 1
        start[outcome + 1] = start[outcome] + size
    # List them, and share a unit of weight among them.
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
    return Linked(share, start, label)
