"""Intersection: attackers who put several tables about the same people side by side.

*One release in several tables* (CODIP): each table is read by itself, so a pair of values in two
tables is believed with the product of its shares, and a pair in one table with its joint share;
neither is above the worse of the two alone. So are the pairs of persons with several rows, who have
a value if any of their rows has it.

*Independent releases* of the same people: a world gives every person a sensitive row so that every
group of every release has its rows. People who share groups form components; small ones are
counted exactly. In larger ones a value weighs the product of its shares in the person's groups,
which is no bound: it may be above or below what all worlds together say.

Person-intersection: an attacker who knows all rows of the target intersects their groups.

The candidates for a target are the persons with a row in every group in which the target has one.
Where all rows of a person carry the cells of one group, these are the members of that group, and
k-anonymity on persons bounds the chance of the right one by 1/k. Where rows of a person are in
several groups, no guarantee bounds it.

Associated: an attacker with several tables who knows how attributes that were split go together.

A release in several tables (CODIP) hides which value of one table belongs to which of another. One
who knows from elsewhere how often values occur together puts the pieces together again: a world
gives every person a row of each table, and weighs Π p(a, b)/(p(a)·p(b)) over all people, a and b
the person's values of two attributes in two tables, p their shares in the source.

People who share classes of either table form components. Small ones are counted exactly, person by
person, the state being the rows that each class has left; nothing is said of people in others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import ALL_ROWS, IN_TABLE, Attack, Criterion, Finding, Scene, summarize
from discreet.attacks.beliefs import AT_ALL, least_group
from discreet.attacks.series_beliefs import members_of
from discreet.attacks.views import PersonView, RowView, View, ViewAttack
from discreet.methods.series.beliefs.components import components
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.audit import read_tables
from discreet.releases.kinds.base import Kind
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.releases.worlds.counting import Budget, Options, count_worlds
from discreet.releases.worlds.permanents import EXACT_STATES
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
from discreet.table.budgets import MOST_STEPS
from discreet.table.classes import Classes, group_lists
from discreet.table.code_maps import code_of_text, recoded
from discreet.table.kernels.lists import (
    distinct_values,
    entries_of,
    places_of,
    starts_of,
    stretches,
)
from discreet.table.persons import Persons
from discreet.typing import Bools, Codes, Floats, Ints

Row = tuple[int, ...]  # codes of the original


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

    targets_persons: ClassVar[bool] = True

    releases: tuple[str, ...] = Field(
        default=(), description="Folders of other releases of the same records."
    )

    knows: ClassVar[Statement] = Statement("knows.all-releases", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        several = self.releases or len(scene.readings) > 1
        return None if several else Statement("inapplicable.no-release")

    def unassessed(self, scene: Scene) -> str | None:
        several = scene.persons is not None and self.releases
        return Statement("not-assessed.persons") if several else None

    def run(self, scene: Scene) -> list[Finding]:
        if self.releases:
            return self._across(scene)
        if scene.persons is not None:
            return [
                self._pair_of_persons(scene, first, second, a, b)
                for first, second in combinations(scene.persons, 2)
                for a, b in product(first.sensitive, second.sensitive)
            ]
        people = [RowView(reading).of_people(scene) for reading in scene.readings]
        return [
            self._pair(scene, first, second, a, b)
            for first, second in combinations(people, 2)
            for a in first.sensitive
            for b in second.sensitive
        ]

    def _pair(self, scene: Scene, left: RowView, right: RowView, a: str, b: str) -> Finding:
        """Both values of a pair of attributes in two tables."""
        first, second = left.reading, right.reading
        # One of the two is sensitive: the pair discloses it.
        chosen = scene.discloses(a, first.truth[a]) | scene.discloses(b, second.truth[b])
        belief, limit = np.ones(int(chosen.sum())), np.inf
        for view, name in ((left, a), (right, b)):
            beliefs = view.values(name, AT_ALL)
            belief = belief * beliefs.belief[beliefs.line_of_target][chosen]
            limit = min(limit, view.bounds(scene, name, AT_ALL).everywhere)
        code = first.truth[a].astype(np.int64) * (second.sensitive[b].cardinality + 1)
        _, pair, count = np.unique(code + second.truth[b], return_inverse=True, return_counts=True)
        without = count[pair][chosen] / max(len(pair), 1)
        return summarize(
            self, f"{a} and {b}", f"{first.name}, {second.name}", belief,
            np.ones(len(belief), np.int64), without,
            scene.threshold, np.full(len(belief), limit), knowledge=self.knowledge,
            method=(second if first.placement.sole else first).placement.method,
        )  # fmt: skip

    def _pair_of_persons(
        self, scene: Scene, first: PersonView, second: PersonView, a: str, b: str
    ) -> Finding:
        """Two values of a person, of which one is sensitive: those that are believed in most."""
        products = []
        for left, right in ((first.all, second.all), (first.whole, second.whole)):
            any_a, sensitive_a = _greatest(scene, left, a)
            any_b, sensitive_b = _greatest(scene, right, b)
            products.append(np.maximum(sensitive_a * any_b, any_a * sensitive_b))
        belief, without = products
        # Where one value is harmless, the other one is bounded: the weaker of both bounds holds.
        limit = max(_sensitive_bound(scene, view, of) for view, of in ((first, a), (second, b)))
        targets, times = first.targets
        has_sensitive = belief[targets] > 0
        targets, times = targets[has_sensitive], times[has_sensitive]
        both = replace(first, name=f"{first.name}, {second.name}")
        return both.summary(
            self, scene, f"{a} and {b}", belief[targets], times, without[targets],
            np.full(len(targets), limit), counted=False, knowledge=self.knowledge,
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
        group_of = np.stack([reading.group_of_person for reading in readings])
        rows_of = [_rows_of_groups(reading, shared, scene) for reading in readings]
        known: Bools = np.all(group_of >= 0, axis=0)
        chances, exact = _solve(group_of, rows_of, known)
        findings = []
        for place, name in enumerate(shared):
            column = scene.task.table[name]
            marks = scene.task.secrets.sensitive_values.get(name, np.ones(column.cardinality, bool))
            people = np.flatnonzero(known & marks[column.codes])
            belief = np.array(
                [
                    sum(
                        chance
                        for row, chance in chances[person].items()
                        if row[place] == column.codes[person]
                    )
                    for person in people.tolist()
                ],
                np.float64,
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


def _rows_of_groups(
    reading: AdversaryView, attributes: Sequence[str], scene: Scene
) -> list[Counter[Row]]:
    """The sensitive rows, in the original's codes, that each group of a release has."""
    original = scene.task.table
    codes = [
        code_of_text(original[name].text, reading.sensitive[name].text)[
            reading.sensitive[name].codes
        ].tolist()
        for name in attributes
    ]
    rows: list[Counter[Row]] = [Counter() for _ in range(reading.groups)]
    for group, *row in zip(reading.group_of_row.tolist(), *codes, strict=True):
        rows[group][tuple(row)] += 1
    return rows


