"""Complete assignments of people to rows of T^S, the sensitive table of a decomposed release.

A release says of each group how many people it has and, for each attribute, the set of values that
they may have. Every primary value of the set occurs in the group; others may be noise. So a world
that the release allows gives every person a row of T^S within the sets of the person's group, uses
every row once, and gives each primary value of a group to at least one person of it. An attacker
rules out values that no such world has.

That takes no enumeration. Each primary value of a group is a point with one person, and the further
people of a group, where it has more people than primary values, are one more point. Distinct rows
of T^S (signatures) are boxes with their counts. Points with the same possible rows are one point.
Worlds are the complete flows of this graph. A row is possible for a point if some complete flow
uses the edge between them; ``graphs.components_of_flow`` tells from any one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.table.budgets import AT_ONCE, IN_CACHE, MOST_ENTRIES, TABLE_CELLS
from discreet.table.classes import group_lists
from discreet.table.code_maps import taken
from discreet.table.coded_table import Derives, Itself
from discreet.table.graphs import components_of_flow, greatest_flow
from discreet.table.kernels.lists import (
    are_in,
    count_bits,
    entries_of,
    places_of,
    starts_of,
    stretches,
)
from discreet.typing import AnyInts, Bools, Bytes, Ints, Ints32, Words

FEW_VALUES = 512  # of an attribute whose sets have a bit for each


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

    def words(self, attribute: int) -> Words | None:
        """Return the sets of one attribute as bits; None if it has too many values."""
        start, value = self.of(attribute)
        if int(value.max(initial=0)) >= FEW_VALUES:
            return None
        return self.once(("words", attribute), lambda: set_words(start, value))

    def hold(self, attribute: int, group: AnyInts, value: AnyInts) -> Bools:
        """Return whether the set of each group has each value, which may be −1 for none."""
        if self.words(attribute) is None:
            return are_in(*self.of(attribute), group, value)
        bits = self.once(("bits", attribute), lambda: self._bits(attribute))
        width = bits.shape[1]
        bit = np.append(np.left_shift(1, np.arange(8 * width) & 7), 0).astype(np.uint8)
        held = np.empty(len(group), np.bool_)
        for first in range(0, len(group), IN_CACHE):
            part = slice(first, first + IN_CACHE)
            wanted = np.minimum(value[part].astype(np.uint32), 8 * width)  # −1 is beyond all
            place = group[part] * np.int64(width)
            place += wanted >> 3
            words = bits.reshape(-1).take(place, mode="clip")
            words &= bit.take(wanted)
            np.not_equal(words, 0, out=held[part])
        return held

    def _bits(self, attribute: int) -> Bytes:
        """Return the sets of one attribute in as few bytes as its values need, a line for each."""
        words = self.words(attribute)
        assert words is not None
        width = int(self.of(attribute)[1].max(initial=0)) // 8 + 1
        lines = words.astype("<u8", copy=False).view(np.uint8).reshape(len(words), -1)
        return np.ascontiguousarray(lines[:, :width])


def set_words(start: Ints, value: AnyInts) -> Words:
    """Return the sets as words of 64 bits, a line for each: bit i is set if value i is in it."""
    count = int(value.max(initial=0)) // 64 + 1
    words = np.zeros((len(start) - 1, count), np.uint64)
    if len(value):
        line = np.repeat(np.arange(len(start) - 1) * count, np.diff(start))
        line += value >> 6
        begins = np.flatnonzero(np.diff(line, prepend=-1))  # values ascend in each set
        bit = np.left_shift(np.uint64(1), (value & 63).astype(np.uint64))
        words.reshape(-1)[line[begins]] = np.bitwise_or.reduceat(bit, begins)
    return words


class World(NamedTuple):
    """One assignment of all people, as the publisher knows it."""

    group: Ints32  # (people,)
    signature: Ints32  # (people,)


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
    attributes = most_various_first(codes, known)
    order = np.lexsort(codes[:, attributes[::-1]].T).astype(np.int32)
    width = codes.max(axis=0, initial=-1).astype(np.int64)[attributes] + 1
    levels, _ = prefix_levels(codes[order][:, attributes], width)
    begin, rows = _supporting_rows(
        sets.start, sets.value, sets.groups, attributes, width, *levels, order, limit
    )
    return begin, rows if begin[-1] <= limit else None


def most_various_first(codes: Ints32, known: int) -> Ints:
    """Return the known attribute, then the others by the number of their values."""
    several = [len(np.unique(codes[:, a])) if a != known else 0 for a in range(codes.shape[1])]
    return np.array(sorted(range(len(several)), key=lambda a: (a != known, -several[a])))


def prefix_levels(codes: Ints32, width: Ints) -> tuple[tuple[Ints, Ints, Ints32, Ints], Ints]:
    """Return the prefixes of ordered signatures, by length, and a table of them where it is small.

    A prefix is its number among those that are one value shorter, times the values of the
    attribute, plus its value. Where the table of a length starts is −1 if there is none. Also
    returned is the number of each signature's longest prefix.
    """
    keys, tables, table_start = [], [], []
    shorter, count, used = np.zeros(len(codes), np.int64), 1, 0
    for attribute, values in enumerate(width.tolist()):
        key = shorter * values + codes[:, attribute]
        begins = np.diff(key, prepend=-1) > 0
        shorter = np.cumsum(begins) - 1
        keys.append(key[begins])
        table_start.append(used if count * values <= AT_ONCE else -1)
        if count * values <= AT_ONCE:
            table = np.full(count * values, -1, np.int32)
            table[keys[-1]] = np.arange(len(keys[-1]))
            tables.append(table)
            used += len(table)
        count = len(keys[-1])
    ends = starts_of(np.array([len(key) for key in keys], np.int64))
    table = np.concatenate((*tables, np.zeros(0, np.int32)))
    return (np.concatenate(keys), ends, table, np.array(table_start, np.int64)), shorter


def possible_rows(
    sets: Sets,
    codes: Ints32,
    count: Ints,
    primary: int,
    size: Ints,
    limit: int = MOST_ENTRIES,
    supporting: tuple[Ints, Ints32 | None] | None = None,
    world: World | None = None,
) -> PossibleRows | None:
    """Return the rows of each group's people in some world; None where the graph passes a limit.

    ``codes`` and ``count`` are of the signatures, ``size`` has the people of each group;
    ``supporting`` are the rows within the sets by primary values, where they are known. A world
    that is known is checked, and saves the search for one.
    """
    # The edges: from the point of each primary value of a group to the rows within its sets.
    begin, row = supporting or supporting_rows(sets, codes, primary, limit)
    if row is None:
        return None
    start, _ = sets.of(primary)
    group_start = begin[start]
    # Groups with more people than primary values have one more point for the others.
    further = size - np.diff(start)
    crowded = np.flatnonzero(further > 0)
    first, box, again = begin, row, np.zeros(0, np.int64)
    if len(crowded):  # the edges of further people are those of their group
        again, _ = entries_of(group_start, crowded)
        first = np.concatenate((begin, begin[-1] + np.cumsum(np.diff(group_start)[crowded])))
        box = np.concatenate((row, row[again]))
    # Components of the residual graph of a world; the known one, or one that is searched.
    parts = None
    if (further >= 0).all() and size.sum() == count.sum():
        sent = flow_of_world(sets, codes, count, primary, size, world) if world else None
        if sent is not None:
            parts = components_of_flow(len(count), first, box, *sent)
        else:
            supply = np.concatenate((np.ones(len(begin) - 1, np.int64), further[crowded]))
            parts = _searched(first, box, supply, count)
    if parts is None:
        return PossibleRows(np.zeros(sets.groups + 1, np.int64), row[:0], False)
    # A row is possible for a point in the same component.
    part, part_of_box = parts
    possible = np.repeat(part, np.diff(first)) == part_of_box[box]
    if len(crowded):
        possible[again] |= possible[len(row) :]
        possible = possible[: len(row)]
    impossible = np.flatnonzero(~possible)
    if not len(impossible):
        return PossibleRows(group_start, row, True)
    first_possible = group_start - np.searchsorted(impossible, group_start)
    return PossibleRows(first_possible, row[possible], True)


def flow_of_world(
    sets: Sets, codes: Ints32, count: Ints, primary: int, size: Ints, world: World
) -> tuple[Ints, Ints32] | None:
    """Return the points of all people and their signatures in a world; None unless it is one."""
    group, signature = world
    if not np.array_equal(np.bincount(group, minlength=len(size)), size):
        return None
    if not np.array_equal(np.bincount(signature, minlength=len(count)), count):
        return None
    if not are_within(sets, codes, world):
        return None
    start, _ = sets.of(primary)
    point = _entry_of_value(sets, primary, group, taken(codes[:, primary].copy(), signature))
    has_person = np.zeros(start[-1], np.bool_)
    has_person[point] = True
    if not has_person.all():  # a primary value that no person has
        return None
    if len(has_person) < len(point):
        person_of_point = np.empty(len(has_person), np.int64)
        person_of_point[point] = np.arange(len(point))
        others = np.ones(len(point), np.bool_)
        others[person_of_point] = False
        crowded = np.flatnonzero(size > np.diff(start))
        point[others] = len(person_of_point) + np.searchsorted(crowded, group[others])
    return point, signature


def are_within(sets: Sets, codes: Ints32, world: World) -> bool:
    """Return whether every person has a row within the sets of the group; found once for these."""

    def find() -> bool:
        columns = (taken(column.copy(), world.signature) for column in codes.T)
        return all(sets.hold(i, world.group, values).all() for i, values in enumerate(columns))

    return sets.once(("within", Itself(codes), Itself(world)), find)


def _entry_of_value(sets: Sets, attribute: int, group: AnyInts, value: AnyInts) -> Ints:
    """Return the entry of each value in the set of its group, which has it."""
    start, listed = sets.of(attribute)
    words = sets.words(attribute)
    if words is None:
        values = int(listed.max(initial=0)) + 1
        key = np.repeat(np.arange(sets.groups) * values, np.diff(start)) + listed
        return np.searchsorted(key, group * np.int64(values) + value)
    ones, width = count_bits(words.reshape(-1)).reshape(words.shape), words.shape[1]
    begin = (start[:-1, None] + np.cumsum(ones, axis=1, dtype=np.int64) - ones).reshape(-1)
    below = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64)) - np.uint64(1)
    entry = np.empty(len(group), np.int64)
    for first in range(0, len(group), IN_CACHE):
        part = slice(first, first + IN_CACHE)
        place = group[part] * np.int64(width)
        place += value[part] >> 6
        before = words.reshape(-1).take(place) & below.take(value[part] & 63)
        np.add(begin.take(place), count_bits(before), out=entry[part])
    return entry


def _searched(first: Ints, box: Ints32, supply: Ints, count: Ints) -> tuple[Ints32, Ints32] | None:
    """Return the component of each point and box, by kinds of points; None without a flow."""
    kinds = group_lists(first, box, len(count))
    edges, _ = entries_of(first, kinds.first_row)
    kind_first = starts_of(np.diff(first)[kinds.first_row])
    kind_box = box[edges]
    of_kind = np.bincount(kinds.class_of_row, supply, kinds.count).astype(np.int64)
    flow = greatest_flow(count, of_kind, kind_first, kind_box)
    if flow.sum() < count.sum():
        return None
    sends = np.flatnonzero(flow > 0)
    sender = np.searchsorted(kind_first, sends, side="right") - 1
    part, part_of_box = components_of_flow(
        len(count), kind_first, kind_box, sender, kind_box[sends]
    )
    return part[kinds.class_of_row], part_of_box


def impossible_values(sets: Sets, codes: Ints32, possible: PossibleRows) -> Bools:
    """Return which entries of the sets no possible row of their group has."""
    impossible = np.zeros(len(sets.value), np.bool_)
    row_group = np.repeat(np.arange(sets.groups), np.diff(possible.start))
    for attribute, values in enumerate(codes.T):
        first = sets.start[attribute * sets.groups]
        start, value = sets.of(attribute)
        width = 1 + max(int(values.max(initial=-1)), int(value.max(initial=-1)))
        for part in stretches(np.full(sets.groups, width), TABLE_CELLS):
            within = slice(possible.start[part.start], possible.start[part.stop])
            occurs = np.zeros((part.stop - part.start, width), np.bool_)
            occurs[row_group[within] - part.start, codes[possible.row[within], attribute]] = True
            group = np.repeat(np.arange(len(occurs)), np.diff(start)[part])
            entries = slice(first + start[part.start], first + start[part.stop])
            impossible[entries] = ~occurs[group, sets.value[entries]]
    return impossible


def sets_of_groups(sets: Sets, groups: AnyInts) -> tuple[Ints, Sets]:
    """Return the entries of some groups' sets, and the sets of these groups alone."""
    attributes = (len(sets.start) - 1) // max(sets.groups, 1)
    lists = (np.arange(attributes)[:, None] * sets.groups + groups).reshape(-1)
    entries, _ = entries_of(sets.start, lists)
    return entries, Sets(starts_of(np.diff(sets.start)[lists]), sets.value[entries], len(groups))


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


