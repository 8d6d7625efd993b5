"""All full-domain recodings of a table: which can be published, at which cost, and as what.

Where requirements ask about a population, its persons whom the cells of each class cover are
counted at every node of the lattice. Table and population have dictionaries of their own, and so
hierarchies of their own. Their nodes are matched by their labels, which are what is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InfeasibleError, InputError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.population import Population
from discreet.methods.base import CellColumn, Generalized, Task
from discreet.methods.full_domain.costs import (
    CellCost,
    Measure,
    cell_cost,
    class_size,
    discernibility,
    discernibility_left,
)
from discreet.methods.full_domain.lattice_search import NodeResult, Search
from discreet.methods.shared.distinct_tuples import Compressed
from discreet.methods.shared.frequency_sets import FrequencySet, FrequencySets
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.lattice import Lattice, Node
from discreet.requirements.base import Requirement
from discreet.requirements.judge import least_removed
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, summed_weights
from discreet.typing import Bools, Codes, Ints


@dataclass(frozen=True, eq=False)
class Judgement:
    """Which classes of a node can be published."""

    hopeless: Bools  # (classes,) fail a condition that gets easier upward
    passes: Bools  # (classes,) published
    within: bool  # whether what gets easier upward leaves room for it in the budget
    publishable: bool  # whether all rows that fail are, and some row is left
    suppressed: int  # rows; if not publishable, as far as they were counted


class Recodings:
    """All full-domain recodings of a task."""

    def __init__(self, task: Task, budget: int) -> None:
        table = task.table
        if not table.rows:
            raise InputError("full-domain: the table has no rows. Check the source.")
        self.columns = table.quasi_identifiers
        self.hierarchies = [task.hierarchies[column.name] for column in self.columns]
        self.rows = table.rows
        self.budget = budget
        self.requirements = tuple(task.requirements)
        self.domains = task.domains
        self.table = Compressed(
            self.columns, self.hierarchies, table.entries, table.sensitive, table.weights
        )
        self.sets = FrequencySets(self.table)
        self._refined = any(r.algebra.refined for r in self.requirements)
        self._easier_upward, self._others = self._split()
        self._cells: CellCost | None = None
        self._population: CoveredPopulation | None = None
        if task.basis.population is not None and any(
            r.counting.population for r in task.requirements
        ):
            self._population = CoveredPopulation(
                task.basis.population, self.columns, self.hierarchies
            )
        self._weight_of_tuple = summed_weights(table, self.table.classes)

    def _split(self) -> tuple[tuple[Requirement, ...], tuple[Requirement, ...]]:
        """Conditions that get easier upward, and the other requirements."""
        if self.budget == 0:
            return self.requirements, ()
        absorbing = [r for r in self.requirements if r.algebra.absorbing]
        others = [r for r in self.requirements if not r.algebra.absorbing]
        return tuple(absorbing), tuple(others)

    @property
    def closed_upward(self) -> bool:
        """Whether a node above one that can be published can be, too."""
        return self.budget == 0

    @cached_property
    def lattice(self) -> Lattice:
        """All nodes."""
        return Lattice([hierarchy.height for hierarchy in self.hierarchies])

    def levels(self, node: Node) -> dict[str, int]:
        return {column.name: level for column, level in zip(self.columns, node, strict=True)}

    # ---- judging

    def _counts(self, classes: FrequencySet) -> ClassCounts:
        counts = classes.counts(refined=self._refined)
        if self._weight_of_tuple is not None and any(r.counting.weights for r in self.requirements):
            of_class = classes.class_of_tuple
            weight = np.bincount(of_class, self._weight_of_tuple, classes.classes)
            counts = replace(counts, weight=weight.astype(np.float64))
        if self._population is None:
            return counts
        return replace(counts, population=self._population.count(classes))

    def judge(self, node: Node, budget: int | None = None) -> Judgement:
        """Suppress what fails, until nothing does or the budget is passed."""
        return self._judge(self.sets[node], self.budget if budget is None else budget)

    def _judge(self, classes: FrequencySet, budget: int) -> Judgement:
        counts = self._counts(classes)
        size = classes.size
        # What gets easier upward: beyond the budget nothing below can be published either.
        passes = np.ones(len(size), bool)
        for requirement in self._easier_upward:
            passes &= requirement.passes(counts, self.domains)
            suppressed = self.rows - int(size[passes].sum())
            if suppressed > budget:
                return Judgement(~passes, passes, False, False, suppressed)
        # The others: beyond the budget the least that they remove may still rule out what is below.
        hopeless = ~passes
        for requirement in self._others:
            passes &= requirement.passes(counts, self.domains)
        suppressed = self.rows - int(size[passes].sum())
        if suppressed > budget:
            least = np.where(hopeless, size, 0.0)
            for requirement in self._others:
                removed = least_removed(requirement, counts, self.domains, budget / self.rows)
                np.maximum(least, removed, out=least)
            within = bool(least.sum() <= budget + 1e-6 * self.rows)
            return Judgement(hopeless, passes, within, False, suppressed)
        # The table that is left moves what requirements compare with: judge until nothing fails.
        moving = [r for r in self._others if r.algebra.against_table]
        settled = not moving or suppressed == 0
        while not settled and suppressed <= budget and passes.any():
            counts_left = counts.keep(passes)
            still = np.ones(counts_left.classes, bool)
            for requirement in moving:
                still &= requirement.passes(counts_left, self.domains)
            settled = bool(still.all())
            passes[np.flatnonzero(passes)[~still]] = False
            suppressed = self.rows - int(size[passes].sum())
        publishable = suppressed <= budget and suppressed < self.rows
        return Judgement(hopeless, passes, True, publishable, suppressed)

    # ---- costs

    def search(self, measure: Measure) -> Search:
        """The search for the cheapest recoding under a measure."""
        self._cells = cell_cost(measure, self.columns, self.hierarchies, self.rows)
        guide = self._cells or cell_cost("loss", self.columns, self.hierarchies, self.rows)
        order = self.lattice.sum_levels(guide.of_level if guide else ())
        return Search(
            self.lattice,
            order if self._cells else None,
            order,
            closed_upward=self.closed_upward,
            tolerance=self._cells.tolerance if self._cells else 0.0,
        )

    def examine(self, node: Node, measure: Measure) -> NodeResult:
        """Judge a node and compute what the search learns from it."""
        classes = self.sets[node]
        judgement = self._judge(classes, self.budget)
        floor = self._floor(classes, judgement.passes, measure)
        if not judgement.within:
            return NodeResult(False, None, floor)
        surcharge = self._surcharge(classes, judgement.hopeless, measure)
        cost = None
        if judgement.publishable:
            if measure == "class-size":
                cost = class_size(self.rows, int(judgement.passes.sum()))
            elif self._others:
                cost = floor + self._surcharge(classes, ~judgement.passes, measure)
            else:
                cost = floor + surcharge
        return NodeResult(True, cost, floor, surcharge)

    def _floor(self, classes: FrequencySet, passes: Bools, measure: Measure) -> float:
        """A lower bound of the cost of all nodes above: that of the node without suppression.

        For class sizes it is stricter. A published class of a node above contains one that passes
        here, or consists of failing ones alone, which together have the rows of a class.
        """
        if self._cells is not None:
            of_level = self._cells.of_level
            return float(sum(of_level[j][level] for j, level in enumerate(classes.node)))
        if measure == "discernibility":
            return discernibility(classes.size)
        failing = int(classes.size[~passes].sum())
        return class_size(self.rows, int(passes.sum()) + failing // self._least_rows)

    @cached_property
    def _least_rows(self) -> int:
        """The rows that every published class has."""
        return max((r.needs.rows for r in self.requirements), default=1)

    def _surcharge(self, classes: FrequencySet, suppressed: Bools, measure: Measure) -> float:
        """Return what suppressing some classes adds to the cost of a node."""
        if measure in ("height", "class-size"):
            return 0.0
        chosen = np.flatnonzero(suppressed)
        if not len(chosen):
            return 0.0
        size = classes.size[chosen]
        if self._cells is None:
            return discernibility_left(size, self.rows)
        left = np.zeros(len(chosen))
        leaves = self.table.leaf[classes.tuples[chosen]]
        for j, level in enumerate(classes.node):
            left += self._cells.left_to_lose[j][level][leaves[:, j]]
        return float(size @ left)

    # ---- outcomes

    def outcome(self, node: Node, facts: dict[str, Any]) -> Generalized:
        """Return what is published at a node."""
        classes = self.sets.bottom.roll_up(node)
        return self._recoded(classes, self._judge(classes, self.budget).passes, facts)

    def at_levels(self, levels: Mapping[str, int]) -> Generalized:
        """What is published at given levels, or InfeasibleError where a requirement fails."""
        node = self._node(levels)
        if self.judge(node).publishable:
            return self.outcome(node, {"levels": dict(levels)})
        note = ""
        if self.budget:
            suppressed = self.judge(node, self.rows).suppressed
            note = (
                f"{suppressed} of {self.rows} rows would have to be suppressed;"
                f" {self.budget} are allowed. "
            )
        problem = "the given levels do not meet the requirements"
        remedies = "raise levels", "allow more suppression", "leave 'levels' out, to search them"
        raise self._infeasible_at(node, problem, remedies, note)

    def _node(self, levels: Mapping[str, int]) -> Node:
        heights = {c.name: h.height for c, h in zip(self.columns, self.hierarchies, strict=True)}
        if levels.keys() != heights.keys():
            problem = "must give one level for each quasi-identifier, and for no other attribute"
        elif high := [name for name, height in heights.items() if levels[name] > height]:
            problem = f"asks for more than the highest level of {', '.join(map(repr, high))}"
        else:
            return tuple(levels[name] for name in heights)
        highest = ", ".join(f"{name}: {height}" for name, height in heights.items())
        raise InputError(f"full-domain: 'levels' {problem}. Highest levels: {{{highest}}}.")

    def recode(self, node: Node) -> Generalized:
        """All rows at a node, whatever the requirements say."""
        classes = self.sets.bottom.roll_up(node)
        return self._recoded(classes, np.ones(classes.classes, bool), {})

    def _recoded(self, classes: FrequencySet, passes: Bools, facts: dict[str, Any]) -> Generalized:
        node = classes.node
        number = np.where(passes, np.cumsum(passes) - 1, -1).astype(np.int32)
        class_of_row = number[classes.class_of_source][self.table.classes.class_of_row]
        leaves = self.table.leaf[classes.tuples[passes]]
        cells = {}
        for j, (column, hierarchy) in enumerate(zip(self.columns, self.hierarchies, strict=True)):
            level = hierarchy.levels[node[j]]
            cells[column.name] = CellColumn(
                level.node_of_leaf[leaves[:, j]], level.labels, level.loss
            )
        return Generalized(class_of_row, cells, facts)

    def infeasible(self, examined: Sequence[Node]) -> InfeasibleError:
        """Which requirement fails at the most general node, by how much, what is feasible."""
        note = f"{self._least_suppressed(examined)}. " if self.budget else ""
        problem = "no recoding meets the requirements, not even the most general one"
        remedies = "allow more suppression", "add levels"
        return self._infeasible_at(self.lattice.top, problem, remedies, note)

    def not_found(self) -> InfeasibleError:
        """The error of a search that ended too early to know whether a recoding passes."""
        problem = (
            "within 'seconds' no recoding was found that meets the requirements, and the most "
            "general one does not"
        )
        remedies = "raise 'seconds'", "allow more suppression", "add levels"
        return self._infeasible_at(self.lattice.top, problem, remedies, "")

    def _infeasible_at(
        self, node: Node, problem: str, remedies: Sequence[str], note: str
    ) -> InfeasibleError:
        """Which requirement fails at a node, and by how much."""
        counts = self._counts(self.sets[node])
        said = f"full-domain: {problem}"
        return infeasible(said, self.requirements, counts, self.domains, remedies, note)

    def _least_suppressed(self, examined: Sequence[Node]) -> str:
        best = min(
            (self.judge(node, self.rows).suppressed, sum(node), node)
            for node in {*examined, self.lattice.top}
        )
        levels = ", ".join(f"{name} {level}" for name, level in self.levels(best[2]).items())
        return (
            f"Of the {len(examined)} nodes tried, the best ({levels}) would have to suppress"
            f" {best[0]} of {self.rows} rows; {self.budget} are allowed"
        )


class CoveredPopulation:
    """How many persons of a population the classes of any node cover."""

    def __init__(
        self, population: Population, columns: Sequence[Column], hierarchies: Sequence[Hierarchy]
    ) -> None:
        kinds = population.kinds
        self._people = kinds.size
        self._hierarchies = hierarchies
        self._values = [population.table[c.name].codes[kinds.first_row] for c in columns]
        self._node_of_value = [  # by column and level: (values of the population,)
            _matched(hierarchy, population.hierarchies[hierarchy.column])
            for hierarchy in hierarchies
        ]

    def count(self, classes: FrequencySet) -> Ints:
        """(classes + 1,) The persons whom each class covers; the last: whom none does."""
        leaves = classes.table.leaf[classes.tuples]
        codes: list[Codes] = []
        nodes = []
        for j, height in enumerate(classes.node):
            level = self._hierarchies[j].levels[height]
            node_of_class = level.node_of_leaf[leaves[:, j]]
            node_of_kind = self._node_of_value[j][height][self._values[j]]
            codes.append(np.concatenate([node_of_class, node_of_kind]).astype(np.int32))
            nodes.append(level.nodes + 1)
        count = classes.classes
        alike = group_codes(codes, nodes, count + len(self._people)).class_of_row
        class_of = np.full(count + len(self._people), count)
        class_of[alike[:count]] = np.arange(count)
        covered = np.bincount(class_of[alike[count:]], self._people, count + 1)
        return covered.astype(np.int64)


def _matched(of_table: Hierarchy, theirs: Hierarchy) -> list[Codes]:
    """For each level the table's node of each value of the population, or one past the last."""
    node_of_values = []
    for height, level in enumerate(of_table.levels):
        code_of_label = {label: node for node, label in enumerate(level.labels)}
        other = theirs.levels[height] if height <= theirs.height else None
        if other is None or not code_of_label.keys() <= set(other.labels):
            raise InputError(
                f"population: at level {height} the hierarchy of '{of_table.column}' has labels "
                "that the population's values do not give. The population must contain every row "
                "of the table; give the column a hierarchy that does not depend on the values "
                "found, such as a file or intervals."
            )
        node = np.array([code_of_label.get(x, level.nodes) for x in other.labels], np.int32)
        node_of_values.append(node[other.node_of_leaf])
    return node_of_values
