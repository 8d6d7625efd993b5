"""Downcoding: which generalized quasi-identifiers an attacker can make exact again (Cohen, 2022).

Where a method publishes cells that are no wider than the rows of a class need, a cell says more
than that its rows lie in it: both ends of a range and every member of a set certainly occur in the
class, and of a node of a hierarchy at least two children do. A *part* is a set of values in which
some row of the class certainly lies: an end, a member, or each of exactly two children.

A cell of a row is *open* where it is not exact. A class of m rows with p parts of a column has p
of its m open cells *pinned*, if the parts are single values, or made *finer*. A row is *recovered*
where its class has one open column, whose parts are single values, one for each of its rows. The
*bits* that a class gives away are −log2 of the chance that its cell is that tight, given that its
rows lie in it, by a distribution of the values fitted to all cells and parts. All of it follows
from the published files; the original only says which values exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Criterion, Finding, Scene
from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.coverage import CellReader, Coverage, Run, coverage_of_cells, merged
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Task
from discreet.methods.manifest_entry import MethodEntry
from discreet.methods.shared.grid_cells import Grid, grid_of
from discreet.releases.kinds.base import Kind
from discreet.releases.manifest import Manifest
from discreet.statements import Statement
from discreet.table.classes import Classes, classes_of, group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import entries_of, starts_of, stretches
from discreet.typing import Bools, Floats, Ints

CELLS = Statement("aim.cells")
ROWS = Statement("aim.whole-rows")
ROUNDS = 30  # of fitting the distribution of a column
LEAST_BITS = math.log2(1e-300)  # of a chance that is as good as none


class Downcoding(Attack):
    """Which generalized cells can be made exact, or finer, from the files alone."""

    name: ClassVar[str] = "downcoding"
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    inside: ClassVar[bool] = False
    may_count_rows: ClassVar[bool] = True
    also_knows: ClassVar[str] = Statement("also-knows.method-and-values")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.makes_alike

    knows: ClassVar[Statement] = Statement("knows.cells")

    def expected(self, scene: Scene) -> int:
        return 2 * len(scene.tables)

    def run(self, scene: Scene) -> Iterator[Finding]:
        for name, table in scene.tables.items():
            classes = classes_of(table.quasi_identifiers, table.rows)
            read = _read_table(name, table, classes, scene.task, scene.manifest)
            if any(read_column.open_cells for read_column in read):
                names = [column.name for column in table.quasi_identifiers]
                yield self._of_cells(name, names, read)
                yield self._of_rows(name, classes, read)

    def _of_cells(self, table: str, names: Sequence[str], read: Sequence[_Reading]) -> Finding:
        by_column = {name: column.to_dict() for name, column in zip(names, read, strict=True)}
        open_cells = sum(column.open_cells for column in read)
        shares = [column.pinned / column.open_cells for column in read if column.open_cells]
        total = max(open_cells, 1)
        return self._finding(
            CELLS, table, open_cells, sum(column.pinned for column in read) / total,
            max(shares, default=0.0),
            {
                "finer": sum(column.finer for column in read) / total,
                "bits_per_open_cell": sum(column.bits for column in read) / total,
                "columns": by_column,
            },
        )  # fmt: skip

    def _of_rows(self, table: str, classes: Classes, read: Sequence[_Reading]) -> Finding:
        open_columns = np.sum([column.is_open for column in read], axis=0)
        whole = np.any(
            [column.is_open & (column.values == classes.size) for column in read], axis=0
        )
        generalized = int(classes.size[open_columns > 0].sum())
        recovered = int(classes.size[(open_columns == 1) & whole].sum())
        share = recovered / max(generalized, 1)
        return self._finding(ROWS, table, generalized, share, share, {})

    def _finding(
        self, aim: str, table: str, targets: int, share: float, greatest: float,
        details: Mapping[str, Any],
    ) -> Finding:  # fmt: skip
        return Finding(
            self.name, self.knowledge, aim, table, targets, mean=share, greatest=greatest,
            above=0.0, certain=0.0, baseline=0.0, bound=None, exceeded=False,
            inside=self.inside, is_belief=False, also_knows=self.also_knows, details=details,
            attacker=self.attackers[0],
            target="cells" if aim == CELLS else "rows",
        )  # fmt: skip


def pinned_share(tables: Mapping[str, CodedTable], task: Task, manifest: Manifest) -> float | None:
    """The share of the generalized cells of all tables that are pinned; None where none is open."""
    read = [
        column
        for name, table in tables.items()
        for column in _read_table(
            name, table, classes_of(table.quasi_identifiers, table.rows), task, manifest
        )
    ]
    open_cells = sum(column.open_cells for column in read)
    return sum(column.pinned for column in read) / open_cells if open_cells else None


def pinned_sentences(findings: Iterable[Finding]) -> list[Statement]:
    """What the cells of each table give away beyond that their rows lie in them."""
    own_findings = [finding for finding in findings if finding.attack == Downcoding.name]
    rows = {finding.table: finding for finding in own_findings if finding.aim == ROWS}
    sentences = []
    for cells in (finding for finding in own_findings if finding.aim == CELLS):
        recovered = round(rows[cells.table].mean * rows[cells.table].targets)
        finer = cells.details["finer"]
        if not cells.mean and not finer:
            sentences.append(Statement("downcoding.none", table=cells.table))
            continue
        form = "downcoding.pinned" + ".rows" * bool(recovered) + ".finer" * bool(finer)
        further = {"rows": recovered, "finer": finer}
        sentences.append(
            Statement(
                form,
                table=cells.table,
                share=cells.mean,
                **{name: figure for name, figure in further.items() if figure},
            )
        )
    return sentences


@dataclass(frozen=True, eq=False)
class _Reading:
    """What an attacker makes of one published column."""

    is_open: Bools  # (classes,)
    values: Ints  # (classes,) values that certainly occur, none in a class with an exact cell
    open_cells: int
    pinned: int
    finer: int
    bits: float  # that tightness gives away, in all classes together

    def to_dict(self) -> dict[str, Any]:
        """The figures of the column as plain data."""
        return {
            "open_cells": self.open_cells,
            "pinned": self.pinned,
            "finer": self.finer,
            "bits_per_open_cell": self.bits / max(self.open_cells, 1),
        }


def _read_table(
    name: str, table: CodedTable, classes: Classes, task: Task, manifest: Manifest
) -> list[_Reading]:
    levels = manifest.method.levels_of(name) or {}
    return [
        _read(
            column, task.table[column.name], task.hierarchies.get(column.name),
            levels.get(column.name), classes, manifest.method,
        )
        for column in table.quasi_identifiers
    ]  # fmt: skip


def _read(
    published: Column,
    original: Column,
    hierarchy: Hierarchy | None,
    level: int | None,
    classes: Classes,
    entry: MethodEntry,
) -> _Reading:
    tight = entry.publishes_tight_cells
    grid = grid_of(original) if entry.rounds_to_grid else None
    texts = published.text.to_list()
    reader = CellReader(original, hierarchy, level)
    ranges = set(reader.ranges(texts).cell.tolist())
    coverage = coverage_of_cells(published, original, hierarchy, level)
    runs = list(zip(coverage.low.tolist(), coverage.high.tolist(), strict=True))
    start = coverage.run_start.tolist()
    cells = [
        _Cell.of_range(runs[start[number]], grid, tight=tight)
        if number in ranges
        else _Cell.of_other(
            reader, hierarchy, text, tuple(runs[start[number] : start[number + 1]]), tight=tight
        )
        for number, text in enumerate(texts)
    ]
    of_class = published.codes[classes.first_row].astype(np.int64)
    is_open = np.array([cell.is_open for cell in cells], bool)[of_class]
    values = np.array([cell.values for cell in cells], np.int64)[of_class]
    parts = np.array([len(cell.parts) for cell in cells], np.int64)[of_class]
    size = np.where(is_open, classes.size, 0)
    return _Reading(
        is_open,
        values,
        open_cells=int(size.sum()),
        pinned=int(values.sum()),
        finer=int((parts - values).sum()),
        bits=_bits(cells, of_class, classes.size, original.cardinality),
    )


class _Cell(NamedTuple):
    """A cell of a dictionary: the values that it covers, its parts and children, as runs."""

    runs: tuple[Run, ...]
    parts: tuple[tuple[Run, ...], ...] = ()
    children: tuple[tuple[Run, ...], ...] = ()  # of a node, of which at least two occur

    @property
    def is_open(self) -> bool:
        return _values_in(self.runs) > 1

    @property
    def values(self) -> int:
        """How many parts are single values."""
        return sum(_values_in(part) == 1 for part in self.parts)

    @classmethod
    def of_range(cls, run: Run, grid: Grid | None, *, tight: bool) -> _Cell:
        first, last = run
        low, high = (first, first + 1), (last - 1, last)
        if grid is not None:
            low, high = grid.run_of(first), grid.run_of(last - 1)
        return cls((run,), ((low,), (high,)) if tight and low != high else ())

    @classmethod
    def of_other(
        cls,
        reader: CellReader,
        hierarchy: Hierarchy | None,
        text: str | None,
        runs: tuple[Run, ...],
        *,
        tight: bool,
    ) -> _Cell:
        whole = cls(runs)
        if not tight or not whole.is_open:
            return whole
        if hierarchy is not None and (text == SUPPRESSED or reader.nodes(text)):
            children = _children(reader, hierarchy, text)
            return cls(runs, children if len(children) == 2 else (), children)
        if text == SUPPRESSED:
            return whole
        members = [code for low, high in runs for code in range(low, high)]  # of a set
        return cls(runs, tuple(((code, code + 1),) for code in members))


def _values_in(runs: Sequence[Run]) -> int:
    return sum(high - low for low, high in runs)


def _children(
    reader: CellReader, hierarchy: Hierarchy, text: str | None
) -> tuple[tuple[Run, ...], ...]:
    """The children of the lowest node with this label."""
    nodes = reader.nodes(text)
    if nodes:
        level, node = nodes[0]
        leaves = np.flatnonzero(hierarchy.levels[level].node_of_leaf == node)
    else:  # the root above the nodes of the top level
        level, leaves = len(hierarchy.levels), np.arange(reader.original.cardinality)
    child_of_leaf = hierarchy.levels[level - 1].node_of_leaf[leaves]
    return tuple(
        tuple(merged([(int(leaf), int(leaf) + 1) for leaf in leaves[child_of_leaf == child]]))
        for child in np.unique(child_of_leaf)
    )


def _bits(cells: Sequence[_Cell], of_class: Ints, size: Ints, cardinality: int) -> float:
    """The bits that tight cells give away, over all classes; for parts a lower bound.

    Rows are drawn from the fitted shares within a cell. Occurrences of different values are
    negatively associated, so the product of their chances is at least the chance of all.
    """
    share = _fitted(cells, of_class, size, cardinality)
    pieces = [cell.children or cell.parts for cell in cells]
    start = starts_of(np.array([len(cell_pieces) for cell_pieces in pieces], np.int64))
    whole = _coverage([cell.runs for cell in cells], cardinality).sums(share)
    held = _coverage([piece for cell_pieces in pieces for piece in cell_pieces], cardinality).sums(
        share
    )
    held = np.clip(held / np.repeat(whole, np.diff(start)), 1e-12, 1 - 1e-12)
    has_children = np.array([bool(cell.children) for cell in cells])
    alike = group_codes([of_class.astype(np.int32), size.astype(np.int32)],
                        [len(cells), int(size.max(initial=0)) + 1], len(size))  # fmt: skip
    of_line, rows = of_class[alike.first_row], size[alike.first_row]
    open_lines = np.flatnonzero(np.diff(start)[of_line])
    total = 0.0
    for part in stretches(np.diff(start)[of_line[open_lines]]):
        lines = open_lines[part]
        piece, line = entries_of(start, of_line[lines])
        by_children = has_children[of_line[lines]]
        of_rows = rows[lines][line]
        none = np.bincount(line, held[piece] ** of_rows, len(lines))  # all rows in one child
        each = np.bincount(line, np.log2(1 - (1 - held[piece]) ** of_rows), len(lines))
        chance = np.where(by_children, np.log2(np.clip(1 - none, 1e-300, 1.0)), each)
        total -= float(alike.size[lines] @ np.clip(chance, LEAST_BITS, 0.0))
    return total


def _coverage(pieces: Sequence[Sequence[Run]], cardinality: int) -> Coverage:
    """The values of some pieces."""
    runs = np.array([run for piece in pieces for run in piece], np.int64).reshape(-1, 2)
    piece_of_run = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    return Coverage(len(pieces), cardinality, piece_of_run, runs[:, 0], runs[:, 1])


def _fitted(cells: Sequence[_Cell], of_class: Ints, size: Ints, cardinality: int) -> Floats:
    """The shares of values that make all cells and parts likeliest, by expectation steps."""
    classes_of_cell = np.bincount(of_class, minlength=len(cells))
    rows_of_cell = np.bincount(of_class, size, len(cells))
    pieces: list[tuple[Run, ...]] = []
    mass: list[float] = []
    for cell, count, rows in zip(cells, classes_of_cell, rows_of_cell, strict=True):
        pieces += [cell.runs, *cell.parts]
        mass += [rows - count * len(cell.parts), *[count] * len(cell.parts)]
    coverage = _coverage(pieces, cardinality)
    share, held = np.full(cardinality, 1 / max(cardinality, 1)), np.array(mass)
    for _ in range(ROUNDS):
        # No value is ruled out by the fit, so every piece keeps a share.
        weight = (held / np.maximum(coverage.sums(share), 1e-300))[coverage.cell_of_run]
        change = np.bincount(coverage.low, weight, cardinality + 1)
        change -= np.bincount(coverage.high, weight, cardinality + 1)
        share = np.maximum(share * np.cumsum(change)[:-1], 1e-12)
        share /= share.sum()
    return share
