"""Non-membership: an attacker who knows i facts "the target does not have value o of attribute a".

The holders that obey the facts are what is left: rows of a group, or persons where these have
several rows, who then have o in none of them. The belief in s is the share of those with s, at its
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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.attackers import StandardAttacker
from discreet.attacks.base import IN_TABLE, Finding, Scene
from discreet.attacks.beliefs import (
    AT_ALL,
    Beliefs,
    ValueBounds,
    beliefs_in,
    on_lines_of,
    requirements_about,
    weighted_beliefs,
)
from discreet.attacks.views import PersonView, RowView, TrueValues, View, ViewAttack
from discreet.releases.adversary_view import AdversaryView
from discreet.requirements.diversity import Diversity
from discreet.statements import Statement
from discreet.table.classes import group_codes
from discreet.table.coded_table import derived_once
from discreet.table.counts import order_by_class
from discreet.table.interrupts import stop_flag
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import distinct_values
from discreet.typing import Bools, Floats, Ints, StopFlag

EXACT_VALUES = 200  # of a group where two facts are searched exactly
GREEDY = Statement("figures.greedy-facts")
SLOTS = 8  # first facts without which the values are counted once for several targets


class NonMembership(ViewAttack):
    """One value by knowing that the target lacks others."""

    name: ClassVar[str] = "non-membership"
    quick: ClassVar[bool] = True
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

    def on(self, scene: Scene, view: View) -> Iterator[Finding]:
        limits = {n: view.bounds(scene, n, AT_ALL).everywhere for n in view.sensitive}
        for name, column in view.sensitive.items():
            sensitive = scene.is_sensitive(name, view.domains)
            among = np.inf
            if isinstance(view, RowView):
                among = _bound_among_sensitive(scene, view.reading, name)
            for bits in range(1, self.bits + 1):
                bound = _bound_after_facts(limits[name], max(limits.values()), bits)
                if len(limits) == 1:
                    bound = min(bound, _bound_after_facts(among, among, bits))
                values, exact = _after_facts(view, name, bits)
                finding = view.finding(
                    self, scene, name, values, _after_facts(view.whole, name, bits)[0],
                    ValueBounds(np.full(column.cardinality, bound), unpublished=bound),
                    knowledge=_facts(bits, view), details={"bits": bits}, reader=AT_ALL,
                    sensitive=sensitive,
                )  # fmt: skip
                yield finding if exact else replace(finding, method=GREEDY)
            if isinstance(view, RowView) and sensitive is not None:
                yield view.finding(
                    self, scene, name, _beliefs_among_sensitive(scene, view.reading, name),
                    _beliefs_among_sensitive(scene, view.whole.reading, name),
                    ValueBounds(np.full(column.cardinality, among), unpublished=among),
                    knowledge=Statement("knows.no-harmless-value", first=IN_TABLE),
                    details={"ruled_out": "harmless"}, sensitive=sensitive,
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


def _facts(bits: int, view: View) -> Statement:
    """Return what an attacker knows who also knows some facts about the target."""
    form = "" if isinstance(view, RowView) else ".row"
    if bits == 1:
        return Statement(f"knows.fact{form}", first=view.knows)
    return Statement(f"knows.facts{form}", first=view.knows, facts=bits)


def _after_facts(view: View, attribute: str, bits: int) -> tuple[Any, bool]:
    """The greatest belief in each target's value after so many facts; whether it is exact."""
    if isinstance(view, RowView):
        return non_membership_beliefs(view.reading, attribute, bits)
    by_attribute, exact = beliefs_after_facts(view, bits)
    return by_attribute[attribute], exact


def _bound_after_facts(limit: float, greatest: float, bits: int) -> float:
    """The bound of a value whose share is at most ``limit`` once others are ruled out."""
    left = 1 - bits * greatest  # of the rows or persons, at least
    return min(limit / left, 1.0) if left > 1e-12 else np.inf


