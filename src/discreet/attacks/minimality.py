"""Minimality: an attacker who knows the algorithm keeps the tables on which it would do the same.

Only worlds on which the method publishes these very groups are kept. In four ways, and the finding
says which:

- *exact*: a table with few worlds; the method is run again on each (full-domain, mondrian,
  msa-diversity along the curve: they draw nothing at random).
- *at most share/acceptance* (full-domain): worlds are drawn, and one is kept where every node one
  step finer fails, which it must where this node was the cheapest. A belief is then at most the
  value's share over the share of worlds that are kept (its lower bound at z = 4).
- *leaf* (mondrian): each class by itself; a world of it is kept where every cut that sizes allow
  fails. Cuts of pooled children are not looked at.
- *not assessed*: larger tables grouped along the curve.

Immune, and so not attacked: groups formed without a look at quasi-identifiers, with ties broken by
chance (anatomy, decomposition), in blind blocks (msa-diversity with ``grouping: blocks``), or
without a look at sensitive values (requirements on sizes alone).

Minimality of Mondrian, class by class: no cut that sizes allow may have passed.

People of a class who are on the same side of every such cut are of one *type*; a cut sees no
more of a world than how many rows of each kind every type has. So worlds are counted by these
numbers, each weighed by the arrangements that it represents, and only where there are more than
``MOST_STATES`` of them are worlds drawn. A class that no cut may divide tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, factorial, lgamma
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from discreet.attacks import base
from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import IN_TABLE, Attack, Finding, Scene, summarize, wilson, wilson_low
from discreet.attacks.beliefs import beliefs_in
from discreet.attacks.views import RowView
from discreet.errors import InfeasibleError
from discreet.methods.base import Bucketized, Generalized, Method, Secrets, Task
from discreet.methods.registry import METHODS
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.statements import Statement
from discreet.table.budgets import MOST_STATES, SAMPLE
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column
from discreet.table.counts import count_classes
from discreet.typing import Codes, Floats

RERUN_ROWS = 200
DRAWN_CELLS = 20_000_000  # rows that are dealt out in all drawn worlds together
FEWEST_DRAWS = 20
Z = 4.0
# Where persons are drawn too: members of a class in all its worlds, and the fewest worlds.
DRAWN_MEMBERS, FEWEST_DRAWN = 50_000, 100


class Minimality(Attack):
    """What is betrayed by groups being no finer than they are."""

    name: ClassVar[str] = "minimality"
    quick: ClassVar[bool] = True
    also_knows: ClassVar[str] = Statement("also-knows.method")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)
    slow: ClassVar[bool] = True
    samples: ClassVar[bool] = True
    inside: ClassVar[bool] = False

    worlds: int = Field(
        default=1000, ge=1, description="Greatest number of worlds to run the method on."
    )

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.publishes_counts and not kind.spreads_sensitive

    knows: ClassVar[Statement] = Statement("knows.method", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        manifest = scene.manifest
        method, parameters = manifest.method.name, manifest.method.parameters
        if manifest.method.blind_to_quasi_identifiers:
            return Statement("inapplicable.random-groups")
        if method == "msa-diversity" and parameters.get("grouping") == "blocks":
            return Statement("inapplicable.blind-blocks")
        if all(isinstance(r, SizeRequirement) for r in scene.guarantees):
            return Statement("inapplicable.blind-groups")
        return None

    def unassessed(self, scene: Scene) -> str | None:
        manifest = scene.manifest
        if manifest.method.name not in ("full-domain", "mondrian", "msa-diversity"):
            return Statement("not-assessed.method", method=manifest.method.name)
        if manifest.method.parameters.get("levels") is not None:
            return Statement("not-assessed.given-levels")
        if any(r.counting.population for r in scene.requirements):
            return Statement("not-assessed.population")
        if manifest.suppressed_rows:
            return Statement("not-assessed.suppressed")
        if any(not _everybody_certain(reading) for reading in scene.readings):
            return Statement("not-assessed.several-groups")
        return None

    def run(self, scene: Scene) -> list[Finding]:
        (reading,) = scene.readings
        judged = _by_running(scene, reading, self.worlds)
        how = "exact"
        method = scene.manifest.method.name
        if judged is None and method == "full-domain":
            judged, how = _by_predecessors(scene, reading)
        elif judged is None and method == "mondrian":
            judged, how = leaf_beliefs(scene, reading)
        if judged is None:
            reason = how if how != "exact" else Statement("worlds.too-many")
            self.omit(scene, "", Statement("not-assessed", reason=reason))
            return []
        findings = []
        for attribute in reading.sensitive:
            plain = beliefs_in(reading, attribute)
            if attribute not in judged:
                self.omit(scene, attribute, Statement("not-assessed", reason=how))
                continue
            person, belief, sure, estimated = judged[attribute]
            truth = recoded(reading.sensitive[attribute], scene.task.table[attribute])
            chosen = scene.discloses(attribute, truth[person])
            belief, sure = belief[chosen], sure[chosen]
            share = np.append(reading.share(attribute), 0.0)  # the last: not published
            without = share[np.minimum(truth[person[chosen]], len(share) - 1)]
            findings.append(
                summarize(
                    self, attribute, reading.name, belief, np.ones(len(belief), np.int64),
                    without, scene.threshold,
                    knowledge=self.knowledge, method=how, sure=sure, estimated=estimated,
                    details={
                        "mean_without_the_method": plain.mean_of(
                            scene.discloses(attribute, plain.value)
                        )
                    },
                )
            )  # fmt: skip
        return findings


def _everybody_certain(reading: AdversaryView) -> bool:
    held = np.bincount(
        reading.group_of_person[reading.group_of_person >= 0], minlength=reading.groups
    )
    return bool((held == reading.size).all())


def _by_running(scene: Scene, reading: AdversaryView, most: int) -> dict[str, Judged] | None:
    """The beliefs over all worlds on which the method does the same; None if there are too many."""
    if scene.task.table.rows > RERUN_ROWS:
        return None
    method = _method(scene)
    columns = list(reading.sensitive.values())
    rows = group_codes([c.codes for c in columns], [c.cardinality for c in columns], reading.rows)
    members = [np.flatnonzero(reading.group_of_person == g) for g in range(reading.groups)]
    of_group = [
        rows.class_of_row[reading.group_of_row == g].tolist() for g in range(reading.groups)
    ]
    if method is None or count_worlds(of_group) > most:
        return None
    original = scene.task.table
    code_of_row = {  # the codes of a distinct sensitive row in the original's dictionaries
        c.name: recoded(original[c.name], c)[rows.first_row] for c in columns
    }
    remaining = 0
    seen = {c.name: np.zeros((original.rows, c.cardinality)) for c in columns}
    everybody = np.arange(original.rows)
    for world in all_worlds(of_group):
        row_of_person = np.empty(original.rows, np.int64)
        for people, dealt in zip(members, world, strict=True):
            row_of_person[people] = dealt
        changed = {
            name: replace(original[name], codes=codes[row_of_person].astype(np.int32))
            for name, codes in code_of_row.items()
        }
        table = replace(original, columns={**original.columns, **changed})
        task = Task(
            table, scene.task.hierarchies, scene.task.requirements, np.random.default_rng(0),
            secrets=Secrets(scene.task.secrets.sensitive_values),
        )  # fmt: skip
        if not _publishes(method, task, reading.group_of_person):
            continue
        remaining += 1
        for c in columns:
            seen[c.name][everybody, c.codes[rows.first_row][row_of_person]] += 1
    if not remaining:
        return None
    judged = {}
    for c in columns:
        share = seen[c.name][everybody, recoded(c, original[c.name])] / remaining
        judged[c.name] = Judged(everybody, share, share)
    return judged


def _method(scene: Scene) -> Method | None:
    """The method of the manifest with its parameters."""
    kind = METHODS.get(scene.manifest.method.name)
    try:
        return None if kind is None else kind.model_validate(scene.manifest.method.parameters)
    except ValidationError:
        return None


def _publishes(method: Method, task: Task, group_of_person: NDArray[np.int32]) -> bool:
    """Return whether the method forms these very groups."""
    try:
        outcome = method.run(task)
    except InfeasibleError:
        return False
    if isinstance(outcome, Generalized):
        formed = outcome.class_of_row
    elif isinstance(outcome, Bucketized):
        formed = outcome.group_of_row
    else:
        return False
    pairs = set(zip(formed.tolist(), group_of_person.tolist(), strict=True))
    return len(pairs) == len(set(formed.tolist())) == len(set(group_of_person.tolist()))


def _by_predecessors(scene: Scene, reading: AdversaryView) -> tuple[dict[str, Judged] | None, str]:
    """Upper bounds from the share of drawn worlds in which every finer node fails."""
    if scene.manifest.method.parameters.get("suppression"):
        return None, Statement("worlds.suppressed")
    finer = _finer_classes(scene, reading)
    requirements = scene.requirements
    on_size = [r for r in requirements if isinstance(r, SizeRequirement)]
    others = [r for r in requirements if not isinstance(r, SizeRequirement)]
    open_nodes = [classes for classes in finer if _passes(scene, reading, classes, None, on_size)]
    original = scene.task.table
    draws = max(FEWEST_DRAWS, min(1000, DRAWN_CELLS // max(original.rows, 1)))
    by_group = np.argsort(reading.group_of_person, kind="stable")
    rows_by_group = np.argsort(reading.group_of_row, kind="stable")
    remaining = drawn = 0
    while open_nodes and drawn < draws:
        if drawn >= FEWEST_DRAWS and scene.budget.spent:
            break  # the worlds drawn before are a sample too
        drawn += 1
        key = scene.rng.random(reading.rows)
        dealt = rows_by_group[np.lexsort((key, reading.group_of_row[rows_by_group]))]
        row_of_person = np.empty(original.rows, np.int64)
        row_of_person[by_group] = dealt
        remaining += not any(
            _passes(scene, reading, classes, row_of_person, others) for classes in open_nodes
        )
    acceptance = wilson(remaining, drawn, Z)[0] if open_nodes else 1.0
    if acceptance <= 0.01:
        return None, Statement("worlds.rejected")
    person = np.arange(original.rows)
    judged = {
        name: Judged(person, np.minimum(share / acceptance, 1.0), share)
        for name, share in share_of_truth(scene, reading).items()
    }
    if not open_nodes:
        return judged, "exact"
    return judged, f"at most share/acceptance; acceptance at least {acceptance:.3f}"


def _finer_classes(scene: Scene, reading: AdversaryView) -> list[Classes]:
    """The classes of every node that is one step finer in one quasi-identifier."""
    table = scene.task.table
    levels = scene.manifest.method.levels_of(reading.name) or {}
    finer = []
    for lowered in table.quasi_identifiers:
        if not levels.get(lowered.name, 0):
            continue
        codes: list[Codes] = []
        cardinalities = []
        for column in table.quasi_identifiers:
            height = levels.get(column.name, 0) - (column.name == lowered.name)
            level = scene.task.hierarchies[column.name].levels[height]
            codes.append(level.node_of_leaf[column.codes])
            cardinalities.append(level.nodes)
        finer.append(group_codes(codes, cardinalities, table.rows))
    return finer


def _passes(
    scene: Scene,
    reading: AdversaryView,
    classes: Classes,
    row_of_person: NDArray[np.int64] | None,
    requirements: Sequence[Requirement],
) -> bool:
    """Return whether all classes meet some requirements, with each person's row as it was dealt."""
    columns = [] if row_of_person is None else [
        column.take(row_of_person) for column in reading.sensitive.values()
    ]  # fmt: skip
    refined = any(requirement.algebra.refined for requirement in requirements)
    counts = count_classes(classes, columns, refined=refined)
    return all(bool(r.passes(counts, scene.domains).all()) for r in requirements)


