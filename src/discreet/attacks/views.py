"""The targets of attacks on one published table: its rows, or the persons behind them.

Both views answer the same questions: what an attacker believes of each target's true value, with
the release and without any link (``whole``), what guarantees allow, and the finding that follows.

A target that is a person may have several published rows. The attacker knows the quasi-identifiers
of every person, is told the group of each row, and cannot distinguish the members of a group: not
by their number of rows either, unless the release shows it, where a group has persons with equally
many. With P the members:

* *has it at all*: the share of P who have a value in at least one of their rows of the group;
* *in a given row*: the mean over P of the share of a member's rows that have the value.

The true values of a person may be several. The figure of a person is the belief in the one that the
attacker believes in most.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from discreet.attacks.base import (
    ALL_ROWS,
    IN_TABLE,
    ROUNDING,
    TOLERANCE,
    Attack,
    Finding,
    Scene,
    summarize,
)
from discreet.attacks.beliefs import (
    AT_ALL,
    GIVEN_ROW,
    Beliefs,
    ValueBounds,
    beliefs_in,
    on_lines_of,
    ungrouped,
    value_bounds,
)
from discreet.releases.adversary_view import AdversaryView
from discreet.releases.audit.persons import TablePersons
from discreet.requirements.base import Domains
from discreet.requirements.judge import of_counts
from discreet.statements import Statement
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column, Derives
from discreet.table.kernels.lists import distinct_values, places_of
from discreet.table.persons import PersonBasis, Persons, count_persons
from discreet.typing import Bools, Codes, Floats, Ints

_BASIS = {AT_ALL: PersonBasis.TOUCHED, GIVEN_ROW: PersonBasis.MASS}

Values = Any  # beliefs in the values of rows, or those in the values of persons


def of_kinds(column: Column, kind_of_value: Codes) -> Column:
    """Return the column of the kinds of a column's values."""
    names = pl.Series([str(kind) for kind in range(int(kind_of_value.max(initial=-1)) + 1)])
    codes = kind_of_value[column.codes]
    return replace(column, codes=codes, text=names, values=names, numbers=None)


