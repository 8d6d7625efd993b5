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

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.base import (
    ROUNDING,
    TOLERANCE,
    Attack,
    Criterion,
    Finding,
    Scene,
    summarize,
)
from discreet.attacks.beliefs import (
    ALL_ROWS,
    AT_ALL,
    GIVEN_ROW,
    Beliefs,
    PersonView,
    TrueValues,
    beliefs_in,
    finding_on_persons,
    finding_on_values,
    kind_bounds,
    least_group,
    person_bounds,
    value_bounds,
    weighted_beliefs,
)
from discreet.hierarchies.hierarchy import Level
from discreet.releases.adversary_view import AdversaryView
from discreet.statements import Statement
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Bools, Floats, Ints

IN_TABLE = Statement("knows.in-table")


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
            placement = reading.placement
            of_row = np.append(placement.weight / reading.size[placement.group], 0.0)
            count = np.bincount(reading.place_of_target, minlength=reading.placement.places)
            present = count > 0
            bounds = None if k is None else np.full(int(present.sum()), 1 / k)
            belief = np.maximum.reduceat(of_row, placement.start[:-1])[present]
            findings.append(
                summarize(
                    self, Statement("aim.row"), reading.name, belief, count[present],
                    1 / max(reading.rows, 1), scene.threshold, bounds,
                    knowledge=self.knowledge, method=placement.method,
                    sampled=reading.sampled, estimated=reading.estimated,
                    tolerance=ROUNDING if placement.sole else TOLERANCE,
                    bound_tolerance=ROUNDING if placement.sole else TOLERANCE,
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
            self, scene, view, Statement("aim.person"), belief, 1 / max(count, 1), bounds,
            bound_tolerance=ROUNDING,
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
            _on_values(self, scene, view, attribute, reader)
            for attribute in view.sensitive
            for reader in (AT_ALL, GIVEN_ROW)
        ]


class Skewness(Attack):
    """How much more likely a value has become than it is in the table."""

    name: ClassVar[str] = "skewness"
    quick: ClassVar[bool] = True

    @property
    def knowledge(self) -> str:
        return Statement("knows.distribution-of-values", first=IN_TABLE)

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            for attribute in reading.sensitive:
                beliefs = beliefs_in(reading, attribute)
                share = np.append(reading.share(attribute), np.inf)
                of_line = share[np.minimum(beliefs.value, len(share) - 1)]
                gain = (beliefs.belief / of_line)[scene.discloses(attribute, beliefs.value)]
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
            whole = view.whole.sensitive[attribute]
            values, share = view.values_of(column, GIVEN_ROW), view.all.share(whole, GIVEN_ROW)
            sensitive = scene.is_sensitive(attribute, view.domains)
            told = values if sensitive is None else values.of(sensitive)
            gain = told.belief / share[told.value]
            bounds = person_bounds(
                scene.guarantees, view.domains, attribute, share, GIVEN_ROW, of_kinds=True
            )
            findings.append(
                finding_on_values(
                    self, scene, view, attribute, values, view.whole.values_of(whole, GIVEN_ROW),
                    bounds, knowledge=Statement("knows.distribution", first=ALL_ROWS),
                    details={"greatest_gain": float(gain.max(initial=0.0)), "reader": GIVEN_ROW},
                    sensitive=sensitive,
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
        return Statement("knows.similar-values", first=IN_TABLE)

    def inapplicable(self, scene: Scene) -> str | None:
        reason = super().inapplicable(scene)
        if reason or any(
            self._groupings(scene, column)
            for columns in scene.sensitive
            for column in columns.values()
        ):
            return reason
        if any(name in scene.task.hierarchies for columns in scene.sensitive for name in columns):
            return Statement("inapplicable.no-grouping-hierarchy")
        return Statement("inapplicable.no-kinds")

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
                self, scene, view, attribute, GIVEN_ROW, kind_of_value=kind_of_value,
                aim=f"{attribute} ({title})", apart=apart,
                knowledge=Statement("knows.similar-values", first=ALL_ROWS),
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
    attribute: str,
    reader: str,
    *,
    kind_of_value: NDArray[np.int32] | None = None,
    aim: str | None = None,
    knowledge: str = ALL_ROWS,
    apart: float | None = None,
    sensitive: Bools | None = None,
) -> Finding:
    """The finding of one reader on the values of persons, or on kinds of values."""
    column, whole = view.sensitive[attribute], view.whole.sensitive[attribute]
    if kind_of_value is None:
        sensitive = scene.is_sensitive(attribute, view.domains)
    else:
        column, whole = _of_kinds(column, kind_of_value), _of_kinds(whole, kind_of_value)
    bounds = person_bounds(
        scene.guarantees, view.domains, attribute, view.all.share(whole, reader), reader,
        of_kinds=kind_of_value is not None, apart=apart,
    )  # fmt: skip
    return finding_on_values(
        attack, scene, view, aim or attribute, view.values_of(column, reader),
        view.whole.values_of(whole, reader), bounds, knowledge=knowledge,
        details={"reader": reader}, sensitive=sensitive,
    )  # fmt: skip


class NumberOfRows(Attack):
    """Which values the target has, by the number of the target's rows."""

    name: ClassVar[str] = "number-of-rows"
    quick: ClassVar[bool] = True
    inside: ClassVar[bool] = False

    @property
    def knowledge(self) -> str:
        return Statement("knows.number-of-rows", first=ALL_ROWS)

    def inapplicable(self, scene: Scene) -> str | None:
        if scene.persons is None:
            return Statement("inapplicable.one-row")
        if scene.manifest.keeping.numbered or not scene.kind.makes_alike:
            return Statement("inapplicable.known-number-of-rows")
        return super().inapplicable(scene)

    def run(self, scene: Scene) -> list[Finding]:
        raise NotImplementedError("its targets are persons with several rows")

    def run_on_persons(self, scene: Scene, view: PersonView) -> list[Finding]:
        return [
            finding_on_values(
                self, scene, view, attribute, dealt_values(view, column),
                dealt_values(view.whole, view.whole.sensitive[attribute]),
                np.full(column.cardinality, np.inf),
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
