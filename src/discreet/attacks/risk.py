"""Re-identification risk in the field's own terms, before and after publishing.

With f the rows that look like a target and F the people of the population who do: *prosecutor*
risk 1/f (the target is known to be in the table), *journalist* risk 1/F (not known), *marketer*
risk the mean of 1/f, or of 1/F, over the rows (the share of all rows that an attempt on every
person gets right), *uniqueness* the share of rows with f = 1, or with F = 1. Where a person has
several published rows, f are the persons with a row in every class of the target's rows, and all
figures are of persons.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.base import ALONE, OTHERS, TOLERANCE, Scene
from discreet.attacks.beliefs import AT_ALL
from discreet.attacks.intersection import candidates
from discreet.attacks.views import PersonView, views_of
from discreet.knowledge.population import Population
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.manifest import Manifest
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons


@dataclass(frozen=True)
class Risk:
    """The re-identification risk of one table."""

    table: str
    prosecutor: float  # greatest
    marketer: float  # mean
    unique: float  # the share of rows, or persons, that look like no other
    journalist: float | None = None  # greatest, against the population
    marketer_population: float | None = None
    unique_population: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def risks_of(
    tables: dict[str, CodedTable],
    manifest: Manifest,
    original: CodedTable,
    readings: Sequence[AdversaryView],
    population: Population | None,
) -> list[Risk]:
    """The risk of the original, and of every published table."""
    before = classes_of(original.quasi_identifiers, original.rows).size
    alike = None
    if population is not None:
        quasi = original.quasi_identifiers
        seen = population.alike(quasi, original.rows)
        inside = seen > 0
        alike = (population.kinds.size[inside].astype(np.float64), seen[inside])
    risks = [_risk("the original", before.astype(np.float64), before, alike)]
    for reading in readings:
        placement = reading.placement
        matching = placement.sums(reading.size[placement.group].astype(np.float64))
        count = np.bincount(reading.place_of_target, minlength=placement.places)
        alike = None
        if population is not None and reading.name in tables:
            alike = _population_of_classes(tables, manifest, reading, population)
        risks.append(_risk(reading.name, matching[count > 0], count[count > 0], alike))
    return risks


def risks_of_persons(
    original: CodedTable, persons: Persons, views: Sequence[PersonView]
) -> list[Risk]:
    """The risk of the persons of the original, and of those of every published table."""
    before = candidates(classes_of(original.quasi_identifiers, original.rows), persons)
    after = [(view.name, candidates(view.classes, view.persons)) for view in views]
    return [
        _risk(name, alike.astype(np.float64), np.ones(len(alike), np.int64), None)
        for name, alike in [("the original", before), *after]
    ]


def _population_of_classes(
    tables: dict[str, CodedTable],
    manifest: Manifest,
    reading: AdversaryView,
    population: Population,
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """For each class the people of the population that it covers, and its rows."""
    table = tables[reading.name]
    if not table.quasi_identifiers:
        return None
    fits = population.fits(table, manifest.method.levels_of(reading.name) or {})
    if fits is None:
        return None
    start, group, classes = fits
    people = np.repeat(population.kinds.size, np.diff(start))
    covered = np.bincount(group, people, classes.count)
    return np.maximum(covered, classes.size), classes.size


def _risk(
    name: str,
    matching: NDArray[np.float64],
    count: NDArray[np.int64],
    population: tuple[NDArray[np.float64], NDArray[np.int64]] | None,
) -> Risk:
    targets = max(int(count.sum()), 1)
    inverse = 1 / matching
    risk = Risk(
        name,
        prosecutor=float(inverse.max(initial=0.0)),
        marketer=float((inverse * count).sum() / targets),
        unique=float(count[matching == 1].sum() / targets),
    )
    if population is None:
        return risk
    people, held = population
    total = max(int(held.sum()), 1)
    return replace(
        risk,
        journalist=float((1 / people).max(initial=0.0)),
        marketer_population=float((held / people).sum() / total),
        unique_population=float(held[people == 1].sum() / total),
    )  # fmt: skip


def list_rows_at_risk(scene: Scene) -> None:
    """List rows believed above the threshold, or certain if other values are known too.

    Rows that are so without the release are left out. Attacks on a decomposed release list its
    rows themselves.
    """
    for view in views_of(scene):
        people = view.of_people(scene)
        if people.unlisted is not None:
            scene.omitted["rows at risk"] = people.unlisted
            continue
        for attribute in people.sensitive:
            sensitive = scene.is_sensitive(attribute, people.domains)
            for knows, known, limit in _choices(scene, attribute, people.sensitive):
                values = people.values(attribute, AT_ALL, known)
                without = people.beside(values, people.whole.values(attribute, AT_ALL, known))
                learned = (values.belief >= limit) & (without < limit)
                if sensitive is not None:
                    learned &= sensitive[np.minimum(values.value, len(sensitive) - 1)]
                rows, belief = people.rows_of(attribute, values, learned)
                scene.list_rows(rows, attribute, knows, belief)


def _choices(
    scene: Scene, attribute: str, sensitive: Collection[str]
) -> list[tuple[str, tuple[str, ...], float]]:
    """What an attacker knows, in words and by attribute, and the belief from which it counts."""
    others = tuple(scene.task.secrets.others(attribute, sensitive))
    alone: tuple[str, tuple[str, ...], float] = (ALONE, (), scene.threshold + TOLERANCE)
    return [alone, (OTHERS, others, 1 - TOLERANCE)] if others else [alone]
