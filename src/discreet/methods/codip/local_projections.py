"""Projections whose quasi-identifiers are recoded locally, table by table.

Each block of attributes is a job of its own: Mondrian cuts as long as every part meets the
requirements as far as they cover the block. The search begins with the whole table as one class, so
a block can be published exactly where that class passes, and the ceiling on the discernibility
holds for the parts that it ends with.

A value that fills nearly 1/l of the rows fills more of one half of nearly every cut, so Mondrian
ends early: COMPAS with ``is_recid`` (48 % of the rows, l = 2) is not cut at all. Groups along a
curve through the quasi-identifiers mix rows as the values need it. They take the place of
Mondrian's parts in a table with one attribute, where these lose more than ``CUT_WELL`` and groups
lose less. Persons with several rows are grouped in the same two ways, and groups are merged where
the number of a person's rows would give values away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.errors import InfeasibleError
from discreet.methods.base import Generalized, Method, Task
from discreet.methods.codip.plans import Block
from discreet.methods.codip.recoder import Recoded, failure_of
from discreet.methods.full_domain.costs import discernibility
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.msa_diversity.msa_diversity import KNOWN, MsaDiversity
from discreet.methods.shared.grouped_rows import count_groups
from discreet.methods.shared.infeasibility import infeasible
from discreet.methods.shared.person_groups import group_persons
from discreet.requirements.closeness import TCloseness, earth_movers_distance
from discreet.requirements.multi_attribute import DIVERSITIES, MultiAttributeLDiversity
from discreet.table.classes import Classes, classes_of
from discreet.table.counts import count_classes, count_values

HALVINGS = 6  # each is a run of Mondrian
CUT_WELL = 0.05  # information loss up to which no groups are formed beside Mondrian's parts


class LocalRecoder:
    """The local recodings of all blocks that were asked for, each made once."""

    def __init__(self, task: Task, ceiling: float | None) -> None:
        self.task = task
        self.attributes = tuple(column.name for column in task.table.sensitive)
        self.ceiling = ceiling
        self._recoded: dict[Block, Recoded | None] = {}
        self._closest: dict[Block, float | None] = {}
        self._confused: dict[Block, float] = {}  # the discernibility of what Mondrian ends with

    def can_publish(self, block: Block) -> bool:
        """Return whether Mondrian finds classes for a block within the ceiling."""
        return self._find(block) is not None

    def chosen_closeness(self, block: Block) -> float | None:
        """The t of those classes."""
        projection = self._find(block)
        return None if projection is None else projection.closeness

    def best_closeness(self, block: Block) -> float | None:
        """The least t that was found, by halving the t that Mondrian is asked for.

        As on a lattice, all else that the job asks for has to hold, and without a ceiling a
        single class does not count.
        """
        if block not in self._closest:
            self._closest[block] = self._halved(block)
        return self._closest[block]

    def _halved(self, block: Block) -> float | None:
        task = self._task(block)
        others = [
            r
            for r in task.requirements
            if not (isinstance(r, TCloseness) and r.coverage.all_values)
        ]
        least = self._reached(replace(task, requirements=others))
        beyond = 0.0
        for _ in range(HALVINGS):
            if least is None or least <= beyond:
                break
            asked = (least + beyond) / 2
            reached = self._reached(replace(task, requirements=[*others, TCloseness(t=asked)]))
            if reached is None:
                beyond = asked
            else:
                least = reached
        return least

    def _reached(self, task: Task) -> float | None:
        """The t of what Mondrian ends with, if that says something and is within the ceiling."""
        try:
            outcome = _cut(task)
        except InfeasibleError:
            return None
        size = np.bincount(outcome.class_of_row)
        if self.ceiling is None:
            return _closeness(task, outcome) if len(size) > 1 else None
        return _closeness(task, outcome) if discernibility(size) <= self.ceiling else None

    def recoded(self, block: Block) -> Recoded:
        """The table of a block."""
        projection = self._find(block)
        assert projection is not None  # the block was accepted
        return projection

    def facts(self) -> dict[str, Any]:
        """Nothing beyond what the plan says."""
        return {}

    def why_not(self, blocks: Sequence[Block]) -> tuple[str, list[dict[str, object]]]:
        """Which requirement fails even where the whole table is one class, or the ceiling."""
        for block in blocks:
            if block not in self._confused:
                task = self._task(block)
                whole = classes_of([], task.table.entries, task.table.weights)
                refined = any(r.algebra.refined for r in task.requirements)
                error = infeasible(
                    "not even the whole table as one class meets the requirements",
                    task.requirements,
                    count_classes(whole, task.table.sensitive, refined=refined),
                    task.domains,
                )
                return str(error), list(error.failures)
        least = max(self._confused[block] for block in blocks)
        return (
            f"Mondrian ends with a discernibility of {least:.12g}; dm is {self.ceiling:.12g}. "
            "Raise dm to that, or ask for less.",
            [failure_of("codip", {"dm": self.ceiling}, {"dm": least})],
        )

    def _find(self, block: Block) -> Recoded | None:
        if block not in self._recoded:
            self._recoded[block] = self._run(block)
        return self._recoded[block]

    def _run(self, block: Block) -> Recoded | None:
        task = self._task(block)
        try:
            outcome = _cut(task)
        except InfeasibleError:
            return None
        sizes = np.bincount(outcome.class_of_row, task.table.weights).astype(np.int64)
        self._confused[block] = discernibility(sizes)
        if self.ceiling is not None and self._confused[block] > self.ceiling:
            return None
        return Recoded(outcome, _closeness(task, outcome))

    def _task(self, block: Block) -> Task:
        """The part of the task that covers a block."""
        names = [self.attributes[a] for a in block]
        table = self.task.table
        columns = [*table.quasi_identifiers, *(table[name] for name in names)]
        asked = [part for r in self.task.requirements if (part := r.within(names)) is not None]
        projected = replace(table, columns={column.name: column for column in columns}, left_out=())
        return replace(self.task, table=projected, requirements=asked)


def _cut(task: Task) -> Generalized:
    """The classes of Mondrian, of rows or of persons with several, or groups that lose less."""
    parts = _published(Mondrian(), task)
    # An attribute that is alone in its table has no other one that could be known.
    alone = len(task.table.sensitive) == 1 and task.table.weights is None
    asked = [
        r.model.model_copy(update={"attribute": None})
        if isinstance(r, MultiAttributeLDiversity)
        else r
        for r in task.requirements
    ]
    diverse = any(isinstance(r, DIVERSITIES) for r in asked)
    if not alone or not diverse or not all(isinstance(r, KNOWN) for r in asked):
        return parts
    if mean_loss(task, parts) <= CUT_WELL:
        return parts
    try:
        groups = _published(MsaDiversity(suppression=0), replace(task, requirements=asked))
    except InfeasibleError:
        return parts
    # Some forms, as against attackers who rule values out, are bounded by no share of a group.
    if task.basis.persons is None:
        counts = count_groups(task, groups.class_of_row)
        if not all(requirement.passes(counts, task.domains).all() for requirement in asked):
            return parts
    return min(parts, groups, key=lambda outcome: mean_loss(task, outcome))


def _published(method: Method, task: Task) -> Generalized:
    """The rows in the classes of a method that groups rows, or persons with several."""
    if task.basis.persons is None:
        outcome = method.run(task)
    else:
        outcome = group_persons(method, task, task.basis.persons, hides_numbers=True)
    assert isinstance(outcome, Generalized)
    return outcome


def mean_loss(task: Task, outcome: Generalized) -> float:
    """Return the mean information loss of a cell."""
    size = np.bincount(outcome.class_of_row, task.table.weights)
    cells = [column.loss[column.cell_of_class] for column in outcome.cells.values()]
    share = size / size.sum()
    return float(np.mean([share @ loss for loss in cells])) if cells else 0.0


def _closeness(task: Task, outcome: Generalized) -> float:
    """The t of the worst class and attribute."""
    size = np.bincount(outcome.class_of_row, task.table.weights).astype(np.int64)
    classes = Classes(outcome.class_of_row, np.zeros(len(size), np.int64), size)
    worst = 0.0
    for column in task.table.sensitive:
        values = count_values(classes, column)
        domain = task.domains[column.name]
        distance = earth_movers_distance(values, size, values.total, domain)
        worst = max(worst, float(distance.max(initial=0.0)))
    return worst
