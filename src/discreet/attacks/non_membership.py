"""Non-membership: an attacker who knows i facts "the target does not have value o of attribute a".

The rows that obey the facts are what is left; the belief in s is the share of those with s, at its
greatest over all choices of i facts that are true of the target. Facts about others never do
better than facts about the target (enumerated on thousands of small groups), so those are enough.
One fact is searched exactly, and two by inclusion and exclusion on the counts of values and of
pairs of values; three and more, or two in groups with more than ``EXACT_VALUES`` values, greedily,
one fact at a time, which is a lower bound of the greatest.

Without any link, an attacker with as many facts has the whole table as one group.

Where some values are not sensitive, one more attacker knows that the target has none of these. The
belief in s is then its share of the rows with a sensitive value, which ``ruled_out: harmless``
bounds; such a guarantee on the only sensitive attribute also bounds what i facts leave, since those
about values that are not sensitive take no row away that it counts.

What is left of a group of persons once an attacker rules values out for the target.

A fact is "the target has no row with value o of attribute a". The members without o are left, and
the belief in s is the share of them who have s in at least one row. Facts are chosen one after the
other, each so that the belief becomes greatest: exact for one fact, and a lower bound for several
unless the group has at most ``EXACT_VALUES`` values, where two facts are searched together.
Persons are counted in single precision, which is exact up to 2^24 of them; shares are quotients of
such counts in double precision, so that none passes a bound by rounding.

Without the release, an attacker with as many facts has the persons of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.beliefs import (
    ALL_ROWS,
    AT_ALL,
    Beliefs,
    PersonView,
    TrueValues,
    beliefs_in,
    finding_on_values,
    on_lines_of,
    person_bounds,
    requirements_about,
    ungrouped,
    value_bounds,
    weighted_beliefs,
)
from discreet.attacks.class_attacks import IN_TABLE
from discreet.releases.adversary_view import AdversaryView
from discreet.requirements.diversity import Diversity
from discreet.statements import Statement
from discreet.table.classes import group_codes
from discreet.table.counts import order_by_class
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values, starts_of
from discreet.typing import Bools, Floats, Ints, Singles, StopFlag

EXACT_VALUES = 200  # of a group where two facts are searched exactly
GREEDY = Statement("figures.greedy-facts")
SLOTS = 8  # first facts whose remaining rows are kept
PAIRED_VALUES = 16  # of a group in which two facts are searched together
WORK = 2e10  # multiplications of a group; in one that takes more, no fact is used
CELLS = 2e8  # of such a group at once
TOGETHER = 2_000_000  # cells of the groups that are searched at once
SAMPLED, FREQUENT = 5_000, 20  # persons, and values ruled out, without the release


class NonMembership(Attack):
    """One value by knowing that the target lacks others."""

    name: ClassVar[str] = "non-membership"
    also_knows: ClassVar[str] = Statement("also-knows.absent-values")
    attackers: ClassVar[tuple[StandardAttacker, ...]] = (StandardAttacker.EXCLUDER,)
    slow: ClassVar[bool] = True

    bits: int = Field(
        default=2, ge=1, le=8, description="Greatest number of facts that the attacker knows."
    )

    @property
    def knowledge(self) -> str:
        return Statement("knows.absent-values", first=IN_TABLE, values=self.bits)

    def expected(self, scene: Scene) -> int:
        return self.bits * super().expected(scene)

    def run(self, scene: Scene) -> Iterator[Finding]:
        for reading in scene.readings:
            names = list(reading.sensitive)
            limits = [
                value_bounds(scene.requirements, scene.domains, reading, name).everywhere
                for name in names
            ]
            for number, attribute in enumerate(names):
                among = _bound_among_sensitive(scene, reading, attribute)
                for bits in range(1, self.bits + 1):
                    bound = _bound_after_facts(limits[number], max(limits), bits)
                    if len(names) == 1:
                        bound = min(bound, _bound_after_facts(among, among, bits))
                    yield self._one(scene, reading, attribute, bits, bound)
                if scene.is_sensitive(attribute) is not None:
                    yield self._harmless_ruled_out(scene, reading, attribute, among)

    def run_on_persons(self, scene: Scene, view: PersonView) -> Iterator[Finding]:
        limits = {
            name: float(
                person_bounds(
                    scene.guarantees, view.domains, name, view.share(column, AT_ALL), AT_ALL
                ).max(initial=0.0)
            )
            for name, column in view.sensitive.items()
        }
        touched, everybody = Touched.of(view), Touched.of(view.whole)
        for bits in range(1, self.bits + 1):
            with stop_flag() as stop:
                belief, exact = beliefs_after_facts(touched, bits, stop)
            without = beliefs_without_release(everybody, bits)[everybody.value]
            for name, column in view.sensitive.items():
                bound = _bound_after_facts(limits[name], max(limits.values()), bits)
                found = finding_on_values(
                    self, scene, view, name,
                    _true_values(touched, belief, name, column.cardinality),
                    _true_values(everybody, without, name, column.cardinality),
                    np.full(column.cardinality, bound),
                    knowledge=_facts(bits, ALL_ROWS, ".row"),
                    details={"bits": bits, "reader": AT_ALL},
                    sensitive=scene.is_sensitive(name, view.domains),
                )  # fmt: skip
                yield found if exact else replace(found, method=GREEDY)

    def _one(
        self, scene: Scene, reading: AdversaryView, attribute: str, bits: int, bound: float
    ) -> Finding:
        beliefs, exact = non_membership_beliefs(reading, attribute, bits)
        return self.finding(
            scene, reading, attribute, beliefs,
            on_lines_of(beliefs, non_membership_beliefs(ungrouped(reading), attribute, bits)[0]),
            np.full(len(beliefs.belief), bound),
            knowledge=_facts(bits, IN_TABLE),
            method=None if exact else GREEDY,
            details={"bits": bits},
        )  # fmt: skip

    def _harmless_ruled_out(
        self, scene: Scene, reading: AdversaryView, attribute: str, bound: float
    ) -> Finding:
        """What is believed of a target who has none of the values that are not sensitive."""
        beliefs = _beliefs_among_sensitive(scene, reading, attribute)
        without = _beliefs_among_sensitive(scene, ungrouped(reading), attribute)
        return self.finding(
            scene, reading, attribute, beliefs, on_lines_of(beliefs, without),
            np.full(len(beliefs.belief), bound),
            knowledge=Statement("knows.no-harmless-value", first=IN_TABLE),
            details={"ruled_out": "harmless"},
        )  # fmt: skip


def _beliefs_among_sensitive(scene: Scene, reading: AdversaryView, attribute: str) -> Beliefs:
    """The belief in each target's sensitive value where the other values are ruled out."""
    column, truth = reading.sensitive[attribute], reading.truth[attribute]
    beliefs = beliefs_in(reading, attribute)
    told = scene.discloses(attribute, column.codes).astype(np.int32)
    of_target = scene.discloses(attribute, truth).astype(np.int32)
    share = on_lines_of(beliefs, weighted_beliefs(reading, told, of_target, 2))
    left = np.where(share > 0, share, 1.0)
    return replace(beliefs, belief=np.minimum(beliefs.belief / left, 1.0))


