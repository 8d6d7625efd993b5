"""Background knowledge: an attacker who can rule out values for some people of a group.

A rule bars values of a sensitive attribute for all people whose quasi-identifiers match
("Japanese: no heart disease"); a rule that fits one person alone is an instance. Worlds in which
a person has a barred value are impossible, and the beliefs are shares of those that are left.

Background-join: an attacker who knows some of the target's sensitive values looks for another.

Where whole rows are published in a group, the rows with the known values are what is left:
count(s, known)/count(known). One other attribute is known at a time, every choice of ``others``
many where that is asked for, and then all others.

Where a person has several published rows, the attacker knows these values of one of the target's
rows. Of the members with such a row, a share has the value sought in some row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import TOLERANCE, Attack, Finding, Scene, summarize
from discreet.attacks.beliefs import (
    ALL_ROWS,
    AT_ALL,
    PersonView,
    TrueValues,
    beliefs_in,
    finding_on_values,
    on_lines_of,
    person_bounds,
    requirements_about,
    ungrouped,
    value_bounds,
)
from discreet.attacks.class_attacks import IN_TABLE
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.worlds.permanents import matching_beliefs
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
from discreet.table.classes import group_codes
from discreet.table.code_maps import recoded
from discreet.table.counts import order_by_class
from discreet.typing import Codes


class Rule(BaseModel):
    """Values that certain rows do not have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Mapping[str, tuple[str, ...]] = Field(
        description="By quasi-identifier, the values of the rows that it covers; empty: every row."
    )
    attribute: str = Field(description="The sensitive attribute.")
    never: tuple[str, ...] = Field(description="The values that those rows do not have.")


class BackgroundKnowledge(Attack):
    """Beliefs where an attacker can rule out values for some people."""

    name: ClassVar[str] = "background-knowledge"
    may_count_rows: ClassVar[bool] = True
    also_knows: ClassVar[str] = Statement("also-knows.absent-values")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.EXCLUDER,)

    rules: tuple[Rule, ...] = Field(default=(), description="What the attacker can rule out.")

    @property
    def knowledge(self) -> str:
        if len(self.rules) == 1:
            return Statement("knows.rule", first=IN_TABLE)
        return Statement("knows.rules", first=IN_TABLE, rules=len(self.rules))

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        return Statement("inapplicable.no-rule") if reason is None and not self.rules else reason

    def run(self, scene: Scene) -> list[Finding]:
        attributes = dict.fromkeys(rule.attribute for rule in self.rules)
        return [
            self._one(scene, reading, attribute)
            for reading in scene.readings
            for attribute in attributes
            if attribute in reading.sensitive
        ]

    def _one(self, scene: Scene, reading: AdversaryView, attribute: str) -> Finding:
        column = reading.sensitive[attribute]
        people = np.flatnonzero(reading.group_of_person >= 0)
        group = reading.group_of_person[people]
        truth = recoded(column, scene.task.table[attribute])[people]
        barred = self._barred(scene, people, attribute, column.text.to_list())
        size = np.bincount(group, minlength=reading.groups)
        whole = size == reading.size  # groups of which every person is known
        counts = reading.counts.values[attribute]
        belief = np.zeros(len(people))
        bits = np.zeros(len(people), np.int64)
        start, order = order_by_class(group, np.zeros(len(group), np.int32), reading.groups, 1)
        exact = bool(whole.all())
        for g in np.flatnonzero(whole):
            members = order[start[g] : start[g + 1]]
            entries = slice(counts.start[g], counts.start[g + 1])
            values = counts.value[entries]
            allowed = ~barred[members][:, values]
            found, is_exact = matching_beliefs(allowed.astype(np.float64), counts.count[entries])
            exact = exact and is_exact
            place = np.searchsorted(values, truth[members])
            place = np.minimum(place, len(values) - 1)
            belief[members] = np.where(
                values[place] == truth[members], found[np.arange(len(members)), place], 0.0
            )
            bits[members] = int((~allowed).sum())
        known = whole[group] & scene.discloses(attribute, truth)
        limit = value_bounds(scene.requirements, scene.domains, reading, attribute).everywhere
        left = 1 - bits[known] * limit if np.isfinite(limit) else np.zeros(int(known.sum()))
        bounds = np.where(left > 1e-12, limit / np.where(left > 1e-12, left, 1), 1.0)
        share = reading.share(attribute)
        possible = np.maximum(1 - barred[known] @ share, TOLERANCE)  # without the release, too
        of_truth = np.append(share, 0.0)[truth[known]]
        return summarize(
            self, attribute, reading.name, belief[known], np.ones(int(known.sum()), np.int64),
            np.minimum(of_truth / possible, 1.0), scene.threshold,
            np.minimum(bounds, 1.0) if np.isfinite(limit) else None,
            knowledge=self.knowledge, method=EXACT if exact else Statement("figures.scaling"),
        )  # fmt: skip

    def _barred(
        self, scene: Scene, people: NDArray[np.int64], attribute: str, values: list[str | None]
    ) -> NDArray[np.bool_]:
        """(people, values) what the rules rule out."""
        barred = np.zeros((len(people), len(values)), bool)
        for rule in self.rules:
            if rule.attribute != attribute:
                continue
            matches = np.ones(len(people), bool)
            for name, wanted in rule.who.items():
                column = scene.task.table[name]
                codes: Codes = column.codes[people]
                matches &= column.text.is_in(list(wanted)).fill_null(False).to_numpy()[codes]
            never = np.array([code for code, v in enumerate(values) if v in rule.never], np.int64)
            barred[np.ix_(matches, never)] = True
        return barred