def non_membership_beliefs(
    reading: AdversaryView, attribute: str, bits: int
) -> tuple[Beliefs, bool]:
    """The greatest belief in each target's value after ``bits`` facts; whether it is exact."""
    names = [attribute, *(name for name in reading.sensitive if name != attribute)]
    columns = [reading.sensitive[name] for name in names]
    cardinalities = [column.cardinality for column in columns]
    offsets = np.cumsum([0, *(c + 1 for c in cardinalities)])
    # The holders are the distinct rows of a group, in the order of the groups.
    rows = group_codes(
        [reading.group_of_row, *(c.codes for c in columns)],
        [reading.groups, *cardinalities],
        reading.rows,
    )
    group = reading.group_of_row[rows.first_row]
    start, order = order_by_class(group, np.zeros(len(group), np.int32), reading.groups, 1)
    codes = np.stack([c.codes[rows.first_row][order] for c in columns], axis=1) + offsets[:-1]
    # Targets are alike who fit the same groups and have the same values.
    placement = reading.placement
    lines = group_codes(
        [reading.place_of_target, *(reading.truth[name] for name in names)],
        [placement.places, *(c + 1 for c in cardinalities)],
        reading.targets,
    )
    first = lines.first_row
    place, value = reading.place_of_target[first], reading.truth[attribute][first]
    line_start, line_order = order_by_class(place, value, placement.places, cardinalities[0] + 1)
    of_line = np.stack([reading.truth[name][first] for name in names], axis=1)[line_order]
    of_line = of_line + offsets[:-1]
    width = len(names)
    with stop_flag() as stop:
        greatest, exact = _greatest(
            start, np.arange(len(codes) + 1) * width, codes.ravel(),
            rows.size[order].astype(np.float64), reading.size.astype(np.float64),
            placement.start, placement.group, placement.weight,
            line_start, of_line[:, 0].copy(), np.arange(len(of_line)) * width,
            np.arange(1, len(of_line) + 1) * width, of_line.ravel(), int(offsets[-1]), bits, stop,
        )  # fmt: skip
    belief = np.empty(len(greatest))
    belief[line_order] = greatest
    return Beliefs(belief, lines.size, place, value, lines.class_of_row), exact


@derived_once
def beliefs_after_facts(view: PersonView, bits: int) -> tuple[dict[str, TrueValues], bool]:
    """The greatest belief in each value of a person after ``bits`` facts, and whether it is exact.

    By attribute. Persons are counted, so that shares are quotients of whole numbers.
    """
    offsets = np.cumsum([0, *(column.cardinality for column in view.sensitive.values())])
    values, groups = int(offsets[-1]), view.classes.count
    # The holders are the members of a group; their values, each once, in ascending order.
    group, person = view.members
    member = np.searchsorted(group * view.persons.count + person, view.member_of_row)
    keys = [
        member * values + offset + column.codes
        for column, offset in zip(view.sensitive.values(), offsets, strict=False)
    ]
    holder, value = np.divmod(distinct_values(np.concatenate(keys)), max(values, 1))
    start = np.searchsorted(holder, np.arange(len(group) + 1))
    # A line for each value of each member, by value within a group.
    line_start, order = order_by_class(
        group[holder].astype(np.int32), value.astype(np.int32), groups, values
    )
    with stop_flag() as stop:
        greatest, exact = _greatest(
            np.searchsorted(group, np.arange(groups + 1)), start, value, np.ones(len(group)),
            np.ones(groups), np.arange(groups + 1), np.arange(groups, dtype=np.int32),
            np.ones(groups), line_start, value[order], start[holder[order]],
            start[holder[order] + 1], value, values, bits, stop,
        )  # fmt: skip
    belief = np.empty(len(greatest))
    belief[order] = greatest
    by_attribute = {}
    for name, first, last in zip(view.sensitive, offsets[:-1], offsets[1:], strict=True):
        lines = (value >= first) & (value < last)
        by_attribute[name] = TrueValues(person[holder[lines]], value[lines] - first, belief[lines])
    return by_attribute, exact


