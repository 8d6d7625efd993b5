"""QS (c,ℓ)-diversity and QS t-closeness: what a group's sets of terms disclose through a table.

Shi, Xiong and Fung, "Anonymizing data with quasi-sensitive attribute values". An attacker finds the
group of a person, looks each row's terms up in the knowledge table E, and averages.

===================  =========================================================================
paper                here
===================  =========================================================================
E, K(tp)             ``knowledge.table.Knowledge``, ``knowledge.table.Links``
P(tp→L)              1/|K| for L in K (``weights: equal``), or ∝ α(L) (``weights: prior``)
β(q,L)               the mean of P over the *linked* rows of a group
α(q,L)               ``Links.prior``: given with E, or estimated from the original table
p1 ≤ c(p_l + …)      ``qs-cl-diversity``; equality passes, other than in recursive diversity
d(β, α) ≤ t          ``qs-t-closeness``: the Euclidean distance (``l2``), or half of Σ|β − α|
                     (``l1``), the Earth Mover's Distance with equal ground distances
===================  =========================================================================

Departures. Rows that link to nothing hold no belief and are left out of the mean, where the paper
divides by all rows; a group without linked rows passes. Both principles are closed under merging:
a merged β is a mixture of the parts', p1 − c·(p_l + …) and the distance are convex in β, and α
stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from discreet.errors import InputError
from discreet.knowledge.table import Links
from discreet.requirements.base import TOLERANCE, Algebra, AttributeRequirement, Domain
from discreet.requirements.basis import Counting
from discreet.statements import Statement
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.kernels.lists import entries_of, stretches
from discreet.table.persons import PersonBasis
from discreet.table.roles import Role, Unit
from discreet.typing import Bools, Floats, Ints

Weights = Literal["equal", "prior"]


class LinkRequirement(AttributeRequirement):
    """A requirement on what the terms of a quasi-sensitive attribute disclose."""

    role: ClassVar[Role] = Role.QUASI_SENSITIVE
    counting: ClassVar[Counting] = Counting(PersonBasis.TERMS)

    attribute: str | tuple[str, ...] | None = Field(
        default=None, description="The quasi-sensitive attribute or attributes; by default all."
    )
    weights: Weights = Field(
        default="equal",
        description="Whether the labels of a row are equally likely, or as likely as the prior.",
    )

    @property
    def needs_prior(self) -> bool:
        """Whether it can be judged only where the prior over the labels is known."""
        return self.weights == "prior"

    def counted(self, counts: ClassCounts) -> Mapping[str, ValueCounts]:
        return counts.sets


class QsClDiversity(LinkRequirement):
    """QS (``c``, ``l``)-diversity: p1 ≤ c · (p_l + … + p_m), the group's posteriors descending.

    The figure is p1 / (p_l + …): a group passes for every c from there on; it is infinite where
    fewer than l labels are left, and 0 for a group that links to nothing.
    """

    name: ClassVar[str] = "qs-cl-diversity"
    algebra: ClassVar[Algebra] = Algebra("c", smaller_is_better=True)

    c: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="The likeliest label is at most c times as likely as the tail of the others.",
    )
    l: int = Field(  # noqa: E741 (the job's key)
        ge=1, description="The tail begins with the l-th likeliest label."
    )

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        head, tail = self._head_and_tail(values, domain)
        figures = np.full(len(head), np.inf)
        np.divide(head, tail, out=figures, where=tail > TOLERANCE)
        figures[head == 0] = 0.0
        return figures

    def admits(self, values: ValueCounts, size: Ints, domain: Domain) -> Bools:
        head, tail = self._head_and_tail(values, domain)
        return head <= self.c * tail + TOLERANCE

    def _head_and_tail(self, values: ValueCounts, domain: Domain) -> tuple[Floats, Floats]:
        links = links_of(domain)
        beliefs = LabelPosteriors(values, links, self.weights)
        return beliefs.head_and_tail(self.l)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        if self.l <= 2:
            labels = Statement("labels.all" if self.l == 1 else "labels.others")
        else:
            labels = Statement("labels.tail", likeliest=self.l - 1)
        form = f"qs-cl-diversity.{unit.plural}"
        return Statement(form, subject=self.subject, c=self.c, labels=labels)


class QsTCloseness(LinkRequirement):
    """QS ``t``-closeness: a group's posterior over the labels is within ``t`` of the prior."""

    name: ClassVar[str] = "qs-t-closeness"
    algebra: ClassVar[Algebra] = Algebra("t", smaller_is_better=True)

    t: float = Field(ge=0, description="The greatest distance of a group's belief from the prior.")
    distance: Literal["l2", "l1"] = Field(
        default="l2", description="Euclidean, or half the sum of absolute differences."
    )

    @property
    def needs_prior(self) -> bool:
        return True

    def measure(self, values: ValueCounts, size: Ints, domain: Domain) -> Floats:
        return LabelPosteriors(values, links_of(domain), self.weights).distance(self.distance)

    def sentence(self, unit: Unit = Unit.PERSON) -> str:
        form = f"qs-t-closeness.{self.distance}.{unit.plural}"
        return Statement(form, subject=self.subject, t=self.t)


