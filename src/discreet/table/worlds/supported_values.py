"""How many values rows of T^S support beside each known value of each group.

The rows within the sets of all groups may be some dozens for each person. They are not listed: the
values of one attribute that occur beside a combination of the others are bits, so one operation
tells which of them the sets of a group hold.
"""

from __future__ import annotations

import numpy as np

from discreet.table.assignments import (
    FEW_VALUES,
    Sets,
    most_various_first,
    number_of_prefix,
    prefix_levels,
)
from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32

WORDS = 2**22  # of all combinations
BITS = 62  # of a word, so that none is negative


def count_supported(sets: Sets, codes: Ints32, known: int) -> tuple[Ints32, int] | None:
    """Return the values of each attribute in rows within the sets, for each known value, counted.

    By the entries of the known attribute's sets; also how many pairs there are of a group and a row
    within its sets. ``codes`` has the values of each signature. None where no other attribute has
    few values, or their combinations are too many.
    """
    attributes = most_various_first(codes, known)
    width = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    few = [a for a in attributes[1:].tolist() if width[a] <= FEW_VALUES]
    if not few:
        return None
    masked = few[0]
    others = attributes[attributes != masked]
    words = -(-int(width[masked]) // BITS)
    order = np.lexsort(codes[:, others[::-1]].T)
    levels, prefix = prefix_levels(codes[order][:, others], width[others])
    if (int(prefix.max(initial=0)) + 1) * words > WORDS:
        return None
    power = np.left_shift(1, np.arange(BITS))
    value = codes[order, masked]
    beside = np.zeros((int(prefix.max(initial=0)) + 1, words), np.int64)
    np.bitwise_or.at(beside, (prefix, value // BITS), power[value % BITS])
    offset = np.concatenate(([0], np.cumsum(width)))
    return _count_supported(
        sets.start, sets.value, sets.groups, others, width, offset, *levels, masked, beside, power
    )


# Compiled: descends through the prefixes of signatures for every value of every group.
@kernel(work=20)
def _count_supported(
    start: Ints,
    value: Ints32,
    groups: int,
    attributes: Ints,  # the known one first, without the one that has bits
    width: Ints,  # the values of each attribute
    offset: Ints,
    keys: Ints,
    key_start: Ints,
    table: Ints32,
    table_start: Ints,
    masked: int,  # the attribute that has bits
    beside: Ints,  # (prefixes, words) its values beside each combination of the others
    power: Ints,
) -> tuple[Ints32, int]:
    depth, known, words, bits = len(attributes), attributes[0], beside.shape[1], len(power)
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
            held[word] = 0
        for entry in range(start[masked * groups + group], start[masked * groups + group + 1]):
            if value[entry] < width[masked]:
                held[value[entry] // bits] |= power[value[entry] % bits]
        for entry in range(start[known * groups + group], start[known * groups + group + 1]):
            for word in range(words):
                found[word] = 0
            level, following[0], end[0] = 0, entry, entry + 1
            while level >= 0:
                values = width[attributes[level]]
                base = prefix[level] * values
                at = table_start[level] + base
                while following[level] < end[level]:
                    one = value[following[level]]
                    following[level] += 1
                    if one >= values:
                        continue
                    if table_start[level] >= 0:
                        number = table[at + one]
                    else:
                        ends = key_start[level], key_start[level + 1]
                        number = number_of_prefix(keys, ends[0], ends[1], base + one)
                    if number < 0:
                        continue
                    path[level] = offset[attributes[level]] + one
                    if level < depth - 1:
                        break
                    supported = False
                    for word in range(words):
                        common = beside[number, word] & held[word]
                        found[word] |= common
                        supported |= common != 0
                        while common:
                            common &= common - 1
                            rows += 1
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
            for word in range(words):
                common = found[word]
                while common:
                    common &= common - 1
                    kept[slot, masked] += 1
            slot += 1
    return kept, rows
