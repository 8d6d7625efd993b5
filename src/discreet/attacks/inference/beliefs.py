"""Beliefs of an attacker who weighs every row that fits what is known.

In a group of n rows each is the target's with probability 1/n; where the target fits several
groups, a row of group g weighs w(g)/n(g). The belief in a value, given values of other attributes
that the attacker knows of the target, is the weight of the rows that have both over the weight of
the rows that have what is known. All of it is counts, so targets who are alike to the attacker are
looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.releases.adversary_view import AdversaryView
from discreet.releases.placement import Placement
from discreet.table.classes import group_codes
from discreet.table.counts import order_by_class
from discreet.table.kernels import kernel
from discreet.typing import Codes


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs in the truth, a line for targets who are alike to the attacker."""

    belief: NDArray[np.float64]  # (lines,) in the true value
    count: NDArray[np.int64]  # (lines,) targets
    place: NDArray[np.int32]  # (lines,)
    value: Codes  # (lines,) the true value
    line_of_target: NDArray[np.int32]  # (targets,)

    @property
    def targets(self) -> int:
        return int(self.count.sum())

    @property
    def mean(self) -> float:
        """The mean belief in the truth."""
        return float((self.belief * self.count).sum() / max(self.targets, 1))


def ungrouped(reading: AdversaryView) -> AdversaryView:
    """The view of an attacker who has the whole table as one group: without the release."""
    return replace(
        reading,
        size=np.array([reading.rows]),
        group_of_row=np.zeros(reading.rows, np.int32),
        placement=Placement.identity(1),
        place_of_target=np.zeros(reading.targets, np.int32),
    )


def on_lines_of(lines: Beliefs, other: Beliefs) -> NDArray[np.float64]:
    """Another attacker's beliefs about the targets of each line, who are alike to that one too."""
    target = np.zeros(len(lines.belief), np.int64)
    target[lines.line_of_target] = np.arange(len(lines.line_of_target))
    return other.belief[other.line_of_target[target]]


def beliefs_in(reading: AdversaryView, attribute: str, known: Sequence[str] = ()) -> Beliefs:
    """The belief in each target's true value, given the target's values of other attributes."""
    return weighted_beliefs(
        reading,
        reading.sensitive[attribute].codes,
        reading.truth[attribute],
        reading.sensitive[attribute].cardinality,
        known,
    )


def weighted_beliefs(
    reading: AdversaryView, of_row: Codes, truth: Codes, cardinality: int, known: Sequence[str] = ()
) -> Beliefs:
    """The same for any grouping of rows: kinds of values, for one."""
    if not known:
        return _beliefs_of_groups(reading, of_row, truth, cardinality)
    known_of_row, known_of_target, combinations = _known(reading, known)
    placement, groups = reading.placement, reading.groups
    both = group_codes(
        [reading.group_of_row, known_of_row, of_row], [groups, combinations, cardinality],
        reading.rows,
    )  # fmt: skip
    alone = group_codes([reading.group_of_row, known_of_row], [groups, combinations], reading.rows)
    lines = group_codes(
        [reading.place_of_target, known_of_target, truth],
        [placement.places, combinations + 1, cardinality + 1],
        reading.targets,
    )
    first = lines.first_row
    row, other = both.first_row, alone.first_row
    joint_key = _keys(reading.group_of_row[row], known_of_row[row], of_row[row],
                      combinations, cardinality)  # fmt: skip
    known_key = _keys(reading.group_of_row[other], known_of_row[other],
                      np.zeros(len(other), np.int32), combinations, 1)  # fmt: skip
    by_joint, by_known = np.argsort(joint_key), np.argsort(known_key)
    belief = _mix(
        placement.start, placement.group, placement.weight, reading.size,
        reading.place_of_target[first], known_of_target[first], truth[first],
        joint_key[by_joint], both.size[by_joint], known_key[by_known], alone.size[by_known],
        combinations, cardinality,
    )  # fmt: skip
    return Beliefs(
        belief, lines.size, reading.place_of_target[first], truth[first], lines.class_of_row
    )


