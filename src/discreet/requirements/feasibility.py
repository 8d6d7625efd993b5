"""Bounds on what a release can promise, from the counts of an attribute's values alone.

``counts`` (values,) is how often each value occurs in the table, ``sensitive`` (values,) which of
them must not be disclosed; None where all must not. Only sensitive values limit what is feasible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.typing import Bools, Ints


def permissible_ell(counts: Ints, sensitive: Bools | None = None) -> int:
    """l_per = ⌊n / n1⌋: beliefs in sensitive values can be kept at 1/l_per.

    n1 is the count of the most frequent sensitive value. Where none occurs, l_per is n.
    """
    greatest = int(_of_sensitive(counts, sensitive).max(initial=0))
    return int(counts.sum()) // max(greatest, 1)


def diverse_ell(counts: Ints, sensitive: Bools) -> int:
    """The largest ℓ for which rows with a sensitive value form groups of ℓ distinct values.

    In n1 groups, n1 the count of the most frequent sensitive value, a harmless value has at most
    n1 rows. More groups do not help: the rows that they lack grow at least as fast. l_per where
    all values are sensitive.
    """
    groups = int(counts[sensitive].max(initial=0))
    if not groups:
        return int(counts.sum())
    return int(np.minimum(counts, groups).sum()) // groups


def most_diverse_groups(counts: Ints, sensitive: Bools, ell: int) -> int:
    """The most groups of ℓ distinct values that hold all rows with a sensitive value.

    The greatest m with Σ_v min(n(v), m) ≥ ℓ·m, sensitive v unlimited. The difference is concave in
    m and not negative at 0, so the m that fulfil it are an interval.
    """
    certain, harmless = int(counts[sensitive].sum()), counts[~sensitive]
    fits, fails = 0, int(counts.sum()) // ell + 1
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if certain + int(np.minimum(harmless, middle).sum()) >= ell * middle:
            fits = middle
        else:
            fails = middle
    return fits


def excessive_share(counts: Ints, ell: int) -> float | None:
    """The share of the most frequent value where it is above 1/ell; None where it is not.

    No group of all rows, and so no partition, then keeps beliefs in it at 1/ell: p- and
    m-diversity, anatomy, decomposition and msa-diversity are infeasible with this ell while the
    value counts as sensitive, unless rows are suppressed.
    """
    rows, greatest = int(counts.sum()), int(counts.max(initial=0))
    return greatest / rows if greatest * ell > rows else None


def rare_values(counts: Ints, ell: int) -> int:
    """How many values occur in fewer than ell rows."""
    return int(((counts > 0) & (counts < ell)).sum())


def value_entropy(counts: Ints) -> float:
    """H of the values' distribution, in nats."""
    occurring = counts[counts > 0]
    shares = occurring / max(occurring.sum(), 1)
    return max(0.0, -float(shares @ np.log(shares)))  # no −0


def entropy_ell(counts: Ints, sensitive: Bools | None = None) -> float:
    """exp H, the largest feasible ℓ of entropy ℓ-diversity: merging all rows reaches it.

    Where some values are not sensitive, exp of the mean ln(n/n_s) of the rows with a sensitive one.
    """
    if sensitive is None or sensitive.all():
        return float(np.exp(value_entropy(counts)))
    told = _of_sensitive(counts, sensitive)
    surprise = told * (np.log(max(int(counts.sum()), 1)) - np.log(np.maximum(told, 1)))
    rows = int(told.sum())
    return float(np.exp(surprise.sum() / rows)) if rows else float(counts.sum())


def least_suppressed(
    counts_of_attributes: Sequence[Ints],
    ell: int,
    sensitive_of_attributes: Sequence[Bools | None] | None = None,
) -> int:
    """The rows that ℓ-pdiversity, or anything stronger, must suppress at least.

    n minus the greatest K with h + Σ_v min(c_v, ⌊K/ℓ⌋) ≥ K for every attribute, v over its
    sensitive values, h the rows with another one. With j = ⌊K/ℓ⌋ the sum is concave in j, so it is
    at least ℓj for all j up to some greatest one, found by halving; and then K is as far above ℓj
    as the sums and ⌊K/ℓ⌋ = j allow.
    """
    rows = int(counts_of_attributes[0].sum()) if counts_of_attributes else 0
    marks = sensitive_of_attributes or [None] * len(counts_of_attributes)
    # How often each value may occur at most: those that are not sensitive, always.
    limits = [
        np.where(True if mark is None else mark, 0, counts)
        for counts, mark in zip(counts_of_attributes, marks, strict=True)
    ]

    def kept(places: int) -> int:
        return min(
            int(np.minimum(counts, np.maximum(least, places)).sum())
            for counts, least in zip(counts_of_attributes, limits, strict=True)
        )

    # Halve the interval of j.
    feasible, infeasible = 0, rows // ell + 1
    while infeasible - feasible > 1:
        middle = (feasible + infeasible) // 2
        if kept(middle) >= ell * middle:
            feasible = middle
        else:
            infeasible = middle
    if not rows:
        return 0
    return rows - min(kept(feasible), ell * feasible + ell - 1)


def _of_sensitive(counts: Ints, sensitive: Bools | None) -> Ints:
    """The counts of sensitive values, 0 for others."""
    return counts if sensitive is None else np.where(sensitive, counts, 0)