@dataclass(frozen=True, eq=False)
class RowView:
    """The rows of one published table, or of a pair that a group number links."""

    reading: AdversaryView
    knows: ClassVar[Statement] = IN_TABLE
    knows_distribution: ClassVar[Statement] = Statement(
        "knows.distribution-of-values", first=IN_TABLE
    )
    knows_values: ClassVar[str] = "knows.values-of"
    aim: ClassVar[Statement] = Statement("aim.row")
    readers: ClassVar[tuple[str, ...]] = (GIVEN_ROW,)
    domains: ClassVar[Domains | None] = None  # those of the scene

    @property
    def sensitive(self) -> Mapping[str, Column]:
        """The sensitive columns of the table."""
        return self.reading.sensitive

    @property
    def whole(self) -> RowView:
        """All rows in one group: without the release."""
        return RowView(ungrouped(self.reading))

    def of_people(self, scene: Scene) -> RowView:
        """The view with the original people as targets, whichever rows they certainly have."""
        reading = self.reading
        if not reading.placement.sole:
            return self
        people = np.flatnonzero(reading.group_of_person >= 0)
        truth = {
            name: recoded(column, scene.task.table[name])[people]
            for name, column in self.sensitive.items()
        }
        place = reading.group_of_person[people]
        return RowView(replace(reading, place_of_target=place, truth=truth))

    @property
    def unlisted(self) -> Statement | None:
        """Why the rows at risk cannot be listed; None where they can."""
        return (
            Statement("omitted.sample", table=self.reading.name) if self.reading.sampled else None
        )

    def of_kinds(self, attribute: str, kind_of_value: Codes) -> RowView:
        """The same rows with kinds of values in place of an attribute's values."""
        column = of_kinds(self.sensitive[attribute], kind_of_value)
        truth = np.append(kind_of_value, column.cardinality)[self.reading.truth[attribute]]
        return RowView(
            replace(
                self.reading,
                sensitive={attribute: column},
                truth={attribute: truth.astype(np.int32)},
            )
        )

    def values(self, attribute: str, reader: str, known: tuple[str, ...] = ()) -> Values:
        """The belief in each target's true value, given values of other attributes."""
        return beliefs_in(self.reading, attribute, known)

    def share(self, attribute: str, reader: str) -> Floats:
        """The share of each value in the whole table: the reference of guarantees."""
        return self.reading.share(attribute)

    def bounds(
        self, scene: Scene, attribute: str, reader: str, known: tuple[str, ...] = ()
    ) -> ValueBounds:
        """What guarantees allow an attacker to believe who may know other attributes."""
        share = self.reading.share(attribute)
        return value_bounds(
            scene.requirements, scene.domains, attribute, share, others_known=bool(known)
        )

    def bounds_of_kinds(
        self, scene: Scene, attribute: str, reader: str, share: Floats, apart: float | None
    ) -> ValueBounds:
        """The same for kinds of values, with the share of each in the table."""
        return value_bounds(
            scene.requirements, scene.domains, attribute, share, of_kinds=True, apart=apart
        )

    def chances(self) -> tuple[Floats, Ints, float]:
        """The chance of the right row, how many targets have it, and that without a link."""
        reading, placement = self.reading, self.reading.placement
        of_edge = np.append(placement.weight / reading.size[placement.group], 0.0)
        count = np.bincount(reading.place_of_target, minlength=placement.places)
        chance = np.maximum.reduceat(of_edge, placement.start[:-1])
        return chance[count > 0], count[count > 0], 1 / max(reading.rows, 1)

    def beside(self, values: Beliefs, without: Beliefs) -> Floats:
        """(lines,) The belief without a link in what each line is about."""
        return on_lines_of(values, without)

    def rows_of(self, attribute: str, values: Beliefs, learned: Bools) -> tuple[Ints, Floats]:
        """The rows of the original with a value that is learned, and the belief in it."""
        placement = self.reading.placement
        if placement.sole:
            row = np.flatnonzero(self.reading.group_of_person >= 0)
        else:
            place = self.reading.members.kind_of_person
            row = np.flatnonzero((place >= 0) & (np.diff(placement.start)[place] > 0))
        chosen = np.flatnonzero(learned[values.line_of_target])
        return row[chosen], values.belief[values.line_of_target[chosen]]

    def summary(
        self, attack: Attack, scene: Scene, aim: str, belief: Floats, count: Ints,
        without: Floats | float, bounds: Floats | None = None, *, knowledge: str | None = None,
        method: str | None = None, counted: bool = True, **details: Any,
    ) -> Finding:  # fmt: skip
        """The finding of lines of beliefs; ``counted``: bounds and beliefs are ratios of counts."""
        reading = self.reading
        ratios = reading.placement.sole
        return summarize(
            attack, aim, reading.name, belief, count, without, scene.threshold, bounds,
            knowledge=knowledge or self.knows, method=method or reading.placement.method,
            sampled=reading.sampled, estimated=reading.estimated,
            tolerance=ROUNDING if ratios else TOLERANCE,
            bound_tolerance=ROUNDING if ratios and counted else TOLERANCE, **details,
        )  # fmt: skip

    def finding(
        self,
        attack: Attack,
        scene: Scene,
        aim: str,
        values: Beliefs,
        without: Beliefs,
        bounds: ValueBounds,
        *,
        sensitive: Bools | None,  # (values + 1,) None where all are
        reader: str | None = None,
        **further: Any,
    ) -> Finding:
        """The finding of beliefs in sensitive values, beside those of ``without`` a link."""
        chosen = np.ones(len(values.value), bool)
        if sensitive is not None:
            chosen = sensitive[np.minimum(values.value, len(sensitive) - 1)]
        return self.summary(
            attack, scene, aim, values.belief[chosen], values.count[chosen],
            self.beside(values, without)[chosen], bounds.of_lines(self.reading, values)[chosen],
            counted=of_counts(scene.requirements), **further,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TrueValues:
    """The values that persons have, and the belief in each: a line for each group and value."""

    person: Ints  # (lines,)
    value: Ints  # (lines,)
    belief: Floats  # (lines,)

    def of(self, lines: Bools) -> TrueValues:
        """The same of some lines alone."""
        return TrueValues(self.person[lines], self.value[lines], self.belief[lines])

    def greatest(self, persons: int) -> Floats:
        """The belief in the value of each person that is believed in most."""
        greatest = np.zeros(persons)
        np.maximum.at(greatest, self.person, self.belief)
        return greatest


@dataclass(frozen=True, eq=False)
class PersonView(Derives):
    """The persons of one published table, or of a pair that a group number links."""

    knows: ClassVar[Statement] = ALL_ROWS
    knows_distribution: ClassVar[Statement] = Statement("knows.distribution", first=ALL_ROWS)
    knows_values: ClassVar[str] = "knows.values-of-row"
    aim: ClassVar[Statement] = Statement("aim.person")
    readers: ClassVar[tuple[str, ...]] = (AT_ALL, GIVEN_ROW)
    name: str
    classes: Classes  # of the published rows
    persons: Persons  # of the published rows, numbered without a gap
    sensitive: Mapping[str, Column]
    domains: Domains
    source_row: Ints | None = None  # (rows,) where the publisher knows it
    # Where targets are drawn, they and all persons; the classes are then those of the targets.
    chosen: Ints | None = None
    everybody: PersonView | None = None

    def drawn(self, rng: np.random.Generator, targets: int) -> PersonView:
        """Return the view of some persons, drawn with replacement; a small view as it is."""
        if self.persons.count <= targets:
            return self
        chosen = rng.integers(0, self.persons.count, targets)
        of_row, number = self.classes.class_of_row, self.persons.number
        near = np.zeros(self.classes.count, bool)
        near[of_row[np.isin(number, chosen)]] = True
        rows = np.flatnonzero(near[of_row])
        _, of_class = np.unique(of_row[rows], return_inverse=True)
        return replace(
            self,
            classes=Classes.of_numbers(of_class.astype(np.int32)),
            persons=replace(self.persons, number=number[rows]),
            sensitive={name: column.take(rows) for name, column in self.sensitive.items()},
            chosen=chosen,
            everybody=self,
        )

    @property
    def all(self) -> PersonView:
        """All persons in their groups, where targets are drawn too."""
        return self.everybody or self

    @property
    def targets(self) -> tuple[Ints, Ints]:
        """Return the persons who are targets, and how often each is one."""
        if self.chosen is None:
            return np.arange(self.persons.count), np.ones(self.persons.count, np.int64)
        return np.unique(self.chosen, return_counts=True)

    @classmethod
    def of(cls, name: str, table: TablePersons, source_row: Codes | None = None) -> PersonView:
        """The view of a table whose rows belong to some persons."""
        _, number = np.unique(table.number, return_inverse=True)
        published = Persons(number, int(number.max(initial=-1)) + 1, 0)
        _, of_class = np.unique(table.of_class, return_inverse=True)
        classes = Classes.of_numbers(of_class.astype(np.int32))
        sensitive = {column.name: column for column in table.sensitive}
        rows = None if source_row is None else source_row.astype(np.int64)
        return cls(name, classes, published, sensitive, table.domains, rows)

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """The group and the person of each member of a group."""
        return np.divmod(distinct_values(self.member_of_row), max(self.persons.count, 1))

    @property
    def member_of_row(self) -> Ints:
        """(rows,) The group and the person of each row, as one number."""
        return self.classes.class_of_row.astype(np.int64) * self.persons.count + self.persons.number

    @cached_property
    def size(self) -> Ints:
        """The number of persons of each group."""
        return np.bincount(self.members[0], minlength=self.classes.count)

    @cached_property
    def whole(self) -> PersonView:
        """All persons in one group: without the release."""
        everyone = np.zeros(len(self.all.persons.number), np.int32)
        return replace(self.all, classes=Classes.of_numbers(everyone))

    def of_kinds(self, attribute: str, kind_of_value: Codes) -> PersonView:
        """The same persons with kinds of values in place of an attribute's values."""
        everybody = None
        if self.everybody is not None:
            everybody = self.everybody.of_kinds(attribute, kind_of_value)
        kinds = of_kinds(self.sensitive[attribute], kind_of_value)
        return replace(self, sensitive={attribute: kinds}, everybody=everybody)

    def values(self, attribute: str, reader: str, known: tuple[str, ...] = ()) -> Values:
        """The values of every person, and the belief of a reader in each."""
        if known:
            return joined_values(self, attribute, known)
        column = self.sensitive[attribute]
        counts = count_persons(self.classes, self.persons, [column], _BASIS[reader])
        counted = counts.values[column.name]
        group = np.repeat(np.arange(self.classes.count), np.diff(counted.start))
        key = group * column.cardinality + counted.value  # ascending
        touch = distinct_values(self.member_of_row * column.cardinality + column.codes)
        member, value = np.divmod(touch, max(column.cardinality, 1))
        of_member, person = np.divmod(member, max(self.persons.count, 1))
        entry = np.searchsorted(key, of_member * column.cardinality + value)
        return TrueValues(person, value, counted.count[entry] / counts.size[of_member])

    def share(self, attribute: str, reader: str) -> Floats:
        """The share of each value over all groups: the reference of guarantees."""
        view = self.all
        columns = [view.sensitive[attribute]]
        counts = count_persons(view.classes, view.persons, columns, _BASIS[reader])
        return counts.values[attribute].total / max(int(counts.size.sum()), 1)

    def bounds(
        self, scene: Scene, attribute: str, reader: str, known: tuple[str, ...] = ()
    ) -> ValueBounds:
        """What guarantees on persons allow an attacker to believe who may know other attributes.

        Members who have some known values in a row may be those of several combinations of all the
        other values, which overlap; what holds of each does not bound their union.
        """
        if known and len(known) + 1 < len(self.sensitive):
            return ValueBounds(np.full(self.sensitive[attribute].cardinality, np.inf))
        share = self.share(attribute, reader)
        return value_bounds(
            scene.guarantees, self.domains, attribute, np.zeros(len(share)) if known else share,
            reader=reader, others_known=bool(known),
        )  # fmt: skip

    def bounds_of_kinds(
        self, scene: Scene, attribute: str, reader: str, share: Floats, apart: float | None
    ) -> ValueBounds:
        """The same for kinds of values, with the share of each in the table."""
        return value_bounds(
            scene.guarantees, self.domains, attribute, share, reader=reader, of_kinds=True,
            apart=apart,
        )  # fmt: skip

    def chances(self) -> tuple[Floats, Ints, float]:
        """The chance of the right person, how often each is a target, and that without a link."""
        group, person = self.members
        chance = np.zeros(self.persons.count)
        np.maximum.at(chance, person, 1 / self.size[group])
        targets, times = self.targets
        return chance[targets], times, 1 / max(self.persons.count, 1)

    def of_people(self, scene: Scene) -> PersonView:
        """The view itself, whose targets are the original people."""
        return self

    @property
    def unlisted(self) -> Statement | None:
        """Why the rows at risk cannot be listed; None where they can."""
        return Statement("omitted.unknown-rows") if self.source_row is None else None

    def beside(self, values: TrueValues, without: TrueValues) -> Floats:
        """(lines,) The greatest belief without a link in the person and value of each line."""
        count = 1 + max(int(lines.value.max(initial=0)) for lines in (values, without))
        key, of_line = np.unique(without.person * count + without.value, return_inverse=True)
        belief = np.zeros(len(key) + 1)  # the last: a value that is not published
        np.maximum.at(belief, of_line, without.belief)
        return np.asarray(belief[places_of(key, values.person * count + values.value)])

    def rows_of(self, attribute: str, values: TrueValues, learned: Bools) -> tuple[Ints, Floats]:
        """The rows of the original with a value that is learned, and the belief in it."""
        assert self.source_row is not None  # else they are not listed
        column = self.sensitive[attribute]
        key, of_line = np.unique(
            values.person[learned] * column.cardinality + values.value[learned],
            return_inverse=True,
        )
        belief = np.zeros(len(key))  # of a person and a value
        np.maximum.at(belief, of_line, values.belief[learned])
        place = places_of(key, self.persons.number * column.cardinality + column.codes)
        chosen = np.flatnonzero(place >= 0)
        return self.source_row[chosen], belief[place[chosen]]

    def summary(
        self, attack: Attack, scene: Scene, aim: str, belief: Floats, times: Ints,
        without: Floats | float, bounds: Floats | None = None, *, knowledge: str | None = None,
        counted: bool = True, **details: Any,
    ) -> Finding:  # fmt: skip
        """The finding of one belief for each target, who is one so many times."""
        return summarize(
            attack, aim, self.name, belief, times, without, scene.threshold, bounds,
            knowledge=knowledge or self.knows, estimated=self.chosen is not None,
            bound_tolerance=ROUNDING if counted else TOLERANCE, **details,
        )  # fmt: skip

    def finding(
        self,
        attack: Attack,
        scene: Scene,
        aim: str,
        values: TrueValues,
        without: TrueValues,
        bounds: ValueBounds,
        *,
        sensitive: Bools | None,  # (values + 1,) None where all are
        reader: str | None = None,
        details: Mapping[str, Any] | None = None,
        **further: Any,
    ) -> Finding:
        """The finding of beliefs in persons' sensitive values; the figures are those of persons."""
        count = self.persons.count
        targets, times = self.targets
        if self.chosen is not None:
            values = values.of(np.isin(values.person, targets))
            without = without.of(np.isin(without.person, targets))
        if sensitive is not None:
            values, without = (
                values.of(sensitive[values.value]),
                without.of(sensitive[without.value]),
            )
            has_sensitive = np.isin(targets, values.person)
            targets, times = targets[has_sensitive], times[has_sensitive]
        # The bound of a person is that of the value that is believed in most.
        of_line = bounds.of_value[values.value]
        strongest = np.zeros(count)
        order = np.argsort(values.belief, kind="stable")
        strongest[values.person[order]] = of_line[order]
        finding = self.summary(
            attack, scene, aim, values.greatest(count)[targets], times,
            without.greatest(count)[targets], strongest[targets], counted=False,
            details={**(details or {}), **({"reader": reader} if reader else {})}, **further,
        )  # fmt: skip
        # Each value by itself: a person may have one that is certain without the release, and
        # another that becomes certain by it.
        before = self.beside(values, without)
        certain = (values.belief >= 1 - TOLERANCE) & (before < 1 - TOLERANCE)
        limit = scene.threshold + TOLERANCE
        above = (values.belief > limit) & (before <= limit)
        counted = reader == AT_ALL and of_counts(scene.guarantees)
        tolerance = ROUNDING if counted else TOLERANCE
        return replace(
            finding,
            exceeded=bool((values.belief > of_line + tolerance).any()),
            newly_certain=int(times[np.isin(targets, values.person[certain])].sum()),
            newly_above=int(times[np.isin(targets, values.person[above])].sum()),
        )


View = RowView | PersonView


def views_of(scene: Scene) -> Sequence[View]:
    """Return the views of the tables of a scene: of persons where these have several rows."""
    return (
        [RowView(reading) for reading in scene.readings] if scene.persons is None else scene.persons
    )


class ViewAttack(Attack):
    """An attack on each published table by itself, on its rows or on the persons behind them."""

    targets_persons: ClassVar[bool] = True

    def run(self, scene: Scene) -> Iterator[Finding]:
        for view in views_of(scene):
            yield from self.on(scene, view)

    @abstractmethod
    def on(self, scene: Scene, view: View) -> Iterable[Finding]:
        """Attack the targets of one table."""


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
    beliefs = (
        pairs.join(joint, on=["group", "known", "value"])
        .join(holders, on=["group", "known"])
        .select("person", "value", belief=pl.col("joint") / pl.col("holders"))
        .group_by("person", "value")
        .agg(pl.col("belief").max())
        .sort("person", "value")
    )
    return TrueValues(
        beliefs["person"].to_numpy(), beliefs["value"].to_numpy(), beliefs["belief"].to_numpy()
    )
