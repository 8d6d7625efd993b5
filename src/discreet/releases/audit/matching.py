"""How many published rows remain unmatched, however they are matched to rows of the original.

Where cells of a column overlap (local recoding, pooled classes, relaxed cuts) an original row may
be published in several ways, and whether nothing was invented is a question of matching: every
published row needs a row of the original of its own that all its cells cover. Both sides are
compressed to their distinct combinations. The combinations that cover an original one are found
among those with equal sensitive values where these are few, else by a tree of bounding boxes. The
matching is a greatest flow from one side to the other, so the answer is exact. The search stops
after ``EDGE_LIMIT`` pairs; the answer is then unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from discreet.hierarchies.coverage import Coverage
from discreet.methods.base import Task
from discreet.releases.audit.tracing import coverage_of
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable
from discreet.table.graphs import greatest_flow
from discreet.table.kernels import kernel
from discreet.table.kernels.lengthening import lengthened
from discreet.table.kernels.lists import entries_of, stable_order, starts_of, stretches
from discreet.table.roles import Role
from discreet.typing import Bools, Codes, Ints

EDGE_LIMIT = 50_000_000
PAIRS = 2**23  # of combinations that are compared without a tree
LEAF = 8  # boxes in a leaf of the tree


class Side(NamedTuple):
    """Distinct combinations of one side."""

    codes: Codes  # (combinations, columns)
    rows: Ints  # (combinations,) how many have each


class Runs(NamedTuple):
    """The codes that the cells of all columns cover, one column after another."""

    first_cell: Ints  # (columns,) where a column's cells start in the next
    first_run: Ints  # (cells + 1,)
    low: Ints  # (runs,) codes of the original
    high: Ints  # (runs,) not included


class BoxTree(NamedTuple):
    """Boxes in a tree; a node without children holds a range of ``order``."""

    order: Ints  # (boxes,)
    start: Ints  # (nodes,)
    end: Ints  # (nodes,)
    child: Ints  # (nodes,) the first of two children, which follow each other; −1 for a leaf
    low: Ints  # (nodes, columns)
    high: Ints  # (nodes, columns)


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
        runs = _runs(coverages, exact.tolist())
        tree = _build(*_hulls(ours.codes, runs))
        found = _find_covering(theirs.codes, ours.codes, runs, tree, EDGE_LIMIT)
    first, box = found
    if len(first) <= len(theirs.rows):
        return None
    flow = greatest_flow(ours.rows, theirs.rows, first, box.astype(np.int32))
    return int(ours.rows.sum() - flow.sum())


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


def _runs(coverages: list[Coverage], sharp: list[bool]) -> Runs:
    """The runs of all columns; a sharp one's original is coded by cells, so each covers itself."""
    first_cell, lengths, low, high = [], [], [], []
    cells = 0
    for coverage, is_sharp in zip(coverages, sharp, strict=True):
        first_cell.append(cells)
        cells += coverage.cells
        if is_sharp:
            numbers = np.arange(coverage.cells)
            lengths.append(np.ones(coverage.cells, np.int64))
            low.append(numbers)
            high.append(numbers + 1)
        else:
            lengths.append(np.bincount(coverage.cell_of_run, minlength=coverage.cells))
            low.append(coverage.low)
            high.append(coverage.high)
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return Runs(
        np.array(first_cell, np.int64),
        starts.astype(np.int64),
        np.concatenate(low).astype(np.int64),
        np.concatenate(high).astype(np.int64),
    )


def _hulls(cells: Codes, runs: Runs) -> tuple[Ints, Ints]:
    """The least and greatest code that each combination of cells covers, by column."""
    least = np.minimum.reduceat(runs.low, runs.first_run[:-1])
    greatest = np.maximum.reduceat(runs.high, runs.first_run[:-1]) - 1
    number = cells + runs.first_cell
    return least[number], greatest[number]


def _build(low: Ints, high: Ints) -> BoxTree:
    """Halve the boxes by their centres, along the column where these are spread widest.

    All nodes of a depth are halved at once.
    """
    order = np.arange(len(low))
    domain = high.max(axis=0, initial=1)
    start, end = np.zeros(1, np.int64), np.array([len(low)])
    levels = []
    nodes = 1
    while len(start):
        first = starts_of(end - start)
        node = np.repeat(np.arange(len(start)), end - start)
        place = np.arange(first[-1]) + (start - first[:-1])[node]
        box = order[place]
        centre = low[box] + high[box]
        least, greatest = (
            reduce.reduceat(centre, first[:-1]) for reduce in (np.minimum, np.maximum)
        )
        spread = (greatest - least) / domain
        halved = (end - start > LEAF) & (spread.max(axis=1) > 0)
        child = np.full(len(start), -1)
        child[halved] = nodes + 2 * np.arange(halved.sum())
        nodes += 2 * int(halved.sum())
        hull = np.minimum.reduceat(low[box], first[:-1]), np.maximum.reduceat(high[box], first[:-1])
        levels.append((start, end, child, *hull))
        inside = np.flatnonzero(halved[node])
        node = node[inside]
        by_centre = np.lexsort((centre[inside, spread.argmax(axis=1)[node]], node))
        order[place[inside]] = box[inside][by_centre]
        begin, finish = start[halved], end[halved]
        middle = (begin + finish) // 2
        start, end = np.stack([begin, middle], 1).ravel(), np.stack([middle, finish], 1).ravel()
    return BoxTree(order, *(np.concatenate(part) for part in zip(*levels, strict=True)))


# Compiled: a search through a tree for every distinct row.
@kernel
def _find_covering(
    points: Codes, cells: Codes, runs: Runs, tree: BoxTree, limit: int
) -> tuple[Ints, Ints]:
    """Find for each point the boxes whose cells cover it in every column, up to the limit."""
    count, columns = points.shape
    first = np.zeros(count + 1, np.int64)
    box_of_edge = np.empty(max(4 * count, 1024), np.int64)
    edges = 0
    stack = np.empty(len(tree.child) + 1, np.int64)
    for point in range(count):
        stack[0] = 0
        depth = 1
        while depth:
            depth -= 1
            node = stack[depth]
            inside = True
            for c in range(columns):
                if not tree.low[node, c] <= points[point, c] <= tree.high[node, c]:
                    inside = False
                    break
            if not inside:
                continue
            if tree.child[node] >= 0:
                stack[depth] = tree.child[node]
                stack[depth + 1] = tree.child[node] + 1
                depth += 2
                continue
            for i in range(tree.start[node], tree.end[node]):
                box = tree.order[i]
                covered = True
                for c in range(columns):
                    cell = runs.first_cell[c] + cells[box, c]
                    found = False
                    for run in range(runs.first_run[cell], runs.first_run[cell + 1]):
                        found |= runs.low[run] <= points[point, c] < runs.high[run]
                    if not found:
                        covered = False
                        break
                if covered:
                    if edges == limit:
                        return first[:point], box_of_edge[:edges]
                    if edges == len(box_of_edge):
                        box_of_edge = lengthened(box_of_edge, 2 * edges)
                    box_of_edge[edges] = box
                    edges += 1
        first[point + 1] = edges
    return first, box_of_edge[:edges]
