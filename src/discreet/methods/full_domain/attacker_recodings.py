"""Full-domain recodings for attackers who know some quasi-identifiers.

The groups of a set of columns at a node follow from the node's classes. A node can be published if
all groups of all sets pass. With suppression, the classes of a failing group are taken out, which
may make groups of other sets fail, and so on until none does. For ``absorbing`` requirements the
rows that remain are the largest part of the table in which all groups pass: two such parts together
are such a part. A part that passes at a node passes at every higher one, where its groups are
merged; so what must be suppressed only gets less upward, as for one set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.base import Generalized, Task
from discreet.methods.full_domain.recodings import Judgement, Recodings
from discreet.methods.shared.frequency_sets import FrequencySet
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.lattice import Node
from discreet.requirements.attackers.demands import Demand, demands_of
from discreet.requirements.base import Requirement
from discreet.table.classes import group_codes
from discreet.table.counts import ClassCounts
from discreet.typing import Bools, Codes


class AttackerRecodings(Recodings):
    """All full-domain recodings of a task, judged on the groups of its attackers."""

    def __init__(self, task: Task, budget: int) -> None:
        super().__init__(task, budget)
        easier = [r for r in task.requirements if r in self._easier_upward]
        self._all_demands = demands_of(task.requirements, task.table)
        self._easier_demands = demands_of(easier, task.table)
        self._place = {column.name: number for number, column in enumerate(self.columns)}

    @cached_property
    def _judged_around(self) -> list[Requirement]:
        return []  # a group is not the class of one tuple

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
        self, classes: FrequencySet, kept: Bools, demand: Demand, names: Sequence[str]
    ) -> tuple[Codes, Bools, ClassCounts]:
        """The group of each class in some columns, which groups pass, and their counts.

        The classes that are not kept are in one group, the last, which passes.
        """
        places = [self._place[name] for name in names]
        levels = [self.hierarchies[place].levels[classes.node[place]] for place in places]
        chosen = np.flatnonzero(kept)
        leaves = self.table.leaf[classes.tuples[chosen]]
        found = group_codes(
            [
                level.node_of_leaf[leaves[:, place]]
                for level, place in zip(levels, places, strict=True)
            ],
            [level.nodes for level in levels],
            len(chosen),
        )
        group = np.full(classes.classes, found.count, np.int32)
        group[chosen] = found.class_of_row
        groups = found.count + (len(chosen) < classes.classes)
        size = np.bincount(group, classes.size, groups).astype(np.int64)
        first = chosen[found.first_row]
        tuples = np.append(classes.tuples[first], classes.tuples[:1])[:groups]
        own = FrequencySet(self.table, classes.node, tuples, size, classes, group)
        real = np.arange(groups) < found.count
        counts = own.counts(refined=self._refined)
        if groups > found.count:
            counts = counts.keep(real)
        good = np.ones(found.count + 1, bool)
        if demand.keys.known:
            entries = own.entries(None)
            inside = entries.of_class < found.count
            row = self.table.signatures.first_row[entries.value[inside]]
            good[:-1] = demand.passes_where_known(
                entries.of_class[inside].astype(np.int64), row, entries.count[inside], found.count,
                self.table.sensitive, self.domains,
            )  # fmt: skip
        else:
            for requirement in demand.requirements:
                good[:-1] &= requirement.passes(counts, self.domains)
        return group, good, counts

    def at_levels(self, levels: Mapping[str, int]) -> Generalized:
        node = self._node(levels)
        if not self.judge(node).publishable:
            said = "full-domain: the given levels do not meet the requirements"
            raise self._infeasible_at(node, said, ("raise levels", "allow more suppression"))
        return self.outcome(node, {"levels": dict(levels)})

    def infeasible(self, examined: Sequence[Node]) -> InfeasibleError:
        said = "full-domain: no recoding meets the requirements, not even the most general one"
        return self._infeasible_at(
            self.lattice.top, said, ("allow more suppression", "add levels that end in '*'")
        )

    def not_found(self) -> InfeasibleError:
        said = (
            "full-domain: within 'seconds' no recoding was found that meets the requirements, and "
            "the most general one does not"
        )
        return self._infeasible_at(self.lattice.top, said, ("raise 'seconds'", "add levels"))

    def _infeasible_at(self, node: Node, said: str, remedies: Sequence[str]) -> InfeasibleError:
        """Which combination of columns fails at a node, for whom, and by how much."""
        for demand, counts, note in self._failures(node):
            if demand.keys.known:
                return InfeasibleError(f"{said}. {note}To make it feasible: {remedies[0]}.", [])
            return infeasible(said, demand.requirements, counts, self.domains, remedies, note)
        return InfeasibleError(f"{said}. To make it feasible: {'; or '.join(remedies)}.", [])

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
