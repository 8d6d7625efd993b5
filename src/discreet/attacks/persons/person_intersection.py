"""Person-intersection: an attacker who knows all rows of the target intersects their groups.

The candidates for a target are the persons with a row in every group in which the target has one.
Where all rows of a person carry the cells of one group, these are the members of that group, and
k-anonymity on persons bounds the chance of the right one by 1/k. Where rows of a person are in
several groups, no guarantee bounds it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.attacks.base import Attack, Criterion, Finding, Scene
from discreet.attacks.inference.bounds import least_group
from discreet.attacks.persons.person_view import (
    ALL_ROWS,
    PersonView,
    finding_on_persons,
)
from discreet.table.classes import Classes, group_lists
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Persons
from discreet.typing import Ints

CHUNK = 4_000_000  # pairs of a target and a candidate that are compared at once


class PersonIntersection(Attack):
    """Which person the target is, by all groups that hold a row of the target."""

    name: ClassVar[str] = "person-intersection"
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT

    @property
    def knowledge(self) -> str:
        return f"{ALL_ROWS}, and intersects the groups of the target's rows"

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return "every target has one row"
        return super().inapplicable(scene)

    def run(self, scene: Scene) -> list[Finding]:
        raise NotImplementedError("its targets are persons with several rows")

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        left = candidates(view.classes, view.persons)
        k = least_group(scene.guarantees)
        in_one_group = len(view.members[0]) == view.persons.count
        bounds = None if k is None or not in_one_group else np.full(len(left), 1 / k)
        return [
            finding_on_persons(
                self, scene, view, "the person", 1 / left, 1 / max(view.persons.count, 1), bounds,
                knowledge=self.knowledge,
                details={
                    "fewest_candidates": int(left.min(initial=view.persons.count)),
                    "persons_in_several_groups": int(_scattered(view)),
                },
            )
        ]  # fmt: skip


def _scattered(view: PersonView) -> int:
    return int((np.bincount(view.members[1], minlength=view.persons.count) > 1).sum())


def candidates(classes: Classes, persons: Persons) -> Ints:
    """Return for each person how many persons have a row in all classes of that person's rows."""
    count = persons.count
    pair = distinct_values(persons.number * classes.count + classes.class_of_row)
    person, own = np.divmod(pair, max(classes.count, 1))
    start = np.searchsorted(person, np.arange(count + 1))
    size = np.bincount(own, minlength=classes.count)
    alike = group_lists(start, own.astype(np.int32), classes.count)  # persons with the same classes
    target = alike.first_row
    degree = np.diff(start)[target]
    left = size[own[start[target]]]  # right for those in a single class
    by_class = np.argsort(own, kind="stable")
    member = person[by_class]
    class_start = np.searchsorted(own[by_class], np.arange(classes.count + 1))
    several = np.flatnonzero(degree > 1)
    smallest = _smallest_classes(own, start, size, target[several])
    begin = 0
    while begin < len(several):
        ahead = np.cumsum(size[smallest[begin:]])
        end = begin + max(int(np.searchsorted(ahead, CHUNK)), 1)
        chosen, least = several[begin:end], smallest[begin:end]
        line = np.repeat(np.arange(len(chosen)), size[least])
        within = np.arange(len(line)) - np.repeat(np.cumsum(size[least]) - size[least], size[least])
        candidate = member[class_start[least][line] + within]
        for step in range(int(degree[chosen].max())):  # has a row in the step-th class, too
            more = degree[chosen][line] > step
            wanted = own[start[target[chosen][line]] + np.minimum(step, degree[chosen][line] - 1)]
            key = candidate * classes.count + wanted
            found = np.minimum(np.searchsorted(pair, key), len(pair) - 1)
            kept = ~more | (pair[found] == key)
            line, candidate = line[kept], candidate[kept]
        left[chosen] = np.bincount(line, minlength=len(chosen))
        begin = end
    return left[alike.class_of_row]


def _smallest_classes(own: Ints, start: Ints, size: Ints, target: Ints) -> Ints:
    """The class with the fewest persons among those of each target."""
    length = start[target + 1] - start[target]
    line = np.repeat(np.arange(len(target)), length)
    within = np.arange(len(line)) - np.repeat(np.cumsum(length) - length, length)
    entry = start[target][line] + within
    order = np.lexsort((size[own[entry]], line))
    first = np.cumsum(length) - length
    found: Ints = own[entry[order][first]]
    return found
