"""Longer lists where an insider would believe a sensitive value above 1/ℓ.

The insider knows the group of a person and one other sensitive value x of that person. T^S alone
teaches P(v | x), with or without a link; a list lifts that belief, because it rules values out. In
rows of T^S with x let v have 40 %, N 30 %, w 20 %: a list {N, v} lifts the belief in v from 0.4 to
0.57, a list {N, v, w} to 0.44. So a list that leaves a belief in a sensitive value above 1/ℓ, which
the two unlinked tables do not give, gets another value, lent by a whole row of T^S with x.

Beliefs are those of the implied distribution: rows of T^S within the sets, scaled in turn until
each primary value of a group has the mass of its person and each row of T^S its count. Lists of the
primary attribute get no noise; its beliefs fall with the size of groups (``GROUP_SIZE``). What
remains above 1/ℓ, the attack ``link-through-sensitive-table`` measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet.methods.decomposition.noise import Noise, SensitiveTable
from discreet.methods.decomposition.noise_support import sets_of_noise
from discreet.table.assignments import Sets, supporting_rows
from discreet.typing import Bools, Floats, Ints, Ints32

GROUP_SIZE = 5  # times ℓ, as far as the counts of the primary attribute allow
ROUNDS = 8  # of longer lists; each list gets one value of an attribute in a round
SCALINGS = 30  # of the masses in a round
ROWS = 2**24  # within all sets; with more, lists stay as they are
CLOSE = 1e-9


class _Beliefs(NamedTuple):
    """Beliefs above 1/ℓ that the unlinked tables do not give."""

    group: Ints
    known: int  # the attribute whose value is known
    value: Ints  # that is known


def lengthen_lists(
    sensitive: SensitiveTable,
    group_of_row: Ints32,
    groups: int,
    noise: Noise,
    least: Sequence[int],
) -> Noise:
    """Return the noise, and values added where an insider is above 1/ℓ.

    ``least`` has ℓ of each attribute, the primary one first.
    """
    for _ in range(ROUNDS):
        sets, _ = sets_of_noise(sensitive, group_of_row, groups, noise)
        begin, row = supporting_rows(sets, sensitive.codes, 0, ROWS)
        if row is None:
            return noise
        size = np.bincount(group_of_row, minlength=groups)
        mass, group = _masses(sets, begin, row, size, sensitive.classes.size)
        added: dict[tuple[int, int, int], None] = {}  # in order, each once
        for target in range(1, len(least)):
            lengthened = np.zeros(groups, np.bool_)
            for above in _above(sensitive, row, group, mass, target, least[target]):
                for number, value in zip(above.group.tolist(), above.value.tolist(), strict=True):
                    if lengthened[number]:
                        continue
                    lent = _lent_value(sensitive, sets, number, above.known, value, target)
                    if lent is not None:
                        lengthened[number] = True
                        added[number, target, lent] = None
        if not added:
            return noise
        noise = noise.and_further(*np.array(list(added), np.int32).T)
    return noise


def _masses(sets: Sets, begin: Ints, row: Ints32, size: Ints, count: Ints) -> tuple[Floats, Ints]:
    """The mass of each row within the sets, and its group.

    Where a group has as many persons as primary values, each value is one person's.
    """
    start, _ = sets.of(0)
    length = np.diff(begin)
    of_entry = np.repeat(np.arange(sets.groups), np.diff(start))
    group = np.repeat(of_entry, length)
    single = np.diff(start) == size
    first = np.where(single[of_entry], np.arange(len(of_entry)), start[of_entry])
    cell = np.repeat(first, length)
    persons = np.zeros(len(of_entry))
    persons[first] = np.where(single, 1, size)[of_entry]
    factor = count.astype(np.float64)
    held = np.ones(len(of_entry))
    for _ in range(SCALINGS):
        held = np.maximum(np.bincount(cell, factor[row], len(of_entry)), 1e-300)
        used = np.bincount(row, (persons / held)[cell], len(count))
        factor = np.where(used > 0, count / np.maximum(used, 1e-300), factor)
    held = np.maximum(np.bincount(cell, factor[row], len(of_entry)), 1e-300)
    return factor[row] * (persons / held)[cell], group


def _above(
    sensitive: SensitiveTable, row: Ints32, group: Ints, mass: Floats, target: int, ell: int
) -> Iterator[_Beliefs]:
    """Yield, for each other attribute, where a belief in a value of the target is above 1/ℓ."""
    codes, offset = sensitive.codes.astype(np.int64), sensitive.offset
    mask: Bools = sensitive.sensitive[offset[target] : offset[target + 1]]
    values = len(mask)
    for known in range(codes.shape[1]):
        if known == target:
            continue
        width = int(offset[known + 1] - offset[known])
        joint = np.bincount(
            codes[:, known] * values + codes[:, target], sensitive.classes.size, width * values
        ).reshape(width, values)
        unlinked = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1)
        of_known = group * width + codes[row, known]
        cells, place = np.unique(of_known * values + codes[row, target], return_inverse=True)
        together = np.bincount(place, mass)
        alone = np.bincount(of_known, mass)
        share = together / np.maximum(alone[cells // values], 1e-300)
        in_group, pair = np.divmod(cells, width * values)
        value, believed = np.divmod(pair, values)
        above = mask[believed] & (share > 1 / ell + CLOSE)
        above &= unlinked[value, believed] <= 1 / ell + CLOSE
        yield _Beliefs(in_group[above], known, value[above])


def _lent_value(
    sensitive: SensitiveTable, sets: Sets, group: int, known: int, value: int, target: int
) -> int | None:
    """The commonest further value of the target in rows with a known value; None if there is none.

    The row that lends it has all other values within the group's sets.
    """
    start, primaries = sets.of(0)
    listed = [
        sensitive.listed[0, sensitive.start[primary] : sensitive.start[primary + 1]]
        for primary in primaries[start[group] : start[group + 1]]
    ]
    lenders = np.concatenate(listed)
    codes = sensitive.codes[lenders]
    fits = codes[:, known] == value
    for attribute in range(1, codes.shape[1]):
        begin, held = sets.of(attribute)
        within = np.isin(codes[:, attribute], held[begin[group] : begin[group + 1]])
        fits &= ~within if attribute == target else within
    if not fits.any():
        return None
    rows = np.bincount(codes[fits, target], sensitive.classes.size[lenders[fits]])
    return int(rows.argmax())
