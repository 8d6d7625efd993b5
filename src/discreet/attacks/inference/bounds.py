"""What the guarantees of a release allow an attacker to believe.

Each requirement bounds the share that a value may have in a group (``share_bound``); a belief is
such a share, or a mean of some, so the same number bounds the belief. With p the share of the value
in the table, n the rows of the group, m the values of the attribute:

========================  ====================================================================
p-diversity, m-diversity  1/ℓ
m-invariance, rho         1/m and ρ, in one release of a series; the audit of a series sees all
(α,k)-anonymity           α
guarding nodes            p, of the values below a node
(X,Y)-linkability         ε, also where other sensitive attributes are known if it covers these
recursive (c,ℓ), ℓ ≥ 2    c/(c + 1): r1 < c·(the others' rest) ≤ c·(n − r1)
entropy ℓ                 the greatest x with −x ln x − (1 − x) ln((1 − x)/(m − 1)) ≥ ln ℓ
distinct ℓ, (k,e)         1 − (ℓ − 1)/n: each of the others has a row at least
t-closeness               p + t (equal); p + t·(m − 1) (ordered); p + t·H (hierarchical, height H)
β-likeness                (1 + β)·p
δ-disclosure              e^δ·p
multi-attribute           as its inner model, also where other sensitive attributes are known
========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.inference.beliefs import Beliefs
from discreet.releases.adversary_view import AdversaryView
from discreet.requirements.background.graded_alpha import GradedAlphaKAnonymity
from discreet.requirements.background.p_sensitive import PSensitiveKAnonymity
from discreet.requirements.base import AttributeRequirement, Domains, Requirement
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.value_bounds import AlphaKAnonymity
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
    sized = KAnonymity | AlphaKAnonymity | GradedAlphaKAnonymity | PSensitiveKAnonymity
    promised = [r.k for r in requirements if isinstance(r, sized)]
    return max(promised) if promised else None


def value_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    reading: AdversaryView,
    attribute: str,
    *,
    others_known: bool = False,
) -> ValueBounds:
    """What is guaranteed for an attribute; ``others_known``: also where other attributes are."""
    share, domain = reading.share(attribute), domains[attribute]
    of_value, distinct = np.full(len(share), np.inf), 1
    for requirement in requirements_about(requirements, attribute):
        inner = requirement.given_others()
        if inner is None:
            if others_known:
                continue
            inner = requirement
        if inner.counts_values:
            distinct = max(distinct, inner.least_values)
        np.minimum(of_value, inner.share_bound(share, domain), out=of_value)
    return ValueBounds(of_value, distinct)


def kind_bounds(
    requirements: Sequence[Requirement],
    domains: Domains,
    attribute: str,
    share: Floats,  # (kinds,) of the table
    apart: float | None,  # the least hierarchical distance between values of two kinds
) -> Floats:
    """Return what is guaranteed for kinds of values."""
    bounds = np.full(len(share), np.inf)
    for requirement in requirements_about(requirements, attribute):
        own = requirement.kind_share_bound(share, domains[attribute], apart)
        np.minimum(bounds, own, out=bounds)
    return np.minimum(bounds, 1.0) if np.isfinite(bounds).all() else bounds


def requirements_about(
    requirements: Sequence[Requirement], attribute: str
) -> Iterator[AttributeRequirement]:
    """Yield the requirements that cover a sensitive attribute."""
    for requirement in requirements:
        if isinstance(requirement, AttributeRequirement) and (
            requirement.attribute is None or attribute in requirement.named
        ):
            yield requirement