class Judged(NamedTuple):
    """Beliefs in the truth of some people, and what these surely are."""

    person: NDArray[np.int64]
    belief: Floats
    sure: Floats
    estimated: bool = False  # whether the people were drawn


@dataclass(frozen=True, eq=False)
class _Leaf:
    """The people of a class, by type, and its rows."""

    members: NDArray[np.int64]  # ordered by type
    cuts: list[Codes]  # the piece of each member
    rooms: NDArray[np.int64]  # (types,) members
    rows: NDArray[np.int64]  # the numbers of distinct sensitive rows


@dataclass(frozen=True, eq=False)
class _Worlds:
    """Worlds of a class, or what its cuts see of them."""

    rows: NDArray[np.int64]  # (worlds, members)
    weight: Floats  # (worlds,)
    complete: bool  # whether these are all


def leaf_beliefs(scene: Scene, reading: AdversaryView) -> tuple[dict[str, Judged] | None, str]:
    """The belief in every person's truth with only the worlds of each class in which no cut passes.

    Beside each a lower bound of it, which is less where worlds were drawn. Of a large table, the
    beliefs of persons drawn with replacement, as many as the time allows.
    """
    if any(r.algebra.against_table for r in scene.requirements):
        return None, "a requirement compares classes with the table"
    if scene.manifest.method.parameters.get("cuts") == "relaxed":
        return None, "relaxed cuts"
    others = [r for r in scene.requirements if not isinstance(r, SizeRequirement)]
    columns = list(reading.sensitive.values())
    rows = group_codes([c.codes for c in columns], [c.cardinality for c in columns], reading.rows)
    truth = {c.name: recoded(c, scene.task.table[c.name]) for c in columns}
    # The persons who are targets, and their classes in the order in which these are looked at.
    person = np.flatnonzero(reading.group_of_person >= 0)
    sampled = len(person) > base.TARGETS
    if sampled:
        person = person[scene.rng.integers(0, len(person), base.TARGETS)]
    classes, first = np.unique(reading.group_of_person[person], return_index=True)
    chosen = classes[np.argsort(first)].astype(np.int64)
    # Where no cut may divide a class, every arrangement of its rows is a world.
    belief = share_of_truth(scene, reading)
    sure = {name: share.copy() for name, share in belief.items()}
    drawn = False
    judged = len(person)
    for number, leaf in _divisible_leaves(scene, reading, rows.class_of_row, chosen):
        if sampled and scene.budget.spent:  # the persons drawn before are a sample too
            judged = int(np.sort(first)[number])
            break
        most = max(FEWEST_DRAWN, min(SAMPLE, DRAWN_MEMBERS // len(leaf.members)))
        worlds = _worlds_of(leaf, scene.rng, most if sampled else SAMPLE)
        drawn = drawn or not worlds.complete
        possible = np.ones(len(worlds.rows), bool)
        for side in leaf.cuts:
            possible &= ~_cut_passes(scene, columns, rows.first_row, worlds.rows, side, others)
        if not possible.any():
            possible[:] = True  # the cuts of the method are not these
        for c in columns:
            values = c.codes[rows.first_row][worlds.rows[possible]]  # (worlds, members)
            share = _shares(leaf, values, worlds.weight[possible], truth[c.name][leaf.members])
            belief[c.name][leaf.members] = share
            certain = share if worlds.complete else wilson_low(share, len(values))
            sure[c.name][leaf.members] = certain
    if not judged:
        return None, Statement("omitted.time.none")
    person = person[:judged]
    how = Statement("figures.leaf" + ".worlds-drawn" * drawn + ".classes-drawn" * sampled)
    by_attribute = {
        name: Judged(person, belief[name][person], sure[name][person], sampled) for name in truth
    }
    return by_attribute, how


def share_of_truth(scene: Scene, reading: AdversaryView) -> dict[str, Floats]:
    """(people,) The share of each person's true value in the class, by attribute.

    Every person fits one class.
    """
    people = RowView(reading).of_people(scene).reading
    plain = {name: beliefs_in(people, name) for name in people.sensitive}
    return {name: beliefs.belief[beliefs.line_of_target] for name, beliefs in plain.items()}


def _divisible_leaves(
    scene: Scene, reading: AdversaryView, row_number: Codes, chosen: NDArray[np.int64]
) -> Iterator[tuple[int, _Leaf]]:
    """Those of some classes that sizes allow to cut, one after the other, and their places."""
    least = max(
        (int(getattr(r, "k", 1)) for r in scene.requirements if isinstance(r, SizeRequirement)),
        default=1,
    )
    people = np.flatnonzero(reading.group_of_person >= 0)
    people = people[np.argsort(reading.group_of_person[people], kind="stable")]
    every = np.arange(reading.groups + 1)
    start = np.searchsorted(reading.group_of_person[people], every)
    rows = np.argsort(reading.group_of_row, kind="stable")
    row_start = np.searchsorted(reading.group_of_row[rows], every)
    for place in np.flatnonzero(np.diff(start)[chosen] >= 2 * least).tolist():
        g = chosen[place]
        members = people[start[g] : start[g + 1]]
        rows_of_class = row_number[rows[row_start[g] : row_start[g + 1]]].astype(np.int64)
        cuts = [cut for cut in _cuts(scene, members) if np.bincount(cut).min() >= least]
        if not cuts:
            continue
        _, kind = np.unique(np.stack(cuts), axis=1, return_inverse=True)
        order = np.argsort(kind.ravel(), kind="stable")
        yield (
            place,
            _Leaf(
                members[order],
                [cut[order] for cut in cuts],
                np.bincount(kind.ravel()),
                np.sort(rows_of_class),
            ),
        )


def _worlds_of(leaf: _Leaf, rng: np.random.Generator, most: int) -> _Worlds:
    """All dealings of a class's rows to its types, or so many worlds that are drawn."""
    kinds, count = np.unique(leaf.rows, return_counts=True)
    dealt = deal(leaf.rooms, count)
    if dealt is None:
        drawn = rng.permuted(np.tile(leaf.rows, (most, 1)), axis=1)
        return _Worlds(drawn, np.ones(most), complete=False)
    rows = np.repeat(
        np.tile(kinds, len(dealt) * len(leaf.rooms)), dealt.ravel()
    ).reshape(len(dealt), len(leaf.rows))  # fmt: skip
    log_factorial = np.array([lgamma(n + 1) for n in range(len(leaf.rows) + 1)])
    log_weight = -log_factorial[dealt].sum(axis=(1, 2))
    return _Worlds(rows, np.exp(log_weight - log_weight.max()), complete=True)


def deal(rooms: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """(ways, types, kinds) every way to fill the types with so many rows of each kind.

    None where there are more than ``MOST_STATES``.
    """
    left = rooms[None, :]
    dealt = np.zeros((1, len(rooms), 0), np.int64)
    for rows in count:
        if len(left) * comb(int(rows) + len(rooms) - 1, len(rooms) - 1) > 50 * MOST_STATES:
            return None
        ways = _spreads(int(rows), len(rooms))
        after = left[:, None, :] - ways
        before, way = np.nonzero((after >= 0).all(axis=2))
        if len(before) > MOST_STATES:
            return None
        left = after[before, way]
        dealt = np.concatenate([dealt[before], ways[way][:, :, None]], axis=2)
    return dealt


def _spreads(rows: int, types: int) -> NDArray[np.int64]:
    """(ways, types) every way to write a number as a sum of so many."""
    bars = np.array(list(combinations(range(rows + types - 1), types - 1)), np.int64)
    edges = np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), rows + types - 1)
    return np.asarray(np.diff(np.concatenate(edges, axis=1), axis=1) - 1)


def _shares(leaf: _Leaf, values: Codes, weight: Floats, truth: Codes) -> Floats:
    """The weight of the worlds in which each member has the truth; a type's members are alike."""
    share = np.empty(len(leaf.members))
    first = 0
    for room in leaf.rooms:
        members = slice(first, first + room)
        for value in np.unique(truth[members]):
            hits = (values[:, members] == value).mean(axis=1)
            is_value = first + np.flatnonzero(truth[members] == value)
            share[is_value] = np.average(hits, weights=weight)
        first += room
    return share


def _cuts(scene: Scene, members: NDArray[np.int64]) -> list[Codes]:
    """The pieces of each cut that is tried, pools of children aside."""
    cuts: list[Codes] = []
    for column in scene.task.table.quasi_identifiers:
        codes = column.codes[members]
        hierarchy = scene.task.hierarchies.get(column.name)
        if hierarchy is not None:
            shared = [len(np.unique(level.node_of_leaf[codes])) for level in hierarchy.levels]
            common = shared.index(1) if 1 in shared else len(shared)
            if common == 0:
                continue
            nodes = hierarchy.levels[common - 1].node_of_leaf[codes]
            cuts.append(np.unique(nodes, return_inverse=True)[1].astype(np.int32))
            continue
        missing = column.cardinality - 1 if column.has_null else -1
        cuts += [(codes >= first).astype(np.int32) for first in _boundaries(codes, missing)]
    return cuts


def _boundaries(codes: Codes, missing: int) -> list[int]:
    """Where an ordered attribute is cut: the codes that come first after each cut.

    At the boundaries on both sides of the median; where values are missing beside others, these are
    set apart first, and then the boundary that is nearer to the median is tried.
    """
    values, count = np.unique(codes, return_counts=True)
    before = np.cumsum(count)[:-1]  # (boundaries,) rows before each
    below = np.flatnonzero(2 * before <= len(codes))[-1:]
    above = np.flatnonzero(2 * before > len(codes))[:1]
    tried = [*below.tolist(), *above.tolist()]
    if tried and values[-1] == missing:
        nearest = min(tried, key=lambda boundary: abs(2 * int(before[boundary]) - len(codes)))
        tried = sorted({nearest, len(before) - 1})
    return [int(values[boundary + 1]) for boundary in tried]


def _cut_passes(
    scene: Scene,
    columns: Sequence[Column],
    first_row: NDArray[np.int64],
    worlds: NDArray[np.int64],
    side: Codes,
    requirements: Sequence[Requirement],
) -> NDArray[np.bool_]:
    """For each world whether every piece of a cut meets the requirements."""
    pieces = int(side.max()) + 1
    number = (np.arange(len(worlds))[:, None] * pieces + side).ravel().astype(np.int32)
    size = np.bincount(number, minlength=len(worlds) * pieces).astype(np.int64)
    first = np.zeros(len(size), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    classes = Classes(number, first, size)
    dealt = [column.take(first_row[worlds.ravel()]) for column in columns]
    refined = any(r.algebra.refined for r in requirements)
    counts = count_classes(classes, dealt, refined=refined)
    passes = np.ones(len(size), bool)
    for requirement in requirements:
        passes &= requirement.passes(counts, scene.domains)
    return np.asarray(passes.reshape(len(worlds), pieces).all(axis=1))


def count_worlds(rows_of_group: Sequence[Sequence[int]]) -> int:
    """Return how many worlds differ from each other."""
    worlds = 1
    for rows in rows_of_group:
        worlds *= factorial(len(rows))
        for count in Counter(rows).values():
            worlds //= factorial(count)
    return worlds


def all_worlds(rows_of_group: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, ...]]]:
    """Every world: for each group the rows of its members, in the members' order."""
    arrangements = [list(distinct_arrangements(sorted(rows))) for rows in rows_of_group]
    for world in product(*arrangements):
        yield list(world)


def distinct_arrangements(rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The distinct orders of some rows, each once."""
    left = Counter(rows)
    chosen: list[int] = []

    def extend() -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(rows):
            yield tuple(chosen)
            return
        for row in list(left):
            if left[row]:
                left[row] -= 1
                chosen.append(row)
                yield from extend()
                chosen.pop()
                left[row] += 1

    yield from extend()