def _bound_among_sensitive(scene: Scene, reading: AdversaryView, attribute: str) -> float:
    """The greatest share of a value among the rows with a sensitive one; infinite for no bound."""
    domain, share = scene.domains[attribute], reading.share(attribute)
    limits = [
        float(requirement.on_all_values.share_bound(share, domain).max(initial=0.0))
        for requirement in requirements_about(scene.requirements, attribute)
        if isinstance(requirement, Diversity) and requirement.counts_sensitive_rows
    ]
    return min(limits, default=np.inf)


def _facts(bits: int, first: Statement, form: str = "") -> Statement:
    """Return what an attacker knows who also knows some facts about the target."""
    if bits == 1:
        return Statement(f"knows.fact{form}", first=first)
    return Statement(f"knows.facts{form}", first=first, facts=bits)


def _bound_after_facts(limit: float, greatest: float, bits: int) -> float:
    """The bound of a value whose share is at most ``limit`` once others are ruled out."""
    left = 1 - bits * greatest  # of the rows or persons, at least
    return min(limit / left, 1.0) if left > 1e-12 else np.inf


def _true_values(touched: Touched, belief: Floats, name: str, cardinality: int) -> TrueValues:
    own = touched.lines_of(name, cardinality)
    person = touched.person_of_member[touched.member[own]]
    return TrueValues(person, touched.value[own] - touched.offset[name], belief[own])


