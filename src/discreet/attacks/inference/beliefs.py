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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.adversary_view import AdversaryView
from discreet.releases.placement import Placement
from discreet.table.classes import group_codes
from discreet.table.kernels.lists import entries_of, places_of, stretches
from discreet.typing import Codes, Floats, Ints


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
    return reading.once(
        "ungrouped",
        lambda: replace(
            reading,
            size=np.array([reading.rows]),
            group_of_row=np.zeros(reading.rows, np.int32),
            placement=Placement.identity(1),
            place_of_target=np.zeros(reading.targets, np.int32),
        ),
    )


def on_lines_of(lines: Beliefs, other: Beliefs) -> NDArray[np.float64]:
    """Another attacker's beliefs about the targets of each line, who are alike to that one too."""
    target = np.zeros(len(lines.belief), np.int64)
    target[lines.line_of_target] = np.arange(len(lines.line_of_target))
    return other.belief[other.line_of_target[target]]


def beliefs_in(reading: AdversaryView, attribute: str, known: Sequence[str] = ()) -> Beliefs:
    """The belief in each target's true value, given the target's values of other attributes."""
    column, truth = reading.sensitive[attribute], reading.truth[attribute]
    if not known:
        return reading.once(
            ("beliefs", attribute),
            lambda: weighted_beliefs(reading, column.codes, truth, column.cardinality),
        )
    before, after = _known(reading, known), _known(reading, (*known, attribute))
    lines = group_codes(
        [reading.place_of_target, before.of_target, truth],
        [reading.placement.places, before.cardinality, column.cardinality + 1],
        reading.targets,
    )
    first = lines.first_row
    place = reading.place_of_target[first]
    top = _fitting_weight(reading, after.counted, place, after.of_target[first])
    bottom = _fitting_weight(reading, before.counted, place, before.of_target[first])
    belief = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    return Beliefs(belief, lines.size, place, truth[first], lines.class_of_row)


def weighted_beliefs(
    reading: AdversaryView, of_row: Codes, truth: Codes, cardinality: int
) -> Beliefs:
    """The same for any grouping of rows, kinds of values for one, and no known value."""
    lines = group_codes(
        [reading.place_of_target, truth],
        [reading.placement.places, cardinality + 1],
        reading.targets,
    )
    place, value = reading.place_of_target[lines.first_row], truth[lines.first_row]
    counted = _counted(reading, of_row, cardinality + 1)
    belief = _fitting_weight(reading, counted, place, value)
    return Beliefs(belief, lines.size, place, value, lines.class_of_row)


class _Counted(NamedTuple):
    """How many rows of each group have each code."""

    key: Ints  # (classes,) ascending, of group and code
    rows: Ints  # (classes,)
    cardinality: int  # of the codes


class _Known(NamedTuple):
    """Values of some attributes together, as one code."""

    of_target: Codes
    cardinality: int  # of the codes
    counted: _Counted


def _counted(reading: AdversaryView, of_row: Codes, cardinality: int) -> _Counted:
    classes = group_codes(
        [reading.group_of_row, of_row], [reading.groups, cardinality], reading.rows
    )
    first = classes.first_row
    key = reading.group_of_row[first].astype(np.int64) * cardinality + of_row[first]
    ascending = np.argsort(key)
    return _Counted(key[ascending], classes.size[ascending], cardinality)


def _fitting_weight(
    reading: AdversaryView,
    counted: _Counted,
    place: NDArray[np.int32],  # (lines,)
    of_line: Codes,  # (lines,)
) -> Floats:
    """Return the weight of the rows with a line's code: Σ w(g) · count(g) / n(g)."""
    start, group = reading.placement.start, reading.placement.group
    weight = np.zeros(len(place))
    for part in stretches(np.diff(start)[place]):
        edge, line = entries_of(start, place[part])
        of_edge = group[edge]
        key = of_edge.astype(np.int64) * counted.cardinality + of_line[part][line]
        found = places_of(counted.key, key)
        share = np.where(found >= 0, counted.rows[found], 0) / reading.size[of_edge]
        mass = reading.placement.weight[edge] * share
        weight[part] = np.bincount(line, mass, len(weight[part]))
    return weight


def _known(reading: AdversaryView, names: Sequence[str]) -> _Known:
    """The values that rows and targets have of some attributes; found once."""
    chosen = tuple(sorted(names))
    return reading.once(("known", chosen), lambda: _find_known(reading, chosen))


def _find_known(reading: AdversaryView, names: Sequence[str]) -> _Known:
    rows, targets = reading.rows, reading.targets
    codes = [np.concatenate([reading.sensitive[n].codes, reading.truth[n]]) for n in names]
    cardinalities = [reading.sensitive[name].cardinality + 1 for name in names]
    classes = group_codes(codes, cardinalities, rows + targets)
    of_row, of_target = np.split(classes.class_of_row, [rows])
    return _Known(of_target, classes.count, _counted(reading, of_row, classes.count))