# Compiled: for every place and target a search over pairs of values, with tables of its own.
@kernel(work=30)
def _greatest(
    group_start: Ints,  # (groups + 1,) of the holders: distinct rows, or members
    start: Ints,  # (holders + 1,) of the values of each
    value: Ints,
    count: Floats,  # (holders,)
    size: Floats,  # (groups,) by which counts are divided
    place_start: Ints,  # (places + 1,)
    group: NDArray[np.int32],
    weight: Floats,
    line_start: Ints,  # (places + 1,) of the targets, by true value within a place
    line_truth: Ints,  # (lines,)
    own_start: Ints,  # (lines,) of the values that the target has
    own_end: Ints,  # (lines,)
    target_value: Ints,
    all_values: int,
    bits: int,
    stop: StopFlag,
) -> tuple[Floats, bool]:
    """Return the greatest belief in the truth of each line, and whether all are exact."""
    belief = np.zeros(len(line_truth))
    local = np.full(all_values, -1, np.int64)  # the number of a value within the place
    exact = True
    for place in range(len(place_start) - 1):
        if line_start[place] == line_start[place + 1]:
            continue
        # The holders of all groups that fit, their values numbered from 0.
        holders, entries = 0, 0
        for edge in range(place_start[place], place_start[place + 1]):
            first, last = group_start[group[edge]], group_start[group[edge] + 1]
            holders += last - first
            entries += start[last] - start[first]
        held_start, held = np.zeros(holders + 1, np.int64), np.empty(entries, np.int64)
        mass = np.empty(holders)
        values, at, entry = 0, 0, 0
        for edge in range(place_start[place], place_start[place + 1]):
            g = group[edge]
            for holder in range(group_start[g], group_start[g + 1]):
                mass[at] = count[holder] * weight[edge] / size[g]
                for position in range(start[holder], start[holder + 1]):
                    if local[value[position]] < 0:
                        local[value[position]] = values
                        values += 1
                    held[entry] = local[value[position]]
                    entry += 1
                at += 1
                held_start[at] = entry
        # All pairs of facts, or one fact after the other.
        together = bits == 1 or (bits == 2 and values <= EXACT_VALUES)
        exact = exact and together
        first, last = line_start[place], line_start[place + 1]
        _search_facts(
            held_start, held, mass, values, bits, together, line_truth[first:last],
            own_start[first:last], own_end[first:last], target_value, local, belief[first:last],
            stop,
        )  # fmt: skip
        if stop[0]:
            return belief, False
        for edge in range(place_start[place], place_start[place + 1]):
            g = group[edge]
            for position in range(start[group_start[g]], start[group_start[g + 1]]):
                local[value[position]] = -1
    return belief, exact


# Compiled: called for every place and true value.
@kernel
def _tally(
    start: Ints,
    held: Ints,
    mass: Floats,
    truth: int,
    barred: Bools,
    single: Floats,
    pairs: Floats,
) -> float:
    """Sum the mass of each value and pair among the holders of the truth (all if −1); return it.

    Holders of a barred value are left out; without room for pairs these are not counted.
    """
    single[:] = 0.0
    pairs[:] = 0.0
    total = 0.0
    for holder in range(len(mass)):
        counts = truth < 0
        for position in range(start[holder], start[holder + 1]):
            counts = counts or held[position] == truth
        for position in range(start[holder], start[holder + 1]):
            counts = counts and not barred[held[position]]
        if not counts:
            continue
        total += mass[holder]
        for position in range(start[holder], start[holder + 1]):
            single[held[position]] += mass[holder]
            for other in range(position + 1, start[holder + 1] if len(pairs) else 0):
                pairs[held[position], held[other]] += mass[holder]
                pairs[held[other], held[position]] += mass[holder]
    return total