def non_membership_beliefs(
    reading: AdversaryView, attribute: str, bits: int
) -> tuple[Beliefs, bool]:
    """The greatest belief in each target's value after ``bits`` facts; whether it is exact."""
    names = [attribute, *(name for name in reading.sensitive if name != attribute)]
    columns = [reading.sensitive[name] for name in names]
    cardinalities = [column.cardinality for column in columns]
    rows = group_codes(
        [reading.group_of_row, *(c.codes for c in columns)],
        [reading.groups, *cardinalities],
        reading.rows,
    )
    group = reading.group_of_row[rows.first_row]
    start, order = order_by_class(group, np.zeros(len(group), np.int32), reading.groups, 1)
    offsets = np.cumsum([0, *(c + 1 for c in cardinalities)])
    row_codes = np.stack([c.codes[rows.first_row][order] for c in columns], axis=1)
    places = reading.placement.places
    lines = group_codes(
        [reading.place_of_target, *(reading.truth[name] for name in names)],
        [places, *(c + 1 for c in cardinalities)],
        reading.targets,
    )
    first = lines.first_row
    place, value = reading.place_of_target[first], reading.truth[attribute][first]
    line_start, line_order = order_by_class(place, value, places, cardinalities[0] + 1)
    line_codes = np.stack([reading.truth[name][first] for name in names], axis=1)[line_order]
    placement = reading.placement
    with stop_flag() as stop:
        found, exact = _greatest(
            start, row_codes + offsets[:-1], rows.size[order].astype(np.float64), reading.size,
            placement.start, placement.group, placement.weight,
            line_start, line_codes + offsets[:-1], int(offsets[-1]), bits, stop,
        )  # fmt: skip
    belief = np.empty(len(found))
    belief[line_order] = found
    return Beliefs(belief, lines.size, place, value, lines.class_of_row), exact


# Compiled: for every place and target a search over pairs of values, with tables of its own.
@kernel(work=30)
def _greatest(
    start: NDArray[np.int64],  # (groups + 1,) of the distinct rows
    codes: NDArray[np.int64],  # (distinct rows, attributes) the attribute aimed at first
    count: Floats,
    size: NDArray[np.int64],
    place_start: NDArray[np.int64],
    group: NDArray[np.int32],
    weight: Floats,
    line_start: NDArray[np.int64],  # (places + 1,) of the targets, by value within a place
    line_codes: NDArray[np.int64],  # (lines, attributes)
    all_values: int,
    bits: int,
    stop: StopFlag,
) -> tuple[Floats, bool]:
    attributes = codes.shape[1]
    belief = np.zeros(len(line_codes))
    local = np.full(all_values, -1, np.int64)  # the number of a value within the place
    single = np.zeros(EXACT_VALUES)
    pairs = np.zeros((EXACT_VALUES, EXACT_VALUES))
    of_truth = np.zeros(EXACT_VALUES)
    pairs_of_truth = np.zeros((EXACT_VALUES, EXACT_VALUES))
    is_own = np.zeros(all_values, np.bool_)
    exact = True
    for place in range(len(place_start) - 1):
        if line_start[place] == line_start[place + 1]:
            continue
        held = 0
        for edge in range(place_start[place], place_start[place + 1]):
            held += start[group[edge] + 1] - start[group[edge]]
        rows = np.empty((held, attributes), np.int64)
        mass = np.empty(held)
        values, at, total = 0, 0, 0.0
        for edge in range(place_start[place], place_start[place + 1]):
            g = group[edge]
            for row in range(start[g], start[g + 1]):
                mass[at] = count[row] * weight[edge] / size[g]
                total += mass[at]
                for a in range(attributes):
                    code = codes[row, a]
                    if local[code] < 0:
                        local[code] = values
                        values += 1
                    rows[at, a] = local[code]
                at += 1
        searched = bits == 1 or (bits == 2 and values <= EXACT_VALUES)
        exact = exact and searched
        if searched and values > len(single):
            single, of_truth = np.zeros(values), np.zeros(values)
        if searched:
            _tally(rows, mass, -1, values, bits, single, pairs)
        last = np.int64(-1)
        own = np.empty(attributes, np.int64)
        first_line, last_line = line_start[place], line_start[place + 1]
        if not searched and bits == 2:
            _two_facts(rows, mass, line_codes[first_line:last_line], local, values, total,
                       belief[first_line:last_line], stop)  # fmt: skip
            last_line = first_line
        for line in range(first_line, last_line):
            if stop[0]:
                return belief, False
            for a in range(attributes):
                own[a] = local[line_codes[line, a]]
            if own[0] < 0:  # the truth was not published in any group that fits
                continue
            if not searched:
                belief[line] = _greedy(rows, mass, own, values, bits)
                continue
            if own[0] != last:
                last = own[0]
                _tally(rows, mass, last, values, bits, of_truth, pairs_of_truth)
            for a in range(attributes):
                is_own[max(own[a], 0)] |= own[a] >= 0
            belief[line] = _best(
                single, pairs, of_truth, pairs_of_truth, own[0], is_own, values, bits, total
            )
            for a in range(attributes):
                is_own[max(own[a], 0)] = False
        for edge in range(place_start[place], place_start[place + 1]):
            g = group[edge]
            for row in range(start[g], start[g + 1]):
                for a in range(attributes):
                    local[codes[row, a]] = -1
    return belief, exact


