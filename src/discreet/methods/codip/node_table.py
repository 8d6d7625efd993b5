"""Every full-domain recoding judged once for every sensitive attribute.

The quasi-identifiers and their lattice are the same whatever sensitive attributes are beside
them, so one table of (node, attribute) decides all projections: a block of attributes can be
published at a node where all of them pass. Nodes are numbered from the cheapest to the most
expensive, and the cheapest of a block is looked up once: that is what makes checking a plan a
matter of microseconds.

Only nodes that meet the requirements on sizes (these get easier upward, so few are tried) and the
discernibility ceiling have a row. Multi-attribute ℓ-diversity depends on the block's other
attributes; it is judged block by block, at the nodes that are left, from the cheapest on.

Where a person has several rows, classes are judged on persons (``PersonNodes``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.methods.base import Task
from discreet.methods.codip.plans import Block
from discreet.methods.codip.recoder import Recoded, failure_of
from discreet.methods.full_domain.costs import Measure, cell_cost, class_size, discernibility
from discreet.methods.full_domain.lattice_search import minimal_nodes
from discreet.methods.full_domain.person_recodings import PersonRecodings, recodings_of
from discreet.methods.shared.distinct_tuples import Compressed
from discreet.methods.shared.frequency_sets import FrequencySet, FrequencySets
from discreet.methods.shared.infeasibility import advice, infeasible, protects_nothing
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.methods.shared.lattice import Node
from discreet.requirements.base import Requirement, SizeRequirement, Verdict
from discreet.requirements.closeness import TCloseness, earth_movers_distance
from discreet.table.classes import Classes, classes_of
from discreet.table.counts import ClassCounts
from discreet.table.persons import PersonBasis, count_persons

NODE_LIMIT = 2**17  # rows of the table
CLOSEST = TCloseness(t=0)


class NodeTable:
    """The nodes that may be published, cheapest first, with verdicts by attribute."""

    def __init__(self, task: Task, minimize: Measure, ceiling: float | None) -> None:
        self.task = task
        self.attributes = tuple(column.name for column in task.table.sensitive)
        self.recodings = recodings_of(task, lambda units: 0)
        self.ceiling = ceiling
        self._on_sizes, self._on_blocks, self._closeness, self._on_attributes = _sorted(task)
        nodes, sets = self._candidates()
        confused = [discernibility(s.size) for s in sets]
        self.least_discernibility = min(confused, default=None)  # before the ceiling
        within = np.array([ceiling is None or found <= ceiling for found in confused], bool)
        nodes = nodes[within]
        sets = [s for s, kept in zip(sets, within, strict=True) if kept]
        order = self._cheapest_first(nodes, sets, minimize)
        self.nodes = nodes[order]  # (nodes,) by number in the lattice
        self.frequency_sets = [sets[i] for i in order]
        self.classes = np.array([s.classes for s in self.frequency_sets], np.int64)  # (nodes,)
        shape = len(self.frequency_sets), len(self.attributes)
        self.closeness = np.zeros(shape)  # (nodes, attributes) of the worst class
        self.otherwise = np.ones(shape, bool)  # (nodes, attributes) passes all but t-closeness
        self._fill()
        self.passes = self.otherwise & self._close_enough()  # (nodes, attributes)
        self._cheapest: dict[Block, int | None] = {}
        self._closest: dict[Block, float | None] = {}

    # ---- making the table

    def _candidates(self) -> tuple[NDArray[np.int64], list[FrequencySet]]:
        """The nodes that meet the requirements on sizes, in the lattice's order."""
        lattice, domains = self.recodings.lattice, self.task.domains

        def holds(node: Node) -> bool:
            counts = self._sizes(self.recodings.sets[node])
            if counts is None:
                return False
            return all(r.passes(counts, domains).all() for r in self._on_sizes)

        reached = np.zeros(lattice.nodes, bool)
        for node in minimal_nodes(lattice, holds):
            reached |= (lattice.levels >= np.array(node, lattice.levels.dtype)).all(axis=1)
        nodes = np.flatnonzero(reached)
        if len(nodes) > NODE_LIMIT:
            raise InputError(
                f"codip: {len(nodes)} combinations of levels meet the requirements on sizes; it"
                f" judges up to {NODE_LIMIT}. Give the hierarchies fewer levels, or make some"
                " attributes insensitive or drop them."
            )
        return nodes, [self.recodings.sets[lattice.node(int(flat))] for flat in nodes]

    def _sizes(self, classes: FrequencySet) -> ClassCounts | None:
        """The sizes of a node's classes; None where it cannot be published whatever they are."""
        return ClassCounts(classes.size, {})

    def _counting(self, classes: FrequencySet, name: str) -> Callable[[Requirement], ClassCounts]:
        """Return what counts an attribute at a node as a requirement needs it."""
        values = classes.entries(name).by_class(classes.classes)
        counts = ClassCounts(classes.size, {name: values})
        return lambda requirement: counts

    def _block_counts(self, block: Block) -> Callable[[Requirement, Node], ClassCounts]:
        """Return what counts the attributes of a block at a node."""
        sets = self._block_sets(block)
        return lambda asked, node: sets[node].counts(refined=asked.algebra.refined)

    def _cheapest_first(
        self, nodes: NDArray[np.int64], sets: Sequence[FrequencySet], minimize: Measure
    ) -> NDArray[np.intp]:
        """The order of nodes by cost; ties by height, then by levels."""
        recodings = self.recodings
        cells = cell_cost(minimize, recodings.columns, recodings.hierarchies, recodings.rows)
        if cells is not None:
            cost = recodings.lattice.sum_levels(cells.of_level)[nodes]
        elif minimize == "discernibility":
            cost = np.array([discernibility(s.size) for s in sets])
        else:
            cost = np.array([class_size(recodings.rows, s.classes) for s in sets])
        ascending = np.argsort(cost, kind="stable")
        rises = np.diff(cost[ascending], prepend=cost[:1]) > (cells.tolerance if cells else 0.0)
        rank = np.empty(len(cost), np.int64)
        rank[ascending] = np.cumsum(rises)
        height = recodings.lattice.levels[nodes].sum(axis=1, dtype=np.int64)
        return np.lexsort((nodes, height, rank))

    def _fill(self) -> None:
        """Judge attribute by attribute, so that the counts of one are held at a time."""
        domains = self.task.domains
        for a, name in enumerate(self.attributes):
            self.task.progress("closeness", a / len(self.attributes))
            asked = [r.within((name,)) for r in self._on_attributes]
            judging = [part for part in asked if part is not None]
            for n, classes in enumerate(self.frequency_sets):
                count = self._counting(classes, name)
                counts = count(CLOSEST)
                values = counts.values[name]
                distance = earth_movers_distance(values, counts.size, values.total, domains[name])
                self.closeness[n, a] = distance.max(initial=0.0)
                for requirement in judging:
                    if not requirement.passes(count(requirement), domains).all():
                        self.otherwise[n, a] = False
            self.recodings.sets.forget(name)
            for classes in self.frequency_sets:
                classes.forget(name)

    def _close_enough(self) -> NDArray[np.bool_]:
        enough = np.ones(self.closeness.shape, bool)
        for requirement in self._closeness:
            for a, name in enumerate(self.attributes):
                if requirement.within((name,)):
                    enough[:, a] &= requirement.accepts(self.closeness[:, a])
        return enough

    # ---- asking it

    def cheapest(self, block: Block) -> int | None:
        """The number of the cheapest node at which a block can be published."""
        if block not in self._cheapest:
            passing = np.flatnonzero(self.passes[:, list(block)].all(axis=1)).tolist()
            if self._on_blocks:
                self._cheapest[block] = self._cheapest_refined(block, passing)
            else:
                self._cheapest[block] = next(iter(passing), None)
        return self._cheapest[block]

    def _cheapest_refined(self, block: Block, passing: Sequence[int]) -> int | None:
        """The cheapest of some nodes where requirements depend on the block's other attributes.

        They get easier upward: a node below one that failed is not tried.
        """
        lattice = self.recodings.lattice
        count, names = self._block_counts(block), [self.attributes[a] for a in block]
        asked = [part for r in self._on_blocks if (part := r.within(names)) is not None]
        failed = np.zeros((0, len(lattice.shape)), lattice.levels.dtype)
        for number in passing:
            levels = lattice.levels[self.nodes[number]]
            if (failed >= levels).all(axis=1).any():
                continue
            node = self.node(number)
            if all(r.passes(count(r, node), self.task.domains).all() for r in asked):
                return number
            failed = np.vstack([failed, levels])
        return None

    def _block_sets(self, block: Block) -> FrequencySets:
        """Frequency sets that know the attributes of a block alone."""
        recodings = self.recodings
        columns = [self.task.table[self.attributes[a]] for a in block]
        return FrequencySets(
            Compressed(
                recodings.columns,
                recodings.hierarchies,
                recodings.table.entries_given,
                columns,
                recodings.table.weights,
            )
        )

    def node(self, number: int) -> Node:
        """The levels of a node."""
        return self.recodings.lattice.node(int(self.nodes[number]))

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """(nodes,) Nodes that say something: under a ceiling all, else those with two classes.

        Where the whole table is one class, the closeness is 0 and the quasi-identifiers are gone.
        """
        if self.ceiling is not None:
            return np.ones(len(self.nodes), bool)
        return self.classes > 1

    def best_closeness(self, block: Block) -> float | None:
        """The least t of a block over nodes that say something and pass all else."""
        if block not in self._closest:
            chosen = list(block)
            rows = self.bounded & self.otherwise[:, chosen].all(axis=1)
            figures = self.closeness[rows][:, chosen].max(axis=1)
            self._closest[block] = float(figures.min()) if len(figures) else None
        return self._closest[block]

    def can_publish(self, block: Block) -> bool:
        """Return whether a block passes at some node."""
        return self.cheapest(block) is not None

    def chosen_closeness(self, block: Block) -> float | None:
        """The t of a block at its cheapest node."""
        number = self.cheapest(block)
        return None if number is None else float(self.closeness[number, list(block)].max())

    def recoded(self, block: Block) -> Recoded:
        """The table of a block at its cheapest node."""
        number, closeness = self.cheapest(block), self.chosen_closeness(block)
        assert number is not None  # the block was accepted
        assert closeness is not None
        node = self.node(number)
        return Recoded(self.recodings.recode(node), closeness, self.recodings.levels(node))

    def facts(self) -> dict[str, Any]:
        """The size of the lattice, and how much of it may be published."""
        return {"nodes": self.recodings.lattice.nodes, "nodes_valid": len(self.nodes)}

    # ---- when it can't be met

    def why_not(self, blocks: Sequence[Block]) -> tuple[str, list[dict[str, object]]]:
        """Why blocks pass nowhere: no valid node, or what each requirement reaches there."""
        if not len(self.nodes):
            return self._no_node()
        failures: list[dict[str, object]] = []
        sentences = []
        useless = False
        table = self.task.table
        whole = self.task.count(classes_of([], table.entries, table.weights))
        for requirement in self.task.requirements:
            verdicts = [self.best_verdict(requirement, block) for block in blocks]
            failing = [verdict for verdict in verdicts if verdict is not None and not verdict.holds]
            if not failing:
                continue
            smaller_is_better = requirement.algebra.smaller_is_better
            best = Verdict.worst(failing, smaller_is_better=smaller_is_better).achieved
            vacuous = protects_nothing(requirement, best, whole, self.task.domains)
            useless |= vacuous
            feasible = {} if vacuous else best
            failures.append(failure_of(requirement.name, requirement.parameters(), feasible))
            shown = ", ".join(f"{key} = {figure:.6g}" for key, figure in best.items())
            sentences.append(f"{requirement.name} reaches {shown} there at best")
        named = [", ".join(f"'{self.attributes[a]}'" for a in block) for block in blocks]
        listed = "; ".join(sentences) or "each requirement can be met, but not all at once"
        return (
            f"{'a table' if len(blocks) == 1 else 'tables'} with {'; '.join(named)} can meet the "
            f"requirements in no recoding{'' if self.ceiling is None else ' within dm'}: {listed}. "
            + advice(("add levels or raise dm",), useless=useless),
            failures,
        )

    def _no_node(self) -> tuple[str, list[dict[str, object]]]:
        """No node is within the requirements on sizes and the ceiling."""
        floor = self.least_discernibility
        if floor is not None:
            return (
                "no recoding that meets the requirements on sizes has a discernibility of at most "
                f"{self.ceiling:.12g}; the least is {floor:.12g}. Raise dm to that, or ask for "
                "smaller classes.",
                [failure_of("codip", {"dm": self.ceiling}, {"dm": floor})],
            )
        sizes = self._sizes(self.recodings.sets[self.recodings.lattice.top])
        if sizes is None:
            return (
                "even at the highest levels the rows of some persons are in several classes. End "
                "the hierarchies in one top, such as '*', or use 'scope: rows'.",
                [],
            )
        error = infeasible(
            "no recoding meets the requirements, not even the most general one",
            self._on_sizes,
            sizes,
            self.task.domains,
            ("add levels",),
        )
        return str(error), list(error.failures)

    def best_verdict(self, requirement: Requirement, block: Block) -> Verdict | None:
        """The best that a block reaches of one requirement; None if it says nothing of it.

        Requirements get easier upward, so only nodes with no valid node above are looked at.
        """
        names = [self.attributes[a] for a in block]
        part = requirement.within(names)
        if part is None:
            return None
        count = self._block_counts(block)
        verdicts = [
            part.check(count(part, self.node(number)), self.task.domains)
            for number in self._maximal
        ]
        key, smaller_is_better = part.algebra.figure, part.algebra.smaller_is_better
        sign = 1.0 if smaller_is_better else -1.0
        return min(verdicts, key=lambda v: (not v.holds, sign * v.achieved[key]))

    @cached_property
    def _maximal(self) -> list[int]:
        """The nodes with no valid node above."""
        lattice = self.recodings.lattice
        valid = np.zeros(lattice.nodes, bool)
        valid[self.nodes] = True
        topmost = np.ones(len(self.nodes), bool)
        for axis, stride in enumerate(lattice.strides):
            lower = np.flatnonzero(lattice.levels[self.nodes, axis] < lattice.shape[axis] - 1)
            topmost[lower] &= ~valid[self.nodes[lower] + stride]
        return [int(number) for number in np.flatnonzero(topmost)]


