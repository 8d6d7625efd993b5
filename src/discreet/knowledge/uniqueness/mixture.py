"""A mixture of Poisson distributions that is fitted to the sizes of a sample's classes.

The classes of a population have sizes F ~ Poisson(λ), where λ varies between classes in any way
(Bethlehem, Keller and Pannekoek, 1990, chose a gamma distribution, Skinner and Holmes, 1993, a
log-normal one). A sample that takes each person with the chance π has f ~ Poisson(πλ) of them. With
no more than this, the number of classes with f = i is Poisson with mean Σ_k g_k P(i | πλ_k), where
g_k ≥ 0 classes have the rate λ_k of a grid. The likelihood is concave in g and the figures wanted
are linear in it, so the range of a figure over all g whose likelihood is within a χ² quantile of
the greatest is found by maximizing the likelihood plus a multiple of the figure: the profile
likelihood interval, whatever the distribution of λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from discreet.typing import Floats, Ints

GRID = 72  # rates
ALONE = 12  # sizes that are compared one by one; larger ones in bands that grow by half
STEPS = 3000  # of the iteration at most
EVERY = 50  # steps after which it looks whether to end
SETTLED = 1e-3  # growth of the logarithm of the likelihood at which it ends
STEEPEST = 64.0  # slope towards lower figures; at it, the figure is as good as 0
FAR = 50.0  # mean above which a recurrence replaces quadrature
HALVINGS = 12  # of the slope
QUANTILE = 2.576  # of the normal distribution: 99 %


@dataclass(frozen=True, eq=False)
class SizeMixture:
    """Kernels of the sizes of classes in a sample, over a grid of rates."""

    seen: Floats  # (bands,) classes whose size in the sample lies in each band
    kernel: Floats  # (bands, rates) the chance of each band
    rate: Floats  # (rates,) λ of the population
    fraction: float  # π

    @classmethod
    def of(cls, sizes: Ints, fraction: float) -> SizeMixture:
        """The kernels for the sizes of a sample's classes."""
        largest = int(sizes.max())
        edges = [*range(1, ALONE + 1)]
        while edges[-1] <= largest:
            edges.append(edges[-1] + max(edges[-1] // 2, 1))
        seen = np.histogram(sizes, [*edges, np.inf])[0].astype(np.float64)
        low, high = log(0.02), log(2.0 * largest / fraction)
        rate = np.exp(np.linspace(low, high, GRID))
        below = _poisson_below(np.array(edges, np.float64), fraction * rate)
        chance = np.diff(np.vstack([below, np.ones(GRID)]), axis=0)
        return cls(seen, np.maximum(chance, 1e-300), rate, fraction)

    @property
    def unique_in_both(self) -> Floats:
        """(rates,) The chance that a class has one row in the sample and one in the population."""
        return np.asarray(self.fraction * self.rate * np.exp(-self.rate))

    @property
    def correct_links(self) -> Floats:
        """(rates,) The expectation of f/F: π, unless the class has no person at all."""
        return np.asarray(-self.fraction * np.expm1(-self.rate))

    def risks(self, g: Floats, largest: int) -> Floats:
        """(largest,) The expectation of 1/F of a class with 1, 2, … rows under a fit."""
        rest = (1 - self.fraction) * self.rate
        node, weight = np.polynomial.legendre.leggauss(48)
        y = (node + 1) / 2
        near = np.exp(-np.minimum(rest, FAR)[:, None] * (1 - y))  # (rates, nodes)
        found = np.empty(largest)
        far = -np.expm1(-rest) / rest  # E[1 / (1 + X)], X Poisson
        for f in range(1, largest + 1):
            if f > 1:
                far = (1 - (f - 1) * far) / rest  # stable where the mean of X is above f
            inverse = np.where(rest > FAR, far, (near * y ** (f - 1)) @ weight / 2)
            own = g * self.kernel[f - 1]
            found[f - 1] = float(own @ inverse / max(float(own.sum()), 1e-300))
        return found

    def fit(self, figure: Floats, slope: float, start: Floats | None = None) -> Floats:
        """(rates,) The classes of each rate that maximize the likelihood plus a slope · figure.

        An iteration that never lowers the objective (expectation-maximization of a Poisson
        likelihood); ``slope`` must keep every denominator above 0.
        """
        total = self.kernel.sum(axis=0) - slope * figure
        g = np.full(GRID, self.seen.sum() / GRID) if start is None else start
        value = -np.inf
        for step in range(STEPS):
            mean = self.kernel @ g
            g = g * ((self.seen / mean) @ self.kernel) / total
            if step % EVERY == EVERY - 1:
                now = self.likelihood(g) + slope * float(figure @ g)
                if now - value < SETTLED:
                    break
                value = now
        return g

    def likelihood(self, g: Floats) -> float:
        """The logarithm of the likelihood, up to a constant."""
        mean = self.kernel @ g
        return float(self.seen @ np.log(mean) - mean.sum())

    def deviance(self, g: Floats) -> float:
        """Twice the distance of the likelihood from that of a perfect fit."""
        mean = self.kernel @ g
        some = self.seen > 0
        ratio = self.seen[some] * np.log(self.seen[some] / mean[some])
        return float(2 * (ratio.sum() - self.seen.sum() + mean.sum()))

    def interval(self, figure: Floats, best: Floats) -> tuple[float, float]:
        """The range of a linear figure over all fits within the quantile of the best one."""
        bound = self.likelihood(best) - QUANTILE**2 / 2
        return self._end(figure, best, bound, -1.0), self._end(figure, best, bound, 1.0)

    def _end(self, figure: Floats, best: Floats, bound: float, sign: float) -> float:
        """One end: bisect the slope until the likelihood is at its bound."""
        most = float((self.kernel.sum(axis=0) / np.maximum(figure, 1e-300)).min())
        low, high = 0.0, (most if sign > 0 else STEEPEST)
        found = float(figure @ best)
        g = best
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            moved = self.fit(figure, sign * middle, g)
            if self.likelihood(moved) >= bound:
                low, g = middle, moved
                found = float(figure @ moved)
            else:
                high = middle
        return found


def _poisson_below(edge: Floats, mean: Floats) -> Floats:
    """(edges, means) P(X < edge) of Poisson distributions, by summing their terms."""
    largest = int(edge.max())
    below = np.zeros((len(edge), len(mean)))
    total = np.zeros(len(mean))
    for i in range(largest):
        below[edge == i] = total
        total = total + np.exp(i * np.log(mean) - mean - lgamma(i + 1))
    below[edge == largest] = total
    return np.minimum(below, 1.0)
