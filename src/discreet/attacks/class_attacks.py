"""Attackers who know the groups and no sensitive value.

- *linking*: which row is the target's; 1/(rows of the groups that fit).
- *homogeneity*, which is also probabilistic disclosure: the share of a value in the target's group.
- *skewness*: the same share beside the value's share in the table; their ratio is the gain.
- *similarity*: the share of the values that are of one kind with the truth, by the levels of the
  attribute's hierarchy or by kinds that the attacker is told of.

Where a person has several published rows, the targets are persons. *Homogeneity* then asks whether
the target has the value at all, and whether a given row of the target has it; *skewness* and
*similarity* ask about a given row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.base import Attack, Criterion, Finding, Scene, summarize
from discreet.attacks.inference.beliefs import Beliefs, beliefs_in, weighted_beliefs
from discreet.attacks.inference.bounds import kind_bounds, least_group, value_bounds
from discreet.attacks.persons.person_view import (
    ALL_ROWS,
    AT_ALL,
    GIVEN_ROW,
    PersonView,
    finding_on_persons,
    finding_on_values,
    person_bounds,
)
from discreet.hierarchies.hierarchy import Level
from discreet.releases.adversary_view import AdversaryView
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import Column
from discreet.typing import Bools

IN_TABLE = "knows the quasi-identifiers of every row in the table"


def baseline_of(reading: AdversaryView, attribute: str, beliefs: Beliefs) -> NDArray[np.float64]:
    """The share of each line's true value in the whole table."""
    return _share_of_lines(reading.share(attribute), beliefs)


def _share_of_lines(share: NDArray[np.float64], beliefs: Beliefs) -> NDArray[np.float64]:
    padded = np.append(share, 0.0)  # the last: a value that was not published
    return padded[np.minimum(beliefs.value, len(share))]


class Linking(Attack):
    """Which published row is the target's."""

    name: ClassVar[str] = "linking"
    quick: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT

    @property
    def knowledge(self) -> str:
        return IN_TABLE

    def run(self, scene: Scene) -> list[Finding]:
        k = least_group(scene.requirements)
        findings = []
        for reading in scene.readings:
            matching = reading.placement.sums(reading.size[reading.placement.group].astype(float))
            count = np.bincount(reading.place_of_target, minlength=reading.placement.places)
            present = count > 0
            bounds = None if k is None else np.full(int(present.sum()), 1 / k)
            findings.append(
                summarize(
                    self, "the row", reading.name, 1 / matching[present], count[present],
                    1 / max(reading.rows, 1), scene.threshold, bounds,
                    knowledge=self.knowledge, sampled=reading.sampled,
                    estimated=reading.estimated,
                )
            )  # fmt: skip
        return findings

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        k, count = least_group(scene.guarantees), view.persons.count
        group, person = view.members
        belief = np.zeros(count)
        np.maximum.at(belief, person, 1 / view.size[group])
        bounds = None if k is None else np.full(count, 1 / k)
        return [finding_on_persons(
            self, scene, view, "the person", belief, 1 / max(count, 1), bounds
        )]  # fmt: skip


class Homogeneity(Attack):
    """Which value the target has, by its share in the target's group."""

    name: ClassVar[str] = "homogeneity"
    quick: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return IN_TABLE

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            for attribute in reading.sensitive:
                beliefs = beliefs_in(reading, attribute)
                bounds = value_bounds(scene.requirements, scene.domains, reading, attribute)
                baseline = baseline_of(reading, attribute, beliefs)
                lines = bounds.of_lines(reading, beliefs)
                findings.append(self.finding(scene, reading, attribute, beliefs, baseline, lines))
        return findings

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        return [
            _on_values(self, scene, view, column, reader)
            for column in view.sensitive.values()
            for reader in (AT_ALL, GIVEN_ROW)
        ]


