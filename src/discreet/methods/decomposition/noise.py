"""Noise: values that fill up a group's set so that no reader of T^S can strike them out.

A value belongs to a group only if some row of T^S *supports* it: a row whose primary value is one
of the group's and all of whose values are in the group's sets. Noise therefore comes in whole rows
of T^S: a row whose values are all in the sets already, but for attributes that still lack values,
lends these its own. An attacker who matches the group's people to rows of T^S can use that row for
the person with its primary value, and every other person's own row: the value stays possible.

A floor under an attacker's knowledge asks for more. For each primary value of a group, at least
``floor`` values of every other attribute must remain: for the attacker ``pair`` those that occur
with the primary value anywhere in T^S, for ``row`` those of rows that support the group.

*Linkable* noise is the paper's, beside ours (Ye, Liu, Lv and Feng, 2009, section 5.2, Definition
4): LSV(S^i, G) = Π_{S^i}(T^S ⋈ G.S^pri), the values of S^i in rows of T^S whose primary value is
one of the group's. Lines 16 to 22 of algorithm 1 add such values, attribute by attribute, until the
set has l_i; which of them is left open, so they are drawn at random. Nothing asks whether a whole
row of T^S lies within the group's sets, nor whether its owner can give it up, so an attacker may
rule some of them out: ``noise_support.without_assignment`` finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import starts_of
from discreet.typing import Bools, Codes, Ints, Ints32

NO_READER, PAIR, ROW = 0, 1, 2
DRAWS = 32  # rows of T^S that are tried before all that might lend a value are looked through


@dataclass(frozen=True, eq=False)
class SensitiveTable:
    """T^S as its distinct rows, called signatures, with an index by value."""

    classes: Classes  # of the rows, by signature
    codes: Ints32  # (signatures, attributes), the primary attribute first
    offset: Ints  # (attributes + 1,) where the values of each attribute begin
    start: Ints  # (values of all attributes + attributes,) where the signatures of each begin
    listed: Ints32  # (attributes, signatures) by value
    before: Ints  # (attributes, signatures + 1) rows of the signatures that are listed before each
    sensitive: Bools  # (values of all attributes,)


def index_sensitive(
    columns: Sequence[Column], rows: int, sensitive: Sequence[Bools] | None = None
) -> SensitiveTable:
    """Index T^S; the primary attribute comes first. By default all values are sensitive."""
    masks = sensitive or [np.ones(column.cardinality, np.bool_) for column in columns]
    classes = group_codes([c.codes for c in columns], [c.cardinality for c in columns], rows)
    codes = np.stack([column.codes[classes.first_row] for column in columns], axis=1)
    offset = np.cumsum([0, *(column.cardinality for column in columns)]).astype(np.int64)
    same = np.zeros(classes.count, np.int32)
    starts, listed = [], []
    for attribute, column in enumerate(columns):
        value = np.ascontiguousarray(codes[:, attribute])
        start, order = order_by_class(value, same, column.cardinality, 1)
        starts.append(start)
        listed.append(order.astype(np.int32))
    return SensitiveTable(
        classes,
        np.ascontiguousarray(codes),
        offset,
        np.concatenate(starts),
        np.stack(listed),
        np.stack([starts_of(classes.size[order]) for order in listed]),
        np.concatenate(masks),
    )


@dataclass(frozen=True, eq=False)
class Noise:
    """Values that were added to groups, and what some groups still lack."""

    group: Ints32  # (values,) the place of the group among those that were asked for
    attribute: Ints32  # (values,)
    value: Codes  # (values,)
    lacking: Ints32  # (groups, attributes) values that could not be found

    def and_further(self, group: Ints32, attribute: Ints32, value: Codes) -> Noise:
        """The same with more values, by group."""
        groups = np.concatenate((self.group, group))
        order = np.argsort(groups, kind="stable")
        attributes, values = (
            np.concatenate((self.attribute, attribute)),
            np.concatenate((self.value, value)),
        )
        return Noise(groups[order], attributes[order], values[order], self.lacking)

    def of(self, attribute: int) -> tuple[Ints32, Codes]:
        """The groups and values of one attribute's noise."""
        mine = self.attribute == attribute
        return self.group[mine], self.value[mine]


