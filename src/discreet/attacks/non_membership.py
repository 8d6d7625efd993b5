"""Non-membership: an attacker who knows i facts "the target does not have value o of attribute a".

The rows that obey the facts are what is left; the belief in s is the share of those with s, at its
greatest over all choices of i facts that are true of the target. Facts about others never do
better than facts about the target (enumerated on thousands of small groups), so those are enough.
One fact is searched exactly, and two by inclusion and exclusion on the counts of values and of
pairs of values; three and more, or two in groups with more than ``EXACT_VALUES`` values, greedily,
one fact at a time, which is a lower bound of the greatest.

Without the release, an attacker with the same facts has the shares of values in the whole table:
facts rule out the most frequent other values of the attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.class_attacks import IN_TABLE
from discreet.attacks.inference.beliefs import Beliefs
from discreet.attacks.inference.bounds import value_bounds
from discreet.attacks.persons.person_view import (
    ALL_ROWS,
    AT_ALL,
    PersonView,
    TrueValues,
    finding_on_values,
    person_bounds,
)
from discreet.attacks.persons.ruled_out import Touched, beliefs_after_facts, beliefs_without_release
from discreet.releases.adversary_view import AdversaryView
from discreet.table.classes import group_codes
from discreet.table.counts import order_by_class
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.typing import Floats, StopFlag

EXACT_VALUES = 200  # of a group where two facts are searched exactly
GREEDY = "facts chosen greedily, at least"
SLOTS = 8  # first facts whose remaining rows are kept


class NonMembership(Attack):
    """One value by knowing that the target lacks others."""

    name: ClassVar[str] = "non-membership"
    also_knows: ClassVar[str] = "values that the target does not have"
    slow: ClassVar[bool] = True

    bits: int = Field(
        default=2, ge=1, le=8, description="Greatest number of facts that the attacker knows."
    )

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and up to {self.bits} values that the target does not have"

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
                for bits in range(1, self.bits + 1):
                    bound = _bound_after_facts(limits[number], max(limits), bits)
                    yield self._one(scene, reading, attribute, bits, bound)

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
                    knowledge=f"{ALL_ROWS}, and {_facts(bits)} 'the target has no such row'",
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
            _share_after_facts(reading.share(attribute), bits)[beliefs.value],
            np.full(len(beliefs.belief), bound),
            knowledge=f"{IN_TABLE}, and {_facts(bits)} 'the target does not have this value'",
            method=None if exact else GREEDY,
            details={"bits": bits},
        )  # fmt: skip


def _facts(bits: int) -> str:
    return "one fact" if bits == 1 else f"{bits} facts"


def _bound_after_facts(limit: float, greatest: float, bits: int) -> float:
    """The bound of a value whose share is at most ``limit`` once others are ruled out."""
    left = 1 - bits * greatest  # of the rows or persons, at least
    return min(limit / left, 1.0) if left > 1e-12 else np.inf


def _true_values(touched: Touched, belief: Floats, name: str, cardinality: int) -> TrueValues:
    own = touched.lines_of(name, cardinality)
    person = touched.person_of_member[touched.member[own]]
    return TrueValues(person, touched.value[own] - touched.offset[name], belief[own])


def _share_after_facts(share: Floats, bits: int) -> Floats:
    """The share of each value once the most frequent others are ruled out; 0 of one unpublished."""
    order = np.argsort(-share, kind="stable")
    found = np.zeros(len(share) + 1)
    for value, own in enumerate(share):
        others = order[: bits + 1][order[: bits + 1] != value][:bits]
        left = 1 - share[others].sum()
        found[value] = 1.0 if left <= own else own / left
    return found


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