def _supporting_rows(
    start: Ints,
    value: Ints32,
    groups: int,
    attributes: Ints,
    width: Ints,
    keys: Ints,
    key_start: Ints,
    table: Ints32,
    table_start: Ints,
    order: Ints32,
    limit: int,
) -> tuple[Ints, Ints32]:
    """Extend the prefixes of all entries by one attribute after the other.

    Returns where the signatures of each entry begin, and them.
    """
    known = attributes[0] * groups
    length = np.diff(start).reshape(len(attributes), -1)
    group = np.repeat(np.arange(groups), length[attributes[0]])
    combinations = length[attributes[1:]].prod(axis=0)[group]
    count, rows = np.zeros(len(group), np.int64), [order[:0]]
    for part in stretches(combinations):
        entry, member = np.arange(part.start, part.stop), start[known] + np.arange(len(group))[part]
        prefix = np.zeros(len(entry), np.int64)
        for level, attribute in enumerate(attributes):
            if level:
                member, before = entries_of(start, attribute * groups + group[entry])
                entry, prefix = entry[before], prefix[before]
            candidate = value[member]
            inside = np.flatnonzero(candidate < width[level])
            entry, key = entry[inside], prefix[inside] * width[level] + candidate[inside]
            if table_start[level] >= 0:
                number = table[table_start[level] + key]
            else:
                number = places_of(keys[key_start[level] : key_start[level + 1]], key)
            entry, prefix = entry[number >= 0], number[number >= 0].astype(np.int64)
        count += np.bincount(entry, minlength=len(group))
        rows.append(order[prefix])
        if count.sum() > limit:
            break
    return starts_of(count), np.concatenate(rows)
