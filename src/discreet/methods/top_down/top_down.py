"""Top-down specialization: cells start as ``*`` and become finer as long as every group passes.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data" (2009), for attackers who know any few
of many columns; Fung, Wang and Yu, "Top-down specialization" (2005), for the search.

=========================  ====================================================================
papers                     here
=========================  ====================================================================
solution cut               ``TaxonomyCuts``: the cells of each column
valid specialization       every group of every combination passes (``key_counts``)
Score                      the information loss of all its rows that a specialization removes
anti-monotonicity          a child that fails is never tried again (docs/theory/class-models.md)
=========================  ====================================================================

Departures. (1) A cell is not specialized as a whole: children whose groups fail keep the cell of
their parent, if they pass together; else passing children join them, the smallest first, twice as
many each time. So one rare value does not keep its column from being published. (2) The
score does not weigh what a specialization costs in rows: dividing by log2(rows / rows of the
smallest child) lost more on every survey that was tried. It depends on the cell alone, so each
candidate is judged once. (3) Any
class requirement can be asked for, for any sets of columns. (4) Cells of which all rows have one
node become that node, which splits no group.

Items of sets are removed until every combination of at most m of them has k rows. An item is
removed from all rows, so that the counts of other combinations stay as they are, and an attacker
who knows removed items knows fewer of those that count. What must go is a hitting set of the rare
combinations: the item in most of them for each row that has it goes first; at the end items come
back that no rare combination needs any more, the most frequent first.

Cost: a candidate with r rows costs r steps for each combination of its column with others, so all
candidates of one level of all columns cost n steps for each combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from discreet.errors import InfeasibleError, InputError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.hierarchies.hierarchy import Hierarchy, public_place
from discreet.knowledge.table import Terms, terms_of
from discreet.methods.base import Ability, Generalized, Method, RowColumn, Task
from discreet.methods.manifest_entry import MethodEntry, StatedRelease, label_problems
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.tight_cells import cells_of_nodes, require_one_meaning
from discreet.methods.top_down.key_counts import KeyGroups
from discreet.requirements.attackers.judging import demands_of
from discreet.requirements.attackers.km_anonymity import KmAnonymity
from discreet.requirements.judge import judged_on_items
from discreet.table.classes import classes_of, group_codes
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import entries_of
from discreet.typing import Bools, Codes, Floats, Ints


class TopDownEntry(MethodEntry):
    """What a manifest says of top-down: its cells are nodes of hierarchies, or ``*``."""

    name: Literal["top-down"]
    hierarchies: dict[str, str]  # by quasi-identifier: what the labels come from

    def problems(self, release: StatedRelease) -> list[str]:
        return label_problems(self.hierarchies, release.quasi_identifiers)


class TopDown(Method):
    """Make cells finer from the top, as long as every group that an attacker can form passes."""

    name: ClassVar[str] = "top-down"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {
            Ability.COUNTS,
            Ability.RULED_OUT,
            Ability.SENSITIVE_VALUES,
            Ability.ATTACKERS,
            Ability.ITEMS,
        }
    )
    entry: ClassVar[type[MethodEntry]] = TopDownEntry

    @property
    def needs_hierarchies(self) -> bool:
        return True

    def most_suppressed(self, rows: int) -> int:
        return 0

    def run(self, task: Task) -> Generalized:
        """The finest cells that the search finds, or InfeasibleError."""
        table = task.table
        if not table.rows:
            raise InputError("top-down: the table has no rows. Check the source.")
        columns = table.quasi_identifiers
        hierarchies = [task.hierarchies[column.name] for column in columns]
        for hierarchy in hierarchies:
            require_one_meaning(hierarchy)
        on_items = [
            requirement for requirement in task.requirements if isinstance(requirement, KmAnonymity)
        ]
        # Make cells finer as long as every group passes.
        search = Specialization(
            replace(task, requirements=[r for r in task.requirements if not judged_on_items(r)])
        )
        search.run()
        cuts = search.cuts
        classes = group_codes(
            list(cuts.codes), [cuts.cells(a) for a in range(len(columns))], table.rows
        )
        # The cells of each class are nodes of the hierarchies.
        cells = {}
        for a, (column, hierarchy) in enumerate(zip(columns, hierarchies, strict=True)):
            cell_of_class = cuts.codes[a, classes.first_row]
            cells[column.name] = cells_of_nodes(hierarchy, *cuts.level_and_node(a, cell_of_class))
        places = {h.column: public_place(h.place) for h in hierarchies}
        private: dict[str, Any] = {
            "judged_cells": search.judged, "specialized_cells": search.specialized
        }  # fmt: skip
        # Remove items of sets that too few rows have together.
        sets = {}
        for column in table.quasi_sensitive:
            asked = [
                requirement
                for requirement in on_items
                if not requirement.named or column.name in requirement.named
            ]
            changed, removed = without_rare_items(column, asked)
            if changed is not None:
                sets[column.name] = changed
                private.setdefault("removed_items", {})[column.name] = removed
        return Generalized(
            classes.class_of_row, cells, {"hierarchies": places}, private=private, row_cells=sets
        )


class Specialization:
    """The search: the most rewarding cell first, each once."""

    def __init__(self, task: Task) -> None:
        table = task.table
        self.task = task
        columns = table.quasi_identifiers
        self.cuts = TaxonomyCuts(columns, [task.hierarchies[column.name] for column in columns])
        sensitive = {column.name: column for column in table.sensitive}
        number = {column.name: a for a, column in enumerate(columns)}
        domains = task.domains
        self.demands = [
            (KeyGroups(demand, sensitive, domains), {number[name] for name in demand.keys.columns})
            for demand in demands_of(task.requirements, table)
        ]
        self.judged = 0
        self.specialized = 0

    def run(self) -> None:
        """Specialize until no candidate is left."""
        self._require_feasible()
        heap: list[tuple[float, int, int]] = []
        waiting: dict[tuple[int, int], Candidate] = {}

        def push(attribute: int, cell: int) -> None:
            candidate = self.cuts.candidate(attribute, cell)
            if candidate is not None:
                waiting[attribute, cell] = candidate
                heappush(heap, (-candidate.score, attribute, cell))

        for attribute in range(len(self.cuts.columns)):
            push(attribute, 0)
        while heap:
            _, attribute, cell = heappop(heap)
            chosen = waiting.pop((attribute, cell))
            self.judged += 1
            children = self._passing(chosen)
            if children:
                self.specialized += 1
                for new_cell in self.cuts.specialize(chosen, children):
                    push(attribute, new_cell)
            self.task.progress(TopDown.name, self.judged / (self.judged + len(heap)))

    def _passing(self, chosen: Candidate) -> list[int]:
        """The children that can have cells of their own while the others keep the parent's."""
        children = len(chosen.nodes)
        failed = self._failing(chosen, chosen.rows, chosen.child, children)
        size = np.bincount(chosen.child, minlength=children)
        passing = sorted(np.flatnonzero(~failed).tolist(), key=lambda child: -size[child])
        joining = 1
        while passing and len(passing) < children:
            inside = np.flatnonzero(~np.isin(chosen.child, passing))
            alike = np.zeros(len(inside), np.int32)
            if not self._failing(chosen, chosen.rows[inside], alike, 1).any():
                break
            passing = passing[: max(len(passing) - joining, 0)]
            joining *= 2
        return sorted(passing)

    def _failing(self, chosen: Candidate, rows: Ints, child: Codes, children: int) -> Bools:
        """(children,) Which fail for some attacker."""
        cuts = self.cuts
        cells = [cuts.cells(a) for a in range(len(cuts.columns))]
        failed = np.zeros(children, bool)
        for groups, columns in self.demands:
            if chosen.attribute not in columns:
                continue
            left = np.flatnonzero(~failed[child])
            partners = sorted(
                (a for a in columns if a != chosen.attribute and cells[a] > 1),
                key=lambda a: min(cuts.sizes[a]),
            )
            failed |= groups.failing(rows[left], child[left], children, cuts.codes, cells, partners)
        return failed

    def _require_feasible(self) -> None:
        """Raise where the table fails although no column says anything."""
        rows = np.arange(self.task.table.rows)
        whole = np.zeros(len(rows), np.int32)
        for groups, _ in self.demands:
            if not groups.failing(rows, whole, 1, self.cuts.codes, [], []).any():
                continue
            problem = "top-down: no recoding meets the requirements, not even '*' in every cell"
            known_columns = groups.demand.keys.known
            if known_columns:
                listed = " and ".join(f"'{name}'" for name in known_columns)
                raise InfeasibleError(
                    f"{problem}: it fails for an attacker who knows the value of {listed} and no "
                    "column: too few rows have one of its values, or they share another value. To "
                    f"make it feasible: remove {listed} from 'knows'; or ask for less.",
                    [],
                )
            counts = self.task.count(classes_of([], self.task.table.rows))
            raise infeasible(problem, groups.demand.requirements, counts, self.task.domains)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cell that may be specialized: its rows, and the child that each would have."""

    attribute: int
    cell: int
    rows: Ints  # (rows of the cell,)
    child: Codes  # (rows of the cell,) 0 … children − 1
    nodes: Ints  # (children,) at the level below
    level: int  # of the children
    score: float


class TaxonomyCuts:
    """The cells of all columns; cell 0 of each begins as the root, with every row."""

    def __init__(self, columns: Sequence[Column], hierarchies: Sequence[Hierarchy]) -> None:
        self.columns = columns
        self.hierarchies = hierarchies
        rows = len(columns[0].codes) if columns else 0
        self.codes: Codes = np.zeros((len(columns), rows), np.int32)  # the cell of each row
        self.levels = [[len(hierarchy.levels)] for hierarchy in hierarchies]  # by column and cell
        self.nodes = [[0] for _ in hierarchies]
        self.sizes = [[rows] for _ in hierarchies]

    def cells(self, attribute: int) -> int:
        """The number of cells of a column."""
        return len(self.sizes[attribute])

    def candidate(self, attribute: int, cell: int) -> Candidate | None:
        """What specializing a cell would make; None where it is a single value.

        Levels at which all rows of the cell have one node are passed: the cell becomes that node.
        """
        hierarchy, column = self.hierarchies[attribute], self.columns[attribute]
        rows = np.flatnonzero(self.codes[attribute] == cell)
        values = column.codes[rows]
        before = self._loss(attribute, cell)
        for level in range(self.levels[attribute][cell] - 1, -1, -1):
            nodes_of_level = hierarchy.levels[level]
            nodes, child = np.unique(nodes_of_level.node_of_leaf[values], return_inverse=True)
            if len(nodes) > 1:
                score = column.importance * float(
                    (before - nodes_of_level.loss[nodes[child]]).sum()
                )
                return Candidate(
                    attribute, cell, rows, child.astype(np.int32), nodes.astype(np.int64), level,
                    score,
                )  # fmt: skip
            self.levels[attribute][cell], self.nodes[attribute][cell] = level, int(nodes[0])
            before = self._loss(attribute, cell)
        return None

    def _loss(self, attribute: int, cell: int) -> float:
        level = self.levels[attribute][cell]
        if level == len(self.hierarchies[attribute].levels):
            return 1.0
        return float(self.hierarchies[attribute].levels[level].loss[self.nodes[attribute][cell]])

    def specialize(self, chosen: Candidate, children: Sequence[int]) -> list[int]:
        """Give some children of a cell cells of their own; return their numbers.

        Where all children have one, the first takes over the number of the cell.
        """
        a, numbers = chosen.attribute, []
        size = np.bincount(chosen.child, minlength=len(chosen.nodes))
        whole = len(children) == len(chosen.nodes)
        for place, child in enumerate(children):
            if whole and place == 0:
                number = chosen.cell
                self.levels[a][number] = chosen.level
                self.nodes[a][number] = int(chosen.nodes[child])
                self.sizes[a][number] = int(size[child])
            else:
                number = len(self.sizes[a])
                self.levels[a].append(chosen.level)
                self.nodes[a].append(int(chosen.nodes[child]))
                self.sizes[a].append(int(size[child]))
                self.codes[a, chosen.rows[chosen.child == child]] = number
            numbers.append(number)
        if not whole:
            self.sizes[a][chosen.cell] -= int(size[list(children)].sum())
        return numbers

    def level_and_node(self, attribute: int, cells: Codes) -> tuple[Codes, Codes]:
        """The level and node of some cells of a column."""
        level, node = np.array(self.levels[attribute]), np.array(self.nodes[attribute])
        return level[cells].astype(np.int32), node[cells].astype(np.int32)

    def losses(self, attribute: int) -> Floats:
        """(cells,) The loss of each cell of a column."""
        return np.array([self._loss(attribute, cell) for cell in range(self.cells(attribute))])


def without_rare_items(
    column: Column, requirements: Sequence[KmAnonymity]
) -> tuple[RowColumn | None, int]:
    """The sets without the items that must go, None if none must; and how many went."""
    terms = terms_of(column)
    support = terms.counts(column.counts)
    remaining = support > 0
    for requirement in requirements:
        remaining &= _kept(terms, column.counts, support, remaining, requirement)
    gone = int((~remaining & (support > 0)).sum())
    return (_cells(column, terms, remaining) if gone else None), gone


def _kept(
    terms: Terms, rows: Ints, support: Ints, candidates: Bools, requirement: KmAnonymity
) -> Bools:
    """(terms,) Which of some items can be kept."""
    frequent = candidates & (support >= requirement.k)
    rare = [
        rare_items
        for size in range(2, requirement.m + 1)
        for rare_items in [_rare_combinations(terms, rows, frequent, size, requirement.k)]
        if len(rare_items)
    ]
    stays, removed = frequent.copy(), []
    left = rare
    while left := [
        inside for inside in (_inside(item_rows, stays) for item_rows in left) if len(inside)
    ]:
        times = sum(np.bincount(item_rows.ravel(), minlength=len(stays)) for item_rows in left)
        worst = int(np.argmax(times / np.maximum(support, 1)))
        stays[worst] = False
        removed.append(worst)
    for item in sorted(removed, key=lambda code: -support[code]):
        stays[item] = True
        if any(
            len(_inside(item_rows[(item_rows == item).any(axis=1)], stays)) for item_rows in rare
        ):
            stays[item] = False
    return stays


def _inside(combination: Codes, remaining: Bools) -> Codes:
    """The combinations of which all items are kept."""
    return combination[remaining[combination].all(axis=1)]


def _rare_combinations(terms: Terms, rows: Ints, candidates: Bools, size: int, k: int) -> Codes:
    """(combinations, size) The items that fewer than k rows, and some, have together."""
    used = np.flatnonzero(rows)
    entry, place = entries_of(terms.start, used)
    entry, place = entry[candidates[terms.term[entry]]], place[candidates[terms.term[entry]]]
    length = np.bincount(place, minlength=len(used))
    begin = np.cumsum(length) - length
    item_lists, weight = [], []
    for many in np.unique(length[length >= size]).tolist():
        rows_of_length = np.flatnonzero(length == many)
        items = np.sort(terms.term[entry[begin[rows_of_length][:, None] + np.arange(many)]], axis=1)
        for chosen in combinations(range(many), size):
            item_lists.append(items[:, list(chosen)])
            weight.append(rows[used[rows_of_length]])
    if not item_lists:
        return np.zeros((0, size), np.int32)
    every = np.concatenate(item_lists)
    columns = [np.ascontiguousarray(every[:, number]) for number in range(size)]
    groups = group_codes(columns, [len(candidates)] * size, len(every), np.concatenate(weight))
    return every[groups.first_row[groups.size < k]]


def _cells(column: Column, terms: Terms, remaining: Bools) -> RowColumn:
    """The published sets; ``*`` where all items of a set were removed."""
    names = set(terms.names.filter(pl.Series(remaining)).to_list())
    cells = [
        None if text is None else _cell(text, column.separator, names)
        for text in column.text.to_list()
    ]
    distinct = list(dict.fromkeys(cells))
    number = {cell: code for code, cell in enumerate(distinct)}
    code = np.array([number[cell] for cell in cells], np.int32)
    return RowColumn(code[column.codes], pl.Series(column.name, distinct, dtype=pl.String))


def _cell(text: str, separator: str | None, names: set[str]) -> str:
    items = [text] if separator is None else text.split(separator)
    return (separator or "").join(item for item in items if item in names) or SUPPRESSED
