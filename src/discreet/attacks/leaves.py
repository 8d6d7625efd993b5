"""Minimality of Mondrian, class by class: no cut that sizes allow may have passed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import Scene, wilson_low
from discreet.attacks.reading import Reading
from discreet.attacks.worlds import count_worlds, distinct_arrangements
from discreet.data.classes import Classes, group_codes
from discreet.data.counts import count_classes
from discreet.data.table import Codes, Column
from discreet.models.requirement import Requirement, SizeRequirement
from discreet.releases.comparison import recoded

LEAF_WORLDS = 2000  # counted where there are no more, else so many are drawn
LEAVES = 1000  # looked at, drawn at random

Figures = NDArray[np.float64]
Judged = tuple[Figures, Figures]  # beliefs, and what they surely are


def leaf_beliefs(scene: Scene, reading: Reading) -> tuple[dict[str, Judged] | None, str]:
    """The belief in everybody's truth with only the worlds of each class in which no cut passes.

    Beside each a lower bound of it, which is less where worlds were drawn.
    """
    if any(r.against_table for r in scene.requirements):
        return None, "a requirement compares classes with the table"
    on_size = [r for r in scene.requirements if isinstance(r, SizeRequirement)]
    others = [r for r in scene.requirements if not isinstance(r, SizeRequirement)]
    columns = list(reading.sensitive.values())
    rows = group_codes([c.codes for c in columns], [c.cardinality for c in columns], reading.rows)
    original = scene.task.table
    truth = {c.name: recoded(c, original[c.name]) for c in columns}
    people = np.flatnonzero(reading.group_of_person >= 0)
    chosen = scene.rng.permutation(reading.groups)[:LEAVES]
    members_by_group = np.argsort(reading.group_of_person[people], kind="stable")
    bounds = np.searchsorted(
        reading.group_of_person[people][members_by_group], np.arange(reading.groups + 1)
    )
    rows_by_group = np.argsort(reading.group_of_row, kind="stable")
    row_bounds = np.searchsorted(reading.group_of_row[rows_by_group], np.arange(reading.groups + 1))
    found: dict[str, list[Figures]] = {c.name: [] for c in columns}
    sure: dict[str, list[Figures]] = {c.name: [] for c in columns}
    drawn = False
    for g in chosen:
        members = people[members_by_group[bounds[g] : bounds[g + 1]]]
        own = rows.class_of_row[rows_by_group[row_bounds[g] : row_bounds[g + 1]]]
        worlds, complete = _worlds_of(own.tolist(), scene.rng)
        drawn = drawn or not complete
        kept = np.ones(len(worlds), bool)
        for side in _cuts(scene, members):
            if _sizes_allow(side, on_size):
                kept &= ~_cut_passes(scene, columns, rows.first_row, worlds, side, others)
        if not kept.any():
            kept[:] = True  # the cuts of the method are not these
        for c in columns:
            values = c.codes[rows.first_row][worlds[kept]]  # (worlds, members)
            share = (values == truth[c.name][members]).mean(axis=0)
            found[c.name].append(share)
            sure[c.name].append(share if complete else wilson_low(share, len(values)))
    sampled = len(chosen) < reading.groups
    how = "leaf" + (", worlds drawn" if drawn else "") + (", classes drawn" if sampled else "")
    return {name: (np.concatenate(found[name]), np.concatenate(sure[name])) for name in found}, how


def _worlds_of(rows: Sequence[int], rng: np.random.Generator) -> tuple[NDArray[np.int64], bool]:
    """(worlds, members) all arrangements of a class's rows, or some that are drawn."""
    if count_worlds([rows]) <= LEAF_WORLDS:
        return np.array(list(distinct_arrangements(sorted(rows))), np.int64), True
    drawn = rng.permuted(np.tile(np.array(rows, np.int64), (LEAF_WORLDS, 1)), axis=1)
    return drawn, False


def _cuts(scene: Scene, members: NDArray[np.int64]) -> list[Codes]:
    """The pieces of each median cut, or of each cut at the children of the common ancestor."""
    cuts = []
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
        middle = np.sort(codes)[(len(codes) - 1) // 2]
        side = (codes > middle).astype(np.int32)
        if 0 < side.sum() < len(side):
            cuts.append(side)
    return cuts


def _sizes_allow(side: Codes, requirements: Sequence[Requirement]) -> bool:
    sizes = np.bincount(side)
    least = max((int(getattr(r, "k", 1)) for r in requirements), default=1)
    return bool((sizes >= least).all())


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