# Compiled: called for every target.
@kernel
def _mark(is_own: Bools, target_value: Ints, local: Ints, mark: bool) -> None:
    """Mark the values of a target that occur in the place."""
    for position in range(len(target_value)):
        if local[target_value[position]] >= 0:
            is_own[local[target_value[position]]] = mark


# Compiled: called for every target.
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
                left_of_truth = whole - of_truth[f] - of_truth[other] + pairs_of_truth[f, other]
                best = max(best, left_of_truth / rest)
    return float(min(best, 1.0))


# Compiled: searches among the values of a place for every target.
@kernel
def _search_facts(
    start: Ints,
    held: Ints,
    mass: Floats,
    values: int,
    bits: int,
    together: bool,
    line_truth: Ints,
    own_start: Ints,
    own_end: Ints,
    target_value: Ints,
    local: Ints,  # the number of a value within the place
    belief: Floats,  # (lines,) written
    stop: StopFlag,
) -> None:
    """Try every fact, or every two ``together``; else bar one value after the other, greedily.

    Both by the counts of values and of pairs of values. Greedily, each value is the one that leaves
    the greatest share. Targets with the same truth mostly bar the same first value, so the holders
    without it are counted once for these.
    """
    room = values if together and bits > 1 else 0
    barred, is_own = np.zeros(values, np.bool_), np.zeros(values, np.bool_)
    single, of_truth = np.zeros(values), np.zeros(values)
    pairs, pairs_of_truth = np.zeros((room, room)), np.zeros((room, room))
    no_pairs = np.zeros((0, 0))
    total = _tally(start, held, mass, -1, barred, single, pairs)
    # By first fact: the counts of the holders without it.
    first_fact, total_without = np.full(SLOTS, -1, np.int64), np.zeros(SLOTS)
    slot_values = 0 if together else values
    without, truth_without = np.zeros((SLOTS, slot_values)), np.zeros((SLOTS, slot_values))
    last, slots = np.int64(-1), 0
    for line in range(len(line_truth)):
        if stop[0]:
            return
        truth = local[line_truth[line]]
        if truth < 0:  # the truth was not published in any group that fits
            continue
        if truth != last:
            last = truth
            first_fact[:] = -1
            _tally(start, held, mass, truth, barred, of_truth, pairs_of_truth)
        _mark(is_own, target_value[own_start[line] : own_end[line]], local, True)
        if together:
            belief[line] = _best(
                single, pairs, of_truth, pairs_of_truth, truth, is_own, values, bits, total
            )
            _mark(is_own, target_value[own_start[line] : own_end[line]], local, False)
            continue
        fact, best = _best_fact(single, of_truth, truth, is_own, total)
        if fact >= 0:
            slot = -1
            for s in range(SLOTS):
                if first_fact[s] == fact:
                    slot = s
            barred[fact] = True
            if slot < 0:
                slot, slots = slots, (slots + 1) % SLOTS
                first_fact[slot] = fact
                total_without[slot] = _tally(start, held, mass, -1, barred, without[slot], no_pairs)
                _tally(start, held, mass, truth, barred, truth_without[slot], no_pairs)
            fact, share = _best_fact(
                without[slot], truth_without[slot], truth, is_own, total_without[slot]
            )
            best = max(best, share)
            # Further facts, by a pass over the holders for each.
            for _ in range(bits - 2):
                if fact < 0:
                    break
                barred[fact] = True
                rest, rest_of_truth = np.zeros(values), np.zeros(values)
                left = _tally(start, held, mass, -1, barred, rest, no_pairs)
                _tally(start, held, mass, truth, barred, rest_of_truth, no_pairs)
                fact, share = _best_fact(rest, rest_of_truth, truth, is_own, left)
                best = max(best, share)
            barred[:] = False
        belief[line] = min(max(best, of_truth[truth] / total), 1.0)
        _mark(is_own, target_value[own_start[line] : own_end[line]], local, False)


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
