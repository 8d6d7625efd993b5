"""Well-known estimators of the sample uniques that are unique in the population.

All take the sample as drawn with equal chances and use the numbers s_i of classes with i rows.

- Zayatz (1991) takes the sizes of the sample's classes for those of the population.
- Pitman: the exchangeable partition of Ewens and Pitman, fitted by maximum likelihood (Hoshino,
  2001). Of the population's uniques, whose expectation is Γ(θ+1)/Γ(θ+α) · N^α, π are in the sample.
- SNB: a slid negative binomial, F = 1 + NB(α, q) (Chen and Keller-McNulty, 1998), fitted by
  maximum likelihood to the sizes in the sample.

Dankar, El Emam, Neisa and Roffey (2012) advise Pitman for π ≤ 0.1, and above it the lesser of SNB
and Zayatz; Zayatz where a model has no solution.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p

import numpy as np

from discreet.typing import Floats, Ints

LARGEST = 400  # size up to which a model's chances are summed one by one


def zayatz(sizes: Ints, fraction: float) -> float:
    """s1 · s1 / Σ i s_i (1 − π)^(i − 1): Bayes' theorem with the sample's distribution of sizes."""
    size, times = np.unique(sizes, return_counts=True)
    alone = float(times[size == 1].sum())
    weighed = float((size * times * (1 - fraction) ** (size - 1.0)).sum())
    return alone * alone / weighed if alone else 0.0


def pitman(sizes: Ints, fraction: float) -> float | None:
    """The estimate of the Ewens–Pitman model; None where the likelihood has no inner maximum."""
    size, times = np.unique(sizes, return_counts=True)
    rows, classes = int(sizes.sum()), len(sizes)
    if classes < 2 or classes == rows:
        return None
    several = size > 1
    place = np.arange(1, int(size.max()))
    # how many classes have more than j rows, by which the factors (j − α) occur
    above = np.array([times[size > j].sum() for j in place], np.float64)
    step = np.arange(1, classes)

    def minus_likelihood(x: Floats) -> float:
        alpha, theta = 1 / (1 + exp(-x[0])), exp(x[1])
        found = float(np.log(theta + step * alpha).sum())
        found -= lgamma(theta + rows) - lgamma(theta + 1)
        if several.any():
            found += float(above @ np.log(place - alpha))
        return -found

    x = minimized(minus_likelihood, np.array([0.0, log(max(classes, 2))]))
    alpha, theta = 1 / (1 + exp(-x[0])), exp(x[1])
    if not 0.01 < alpha < 0.99:
        return None
    persons = rows / fraction
    uniques = exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(persons))
    return min(fraction * uniques, float((sizes == 1).sum()))


def slid_negative_binomial(sizes: Ints, fraction: float) -> float | None:
    """The estimate of F = 1 + NB(α, q); None where the fit runs to an end of its range."""
    size, times = np.unique(np.minimum(sizes, LARGEST), return_counts=True)

    def chances(x: Floats) -> tuple[Floats, float]:
        """The chances of 0, 1, … rows of a class in the sample, and that of F = 1."""
        alpha, q = exp(x[0]), 1 / (1 + exp(-x[1]))
        # the generating function z · ((1 − q) / (1 − q z))^α at z = 1 − π + π y, in powers of y
        scale = 1 - q * (1 - fraction)
        ratio = q * fraction / scale
        k = np.arange(LARGEST + 1)
        coefficient = np.empty(LARGEST + 1)
        coefficient[0] = alpha * (log1p(-q) - log(scale))
        coefficient[1:] = np.log((alpha + k[1:] - 1) / k[1:]) + log(ratio)
        power = np.exp(np.cumsum(coefficient))
        found = (1 - fraction) * power
        found[1:] += fraction * power[:-1]
        return found, exp(alpha * log1p(-q))

    def minus_likelihood(x: Floats) -> float:
        if abs(x[0]) > 12 or abs(x[1]) > 14:
            return inf
        chance, _ = chances(x)
        seen = max(1 - chance[0], 1e-300)  # given that the class has a row in the sample
        return -float(times @ np.log(np.maximum(chance[size] / seen, 1e-300)))

    mean = float(sizes.mean()) / fraction
    x: Floats = minimized(minus_likelihood, np.array([-1.0, log(max(mean, 1.5))]))
    if abs(x[0]) > 11 or abs(x[1]) > 13:
        return None
    chance, alone = chances(x)
    classes = len(sizes) / max(1 - chance[0], 1e-300)
    return min(float(fraction * classes * alone), float((sizes == 1).sum()))


def minimized(of: Callable[[Floats], float], start: Floats, steps: int = 300) -> Floats:
    """A local minimum by the simplex of Nelder and Mead (1965)."""
    simplex = np.vstack([start, start + np.eye(len(start))])
    value = np.array([of(x) for x in simplex])
    for _ in range(steps):
        order = np.argsort(value)
        simplex, value = simplex[order], value[order]
        if value[-1] - value[0] < 1e-9 * max(abs(value[0]), 1.0):
            break
        centre = simplex[:-1].mean(axis=0)
        best = None
        for reach in (1.0, 2.0, -0.5, 0.5):
            x = centre + reach * (centre - simplex[-1])
            found = of(x)
            if best is None or found < best[0]:
                best = (found, x)
        assert best is not None
        if best[0] < value[-1]:
            value[-1], simplex[-1] = best
        else:
            simplex[1:] = simplex[0] + 0.5 * (simplex[1:] - simplex[0])
            value[1:] = [of(x) for x in simplex[1:]]
    return np.asarray(simplex[int(value.argmin())])
