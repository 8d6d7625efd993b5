"""Intersection: attackers who put several tables about the same people side by side.

*One release in several tables* (CODIP): each table is read by itself, so a pair of values in two
tables is believed with the product of its shares, and a pair in one table with its joint share;
neither is above the worse of the two alone.

*Independent releases* of the same people: a world gives every person a sensitive row so that every
group of every release has its rows. People who share groups form components; small ones are
enumerated exactly. In larger ones a value weighs the product of its shares in the person's groups,
which is no bound: it may be above or below what all worlds together say.

Person-intersection: an attacker who knows all rows of the target intersects their groups.

The candidates for a target are the persons with a row in every group in which the target has one.
Where all rows of a person carry the cells of one group, these are the members of that group, and
k-anonymity on persons bounds the chance of the right one by 1/k. Where rows of a person are in
several groups, no guarantee bounds it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Criterion, Finding, Scene, summarize
from discreet.attacks.beliefs import (
    ALL_ROWS,
    PersonView,
    beliefs_in,
    finding_on_persons,
    least_group,
    value_bounds,
)
from discreet.attacks.class_attacks import IN_TABLE
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.audit import read_tables
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
from discreet.table.classes import Classes, group_codes, group_lists
from discreet.table.code_maps import code_of_text, recoded
from discreet.table.graphs import smallest_connected
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import Persons
from discreet.typing import Ints

COMPONENT = 14  # people of a component that is enumerated
STEPS = 200_000  # of one enumeration

Row = tuple[int, ...]  # codes of the original
CHUNK = 4_000_000  # pairs of a target and a candidate that are compared at once


class Intersection(Attack):
    """Several tables, or several releases, of the same people side by side."""

    name: ClassVar[str] = "intersection"
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    also_knows: ClassVar[str] = Statement("also-knows.several-releases")
    # Tables of one release are in everybody's hands; other releases are not.
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (
        StandardAttacker.ACQUAINTANCE,
        StandardAttacker.ARCHIVIST,
    )

    releases: tuple[str, ...] = Field(
        default=(), description="Folders of other releases of the same records."
    )

    @property
    def knowledge(self) -> str:
        return Statement("knows.all-releases", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        if not self.reads(scene.kind):
            return super().inapplicable(scene)
        if not self.releases and len(scene.readings) < 2:
            return Statement("inapplicable.no-release")
        return None

    def run(self, scene: Scene) -> list[Finding]:
        if self.releases:
            return self._across(scene)
        people = [of_people(reading, scene) for reading in scene.readings]
        return [
            self._pair(scene, first, second, a, b)
            for first, second in combinations(people, 2)
            for a in first.sensitive
            for b in second.sensitive
        ]

    def _pair(
        self, scene: Scene, one: AdversaryView, other: AdversaryView, a: str, b: str
    ) -> Finding:
        """Both values of a pair of attributes in two tables."""
        beliefs = [beliefs_in(one, a), beliefs_in(other, b)]
        # one of the two is sensitive: the pair discloses it
        chosen = scene.discloses(a, one.truth[a]) | scene.discloses(b, other.truth[b])
        first, second = (found.belief[found.line_of_target][chosen] for found in beliefs)
        limits = [
            value_bounds(scene.requirements, scene.domains, reading, name).everywhere
            for reading, name in ((one, a), (other, b))
        ]
        counted = one.truth[a].astype(np.int64) * (other.sensitive[b].cardinality + 1)
        _, pair, held = np.unique(counted + other.truth[b], return_inverse=True, return_counts=True)
        without = held[pair][chosen] / max(len(pair), 1)
        return summarize(
            self, f"{a} and {b}", f"{one.name}, {other.name}", first * second,
            np.ones(len(first), np.int64), without,
            scene.threshold, np.full(len(first), min(limits)), knowledge=self.knowledge,
            method=one.placement.method if not one.placement.sole else other.placement.method,
        )  # fmt: skip

    def _across(self, scene: Scene) -> list[Finding]:
        """All worlds that fit every release."""
        readings = list(scene.readings)
        for folder in self.releases:
            manifest = Manifest.load(Path(folder))
            tables = read_tables(Path(folder), manifest)
            readings += kind_of(manifest.kind).adversary_views(
                tables, scene.task, manifest, scene.rng
            )
        shared = [
            name
            for name in readings[0].sensitive
            if all(name in reading.sensitive for reading in readings)
        ]
        if len(readings) < 2 or not shared:
            return []
        systems = [_System(reading, shared, scene) for reading in readings]
        known = np.ones(scene.task.table.rows, bool)
        for system in systems:
            known &= system.group_of_person >= 0
        chances, exact = _solve(systems, np.flatnonzero(known))
        findings = []
        for place, name in enumerate(shared):
            column = scene.task.table[name]
            marks = scene.task.secrets.sensitive_values.get(name, np.ones(column.cardinality, bool))
            people = np.flatnonzero(known & marks[column.codes])
            belief = np.array(
                [_chance(chances[int(p)], place, int(column.codes[p])) for p in people], np.float64
            )
            share = column.counts / max(len(column.codes), 1)
            findings.append(
                summarize(
                    self, name, f"{len(readings)} releases", belief,
                    np.ones(len(people), np.int64), share[column.codes[people]], scene.threshold,
                    knowledge=Statement("knows.releases", first=IN_TABLE, releases=len(readings)),
                    method=EXACT if exact else Statement("figures.product-of-shares"),
                    attacker=StandardAttacker.ARCHIVIST,
                )
            )  # fmt: skip
        return findings


def _chance(rows: dict[Row, float], place: int, value: int) -> float:
    return sum((chance for row, chance in rows.items() if row[place] == value), 0.0)


def of_people(reading: AdversaryView, scene: Scene) -> AdversaryView:
    """The reading with the original people as targets, whichever rows they certainly have."""
    if not reading.placement.sole:
        return reading
    people = np.flatnonzero(reading.group_of_person >= 0)
    truth = {
        name: recoded(column, scene.task.table[name])[people]
        for name, column in reading.sensitive.items()
    }
    return replace(reading, place_of_target=reading.group_of_person[people], truth=truth)


class _System:
    """The groups of one release and the rows, in the original's codes, that each must have."""

    def __init__(self, reading: AdversaryView, attributes: Sequence[str], scene: Scene) -> None:
        self.group_of_person = reading.group_of_person
        codes = [
            code_of_text(scene.task.table[name].text, reading.sensitive[name].text)[
                reading.sensitive[name].codes
            ]
            for name in attributes
        ]
        self.rows: list[Counter[Row]] = [Counter() for _ in range(reading.groups)]
        distinct = group_codes(
            [reading.group_of_row, *(code.astype(np.int32) for code in codes)],
            [reading.groups, *(scene.task.table[name].cardinality + 1 for name in attributes)],
            reading.rows,
        )
        for row, count in zip(distinct.first_row, distinct.size, strict=True):
            key = tuple(int(code[row]) for code in codes)
            self.rows[reading.group_of_row[row]][key] += int(count)


