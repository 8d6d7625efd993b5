"""Random numbers for groups that no machine holds together.

A keyed permutation of 0 … size − 1: a Feistel network on the least even number of bits that holds
them, applied again to a number that falls outside. Every worker with the key computes the same
number for a group independently of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.typing import Words

ROUNDS = 6


@dataclass(frozen=True)
class Numbering:
    """The numbers of the parts' groups in the release."""

    first: Mapping[int, int]  # by part: how many groups the parts before it have
    groups: int
    key: int

    @staticmethod
    def of(groups_of_part: Mapping[int, int], key: int) -> Numbering:
        """The numbering of all groups that parts have."""
        first, groups = {}, 0
        for part, part_groups in sorted(groups_of_part.items()):
            first[part] = groups
            groups += part_groups
        return Numbering(first, groups, key)

    def number(self, part: int, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers, from 1 on, of groups that a part numbers from 0 on."""
        return permuted(self.first[part] + group, self.groups, self.key) + 1


def permuted(numbers: NDArray[np.int64], size: int, key: int) -> NDArray[np.int64]:
    """The place of each number in a random order of 0 … size − 1."""
    half = max((max(size - 1, 1).bit_length() + 1) // 2, 1)
    keys = np.random.default_rng(key).integers(0, 2**64, ROUNDS, np.uint64)
    result = numbers.astype(np.uint64)
    outside = np.arange(len(result))
    while len(outside):
        result[outside] = _network(result[outside], np.uint64(half), keys)
        outside = outside[result[outside] >= np.uint64(size)]
    return result.astype(np.int64)


def _network(words: Words, half: np.uint64, keys: Words) -> Words:
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = words >> half, words & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & mask)
    return (left << half) | right


def _mixed(words: Words) -> Words:
    """Mix each word so that every bit depends on all its bits (the finalizer of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
