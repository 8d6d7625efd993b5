"""Attackers who know the groups and no sensitive value.

- *linking*: which row is the target's; 1/(rows of the group), times the chance of the group where
  several fit.
- *homogeneity*, which is also probabilistic disclosure: the share of a value in the target's group.
- *skewness*: the same share beside the value's share in the table; their ratio is the gain.
- *similarity*: the share of the values that are of one kind with the truth, by the levels of the
  attribute's hierarchy or by kinds that the attacker is told of.

Where a person has several published rows, the targets are persons. *Homogeneity* then asks whether
the target has the value at all, and whether a given row of the target has it; *skewness* and
*similarity* ask about a given row.

Number-of-rows: an attacker who knows how many rows each person has.

Where nothing links the rows of a person, a world deals the rows of a group out to its members, as
many to each as the person has. With n rows in the group, m of them with a value, and r rows of the
target, the target has the value in a share 1 − C(n − m, r)/C(n, r) of the worlds. Guarantees on
persons count those who have a value, not their rows, so none bounds this: a person with many rows
is likely to have any value that is frequent in the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.base import ALL_ROWS, IN_TABLE, Criterion, Finding, Scene
from discreet.attacks.beliefs import GIVEN_ROW, ValueBounds, least_group
from discreet.attacks.views import PersonView, TrueValues, View, ViewAttack
from discreet.hierarchies.hierarchy import Level
from discreet.statements import Statement
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.persons import share_without


class Linking(ViewAttack):
    """Which published row, or which person, is the target's."""

    name: ClassVar[str] = "linking"
    quick: ClassVar[bool] = True
    criterion: ClassVar[Criterion] = Criterion.SINGLING_OUT

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        k = least_group(scene.guarantees)
        chance, count, without = view.chances()
        bounds = None if k is None else np.full(len(chance), 1 / k)
        yield view.summary(self, scene, view.aim, chance, count, without, bounds)


class Homogeneity(ViewAttack):
    """Which value the target has, by its share in the target's group."""

    name: ClassVar[str] = "homogeneity"
    quick: ClassVar[bool] = True

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        for attribute in view.sensitive:
            for reader in view.readers:
                yield view.finding(
                    self, scene, attribute, view.values(attribute, reader),
                    view.whole.values(attribute, reader), view.bounds(scene, attribute, reader),
                    sensitive=scene.is_sensitive(attribute, view.domains), reader=reader,
                )  # fmt: skip


class Skewness(ViewAttack):
    """How much more likely a value has become than it is in the table."""

    name: ClassVar[str] = "skewness"
    quick: ClassVar[bool] = True
    knows: ClassVar[Statement] = Statement("knows.distribution-of-values", first=IN_TABLE)

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        for attribute in view.sensitive:
            values, share = view.values(attribute, GIVEN_ROW), view.share(attribute, GIVEN_ROW)
            sensitive = scene.is_sensitive(attribute, view.domains)
            # A value that no published row has is infinitely frequent: nothing is gained.
            gain = values.belief / np.append(share, np.inf)[np.minimum(values.value, len(share))]
            if sensitive is not None:
                gain = gain[sensitive[np.minimum(values.value, len(sensitive) - 1)]]
            yield view.finding(
                self, scene, attribute, values, view.whole.values(attribute, GIVEN_ROW),
                view.bounds_of_kinds(scene, attribute, GIVEN_ROW, share, None),
                knowledge=view.knows_distribution,
                details={"greatest_gain": float(gain.max(initial=0.0))}, reader=GIVEN_ROW,
                sensitive=sensitive,
            )  # fmt: skip


