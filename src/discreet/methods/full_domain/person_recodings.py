"""Full-domain recodings for attackers who know some columns, and of persons with several rows.

**Attackers.** The groups of a set of columns at a node follow from the node's classes. A node can
be published if all groups of all sets pass. With suppression, the classes of a failing group are
taken out, which may make groups of other sets fail, and so on until none does. For ``absorbing``
requirements the rows that remain are the largest part of the table in which all groups pass: two
such parts together are such a part. A part that passes at a node passes at every higher one, where
its groups are merged; so what must be suppressed only gets less upward, as for one set.

**Persons.** Under ``scope: persons`` a node must be *closed*: all rows of a person fall into one
class. Rows that agree at some levels agree at all higher ones, so a closed node stays closed
upward, and the classes of a higher node are unions of classes of different persons: every
requirement is closed under such unions, and the search works as for rows. A person whose rows
differ at a node, and the persons of a class that fails, are suppressed with all their rows as far
as the budget allows, which counts persons.

Under ``scope: rows`` a class has the rows of its node. A person may be in several classes, so the
share of the persons with a value in a union of two classes may exceed both of theirs: only
``absorbing`` requirements get easier upward, and only they close nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InfeasibleError
from discreet.methods.base import Generalized, Task
from discreet.methods.full_domain.costs import Measure, class_size, discernibility_left
from discreet.methods.full_domain.lattice_search import NodeResult
from discreet.methods.full_domain.recodings import Judgement, Recodings
from discreet.methods.shared.frequency_sets import FrequencySet
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.judged_persons import counts_on_persons
from discreet.methods.shared.lattice import Node
from discreet.requirements.attackers.judging import Demand, demands_of, limited
from discreet.requirements.base import Requirement
from discreet.table.classes import Classes, group_codes
from discreet.table.counts import ClassCounts
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Persons, Scope
from discreet.typing import Bools, Codes


class AttackerRecodings(Recodings):
    """All full-domain recodings of a task, judged on the groups of its attackers."""

    def __init__(self, task: Task, budget: int) -> None:
        super().__init__(task, budget)
        easier = [r for r in task.requirements if r in self._easier_upward]
        self._all_demands = demands_of(task.requirements, task.table)
        self._easier_demands = demands_of(easier, task.table)
        self._place = {column.name: number for number, column in enumerate(self.columns)}

    def _judge(self, classes: FrequencySet, budget: int) -> Judgement:
        passes = np.ones(classes.classes, bool)
        suppressed = self._suppress(classes, passes, self._easier_demands, budget)
        if suppressed > budget:
            return Judgement(~passes, passes, False, False, suppressed)
        hopeless = ~passes
        if self._others:
            passes = passes.copy()
            suppressed = self._suppress(classes, passes, self._all_demands, budget)
        publishable = suppressed <= budget and suppressed < self.rows
        return Judgement(hopeless, passes, True, publishable, suppressed)

    def _suppress(
        self, classes: FrequencySet, passes: Bools, demands: Sequence[Demand], budget: int
    ) -> int:
        """Take out failing classes until none fails, or too many did; return their rows."""
        while True:
            before = int(passes.sum())
            for demand in demands:
                for names in demand.keys:
                    group, good, _ = self._groups(classes, passes, demand, names)
                    passes &= good[group]
                    suppressed = self.rows - int(classes.size[passes].sum())
                    if suppressed > budget or not passes.any():
                        return suppressed
            if int(passes.sum()) == before:
                return self.rows - int(classes.size[passes].sum())

    def _groups(
        self, classes: FrequencySet, published: Bools, demand: Demand, names: Sequence[str]
    ) -> tuple[Codes, Bools, ClassCounts]:
        """The group of each class in some columns, which groups pass, and their counts.

        The classes that are not published are in one group, the last, which passes.
        """
        # Group the published classes by their nodes in these columns.
        places = [self._place[name] for name in names]
        levels = [self.hierarchies[place].levels[classes.node[place]] for place in places]
        chosen = np.flatnonzero(published)
        leaves = self.table.leaf[classes.tuples[chosen]]
        grouping = group_codes(
            [
                level.node_of_leaf[leaves[:, place]]
                for level, place in zip(levels, places, strict=True)
            ],
            [level.nodes for level in levels],
            len(chosen),
        )
        group = np.full(classes.classes, grouping.count, np.int32)
        group[chosen] = grouping.class_of_row
        groups = grouping.count + (len(chosen) < classes.classes)
        # Count the groups as classes of a coarser recoding.
        size = np.bincount(group, classes.size, groups).astype(np.int64)
        first = chosen[grouping.first_row]
        tuples = np.append(classes.tuples[first], classes.tuples[:1])[:groups]
        frequencies = FrequencySet(self.table, classes.node, tuples, size, classes, group)
        real = np.arange(groups) < grouping.count
        counts = frequencies.counts(refined=self._refined)
        if groups > grouping.count:
            counts = counts.keep(real)
        # Judge them, for attackers with known values by what these leave.
        good = np.ones(grouping.count + 1, bool)
        if demand.keys.known:
            entries = frequencies.entries(None)
            inside = entries.of_class < grouping.count
            row = self.table.signatures.first_row[entries.value[inside]]
            good[:-1] = demand.passes_where_known(
                entries.of_class[inside].astype(np.int64), row, entries.count[inside],
                grouping.count, self.table.sensitive, self.domains,
            )  # fmt: skip
        else:
            for requirement in demand.requirements:
                good[:-1] &= requirement.passes(counts, self.domains)
        return group, good, counts

    def _infeasible_at(
        self, node: Node, problem: str, remedies: Sequence[str], note: str
    ) -> InfeasibleError:
        """Which combination of columns fails at a node, for whom, and by how much."""
        said = f"full-domain: {problem}"
        for demand, counts, failing in self._failures(node):
            if demand.keys.known:
                return InfeasibleError(f"{said}. {failing}To make it feasible: {remedies[0]}.", [])
            return infeasible(said, demand.requirements, counts, self.domains, remedies, failing)
        return InfeasibleError(f"{said}. {note}To make it feasible: {'; or '.join(remedies)}.", [])

    def _failures(self, node: Node) -> Iterator[tuple[Demand, ClassCounts, str]]:
        classes = self.sets[node]
        everything = np.ones(classes.classes, bool)
        for demand in self._all_demands:
            for names in demand.keys:
                group, good, counts = self._groups(classes, everything, demand, names)
                failing = np.flatnonzero(~good[:-1])
                if not len(failing):
                    continue
                worst = int(failing[counts.size[failing].argmin()])
                leaf = self.table.leaf[classes.tuples[int(np.argmax(group == worst))]]
                cells = []
                for name in names:
                    level = self.hierarchies[self._place[name]].levels[node[self._place[name]]]
                    label = level.labels[level.node_of_leaf[leaf[self._place[name]]]]
                    cells.append(f"{name} = {'(missing)' if label is None else label}")
                known = "".join(f", {name} known" for name in demand.keys.known)
                yield (
                    demand,
                    counts,
                    f"It fails for an attacker who knows {', '.join(names)}{known}: "
                    f"{len(failing)} of {len(counts.size)} groups fail, the smallest with "
                    f"{counts.size[worst]} rows ({', '.join(cells)}). ",
                )


def recodings_of(task: Task, most_suppressed: Callable[[int], int]) -> Recodings:
    """All recodings of a task, judged on rows or on persons with several.

    ``most_suppressed`` says how many of some rows, or persons, may be suppressed.
    """
    if limited(task.requirements):
        return AttackerRecodings(task, most_suppressed(task.table.rows))
    if task.basis.persons is None:
        return Recodings(task, most_suppressed(task.table.rows))
    whole = task.basis.keeping.scope is Scope.PERSONS
    budget = most_suppressed(task.basis.persons.count if whole else task.table.rows)
    return PersonRecodings(task, task.basis.persons, budget)


class PersonRecodings(Recodings):
    """All full-domain recodings of a task, judged on persons."""

    def __init__(self, task: Task, persons: Persons, budget: int) -> None:
        self.persons = persons
        self.whole = task.basis.keeping.scope is Scope.PERSONS
        self.sensitive = task.table.sensitive
        self._by_person = persons.rows_in_order()
        super().__init__(task, budget)

    @property
    def closed_upward(self) -> bool:
        return self.budget == 0 and not self._others

    def _split(self) -> tuple[tuple[Requirement, ...], tuple[Requirement, ...]]:
        if self.budget == 0 and self.whole:
            return self.requirements, ()
        absorbing = [r for r in self.requirements if r.algebra.absorbing]
        return tuple(absorbing), tuple(r for r in self.requirements if not r.algebra.absorbing)

    def class_of_row(self, classes: FrequencySet) -> NDArray[np.int32]:
        """The class of each row, −1 where it may not be published: its person's rows differ."""
        of_row = classes.class_of_tuple[self.table.classes.class_of_row]
        if not self.whole:
            return of_row
        in_order = of_row[self._by_person]
        low = np.minimum.reduceat(in_order, self.persons.start)
        closed = low == np.maximum.reduceat(in_order, self.persons.start)
        return np.where(closed[self.persons.number], of_row, -1).astype(np.int32)

    def _judge(self, classes: FrequencySet, budget: int) -> Judgement:
        of_row = self.class_of_row(classes)
        passes = np.zeros(classes.classes, bool)
        passes[of_row[of_row >= 0]] = True
        self._drop_failing(of_row, passes, self._easier_upward)
        hopeless = ~passes
        suppressed = self._suppressed(of_row, passes)
        if suppressed > budget:
            return Judgement(hopeless, passes, False, False, suppressed)
        self._drop_failing(of_row, passes, self._others)
        moving = [r for r in self.requirements if r.algebra.against_table]
        suppressed = self._suppressed(of_row, passes)
        while moving and 0 < suppressed <= budget and passes.any():  # the reference moved
            before = int(passes.sum())
            self._drop_failing(of_row, passes, moving)
            suppressed = self._suppressed(of_row, passes)
            if int(passes.sum()) == before:
                break
        publishable = suppressed <= budget and bool(passes.any())
        return Judgement(hopeless, passes, True, publishable, suppressed)

    def _drop_failing(
        self, of_row: NDArray[np.int32], passes: Bools, requirements: Sequence[Requirement]
    ) -> None:
        """Mark the classes whose persons do not meet a requirement."""
        rows = np.flatnonzero((of_row >= 0) & passes[of_row])
        if not len(rows):
            return
        number, place = np.unique(of_row[rows], return_inverse=True)
        part = Classes.of_numbers(place.astype(np.int32))
        persons = self.persons.take(rows)
        sensitive = [column.take(rows) for column in self.sensitive]
        for requirement in requirements:
            counts = counts_on_persons(requirement, part, persons, sensitive)
            passes[number[~requirement.passes(counts, self.domains)]] = False

    def _suppressed(self, of_row: NDArray[np.int32], passes: Bools) -> int:
        """The persons without a published row, or under ``scope: rows`` the rows."""
        shown = (of_row >= 0) & passes[of_row]
        if not self.whole:
            return int((~shown).sum())
        return self.persons.count - len(distinct_values(self.persons.number[shown]))

    def examine(self, node: Node, measure: Measure) -> NodeResult:
        classes = self.sets[node]
        judgement = self._judge(classes, self.budget)
        floor = self._floor(classes, judgement.passes, measure)
        if not judgement.within:
            return NodeResult(False, None, floor)
        if not judgement.publishable:
            return NodeResult(True, None, floor)
        if measure == "class-size":
            return NodeResult(True, class_size(self.rows, int(judgement.passes.sum())), floor)
        cost = floor + self._surcharge(classes, ~judgement.passes, measure)
        return NodeResult(True, cost + self._open_cost(classes, judgement.passes, measure), floor)

    def _open_cost(self, classes: FrequencySet, passes: Bools, measure: Measure) -> float:
        """The cost of suppressing persons of published classes whose rows differ."""
        of_row = classes.class_of_tuple[self.table.classes.class_of_row]
        rows = np.flatnonzero((self.class_of_row(classes) < 0) & passes[of_row])
        if not len(rows) or measure == "height":
            return 0.0
        if self._cells is None:
            return discernibility_left(np.ones(len(rows), np.int64), self.rows)
        leaves = self.table.leaf[self.table.classes.class_of_row[rows]]
        return float(
            sum(
                self._cells.left_to_lose[j][level][leaves[:, j]].sum()
                for j, level in enumerate(classes.node)
            )
        )

    def _recoded(
        self, classes: FrequencySet, passes: Bools, facts: dict[str, object]
    ) -> Generalized:
        recoded = super()._recoded(classes, passes, facts)
        recoded.class_of_row[self.class_of_row(classes) < 0] = -1
        return recoded

    def _infeasible_at(
        self, node: Node, problem: str, remedies: Sequence[str], note: str
    ) -> InfeasibleError:
        """Why the persons of a node do not meet the requirements."""
        classes = self.sets[node]
        of_row = self.class_of_row(classes)
        differing = len(distinct_values(self.persons.number[of_row < 0]))
        said = f"full-domain: {problem}"
        remedies = (remedies[0], "use 'rows: collapse', so that a person has fewer values")
        if differing:
            return InfeasibleError(
                f"{said}: at these levels the rows of {differing} persons are still in several "
                "classes. End the hierarchies in one top, such as '*', use 'scope: rows', or "
                f"{remedies[1]}.",
                [],
            )
        for requirement in self.requirements:
            part = Classes.of_numbers(np.unique(of_row, return_inverse=True)[1].astype(np.int32))
            counts = counts_on_persons(requirement, part, self.persons, self.sensitive)
            if not requirement.passes(counts, self.domains).all():
                return infeasible(said, [requirement], counts, self.domains, remedies)
        return InfeasibleError(f"{said}. {remedies[1].capitalize()}.", [])