class Skewness(Attack):
    """How much more likely a value has become than it is in the table."""

    name: ClassVar[str] = "skewness"
    quick: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and the distribution of values in the whole table"

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            for attribute in reading.sensitive:
                beliefs = beliefs_in(reading, attribute)
                share = np.append(reading.share(attribute), np.inf)
                of_line = share[np.minimum(beliefs.value, len(share) - 1)]
                gain = beliefs.belief / of_line
                bounds = kind_bounds(
                    scene.requirements, scene.domains, attribute, share[:-1], apart=None
                )
                padded = np.append(bounds, 1.0)
                findings.append(
                    self.finding(
                        scene, reading, attribute, beliefs,
                        baseline_of(reading, attribute, beliefs),
                        padded[np.minimum(beliefs.value, len(bounds))],
                        details={"greatest_gain": float(gain.max(initial=0.0))},
                    )
                )  # fmt: skip
        return findings

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        findings = []
        for attribute, column in view.sensitive.items():
            values, share = view.values_of(column, GIVEN_ROW), view.share(column, GIVEN_ROW)
            gain = values.belief / share[values.value]
            bounds = person_bounds(
                scene.guarantees, view.domains, attribute, share, GIVEN_ROW, of_kinds=True
            )
            findings.append(
                finding_on_values(
                    self, scene, view, attribute, values, view.whole.values_of(column, GIVEN_ROW),
                    bounds, knowledge=f"{ALL_ROWS}, and the distribution in the whole table",
                    details={"greatest_gain": float(gain.max(initial=0.0)), "reader": GIVEN_ROW},
                    sensitive=scene.is_sensitive(attribute, view.domains),
                )
            )  # fmt: skip
        return findings


class Similarity(Attack):
    """Which kind of value the target has: the levels of a hierarchy, or kinds that are given."""

    name: ClassVar[str] = "similarity"
    quick: ClassVar[bool] = True

    kinds_of: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(
        default_factory=dict,
        description="By attribute: categories of similar values. Default: the levels of "
        "the hierarchy.",
    )

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and which values have a similar meaning"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason or any(
            self._groupings(scene, column)
            for columns in scene.sensitive
            for column in columns.values()
        ):
            return reason
        if any(name in scene.task.hierarchies for columns in scene.sensitive for name in columns):
            return "no hierarchy groups the published values of a sensitive attribute below its top"
        return "no sensitive attribute has a hierarchy, and no kinds of values were given"

    def run(self, scene: Scene) -> list[Finding]:
        return [
            self._one(scene, reading, attribute, title, kind_of_value, apart)
            for reading in scene.readings
            for attribute in reading.sensitive
            for title, kind_of_value, apart in self._groupings(scene, reading.sensitive[attribute])
        ]

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        return [
            _on_values(
                self, scene, view, _of_kinds(column, kind_of_value), GIVEN_ROW,
                aim=f"{attribute} ({title})", of_kinds=True, apart=apart,
                knowledge=f"{ALL_ROWS}, and which values have a similar meaning",
                sensitive=_sensitive_kinds(scene, attribute, kind_of_value),
            )
            for attribute, column in view.sensitive.items()
            for title, kind_of_value, apart in self._groupings(scene, column)
        ]  # fmt: skip

    def _one(
        self,
        scene: Scene,
        reading: AdversaryView,
        attribute: str,
        title: str,
        kind_of_value: NDArray[np.int32],  # (published values,)
        apart: float | None,
    ) -> Finding:
        kinds = int(kind_of_value.max(initial=-1)) + 1
        padded = np.append(kind_of_value, kinds)
        of_row = kind_of_value[reading.sensitive[attribute].codes]
        truth = padded[reading.truth[attribute]].astype(np.int32)
        beliefs = weighted_beliefs(reading, of_row, truth, kinds)
        share = np.bincount(of_row, minlength=kinds) / max(reading.rows, 1)
        bounds = kind_bounds(scene.requirements, scene.domains, attribute, share, apart)
        lines = np.append(bounds, 1.0)[np.minimum(beliefs.value, kinds)]
        sensitive = _sensitive_kinds(scene, attribute, kind_of_value)
        return self.finding(
            scene, reading, f"{attribute} ({title})", beliefs, _share_of_lines(share, beliefs),
            lines, chosen=None if sensitive is None else np.append(sensitive, True)[beliefs.value],
        )  # fmt: skip

    def _groupings(
        self, scene: Scene, column: Column
    ) -> list[tuple[str, NDArray[np.int32], float | None]]:
        """Each way to group an attribute's values: its title, the groups, how far apart.

        A value that is not sensitive is a kind of its own: it says nothing of the others.
        """
        sensitive = scene.is_sensitive(column.name)
        found = self._kinds(scene, column)
        if sensitive is None:
            return found
        alone = np.flatnonzero(~sensitive[:-1])
        for number, (title, kind_of_value, apart) in enumerate(found):
            kind = kind_of_value.astype(np.int64)
            kind[alone] = int(kind.max(initial=-1)) + 1 + np.arange(len(alone))
            _, numbered = np.unique(kind, return_inverse=True)
            found[number] = title, numbered.astype(np.int32), apart
        return found

    def _kinds(
        self, scene: Scene, column: Column
    ) -> list[tuple[str, NDArray[np.int32], float | None]]:
        attribute = column.name
        if attribute in self.kinds_of:
            named = {v: n for n, vs in enumerate(self.kinds_of[attribute].values()) for v in vs}
            others = len(self.kinds_of[attribute])
            kinds = [
                named.get(text, others + code) if text is not None else others + code
                for code, text in enumerate(column.text.to_list())
            ]
            _, numbered = np.unique(np.array(kinds), return_inverse=True)
            return [("given kinds", numbered.astype(np.int32), None)]
        hierarchy = scene.task.hierarchies.get(attribute)
        if hierarchy is None:
            return []
        original = code_of_text(scene.task.table[attribute].text, column.text)
        if (original < 0).any():
            return []
        return [
            (
                f"level {number} of its hierarchy",
                _numbered(level, original),
                (number + 1) / hierarchy.height,
            )
            for number, level in enumerate(hierarchy.levels)
            if 0 < number < hierarchy.height
        ]


