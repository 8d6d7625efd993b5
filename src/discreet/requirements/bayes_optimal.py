"""The Bayes-optimal audit: what an adversary who knows the population believes afterwards.

Theorem 3.1 of the ℓ-diversity paper. Alice knows f, the joint distribution of quasi-identifiers
and the sensitive attribute in the population. Before the release she believes α(q, s) = f(s|q) of
a person with quasi-identifiers q; after it, where q is published as the class q*,

    β(q, s, T*) = n(q*, s) · f(s|q)/f(s|q*)  /  Σ over s' of n(q*, s') · f(s'|q)/f(s'|q*).

============================  =================================================================
paper                         here
============================  =================================================================
f(s|q), f(q)                  ``prior`` (persons' kinds × values), ``weight`` (kinds)
q ↦ q*                        ``class_of_kind``
n(q*, s)                      ``ValueCounts`` of the classes
============================  =================================================================

A kind is a distinct combination of exact quasi-identifiers. The belief is an audit figure and
never the goal of a search: it is not kept under merging (Theorem 5.1), f is unknown, and a
publisher cannot know what Alice knows. An f estimated from the table itself is the strongest
adversary of this sort: she knows how often each kind of person has each value in the very table.
The arrays are dense, kinds × values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.table.counts import ValueCounts
from discreet.typing import AnyInts, Bools, Floats, Ints


def dense_counts(values: ValueCounts) -> Ints:
    """The counts as a matrix (classes, values)."""
    dense = np.zeros((values.classes, values.cardinality), np.int64)
    dense[values.class_of_entry, values.value] = values.count
    return dense


def estimated_prior(by_kind: ValueCounts) -> Floats:
    """f(s|q) as the table itself has it."""
    dense = dense_counts(by_kind)
    prior: Floats = dense / dense.sum(axis=1, keepdims=True)
    return prior


def posterior_belief(
    by_class: ValueCounts,
    class_of_kind: AnyInts,  # (kinds,)
    prior: Floats,
    weight: Floats,  # (kinds,) f(q), or any multiple of it
) -> Floats:
    """β(q, s, T*) for every kind and value (equation 1)."""
    _check_prior(prior, weight, len(class_of_kind), by_class.cardinality)
    # f(s|q*) of each class, a mean over its kinds.
    mass_of_class = np.bincount(class_of_kind, weight, by_class.classes)
    prior_of_class = np.zeros((by_class.classes, by_class.cardinality))  # f(s|q*)
    np.add.at(prior_of_class, class_of_kind, prior * weight[:, None])
    prior_of_class /= np.where(mass_of_class > 0, mass_of_class, 1)[:, None]
    # n(q*, s) over f(s|q*), times the prior of each kind; normalized.
    published = dense_counts(by_class)
    if bool(((published > 0) & (prior_of_class == 0)).any()):
        raise InputError(
            "The supplied f(s|q) rules out a value that the release holds. Give every value that"
            " occurs in a class a probability above 0 for some row of it."
        )
    odds = np.divide(
        published, prior_of_class, out=np.zeros(published.shape), where=prior_of_class > 0
    )
    belief = odds[class_of_kind] * prior
    total = belief.sum(axis=1, keepdims=True)
    if not bool((total > 0).all()):
        raise InputError(
            "The supplied f(s|q) rules out, for some quasi-identifiers, all values of their class."
            " Give one of them a probability above 0."
        )
    result: Floats = belief / total
    return result


def _check_prior(prior: Floats, weight: Floats, kinds: int, cardinality: int) -> None:
    if prior.shape != (kinds, cardinality) or weight.shape != (kinds,):
        raise InputError(
            f"f(s|q) has the shape {prior.shape} and f(q) {weight.shape}; they must be"
            f" {(kinds, cardinality)} and {(kinds,)}: combinations of quasi-identifiers by values."
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all() and (weight > 0).all()):
        raise InputError("f(s|q) must be at least 0 and f(q) above 0 everywhere.")
    if kinds and not np.allclose(prior.sum(axis=1), 1, atol=1e-6):
        raise InputError("f(s|q) must sum to 1 over the values, for all quasi-identifiers.")


def positive_disclosure(belief: Floats, rows: Ints, delta: float) -> Bools:
    """Definition 3.1: β > 1 − δ, and someone of that kind does have the value.

    ``rows`` is the original table's count of each kind and value.
    """
    disclosed: Bools = (belief > 1 - delta) & (rows > 0)
    return disclosed


def negative_disclosure(belief: Floats, rows: Ints, epsilon: float) -> Bools:
    """Definition 3.2: β < ε, and someone of that kind does not have the value."""
    others = rows.sum(axis=1, keepdims=True) - rows
    disclosed: Bools = (belief < epsilon) & (others > 0)
    return disclosed


def privacy_breach(prior: Floats, belief: Floats, rho1: float, rho2: float) -> Bools:
    """The (ρ1, ρ2)-breach: unlikely before and likely after, or likely before and not after."""
    upward = (prior < rho1) & (belief > rho2)
    downward = (prior > 1 - rho1) & (belief < 1 - rho2)
    return upward | downward


@dataclass(frozen=True)
class BayesFigures:
    """What the audit reports for one sensitive attribute; shares are of the table's rows."""

    greatest_belief: float  # in a value that the person does have
    greatest_gain: float  # of β over α, in a value that the person does have
    positive: float  # share of rows whose value is positively disclosed
    negative: float  # share of rows for whom a value that they lack is ruled out
    breached: float  # share of rows whose kind suffers a (ρ1, ρ2)-breach on any value


def bayes_figures(
    by_class: ValueCounts,
    by_kind: ValueCounts,
    class_of_kind: AnyInts,
    *,
    prior: Floats | None = None,
    weight: Floats | None = None,
    delta: float = 0.1,
    epsilon: float = 0.01,
    rho: tuple[float, float] = (0.2, 0.8),
) -> BayesFigures:
    """Audit a release against f(s|q) and f(q) (``weight``), by default the table's own."""
    rows = dense_counts(by_kind)
    total = rows.sum()
    if not total:
        return BayesFigures(0.0, 0.0, 0.0, 0.0, 0.0)
    of_kind = rows.sum(axis=1)
    before = estimated_prior(by_kind) if prior is None else prior
    share = of_kind.astype(np.float64) if weight is None else weight
    belief = posterior_belief(by_class, class_of_kind, before, share)
    held = rows > 0
    positive = positive_disclosure(belief, rows, delta)
    excluded = negative_disclosure(belief, rows, epsilon)  # (kinds, values)
    # A row is affected if some excluded value is not its own: all rows of the kind where two
    # values or more are excluded, and all but those that have it where it is one.
    one_own = np.where(excluded.sum(axis=1) == 1, (rows * excluded).sum(axis=1), 0)
    ruled_out = np.where(excluded.any(axis=1), of_kind - one_own, 0)
    breached = privacy_breach(before, belief, *rho).any(axis=1)
    return BayesFigures(
        greatest_belief=float(belief[held].max()),
        greatest_gain=float((belief - before)[held].max()),
        positive=float(rows[positive].sum() / total),
        negative=float(ruled_out.sum() / total),
        breached=float(of_kind[breached].sum() / total),
    )
