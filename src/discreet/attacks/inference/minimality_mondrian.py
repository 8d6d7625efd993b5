"""Minimality of Mondrian, class by class: no cut that sizes allow may have passed.

People of a class who are on the same side of every such cut are of one *type*; a cut sees no
more of a world than how many rows of each kind every type has. So worlds are counted by these
numbers, each weighed by the arrangements that it represents, and only where there are more than
``DEALINGS`` of them are worlds drawn. A class that no cut may divide tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.base import Scene, wilson_low
from discreet.attacks.inference.beliefs import beliefs_in
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.placement import Placement
from discreet.requirements.base import Requirement, SizeRequirement
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column
from discreet.table.counts import count_classes
from discreet.typing import Codes, Floats

DEALINGS = 20_000  # ways to deal out a class's rows to its types; beyond, worlds are drawn
DRAWN = 2000
LEAVES = 5000  # looked at, drawn at random


class Judged(NamedTuple):
    """Beliefs in the truth of some people, and what these surely are."""

    person: NDArray[np.int64]
    belief: Floats
    sure: Floats


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

    Beside each a lower bound of it, which is less where worlds were drawn.
    """
    if any(r.against_table for r in scene.requirements):
        return None, "a requirement compares classes with the table"
    if scene.manifest.method.parameters.get("cuts") == "relaxed":
        return None, "relaxed cuts"
    others = [r for r in scene.requirements if not isinstance(r, SizeRequirement)]
    columns = list(reading.sensitive.values())
    rows = group_codes([c.codes for c in columns], [c.cardinality for c in columns], reading.rows)
    truth = {c.name: recoded(c, scene.task.table[c.name]) for c in columns}
    chosen = scene.rng.permutation(reading.groups)[:LEAVES]
    looked_at = np.zeros(reading.groups, bool)
    looked_at[chosen] = True
    person = np.flatnonzero(looked_at[reading.group_of_person])
    # Where no cut may divide a class, every arrangement of its rows is a world.
    belief = share_of_truth(reading, truth)
    sure = {name: share.copy() for name, share in belief.items()}
    drawn = False
    for leaf in _divisible_leaves(scene, reading, rows.class_of_row, chosen):
        worlds = _worlds_of(leaf, scene.rng)
        drawn = drawn or not worlds.complete
        kept = np.ones(len(worlds.rows), bool)
        for side in leaf.cuts:
            kept &= ~_cut_passes(scene, columns, rows.first_row, worlds.rows, side, others)
        if not kept.any():
            kept[:] = True  # the cuts of the method are not these
        for c in columns:
            values = c.codes[rows.first_row][worlds.rows[kept]]  # (worlds, members)
            share = _shares(leaf, values, worlds.weight[kept], truth[c.name][leaf.members])
            belief[c.name][leaf.members] = share
            certain = share if worlds.complete else wilson_low(share, len(values))
            sure[c.name][leaf.members] = certain
    sampled = len(chosen) < reading.groups
    how = "leaf" + (", worlds drawn" if drawn else "") + (", classes drawn" if sampled else "")
    found = {name: Judged(person, belief[name][person], sure[name][person]) for name in truth}
    return found, how


def share_of_truth(reading: AdversaryView, truth: Mapping[str, Codes]) -> dict[str, Floats]:
    """(people,) The share of each person's true value in the class, by attribute.

    Every person fits one class.
    """
    people = replace(
        reading,
        placement=Placement.identity(reading.groups),
        place_of_target=reading.group_of_person,
        truth=truth,
    )
    plain = {name: beliefs_in(people, name) for name in truth}
    return {name: found.belief[found.line_of_target] for name, found in plain.items()}


def _divisible_leaves(
    scene: Scene, reading: AdversaryView, row_number: Codes, chosen: NDArray[np.int64]
) -> Iterator[_Leaf]:
    """Those of some classes that sizes allow to cut, one after the other."""
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
    for g in chosen[np.diff(start)[chosen] >= 2 * least]:
        members = people[start[g] : start[g + 1]]
        own = row_number[rows[row_start[g] : row_start[g + 1]]].astype(np.int64)
        cuts = [cut for cut in _cuts(scene, members) if np.bincount(cut).min() >= least]
        if not cuts:
            continue
        _, kind = np.unique(np.stack(cuts), axis=1, return_inverse=True)
        order = np.argsort(kind.ravel(), kind="stable")
        yield _Leaf(
            members[order], [cut[order] for cut in cuts], np.bincount(kind.ravel()), np.sort(own)
        )


def _worlds_of(leaf: _Leaf, rng: np.random.Generator) -> _Worlds:
    """All dealings of a class's rows to its types, or worlds that are drawn."""
    kinds, count = np.unique(leaf.rows, return_counts=True)
    dealt = deal(leaf.rooms, count)
    if dealt is None:
        drawn = rng.permuted(np.tile(leaf.rows, (DRAWN, 1)), axis=1)
        return _Worlds(drawn, np.ones(DRAWN), complete=False)
    rows = np.repeat(
        np.tile(kinds, len(dealt) * len(leaf.rooms)), dealt.ravel()
    ).reshape(len(dealt), len(leaf.rows))  # fmt: skip
    log_factorial = np.array([lgamma(n + 1) for n in range(len(leaf.rows) + 1)])
    log_weight = -log_factorial[dealt].sum(axis=(1, 2))
    return _Worlds(rows, np.exp(log_weight - log_weight.max()), complete=True)


def deal(rooms: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """(ways, types, kinds) every way to fill the types with so many rows of each kind.

    None where there are more than ``DEALINGS``.
    """
    left = rooms[None, :]
    dealt = np.zeros((1, len(rooms), 0), np.int64)
    for rows in count:
        if len(left) * comb(int(rows) + len(rooms) - 1, len(rooms) - 1) > 50 * DEALINGS:
            return None
        ways = _spreads(int(rows), len(rooms))
        after = left[:, None, :] - ways
        before, way = np.nonzero((after >= 0).all(axis=2))
        if len(before) > DEALINGS:
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
        own = slice(first, first + room)
        for value in np.unique(truth[own]):
            hits = (values[:, own] == value).mean(axis=1)
            is_value = first + np.flatnonzero(truth[own] == value)
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
        nearest = min(tried, key=lambda one: abs(2 * int(before[one]) - len(codes)))
        tried = sorted({nearest, len(before) - 1})
    return [int(values[one + 1]) for one in tried]


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
    refined = any(r.needs_refined_counts for r in requirements)
    counts = count_classes(classes, dealt, refined=refined)
    passes = np.ones(len(size), bool)
    for requirement in requirements:
        passes &= requirement.passes(counts, scene.domains)
    return np.asarray(passes.reshape(len(worlds), pieces).all(axis=1))
