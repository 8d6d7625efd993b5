"""Complete assignments of people to rows of T^S, the sensitive table of a decomposed release.

A release says of each group how many people it has and, for each attribute, the set of values that
they may have. Every primary value of the set occurs in the group; others may be noise. So a world
that the release allows gives every person a row of T^S within the sets of the person's group, uses
every row once, and gives each primary value of a group to at least one person of it. An attacker
rules out values that no such world has.

That takes no enumeration. Each primary value of a group is a point with one person, and the further
people of a group, where it has more people than primary values, are one more point. Distinct rows
of T^S (signatures) are boxes with their counts. Points with the same possible rows are one point.
Worlds are the complete flows of this graph, and ``graphs.usable_edges`` finds the rows that some
flow uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.table.classes import group_lists
from discreet.table.coded_table import Derives
from discreet.table.graphs import greatest_flow, usable_edges
from discreet.table.kernels import kernel
from discreet.table.kernels.lengthening import lengthened
from discreet.table.kernels.lists import starts_of, stretches
from discreet.typing import Ints, Ints32

EDGES = 2**26  # pairs of a group and a row within its sets; above, assignments are not judged
SCANNED = 8  # signatures that are compared one by one, not by search


@dataclass(frozen=True, eq=False)
class Sets(Derives):
    """The set of every group and attribute, in the codes of T^S and of the people's groups."""

    start: Ints  # (attributes × groups + 1,) by attribute, then by group
    value: Ints32  # (entries,) ascending in each set
    groups: int
    unknown: int = 0  # entries that name no group, no attribute or no value of T^S
    doubled: int = 0  # duplicate entries

    def of(self, attribute: int) -> tuple[Ints, Ints32]:
        """Return the starts of the sets of one attribute, and their values."""
        start = self.start[attribute * self.groups : (attribute + 1) * self.groups + 1]
        return start - start[0], self.value[start[0] : start[-1]]


@dataclass(frozen=True, eq=False)
class PossibleRows:
    """The signatures that people of each group have in some world."""

    start: Ints  # (groups + 1,)
    row: Ints32  # (edges,)
    complete: bool  # False where no world exists at all


def supporting_rows(
    sets: Sets, codes: Ints32, known: int, limit: int
) -> tuple[Ints, Ints32 | None]:
    """The signatures within the sets, for each known value of each group, and where those begin.

    By the entries of the known attribute's sets; None where they are more than a limit. ``codes``
    has the values of each signature.
    """
    several = [len(np.unique(codes[:, a])) if a != known else 0 for a in range(codes.shape[1])]
    attributes = np.array(sorted(range(len(several)), key=lambda a: (a != known, -several[a])))
    order = np.lexsort(codes[:, attributes[::-1]].T).astype(np.int32)
    values = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    base = starts_of(values)
    begin, found = _supporting_rows(
        sets.start, sets.value, sets.groups, codes, order, attributes, base, limit
    )
    return begin, found[: begin[-1]].copy() if begin[-1] <= limit else None


def possible_rows(
    sets: Sets,
    codes: Ints32,
    count: Ints,
    primary: int,
    size: Ints,
    limit: int = EDGES,
    supporting: tuple[Ints, Ints32 | None] | None = None,
) -> PossibleRows | None:
    """Return the rows of each group's people in some world; None where the graph passes a limit.

    ``codes`` and ``count`` are of the signatures, ``size`` has the people of each group;
    ``supporting`` are the rows within the sets by primary values, where they are known.
    """
    begin, row = supporting or supporting_rows(sets, codes, primary, limit)
    if row is None:
        return None
    start, _ = sets.of(primary)
    group_start = begin[start]
    further = size - np.diff(start)
    crowded = np.flatnonzero(further > 0)
    length = np.diff(group_start)[crowded]
    again = np.repeat(group_start[crowded] - np.cumsum(length) + length, length)
    again += np.arange(len(again))  # the edges of further people, as those of their group
    first = np.concatenate((begin, begin[-1] + np.cumsum(length)))
    supply = np.concatenate((np.ones(len(begin) - 1, np.int64), further[crowded]))
    usable = None
    if (further >= 0).all() and supply.sum() == count.sum():
        usable = _usable(first, np.concatenate((row, row[again])), supply, count)
    if usable is None:
        return PossibleRows(np.zeros(sets.groups + 1, np.int64), row[:0], False)
    possible = usable[: len(row)]
    possible[again] |= usable[len(row) :]
    kept = np.concatenate(([0], np.cumsum(possible)))
    return PossibleRows(kept[group_start], row[possible], True)


def _usable(first: Ints, box: Ints32, supply: Ints, count: Ints) -> NDArray[np.bool_] | None:
    """Return the edges that complete flows use, by kinds of points; None without such a flow."""
    kinds = group_lists(first, box, len(count))
    low = first[kinds.first_row]
    length = first[kinds.first_row + 1] - low
    kind_first = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    edges = np.arange(kind_first[-1]) + np.repeat(low - kind_first[:-1], length)
    kind_box = box[edges]
    of_kind = np.bincount(kinds.class_of_row, supply, kinds.count).astype(np.int64)
    flow = greatest_flow(count, of_kind, kind_first, kind_box)
    if flow.sum() < count.sum():
        return None
    usable = usable_edges(len(count), kind_first, kind_box, flow)
    shift = kind_first[kinds.class_of_row] - first[:-1]
    found: NDArray[np.bool_] = usable[np.arange(len(box)) + np.repeat(shift, np.diff(first))]
    return found


