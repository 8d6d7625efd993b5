"""Background-join: an attacker who knows some of the target's sensitive values looks for another.

Where whole rows are published in a group, the rows with the known values are what is left:
count(s, known)/count(known). One other attribute is known at a time, every choice of ``others``
many where that is asked for, and then all others.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.class_attacks import IN_TABLE
from discreet.attacks.inference.beliefs import Beliefs, beliefs_in
from discreet.attacks.inference.bounds import value_bounds
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.placement import Placement


class BackgroundJoin(Attack):
    """One sensitive value from another, or from all others, that the attacker knows."""

    name: ClassVar[str] = "background-join"

    others: int = Field(
        default=1,
        ge=1,
        le=8,
        description="Greatest number of other known attributes; all are tried too.",
    )

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and other sensitive values of the target"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and all(len(reading.sensitive) < 2 for reading in scene.readings):
            return "no table has two sensitive attributes"
        return reason

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            names = list(reading.sensitive)
            for attribute in names:
                others = [name for name in names if name != attribute]
                counts = {*range(1, self.others + 1), len(others)} - {0}
                choices = [c for count in sorted(counts) for c in combinations(others, count)]
                findings += [self._one(scene, reading, attribute, known) for known in choices]
        return findings

    def _one(
        self, scene: Scene, reading: AdversaryView, attribute: str, known: tuple[str, ...]
    ) -> Finding:
        beliefs = beliefs_in(reading, attribute, known)
        bounds = value_bounds(
            scene.requirements, scene.domains, reading, attribute, others_known=True
        )
        listed = " and ".join(f"'{name}'" for name in known)
        return self.finding(
            scene, reading, attribute, beliefs,
            _without_groups(reading, attribute, known).mean,
            bounds.of_lines(reading, beliefs),
            knowledge=f"{IN_TABLE}, and the target's {listed}",
            details={"known": list(known)},
        )  # fmt: skip


def _without_groups(reading: AdversaryView, attribute: str, known: tuple[str, ...]) -> Beliefs:
    """The beliefs of an attacker who has the whole table as one group."""
    whole = replace(
        reading,
        size=np.array([reading.rows]),
        group_of_row=np.zeros(reading.rows, np.int32),
        placement=Placement.identity(1),
        place_of_target=np.zeros(reading.targets, np.int32),
    )
    return beliefs_in(whole, attribute, known)
