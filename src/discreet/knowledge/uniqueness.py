"""An estimate of population uniqueness with an interval, or the reason why there is none.

The interval is that of a mixture, widened by the chance that remains when the mixture is known: of
s1 unique rows about T are unique in the population, give or take √(T (1 − T/s1)). The well-known
estimators assume a shape that few populations have, so each is stated only where it lies in that
interval.

The well-known estimators of the sample uniques that are unique in the population all take the
sample as drawn with equal chances and use the numbers s_i of classes with i rows.

- Zayatz (1991) takes the sizes of the sample's classes for those of the population.
- Pitman: the exchangeable partition of Ewens and Pitman, fitted by maximum likelihood (Hoshino,
  2001). Of the population's uniques, whose expectation is Γ(θ+1)/Γ(θ+α) · N^α, π are in the sample.
- SNB: a slid negative binomial, F = 1 + NB(α, q) (Chen and Keller-McNulty, 1998), fitted by
  maximum likelihood to the sizes in the sample.

Dankar, El Emam, Neisa and Roffey (2012) advise Pitman for π ≤ 0.1, and above it the lesser of SNB
and Zayatz; Zayatz where a model has no solution.

The mixture of Poisson distributions is fitted to the sizes of a sample's classes. The classes of a
population have sizes F ~ Poisson(λ), where λ varies between classes in any way (Bethlehem, Keller
and Pannekoek, 1990, chose a gamma distribution, Skinner and Holmes, 1993, a log-normal one). A
sample that takes each person with the chance π has f ~ Poisson(πλ) of them. With no more than this,
the number of classes with f = i is Poisson with mean Σ_k g_k P(i | πλ_k), where g_k ≥ 0 classes
have the rate λ_k of a grid. The likelihood is concave in g and the figures wanted are linear in it,
so the range of a figure over all g whose likelihood is within a χ² quantile of the greatest is
found by maximizing the likelihood plus a multiple of the figure: the profile likelihood interval,
whatever the distribution of λ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import exp, inf, lgamma, log, log1p, sqrt
from typing import Any

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
        risks = np.empty(largest)
        far = -np.expm1(-rest) / rest  # E[1 / (1 + X)], X Poisson
        for f in range(1, largest + 1):
            if f > 1:
                far = (1 - (f - 1) * far) / rest  # stable where the mean of X is above f
            inverse = np.where(rest > FAR, far, (near * y ** (f - 1)) @ weight / 2)
            posterior = g * self.kernel[f - 1]
            risks[f - 1] = float(posterior @ inverse / max(float(posterior.sum()), 1e-300))
        return risks

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
        occurring = self.seen > 0
        ratio = self.seen[occurring] * np.log(self.seen[occurring] / mean[occurring])
        return float(2 * (ratio.sum() - self.seen.sum() + mean.sum()))

    def interval(self, figure: Floats, best: Floats) -> tuple[float, float]:
        """The range of a linear figure over all fits within the quantile of the best one."""
        bound = self.likelihood(best) - QUANTILE**2 / 2
        return self._end(figure, best, bound, -1.0), self._end(figure, best, bound, 1.0)

    def _end(self, figure: Floats, best: Floats, bound: float, sign: float) -> float:
        """One end: bisect the slope until the likelihood is at its bound."""
        most = float((self.kernel.sum(axis=0) / np.maximum(figure, 1e-300)).min())
        low, high = 0.0, (most if sign > 0 else STEEPEST)
        end = float(figure @ best)
        g = best
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            moved = self.fit(figure, sign * middle, g)
            if self.likelihood(moved) >= bound:
                low, g = middle, moved
                end = float(figure @ moved)
            else:
                high = middle
        return end


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
        likelihood = float(np.log(theta + step * alpha).sum())
        likelihood -= lgamma(theta + rows) - lgamma(theta + 1)
        if several.any():
            likelihood += float(above @ np.log(place - alpha))
        return -likelihood

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
        sampled_chances = (1 - fraction) * power
        sampled_chances[1:] += fraction * power[:-1]
        return sampled_chances, exp(alpha * log1p(-q))

    def minus_likelihood(x: Floats) -> float:
        if abs(x[0]) > 12 or abs(x[1]) > 14:
            return inf
        chance, _ = chances(x)
        seen = max(1 - chance[0], 1e-300)  # given that the class has a row in the sample
        return -float(times @ np.log(np.maximum(chance[size] / seen, 1e-300)))

    # Fit both parameters; at an end of their range there is no solution.
    mean = float(sizes.mean()) / fraction
    x: Floats = minimized(minus_likelihood, np.array([-1.0, log(max(mean, 1.5))]))
    if abs(x[0]) > 11 or abs(x[1]) > 13:
        return None
    # The uniques of all classes, those without a row in the sample included.
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
            height = of(x)
            if best is None or height < best[0]:
                best = (height, x)
        assert best is not None
        if best[0] < value[-1]:
            value[-1], simplex[-1] = best
        else:
            simplex[1:] = simplex[0] + 0.5 * (simplex[1:] - simplex[0])
            value[1:] = [of(x) for x in simplex[1:]]
    return np.asarray(simplex[int(value.argmin())])


LEAST_ROWS = 100
LEAST_UNIQUES = 20
LEAST_FRACTION = 0.001
UNEQUAL = 0.3  # variation of weights (deviation over mean) above which chances are not equal
MISFIT = 3.0  # deviance for each band of sizes above which the sizes are not those of a sample


@dataclass(frozen=True)
class Interval:
    """A number of rows, and the interval that holds it with a confidence of 99 %."""

    estimate: float
    low: float
    high: float

    @classmethod
    def exact(cls, figure: float) -> Interval:
        """A number that is known."""
        return cls(float(figure), float(figure), float(figure))

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.estimate:,.0f}"
        return f"{self.estimate:,.0f} (99%: {self.low:,.0f} to {self.high:,.0f})"


@dataclass(frozen=True)
class UniquenessEstimate:
    """The rows of a sample that are unique in its population."""

    rows: int
    sample_uniques: int
    fraction: float  # of the population in the sample
    uniques: Interval | None = None  # rows that are unique in the population too
    links: Interval | None = None  # rows that an attacker who tries all links correctly
    risk_of_size: tuple[float, ...] = ()  # of a row in a class of 1, 2, … rows
    by_model: Mapping[str, float] = field(default_factory=dict)  # those within the interval
    advised: str | None = None  # the one of these that the literature advises here
    not_trusted: tuple[str, ...] = ()  # models without a solution, or outside the interval
    reason: str | None = None  # why there is no estimate
    deviance: float | None = None  # of the fitted mixture
    bands: int | None = None  # of sizes, that the deviance is over

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> UniquenessEstimate:
        """Read what ``to_dict`` wrote."""
        parts = {name: Interval(**known[name]) for name in ("uniques", "links") if name in known}
        lists = {name: tuple(known.get(name, ())) for name in ("not_trusted", "risk_of_size")}
        return cls(**{**known, **lists, **parts})

    def sentences(self) -> Iterator[str]:
        """Return the estimate in sentences."""
        if self.reason is not None:
            yield f"Unique in the population: not estimated, because {self.reason}."
            return
        if not self.sample_uniques:
            yield "No row is unique, so none is unique in the population."
            return
        yield (
            f"Of {self.sample_uniques:,} unique rows {self.uniques} are unique in the population. "
            f"An attacker who tries all {self.rows:,} rows links {self.links} of them correctly."
        )
        if self.by_model:
            listed = ", ".join(
                f"{name} {uniques:,.0f}{' (advised)' if name == self.advised else ''}"
                for name, uniques in self.by_model.items()
            )
            yield f"Models that agree with the interval: {listed}."
        if self.not_trusted:
            yield f"Models that do not fit here, and have no figure: {', '.join(self.not_trusted)}."


def estimate_uniqueness(
    sizes: Ints, persons: float, weights: Floats | None = None
) -> UniquenessEstimate:
    """Estimate how many unique rows of a sample are unique among the persons of a population.

    ``sizes`` are those of the sample's classes; ``weights`` those of its rows, where they have any.
    """
    # Some samples allow no estimate, and some need none.
    rows, uniques = int(sizes.sum()), int((sizes == 1).sum())
    fraction = min(rows / max(persons, 1.0), 1.0)
    estimate = UniquenessEstimate(rows, uniques, fraction)
    reason = _reason(estimate, weights)
    if reason is not None:
        return replace(estimate, reason=reason)
    if fraction > 0.999:  # the whole population
        return replace(estimate, uniques=Interval.exact(uniques), links=Interval.exact(len(sizes)))
    if uniques == 0:
        return replace(estimate, uniques=Interval.exact(0))
    # Fit the mixture; sizes that it cannot explain are not those of a sample.
    mixture = SizeMixture.of(sizes, fraction)
    best = mixture.fit(mixture.unique_in_both, 0.0)
    deviance, bands = mixture.deviance(best), len(mixture.seen)
    if deviance > MISFIT * bands:
        reason = (
            "the sizes of groups are not those of a random sample of persons (deviance "
            f"{deviance:.0f} over {bands} sizes)"
        )
        return replace(estimate, reason=reason, deviance=deviance, bands=bands)
    # A model is stated only where it agrees with the interval.
    alike = _predicted(mixture, mixture.unique_in_both, best, uniques)
    models = {
        "Zayatz": zayatz(sizes, fraction),
        "Pitman": pitman(sizes, fraction),
        "SNB": slid_negative_binomial(sizes, fraction),
    }
    agreeing = {
        name: figure for name, figure in models.items()
        if figure is not None and alike.low <= figure <= alike.high
    }  # fmt: skip
    return UniquenessEstimate(
        rows,
        uniques,
        fraction,
        alike,
        _predicted(mixture, mixture.correct_links, best, rows),
        tuple(mixture.risks(best, min(ALONE, int(sizes.max()))).tolist()),
        agreeing,
        _advised(agreeing, fraction),
        tuple(name for name in models if name not in agreeing),
        deviance=deviance,
        bands=bands,
    )


def counted_uniqueness(sizes: Ints, people: Ints) -> UniquenessEstimate:
    """The same where a population table shows the persons of each class."""
    alone = sizes == 1
    both = Interval.exact((alone & (people == 1)).sum())
    links = Interval.exact((sizes / np.maximum(people, 1)).sum())
    return UniquenessEstimate(int(sizes.sum()), int(alone.sum()), 1.0, both, links)


def _advised(agreeing: Mapping[str, float], fraction: float) -> str | None:
    """The model that Dankar and others (2012) advise for a sampling fraction, if it fits."""
    wanted = ["Pitman", "Zayatz"] if fraction <= 0.1 else ["SNB", "Zayatz"]
    fit = [name for name in wanted if name in agreeing]
    if fraction <= 0.1:
        return fit[0] if fit else None
    return min(fit, key=lambda name: agreeing[name]) if fit else None


def _reason(estimate: UniquenessEstimate, weights: Floats | None) -> str | None:
    """Return why no estimate of a sample can be trusted; None where it can."""
    if estimate.sample_uniques == 0 or estimate.fraction > 0.999:
        return None
    if estimate.rows < LEAST_ROWS or estimate.sample_uniques < LEAST_UNIQUES:
        return (
            f"{estimate.rows:,} rows with {estimate.sample_uniques:,} unique ones are too few "
            f"({LEAST_ROWS} and {LEAST_UNIQUES} are needed)"
        )
    if estimate.fraction < LEAST_FRACTION:
        return f"the rows are only {estimate.fraction:.3%} of the population"
    if weights is not None:
        variation = float(weights.std() / weights.mean())
        if variation > UNEQUAL:
            return (
                f"weights vary by {variation:.0%} of their mean, and estimators take every person "
                f"to be drawn with the same chance (up to {UNEQUAL:.0%})"
            )
    return None


def _predicted(mixture: SizeMixture, figure: Floats, best: Floats, most: int) -> Interval:
    """The interval of a figure of the rows at hand, from that of its expectation."""
    low, high = mixture.interval(figure, best)
    middle = min(float(figure @ best), float(most))
    low, high = min(low, middle), max(high, middle)
    spread = QUANTILE**2 * middle * max(1 - middle / most, 0.0)
    return Interval(
        middle,
        max(middle - sqrt((middle - low) ** 2 + spread), 0.0),
        min(middle + sqrt((high - middle) ** 2 + spread), float(most)),
    )
