"""Longer lists and larger groups where an insider would believe a sensitive value above 1/ℓ.

The insider knows the group of a person and one other sensitive value x of that person. T^S alone
teaches P(v | x), with or without a link; a list lifts that belief, because it rules values out. In
rows of T^S with x let v have 40 %, N 30 %, w 20 %: a list {N, v} lifts the belief in v from 0.4 to
0.57, a list {N, v, w} to 0.44. So a list that leaves a belief in a sensitive value above 1/ℓ, which
the two unlinked tables do not give, gets another value, lent by a whole row of T^S with x.

Where lists are not enough, groups are merged: a group with such beliefs and the one in which the
same value is least likely. Sets only grow, so every list keeps its ℓ values and every value its
assignment. The last step of this is one group with all values, which is two unlinked tables; so
merging ends with at most ``MOST_ABOVE`` of the persons above 1/ℓ, whatever the table is.

Beliefs are those of the implied distribution: rows of T^S within the sets, scaled in turn until
each primary value of a group has the mass of its person and each row of T^S its count. An
acquaintance, who knows no sensitive value, is held to ``BELIEVED`` likewise.

A simpler insider weighs the rows of T^S by their number alone, within all sets of the group or the
target's, and may come to believe more. To count these beliefs too takes several times as long, and
on most tables few persons are above by them alone. So they are looked at in the end, and the
search goes on with them only where they leave more than ``MOST_BY_COUNTS`` of the persons above,
and then to half as many: beliefs that close to the bound are often shared by persons with the same
quasi-identifiers in other groups.
The attack ``link-through-sensitive-table`` measures what remains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discreet.methods.decomposition.noise import Noise, SensitiveTable
from discreet.methods.decomposition.noise_support import sets_of_noise
from discreet.table.assignments import Sets, supporting_rows
from discreet.table.budgets import TABLE_CELLS
from discreet.table.kernels.lists import distinct_values, entries_of, places_of
from discreet.typing import Bools, Floats, Ints, Ints32

GROUP_SIZE = 5  # times ℓ, as far as the counts of the primary attribute allow
ROUNDS = 8  # of longer lists; each list gets one value of an attribute in a round
SCALINGS = 30  # of the masses in a round
MOST_ABOVE = 0.005  # share of persons; half of the 1 % that is aimed at: beliefs are estimates
MOST_BY_COUNTS = 0.009  # share of persons, where beliefs by the number of rows count as well
BELIEVED = 0.5  # the bound on an acquaintance: above it, a verdict counts a value as believed
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class FilledGroups:
    """The group of every row, how many there are, and their noise."""

    of_row: Ints32
    groups: int
    noise: Noise

    def merged(self, into: Ints, codes: Ints32) -> FilledGroups:
        """Return the groups after each is merged into another one, or itself.

        ``codes`` has the values of each row; noise that a group now has in earnest goes.
        """
        _, number = np.unique(into, return_inverse=True)
        of_row = number[self.of_row].astype(np.int32)
        noise = self.noise
        width = int(codes.max(initial=0)) + 1
        attributes = codes.shape[1]
        held = (of_row[:, None].astype(np.int64) * attributes + np.arange(attributes)) * width
        key = (number[noise.group].astype(np.int64) * attributes + noise.attribute) * width
        key = np.setdiff1d(key + noise.value, held + codes)
        group, pair = np.divmod(key, attributes * width)
        attribute, value = np.divmod(pair, width)
        groups = int(number.max()) + 1
        lacking = np.zeros((groups, attributes), np.int32)
        left = Noise(
            group.astype(np.int32), attribute.astype(np.int32), value.astype(np.int32), lacking
        )
        return FilledGroups(of_row, groups, left)


class _Above(NamedTuple):
    """ImpliedBeliefs above a bound that the unlinked tables do not give."""

    group: Ints
    known: int | None  # the attribute whose value is known
    known_value: Ints
    target: int
    value: Ints  # that is believed

    def of(self, chosen: Bools) -> _Above:
        """Return some of them."""
        return self._replace(
            group=self.group[chosen], known_value=self.known_value[chosen], value=self.value[chosen]
        )


def hide_from_insiders(
    sensitive: SensitiveTable, filled: FilledGroups, least: Sequence[int]
) -> FilledGroups:
    """Lengthen lists and merge groups until an insider is above 1/ℓ for few persons.

    ``least`` has ℓ of each attribute, the primary one first.
    """
    codes = sensitive.codes[sensitive.classes.class_of_row]
    lengthened, by_counts = 0, False
    while filled.groups > 1:
        sets, _ = sets_of_noise(sensitive, filled.of_row, filled.groups, filled.noise)
        size = np.bincount(filled.of_row, minlength=filled.groups)
        beliefs = ImpliedBeliefs.of(sensitive, sets, size)
        if beliefs is None:
            return filled
        # Which beliefs are too high, and of how many persons.
        above = beliefs.above(least, sets if by_counts else None)
        persons = believed_persons(codes, filled.of_row, above)
        if persons.mean() <= MOST_ABOVE and not by_counts:
            above = beliefs.above(least, sets)
            persons = believed_persons(codes, filled.of_row, above)
            if persons.mean() <= MOST_BY_COUNTS:
                return filled
            by_counts, lengthened = True, 0
        spared = int(MOST_ABOVE * len(persons) / (2 if by_counts else 1))
        if persons.sum() <= spared:
            return filled
        # Longer lists first, as long as some row lends values.
        added = _lent_values(sensitive, sets, above) if lengthened < ROUNDS else []
        lengthened = lengthened + 1 if added else ROUNDS
        if added:
            further = filled.noise.and_further(*np.array(added, np.int32).T)
            filled = replace(filled, noise=further)
            continue
        # Then larger groups: of those with the most such persons, as many as it takes.
        hot = np.bincount(filled.of_row, persons, filled.groups)
        hottest = np.argsort(-hot, kind="stable")
        enough = np.searchsorted(np.cumsum(hot[hottest]), persons.sum() - spared) + 1
        if by_counts:  # single merges would take many rounds
            enough = max(enough, np.count_nonzero(hot) // 8)
        chosen = np.zeros(filled.groups, np.bool_)
        chosen[hottest[:enough]] = True
        above = [one.of(chosen[one.group]) for one in above]
        filled = filled.merged(_partners(beliefs, above), codes)
    return filled


@dataclass(frozen=True, eq=False)
class ImpliedBeliefs:
    """The implied distribution: the mass of each row of T^S in each group."""

    sensitive: SensitiveTable
    groups: int
    group: Ints
    row: Ints32
    mass: Floats

    @classmethod
    def of(cls, sensitive: SensitiveTable, sets: Sets, size: Ints) -> ImpliedBeliefs | None:
        """Scale the masses of the rows within the sets; None where there are too many."""
        begin, row = supporting_rows(sets, sensitive.codes, 0, TABLE_CELLS)
        if row is None:
            return None
        mass, group = _masses(sets, begin, row, size, sensitive.classes.size)
        return cls(sensitive, sets.groups, group, row, mass)

    def shares(
        self, target: int, known: int | None, sets: Sets | None = None
    ) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """Return beliefs: group, known value, value, the belief, and that without a link.

        With the sets of the groups, the greatest of those of all insiders, who know a value.
        """
        codes, offset = self.sensitive.codes.astype(np.int64), self.sensitive.offset
        values = int(offset[target + 1] - offset[target])
        width = 1 if known is None else int(offset[known + 1] - offset[known])
        known_code = np.zeros(len(codes), np.int64) if known is None else codes[:, known]
        count = self.sensitive.classes.size
        joint = np.bincount(known_code * values + codes[:, target], count, width * values)
        joint = joint.reshape(width, values)
        unlinked = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1)
        of_known = self.group * width + known_code[self.row]
        key = of_known * values + codes[self.row, target]
        cells, share = _shares(key, values, self.mass)
        group, pair = np.divmod(cells, width * values)
        known_value, value = np.divmod(pair, values)
        if sets is not None:
            share = np.maximum(share, _shares(key, values, count[self.row])[1])
            # Rows with the known value and a value of the target's set, whatever else they have.
            start, listed = sets.of(target)
            keys = distinct_values(cells // values)
            entry, place = entries_of(start, keys // width)
            rows = joint[(keys % width)[place], listed[entry]]
            beside = np.bincount(place, rows, len(keys))[places_of(keys, cells // values)]
            share = np.maximum(share, joint[known_value, value] / beside)
        return group, known_value, value, share, unlinked[known_value, value]

    def above(self, least: Sequence[int], sets: Sets | None = None) -> list[_Above]:
        """Return the beliefs above the bounds, by target and known attribute."""
        return [each for each in self._above(least, sets) if len(each.group)]

    def _above(self, least: Sequence[int], sets: Sets | None) -> Iterator[_Above]:
        offset = self.sensitive.offset
        for target, ell in enumerate(least):
            mask: Bools = self.sensitive.sensitive[offset[target] : offset[target + 1]]
            for known in (None, *range(len(least))):
                if known == target:
                    continue
                bound = (BELIEVED if known is None else 1 / ell) + CLOSE
                counting = None if known is None else sets
                group, known_value, value, share, unlinked = self.shares(target, known, counting)
                high = mask[value] & (share > bound) & (unlinked <= bound)
                yield _Above(group[high], known, known_value[high], target, value[high])


def _shares(key: Ints, values: int, mass: Floats | Ints) -> tuple[Ints, Floats]:
    """Return the distinct keys, and the share of each in those of the same ``key // values``."""
    cells, together = _sums(key, mass)
    alone_cells, alone = _sums(key // values, mass)
    whole = alone[places_of(alone_cells, cells // values)]
    return cells, together / np.maximum(whole, 1e-300)


def _sums(key: Ints, mass: Floats | Ints) -> tuple[Ints, Floats]:
    """Return the distinct keys, ascending, and the mass of each."""
    most = int(key.max(initial=-1)) + 1
    if most <= 4 * len(key):
        cells = np.flatnonzero(np.bincount(key, minlength=most)).astype(np.int64)
        return cells, np.bincount(key, mass, most)[cells].astype(np.float64)
    cells, place = np.unique(key, return_inverse=True)
    return cells, np.bincount(place, mass, len(cells)).astype(np.float64)


def believed_persons(codes: Ints32, group_of_row: Ints32, above: Sequence[_Above]) -> Bools:
    """(rows,) Which persons have a value that is believed above its bound."""
    exposed = np.zeros(len(codes), np.bool_)
    width = int(codes.max(initial=0)) + 1
    group = group_of_row.astype(np.int64)
    for one in above:
        known_value = 0 if one.known is None else codes[:, one.known]
        key = (group * width + known_value) * width + codes[:, one.target]
        exposed |= np.isin(key, (one.group * width + one.known_value) * width + one.value)
    return exposed


def _partners(beliefs: ImpliedBeliefs, above: Sequence[_Above]) -> Ints:
    """Return the group into which each is merged: a hot one into the coolest for its value.

    Values that are believed too much in most groups come first.
    """
    into = np.arange(beliefs.groups)
    is_free = np.ones(beliefs.groups, np.bool_)
    problems = [
        np.stack([np.full(len(one.group), one.target), one.value, one.group]) for one in above
    ]
    every = np.unique(np.concatenate(problems, axis=1), axis=1)
    values, count = np.unique(every[:2], axis=1, return_counts=True)
    for target, value in values.T[np.argsort(-count, kind="stable")].tolist():
        hot = every[2, (every[0] == target) & (every[1] == value)]
        share = np.zeros(beliefs.groups)
        group, _, believed, belief, _ = beliefs.shares(target, None)
        share[group[believed == value]] = belief[believed == value]
        coolest = iter(np.argsort(share, kind="stable").tolist())
        for first in hot[np.argsort(-share[hot], kind="stable")].tolist():
            if not is_free[first]:
                continue
            second = next((one for one in coolest if is_free[one] and one != first), None)
            if second is None:
                break
            into[first] = second
            is_free[[first, second]] = False
    return into


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


def _lent_values(
    sensitive: SensitiveTable, sets: Sets, above: Sequence[_Above]
) -> list[tuple[int, int, int]]:
    """Return longer lists: groups, attributes and a value for each; none for the primary one."""
    added: dict[tuple[int, int], int] = {}  # in order, one value of an attribute for each group
    for one in above:
        if one.known is None or one.target == 0:
            continue
        for group, value in zip(one.group.tolist(), one.known_value.tolist(), strict=True):
            if (group, one.target) in added:
                continue
            lent = _lent_value(sensitive, sets, group, one.known, value, one.target)
            if lent is not None:
                added[group, one.target] = lent
    return [(group, target, value) for (group, target), value in added.items()]


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