def _sorted(
    task: Task,
) -> tuple[list[Requirement], list[Requirement], list[TCloseness], list[Requirement]]:
    """Requirements on sizes, on blocks of attributes, t-closeness, and those on attributes."""
    on_sizes: list[Requirement] = []
    on_blocks: list[Requirement] = []
    closeness: list[TCloseness] = []
    on_attributes: list[Requirement] = []
    for requirement in task.requirements:
        if isinstance(requirement, TCloseness) and requirement.coverage.all_values:
            closeness.append(requirement)
        elif requirement.algebra.refined:
            on_blocks.append(requirement)
        elif isinstance(requirement, SizeRequirement):
            on_sizes.append(requirement)
        else:
            on_attributes.append(requirement)
    return on_sizes, on_blocks, closeness, on_attributes


class PersonNodes(NodeTable):
    """Nodes at which all rows of a person are in one class, or under ``scope: rows`` all nodes."""

    recodings: PersonRecodings

    def _classes(self, classes: FrequencySet) -> Classes | None:
        """The classes of the rows at a node; None where rows of a person differ there."""
        of_row = self.recodings.class_of_row(classes)
        return None if (of_row < 0).any() else Classes.of_numbers(of_row.astype(np.int32))

    def _sizes(self, classes: FrequencySet) -> ClassCounts | None:
        grouping = self._classes(classes)
        if grouping is None:
            return None
        return count_persons(grouping, self.recodings.persons, [], PersonBasis.PERSONS)

    def _counting(self, classes: FrequencySet, name: str) -> Callable[[Requirement], ClassCounts]:
        return lambda asked: self._counts(classes, asked, (name,))

    def _block_counts(self, block: Block) -> Callable[[Requirement, Node], ClassCounts]:
        names = tuple(self.attributes[a] for a in block)
        return lambda asked, node: self._counts(self.recodings.sets[node], asked, names)

    def _counts(
        self, classes: FrequencySet, asked: Requirement, names: tuple[str, ...]
    ) -> ClassCounts:
        grouping = self._classes(classes)
        assert grouping is not None  # nodes that are not closed have no row in the table
        columns = [self.task.table[name] for name in names]
        return counts_on_persons(asked, grouping, self.recodings.persons, columns)
