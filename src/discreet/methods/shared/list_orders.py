"""Orders within lists: by chance, and by keys."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.table.kernels import kernel
from discreet.typing import Codes, Ints, Words

RUN = 24  # units that are sorted by inserting one after the other


def order_of_words(keys: Words) -> Ints:
    """Return the stable order that sorts keys.

    Key and place are sorted as one word, by as many bits of the key as there is room for: of ten
    million, Polars sorts words in a tenth of the time that ``np.argsort`` takes.
    """
    bits = max(len(keys) - 1, 1).bit_length()
    place = np.arange(len(keys), dtype=np.uint64)
    order = place.view(np.int64)
    for shift in range(0, max(int(keys.max(initial=0)).bit_length(), 1), 64 - bits):
        words = (keys[order] if shift else keys) >> np.uint64(shift) << np.uint64(bits)
        words |= place
        words = pl.Series(words).sort(multithreaded=False).to_numpy()
        sorted_place = (words & np.uint64((1 << bits) - 1)).view(np.int64)
        order = order[sorted_place] if shift else sorted_place
    return order


def shuffled_lists(rng: np.random.Generator, start: Ints) -> Ints:
    """The numbers from 0 on, those of each list in an order of chance, lists in their order."""
    items = np.arange(start[-1], dtype=np.int32)
    shuffle_lists(rng, items, start)
    return items.astype(np.int64)


# Compiled: as many steps as rows, each with a random number and after the one before.
@kernel
def shuffle_lists(rng: np.random.Generator, items: NDArray[np.int32], start: Ints) -> None:
    """Shuffle the items of every list in place.

    ``Generator.integers`` and ``permutation`` take seconds to compile.
    """
    for number in range(len(start) - 1):
        first = start[number]
        for last in range(start[number + 1] - 1, first, -1):
            other = first + int(rng.random() * (last - first + 1))
            items[last], items[other] = items[other], items[last]


# Compiled: called by searches for every cut or stretch, mostly of a few units.
@kernel
def sort_by_key(
    order: Codes, low: int, length: int, key: Codes, other_key: Codes, other: Codes
) -> None:
    """Sort a range of units, and their keys with them, stably; the last two are room for both."""
    least, greatest = key[0], key[0]
    for i in range(length if length > RUN else 0):
        least = min(least, key[i])
        greatest = max(greatest, key[i])
    span = np.int64(greatest) - least + 1
    if length > RUN and span <= 4 * length + 64:
        place_of_key = np.zeros(span + 1, np.int64)
        for i in range(length):
            other_key[i], other[i] = key[i], order[low + i]
            place_of_key[key[i] - least + 1] += 1
        for k in range(span):
            place_of_key[k + 1] += place_of_key[k]
        for i in range(length):
            k = other_key[i] - least
            key[place_of_key[k]] = other_key[i]
            order[low + place_of_key[k]] = other[i]
            place_of_key[k] += 1
        return
    for first in range(0, length, RUN):
        for i in range(first + 1, min(first + RUN, length)):
            moved_key, moved = key[i], order[low + i]
            place = i
            while place > first and key[place - 1] > moved_key:
                key[place] = key[place - 1]
                order[low + place] = order[low + place - 1]
                place -= 1
            key[place] = moved_key
            order[low + place] = moved
    run = RUN  # units that are sorted; two runs after each other are merged
    while run < length:
        for i in range(length):
            other_key[i], other[i] = key[i], order[low + i]
        for first in range(0, length, 2 * run):
            left, right = first, min(first + run, length)
            middle, end = right, min(first + 2 * run, length)
            for place in range(first, end):
                if right == end or (left < middle and other_key[left] <= other_key[right]):
                    key[place], order[low + place] = other_key[left], other[left]
                    left += 1
                else:
                    key[place], order[low + place] = other_key[right], other[right]
                    right += 1
        run *= 2