def impossible_values(sets: Sets, codes: Ints32, possible: PossibleRows) -> NDArray[np.bool_]:
    """Return which entries of the sets no possible row of their group has."""
    values = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    impossible = np.zeros(len(sets.value), np.bool_)
    row_group = np.repeat(np.arange(sets.groups), np.diff(possible.start))
    for attribute, width in enumerate(values.tolist()):
        first = sets.start[attribute * sets.groups]
        start, _ = sets.of(attribute)
        for part in stretches(np.full(sets.groups, width), 2**24):
            within = slice(possible.start[part.start], possible.start[part.stop])
            occurs = np.zeros((part.stop - part.start, width), np.bool_)
            occurs[row_group[within] - part.start, codes[possible.row[within], attribute]] = True
            group = np.repeat(np.arange(len(occurs)), np.diff(start)[part])
            entries = slice(first + start[part.start], first + start[part.stop])
            impossible[entries] = ~occurs[group, sets.value[entries]]
    return impossible


def rows_by_value(
    sets: Sets, codes: Ints32, known: int, possible: PossibleRows
) -> tuple[Ints, Ints]:
    """The possible rows by the entries of an attribute's sets: where each begins, the order."""
    start, value = sets.of(known)
    width = int(codes[:, known].max(initial=0)) + 1
    entry = np.repeat(np.arange(sets.groups), np.diff(start)) * width + value
    group = np.repeat(np.arange(sets.groups), np.diff(possible.start))
    key = group * width + codes[possible.row, known]
    order = np.argsort(key, kind="stable")
    ends = np.searchsorted(key[order], entry, side="right")
    return np.concatenate(([0], ends)).astype(np.int64), order


# Compiled: called by the kernel below, twice for every step of its descent.
@kernel
def _first_at_least(
    codes: Ints32, order: Ints32, attribute: int, low: int, high: int, value: int
) -> int:
    while low < high:
        middle = (low + high) // 2
        if codes[order[middle], attribute] < value:
            low = middle + 1
        else:
            high = middle
    return low


# Compiled: descends through the ordered signatures for every value of every group.
@kernel(work=20)
def _supporting_rows(
    start: Ints,
    value: Ints32,
    groups: int,
    codes: Ints32,
    order: Ints32,  # of the signatures, by their values of the attributes in turn
    attributes: Ints,  # the known one first
    base: Ints,  # (attributes + 1,) where the values of each start among all
    limit: int,
) -> tuple[Ints, Ints32]:
    """Descend through the ordered signatures, one attribute after the other.

    Returns where the signatures of each entry begin, and them, followed by unused places.
    """
    stamp = np.full(base[len(base) - 1], -1, np.int32)
    known, depth = attributes[0], len(attributes)
    begin = np.zeros(start[(known + 1) * groups] - start[known * groups] + 1, np.int64)
    found = np.empty(max(4 * len(begin), 1024), np.int32)
    edges, slot = 0, 0
    widest = np.int64(1)
    for which in range((len(base) - 1) * groups):
        widest = max(widest, start[which + 1] - start[which])
    stack = np.empty((depth * widest + 1, 3), np.int64)
    for group in range(groups):
        for attribute in range(depth):
            which = attribute * groups + group
            for entry in range(start[which], start[which + 1]):
                if value[entry] < base[attribute + 1] - base[attribute]:
                    stamp[base[attribute] + value[entry]] = group
        for entry in range(start[known * groups + group], start[known * groups + group + 1]):
            low = _first_at_least(codes, order, known, 0, len(order), value[entry])
            high = _first_at_least(codes, order, known, low, len(order), value[entry] + 1)
            stack[0, 0], stack[0, 1], stack[0, 2] = 1, low, high
            height = 1
            while height:
                height -= 1
                level, low, high = stack[height, 0], stack[height, 1], stack[height, 2]
                if level == depth or high - low <= SCANNED:
                    for place in range(low, high):
                        within = True
                        for a in range(level, depth):
                            at = base[attributes[a]] + codes[order[place], attributes[a]]
                            if stamp[at] != group:
                                within = False
                                break
                        if within:
                            if edges == len(found):
                                found = lengthened(found, 2 * edges)
                            found[edges] = order[place]
                            edges += 1
                    continue
                which = attributes[level] * groups + group
                for i in range(start[which + 1] - 1, start[which] - 1, -1):  # the least comes first
                    one = _first_at_least(codes, order, attributes[level], low, high, value[i])
                    end = _first_at_least(codes, order, attributes[level], one, high, value[i] + 1)
                    if one < end:
                        stack[height, 0] = level + 1
                        stack[height, 1], stack[height, 2] = one, end
                        height += 1
            slot += 1
            begin[slot] = edges
            if edges > limit:
                for rest in range(slot, len(begin)):
                    begin[rest] = edges
                return begin, found
    return begin, found
