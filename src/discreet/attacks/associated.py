"""Associated: an attacker with several tables who knows how attributes that were split go together.

A release in several tables (CODIP) hides which value of one table belongs to which of another. One
who knows from elsewhere how often values occur together puts the pieces together again: a world
gives every person a row of each table, and weighs Π p(a, b)/(p(a)·p(b)) over all people, a and b
the person's values of two attributes in two tables, p their shares in the source.

People who share classes of either table form components. Small ones are counted exactly, person by
person, the state being the rows that each class has left; nothing is said of people in others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Criterion, Finding, Scene, summarize
from discreet.attacks.class_attacks import IN_TABLE
from discreet.methods.series.beliefs.components import components
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
from discreet.table.code_maps import recoded
from discreet.typing import Codes, Floats, Ints

PEOPLE = 40  # of a component that is counted
STATES = 5000  # of any step of a component
MOVES = 5_000_000  # of all components of a release together

State = tuple[int, ...]  # rows left, by place
Option = tuple[tuple[int, ...], float]  # the places of rows that a person may take, and its weight


@dataclass(eq=False)
class Budget:
    """The moves that are left to count worlds."""

    moves: int = MOVES


@dataclass(frozen=True, eq=False)
class _Side:
    """One attribute in its table."""

    reading: AdversaryView
    name: str
    truth: Codes  # (people,) in the published codes

    @property
    def values(self) -> int:
        return self.reading.sensitive[self.name].cardinality

    @property
    def share(self) -> Floats:
        """The share of each value in the source; the last: values that were not published."""
        return np.bincount(self.truth, minlength=self.values + 1) / max(len(self.truth), 1)

    def entries(self, group: int) -> list[tuple[int, int]]:
        """The values of a class, each with its count."""
        counts = self.reading.counts.values[self.name]
        entries = slice(counts.start[group], counts.start[group + 1])
        values, count = counts.value[entries].tolist(), counts.count[entries].tolist()
        return list(zip(values, count, strict=True))


class Associated(Attack):
    """Values of one table from those of another, by how they go together in the source."""

    name: ClassVar[str] = "associated"
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    also_knows: ClassVar[str] = Statement("also-knows.joint-frequencies")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.INVESTIGATOR,)
    slow: ClassVar[bool] = True
    inside: ClassVar[bool] = False

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.spreads_sensitive

    @property
    def knowledge(self) -> str:
        return Statement("knows.joint-frequencies", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        if self.reads(scene.kind) and len(scene.readings) < 2:
            return Statement("inapplicable.one-table")
        return super().inapplicable(scene)

    def run(self, scene: Scene) -> Iterator[Finding]:
        budget = Budget()
        original = scene.task.table
        sides = [
            [
                _Side(reading, name, recoded(c, original[name]))
                for name, c in reading.sensitive.items()
            ]
            for reading in scene.readings
        ]
        for left, right in combinations(sides, 2):
            if left and right:
                people = _small_components(left[0].reading, right[0].reading)
                for pair in product(left, right):
                    yield from self._pair(scene, *pair, people, budget)

    def expected(self, scene: Scene) -> int:
        counts = [len(reading.sensitive) for reading in scene.readings]
        return sum(2 * a * b for a, b in combinations(counts, 2))

    def _pair(
        self,
        scene: Scene,
        left: _Side,
        right: _Side,
        people: Sequence[Ints],  # of each component
        budget: Budget,
    ) -> Iterator[Finding]:
        """Yield what is believed of each of two attributes by way of the other."""
        lift = _lift(left, right)
        counted: list[tuple[Ints, Floats, Floats]] = []  # people, and their beliefs by side
        for component in people:
            beliefs = _beliefs((left, right), component, lift, budget)
            if budget.moves < 0:
                break
            if beliefs is not None:
                counted.append((component, *beliefs))
        if not counted:
            pair = f"'{left.name}' and '{right.name}'"
            self.omit(scene, pair, Statement("omitted.too-many-worlds"))
            return
        assessed, *by_side = (np.concatenate(parts) for parts in zip(*counted, strict=True))
        left_out = len(left.truth) - len(assessed)
        method = Statement("figures.exact-for-some", rows=left_out) if left_out else EXACT
        for side, by, of_side in zip((left, right), (right, left), by_side, strict=True):
            chosen = scene.discloses(side.name, side.truth[assessed])
            belief = of_side[chosen]
            yield summarize(
                self, side.name, side.reading.name, belief, np.ones(len(belief), np.int64),
                side.share[side.truth[assessed[chosen]]], scene.threshold, method=method,
                knowledge=Statement(
                    "knows.joint-frequencies-of", first=IN_TABLE, attribute=side.name,
                    other=by.name,
                ),
                details={"associated_with": by.name, "not_assessed": left_out},
            )  # fmt: skip


def _small_components(left: AdversaryView, right: AdversaryView) -> list[Ints]:
    """The people of each component that is small and of whose classes every member is known."""
    group_of = np.stack([left.group_of_person, right.group_of_person]).astype(np.int64)
    group_of[1, group_of[1] >= 0] += left.groups
    size = np.concatenate([left.size, right.size])
    component = components(group_of, len(size))
    known = (group_of >= 0).all(axis=0)
    held = np.bincount(group_of[:, known].ravel(), minlength=len(size))
    whole = np.append(held == size, False)  # the last: of people who fit several classes
    people = np.bincount(component[component >= 0])
    sound = people <= PEOPLE
    broken = ~whole[group_of].all(axis=0) & (component >= 0)
    sound[component[broken]] = False
    chosen = np.flatnonzero((component >= 0) & sound[component])
    chosen = chosen[np.lexsort((group_of[1, chosen], group_of[0, chosen], component[chosen]))]
    return np.split(chosen, np.flatnonzero(np.diff(component[chosen])) + 1) if len(chosen) else []


def _lift(left: _Side, right: _Side) -> Floats:
    """(values, values) p(a, b)/(p(a)·p(b)) in the source."""
    joint = np.zeros((left.values + 1, right.values + 1))
    np.add.at(joint, (left.truth, right.truth), 1 / max(len(left.truth), 1))
    independent = np.outer(left.share, right.share)
    return np.divide(joint, independent, out=np.zeros_like(joint), where=independent > 0)


def _beliefs(
    sides: tuple[_Side, _Side], people: Ints, lift: Floats, budget: Budget
) -> tuple[Floats, Floats] | None:
    """The belief in the truth of every person in a component, for both attributes."""
    # A place for each side, class and value.
    place: dict[tuple[int, int, int], int] = {}
    full: list[int] = []
    for number, side in enumerate(sides):
        for group in np.unique(side.reading.group_of_person[people]).tolist():
            for value, count in side.entries(group):
                place[number, group, value] = len(full)
                full.append(count)
    # Every person takes a row of each table.
    groups = [side.reading.group_of_person[people].tolist() for side in sides]
    options = [
        [
            ((place[0, first, a], place[1, second, b]), float(lift[a, b]))
            for a, _ in sides[0].entries(first)
            for b, _ in sides[1].entries(second)
            if lift[a, b] > 0
        ]
        for first, second in zip(*groups, strict=True)
    ]
    chances = weigh_worlds(tuple(full), options, budget)
    if chances is None:
        return None
    first, second = (
        np.array(
            [
                chance.get(place.get((number, group, value), -1), 0.0)
                for chance, group, value in zip(
                    chances, groups[number], side.truth[people].tolist(), strict=True
                )
            ]
        )
        for number, side in enumerate(sides)
    )
    return first, second


def weigh_worlds(
    full: State, options: Sequence[Sequence[Option]], budget: Budget
) -> list[dict[int, float]] | None:
    """For every person the chance of each place; None where that is too much, or has no world."""
    # Forward: the weight of all ways to each state, person by person.
    layers: list[dict[State, float]] = [{full: 1.0}]
    for choices in options:
        following: dict[State, float] = defaultdict(float)
        for state, mass in layers[-1].items():
            budget.moves -= len(choices)
            for places, weight in choices:
                if all(state[place] for place in places):
                    following[_without(state, places)] += mass * weight
        if len(following) > STATES or budget.moves < 0:
            return None
        layers.append(following)
    worlds = sum(layers[-1].values())
    if not worlds:
        return None
    # Backward: the weight of all ways on from each state.
    chances: list[dict[int, float]] = []
    ahead = dict.fromkeys(layers[-1], 1.0)
    for choices, layer in zip(reversed(options), reversed(layers[:-1]), strict=True):
        chance: dict[int, float] = defaultdict(float)
        before: dict[State, float] = defaultdict(float)
        for state, mass in layer.items():
            for places, weight in choices:
                if all(state[place] for place in places):
                    rest = weight * ahead[_without(state, places)]
                    before[state] += rest
                    for place in places:
                        chance[place] += mass * rest / worlds
        ahead = before
        chances.append(chance)
    return chances[::-1]


def _without(state: State, places: tuple[int, ...]) -> State:
    """The state after a person has taken a row of each place."""
    left = list(state)
    for place in places:
        left[place] -= 1
    return tuple(left)