def links_of(domain: Domain) -> Links:
    """The links of a quasi-sensitive attribute."""
    if domain.links is None:
        raise InputError("A guarantee about linked labels needs the knowledge table.")
    return domain.links


class LabelPosteriors:
    """The posterior β of every class over the labels."""

    def __init__(self, values: ValueCounts, links: Links, weights: Weights) -> None:
        self.values = values
        self.links = links
        labels = len(links.knowledge.labels)
        if weights == "equal":
            self.weight = np.ones(labels)
        else:
            self.weight = _known_prior(links)

    def head_and_tail(self, ell: int) -> tuple[Floats, Floats]:
        """For every class p1, and p_ℓ + …; both 0 for a class that links to nothing."""
        head, tail = np.zeros(self.values.classes), np.zeros(self.values.classes)
        for part, belief in self._beliefs():
            belief.sort(axis=1)
            head[part] = belief[:, -1]
            tail[part] = belief[:, : max(belief.shape[1] - ell + 1, 0)].sum(axis=1)
        return head, tail

    def distance(self, distance: Literal["l2", "l1"]) -> Floats:
        """For every class its distance from the prior; 0 for a class that links to nothing."""
        prior, result = _known_prior(self.links), np.zeros(self.values.classes)
        for part, belief in self._beliefs():
            if distance == "l2":
                result[part] = np.sqrt(((belief - prior) ** 2).sum(axis=1))
            else:
                result[part] = np.abs(belief - prior).sum(axis=1) / 2
        return result

    def changes(self) -> tuple[Floats, Floats]:
        """For every class the mean and the greatest |β − α| over the labels."""
        prior = _known_prior(self.links)
        mean, greatest = np.zeros(self.values.classes), np.zeros(self.values.classes)
        for part, belief in self._beliefs():
            change = np.abs(belief - prior)
            mean[part], greatest[part] = change.mean(axis=1), change.max(axis=1)
        return mean, greatest

    def _beliefs(self) -> Iterator[tuple[Ints, Floats]]:
        """Classes with a linked row, some at a time, and the belief of each in every label."""
        values, links, labels = self.values, self.links, len(self.weight)
        of_set = np.repeat(np.arange(len(links.start) - 1), links.size)
        weight = self.weight[links.label]
        total = np.bincount(of_set, weight, len(links.start) - 1)[of_set]
        # labels that never occur, all of them: nothing to choose by, so equally likely
        share = np.where(total > 0, weight / np.where(total > 0, total, 1), 1 / links.size[of_set])
        set_of_entry = links.set_of_value[values.value]
        linked = set_of_entry >= 0
        rows = np.bincount(values.class_of_entry[linked], values.count[linked], values.classes)
        classes = np.flatnonzero(rows)
        for part in stretches(np.full(len(classes), labels)):
            entry, place = entries_of(values.start, classes[part])
            entry, place = entry[linked[entry]], place[linked[entry]]
            at, of_entry = entries_of(links.start, set_of_entry[entry])
            mass = values.count[entry][of_entry] * share[at]
            cell = place[of_entry] * labels + links.label[at]
            belief = np.bincount(cell, mass, (part.stop - part.start) * labels)
            yield classes[part], belief.reshape(-1, labels) / rows[classes[part], None]


def _known_prior(links: Links) -> Floats:
    if links.prior is None:
        raise InputError(
            "The prior over the labels was estimated from the original table and is not known here."
        )
    return links.prior
