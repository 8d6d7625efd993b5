"""Mondrian: the table is cut in ever smaller parts as long as all of them keep the promise.

LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity"; the cuts of attributes
with a hierarchy after their "Workload-aware anonymization".

=============================  ================================================================
papers                         here
=============================  ================================================================
multidimensional region        a part: a range of units (``regions``)
allowable cut                  every piece passes ``Requirement.passes`` for every requirement
strict, relaxed partitioning   ``cuts: strict`` (units are distinct tuples), ``relaxed`` (rows)
choose_dimension               widest first, by the share of the domain that the part spans
summary statistic              ``tight_cells``: lowest common ancestor, closed range, or set
=============================  ================================================================

Departures. (1) Parts are cut in rounds, all open ones at once, so that requirements judge the
pieces of a round together on their counts: no requirement is written twice, and any class
requirement can be asked for. Those that compare with the table are given the table's own counts as
reference.
(2) A table is first compressed to its distinct tuples; strict cuts never tear one, so after that
the number of rows does not matter. (3) A hierarchy is cut at the children of the lowest
common ancestor; children that fail alone are pooled into one piece, and if the pool fails too,
passing children join it, the smallest first, twice as many each time. So one small child does not
forbid a cut. (4) A numeric cut that is not allowed is tried once more on the other side of the
median. (5) Missing values are first cut apart from numbers. (6) Widths: a hierarchy's loss of the
common ancestor; for numbers their range over the table's; for text without a hierarchy the span in
the order of the dictionary over all values.

Every cut only ever splits, so at the end no part can be cut by the cuts that are tried. All
classes are judged once more before they are returned.

Cost: O(distinct tuples · attributes · depth); depth is about log2(tuples / k).

With ``cells: blind``, cells are the regions between the cuts, whatever the rows of a class span. A
tight cell says that the rows of its class reach both of its ends. A region says only that they
lie in it: its bounds are those of a hierarchy's nodes, which were fixed before any class was seen.
A cut gives each piece the child node that it was cut off at; pieces of several pooled children
keep the region of the part that was cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from discreet.errors import InputError
from discreet.hierarchies.automatic import AUTOMATIC
from discreet.hierarchies.hierarchy import Hierarchy, public_place
from discreet.methods.base import Ability, CellColumn, Generalized, Method, Spread, Task
from discreet.methods.manifest_entry import LabelledEntry, MethodEntry
from discreet.methods.mondrian.key_blocks import BlockRecoding, recode_blocks
from discreet.methods.mondrian.regions import (
    Attributes,
    Pieces,
    Regions,
    flattened,
    measure_parts,
    propose_cuts,
    put_failing_last,
)
from discreet.methods.mondrian.units import Judge, Units
from discreet.methods.shared.grouped_rows import merge_equal_cells
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.tight_cells import cells_of_nodes, require_one_meaning, tightened
from discreet.requirements.attackers.judging import Demand, limited
from discreet.table.classes import Classes, group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values, starts_of
from discreet.table.persons import Keeping
from discreet.typing import Bools, Codes, Floats, Ints


class Mondrian(Method):
    """Cut the table in ever smaller parts as long as every part meets all requirements."""

    name: ClassVar[str] = "mondrian"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {
            Ability.COUNTS,
            Ability.RULED_OUT,
            Ability.SENSITIVE_VALUES,
            Ability.ATTACKERS,
            Ability.LINKS,
            Ability.POPULATION,
            Ability.POPULATION_CELLS,
        }
    )
    entry: ClassVar[type[MethodEntry]] = LabelledEntry
    spread: ClassVar[Spread | None] = Spread.CUTS

    cuts: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="Whether rows with the same value stay on one side of a numeric cut.",
    )
    cells: Literal["free", "levels", "grid", "blind"] = Field(
        default="free",
        description="With levels, every cell is a label of a hierarchy's level, never a range, a "
        "set or a '*' that its hierarchy lacks; the release names the hierarchies that read it "
        "back. With grid, ranges are rounded outwards to fixed steps and sets are nodes of an "
        "automatic hierarchy, so that no end and no member need occur. With blind, a cell is the "
        "region of a hierarchy that the cuts leave, whatever the rows of the class span.",
    )

    @property
    def needs_hierarchies(self) -> bool:
        return self.cells != "free"

    @property
    def shrinks_cells(self) -> bool:
        return self.cells in ("free", "levels")

    def cell_hierarchy(self, task: Task, column: Column) -> Hierarchy | None:
        hierarchy = task.hierarchies.get(column.name)
        if hierarchy is None or self.cells != "grid" or column.numbers is None:
            return hierarchy
        return None if hierarchy.place == AUTOMATIC else hierarchy

    def unfit_for_persons(self, keeping: Keeping) -> str | None:
        if self.cells == "free":
            return None
        return "with several rows of a person, groups may be merged. Use 'cells: free'"

    def most_suppressed(self, rows: int) -> int:
        return 0

    def run(self, task: Task) -> Generalized:
        """The classes, or InfeasibleError where not even the whole table passes."""
        table = task.table
        if not table.rows:
            raise InputError("mondrian: the table has no rows. Check the source.")
        if limited(task.requirements):
            recoding = recode_blocks(task, partial(self._recode, within_groups=True))
        else:
            recoded = self._recode(task)
            classes = {"partitions": int(recoded.class_of_row.max()) + 1}
            recoding = Generalized(recoded.class_of_row, recoded.cells, classes)
        if self.cells == "levels":
            used = {c.name: self.cell_hierarchy(task, c) for c in table.quasi_identifiers}
            recoding.facts["hierarchies"] = {
                name: public_place(hierarchy.place) for name, hierarchy in used.items() if hierarchy
            }
        return recoding

    def _recode(
        self, task: Task, known: Sequence[Demand] = (), *, within_groups: bool = False
    ) -> BlockRecoding:
        """The classes of a table; ``within_groups``: those of its last column are not joined."""
        table = task.table
        columns = table.quasi_identifiers[:-1] if within_groups else table.quasi_identifiers
        hierarchy_of = {column.name: self.cell_hierarchy(task, column) for column in columns}
        hierarchies = {name: item for name, item in hierarchy_of.items() if item is not None}
        for hierarchy in hierarchies.values():
            require_one_meaning(hierarchy)
        # Compress the rows to units that are never torn apart.
        torn = self.cuts == "relaxed" and len(hierarchies) < len(columns)
        asked = any(item.counting.population for item in task.requirements)
        population = task.basis.population if asked else None
        if torn and population is not None:
            raise InputError(
                "mondrian: relaxed cuts would give persons of the population with the same values "
                "to several classes. Use 'cuts: strict'."
            )
        units = Units(table, torn=torn, population=population)
        cut = units.codes[: len(columns)]
        # Cut them until no cut is allowed.
        attributes = flattened(columns, hierarchies, cut)
        judge = Judge(task, units, known)
        groups = [units.codes[-1]] if within_groups else []
        apart = self._apart([hierarchies.get(c.name) for c in columns], units, groups)
        cuts_made: list[Cut] | None = [] if self.cells == "blind" else None
        start, order = partition(units, attributes, judge, task, apart, cuts_made)
        class_of_unit = np.empty(units.count, np.int32)
        class_of_unit[order] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        codes = list(np.ascontiguousarray(cut.T).take(order, axis=0).T)  # one jump a unit
        # Give each class its cells: the regions between cuts, or what its rows span.
        if cuts_made is not None:
            regions = region_cells(list(hierarchies.values()), codes, start, cuts_made)
            cells = dict(zip(hierarchies, regions, strict=True))
        else:
            cells = {
                column.name: tightened(
                    column, hierarchy_of[column.name], code, start, grid=self.cells == "grid"
                )
                for column, code in zip(columns, codes, strict=True)
            }
        if self.cells in ("grid", "blind"):
            merged, cells = merge_equal_cells(cells, len(start) - 1)
            class_of_unit = merged[class_of_unit]
        if units.people is not None:
            class_of_unit, cells = _with_rows(class_of_unit, units, cells)
        return BlockRecoding(class_of_unit.take(units.of_row), cells)

    def _apart(
        self, hierarchies: Sequence[Hierarchy | None], units: Units, groups: Sequence[Codes]
    ) -> Classes:
        """The units that may share a class: where cells are labels, those below the same tops."""
        tops = [
            (hierarchy.levels[-1], number)
            for number, hierarchy in enumerate(hierarchies)
            if hierarchy is not None and self.cells == "levels"
        ]
        if not tops and not groups:
            every = np.array([units.count])
            return Classes(np.zeros(units.count, np.int32), np.zeros(1, np.int64), every)
        return group_codes(
            [*(top.node_of_leaf.take(units.codes[number]) for top, number in tops), *groups],
            [*(top.nodes for top, _ in tops), *(int(group.max(initial=0)) + 1 for group in groups)],
            units.count,
        )


def _with_rows(
    class_of_unit: Codes, units: Units, cells: Mapping[str, CellColumn]
) -> tuple[Codes, dict[str, CellColumn]]:
    """The classes that have rows of the table, numbered anew, and their cells."""
    used = distinct_values(class_of_unit[units.weight > 0])
    number = np.full(int(class_of_unit.max()) + 1, -1, np.int32)
    number[used] = np.arange(len(used))
    cells_with_rows = {
        name: replace(column, cell_of_class=column.cell_of_class[used])
        for name, column in cells.items()
    }
    return number[class_of_unit], cells_with_rows


class Cut(NamedTuple):
    """A cut that was made: ranges in the order of the units, whose members then stay together."""

    attribute: int
    level: int  # of the lowest common ancestor, of an attribute with a hierarchy
    parent: tuple[int, int]
    pieces: list[tuple[int, int]]


class AllowedCuts(NamedTuple):
    """The pieces of the cuts of a round that are allowed, and which parts they cut."""

    start: Ints  # (pieces,)
    end: Ints  # (pieces,)
    size: Ints  # (pieces,) in rows
    cut: Bools  # (parts,)


def partition(
    units: Units,
    attributes: Attributes,
    judge: Judge,
    task: Task,
    apart: Classes,
    cuts_made: list[Cut] | None = None,
) -> tuple[Ints, Codes]:
    """Cut until no cut is allowed: where each class starts, in an order of the units.

    The cuts are added to ``cuts_made``, where it is given, as they are made.
    """
    order = np.argsort(apart.class_of_row, kind="stable").astype(np.int32)
    end = np.cumsum(apart.size)
    start = end - apart.size
    size = np.add.reduceat(units.weight[order], start)
    parts = measure_parts(order, start, end, size, attributes, judge.least)
    spent = judge.expected(order, start, end, parts.size).sum(axis=1)
    passes = judge.passes(order, start, end, parts.size).all()
    if not (passes and judge.meets_averages(order, start, end, parts.size)):
        coarsest = "the whole table as one class" if apart.count == 1 else "the top levels"
        if judge.known and judge.passes_unknown(order, start, end, parts.size).all():
            raise judge.infeasible_where_known()
        raise infeasible(
            f"mondrian: no partition meets the requirements, not even {coarsest}",
            judge.requirements,
            judge.counts(order, start, end, parts.size),
            judge.domains,
            () if apart.count == 1 else ("end the hierarchies in one top, such as '*'",),
        )
    starts = []
    closed = 0
    while len(parts.start):
        # Parts without a cut to try are classes.
        pieces = propose_cuts(order, parts, judge.weight, attributes, judge.least, units.torn)
        stuck = np.diff(pieces.first) == 0
        starts.append(parts.start[stuck])
        closed += int((parts.end - parts.start)[stuck].sum())
        parts = parts.take(~stuck)
        pieces = pieces._replace(first=distinct_values(pieces.first))
        # Make the cuts that are allowed; the other parts try their next cut in the next round.
        allowed = _allowed_cuts(order, pieces, parts, attributes, judge)
        allowed, spent = _within_averages(order, parts, allowed, judge, spent)
        if cuts_made is not None:
            cuts_made += _cuts_of(parts.take(allowed.cut), allowed.start, allowed.end)
        parts.attempt[~allowed.cut] += 1
        cut = allowed.start, allowed.end, allowed.size
        others = measure_parts(order, *cut, attributes, judge.least)
        parts = parts.take(~allowed.cut).and_others(others)
        task.progress(Mondrian.name, closed / units.count)
    start = np.append(np.sort(np.concatenate(starts)), units.count)
    _check(judge, order, start)
    return start, order


def _cuts_of(parts: Regions, start: Ints, end: Ints) -> list[Cut]:
    """The cuts of parts into pieces, which lie in their ranges."""
    cuts = []
    order = np.argsort(start)
    start, end = start[order], end[order]
    first, last = np.searchsorted(start, (parts.start, parts.end))
    for number, (low, high) in enumerate(zip(parts.start, parts.end, strict=True)):
        attribute = int(parts.by_width[number, parts.attempt[number] // 2])
        inside = slice(first[number], last[number])
        pieces = np.column_stack((start[inside], end[inside])).tolist()
        level = int(parts.level[number, attribute])
        parent = (int(low), int(high))
        cuts.append(
            Cut(
                attribute,
                level,
                parent,
                [(low_place, high_place) for low_place, high_place in pieces],
            )
        )
    return cuts


def _allowed_cuts(
    order: Codes, pieces: Pieces, parts: Regions, attributes: Attributes, judge: Judge
) -> AllowedCuts:
    """The pieces of the cuts that are allowed, and which parts they cut."""
    if not len(pieces.start):
        return AllowedCuts(pieces.start, pieces.end, pieces.size, np.zeros(0, bool))
    passes = judge.passes(order, pieces.start, pieces.end, pieces.size)
    passing = np.add.reduceat(passes.astype(np.int64), pieces.first[:-1])
    allowed = passing == np.diff(pieces.first)
    attribute = parts.by_width[np.arange(len(parts.start)), parts.attempt // 2]
    pooled = ~allowed & (passing > 0) & (attributes.levels[attribute] > 0)
    chosen = np.flatnonzero(pooled)
    pool = _pool(order, pieces, chosen, passes, judge)
    allowed[chosen] = pool > pieces.first[chosen]
    keep = np.repeat(allowed, np.diff(pieces.first))
    end, size = pieces.end, pieces.size
    last = pieces.first[chosen + 1]
    end[pool] = end[last - 1]
    rows = starts_of(size)
    size[pool] = rows[last] - rows[pool]
    inside = np.zeros(len(keep) + 1, np.int64)  # pieces that lie in a pool that starts before them
    np.add.at(inside, pool + 1, 1)
    np.add.at(inside, last, -1)
    keep &= np.cumsum(inside)[:-1] == 0
    return AllowedCuts(pieces.start[keep], end[keep], size[keep], allowed)


def _within_averages(
    order: Codes, parts: Regions, pieces: AllowedCuts, judge: Judge, spent: Floats
) -> tuple[AllowedCuts, Floats]:
    """The pieces of the cuts that keep the means over all rows, and which parts they cut.

    ``spent`` has the sum behind each mean so far. A cut only ever adds to it, so those that add
    least are made first.
    """
    # What each cut adds to the sums.
    start, end, size, allowed = pieces
    if not judge.averages or not len(start):
        return pieces, spent
    after = judge.expected(order, start, end, size)
    cut = np.flatnonzero(allowed)
    cut = cut[np.argsort(parts.start[cut])]
    before = judge.expected(order, parts.start[cut], parts.end[cut], parts.size[cut])
    of_cut = np.searchsorted(parts.start[cut], start, "right") - 1
    added = np.stack([np.bincount(of_cut, row, len(cut)) for row in after]) - before
    # As many of the cheapest cuts as the bounds allow.
    cheapest = np.argsort(added.max(axis=0), kind="stable")
    total = spent[:, None] + np.cumsum(added[:, cheapest], axis=1)
    bound = np.array([average.at_most for average in judge.averages]) * judge.rows
    affordable = int((total <= bound[:, None]).all(axis=0).sum())
    chosen_cuts = np.zeros(len(cut), bool)
    chosen_cuts[cheapest[:affordable]] = True
    allowed = np.zeros(len(allowed), bool)
    allowed[cut[chosen_cuts]] = True
    spent = total[:, affordable - 1] if affordable else spent
    chosen = chosen_cuts[of_cut]
    return AllowedCuts(start[chosen], end[chosen], size[chosen], allowed), spent


def _pool(order: Codes, pieces: Pieces, chosen: Ints, passes: Bools, judge: Judge) -> Ints:
    """Where in the pieces of some parts the pool starts that passes; the first where none does."""
    if not len(chosen):
        return chosen
    first, last = pieces.first[chosen], pieces.first[chosen + 1]
    pool = put_failing_last(order, pieces, chosen, passes)
    open_ = np.arange(len(chosen))
    joining = 1
    while len(open_):
        rows = np.concatenate(([0], np.cumsum(pieces.size)))
        low, high = pool[open_], last[open_]
        good = judge.passes(order, pieces.start[low], pieces.end[high - 1], rows[high] - rows[low])
        open_ = open_[~good]
        pool[open_] -= joining
        joining *= 2
        pool = np.maximum(pool, first)
        open_ = open_[pool[open_] > first[open_]]
    return pool


def _check(judge: Judge, order: Codes, start: Ints) -> None:
    """Judge all classes once more, against the table that they are together."""
    low, high = start[:-1], start[1:]
    size = np.add.reduceat(judge.weight[order], low)
    if not judge.passes(order, low, high, size).all():
        raise AssertionError("a part that was judged to pass fails at the end")
    if not judge.meets_averages(order, low, high, size):
        raise AssertionError("the parts together do not meet a mean that each cut met")


def region_cells(
    hierarchies: Sequence[Hierarchy],  # of each attribute
    codes: Sequence[Codes],  # of each attribute: (units,) values in the order of the units
    start: Ints,  # (classes + 1,) where each class starts in that order
    cuts: Sequence[Cut],  # the first cuts first
) -> list[CellColumn]:
    """The region of each class, by attribute."""
    classes = len(start) - 1
    level, node = [], []
    for hierarchy in hierarchies:
        top = len(hierarchy.levels) - (hierarchy.levels[-1].nodes == 1)
        level.append(np.full(classes, top, np.int32))
        node.append(np.zeros(classes, np.int32))
    for cut in cuts:
        attribute, below = cut.attribute, cut.level - 1
        node_of_leaf = hierarchies[attribute].levels[below].node_of_leaf
        for low, high in cut.pieces:
            nodes = node_of_leaf[codes[attribute][low:high]]
            if (nodes == nodes[0]).all():
                inside = slice(*np.searchsorted(start, (low, high)).tolist())
                level[attribute][inside], node[attribute][inside] = below, nodes[0]
    return [cells_of_nodes(*place) for place in zip(hierarchies, level, node, strict=True)]