# Compiled: called for every place and true value.
@kernel
def _tally(
    rows: NDArray[np.int64],
    mass: Floats,
    truth: int,
    values: int,
    bits: int,
    single: Floats,
    pairs: Floats,
) -> None:
    """The mass of each value and of each pair, among the rows with the truth (all if −1)."""
    single[:values] = 0.0
    if bits > 1:
        pairs[:values, :values] = 0.0
    for row in range(len(rows)):
        if truth >= 0 and rows[row, 0] != truth:
            continue
        for a in range(rows.shape[1]):
            single[rows[row, a]] += mass[row]
            if bits > 1:
                for b in range(a + 1, rows.shape[1]):
                    pairs[rows[row, a], rows[row, b]] += mass[row]
                    pairs[rows[row, b], rows[row, a]] += mass[row]


# Compiled: all pairs of values, for every target.
@kernel
def _best(
    single: Floats,
    pairs: Floats,
    of_truth: Floats,
    pairs_of_truth: Floats,
    truth: int,
    is_own: NDArray[np.bool_],
    values: int,
    bits: int,
    total: float,
) -> float:
    """The greatest share of the truth after barring one or two values that are not the target's.

    Pairs with the value of the greatest mass come first. Another value needs no pairs where even
    barring as much besides, none of it the truth's, would leave no greater share.
    """
    whole = of_truth[truth]
    best = whole / total
    commonest = -1
    for f in range(values):
        if is_own[f]:
            continue
        left = total - single[f]
        if left > 1e-12:
            best = max(best, (whole - of_truth[f]) / left)
        if commonest < 0 or single[f] > single[commonest]:
            commonest = f
    if bits < 2 or commonest < 0:
        return float(min(best, 1.0))
    for turn in range(-1, values):
        f = commonest if turn < 0 else turn
        if is_own[f] or turn == commonest:
            continue
        left = total - single[f]
        least = left - single[commonest]
        if turn >= 0 and least > 1e-12 and whole - of_truth[f] <= best * least:
            continue
        for other in range(values):
            if is_own[other] or other == f:
                continue
            rest = left - single[other] + pairs[f, other]
            if rest > 1e-12:
                kept = whole - of_truth[f] - of_truth[other] + pairs_of_truth[f, other]
                best = max(best, kept / rest)
    return float(min(best, 1.0))


