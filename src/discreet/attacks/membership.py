"""Readers who ask who is in the table, and what is said by who is not.

*Membership*: of the people whose quasi-identifiers a group's cells cover, so many are in the table
as the group has rows; each subset of them is as likely. With several tables of the same people
(CODIP) only the subsets that fill every table's groups remain; their shares are those of greatest
entropy, odds that are a product over the tables, which is exact for one table. Exact
quasi-identifiers (bucketized, decomposed) are groups of their own.

*Absence*: the suppressed are one more class, with the values that the published rows lack.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Criterion, Finding, Scene, summarize
from discreet.knowledge.population import Population
from discreet.releases.kinds.base import Kind
from discreet.releases.worlds.placement import EXACT, scale
from discreet.requirements.population import DeltaPresence
from discreet.statements import Statement
from discreet.table.classes import Classes
from discreet.table.code_maps import recoded
from discreet.table.roles import Role
from discreet.typing import Floats

ROUNDS = 500


class Membership(Attack):
    """Whether a person of the population is in the table."""

    name: ClassVar[str] = "membership"
    criterion: ClassVar[Criterion] = Criterion.LINKABILITY
    also_knows: ClassVar[str] = Statement("also-knows.population")

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return True

    knows: ClassVar[Statement] = Statement("knows.population")

    def lacking(self, scene: Scene) -> str | None:
        return Statement("inapplicable.no-population") if scene.population is None else None

    def run(self, scene: Scene) -> list[Finding]:
        population = scene.population
        assert population is not None
        in_table, method = _in_table(scene, population)
        if in_table is None:
            self.omit(scene, "", Statement("omitted.too-many-groups"))
            return []
        original = scene.task.table
        quasi = [c for c in original.quasi_identifiers if c.name in population.table.columns]
        members = population.alike(quasi, original.rows)
        present = members > 0
        absent = population.kinds.size[in_table <= 1e-12].sum()
        certain = population.kinds.size[in_table >= 1 - 1e-12].sum()
        return [
            summarize(
                self, Statement("aim.membership"), "all tables", in_table[present],
                members[present],
                scene.manifest.published_rows / max(population.rows, 1), scene.threshold,
                _bounds(scene, population, int(present.sum())),
                knowledge=self.knowledge, method=method,
                details={
                    "population": population.rows,
                    "certainly_in": int(certain),
                    "certainly_not_in": int(absent),
                },
            )
        ]  # fmt: skip


def _bounds(scene: Scene, population: Population, lines: int) -> Floats | None:
    """The belief that δ-presence allows, if the attacker's population is the publisher's."""
    publisher = scene.task.basis.population
    if publisher is None or not population.same_people(publisher):
        return None
    upper = [
        requirement.upper
        for requirement in scene.requirements
        if isinstance(requirement, DeltaPresence)
    ]
    return np.full(lines, min(upper)) if upper else None


def _in_table(scene: Scene, population: Population) -> tuple[Floats | None, str]:
    """For each kind of the population the belief that a person of it is in the table.

    None where too many rows fit too many groups.
    """
    tables = [
        (name, table)
        for name, table in scene.tables.items()
        if any(column.role is Role.QUASI_IDENTIFIER for column in table)
    ]
    people = population.kinds.size
    if not scene.kind.makes_alike:
        ((_, table),) = tables
        seen = population.alike(table.quasi_identifiers, table.rows)
        return np.minimum(seen / people, 1.0), EXACT
    fits_of_tables: list[tuple[NDArray[np.int64], NDArray[np.int32], Classes]] = []
    for name, table in tables:
        fits = population.fits(table, scene.manifest.method.levels_of(name) or {})
        if fits is None:
            return None, EXACT
        fits_of_tables.append(fits)
    if all((np.diff(start) <= 1).all() for start, _, _ in fits_of_tables):
        odds = _fit_odds(fits_of_tables, people)
        return odds, EXACT if len(fits_of_tables) == 1 else Statement("figures.greatest-entropy")
    start, group, classes = fits_of_tables[0]
    return _scaled(start, group, classes, people, population.rows), (
        "rows fit several groups: scaling, first table alone"
    )


def _scaled(
    start: NDArray[np.int64],
    group: NDArray[np.int32],
    classes: Classes,
    people: NDArray[np.int64],
    rows: int,
) -> Floats:
    """The same where people fit several groups: every person may also be in none."""
    kinds, outside = len(people), rows - int(classes.size.sum())
    if outside <= 0:
        return np.ones(kinds)
    place = np.concatenate([np.repeat(np.arange(kinds), np.diff(start)), np.arange(kinds)])
    wide = np.concatenate([group, np.full(kinds, classes.count, np.int32)]).astype(np.int32)
    order = np.argsort(place, kind="stable")
    sizes = np.append(classes.size, outside).astype(np.float64)
    weight = scale(start + np.arange(kinds + 1), wide[order], people.astype(np.float64), sizes)
    out = np.zeros(kinds)
    is_out = wide[order] == classes.count
    out[place[order][is_out]] = weight[is_out]
    return 1 - out


def _fit_odds(
    fits_of_tables: list[tuple[NDArray[np.int64], NDArray[np.int32], Classes]],
    people: NDArray[np.int64],
) -> Floats:
    """The chance of each kind to be in the table, every group of every table filled."""
    groups = []
    for start, group, classes in fits_of_tables:
        of_kind = np.full(len(people), classes.count, np.int64)  # the last: fits no group
        of_kind[np.diff(start) > 0] = group
        groups.append((of_kind, np.append(classes.size, 0).astype(np.float64)))
    chance = np.ones(len(people))
    log_odds = np.zeros(len(people))
    for _ in range(ROUNDS if len(groups) > 1 else 1):
        before = chance
        for of_kind, rows in groups:
            chance = 1 / (1 + np.exp(-log_odds))
            filled = np.bincount(of_kind, chance * people, len(rows)).astype(np.float64)
            held = np.bincount(of_kind, people, len(rows)).astype(np.float64)
            step = _log_odds(rows, held) - _log_odds(filled, held)
            log_odds = np.clip(log_odds + step[of_kind], -60, 60)
        chance = 1 / (1 + np.exp(-log_odds))
        if np.abs(chance - before).max(initial=0.0) < 1e-10:
            break
    return np.where(log_odds >= 30, 1.0, np.where(log_odds <= -30, 0.0, chance))


def _log_odds(part: Floats, whole: Floats) -> Floats:
    out = np.maximum(whole - part, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(part) - np.log(out)
    finite: Floats = np.nan_to_num(ratio, nan=0.0, posinf=100, neginf=-100)
    return np.clip(finite, -100, 100)


class Absence(Attack):
    """What the suppressed have in common."""

    name: ClassVar[str] = "absence"
    also_knows: ClassVar[str] = Statement("also-knows.suppressed-rows")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.ENGINEER,)
    inside: ClassVar[bool] = False
    may_count_rows: ClassVar[bool] = True

    @classmethod
    def reads(cls, kind: Kind) -> bool:
        return True

    knows: ClassVar[Statement] = Statement("knows.suppressed-rows")

    def lacking(self, scene: Scene) -> str | None:
        suppressed = scene.manifest.suppressed_rows
        return None if suppressed else Statement("inapplicable.none-suppressed")

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            for attribute, column in reading.sensitive.items():
                source = scene.task.table[attribute]
                of_source = np.bincount(
                    recoded(column, source), minlength=column.cardinality + 1
                )  # the last: values of which no row was published
                lacking = of_source - np.append(column.counts, 0)
                new = _unpublished(column.text.to_list(), source.text.to_list())
                unseen = source.counts[new]
                missing = np.concatenate([lacking[:-1], unseen])
                total = np.concatenate([of_source[:-1], unseen])
                gone = max(int(missing.sum()), 1)
                chosen = np.ones(len(missing), bool)
                published = scene.is_sensitive(attribute)
                if published is not None:
                    chosen = np.append(
                        published[:-1], scene.task.secrets.sensitive_values[attribute][new]
                    )
                findings.append(
                    summarize(
                        self, attribute, reading.name, (missing / gone)[chosen],
                        np.maximum(missing, 0)[chosen], (total / max(total.sum(), 1))[chosen],
                        scene.threshold, knowledge=self.knowledge,
                    )
                )  # fmt: skip
        return findings


def _unpublished(published: list[str | None], source: list[str | None]) -> NDArray[np.int64]:
    known = set(published)
    return np.array([code for code, text in enumerate(source) if text not in known], np.int64)