def _solve(
    systems: Sequence[_System], people: NDArray[np.int64]
) -> tuple[dict[int, dict[Row, float]], bool]:
    """For every person the chance of each row."""
    chances: dict[int, dict[Row, float]] = {}
    exact = True
    for component in _components(systems, people):
        found = _enumerate(systems, component) if len(component) <= COMPONENT else None
        if found is None:
            exact = False
            found = {person: _product(systems, person) for person in component}
        chances.update(found)
    return chances, exact


def _components(systems: Sequence[_System], people: NDArray[np.int64]) -> list[list[int]]:
    """People who share groups of any release, directly or through others."""
    begin = np.cumsum([0, *(len(system.rows) for system in systems)])
    node = [system.group_of_person[people] + at for system, at in zip(systems, begin, strict=False)]
    others = np.concatenate([node[0][:0], *node[1:]])
    label = smallest_connected(int(begin[-1]), np.tile(node[0], len(node) - 1), others)
    parts: dict[int, list[int]] = defaultdict(list)
    for person, part in zip(people.tolist(), label[node[0]].tolist(), strict=True):
        parts[part].append(person)
    return list(parts.values())


def _enumerate(
    systems: Sequence[_System], component: Sequence[int]
) -> dict[int, dict[Row, float]] | None:
    """Count the worlds of a component; None where it takes too long, or where there are none."""
    groups = {
        (s, int(system.group_of_person[person]))
        for person in component
        for s, system in enumerate(systems)
    }
    left = {(s, g): Counter(systems[s].rows[g]) for s, g in groups}
    seen: dict[int, Counter[Row]] = {person: Counter() for person in component}
    chosen: list[Row] = []
    worlds = steps = 0

    def extend(place: int) -> bool:
        nonlocal worlds, steps
        steps += 1
        if steps > STEPS:
            return False
        if place == len(component):
            worlds += 1
            for person, row in zip(component, chosen, strict=True):
                seen[person][row] += 1
            return True
        nodes = [(s, int(system.group_of_person[component[place]]))
                 for s, system in enumerate(systems)]  # fmt: skip
        for row in [row for row, count in left[nodes[0]].items() if count]:
            if all(left[node][row] > 0 for node in nodes):
                for node in nodes:
                    left[node][row] -= 1
                chosen.append(row)
                finished = extend(place + 1)
                chosen.pop()
                for node in nodes:
                    left[node][row] += 1
                if not finished:
                    return False
        return True

    if not extend(0) or not worlds:
        return None
    return {
        person: {row: count / worlds for row, count in rows.items()}
        for person, rows in seen.items()
    }


def _product(systems: Sequence[_System], person: int) -> dict[Row, float]:
    """The product of the shares of each row in the person's groups, to sum 1."""
    groups = [system.rows[system.group_of_person[person]] for system in systems]
    weight = {
        row: float(np.prod([group[row] / max(group.total(), 1) for group in groups]))
        for row in groups[0]
    }
    total = sum(weight.values())
    return {row: one / total for row, one in weight.items()} if total else {}


class PersonIntersection(Attack):
    """Which person the target is, by all groups that hold a row of the target."""

    name: ClassVar[str] = "person-intersection"
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT

    @property
    def knowledge(self) -> str:
        return Statement("knows.groups-of-rows", first=ALL_ROWS)

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return Statement("inapplicable.one-row")
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
                self, scene, view, Statement("aim.person"), 1 / left,
                1 / max(view.persons.count, 1), bounds,
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
