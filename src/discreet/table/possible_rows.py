"""The rows of T^S that people of a group may have, and the values that these rows support.

**Values** (``count_supported``). The rows within the sets of all groups may be some dozens for each
person. They are not listed: the values of one or two attributes that occur beside a combination of
the others are bits, so one operation tells which of them the sets of a group hold.

**Rows** (``restricted_rows``): the groups in which all groups together rule out rows, found from a
known world. People and rows are points and boxes (``assignments``). A row is possible for a point
if both are in one component of the residual graph of that world: a point leads to all boxes within
its sets, a box to the points that have it. The edges are some dozens for each person, and nearly
all of them lie within a few large components. So most are never listed:

1. A few people of each box, with their edges, give components that lie within those of the whole
   graph. Of each primary value the largest is the main one; other boxes are apart.
2. The point of a primary value leads to boxes with this value alone. So an edge between different
   components leads from or to a box that is apart, or from the further people of a group. These
   edges are listed, and together with the components of step 1 they decide those of the graph.
3. A row within the sets of a group is ruled out if such an edge leads to another component. Only
   the groups that have one are looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from discreet.table.assignments import (
    FEW_VALUES,
    PossibleRows,
    Sets,
    World,
    flow_of_world,
    most_various_first,
    number_of_prefix,
    prefix_levels,
    sets_of_groups,
    supporting_rows,
)
from discreet.table.budgets import AT_ONCE, IN_CACHE, MOST_ENTRIES
from discreet.table.code_maps import taken
from discreet.table.graphs import components_of_flow
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import entries_of, stable_order, starts_of
from discreet.typing import Bools, Ints, Ints32

BITS = 62  # of a word, so that none is negative


def count_supported(sets: Sets, codes: Ints32, known: int) -> tuple[Ints32, int] | None:
    """Return the values of each attribute in rows within the sets, for each known value, counted.

    By the entries of the known attribute's sets; also how many pairs there are of a group and a row
    within its sets. ``codes`` has the values of each signature. None where no other attribute has
    few values, or their combinations are too many.
    """
    if not (len(codes) and sets.groups):
        return np.zeros((len(sets.of(known)[1]), codes.shape[1]), np.int32), 0
    # One or two attributes get bits; the others are descended through, most values first.
    attributes = most_various_first(codes, known)
    width = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    masked = _masked(sets, attributes[1:].tolist(), width)
    if masked is None:
        return None
    others = attributes[~np.isin(attributes, masked)]
    order = np.lexsort(codes[:, others[::-1]].T)
    levels, prefix = prefix_levels(codes[order][:, others], width[others])
    # A bit for each combination of their values, in as many words as needed.
    shape = [int(width[a]) for a in masked]
    combined = np.arange(math.prod(shape))
    word, bit = np.divmod(combined, BITS)
    words, power = int(word[-1]) + 1, np.left_shift(1, bit)
    if (int(prefix.max(initial=0)) + 1) * words > AT_ONCE:
        return None
    bits = np.zeros((sum(shape), words), np.int64)
    first = starts_of(np.array(shape))
    for start, value in zip(first, np.unravel_index(combined, shape), strict=False):
        np.bitwise_or.at(bits, (start + value, word), power)
    # The combinations that occur beside each combination of the others.
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
    supported_values = np.zeros((entries, len(width)), np.int32)
    seen = np.full(offset[len(width)], -1, np.int64)  # the entry that last had each value
    held, occurring = np.zeros(words, np.int64), np.zeros(words, np.int64)
    prefix = np.zeros(depth + 1, np.int64)
    path = np.zeros(depth, np.int64)  # where the value of each level is counted
    following = np.zeros(depth, np.int64)  # the entry to be tried next, by level
    end = np.zeros(depth, np.int64)
    slot, rows = 0, 0
    for group in range(groups):
        # The combinations that the sets of the group hold.
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
                occurring[word] = 0
            level, following[0], end[0] = 0, entry, entry + 1
            # Depth first through the attributes without bits.
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
                        occurring[word] |= common
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
                                supported_values[slot, attributes[step]] += 1
                else:
                    level -= 1
                    continue
                level += 1
                prefix[level] = number
                which = attributes[level] * groups + group
                following[level], end[level] = start[which], start[which + 1]
            for number in range(len(masked)):
                which = masked[number] * groups + group
                for member in range(start[which], start[which + 1]):
                    if value[member] < width[masked[number]]:
                        common = 0
                        for word in range(words):
                            common |= occurring[word] & bits[first[number] + value[member], word]
                        supported_values[slot, masked[number]] += common != 0
            slot += 1
    return supported_values, rows


PEOPLE_OF_ROW = 4  # whose edges are looked at first


@dataclass(frozen=True, eq=False)
class RestrictedRows:
    """The groups in which rows within the sets are ruled out for some of their people."""

    groups: Ints
    possible: Bools  # for each row within the sets of these groups, by primary values
    rows: PossibleRows  # of these groups


class _Edges(NamedTuple):
    """Some points, and boxes that they lead to."""

    point: Ints
    first: Ints
    row: Ints32


class _Points(NamedTuple):
    """The points of a release: one for each primary value, then one for further people."""

    sets: Sets
    primary: int
    group: Ints32  # of each point
    values: int  # the number of points that have one primary value


def restricted_rows(
    sets: Sets, codes: Ints32, count: Ints, primary: int, size: Ints, world: World
) -> RestrictedRows | None:
    """Return where rows are ruled out; None if the world is none, or too many edges matter.

    ``codes`` and ``count`` are of the signatures, ``size`` has the people of each group.
    """
    # The points of the known world, and those of groups with further people.
    sent = flow_of_world(sets, codes, count, primary, size, world)
    if sent is None:
        return None
    point, signature = sent
    start, _ = sets.of(primary)
    crowded = np.flatnonzero(size > np.diff(start))
    every = np.arange(sets.groups, dtype=np.int32)
    group = np.concatenate((np.repeat(every, np.diff(start)), crowded.astype(np.int32)))
    points = _Points(sets, primary, group, int(start[-1]))
    further = np.arange(points.values, len(group))
    # Step 1: components by a few people of each box; boxes beside the main one are apart.
    part = _joined_boxes(points, codes, count, point, signature)
    if part is None:
        return None
    value = codes[:, primary]
    main = np.empty(int(value.max(initial=0)) + 1, np.int32)
    by_people = np.argsort(np.bincount(part, count)[part], kind="stable")
    main[value[by_people]] = part[by_people]  # the last assignment remains
    apart = part != main[value]
    # Step 2: list the edges that can lead between components, and join these.
    inner = np.zeros(len(group), np.bool_)
    inner[point[taken(apart, signature)]] = True
    inner[further] = True
    listed = _listed_edges(points, codes, inner, apart)
    if listed is None:
        return None
    number = np.full(len(group), -1, np.int32)
    number[listed.point] = np.arange(len(listed.point), dtype=np.int32)
    people = np.flatnonzero(number[point] >= 0)
    point_part, whole = components_of_flow(
        int(part.max(initial=-1)) + 1,
        listed.first,
        part[listed.row],
        number[point[people]].astype(np.int64),
        part[signature[people]],
    )
    part = whole[part]
    # Step 3: groups with an edge to another component are looked at again.
    leaves = np.repeat(point_part, np.diff(listed.first)) != part[listed.row]
    groups = np.unique(np.repeat(group[listed.point], np.diff(listed.first))[leaves])
    looked_at = np.zeros(sets.groups, np.bool_)
    looked_at[groups] = True
    people = np.flatnonzero(taken(looked_at, world.group))
    component = np.zeros(len(group), np.int32)  # the component of each point of these groups
    component[point[people]] = part[signature[people]]
    return _rows_left(points, codes, groups, component, part)


def _joined_boxes(
    points: _Points, codes: Ints32, count: Ints, point: Ints, signature: Ints32
) -> Ints32 | None:
    """Return components of boxes that a few people of each box join, and all further people."""
    looked_at = np.zeros(len(points.group), np.bool_)
    looked_at[point[_first_people(signature, len(count))]] = True
    looked_at[points.values :] = True
    edges = _edges_of(points, codes, looked_at)
    if edges is None:
        return None
    people = np.flatnonzero(looked_at[point])
    sender = np.cumsum(looked_at, dtype=np.int32)[point[people]].astype(np.int64) - 1
    _, part = components_of_flow(len(count), edges.first, edges.row, sender, signature[people])
    return part


def _first_people(signature: Ints32, signatures: int) -> Ints:
    """Return the first few people of each signature.

    Nearly all signatures have their few after the first pieces of the people.
    """
    counted, first = np.zeros(signatures, np.int64), [np.zeros(0, np.int64)]
    for begin in range(0, len(signature), IN_CACHE):
        part = signature[begin : begin + IN_CACHE]
        wanted = np.flatnonzero(counted.take(part) < PEOPLE_OF_ROW)
        wanted = wanted[stable_order(part[wanted], signatures)]
        signatures_seen, start, count = np.unique(
            part[wanted], return_index=True, return_counts=True
        )
        rank = np.arange(len(wanted)) - np.repeat(start, count) + counted[part[wanted]]
        first.append(begin + wanted[rank < PEOPLE_OF_ROW])
        counted[signatures_seen] += count
    return np.concatenate(first)


def _listed_edges(points: _Points, codes: Ints32, inner: Bools, apart: Bools) -> _Edges | None:
    """Return the edges of inner points, and those of others to boxes that are apart."""
    edges = _edges_of(points, codes, inner)
    begin, row = supporting_rows(points.sets, codes[apart], points.primary, MOST_ENTRIES)
    if edges is None or row is None:
        return None
    length = np.diff(begin)
    length[inner[: points.values]] = 0
    outer = np.flatnonzero(length)
    entries, _ = entries_of(begin, outer)
    return _Edges(
        np.concatenate((edges.point, outer)),
        np.concatenate((edges.first, edges.first[-1] + np.cumsum(length[outer]))),
        np.concatenate((edges.row, np.flatnonzero(apart)[row[entries]].astype(np.int32))),
    )


def _edges_of(points: _Points, codes: Ints32, chosen: Bools) -> _Edges | None:
    """Return all edges of some points; None where they are too many.

    The point of a primary value has this value alone, one of further people all of their group.
    """
    sets, primary = points.sets, points.primary
    chosen_sets = sets_of_groups(sets, points.group[chosen])[1]
    sole = np.flatnonzero(chosen[: points.values])
    start, value = chosen_sets.of(primary)
    first = chosen_sets.start[primary * chosen_sets.groups]
    length = np.diff(chosen_sets.start)
    length[primary * chosen_sets.groups : primary * chosen_sets.groups + len(sole)] = 1
    values = sets.of(primary)[1][sole], value[start[len(sole)] :]
    before, behind = chosen_sets.value[:first], chosen_sets.value[first + len(value) :]
    narrow = Sets(starts_of(length), np.concatenate((before, *values, behind)), chosen_sets.groups)
    begin, row = supporting_rows(narrow, codes, primary, MOST_ENTRIES)
    if row is None:
        return None
    return _Edges(np.flatnonzero(chosen), begin[narrow.of(primary)[0]], row)


def _rows_left(
    points: _Points, codes: Ints32, groups: Ints, component: Ints32, part: Ints32
) -> RestrictedRows | None:
    """Return the rows of some groups that are in the component of a point of the group."""
    _, narrow = sets_of_groups(points.sets, groups)
    begin, row = supporting_rows(narrow, codes, points.primary, MOST_ENTRIES)
    if row is None:
        return None
    entries, place = entries_of(points.sets.of(points.primary)[0], groups)
    possible = np.repeat(component[entries], np.diff(begin)) == part[row]
    of_further = np.full(points.sets.groups, -1, np.int32)
    of_further[points.group[points.values :]] = component[points.values :]
    possible |= np.repeat(of_further[groups[place]], np.diff(begin)) == part[row]
    possible_before = np.concatenate(([0], np.cumsum(possible)))
    start = possible_before[begin[narrow.of(points.primary)[0]]]
    return RestrictedRows(groups, possible, PossibleRows(start, row[possible], True))
