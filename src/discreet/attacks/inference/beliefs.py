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
from discreet.table.kernels.lists import entries_of, places_of, stretches
from discreet.typing import Codes, Floats


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
    lines = group_codes(
        [reading.place_of_target, known_of_target, truth],
        [reading.placement.places, combinations, cardinality + 1],
        reading.targets,
    )
    first = lines.first_row
    place, value = reading.place_of_target[first], truth[first]
    known_value = known_of_target[first]
    sizes = [combinations, cardinality + 1]
    top = _fitting_weight(reading, [known_of_row, of_row], sizes, place, [known_value, value])
    bottom = _fitting_weight(reading, [known_of_row], sizes[:1], place, [known_value])
    belief = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    return Beliefs(belief, lines.size, place, value, lines.class_of_row)


def _beliefs_of_groups(
    reading: AdversaryView, of_row: Codes, truth: Codes, cardinality: int
) -> Beliefs:
    """The beliefs of an attacker who knows no sensitive value."""
    lines = group_codes(
        [reading.place_of_target, truth],
        [reading.placement.places, cardinality + 1],
        reading.targets,
    )
    place, value = reading.place_of_target[lines.first_row], truth[lines.first_row]
    belief = _fitting_weight(reading, [of_row], [cardinality + 1], place, [value])
    return Beliefs(belief, lines.size, place, value, lines.class_of_row)


def _fitting_weight(
    reading: AdversaryView,
    of_row: Sequence[Codes],  # (rows,) each
    cardinalities: Sequence[int],
    place: NDArray[np.int32],  # (lines,)
    of_line: Sequence[Codes],  # (lines,) each
) -> Floats:
    """Return the weight of the rows with a line's codes: Σ w(g) · count(g) / n(g)."""
    classes = group_codes(
        [reading.group_of_row, *of_row], [reading.groups, *cardinalities], reading.rows
    )
    first = classes.first_row
    key = _keys(reading.group_of_row[first], [codes[first] for codes in of_row], cardinalities)
    ascending = np.argsort(key)
    key, count = key[ascending], classes.size[ascending]
    start, group = reading.placement.start, reading.placement.group
    weight = np.zeros(len(place))
    for part in stretches(np.diff(start)[place]):
        edge, line = entries_of(start, place[part])
        of_edge = group[edge]
        found = places_of(key, _keys(of_edge, [c[part][line] for c in of_line], cardinalities))
        share = np.where(found >= 0, count[found], 0) / reading.size[of_edge]
        mass = reading.placement.weight[edge] * share
        weight[part] = np.bincount(line, mass, len(weight[part]))
    return weight


def _known(reading: AdversaryView, known: Sequence[str]) -> tuple[Codes, Codes, int]:
    """The known values of rows and targets as one code each, and how many there are."""
    rows, targets = reading.rows, reading.targets
    codes = [np.concatenate([reading.sensitive[n].codes, reading.truth[n]]) for n in known]
    cardinalities = [reading.sensitive[name].cardinality + 1 for name in known]
    classes = group_codes(codes, cardinalities, rows + targets)
    of_row, of_target = np.split(classes.class_of_row, [rows])
    return of_row, of_target, classes.count


def _keys(group: Codes, others: Sequence[Codes], cardinalities: Sequence[int]) -> NDArray[np.int64]:
    key = group.astype(np.int64)
    for codes, cardinality in zip(others, cardinalities, strict=True):
        key = key * cardinality + codes
    return key