def add_noise(
    sensitive: SensitiveTable,
    start: Ints,
    member: Ints32,
    wanted: Sequence[int],
    rng: np.random.Generator,
    *,
    reader: int = NO_READER,
    floor: int = 0,
    covered: Bools | None = None,
    known: Noise | None = None,
) -> Noise:
    """Fill up some groups.

    Their members are signatures, ``member[start[g]:start[g + 1]]``; ``wanted`` has the least number
    of values of each attribute of which a group has a sensitive value, in the order of the
    sensitive table. ``covered`` are the values that the floor covers, all by default. ``known`` is
    noise that the groups have already, by group; a lending row may
    then add values to any set, so that it is found wherever a primary value has another row.
    """
    nothing = np.zeros(0, np.int32)
    known = known or Noise(nothing, nothing, nothing, np.zeros((0, 0), np.int32))
    group, attribute, value, lacking = _add_noise(
        rng,
        sensitive.codes,
        sensitive.classes.size,
        sensitive.offset,
        sensitive.start,
        sensitive.listed,
        sensitive.before,
        start,
        member,
        sensitive.sensitive,
        np.array(wanted, np.int64),
        reader,
        floor,
        np.ones(len(sensitive.sensitive), np.bool_) if covered is None else covered,
        np.searchsorted(known.group, np.arange(len(start))),
        known.attribute,
        known.value,
    )
    return Noise(group, attribute, value, lacking)


def add_linkable_noise(
    sensitive: SensitiveTable,
    start: Ints,
    member: Ints32,
    wanted: Sequence[int],
    rng: np.random.Generator,
) -> Noise:
    """Fill up some groups by linkable values; arguments as of ``add_noise``."""
    codes, groups = sensitive.codes, len(start) - 1
    lacking = np.zeros((groups, codes.shape[1]), np.int32)
    added: list[tuple[int, int, int]] = []
    linked = [_values_of_primary(sensitive, place) for place in range(codes.shape[1])]
    for group in range(groups):
        rows = codes[member[start[group] : start[group + 1]]]
        primary = np.unique(rows[:, 0])
        for place, want in enumerate(wanted):
            held = primary if place == 0 else np.unique(rows[:, place])
            lack = want - len(held)
            if lack <= 0 or not sensitive.sensitive[sensitive.offset[place] + held].any():
                continue
            if place > 0:  # the primary attribute gets no noise
                linkable = np.unique(np.concatenate([linked[place][p] for p in primary]))
                further = np.setdiff1d(linkable, held, assume_unique=True)
                chosen = rng.choice(further, min(lack, len(further)), replace=False)
                added += [(group, place, int(value)) for value in chosen]
                lack -= len(chosen)
            lacking[group, place] = lack
    of_group, attribute, values = np.array(added, np.int32).reshape(-1, 3).T
    return Noise(of_group, attribute, values, lacking)


def _values_of_primary(sensitive: SensitiveTable, place: int) -> list[Ints32]:
    """For each primary value, the values of an attribute that occur with it."""
    values = int(sensitive.offset[1])
    pairs = np.unique(sensitive.codes[:, [0, place]], axis=0)
    return np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, values)))


# Compiled: called for every signature that might lend a value.
@kernel
def _lends(
    signature: int,
    codes: Ints32,
    offset: Ints,
    held: Ints,
    stamp: Ints,
    needed: Ints,
    most: int,
) -> int:
    """How many values a signature has for sets that are complete; −1 if it has too many or lends
    none, as one with another primary value."""
    new, further = 0, 0
    for attribute in range(codes.shape[1]):
        if stamp[offset[attribute] + codes[signature, attribute]] < 0:
            if attribute > 0 and held[attribute] < needed[attribute]:
                new += 1
                continue
            further += 1
            if attribute == 0 or further > most:
                return -1
    return further if new > 0 else -1


