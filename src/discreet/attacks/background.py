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
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import IN_TABLE, TOLERANCE, Attack, Finding, Scene, summarize
from discreet.attacks.beliefs import AT_ALL
from discreet.attacks.views import RowView, View, ViewAttack
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.worlds.permanents import matching_beliefs
from discreet.releases.worlds.placement import EXACT
from discreet.statements import Statement
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

    def lacking(self, scene: Scene) -> str | None:
        return None if self.rules else Statement("inapplicable.no-rule")

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
            beliefs, is_exact = matching_beliefs(allowed.astype(np.float64), counts.count[entries])
            exact = exact and is_exact
            place = np.searchsorted(values, truth[members])
            place = np.minimum(place, len(values) - 1)
            belief[members] = np.where(
                values[place] == truth[members], beliefs[np.arange(len(members)), place], 0.0
            )
            bits[members] = int((~allowed).sum())
        known = whole[group] & scene.discloses(attribute, truth)
        limit = RowView(reading).bounds(scene, attribute, AT_ALL).everywhere
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


class BackgroundJoin(ViewAttack):
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

    knows: ClassVar[Statement] = Statement("knows.other-values", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and all(len(columns) < 2 for columns in scene.sensitive):
            return Statement("inapplicable.no-two-attributes")
        if reason is None and not any(
            self._known(scene, list(columns)) for columns in scene.sensitive
        ):
            return Statement("inapplicable.one-secret")
        return reason

    def expected(self, scene: Scene) -> int:
        return sum(len(self._known(scene, list(columns))) for columns in scene.sensitive)

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        for attribute, known in self._known(scene, list(view.sensitive)):
            yield view.finding(
                self, scene, attribute, view.values(attribute, AT_ALL, known),
                view.whole.values(attribute, AT_ALL, known),
                view.bounds(scene, attribute, AT_ALL, known),
                knowledge=Statement(view.knows_values, first=view.knows, attributes=known),
                details={"known": list(known)}, attacker=_attacker(known),
                sensitive=scene.is_sensitive(attribute, view.domains),
            )  # fmt: skip

    def _known(self, scene: Scene, names: list[str]) -> list[tuple[str, tuple[str, ...]]]:
        """Each attribute that is sought, with each choice of others that are known.

        A column of the same secret is no background knowledge: it reveals the attribute without
        any release.
        """
        choices = []
        for attribute in names:
            others = scene.task.secrets.others(attribute, names)
            counts = {*range(1, self.others + 1), len(others)} - {0}
            choices += [
                (attribute, c) for count in sorted(counts) for c in combinations(others, count)
            ]
        return choices


def _attacker(known: tuple[str, ...]) -> StandardAttacker:
    """Who knows so many other sensitive values of the target."""
    return StandardAttacker.INSIDER if len(known) == 1 else StandardAttacker.INVESTIGATOR
