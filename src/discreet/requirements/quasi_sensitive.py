"""QS (c,ℓ)-diversity and QS t-closeness: what a group's sets of terms disclose through a table.

Shi, Xiong and Fung, "Anonymizing data with quasi-sensitive attribute values". An attacker finds the
group of a person, looks each row's terms up in the knowledge table E, and averages.

===================  =========================================================================
paper                here
===================  =========================================================================
E, K(tp)             ``knowledge.table.Knowledge``, ``knowledge.links.Links``
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

from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.errors import InputError
from discreet.knowledge.links import Links
from discreet.requirements.base import TOLERANCE, AttributeRequirement, Domain
from discreet.table.counts import ClassCounts, ValueCounts
from discreet.table.kernels import kernel
from discreet.table.person_counts import PersonBasis
from discreet.table.roles import Role
from discreet.typing import Floats

Weights = Literal["equal", "prior"]


class LinkRequirement(AttributeRequirement):
    """A requirement on what the terms of a quasi-sensitive attribute disclose."""

    role: ClassVar[Role] = Role.QUASI_SENSITIVE
    smaller_is_better: ClassVar[bool] = True
    counted_on_persons: ClassVar[PersonBasis | None] = PersonBasis.TERMS

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
    figure_name: ClassVar[str] = "c"

    c: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="The likeliest label is at most c times as likely as the tail of the others.",
    )
    l: int = Field(  # noqa: E741 (the job's key)
        ge=1, description="The tail begins with the l-th likeliest label."
    )

    def measure(self, values: ValueCounts, size: NDArray[np.int64], domain: Domain) -> Floats:
        head, tail = self._head_and_tail(values, domain)
        figures = np.full(len(head), np.inf)
        np.divide(head, tail, out=figures, where=tail > TOLERANCE)
        figures[head == 0] = 0.0
        return figures

    def admits(
        self, values: ValueCounts, size: NDArray[np.int64], domain: Domain
    ) -> NDArray[np.bool_]:
        head, tail = self._head_and_tail(values, domain)
        return head <= self.c * tail + TOLERANCE

    def accepts(self, figures: Floats) -> NDArray[np.bool_]:
        return figures <= self.c + TOLERANCE

    def _head_and_tail(self, values: ValueCounts, domain: Domain) -> tuple[Floats, Floats]:
        links = links_of(domain)
        beliefs = LabelPosteriors(values, links, self.weights)
        return beliefs.head_and_tail(self.l)

    def sentence(self) -> str:
        others = {1: "all labels together", 2: "all others together"}.get(
            self.l, f"all but the {self.l - 1} likeliest together"
        )
        return (
            f"An attacker who looks up {self.subject} of a person's group in the knowledge table"
            f" finds no label more than {self.c:g} times as likely as {others}."
        )


class QsTCloseness(LinkRequirement):
    """QS ``t``-closeness: a group's posterior over the labels is within ``t`` of the prior."""

    name: ClassVar[str] = "qs-t-closeness"
    figure_name: ClassVar[str] = "t"

    t: float = Field(ge=0, description="The greatest distance of a group's belief from the prior.")
    distance: Literal["l2", "l1"] = Field(
        default="l2", description="Euclidean, or half the sum of absolute differences."
    )

    @property
    def needs_prior(self) -> bool:
        return True

    def measure(self, values: ValueCounts, size: NDArray[np.int64], domain: Domain) -> Floats:
        return LabelPosteriors(values, links_of(domain), self.weights).distance(self.distance)

    def accepts(self, figures: Floats) -> NDArray[np.bool_]:
        return figures <= self.t + TOLERANCE

    def sentence(self) -> str:
        how = "Euclidean distance" if self.distance == "l2" else "total variation"
        return (
            f"An attacker who looks up {self.subject} of a person's group in the knowledge table"
            f" has a posterior within {self.t:g} of the prior ({how})."
        )


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
        return _head_and_tail(self._evidence(), ell)

    def distance(self, distance: Literal["l2", "l1"]) -> Floats:
        """For every class its distance from the prior; 0 for a class that links to nothing."""
        return _distances(self._evidence(), _known_prior(self.links), distance == "l2")

    def changes(self) -> tuple[Floats, Floats]:
        """For every class the mean and the greatest |β − α| over the labels."""
        return _changes(self._evidence(), _known_prior(self.links))

    def _evidence(self) -> _Evidence:
        values, links = self.values, self.links
        return _Evidence(
            values.start,
            links.set_of_value[values.value],
            values.count,
            links.start,
            links.label,
            self.weight,
        )


class _Evidence(NamedTuple):
    """What the beliefs of all classes follow from, as the kernels read it."""

    start: NDArray[np.int64]  # (classes + 1,)
    set_of_entry: NDArray[np.int32]
    rows_of_entry: NDArray[np.int64]
    set_start: NDArray[np.int64]
    set_label: NDArray[np.int32]
    weight: NDArray[np.float64]  # (labels,)


def _known_prior(links: Links) -> Floats:
    if links.prior is None:
        raise InputError(
            "The prior over the labels was estimated from the original table and is not known here."
        )
    return links.prior


@kernel
def _belief(evidence: _Evidence, of_class: int, belief: NDArray[np.float64]) -> int:
    """Fill ``belief`` with β of one class; returns the number of linked rows."""
    belief[:] = 0.0
    linked = 0
    for entry in range(evidence.start[of_class], evidence.start[of_class + 1]):
        which = evidence.set_of_entry[entry]
        if which < 0:
            continue
        count = evidence.rows_of_entry[entry]
        linked += count
        low, high = evidence.set_start[which], evidence.set_start[which + 1]
        total = 0.0
        for place in range(low, high):
            total += evidence.weight[evidence.set_label[place]]
        for place in range(low, high):
            label = evidence.set_label[place]
            # labels that never occur, all of them: nothing to choose by, so equally likely
            share = evidence.weight[label] / total if total > 0 else 1 / (high - low)
            belief[label] += count * share
    if linked:
        belief /= linked
    return linked


@kernel
def _head_and_tail(
    evidence: _Evidence, ell: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    classes = len(evidence.start) - 1
    head, tail = np.zeros(classes), np.zeros(classes)
    belief = np.empty(len(evidence.weight))
    for c in range(classes):
        if _belief(evidence, c, belief):
            ordered = np.sort(belief)  # ascending
            head[c] = ordered[-1]
            for place in range(len(ordered) - ell + 1):
                tail[c] += ordered[place]
    return head, tail


@kernel
def _distances(
    evidence: _Evidence, prior: NDArray[np.float64], euclidean: bool
) -> NDArray[np.float64]:
    classes = len(evidence.start) - 1
    distance = np.zeros(classes)
    belief = np.empty(len(evidence.weight))
    for c in range(classes):
        if _belief(evidence, c, belief):
            if euclidean:
                distance[c] = np.sqrt(((belief - prior) ** 2).sum())
            else:
                distance[c] = np.abs(belief - prior).sum() / 2
    return distance


@kernel
def _changes(
    evidence: _Evidence, prior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    classes = len(evidence.start) - 1
    mean, greatest = np.zeros(classes), np.zeros(classes)
    belief = np.empty(len(evidence.weight))
    for c in range(classes):
        if _belief(evidence, c, belief):
            change = np.abs(belief - prior)
            mean[c], greatest[c] = change.mean(), change.max()
    return mean, greatest