# Compiled: passes over the rows of a place for every first fact.
@kernel
def _two_facts(
    rows: NDArray[np.int64],
    mass: Floats,
    lines: NDArray[np.int64],  # (lines, attributes) values of targets, by truth
    local: NDArray[np.int64],  # the number of a value within the place
    values: int,
    total: float,
    belief: Floats,  # (lines,) written
    stop: StopFlag,
) -> None:
    """Bar the value that leaves the greatest share, then the best second one, for many values.

    Targets with the same truth mostly bar the same first value, so the rows without it are tallied
    once for these.
    """
    attributes = rows.shape[1]
    single, of_truth = np.zeros(values), np.zeros(values)
    kept_single, kept_truth = np.zeros((SLOTS, values)), np.zeros((SLOTS, values))
    barred = np.full(SLOTS, -1, np.int64)
    kept_total = np.zeros(SLOTS)
    is_own = np.zeros(values, np.bool_)
    for row in range(len(rows)):
        for a in range(attributes):
            single[rows[row, a]] += mass[row]
    truth, at = -1, 0
    for line in range(len(lines)):
        if stop[0]:
            return
        own = int(local[lines[line, 0]])
        if own < 0:  # the truth was not published in any group that fits
            continue
        if own != truth:
            truth = own
            of_truth[:] = 0.0
            barred[:] = -1
            for row in range(len(rows)):
                if rows[row, 0] == truth:
                    for a in range(attributes):
                        of_truth[rows[row, a]] += mass[row]
        for a in range(attributes):
            if local[lines[line, a]] >= 0:
                is_own[local[lines[line, a]]] = True
        chosen, best = _best_fact(single, of_truth, truth, is_own, total)
        if chosen >= 0:
            slot = -1
            for s in range(SLOTS):
                if barred[s] == chosen:
                    slot = s
            if slot < 0:
                slot, at = at, (at + 1) % SLOTS
                barred[slot] = chosen
                kept_single[slot], kept_truth[slot] = 0.0, 0.0
                kept_total[slot] = 0.0
                for row in range(len(rows)):
                    alive = True
                    for a in range(attributes):
                        alive = alive and rows[row, a] != chosen
                    if alive:
                        kept_total[slot] += mass[row]
                        for a in range(attributes):
                            kept_single[slot, rows[row, a]] += mass[row]
                            if rows[row, 0] == truth:
                                kept_truth[slot, rows[row, a]] += mass[row]
            _, second = _best_fact(
                kept_single[slot], kept_truth[slot], truth, is_own, kept_total[slot]
            )
            best = max(best, second)
        belief[line] = min(max(best, of_truth[truth] / total), 1.0)
        for a in range(attributes):
            if local[lines[line, a]] >= 0:
                is_own[local[lines[line, a]]] = False


# Compiled: called for every target.
@kernel
def _best_fact(
    single: Floats, of_truth: Floats, truth: int, is_own: NDArray[np.bool_], total: float
) -> tuple[int, float]:
    """The value whose absence leaves the truth the greatest share, and this share."""
    chosen, greatest = -1, -1.0
    for f in range(len(single)):
        if not is_own[f] and single[f] > 0 and total - single[f] > 1e-12:
            share = (of_truth[truth] - of_truth[f]) / (total - single[f])
            if share > greatest:
                chosen, greatest = f, share
    return chosen, greatest


# Compiled: passes over the rows of a place for every fact and target.
@kernel
def _greedy(
    rows: NDArray[np.int64], mass: Floats, own: NDArray[np.int64], values: int, bits: int
) -> float:
    """Bar one value after the other, each time the one that leaves the greatest share."""
    alive = np.ones(len(rows), np.bool_)
    best = 0.0
    for step in range(bits + 1):
        total, whole = 0.0, 0.0
        single, of_truth = np.zeros(values), np.zeros(values)
        for row in range(len(rows)):
            if not alive[row]:
                continue
            total += mass[row]
            is_true = rows[row, 0] == own[0]
            if is_true:
                whole += mass[row]
            for a in range(rows.shape[1]):
                single[rows[row, a]] += mass[row]
                if is_true:
                    of_truth[rows[row, a]] += mass[row]
        best = max(best, whole / total)
        if step == bits:
            break
        chosen, greatest = -1, -1.0
        for f in range(values):
            if (own == f).any() or single[f] == 0 or total - single[f] <= 1e-12:
                continue
            share = (whole - of_truth[f]) / (total - single[f])
            if share > greatest:
                chosen, greatest = f, share
        if chosen < 0:
            break
        for row in range(len(rows)):
            for a in range(rows.shape[1]):
                if rows[row, a] == chosen:
                    alive[row] = False
    return min(best, 1.0)


