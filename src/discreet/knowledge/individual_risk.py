"""The risk that a row is re-identified, from the size of its class in the sample and population.

With f rows in a class of the published sample and F persons of the population who look alike, an
attacker who picks one of them is right with 1/F. Where F is not known, a row's sampling weight is
the number of persons that it represents, and the sum of a class's weights estimates F. Benedetti
and Franconi (1998, "Statistical and technological solutions for controlled data dissemination")
take the F − f persons of the class who are not in the sample as negative binomial with p = f / Σw
and use the expectation of 1/F given f. Its integral form is

    r(f, p) = ∫₀¹ y^(f−1) / (1 + a y) dy,   a = (1 − p) / p,

which falls in f and in a. So a union of classes has no greater risk than the riskier one, and
f · r = E[1 / (1 + a Y)] with Y ~ Beta(f, 1) falls in f too, so the expected number of
re-identifications never rises when classes are merged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.typing import Floats, Ints

TERMS = 90  # of the series, whose terms fall faster than 2^-j
LARGE = 20  # from here on the series converges whatever a is


def risk_from_weights(rows: Ints, weight: Floats) -> Floats:
    """(classes,) The expectation of 1/F given the rows and the sum of weights of each class."""
    size = np.asarray(rows, np.float64)
    a = np.maximum(weight / np.maximum(size, 1.0) - 1.0, 0.0)
    risk = np.empty(len(size))
    series = (a < 1) | (size >= LARGE)
    risk[series] = _by_series(size[series], a[series])
    risk[~series] = _by_recurrence(size[~series], a[~series])
    return risk


def _by_series(f: Floats, a: Floats) -> Floats:
    """Sum p/f · Σ j! q^j / ((f + 1) … (f + j)), all of whose terms are positive."""
    q = a / (1 + a)
    term = 1 / (f * (1 + a))
    total = term.copy()
    for j in range(1, TERMS):
        term = term * (j * q / (f + j))
        total += term
    return total


def _by_recurrence(f: Floats, a: Floats) -> Floats:
    """Start from r(1) = ln(1 + a) / a and use r(f + 1) = (1/f − r(f)) / a, stable for a ≥ 1."""
    term = np.log1p(a) / np.maximum(a, 1.0)
    risk = term.copy()
    for size in range(2, LARGE):
        term = (1 / (size - 1) - term) / np.maximum(a, 1.0)
        risk = np.where(f == size, term, risk)
    return risk


def household_risks(risk: Floats, household: NDArray[np.integer]) -> Floats:
    """(households,) The risk that at least one member is re-identified: 1 − Π (1 − r).

    ``risk`` and ``household`` have an entry a row; members are taken as independent.
    """
    with np.errstate(divide="ignore"):
        log_safe = np.log1p(-np.minimum(risk, 1.0))
    return -np.expm1(np.bincount(household, log_safe))
