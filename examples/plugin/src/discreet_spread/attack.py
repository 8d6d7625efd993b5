"""The proximity attack: a number near the true one is enough.

Li, Tao and Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", 2008:
a class may have many different values that are all close to each other. The attacker knows every
person's quasi-identifiers and believes in an interval by its share of the person's class.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.attacks.base import Attack, Finding, Scene, summarize
from discreet.releases.adversary_view import AdversaryView


class Proximity(Attack):
    """Whether the target's number is known up to ``within``."""

    name: ClassVar[str] = "proximity"
    # The guarantees of most requirements limit the belief in one value, not in an interval.
    inside: ClassVar[bool] = False

    within: float = Field(
        default=0.1, ge=0, description="The distance, as a share of the range in the whole table."
    )

    @property
    def knowledge(self) -> str:
        return "knows everybody's quasi-identifiers and is content with a value near the true one"

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason is None and not any(_numeric(reading) for reading in scene.readings):
            return "no sensitive attribute is numeric"
        return reason

    def run(self, scene: Scene) -> list[Finding]:
        return [
            self._one(scene, reading, attribute)
            for reading in scene.readings
            for attribute in _numeric(reading)
        ]

    def _one(self, scene: Scene, reading: AdversaryView, attribute: str) -> Finding:
        column = reading.sensitive[attribute]
        number = column.numbers
        assert number is not None  # of the numeric ones alone
        known = number[~np.isnan(number)]
        reach = self.within * float(np.ptp(known)) if len(known) else 0.0
        near = np.abs(number[:, None] - number[None, :]) <= reach  # (values, values)
        near |= np.eye(len(number), dtype=bool)  # a missing value is near itself alone
        near = np.vstack([near, np.zeros(len(number), bool)])  # the last: it is not published

        # (groups, values): the share of each value in each group
        share = np.zeros((reading.groups, len(number)))
        np.add.at(share, (reading.group_of_row, column.codes), 1)
        share /= np.maximum(reading.size, 1)[:, None]
        # (places, values): the same for people who fit several groups
        placement = reading.placement
        place = np.repeat(np.arange(placement.places), np.diff(placement.start))
        expected = np.zeros((placement.places, len(number)))
        np.add.at(expected, place, placement.weight[:, None] * share[placement.group])

        truth = reading.truth[attribute]  # (targets,)
        belief = (expected[reading.place_of_target] * near[truth]).sum(axis=1)
        baseline = (reading.share(attribute) * near[truth]).sum(axis=1)
        return summarize(
            self, attribute, reading.name, np.minimum(belief, 1.0), np.ones(len(truth), np.int64),
            float(baseline.mean()) if len(truth) else 0.0, scene.threshold,
            knowledge=self.knowledge, method=placement.method, sampled=reading.sampled,
        )  # fmt: skip


def _numeric(reading: AdversaryView) -> list[str]:
    return [name for name, column in reading.sensitive.items() if column.numbers is not None]