# Compiled: called for every noise value, through the signatures of a set.
@kernel
def _find_filler(
    rng: np.random.Generator,
    codes: Ints32,
    size: Ints,
    offset: Ints,
    start: Ints,
    listed: Ints32,
    before: Ints,
    sets: Ints32,
    held: Ints,
    stamp: Ints,
    needed: Ints,
    widen: bool,
) -> int:
    """A random signature that lends new values to sets that lack some, and to no other.

    Where none is found and sets may be widened, one that adds the fewest values to other sets.
    A few rows are drawn first: the first of these that lends has the same chances as in a search.
    """
    by, least = 0, np.int64(2**62)  # the complete set whose index lists the fewest signatures
    for attribute in range(len(held)):
        if attribute > 0 and (widen or held[attribute] < needed[attribute]):
            continue
        listings = np.int64(0)
        base = offset[attribute] + attribute
        for i in range(held[attribute]):
            value = sets[attribute, i]
            listings += start[base + value + 1] - start[base + value]
        if listings < least:
            by, least = attribute, listings
    base = offset[by] + by
    rows = np.int64(0)
    for i in range(held[by]):
        value = sets[by, i]
        rows += before[by, start[base + value + 1]] - before[by, start[base + value]]
    for _ in range(DRAWS):
        drawn = int(rng.random() * rows)
        i = 0
        while True:
            value = sets[by, i]
            first, last = start[base + value], start[base + value + 1]
            if drawn < before[by, last] - before[by, first]:
                break
            drawn -= before[by, last] - before[by, first]
            i += 1
        place = np.searchsorted(before[by, first:last], drawn + before[by, first], "right") - 1
        signature = listed[by, first + place]
        if _lends(signature, codes, offset, held, stamp, needed, 0) == 0:
            return int(signature)
    filler, weight, fewest = -1, 0.0, codes.shape[1] - 1 if widen else 0
    for i in range(held[by]):
        value = sets[by, i]
        for place in range(start[base + value], start[base + value + 1]):
            signature = listed[by, place]
            further = _lends(signature, codes, offset, held, stamp, needed, fewest)
            if further >= 0:
                if further < fewest:
                    fewest, weight = further, 0.0
                weight += size[signature]
                if rng.random() * weight < size[signature]:
                    filler = signature
    return filler


# Compiled: called for every noise value, through the signatures of the primary values.
@kernel
def _count_open(
    codes: Ints32,
    offset: Ints,
    start: Ints,
    listed: Ints32,
    sets: Ints32,
    held: Ints,
    stamp: Ints,
    reader: int,
    covered: Bools,
    seen: NDArray[np.bool_],
    left: Ints32,
    exposed: NDArray[np.bool_],
) -> None:
    """For each primary value of a group, which values of each other attribute an attacker keeps.

    ``exposed``: whether one of them is covered by the floor.
    """
    seen[: held[0]] = False
    exposed[: held[0]] = False
    left[: held[0]] = 0
    for i in range(held[0]):
        value = sets[0, i]
        for place in range(start[value], start[value + 1]):
            signature = listed[0, place]
            fits = True
            if reader == ROW:
                for attribute in range(codes.shape[1]):
                    if stamp[offset[attribute] + codes[signature, attribute]] < 0:
                        fits = False
                        break
            if not fits:
                continue
            for attribute in range(1, codes.shape[1]):
                at = stamp[offset[attribute] + codes[signature, attribute]]
                if at >= 0 and not seen[i, attribute, at]:
                    exposed[i, attribute] |= covered[
                        offset[attribute] + codes[signature, attribute]
                    ]
                    seen[i, attribute, at] = True
                    left[i, attribute] += 1


# Compiled: called for every noise value, through the signatures of a primary value.
@kernel
def _find_opener(
    rng: np.random.Generator,
    codes: Ints32,
    size: Ints,
    offset: Ints,
    start: Ints,
    listed: Ints32,
    sets: Ints32,
    stamp: Ints,
    known: int,
    target: int,
    seen: NDArray[np.bool_],
) -> int:
    """A signature with a primary value that opens one more value of an attribute, cheaply."""
    value = sets[0, known]
    opener, cheapest, weight = -1, 2**30, 0.0
    for place in range(start[value], start[value + 1]):
        signature = listed[0, place]
        at = stamp[offset[target] + codes[signature, target]]
        if at >= 0 and seen[known, target, at]:
            continue
        cost = 0
        for attribute in range(1, codes.shape[1]):
            if stamp[offset[attribute] + codes[signature, attribute]] < 0:
                cost += 1
        if cost < cheapest:
            opener, cheapest, weight = signature, cost, 0.0
        if cost == cheapest:
            weight += size[signature]
            if rng.random() * weight < size[signature]:
                opener = signature
    return opener


