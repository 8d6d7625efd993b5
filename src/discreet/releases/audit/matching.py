"""How many published rows remain unmatched, however they are matched to rows of the original.

Where cells of a column overlap (local recoding, pooled classes, relaxed cuts) an original row may
be published in several ways, and whether nothing was invented is a question of matching: every
published row needs a row of the original of its own that all its cells cover. Both sides are
compressed to their distinct combinations. The combinations that cover an original one are found
among those with equal sensitive values where these are few, else among those whose overlapping
cells cover it (``covering_classes``). The matching is a greatest flow from one side to the other,
so the answer is exact. The search stops after so many pairs; the answer is then unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import fitting_groups
from discreet.methods.base import Task
from discreet.releases.audit.tracing import coverage_of
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable
from discreet.table.graphs import greatest_flow, smallest_connected
from discreet.table.kernels.lists import (
    entries_of,
    places_of,
    stable_order,
    starts_of,
    stretches,
)
from discreet.table.roles import Role
from discreet.typing import Bools, Codes, Ints

PAIRS = 2**23  # of combinations with equal cells that are compared


class Side(NamedTuple):
    """Distinct combinations of one side."""

    codes: Codes  # (combinations, columns)
    rows: Ints  # (combinations,) how many have each


def unmatched_rows(records: CodedTable, task: Task, levels: Mapping[str, int]) -> int | None:
    """The least number of published rows that match no row of the original; None if unknown."""
    unmatched = (Role.QUASI_SENSITIVE, Role.STRUCTURE)
    columns = [column for column in records if column.role not in unmatched]
    if not columns:  # sets may have lost terms, which is checked elsewhere
        return max(records.rows - task.table.rows, 0)
    coverages = [coverage_of(column, task, levels) for column in columns]
    sharp = [coverage.sole_cell() for coverage in coverages]
    published, original = [], []
    of_original, cardinalities = [], []
    for column, sole, coverage in zip(columns, sharp, coverages, strict=True):
        source = task.table[column.name]
        published.append(column)
        if sole is None:
            original.append(source.codes)
            of_original.append(source.cardinality)
        else:  # an original row can be published in one cell alone
            absent = np.int64(column.cardinality)
            cell = np.where(sole < 0, absent, sole).astype(np.int32)
            original.append(cell.take(source.codes))
            of_original.append(column.cardinality + 1)
        cardinalities.append(coverage.cells)
    ours = _distinct([column.codes for column in published], cardinalities, records.rows)
    theirs = _distinct(original, of_original, task.table.rows)
    if all(sole is not None for sole in sharp):
        return _excess(ours, theirs, of_original)
    if not len(ours.rows):
        return 0
    exact = np.array([sole is not None for sole in sharp])
    found = _joined(ours, theirs, coverages, exact, of_original)
    if found is None:
        quasi = np.array([column.role is Role.QUASI_IDENTIFIER for column in columns])
        found = _fitting(ours, theirs, coverages, exact, quasi, of_original)
    if found is None:
        return None
    first, box = found
    return _unserved(ours.rows, theirs.rows, first, box)


def _unserved(demand: Ints, supply: Ints, first: Ints, box: Ints) -> int:
    """Return what a greatest flow from the points leaves of the boxes' demand.

    A first flow serves the boxes of most components; only in the others is a greatest one sought.
    """
    point = np.repeat(np.arange(len(supply)), np.diff(first))
    wanted, left = demand.copy(), supply.copy()
    live = np.arange(len(box))
    while len(live):
        edges, choices = np.bincount(point[live]), np.bincount(box[live])
        live = live[np.lexsort((choices[box[live]], point[live]))]
        sent = live[np.flatnonzero(np.diff(point[live], prepend=-1))]  # to the box of least choice
        sent = sent[np.lexsort((edges[point[sent]], box[sent]))]  # who has least choice first
        to, gives = box[sent], left[point[sent]]
        reached = starts_of(gives)
        taken = np.clip(wanted[to] - (reached[:-1] - reached[np.searchsorted(to, to)]), 0, gives)
        left[point[sent]] -= taken
        wanted -= np.bincount(to, taken, len(wanted)).astype(np.int64)
        live = live[(wanted[box[live]] > 0) & (left[point[live]] > 0)]
    part = smallest_connected(len(demand) + len(supply), box, len(demand) + point)
    is_open = np.zeros(len(part), bool)
    is_open[part[np.flatnonzero(wanted)]] = True
    if not is_open.any():
        return 0
    boxes, points = (np.flatnonzero(one) for one in np.split(is_open[part], [len(demand)]))
    edge, place = entries_of(first, points)
    number = np.cumsum(is_open[part]) - 1
    start = starts_of(np.bincount(place, minlength=len(points)))
    flow = greatest_flow(demand[boxes], supply[points], start, number[box[edge]].astype(np.int32))
    return int(demand[boxes].sum() - flow.sum())


def excess_problems(excess: int | None, rows: int, table: str) -> list[str]:
    """Return the problem of rows of a table that remain unmatched."""
    if excess is None:
        return [
            f"cells of '{table}' overlap so much that its rows can't be matched to the original"
        ]
    if not excess:
        return []
    return [f"{excess} of {rows} rows of '{table}' correspond to no row of the original"]


def _distinct(codes: list[Codes], cardinalities: list[int], rows: int) -> Side:
    found = group_codes(codes, cardinalities, rows)
    chosen = [column[found.first_row] for column in codes]
    return Side(np.ascontiguousarray(np.array(chosen, np.int32).T), found.size)


def _excess(ours: Side, theirs: Side, cardinalities: list[int]) -> int:
    """Return the excess of published over original rows, for cells that do not overlap."""
    both = np.concatenate((ours.codes, theirs.codes))
    columns = [np.ascontiguousarray(column) for column in both.T]
    combined = group_codes(columns, cardinalities, len(both))
    of_ours = combined.class_of_row[: len(ours.rows)]
    of_theirs = combined.class_of_row[len(ours.rows) :]
    seen = np.bincount(of_ours, ours.rows, combined.count)
    held = np.bincount(of_theirs, theirs.rows, combined.count)
    return int(np.maximum(seen - held, 0).sum())


def _joined(
    ours: Side, theirs: Side, coverages: list[Coverage], exact: Bools, cardinalities: list[int]
) -> tuple[Ints, Ints] | None:
    """Find the boxes that cover each point among those equal to it in all columns without overlap.

    None where these are more than ``PAIRS``.
    """
    equal = np.concatenate((ours.codes, theirs.codes))[:, exact]
    columns = [np.ascontiguousarray(column) for column in equal.T]
    widths = [cardinalities[c] for c in np.flatnonzero(exact)]
    keys = group_codes(columns, widths, len(equal))
    of_ours, of_theirs = np.split(keys.class_of_row, [len(ours.rows)])
    held = np.bincount(of_ours, minlength=keys.count)
    if held[of_theirs].sum() > PAIRS:
        return None
    start, order = starts_of(held), stable_order(of_ours, keys.count)
    boxes, points = [order[:0]], [order[:0]]
    for part in stretches(held[of_theirs]):
        entry, place = entries_of(start, of_theirs[part])
        box, point = order[entry], part.start + place
        for c in np.flatnonzero(~exact):
            covered = coverages[c].covers(ours.codes[box, c], theirs.codes[point, c])
            box, point = box[covered], point[covered]
        boxes.append(box)
        points.append(point)
    covering = np.bincount(np.concatenate(points), minlength=len(theirs.rows))
    return starts_of(covering), np.concatenate(boxes)


def _fitting(
    ours: Side,
    theirs: Side,
    coverages: list[Coverage],
    exact: Bools,
    quasi: Bools,
    cardinalities: list[int],
) -> tuple[Ints, Ints] | None:
    """Find the boxes that cover each point by the groups of boxes that its quasi-identifiers fit.

    None where these pairs are too many.
    """
    fitted = np.flatnonzero(quasi | ~exact)
    seen = [_itself(cardinalities[c]) if exact[c] else coverages[c] for c in fitted]
    group, group_of_box = _numbered(ours.codes[:, fitted], [one.cells for one in seen])
    kind, kind_of_point = _numbered(theirs.codes[:, fitted], [one.cardinality for one in seen])
    found = fitting_groups(seen, list(kind.T.copy()), list(group.T.copy()))
    if found is None:
        return None
    start, group_of_edge = found
    rest = np.flatnonzero(exact & ~quasi)
    both = np.concatenate((ours.codes, theirs.codes))[:, rest]
    equal = group_codes(
        [np.ascontiguousarray(column) for column in both.T],
        [cardinalities[c] for c in rest],
        len(both),
    )
    of_ours, of_theirs = np.split(equal.class_of_row.astype(np.int64), [len(ours.rows)])
    key = group_of_box.astype(np.int64) * equal.count + of_ours  # of one box each
    order = np.argsort(key)
    boxes, covering = [order[:0]], np.zeros(len(theirs.rows), np.int64)
    for part in stretches(np.diff(start)[kind_of_point]):
        edge, place = entries_of(start, kind_of_point[part])
        wanted = group_of_edge[edge].astype(np.int64) * equal.count + of_theirs[part][place]
        at = places_of(key[order], wanted)
        boxes.append(order[at[at >= 0]])
        covering[part] = np.bincount(place[at >= 0], minlength=len(covering[part]))
    return starts_of(covering), np.concatenate(boxes)


def _itself(cells: int) -> Coverage:
    """The coverage of cells of which each covers itself."""
    every = np.arange(cells)
    return Coverage(cells, cells, every, every, every + 1)


def _numbered(codes: Codes, cardinalities: list[int]) -> tuple[Codes, Codes]:
    """Return the distinct rows of codes, and the number of each row's among these."""
    columns = [np.ascontiguousarray(column) for column in codes.T]
    found = group_codes(columns, cardinalities, len(codes))
    return codes[found.first_row], found.class_of_row