def _beliefs_of_groups(
    reading: AdversaryView, of_row: Codes, truth: Codes, cardinality: int
) -> Beliefs:
    """The beliefs of an attacker who knows no sensitive value: all values of a place at once."""
    placement, groups = reading.placement, reading.groups
    pairs = group_codes([reading.group_of_row, of_row], [groups, cardinality], reading.rows)
    first = pairs.first_row
    start, order = order_by_class(reading.group_of_row[first], of_row[first], groups, cardinality)
    lines = group_codes(
        [reading.place_of_target, truth], [placement.places, cardinality + 1], reading.targets
    )
    place, value = reading.place_of_target[lines.first_row], truth[lines.first_row]
    line_start, by_place = order_by_class(place, value, placement.places, cardinality + 1)
    found = _mix_places(
        placement.start, placement.group, placement.weight, reading.size, start,
        of_row[first][order], pairs.size[order], line_start, value[by_place], cardinality,
    )  # fmt: skip
    belief = np.empty(len(found))
    belief[by_place] = found
    return Beliefs(belief, lines.size, place, value, lines.class_of_row)


@kernel
def _mix_places(
    start: NDArray[np.int64],
    group: NDArray[np.int32],
    weight: NDArray[np.float64],
    size: NDArray[np.int64],
    value_start: NDArray[np.int64],  # (groups + 1,)
    value: Codes,
    count: NDArray[np.int64],
    line_start: NDArray[np.int64],  # (places + 1,)
    truth: Codes,
    cardinality: int,
) -> NDArray[np.float64]:
    belief = np.zeros(len(truth))
    share = np.zeros(cardinality + 1)  # the last: a value that was not published
    for place in range(len(start) - 1):
        if line_start[place] == line_start[place + 1]:
            continue
        for edge in range(start[place], start[place + 1]):
            g = group[edge]
            for entry in range(value_start[g], value_start[g + 1]):
                share[value[entry]] += weight[edge] * (count[entry] / size[g])
        for line in range(line_start[place], line_start[place + 1]):
            belief[line] = share[truth[line]]
        for edge in range(start[place], start[place + 1]):
            for entry in range(value_start[group[edge]], value_start[group[edge] + 1]):
                share[value[entry]] = 0.0
    return belief


def _known(reading: AdversaryView, known: Sequence[str]) -> tuple[Codes, Codes, int]:
    """The known values of rows and targets as one code each, and how many there are."""
    rows, targets = reading.rows, reading.targets
    codes = [np.concatenate([reading.sensitive[n].codes, reading.truth[n]]) for n in known]
    cardinalities = [reading.sensitive[name].cardinality + 1 for name in known]
    classes = group_codes(codes, cardinalities, rows + targets)
    of_row, of_target = np.split(classes.class_of_row, [rows])
    return of_row, of_target, classes.count


def _keys(
    group: Codes, known: Codes, value: Codes, combinations: int, cardinality: int
) -> NDArray[np.int64]:
    return (group.astype(np.int64) * combinations + known) * cardinality + value


@kernel
def _mix(
    start: NDArray[np.int64],
    group: NDArray[np.int32],
    weight: NDArray[np.float64],
    size: NDArray[np.int64],
    place: NDArray[np.int32],
    known: Codes,
    value: Codes,
    joint_key: NDArray[np.int64],
    joint_count: NDArray[np.int64],
    known_key: NDArray[np.int64],
    known_count: NDArray[np.int64],
    combinations: int,
    cardinality: int,
) -> NDArray[np.float64]:
    belief = np.zeros(len(place))
    for line in range(len(place)):
        if value[line] >= cardinality or known[line] >= combinations:
            continue
        top, bottom = 0.0, 0.0
        for edge in range(start[place[line]], start[place[line] + 1]):
            g = group[edge]
            key = np.int64(g) * combinations + known[line]
            at = np.searchsorted(known_key, key)
            if at == len(known_key) or known_key[at] != key:
                continue
            bottom += weight[edge] * (known_count[at] / size[g])
            key = key * cardinality + value[line]
            at = np.searchsorted(joint_key, key)
            if at < len(joint_key) and joint_key[at] == key:
                top += weight[edge] * (joint_count[at] / size[g])
        if bottom > 0:
            belief[line] = top / bottom
    return belief
