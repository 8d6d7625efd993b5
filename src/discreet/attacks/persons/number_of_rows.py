"""Number-of-rows: an attacker who knows how many rows each person has.

Where nothing links the rows of a person, a world deals the rows of a group out to its members, as
many to each as the person has. With n rows in the group, m of them with a value, and r rows of the
target, the target has the value in a share 1 − C(n − m, r)/C(n, r) of the worlds. Guarantees on
persons count those who have a value, not their rows, so none bounds this: a person with many rows
is likely to have any value that is frequent in the group.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.persons.person_view import (
    ALL_ROWS,
    PersonView,
    TrueValues,
    finding_on_values,
)
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Floats, Ints


class NumberOfRows(Attack):
    """Which values the target has, by the number of the target's rows."""

    name: ClassVar[str] = "number-of-rows"
    inside: ClassVar[bool] = False

    @property
    def knowledge(self) -> str:
        return f"{ALL_ROWS}, and how many rows each person has"

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return "every target has one row"
        if not scene.kind.makes_alike:
            return "the release does not publish sensitive values row by row"
        if scene.manifest.keeping.numbered:
            return "the number of a person's rows counts as a quasi-identifier in every attack"
        return super().inapplicable(scene)

    def run(self, scene: Scene) -> list[Finding]:
        raise NotImplementedError("its targets are persons with several rows")

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        return [
            finding_on_values(
                self, scene, view, attribute, dealt_values(view, column),
                dealt_values(view.whole, column), np.full(column.cardinality, np.inf),
                knowledge=self.knowledge,
                sensitive=scene.is_sensitive(attribute, view.domains),
            )
            for attribute, column in view.sensitive.items()
        ]  # fmt: skip


def dealt_values(view: PersonView, column: Column) -> TrueValues:
    """The belief in each value of a person, where the rows of a group are dealt out at random."""
    pairs = view.classes.class_of_row.astype(np.int64) * view.persons.count + view.persons.number
    member, of_row, rows = np.unique(pairs, return_inverse=True, return_counts=True)
    touch = distinct_values(of_row.astype(np.int64) * column.cardinality + column.codes)
    of_touch, value = np.divmod(touch, max(column.cardinality, 1))
    own, person = np.divmod(member[of_touch], max(view.persons.count, 1))
    key = view.classes.class_of_row.astype(np.int64) * column.cardinality + column.codes
    keys, with_value = np.unique(key, return_counts=True)
    has = with_value[np.searchsorted(keys, own * column.cardinality + value)]
    belief = 1 - _without(view.classes.size[own], has, rows[of_touch])
    return TrueValues(person, value, belief)


def _without(rows: Ints, with_value: Ints, dealt: Ints) -> Floats:
    """C(n − m, r)/C(n, r): none of r dealt rows is among m of n."""
    share = np.ones(len(rows))
    order = np.argsort(-dealt, kind="stable")
    last = len(order)
    for step in range(int(dealt.max(initial=0))):
        last = int(np.searchsorted(-dealt[order[:last]], -step, side="left"))
        some = order[:last]  # those who are dealt more than `step` rows
        share[some] *= np.maximum(rows[some] - with_value[some] - step, 0) / (rows[some] - step)
    return share
