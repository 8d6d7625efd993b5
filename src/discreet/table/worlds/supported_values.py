"""How many values rows of T^S support beside each known value of each group.

The rows within the sets of all groups may be some dozens for each person. They are not listed: the
values of one or two attributes that occur beside a combination of the others are bits, so one
operation tells which of them the sets of a group hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from discreet.table.assignments import (
    FEW_VALUES,
    Sets,
    most_various_first,
    number_of_prefix,
    prefix_levels,
)
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of
from discreet.typing import Ints, Ints32

WORDS = 2**22  # of all combinations
BITS = 62  # of a word, so that none is negative


def count_supported(sets: Sets, codes: Ints32, known: int) -> tuple[Ints32, int] | None:
    """Return the values of each attribute in rows within the sets, for each known value, counted.

    By the entries of the known attribute's sets; also how many pairs there are of a group and a row
    within its sets. ``codes`` has the values of each signature. None where no other attribute has
    few values, or their combinations are too many.
    """
    if not (len(codes) and sets.groups):
        return np.zeros((len(sets.of(known)[1]), codes.shape[1]), np.int32), 0
    attributes = most_various_first(codes, known)
    width = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    masked = _masked(sets, attributes[1:].tolist(), width)
    if masked is None:
        return None
    others = attributes[~np.isin(attributes, masked)]
    order = np.lexsort(codes[:, others[::-1]].T)
    levels, prefix = prefix_levels(codes[order][:, others], width[others])
    shape = [int(width[a]) for a in masked]
    combined = np.arange(math.prod(shape))
    word, bit = np.divmod(combined, BITS)
    words, power = int(word[-1]) + 1, np.left_shift(1, bit)
    if (int(prefix.max(initial=0)) + 1) * words > WORDS:
        return None
    bits = np.zeros((sum(shape), words), np.int64)
    first = starts_of(np.array(shape))
    for start, value in zip(first, np.unravel_index(combined, shape), strict=False):
        np.bitwise_or.at(bits, (start + value, word), power)
    beside = np.zeros((int(prefix.max(initial=0)) + 1, words), np.int64)
    value = np.ravel_multi_index([codes[order, a] for a in masked], shape)
    np.bitwise_or.at(beside, (prefix, word[value]), power[value])
    offset = starts_of(width)
    return _count_supported(
        sets.start, sets.value, sets.groups, others, width, offset, *levels,
        np.array(masked), first, bits, beside,
    )  # fmt: skip


def _masked(sets: Sets, attributes: Sequence[int], width: Ints) -> tuple[int, ...] | None:
    """Return the one or two attributes whose values get bits, so that least is left to be tried.

    None where no attribute has few values.
    """
    ends = sets.start[:: max(sets.groups, 1)]
    size = np.maximum(np.diff(ends) / max(sets.groups, 1), 1.0)  # of the sets, on average

    def cost(chosen: tuple[int, ...]) -> float:
        words = -(-math.prod(int(width[a]) for a in chosen) // BITS)
        return words * math.prod(float(size[a]) for a in attributes if a not in chosen)

    few = [a for a in attributes if width[a] <= FEW_VALUES]
    return min([*combinations(few, 1), *combinations(few, 2)], key=cost, default=None)


# Compiled: descends through the prefixes of signatures for every value of every group.
@kernel(work=20)
def _count_supported(
    start: Ints,
    value: Ints32,
    groups: int,
    attributes: Ints,  # the known one first, without those that have bits
    width: Ints,  # the values of each attribute
    offset: Ints,
    keys: Ints,
    key_start: Ints,
    table: Ints32,
    table_start: Ints,
    masked: Ints,  # the attributes that have bits: one for each combination of their values
    first: Ints,  # (masked attributes + 1,) the values of those before
    bits: Ints,  # (values of masked attributes, words) those of all combinations with each value
    beside: Ints,  # (prefixes, words) those that occur beside each combination of the others
) -> tuple[Ints32, int]:
    depth, known, words = len(attributes), attributes[0], beside.shape[1]
    entries = start[(known + 1) * groups] - start[known * groups]
    kept = np.zeros((entries, len(width)), np.int32)
    seen = np.full(offset[len(width)], -1, np.int64)  # the entry that last had each value
    held, found = np.zeros(words, np.int64), np.zeros(words, np.int64)
    prefix = np.zeros(depth + 1, np.int64)
    path = np.zeros(depth, np.int64)  # where the value of each level is counted
    following = np.zeros(depth, np.int64)  # the entry to be tried next, by level
    end = np.zeros(depth, np.int64)
    slot, rows = 0, 0
    for group in range(groups):
        for word in range(words):
            held[word] = -1
            for number in range(len(masked)):
                of_sets = 0
                which = masked[number] * groups + group
                for entry in range(start[which], start[which + 1]):
                    if value[entry] < width[masked[number]]:
                        of_sets |= bits[first[number] + value[entry], word]
                held[word] &= of_sets
        for entry in range(start[known * groups + group], start[known * groups + group + 1]):
            for word in range(words):
                found[word] = 0
            level, following[0], end[0] = 0, entry, entry + 1
            while level >= 0:
                values = width[attributes[level]]
                base = prefix[level] * values
                at = table_start[level] + base
                while following[level] < end[level]:
                    tried = value[following[level]]
                    following[level] += 1
                    if tried >= values:
                        continue
                    if table_start[level] >= 0:
                        number = table[at + tried]
                    else:
                        ends = key_start[level], key_start[level + 1]
                        number = number_of_prefix(keys, ends[0], ends[1], base + tried)
                    if number < 0:
                        continue
                    path[level] = offset[attributes[level]] + tried
                    if level < depth - 1:
                        break
                    supported = False
                    for word in range(words):
                        common = beside[number, word] & held[word]
                        found[word] |= common
                        supported |= common != 0
                        # The bits are counted in pairs, in fours, in eights and so on.
                        common -= (common >> 1) & 0x5555555555555555
                        common = (common & 0x3333333333333333) + (
                            (common >> 2) & 0x3333333333333333
                        )
                        common = (common + (common >> 4)) & 0x0F0F0F0F0F0F0F0F
                        common += common >> 8
                        common += common >> 16
                        rows += (common + (common >> 32)) & 0x7F
                    if supported:
                        for step in range(depth):
                            if seen[path[step]] != slot:
                                seen[path[step]] = slot
                                kept[slot, attributes[step]] += 1
                else:
                    level -= 1
                    continue
                level += 1
                prefix[level] = number
                which = attributes[level] * groups + group
                following[level], end[level] = start[which], start[which + 1]
            for number in range(len(masked)):
                which = masked[number] * groups + group
                for one in range(start[which], start[which + 1]):
                    if value[one] < width[masked[number]]:
                        common = 0
                        for word in range(words):
                            common |= found[word] & bits[first[number] + value[one], word]
                        kept[slot, masked[number]] += common != 0
            slot += 1
    return kept, rows
