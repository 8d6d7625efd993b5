"""The groups in which all groups together rule out rows of T^S, found from a known world.

People and rows are points and boxes (``assignments``). A row is possible for a point if both are
in one component of the residual graph of that world: a point leads to all boxes within its sets, a
box to the points that have it. The edges are some dozens for each person, and nearly all of them
lie within a few large components. So most are never listed:

1. A few people of each box, with their edges, give components that lie within those of the whole
   graph. Of each primary value the largest is the main one; other boxes are apart.
2. The point of a primary value leads to boxes with this value alone. So an edge between different
   components leads from or to a box that is apart, or from the further people of a group. These
   edges are listed, and together with the components of step 1 they decide those of the graph.
3. A row within the sets of a group is ruled out if such an edge leads to another component. Only
   the groups that have one are looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.table.assignments import (
    PossibleRows,
    Sets,
    World,
    flow_of_world,
    sets_of_groups,
    supporting_rows,
)
from discreet.table.budgets import IN_CACHE, MOST_ENTRIES
from discreet.table.code_maps import taken
from discreet.table.graphs import components_of_flow
from discreet.table.kernels.lists import entries_of, stable_order, starts_of
from discreet.typing import Bools, Ints, Ints32

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