class Similarity(ViewAttack):
    """Which kind of value the target has: the levels of a hierarchy, or kinds that are given."""

    name: ClassVar[str] = "similarity"
    quick: ClassVar[bool] = True

    kinds_of: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(
        default_factory=dict,
        description="By attribute: categories of similar values. Default: the levels of "
        "the hierarchy.",
    )

    knows: ClassVar[Statement] = Statement("knows.similar-values", first=IN_TABLE)

    def lacking(self, scene: Scene) -> str | None:
        if any(
            self._groupings(scene, column)
            for columns in scene.sensitive
            for column in columns.values()
        ):
            return None
        if any(name in scene.task.hierarchies for columns in scene.sensitive for name in columns):
            return Statement("inapplicable.no-grouping-hierarchy")
        return Statement("inapplicable.no-kinds")

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        for attribute, column in view.sensitive.items():
            sensitive = scene.is_sensitive(attribute)
            for title, kind_of_value, apart in self._groupings(scene, column):
                kinds = view.of_kinds(attribute, kind_of_value)
                share = kinds.share(attribute, GIVEN_ROW)
                told = None
                if sensitive is not None:  # kinds that have a sensitive value
                    told = np.append(np.bincount(kind_of_value, sensitive[:-1]) > 0, True)
                yield kinds.finding(
                    self, scene, f"{attribute} ({title})", kinds.values(attribute, GIVEN_ROW),
                    kinds.whole.values(attribute, GIVEN_ROW),
                    view.bounds_of_kinds(scene, attribute, GIVEN_ROW, share, apart),
                    knowledge=Statement("knows.similar-values", first=view.knows),
                    sensitive=told, reader=GIVEN_ROW,
                )  # fmt: skip

    def _groupings(
        self, scene: Scene, column: Column
    ) -> list[tuple[str, NDArray[np.int32], float | None]]:
        """Each way to group an attribute's values: its title, the groups, how far apart.

        A value that is not sensitive is a kind of its own: it says nothing of the others.
        """
        sensitive = scene.is_sensitive(column.name)
        groupings = self._kinds(scene, column)
        if sensitive is None:
            return groupings
        alone = np.flatnonzero(~sensitive[:-1])
        for number, (title, kind_of_value, apart) in enumerate(groupings):
            kind = kind_of_value.astype(np.int64)
            kind[alone] = int(kind.max(initial=-1)) + 1 + np.arange(len(alone))
            _, numbered = np.unique(kind, return_inverse=True)
            groupings[number] = title, numbered.astype(np.int32), apart
        return groupings

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


class NumberOfRows(ViewAttack):
    """Which values the target has, by the number of the target's rows."""

    name: ClassVar[str] = "number-of-rows"
    also_knows: ClassVar[str] = Statement("also-knows.number-of-rows")
    quick: ClassVar[bool] = True
    inside: ClassVar[bool] = False
    knows: ClassVar[Statement] = Statement("knows.number-of-rows", first=ALL_ROWS)

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return Statement("inapplicable.one-row")
        if scene.manifest.keeping.numbered or not scene.kind.makes_alike:
            return Statement("inapplicable.known-number-of-rows")
        return super().inapplicable(scene)

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        assert isinstance(view, PersonView)
        for attribute, column in view.sensitive.items():
            yield view.finding(
                self, scene, attribute, dealt_values(view, column),
                dealt_values(view.whole, view.whole.sensitive[attribute]),
                ValueBounds(np.full(column.cardinality, np.inf)), knowledge=self.knowledge,
                sensitive=scene.is_sensitive(attribute, view.domains),
            )  # fmt: skip


def dealt_values(view: PersonView, column: Column) -> TrueValues:
    """The belief in each value of a person, where the rows of a group are dealt out at random."""
    pairs = view.classes.class_of_row.astype(np.int64) * view.persons.count + view.persons.number
    member, of_row, rows = np.unique(pairs, return_inverse=True, return_counts=True)
    touch = distinct_values(of_row.astype(np.int64) * column.cardinality + column.codes)
    of_touch, value = np.divmod(touch, max(column.cardinality, 1))
    of_member, person = np.divmod(member[of_touch], max(view.persons.count, 1))
    key = view.classes.class_of_row.astype(np.int64) * column.cardinality + column.codes
    keys, with_value = np.unique(key, return_counts=True)
    has = with_value[np.searchsorted(keys, of_member * column.cardinality + value)]
    belief = 1 - share_without(view.classes.size[of_member], has, rows[of_touch])
    return TrueValues(person, value, belief)
