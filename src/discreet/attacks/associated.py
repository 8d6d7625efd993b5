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
from numpy.typing import NDArray

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Criterion, Finding, Scene, summarize
from discreet.attacks.class_attacks import IN_TABLE
from discreet.methods.series.beliefs.components import components
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
from discreet.table.code_maps import recoded
from discreet.typing import Codes, Floats

PEOPLE = 40  # of a component that is counted
STATES = 5000  # of any step of a component
MOVES = 5_000_000  # of all components of a release together

State = tuple[int, ...]  # rows left, by class and value
Option = tuple[int, int, float]  # the places of two values in a state, and what the pair weighs


@dataclass(eq=False)
class _Budget:
    moves: int


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
        own = slice(counts.start[group], counts.start[group + 1])
        return list(zip(counts.value[own].tolist(), counts.count[own].tolist(), strict=True))


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
        budget = _Budget(MOVES)
        sides = [[_side(scene, reading, name) for name in reading.sensitive]
                 for reading in scene.readings]  # fmt: skip
        for one, other in combinations(sides, 2):
            if one and other:
                people = _small_components(one[0].reading, other[0].reading)
                for a, b in product(one, other):
                    yield from self._pair(scene, a, b, people, budget)

    def expected(self, scene: Scene) -> int:
        counts = [len(reading.sensitive) for reading in scene.readings]
        return sum(2 * a * b for a, b in combinations(counts, 2))

    def _pair(
        self,
        scene: Scene,
        one: _Side,
        other: _Side,
        people: Sequence[NDArray[np.int64]],
        budget: _Budget,
    ) -> list[Finding]:
        """Return what is believed of each of two attributes by way of the other."""
        lift = _lift(one, other)
        members: list[NDArray[np.int64]] = []
        beliefs: list[tuple[Floats, Floats]] = []
        for component in people:
            if budget.moves < 0:
                break
            found = _beliefs(one, other, component, lift, budget)
            if found is not None:
                members.append(component)
                beliefs.append(found)
        assessed = np.concatenate([np.zeros(0, np.int64), *members])
        left_out = len(one.truth) - len(assessed)
        if not len(assessed):
            pair = f"'{one.name}' and '{other.name}'"
            self.omit(scene, pair, Statement("omitted.too-many-worlds"))
            return []
        findings = []
        for number, (side, by) in enumerate(((one, other), (other, one))):
            chosen = scene.discloses(side.name, side.truth[assessed])
            belief = np.concatenate([np.zeros(0), *(found[number] for found in beliefs)])[chosen]
            how: str = EXACT
            if left_out:
                how = Statement("figures.exact-for-some", rows=left_out)
            findings.append(
                summarize(
                    self, side.name, side.reading.name, belief, np.ones(len(belief), np.int64),
                    side.share[side.truth[assessed[chosen]]], scene.threshold, method=how,
                    knowledge=Statement(
                        "knows.joint-frequencies-of", first=IN_TABLE, attribute=side.name,
                        other=by.name,
                    ),
                    details={"associated_with": by.name, "not_assessed": left_out},
                )
            )  # fmt: skip
        return findings


def _side(scene: Scene, reading: AdversaryView, name: str) -> _Side:
    return _Side(reading, name, recoded(reading.sensitive[name], scene.task.table[name]))


def _small_components(one: AdversaryView, other: AdversaryView) -> list[NDArray[np.int64]]:
    """The people of each component that is small and of whose classes every member is known."""
    group_of = np.stack([one.group_of_person, other.group_of_person]).astype(np.int64)
    group_of[1, group_of[1] >= 0] += one.groups
    size = np.concatenate([one.size, other.size])
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


def _lift(one: _Side, other: _Side) -> Floats:
    """(values, values) p(a, b)/(p(a)·p(b)) in the source."""
    joint = np.zeros((one.values + 1, other.values + 1))
    np.add.at(joint, (one.truth, other.truth), 1 / max(len(one.truth), 1))
    independent = np.outer(one.share, other.share)
    return np.divide(joint, independent, out=np.zeros_like(joint), where=independent > 0)


def _beliefs(
    one: _Side, other: _Side, people: NDArray[np.int64], lift: Floats, budget: _Budget
) -> tuple[Floats, Floats] | None:
    """The belief in the truth of every person in a component, for both attributes."""
    place: dict[tuple[int, int, int], int] = {}  # of a side, class and value in the state
    full: list[int] = []
    for number, side in enumerate((one, other)):
        for group in np.unique(side.reading.group_of_person[people]):
            for value, count in side.entries(int(group)):
                place[number, int(group), value] = len(full)
                full.append(count)
    options: list[list[Option]] = []
    for person in people:
        groups = [int(side.reading.group_of_person[person]) for side in (one, other)]
        options.append(
            [
                (place[0, groups[0], a], place[1, groups[1], b], float(lift[a, b]))
                for a, _ in one.entries(groups[0])
                for b, _ in other.entries(groups[1])
                if lift[a, b] > 0
            ]
        )
    chances = weigh_worlds(tuple(full), options, budget)
    if chances is None:
        return None
    found = []
    for number, side in enumerate((one, other)):
        at = [
            place.get(
                (number, int(side.reading.group_of_person[person]), int(side.truth[person])), -1
            )
            for person in people
        ]
        found.append(np.array([chance.get(i, 0.0) for chance, i in zip(chances, at, strict=True)]))
    return found[0], found[1]


def weigh_worlds(
    full: State, options: Sequence[Sequence[Option]], budget: _Budget
) -> list[dict[int, float]] | None:
    """For every person the chance of each place; None where that is too much, or has no world."""
    layers: list[dict[State, float]] = [{full: 1.0}]
    for own in options:
        following: dict[State, float] = defaultdict(float)
        for state, mass in layers[-1].items():
            budget.moves -= len(own)
            for first, second, weight in own:
                if state[first] and state[second]:
                    following[_without(state, first, second)] += mass * weight
        if len(following) > STATES or budget.moves < 0:
            return None
        layers.append(following)
    worlds = layers[-1].get((0,) * len(full), 0.0)
    if not worlds:
        return None
    chances: list[dict[int, float]] = []
    ahead: dict[State, float] = {(0,) * len(full): 1.0}
    for own, layer in zip(reversed(options), reversed(layers[:-1]), strict=True):
        chance: dict[int, float] = defaultdict(float)
        before: dict[State, float] = {}
        for state, mass in layer.items():
            total = 0.0
            for first, second, weight in own:
                if state[first] and state[second]:
                    rest = weight * ahead.get(_without(state, first, second), 0.0)
                    total += rest
                    chance[first] += mass * rest / worlds
                    chance[second] += mass * rest / worlds
            before[state] = total
        ahead = before
        chances.append(chance)
    return chances[::-1]


def _without(state: State, first: int, second: int) -> State:
    """The state after a person has taken one row of each table."""
    left = list(state)
    left[first] -= 1
    left[second] -= 1
    return tuple(left)