@dataclass(frozen=True, eq=False)
class Touched:
    """The values that the members of groups have in at least one row, over all attributes."""

    member: Ints  # (lines,) ascending
    value: Ints  # (lines,) those of the attributes one after the other
    group_of_member: Ints  # (members,) ascending
    person_of_member: Ints  # (members,)
    offset: dict[str, int]  # where the values of an attribute start
    values: int

    @classmethod
    def of(cls, view: PersonView) -> Touched:
        """The values of the members of a view's groups."""
        group, person = view.members
        own = view.classes.class_of_row.astype(np.int64) * view.persons.count + view.persons.number
        member = np.searchsorted(group * view.persons.count + person, own)
        offset: dict[str, int] = {}
        lines, values = [], 0
        for name, column in view.sensitive.items():
            offset[name] = values
            lines.append(np.stack([member, column.codes.astype(np.int64) + values]))
            values += column.cardinality
        key = np.concatenate([found[0] * values + found[1] for found in lines])
        held, value = np.divmod(distinct_values(key), max(values, 1))
        return cls(held, value, group, person, offset, values)

    def lines_of(self, attribute: str, cardinality: int) -> Bools:
        """The lines with a value of one attribute."""
        start = self.offset[attribute]
        return (self.value >= start) & (self.value < start + cardinality)


def beliefs_after_facts(touched: Touched, bits: int, stop: StopFlag) -> tuple[Floats, bool]:
    """The greatest belief in each line's value after ``bits`` facts; whether it is exact."""
    belief = _without_facts(touched)
    exact = True
    for one in _batches(touched):
        if one is None:  # a group that is too large
            exact = False
            continue
        if stop[0]:
            return belief, False
        found, is_exact = one.greatest(bits)
        belief[one.line[one.is_line]] = found[one.is_line]
        exact = exact and is_exact
    return belief, exact