def _solve(
    group_of: Codes,  # (releases, people)
    rows_of: Sequence[Sequence[Counter[Row]]],  # by release and group
    known: Bools,  # (people,)
) -> tuple[dict[int, dict[Row, float]], bool]:
    """For every known person the chance of each row; whether all are exact."""
    first = np.cumsum([0, *(len(rows) for rows in rows_of)])
    numbered = np.where(known, group_of + first[:-1, None], -1)
    ordered, start = members_of(components(numbered, int(first[-1])))
    chances: dict[int, dict[Row, float]] = {}
    exact, budget = True, Budget(MOST_STEPS)
    for begin, end in pairwise(start):
        people = ordered[begin:end].tolist()
        groups = [
            [rows[group] for rows, group in zip(rows_of, group_of[:, person], strict=True)]
            for person in people
        ]
        counted = _count_worlds(groups, budget) if len(people) <= PEOPLE else None
        exact = exact and counted is not None
        chances.update(zip(people, counted or map(_product, groups), strict=True))
    return chances, exact


def _count_worlds(
    groups: Sequence[Sequence[Counter[Row]]], budget: Budget
) -> list[dict[Row, float]] | None:
    """The chance of each row of the persons of a component, by each one's groups."""
    place: dict[tuple[int, Row], int] = {}  # of a group and a row
    room: list[int] = []
    for group in {id(group): group for of_person in groups for group in of_person}.values():
        for row, count in group.items():
            place[id(group), row] = len(room)
            room.append(count)
    # A person has the same row in all releases.
    rows = [
        [row for row in of_person[0] if all(row in group for group in of_person)]
        for of_person in groups
    ]
    choices = [
        Options(np.array([[place[id(group), row] for group in of_person] for row in possible]))
        for of_person, possible in zip(groups, rows, strict=True)
        if possible
    ]
    if len(choices) < len(groups):
        return None
    shares = count_worlds(room, choices, EXACT_STATES, fills=False, budget=budget)
    if shares is None:
        return None
    return [
        dict(zip(possible, share.tolist(), strict=True))
        for possible, share in zip(rows, shares, strict=True)
    ]


def _product(groups: Sequence[Counter[Row]]) -> dict[Row, float]:
    """The product of the shares of each row in a person's groups, to sum 1."""
    weight = {
        row: float(np.prod([group[row] / max(group.total(), 1) for group in groups]))
        for row in groups[0]
    }
    total = sum(weight.values())
    return {row: mass / total for row, mass in weight.items()} if total else {}


def _greatest(scene: Scene, view: PersonView, attribute: str) -> tuple[Floats, Floats]:
    """(persons,) The greatest belief in a value of each person, and in a sensitive one."""
    values = view.values(attribute, AT_ALL)
    marks = scene.is_sensitive(attribute, view.domains)
    sensitive = values if marks is None else values.of(marks[values.value])
    return values.greatest(view.persons.count), sensitive.greatest(view.persons.count)


