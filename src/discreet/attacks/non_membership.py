"""Non-membership: an attacker who knows i facts "the target does not have value o of attribute a".

The rows that obey the facts are what is left; the belief in s is the share of those with s, at its
greatest over all choices of i facts that are true of the target. Facts about others never do
better than facts about the target (enumerated on thousands of small groups), so those are enough.
One and two facts are searched exactly, by inclusion and exclusion on the counts of values and of
pairs of values; three and more, or groups with more than ``EXACT_VALUES`` values, greedily, one
fact at a time, which is a lower bound of the greatest.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.attacks.base import Attack, Finding, Scene
from discreet.attacks.class_attacks import IN_TABLE, baseline_of
from discreet.attacks.inference.beliefs import Beliefs
from discreet.attacks.inference.bounds import value_bounds
from discreet.releases.adversary_view import AdversaryView
from discreet.table.classes import group_codes
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.typing import Floats

EXACT_VALUES = 200


class NonMembership(Attack):
    """One value by knowing that the target lacks others."""

    name: ClassVar[str] = "non-membership"
    may_count_rows: ClassVar[bool] = True

    bits: int = Field(
        default=2, ge=1, le=8, description="Greatest number of facts that the attacker knows."
    )

    @property
    def knowledge(self) -> str:
        return f"{IN_TABLE}, and up to {self.bits} values that the target does not have"

    def run(self, scene: Scene) -> list[Finding]:
        findings = []
        for reading in scene.readings:
            names = list(reading.sensitive)
            limits = [
                value_bounds(scene.requirements, scene.domains, reading, name).everywhere
                for name in names
            ]
            for number, attribute in enumerate(names):
                for bits in range(1, self.bits + 1):
                    beliefs, exact = non_membership_beliefs(reading, attribute, bits)
                    left = 1 - bits * max(limits)  # of the rows, at least
                    bound = limits[number] / left if left > 1e-12 else np.inf
                    bounds = np.full(len(beliefs.belief), min(bound, 1.0) if left > 0 else np.inf)
                    facts = "one fact" if bits == 1 else f"{bits} facts"
                    findings.append(
                        self.finding(
                            scene, reading, attribute, beliefs,
                            baseline_of(reading, attribute, beliefs), bounds,
                            knowledge=f"{IN_TABLE}, and {facts} 'the target does not have this "
                            "value'",
                            method=None if exact else "facts chosen greedily, at least",
                            details={"bits": bits},
                        )
                    )  # fmt: skip
        return findings


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
    found, exact = _greatest(
        start, row_codes + offsets[:-1], rows.size[order].astype(np.float64), reading.size,
        placement.start, placement.group, placement.weight,
        line_start, line_codes + offsets[:-1], int(offsets[-1]), bits,
    )  # fmt: skip
    belief = np.empty(len(found))
    belief[line_order] = found
    return Beliefs(belief, lines.size, place, value, lines.class_of_row), exact


@kernel
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
) -> tuple[Floats, bool]:
    attributes = codes.shape[1]
    belief = np.zeros(len(line_codes))
    local = np.full(all_values, -1, np.int64)  # the number of a value within the place
    single = np.zeros(EXACT_VALUES)
    pairs = np.zeros((EXACT_VALUES, EXACT_VALUES))
    of_truth = np.zeros(EXACT_VALUES)
    pairs_of_truth = np.zeros((EXACT_VALUES, EXACT_VALUES))
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
        searched = bits <= 2 and values <= EXACT_VALUES
        exact = exact and searched
        if searched:
            _tally(rows, mass, -1, values, bits, single, pairs)
        last = np.int64(-1)
        own = np.empty(attributes, np.int64)
        for line in range(line_start[place], line_start[place + 1]):
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
            belief[line] = _best(single, pairs, of_truth, pairs_of_truth, own, values, bits, total)
        for edge in range(place_start[place], place_start[place + 1]):
            g = group[edge]
            for row in range(start[g], start[g + 1]):
                for a in range(attributes):
                    local[codes[row, a]] = -1
    return belief, exact


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


@kernel
def _best(
    single: Floats,
    pairs: Floats,
    of_truth: Floats,
    pairs_of_truth: Floats,
    own: NDArray[np.int64],
    values: int,
    bits: int,
    total: float,
) -> float:
    """The greatest share of the truth after barring one or two values that are not the target's."""
    whole = of_truth[own[0]]
    best = whole / total
    for f in range(values):
        if _is_own(f, own):
            continue
        left = total - single[f]
        if left > 1e-12:
            best = max(best, (whole - of_truth[f]) / left)
        if bits < 2:
            continue
        for other in range(f + 1, values):
            if _is_own(other, own):
                continue
            rest = left - single[other] + pairs[f, other]
            if rest > 1e-12:
                kept = whole - of_truth[f] - of_truth[other] + pairs_of_truth[f, other]
                best = max(best, kept / rest)
    return float(min(best, 1.0))


@kernel
def _is_own(value: int, own: NDArray[np.int64]) -> bool:
    for a in range(len(own)):
        if own[a] == value:
            return True
    return False


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
            if _is_own(f, own) or single[f] == 0 or total - single[f] <= 1e-12:
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