def _numbered(level: Level, codes: NDArray[np.int64]) -> NDArray[np.int32]:
    _, numbered = np.unique(level.node_of_leaf[codes], return_inverse=True)
    return numbered.astype(np.int32)


def _sensitive_kinds(
    scene: Scene, attribute: str, kind_of_value: NDArray[np.int32]
) -> Bools | None:
    """(kinds,) Which kinds have a sensitive value; None where all have."""
    sensitive = scene.is_sensitive(attribute)
    if sensitive is None:
        return None
    return np.bincount(kind_of_value, sensitive[:-1]) > 0


def _of_kinds(column: Column, kind_of_value: NDArray[np.int32]) -> Column:
    """A column of kinds of values."""
    names = pl.Series([str(kind) for kind in range(int(kind_of_value.max(initial=-1)) + 1)])
    codes = kind_of_value[column.codes]
    return replace(column, codes=codes, text=names, values=names, numbers=None)


def _on_values(
    attack: Attack,
    scene: Scene,
    view: PersonView,
    column: Column,
    reader: str,
    *,
    aim: str | None = None,
    knowledge: str = ALL_ROWS,
    of_kinds: bool = False,
    apart: float | None = None,
    sensitive: Bools | None = None,
) -> Finding:
    """The finding of one reader on the values of persons, or on kinds of values."""
    if not of_kinds:
        sensitive = scene.is_sensitive(column.name, view.domains)
    bounds = person_bounds(
        scene.guarantees, view.domains, column.name, view.share(column, reader), reader,
        of_kinds=of_kinds, apart=apart,
    )  # fmt: skip
    return finding_on_values(
        attack, scene, view, aim or column.name, view.values_of(column, reader),
        view.whole.values_of(column, reader), bounds, knowledge=knowledge,
        details={"reader": reader}, sensitive=sensitive,
    )  # fmt: skip