class BackgroundJoin(Attack):
    """One sensitive value from another, or from all others, that the attacker knows."""

    name: ClassVar[str] = "background-join"
    quick: ClassVar[bool] = True
    also_knows: ClassVar[str] = Statement("also-knows.other-values")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (
        StandardAttacker.INSIDER,
        StandardAttacker.INVESTIGATOR,
    )

    others: int = Field(
        default=1,
        ge=1,
        le=8,
        description="Greatest number of other known attributes; all are tried too.",
    )

    @property
    def knowledge(self) -> str:
        return Statement("knows.other-values", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and all(len(columns) < 2 for columns in scene.sensitive):
            return Statement("inapplicable.no-two-attributes")
        if reason is None and not any(
            self._known(scene, list(columns)) for columns in scene.sensitive
        ):
            return Statement("inapplicable.one-secret")
        return reason

    def run(self, scene: Scene) -> Iterator[Finding]:
        for reading, attribute, known in self._choices(scene):
            yield self._one(scene, reading, attribute, known)

    def expected(self, scene: Scene) -> int:
        return sum(1 for _ in self._choices(scene))

    def _choices(self, scene: Scene) -> Iterator[tuple[AdversaryView, str, tuple[str, ...]]]:
        """Each attribute of each table, with each choice of others that are known."""
        for reading in scene.readings:
            for attribute, known in self._known(scene, list(reading.sensitive)):
                yield reading, attribute, known

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        return [
            finding_on_values(
                self, scene, view, attribute, joined_values(view, attribute, known),
                joined_values(view.whole, attribute, known), _bounds(scene, view, attribute, known),
                knowledge=Statement("knows.values-of-row", first=ALL_ROWS, attributes=known),
                details={"known": list(known)},
                sensitive=scene.is_sensitive(attribute, view.domains), attacker=_attacker(known),
            )
            for attribute, known in self._known(scene, list(view.sensitive))
        ]  # fmt: skip

    def _known(self, scene: Scene, names: list[str]) -> list[tuple[str, tuple[str, ...]]]:
        """Each attribute that is sought, with each choice of others that are known.

        A column of the same secret is no background knowledge: it reveals the attribute without
        any release.
        """
        found = []
        for attribute in names:
            others = scene.task.secrets.others(attribute, names)
            counts = {*range(1, self.others + 1), len(others)} - {0}
            found += [
                (attribute, c) for count in sorted(counts) for c in combinations(others, count)
            ]
        return found

    def _one(
        self, scene: Scene, reading: AdversaryView, attribute: str, known: tuple[str, ...]
    ) -> Finding:
        beliefs = beliefs_in(reading, attribute, known)
        bounds = value_bounds(
            scene.requirements, scene.domains, reading, attribute, others_known=True
        )
        return self.finding(
            scene, reading, attribute, beliefs,
            on_lines_of(beliefs, beliefs_in(ungrouped(reading), attribute, known)),
            bounds.of_lines(reading, beliefs),
            knowledge=Statement("knows.values-of", first=IN_TABLE, attributes=known),
            details={"known": list(known)}, attacker=_attacker(known),
        )  # fmt: skip


def _attacker(known: tuple[str, ...]) -> StandardAttacker:
    """Who knows so many other sensitive values of the target."""
    return StandardAttacker.INSIDER if len(known) == 1 else StandardAttacker.INVESTIGATOR


def _bounds(
    scene: Scene, view: PersonView, attribute: str, known: tuple[str, ...]
) -> NDArray[np.float64]:
    """The bound of each value on persons: only where all other attributes of a row are known.

    Members who have some of the values in a row may be those of several such combinations, which
    overlap; what holds of each does not bound their union.
    """
    share = np.zeros(view.sensitive[attribute].cardinality)
    if len(known) + 1 < len(view.sensitive):
        return np.full(len(share), np.inf)
    about = requirements_about(scene.guarantees, attribute)
    inner = [model for one in about if (model := one.given_others()) is not None]
    every = [model.model_copy(update={"attribute": None}) for model in inner]
    return person_bounds(every, view.domains, attribute, share, AT_ALL)


def joined_values(view: PersonView, attribute: str, known: tuple[str, ...]) -> TrueValues:
    """The belief in each value of a person, at its greatest over the known rows of the person."""
    columns = [view.sensitive[name] for name in known]
    combination = group_codes(
        [c.codes for c in columns], [c.cardinality for c in columns], len(columns[0].codes)
    )
    rows = pl.DataFrame(
        {
            "group": view.classes.class_of_row,
            "person": view.persons.number,
            "known": combination.class_of_row,
            "value": view.sensitive[attribute].codes,
        }
    )
    has = rows.select("group", "person", "known").unique()
    holders = has.group_by("group", "known").len("holders")
    pairs = has.join(rows.select("group", "person", "value").unique(), on=["group", "person"])
    joint = pairs.group_by("group", "known", "value").len("joint")
    found = (
        pairs.join(joint, on=["group", "known", "value"])
        .join(holders, on=["group", "known"])
        .select("person", "value", belief=pl.col("joint") / pl.col("holders"))
        .group_by("person", "value")
        .agg(pl.col("belief").max())
        .sort("person", "value")
    )
    return TrueValues(
        found["person"].to_numpy(), found["value"].to_numpy(), found["belief"].to_numpy()
    )
