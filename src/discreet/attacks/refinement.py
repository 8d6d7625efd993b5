"""Refinement: an attacker who knows that each row got the finest cells that a group offered.

A local recoding gives rows different cells, so a person may fit several groups, a fine one within
a coarse one. A program that looks for little loss publishes finest groups first and coarse cells
only for the rows that remain (ARX's local recoding: Chhillar, Righi, Sutter and Kornaropoulos,
2025, "Combinatorial Refinement Attacks on k-Anonymity Without Auxiliary Information"). The attacker
turns this around: no row of a coarse group lies where a finer group was published.

*Who*: a person is in the finest of the groups that fit, by the values that its cells cover, and the
beliefs in sensitive values follow. *Cells*: the values of a group's quasi-identifiers that remain,
of those that its cells cover; estimated from points drawn evenly within the cells.

Departures. The linear program of the paper also bounds how many of the rows that remain lie in a
class that was too small to be published. It needs k and the order in which ARX tried its levels,
and is left out, so both figures are what exclusion alone gives. Where a method does not publish
finest groups first, the attacker is wrong; the beliefs are scored by the truth and show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.beliefs import ValueBounds, beliefs_in, ungrouped
from discreet.attacks.views import RowView
from discreet.hierarchies.coverage import Coverage
from discreet.hierarchies.covering_classes import coverages_of
from discreet.releases.adversary_view import EQUAL_ROWS, AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.releases.worlds.placement import EXACT, Placement
from discreet.statements import Statement
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.table.kernels.lists import starts_of
from discreet.typing import Bools, Codes, Floats, Ints

POINTS = 200  # drawn within the cells of a group
GROUPS = 3000  # whose cells are compared with all others


class Refinement(Attack):
    """What follows where each row has the finest cells that were published around it."""

    name: ClassVar[str] = "refinement"
    inside: ClassVar[bool] = False
    also_knows: ClassVar[str] = Statement("also-knows.finest-first")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.makes_alike

    knows: ClassVar[Statement] = Statement("knows.finest-first")

    def lacking(self, scene: Scene) -> str | None:
        overlap = any(map(_overlaps, scene.readings))
        return None if overlap else Statement("inapplicable.no-finer-groups")

    def run(self, scene: Scene) -> Iterator[Finding]:
        for view in scene.readings:
            if not _overlaps(view) or view.name not in scene.tables:
                continue
            table = scene.tables[view.name]
            volume, cells, coverages = _volumes(table, scene, view)
            if len(volume) != view.groups:
                continue  # groups of values apart from those of cells
            refined = replace(view, placement=_finest(view, volume))
            ruled_out = _ruled_out(cells, coverages, volume, scene.rng)
            for attribute, column in view.sensitive.items():
                plain = beliefs_in(view, attribute)
                yield RowView(refined).finding(
                    self, scene, attribute, beliefs_in(refined, attribute),
                    beliefs_in(ungrouped(view), attribute),
                    ValueBounds(np.full(column.cardinality, np.inf)), knowledge=self.knowledge,
                    sensitive=scene.is_sensitive(attribute),
                    details={
                        "mean_without_refinement": plain.mean_of(
                            scene.discloses(attribute, plain.value)
                        ),
                        **({} if ruled_out is None else {"ruled_out": ruled_out}),
                    },
                )  # fmt: skip


def _overlaps(view: AdversaryView) -> bool:
    """Return whether some person fits several groups."""
    return bool((np.diff(view.placement.start) > 1).any())


def _volumes(
    table: CodedTable, scene: Scene, view: AdversaryView
) -> tuple[Floats, list[Codes], list[Coverage]]:
    """(groups,) The logarithm of how many combinations of values each group covers; its cells."""
    classes = classes_of(table.quasi_identifiers, table.rows)
    people = [scene.task.table[column.name] for column in table.quasi_identifiers]
    levels = scene.manifest.method.levels_of(view.name) or {}
    coverages = list(coverages_of(table, people, scene.task.hierarchies, levels))
    cells = [column.codes[classes.first_row] for column in table.quasi_identifiers]
    volume = np.zeros(classes.count)
    for coverage, cell in zip(coverages, cells, strict=True):
        volume += np.log(np.maximum(coverage.size[cell], 1))
    return volume, cells, coverages


def _finest(view: AdversaryView, volume: Floats) -> Placement:
    """Keep of the groups that fit a person those that cover least, each of their rows as likely."""
    start, group = view.placement.start, view.placement.group
    place = np.repeat(np.arange(view.placement.places), np.diff(start))
    least = np.full(view.placement.places, np.inf)
    np.minimum.at(least, place, volume[group])
    finest = volume[group] <= least[place] + 1e-9
    place, group = place[finest], group[finest]
    rows = np.bincount(place, view.size[group], view.placement.places)
    of_place = starts_of(np.bincount(place, minlength=view.placement.places))
    method = EXACT if len(group) == len(np.unique(place)) else EQUAL_ROWS
    return Placement(of_place, group, view.size[group] / rows[place], method)


def _ruled_out(
    cells: Sequence[Codes], coverages: Sequence[Coverage], volume: Floats, rng: np.random.Generator
) -> float | None:
    """The mean share of a group's combinations of values that finer groups cover; None if large."""
    groups = len(volume)
    if groups > GROUPS:
        return None
    shares = np.zeros(groups)
    for group in np.flatnonzero(volume > 0).tolist():
        points = [
            coverage.pick(np.full(POINTS, cell[group]), rng)
            for coverage, cell in zip(coverages, cells, strict=True)
        ]
        finer = np.flatnonzero(volume < volume[group] - 1e-9)
        inside: Bools = np.zeros(POINTS, bool)
        for start in range(0, len(finer), 256):
            batch = finer[start : start + 256]
            covered = np.ones((len(batch), POINTS), bool)
            for coverage, cell, values in zip(coverages, cells, points, strict=True):
                pairs = coverage.covers(np.repeat(cell[batch], POINTS), np.tile(values, len(batch)))
                covered &= pairs.reshape(len(batch), POINTS)
            inside |= covered.any(axis=0)
        shares[group] = inside.mean()
    open_groups: Ints = np.flatnonzero(volume > 0)
    return float(shares[open_groups].mean()) if len(open_groups) else 0.0