def _sensitive_bound(scene: Scene, view: PersonView, attribute: str) -> float:
    """The bound on the belief in any sensitive value of a person; infinite where one has none."""
    bounds = view.bounds(scene, attribute, AT_ALL).of_value
    marks = scene.is_sensitive(attribute, view.domains)
    return float((bounds if marks is None else bounds[marks[: len(bounds)]]).max(initial=0.0))


class PersonIntersection(ViewAttack):
    """Which person the target is, by all groups that hold a row of the target."""

    name: ClassVar[str] = "person-intersection"
    quick: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT
    knows: ClassVar[Statement] = Statement("knows.groups-of-rows", first=ALL_ROWS)

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return Statement("inapplicable.one-row")
        return super().inapplicable(scene)

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        assert isinstance(view, PersonView)
        everybody = view.all
        left, (targets, times) = candidates(everybody.classes, everybody.persons), view.targets
        k = least_group(scene.guarantees)
        in_one_group = len(everybody.members[0]) == everybody.persons.count
        bounds = None if k is None or not in_one_group else np.full(len(targets), 1 / k)
        groups = np.bincount(everybody.members[1], minlength=everybody.persons.count)
        yield view.summary(
            self, scene, view.aim, 1 / left[targets], times, 1 / max(everybody.persons.count, 1),
            bounds, counted=False, knowledge=self.knowledge,
            details={
                "fewest_candidates": int(left.min(initial=everybody.persons.count)),
                "persons_in_several_groups": int((groups > 1).sum()),
            },
        )  # fmt: skip


def candidates(classes: Classes, persons: Persons) -> Ints:
    """Return for each person how many persons have a row in all classes of that person's rows."""
    pair = distinct_values(persons.number * classes.count + classes.class_of_row)
    person, of_class = np.divmod(pair, max(classes.count, 1))
    start = np.searchsorted(person, np.arange(persons.count + 1))
    size = np.bincount(of_class, minlength=classes.count)
    of_class = of_class[np.lexsort((of_class, size[of_class], person))]  # a person's smallest first
    # Persons with the same classes have the same candidates.
    alike = group_lists(start, of_class.astype(np.int32), classes.count)
    first, degree = start[alike.first_row], np.diff(start)[alike.first_row]
    left = size[of_class[first]]  # right for those in a single class
    by_class = np.argsort(of_class, kind="stable")
    class_start = starts_of(size)
    # Of the members of a target's smallest class those are candidates who are in all others.
    several = np.flatnonzero(degree > 1)
    for part in stretches(left[several]):
        chosen = several[part]
        entry, line = entries_of(class_start, of_class[first[chosen]])
        candidate = person[by_class[entry]]
        for step in range(1, int(degree[chosen].max())):
            further = np.minimum(step, degree[chosen][line] - 1)
            key = candidate * classes.count + of_class[first[chosen][line] + further]
            present = places_of(pair, key) >= 0
            line, candidate = line[present], candidate[present]
        left[chosen] = np.bincount(line, minlength=len(chosen))
    return left[alike.class_of_row]


PEOPLE = 40  # of a component that is counted


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

    def entries(self, group: int) -> tuple[Ints, Ints]:
        """The values of a class, and how often each occurs in it."""
        counts = self.reading.counts.values[self.name]
        entries = slice(counts.start[group], counts.start[group + 1])
        return counts.value[entries].astype(np.int64), counts.count[entries]


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

    knows: ClassVar[Statement] = Statement("knows.joint-frequencies", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        return Statement("inapplicable.one-table") if len(scene.readings) < 2 else None

    def run(self, scene: Scene) -> Iterator[Finding]:
        budget = Budget(MOST_STEPS)
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
    # The rows of each class and value, side by side.
    room: list[int] = []
    first: dict[tuple[int, int], int] = {}  # by side and class
    groups = np.stack([side.reading.group_of_person[people] for side in sides])
    for number, side in enumerate(sides):
        for group in np.unique(groups[number]).tolist():
            first[number, group] = len(room)
            room += side.entries(group)[1].tolist()
    # People of the same two classes take a row of each table.
    pairs, of_person, count = np.unique(groups, axis=1, return_inverse=True, return_counts=True)
    choices, values = [], []
    for left, right, number in zip(*pairs.tolist(), count.tolist(), strict=True):
        a, b = sides[0].entries(left)[0], sides[1].entries(right)[0]
        of_a, of_b = np.nonzero(lift[np.ix_(a, b)] > 0)
        if not len(of_a):
            return None
        place = np.stack([first[0, left] + of_a, first[1, right] + of_b], axis=1)
        choices.append(Options(place, number, lift[a[of_a], b[of_b]]))
        values.append((a[of_a], b[of_b]))
    shares = count_worlds(room, choices, EXACT_STATES, budget=budget)
    if shares is None:
        return None
    left_belief, right_belief = (
        np.array([
            shares[number][values[number][side] == truth].sum()
            for number, truth in zip(of_person.ravel().tolist(), sides[side].truth[people].tolist(),
                                     strict=True)
        ])
        for side in (0, 1)
    )  # fmt: skip
    return left_belief, right_belief
