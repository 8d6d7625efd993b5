"""An estimate of population uniqueness with an interval, or the reason why there is none.

The interval is that of the mixture (``mixture``), widened by the chance that remains when the
mixture is known: of s1 unique rows about T are unique in the population, give or take
√(T (1 − T/s1)). The well-known estimators (``classical``) assume a shape that few populations have,
so each is stated only where it lies in that interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from discreet.knowledge.uniqueness.classical import pitman, slid_negative_binomial, zayatz
from discreet.knowledge.uniqueness.mixture import ALONE, QUANTILE, SizeMixture
from discreet.typing import Floats, Ints

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

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.estimate:,.0f}"
        return f"{self.estimate:,.0f} (99 %: {self.low:,.0f} to {self.high:,.0f})"


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
                f"{name} {found:,.0f}{' (advised)' if name == self.advised else ''}"
                for name, found in self.by_model.items()
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
    rows, uniques = int(sizes.sum()), int((sizes == 1).sum())
    fraction = min(rows / max(persons, 1.0), 1.0)
    found = UniquenessEstimate(rows, uniques, fraction)
    reason = _reason(found, weights)
    if reason is not None:
        return UniquenessEstimate(rows, uniques, fraction, reason=reason)
    if fraction > 0.999:  # the whole population
        alone, classes = float(uniques), float(len(sizes))
        return UniquenessEstimate(
            rows, uniques, fraction, Interval(alone, alone, alone),
            Interval(classes, classes, classes),
        )  # fmt: skip
    if uniques == 0:
        return UniquenessEstimate(rows, uniques, fraction, Interval(0.0, 0.0, 0.0))
    mixture = SizeMixture.of(sizes, fraction)
    best = mixture.fit(mixture.unique_in_both, 0.0)
    deviance, bands = mixture.deviance(best), len(mixture.seen)
    if deviance > MISFIT * bands:
        reason = (
            "the sizes of groups are not those of a random sample of persons (deviance "
            f"{deviance:.0f} over {bands} sizes)"
        )
        return UniquenessEstimate(
            rows, uniques, fraction, reason=reason, deviance=deviance, bands=bands
        )
    alike = _predicted(mixture, mixture.unique_in_both, best, uniques)
    models = {
        "Zayatz": zayatz(sizes, fraction),
        "Pitman": pitman(sizes, fraction),
        "SNB": slid_negative_binomial(sizes, fraction),
    }
    agreeing = {
        name: one for name, one in models.items()
        if one is not None and alike.low <= one <= alike.high
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
    both = float((alone & (people == 1)).sum())
    links = float((sizes / np.maximum(people, 1)).sum())
    return UniquenessEstimate(
        int(sizes.sum()),
        int(alone.sum()),
        1.0,
        Interval(both, both, both),
        Interval(links, links, links),
    )


def _advised(agreeing: Mapping[str, float], fraction: float) -> str | None:
    """The model that Dankar and others (2012) advise for a sampling fraction, if it fits."""
    wanted = ["Pitman", "Zayatz"] if fraction <= 0.1 else ["SNB", "Zayatz"]
    fit = [name for name in wanted if name in agreeing]
    if fraction <= 0.1:
        return fit[0] if fit else None
    return min(fit, key=lambda name: agreeing[name]) if fit else None


def _reason(found: UniquenessEstimate, weights: Floats | None) -> str | None:
    """Return why no estimate of a sample can be trusted; None where it can."""
    if found.sample_uniques == 0 or found.fraction > 0.999:
        return None
    if found.rows < LEAST_ROWS or found.sample_uniques < LEAST_UNIQUES:
        return (
            f"{found.rows:,} rows with {found.sample_uniques:,} unique ones are too few "
            f"({LEAST_ROWS} and {LEAST_UNIQUES} are needed)"
        )
    if found.fraction < LEAST_FRACTION:
        return f"the rows are only {found.fraction:.3%} of the population"
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
