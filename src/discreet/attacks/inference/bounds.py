"""What the promises of a release allow a reader to believe.

Each requirement bounds the share that a value may have in a group; a belief is such a share, or a
mean of some, so the same number bounds the belief. With p the share of the value in the table, n
the rows of the group, m the values of the attribute:

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

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.inference.beliefs import Beliefs
from discreet.releases.adversary_view import AdversaryView
from discreet.requirements.base import AttributeRequirement, Domain, Domains, Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    NpdRecursiveCLDiversity,
    PDiversity,
    PdRecursiveCLDiversity,
    RecursiveCLDiversity,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.republication import MInvarianceRequirement, RhoDifference
from discreet.requirements.value_bounds import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from discreet.table.roles import Distance
from discreet.typing import Floats


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """The greatest share that each value of an attribute may have in a group."""

    of_value: Floats  # (values,) infinite where nothing is promised
    distinct: int = 1  # at least so many values in every group

    @property
    def everywhere(self) -> float:
        """A bound for every value, infinite where some value has none."""
        return float(self.of_value.max(initial=0.0))

    def of_lines(self, reading: AdversaryView, beliefs: Beliefs) -> Floats:
        """The bound of each line of beliefs, infinite where nothing is promised."""
        padded = np.append(self.of_value, 1.0)  # the last: a value that was not published
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
    reading: AdversaryView,
    attribute: str,
    *,
    others_known: bool = False,
) -> ValueBounds:
    """What is promised for an attribute; ``others_known``: also where other attributes are."""
    share, domain = reading.share(attribute), domains[attribute]
    of_value, distinct = np.full(len(share), np.inf), 1
    for requirement in requirements:
        if not _speaks_of(requirement, attribute):
            continue
        if isinstance(requirement, MultiAttributeLDiversity):
            inner: Requirement = requirement.model
        elif others_known:
            continue
        else:
            inner = requirement
        if isinstance(inner, DistinctLDiversity):
            distinct = max(distinct, inner.l)
        else:
            np.minimum(of_value, _share_bound(inner, share, domain), out=of_value)
    return ValueBounds(of_value, distinct)


def kind_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    attribute: str,
    share: Floats,  # (kinds,) of the table
    apart: float | None,  # the least hierarchical distance between values of two kinds
) -> Floats:
    """What t-closeness promises for kinds of values."""
    bounds = np.full(len(share), np.inf)
    for requirement in requirements:
        if not isinstance(requirement, TCloseness) or not _speaks_of(requirement, attribute):
            continue
        distance = domains[attribute].distance
        if distance is Distance.EQUAL:
            np.minimum(bounds, share + requirement.t, out=bounds)
        elif distance is Distance.HIERARCHICAL and apart:
            np.minimum(bounds, share + requirement.t / apart, out=bounds)
    return np.minimum(bounds, 1.0) if np.isfinite(bounds).all() else bounds


def _speaks_of(requirement: Requirement, attribute: str) -> bool:
    return isinstance(requirement, AttributeRequirement) and (
        requirement.attribute is None or attribute in requirement.named
    )


def _share_bound(requirement: Requirement, share: Floats, domain: Domain) -> Floats:
    """The greatest share of each value in any group that passes."""
    unbounded = np.full(len(share), np.inf)
    if isinstance(requirement, PDiversity):
        return np.full(len(share), 1 / requirement.l)
    if isinstance(requirement, MInvarianceRequirement):
        return np.full(len(share), 1 / requirement.m)
    if isinstance(requirement, RhoDifference):
        return np.full(len(share), requirement.rho)
    if isinstance(requirement, AlphaKAnonymity):
        if requirement.value is None:
            return np.full(len(share), requirement.alpha)
        code = domain.code_of.get(requirement.value)
        if code is not None:
            unbounded[code] = requirement.alpha
        return unbounded
    if isinstance(requirement, EntropyLDiversity):
        return np.full(len(share), _entropy_bound(requirement.l, len(share)))
    if isinstance(requirement, PdRecursiveCLDiversity | NpdRecursiveCLDiversity):
        return unbounded  # some values may be disclosed
    if isinstance(requirement, RecursiveCLDiversity):
        if requirement.l == 1:
            return unbounded
        return np.full(len(share), requirement.c / (requirement.c + 1))
    if isinstance(requirement, TCloseness):
        return np.minimum(share + requirement.t * _steps(domain, share), 1.0)
    if isinstance(requirement, BetaLikeness):
        return np.minimum(share * (1 + requirement.beta), 1.0)
    if isinstance(requirement, DeltaDisclosure):
        return np.minimum(share * math.exp(requirement.delta), 1.0)
    return unbounded


def _steps(domain: Domain, share: Floats) -> float:
    """One over the least ground distance between two values."""
    if domain.distance is Distance.ORDERED:
        return max(int((share > 0).sum()) - 1, 1)
    if domain.distance is Distance.HIERARCHICAL and domain.hierarchy is not None:
        return max(domain.hierarchy.height, 1)
    return 1.0


def _entropy_bound(ell: float, values: int) -> float:
    """The greatest share of one value in a group with entropy ≥ ln ℓ over so many values."""
    if ell <= 1:
        return 1.0
    if values < 2 or ell > values:
        return 1.0

    def entropy(x: float) -> float:
        rest = 1 - x
        tail = rest * math.log(rest / (values - 1)) if rest > 0 else 0.0
        return -(x * math.log(x)) - tail

    low, high = 1 / values, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        if entropy(middle) >= math.log(ell) - 1e-12:
            low = middle
        else:
            high = middle
    return high