# Compiled: each noise value of a group depends on those before it.
@kernel(work=100)
def _add_noise(
    rng: np.random.Generator,
    codes: Ints32,
    size: Ints,
    offset: Ints,
    start: Ints,
    listed: Ints32,
    before: Ints,
    group_start: Ints,
    member: Ints32,
    sensitive: Bools,
    wanted: Ints,
    reader: int,
    floor: int,
    covered: Bools,
    known_start: Ints,
    known_attribute: Ints32,
    known_value: Ints32,
) -> tuple[Ints32, Ints32, Ints32, Ints32]:
    groups, attributes = len(group_start) - 1, codes.shape[1]
    stamp = np.full(offset[attributes], -1, np.int64)  # places in the set of the current group
    largest, most = 0, 0
    for group in range(groups):
        largest = max(largest, group_start[group + 1] - group_start[group])
    for attribute in range(attributes):
        most = max(most, wanted[attribute])
    room = largest + most + largest * attributes * floor  # values in a set at most
    room = min(room + len(known_value) + most * attributes, offset[attributes]) + 1
    sets = np.empty((attributes, room), np.int32)
    held = np.zeros(attributes, np.int64)
    needed = np.zeros(attributes, np.int64)  # of the current group: none without a sensitive value
    seen = np.zeros((largest if reader else 0, attributes, room), np.bool_)
    left = np.zeros((largest if reader else 0, attributes), np.int32)
    exposed = np.zeros(left.shape, np.bool_)
    lacking = np.zeros((groups, attributes), np.int32)
    out_group, out_attribute, out_value = [np.int32(0)], [np.int32(0)], [np.int32(0)]
    for group in range(groups):
        held[:] = 0
        needed[:] = 0
        for i in range(group_start[group], group_start[group + 1]):
            for attribute in range(attributes):
                value = codes[member[i], attribute]
                if sensitive[offset[attribute] + value]:
                    needed[attribute] = wanted[attribute]
                if stamp[offset[attribute] + value] < 0:
                    stamp[offset[attribute] + value] = held[attribute]
                    sets[attribute, held[attribute]] = value
                    held[attribute] += 1
        for i in range(known_start[group], known_start[group + 1]):
            attribute, value = known_attribute[i], known_value[i]
            if sensitive[offset[attribute] + value]:
                needed[attribute] = wanted[attribute]
            if stamp[offset[attribute] + value] < 0:
                stamp[offset[attribute] + value] = held[attribute]
                sets[attribute, held[attribute]] = value
                held[attribute] += 1
        while True:
            lender, short = -1, False
            for attribute in range(attributes):
                short |= held[attribute] < needed[attribute]
            if short:
                lender = _find_filler(
                    rng, codes, size, offset, start, listed, before, sets, held, stamp, needed,
                    len(known_value) > 0,
                )  # fmt: skip
                if lender < 0:
                    break
            elif reader:
                _count_open(
                    codes, offset, start, listed, sets, held, stamp, reader, covered, seen, left,
                    exposed,
                )  # fmt: skip
                for i in range(held[0]):
                    for attribute in range(1, attributes):
                        lacks = exposed[i, attribute] and left[i, attribute] < floor
                        if lender < 0 and lacks:
                            lender = _find_opener(
                                rng, codes, size, offset, start, listed, sets, stamp, i,
                                attribute, seen,
                            )  # fmt: skip
            if lender < 0:
                break
            for attribute in range(1, attributes):
                value = codes[lender, attribute]
                if sensitive[offset[attribute] + value]:
                    needed[attribute] = wanted[attribute]
                if stamp[offset[attribute] + value] < 0:
                    stamp[offset[attribute] + value] = held[attribute]
                    sets[attribute, held[attribute]] = value
                    held[attribute] += 1
                    out_group.append(np.int32(group))
                    out_attribute.append(np.int32(attribute))
                    out_value.append(np.int32(value))
        for attribute in range(attributes):
            lacking[group, attribute] = max(needed[attribute] - held[attribute], 0)
            for i in range(held[attribute]):
                stamp[offset[attribute] + sets[attribute, i]] = -1
    return (
        np.array(out_group, np.int32)[1:],
        np.array(out_attribute, np.int32)[1:],
        np.array(out_value, np.int32)[1:],
        lacking,
    )