def beliefs_without_release(whole: Touched, bits: int) -> Floats:
    """(values,) The belief in each value by the same number of facts, from all persons together.

    At most ``SAMPLED`` persons are used, and the most frequent values are ruled out.
    """
    step = -(-len(whole.group_of_member) // SAMPLED) if len(whole.group_of_member) else 1
    chosen = whole.member % step == 0
    has = np.zeros((-(-len(whole.group_of_member) // step), whole.values), np.float32)
    has[whole.member[chosen] // step, whole.value[chosen]] = 1
    frequent = np.argsort(-has.sum(0), kind="stable")[:FREQUENT]
    of_value = has.T  # (values, persons)
    left = np.ones_like(of_value)
    own = frequent == np.arange(whole.values)[:, None]
    belief: Floats = of_value.sum(1, dtype=np.float64) / max(len(has), 1)
    for _ in range(bits):
        with_value = left * of_value
        rest = left.sum(1)[:, None] - left @ has[:, frequent]
        share = _shares(with_value.sum(1)[:, None] - with_value @ has[:, frequent], rest)
        share[own] = -1
        fact = share.argmax(1)
        belief = np.maximum(belief, share[np.arange(len(share)), fact])
        left = left * (1 - of_value[frequent[fact]])
    return belief


def _without_facts(touched: Touched) -> Floats:
    """The belief in each line's value by the members of its group alone."""
    group = touched.group_of_member[touched.member]
    _, entry, count = np.unique(
        group * touched.values + touched.value, return_inverse=True, return_counts=True
    )
    return np.asarray(count[entry] / np.bincount(touched.group_of_member)[group])


@dataclass(frozen=True, eq=False)
class _Batch:
    """Groups of about the same size, padded to the same shape."""

    has: Singles  # (groups, members, values) 1 where a member has a value
    members: Ints  # (groups,)
    line: Ints  # (groups, lines) number of the line
    is_line: Bools  # (groups, lines)
    member: Ints  # (groups, lines) within the group
    value: Ints  # (groups, lines) within the group

    def greatest(self, bits: int) -> tuple[Floats, bool]:
        """The greatest belief in each line's value, and whether it is exact."""
        members, values = self.has.shape[1:]
        own = np.take_along_axis(self.has, self.member[:, :, None], 1) > 0  # the line's member
        of_line = np.take_along_axis(self.has, self.value[:, None, :], 2).transpose(0, 2, 1)
        is_member = np.arange(members) < self.members[:, None]
        left = np.broadcast_to(is_member[:, None, :], of_line.shape).astype(np.float32)
        belief = _shares((left * of_line).sum(2), self.members[:, None])
        if bits == 2 and values <= PAIRED_VALUES:
            for first in range(values):
                true = ~own[:, :, first]
                rest = left * (1 - self.has[:, None, :, first])
                found, _ = self._one_more(rest, of_line, own)
                np.maximum(belief, np.where(true, found, 0), out=belief)
            return belief, True
        for _ in range(bits):
            found, fact = self._one_more(left, of_line, own)
            belief = np.maximum(belief, found)
            chosen = np.take_along_axis(self.has, fact[:, None, :], 2).transpose(0, 2, 1)
            is_true = ~np.take_along_axis(own, fact[:, :, None], 2)
            left = left * (1 - chosen * is_true)
        return belief, bits == 1

    def _one_more(self, left: Singles, of_line: Singles, own: Bools) -> tuple[Floats, Ints]:
        """The greatest belief after one more true fact, or none, and that fact.

        ``left`` has the members that are left for each line, ``of_line`` those with its value.
        """
        with_value = left * of_line
        total, hit = left.sum(2)[:, :, None], with_value.sum(2)[:, :, None]
        rest = total - left @ self.has
        share = _shares(hit - with_value @ self.has, rest)
        share[own] = -1  # not true of the target
        fact = share.argmax(2)
        greatest = np.take_along_axis(share, fact[:, :, None], 2)[:, :, 0]
        before = _shares(hit, total)[:, :, 0]
        return np.maximum(greatest, before), fact


def _shares(part: Singles, whole: Singles | Ints) -> Floats:
    """Counts over counts, in double precision; 0 where there is nothing to count."""
    return np.asarray(part.astype(np.float64) / np.maximum(whole, 1).astype(np.float64))


def _batches(touched: Touched) -> Iterator[_Batch | None]:
    """All groups, those of about the same size together; None for groups that are too large."""
    group = touched.group_of_member[touched.member]  # (lines,) ascending
    groups = int(touched.group_of_member.max(initial=-1)) + 1
    key, of_line = np.unique(group * touched.values + touched.value, return_inverse=True)
    members = np.bincount(touched.group_of_member, minlength=groups)
    values = np.bincount(key // max(touched.values, 1), minlength=groups)
    lines = np.bincount(group, minlength=groups)
    first_member, first_value, first_line = (starts_of(n)[:-1] for n in (members, values, lines))
    sizes = np.stack([members, values, lines])
    padded = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    shapes, shape_of_group = np.unique(padded, axis=1, return_inverse=True)
    for shape in range(shapes.shape[1]):
        height, width, length = shapes[:, shape]
        if float(length) * height * width > WORK or length * max(height, width) > CELLS:
            yield None
            continue
        alike = np.flatnonzero(shape_of_group.ravel() == shape)
        at_once = max(1, int(TOGETHER // (height * width + length * max(height, width))))
        for start in range(0, len(alike), at_once):
            chosen = alike[start : start + at_once]
            place = np.arange(length)
            is_line = place < lines[chosen][:, None]
            line = np.where(
                is_line, first_line[chosen][:, None] + place, first_line[chosen][:, None]
            )
            member = touched.member[line] - first_member[chosen][:, None]
            value = of_line[line] - first_value[chosen][:, None]
            has = np.zeros((len(chosen), height, width), np.float32)
            has[np.arange(len(chosen))[:, None], member, value] = 1
            yield _Batch(has, members[chosen], line, is_line, member, value)
