"""Beliefs of an attacker who weighs every row that fits what is known.

In a group of n rows each is the target's with probability 1/n; where the target fits several
groups, a row of group g weighs w(g)/n(g). The belief in a value, given values of other attributes
that the attacker knows of the target, is the weight of the rows that have both over the weight of
the rows that have what is known. All of it is counts, so targets who are alike to the attacker are
looked at once.

What the guarantees of a release allow an attacker to believe.

Each requirement bounds the share that a value may have in a group (``share_bound``); a belief is
such a share, or a mean of some, so the same number bounds the belief. With p the share of the value
in the table, n the rows of the group, m the values of the attribute:

========================  ====================================================================
p-diversity, m-diversity  1/ℓ
m-invariance, rho         1/m and ρ, in one release of a series; the audit of a series sees all
(α,k)-anonymity           α
recursive (c,ℓ), ℓ ≥ 2    c/(c + 1): r1 < c·(the others' rest) ≤ c·(n − r1)
entropy ℓ                 the greatest x with −x ln x − (1 − x) ln((1 − x)/(m − 1)) ≥ ln ℓ
distinct ℓ                1 − (ℓ − 1)/n: each of the others has a row at least
t-closeness               p + t (equal); p + t·(m − 1) (ordered); p + t·H (hierarchical, height H)
β-likeness                (1 + β)·p
δ-disclosure              e^δ·p
multi-attribute           as its inner model, also where other sensitive attributes are known
========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.adversary_view import AdversaryView
from discreet.releases.worlds.placement import Placement
from discreet.requirements.base import AttributeRequirement, Domains, Requirement
from discreet.requirements.judge import person_basis
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.classes import group_codes
from discreet.table.coded_table import derived_once
from discreet.table.kernels.lists import entries_of, places_of, stretches
from discreet.table.persons import PersonBasis
from discreet.typing import Bools, Codes, Floats, Ints

AT_ALL, GIVEN_ROW = "has it at all", "in a given row"  # readers of persons' values
# A guarantee on the persons who have a value at all bounds the mean share of their rows too.
_BOUNDED_BY = {
    AT_ALL: (PersonBasis.TOUCHED,),
    GIVEN_ROW: (PersonBasis.TOUCHED, PersonBasis.MASS),
}


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs in the truth, a line for targets who are alike to the attacker."""

    belief: NDArray[np.float64]  # (lines,) in the true value
    count: NDArray[np.int64]  # (lines,) targets
    place: NDArray[np.int32]  # (lines,)
    value: Codes  # (lines,) the true value
    line_of_target: NDArray[np.int32]  # (targets,)

    def mean_of(self, lines: Bools) -> float:
        """The mean belief in the truth over the targets of some lines."""
        count = self.count[lines]
        return float((self.belief[lines] * count).sum() / max(int(count.sum()), 1))


@derived_once
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
    column, truth = reading.sensitive[attribute], reading.truth[attribute]
    if not known:
        return reading.once(
            ("beliefs", attribute),
            lambda: weighted_beliefs(reading, column.codes, truth, column.cardinality),
        )
    before = _known(reading, tuple(sorted(known)))
    after = _known(reading, tuple(sorted((*known, attribute))))
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
        place_of_key = places_of(counted.key, key)
        share = np.where(place_of_key >= 0, counted.rows[place_of_key], 0) / reading.size[of_edge]
        mass = reading.placement.weight[edge] * share
        weight[part] = np.bincount(line, mass, len(weight[part]))
    return weight


@derived_once
def _known(reading: AdversaryView, names: tuple[str, ...]) -> _Known:
    """The values that rows and targets have of some attributes; found once."""
    rows, targets = reading.rows, reading.targets
    codes = [np.concatenate([reading.sensitive[n].codes, reading.truth[n]]) for n in names]
    cardinalities = [reading.sensitive[name].cardinality + 1 for name in names]
    classes = group_codes(codes, cardinalities, rows + targets)
    of_row, of_target = np.split(classes.class_of_row, [rows])
    return _Known(of_target, classes.count, _counted(reading, of_row, classes.count))


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """The greatest share that each value of an attribute may have in a group."""

    of_value: Floats  # (values,) infinite where nothing is promised
    distinct: int = 1  # at least so many values in every group
    unpublished: float = 1.0  # the bound of a value that no published row has

    @property
    def everywhere(self) -> float:
        """A bound for every value, infinite where some value has none."""
        return float(self.of_value.max(initial=0.0))

    def of_lines(self, reading: AdversaryView, beliefs: Beliefs) -> Floats:
        """The bound of each line of beliefs, infinite where nothing is promised."""
        padded = np.append(self.of_value, self.unpublished)
        bounds = padded[np.minimum(beliefs.value, len(self.of_value))]
        if self.distinct > 1:
            largest = np.zeros(reading.placement.places)
            place = np.repeat(np.arange(len(largest)), np.diff(reading.placement.start))
            np.maximum.at(largest, place, reading.size[reading.placement.group])
            room = np.maximum(largest[beliefs.place], 1)
            bounds = np.minimum(bounds, 1 - (self.distinct - 1) / room)
        return bounds


def least_group(requirements: Sequence[Requirement]) -> int | None:
    """The k that is promised, if one is."""
    promised = [r.k for r in requirements if isinstance(r, KAnonymity | AlphaKAnonymity)]
    return max(promised) if promised else None


def value_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    attribute: str,
    share: Floats,  # (values,) of the table
    *,
    reader: str | None = None,
    others_known: bool = False,
    of_kinds: bool = False,
    apart: float | None = None,
) -> ValueBounds:
    """What is guaranteed for the values of an attribute, or for kinds of values.

    ``others_known``: also where other attributes are. Of persons with several rows, what a
    ``reader`` may believe. ``apart``: the least distance between values of two kinds.
    """
    domain = domains[attribute]
    of_value, distinct = np.full(len(share), np.inf), 1
    for requirement in requirements_about(requirements, attribute):
        # A guarantee where other attributes are known holds for an attacker who knows none, too;
        # not of persons, who may have several combinations of these.
        inner = None
        if others_known or (reader is None and not of_kinds):
            inner = requirement.given_others()
        if inner is None and others_known:
            continue
        inner = inner or requirement
        if reader is not None and person_basis(inner) not in _BOUNDED_BY[reader]:
            continue
        if of_kinds:
            bound = inner.kind_share_bound(share, domain, apart)
        else:
            bound = inner.share_bound(share, domain)
            distinct = max(distinct, inner.needs.values if inner.counts_values else 1)
        np.minimum(of_value, bound, out=of_value)
    return ValueBounds(of_value, distinct)


def requirements_about(
    requirements: Sequence[Requirement], attribute: str
) -> Iterator[AttributeRequirement]:
    """Yield the requirements that cover a sensitive attribute."""
    for requirement in requirements:
        if isinstance(requirement, AttributeRequirement) and (
            requirement.attribute is None or attribute in requirement.named
        ):
            yield requirement
