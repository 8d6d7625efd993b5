"""Inference of a quasi-identifier that is not published (Abdalaal, 2012, section 2.5.9).

A column that is left out may follow from those that are published: sex from a relationship, a year
of birth from that of a degree. The attacker has other data in which some people are whole, learns a
naive Bayes classifier from them (Laplace's correction, one more of each value), and predicts the
column of every other published row from the row's cells: what a generalized cell says of a value is
the share of the people with this value whom the cell covers. A sensitive value is a cell too.

The figure is an accuracy, beside that of the most frequent value alone. No guarantee bounds it: a
column that can be predicted is no less known than if it were published.

    from experiments.removed_column import register; register()
    dc.attack(release, original=frame, attacks=[{"removed-column": {"column": "sex"}}])
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Finding, Scene, wilson
from discreet.attacks.registry import ATTACKS
from discreet.hierarchies.covering_classes import coverages_of
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.kinds.base import Kind
from discreet.table.classes import classes_of
from discreet.typing import Codes, Floats

SEED = 0  # of the people whom the attacker has


class RemovedColumn(Attack):
    """A column that the release leaves out, from the cells that it publishes."""

    name: ClassVar[str] = "removed-column"
    inside: ClassVar[bool] = False
    also_knows: ClassVar[str] = "some people with all columns"
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)

    column: str | None = Field(
        default=None,
        description="The column: one of the quasi-identifiers, whose cells are ignored, or one of "
        "the file `truth`. By default each quasi-identifier in turn.",
    )
    truth: Path | None = Field(
        default=None, description="A CSV with the column, a row for each row of the original."
    )
    known: float = Field(
        default=0.5, gt=0, lt=1, description="Share of the people whom the attacker has whole."
    )

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return kind.name == "generalized"

    @property
    def knowledge(self) -> str:
        return f"has {self.known:.0%} of the people with all columns, from other data"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        names = [column.name for column in scene.task.table.quasi_identifiers]
        if reason is None and self.truth is None and self.column not in (None, *names):
            return f"{self.column} is not a quasi-identifier; give a file that has it"
        if reason is None and self.truth is not None:
            found = pl.read_csv(self.truth, infer_schema=False)
            if self.column not in found.columns or len(found) != scene.task.table.rows:
                return f"{self.truth.name} lacks the column or a row for each row of the original"
        return reason

    def expected(self, scene: Scene) -> int:
        return len(scene.task.table.quasi_identifiers) if self.column is None else 1

    def run(self, scene: Scene) -> Iterator[Finding]:
        ((name, records),) = scene.tables.items()
        (view,) = scene.readings
        classes = classes_of(records.quasi_identifiers, records.rows)
        cells = {c.name: c.codes[classes.first_row] for c in records.quasi_identifiers}
        if self.truth is not None:
            removed = pl.read_csv(self.truth, infer_schema=False)[str(self.column)]
            values, codes = np.unique(removed.to_numpy(), return_inverse=True)
            yield self._finding(scene, view, name, cells, codes, len(values), str(self.column))
            return
        for column in scene.task.table.quasi_identifiers:
            if self.column in (None, column.name):
                others = {other: cell for other, cell in cells.items() if other != column.name}
                yield self._finding(
                    scene, view, name, others, column.codes, column.cardinality, column.name
                )

    def _finding(
        self,
        scene: Scene,
        view: AdversaryView,
        table: str,
        cells: dict[str, Codes],  # by visible quasi-identifier: (classes,)
        truth: Codes,  # (original rows,) of the removed column
        values: int,
        column: str,
    ) -> Finding:
        original = scene.task.table
        order = np.random.default_rng(SEED).permutation(original.rows)
        own, rest = np.split(order, [int(self.known * original.rows)])
        rest = rest[view.group_of_person[rest] >= 0]  # published rows, each with its class
        people = np.bincount(truth[own], minlength=values)
        log_chance = np.repeat(np.log(people + 1.0)[None, :], len(rest), axis=0)
        visible = [original[name] for name in cells]
        levels = scene.manifest.method.levels_of(table) or {}
        coverages = coverages_of(scene.tables[table], visible, scene.task.hierarchies, levels)
        for coverage, quasi in zip(coverages, visible, strict=True):
            together = _counts(quasi.codes[own], quasi.cardinality, truth[own], values)
            share = (coverage.sums(together) + coverage.size[:, None] / quasi.cardinality) / (
                people + 1.0
            )
            log_chance += np.log(share)[cells[quasi.name][view.group_of_person[rest]]]
        for sensitive in original.sensitive:
            together = _counts(sensitive.codes[own], sensitive.cardinality, truth[own], values)
            share = (together + 1 / sensitive.cardinality) / (people + 1.0)
            log_chance += np.log(share)[sensitive.codes[rest]]
        right = int((log_chance.argmax(axis=1) == truth[rest]).sum())
        without = int((truth[rest] == people.argmax()).sum())
        count = max(len(rest), 1)
        return Finding(
            self.name, self.knowledge, column, table, len(rest), mean=right / count,
            greatest=right / count, above=0.0, certain=0.0, baseline=without / count, bound=None,
            exceeded=False, inside=False, method="best guess", interval=wilson(right, len(rest)),
            is_belief=False, also_knows=self.also_knows, attacker=self.attackers[0],
        )  # fmt: skip


def _counts(codes: Codes, cardinality: int, truth: Codes, values: int) -> Floats:
    """(values of a column, values of the removed one) People with both."""
    keys: NDArray[np.int64] = codes.astype(np.int64) * values + truth
    counts = np.bincount(keys, minlength=cardinality * values)
    return counts.reshape(cardinality, values).astype(np.float64)


def register() -> None:
    """Add the attack for this process."""
    ATTACKS.register(RemovedColumn)
