"""Bias and coverage of estimates of population uniqueness, on generated populations.

    python -m experiments.uniqueness [--populations 4] [--persons 50000]

Every population is drawn by a recipe and sampled without replacement. Printed for each recipe and
sampling fraction: the mean of each estimator over the truth, and how often the interval holds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.knowledge.uniqueness import (
    UniquenessEstimate,
    estimate_uniqueness,
    pitman,
    slid_negative_binomial,
    zayatz,
)

Sizes = NDArray[np.int64]


def _drawn(rng: np.random.Generator, persons: int, share: NDArray[np.float64]) -> Sizes:
    return rng.multinomial(persons, share / share.sum())


def _restaurant(rng: np.random.Generator, persons: int, alpha: float, theta: float) -> Sizes:
    """The partition of Ewens and Pitman, person by person."""
    chosen = rng.random(persons)
    size: list[int] = []
    seat_of: list[int] = []  # the table of each person, for a choice in proportion to sizes
    for person in range(persons):
        total = theta + person
        if chosen[person] * total < theta + alpha * len(size):
            size.append(1)
            seat_of.append(len(size) - 1)
            continue
        while True:  # a table of n persons with n − α: accept a person's table with (n − α)/n
            at = seat_of[int(rng.integers(person))]
            if rng.random() * size[at] < size[at] - alpha:
                break
        size[at] += 1
        seat_of.append(at)
    return np.array(size)


def _product(rng: np.random.Generator, persons: int) -> Sizes:
    """Persons by independent attributes: age, region, occupation."""
    parts = [rng.dirichlet(np.full(n, a)) for n, a in ((60, 1.0), (30, 0.5), (40, 0.7))]
    share = np.outer(np.outer(parts[0], parts[1]).ravel(), parts[2]).ravel()
    return _drawn(rng, persons, share)


RECIPES: dict[str, Callable[[np.random.Generator, int], Sizes]] = {
    "Zipf, exponent 1": lambda r, n: _drawn(r, n, 1 / np.arange(1, 2 * n + 1.0)),
    "Zipf, exponent 0.6": lambda r, n: _drawn(r, n, np.arange(1, n + 1.0) ** -0.6),
    "log-normal, σ 1.5": lambda r, n: _drawn(r, n, np.exp(r.normal(0, 1.5, n // 2))),
    "log-normal, σ 3": lambda r, n: _drawn(r, n, np.exp(r.normal(0, 3.0, n))),
    "equal shares": lambda r, n: _drawn(r, n, np.ones(6 * n // 10)),
    "gamma, shape 0.2": lambda r, n: _drawn(r, n, r.gamma(0.2, 1, 8 * n // 10) + 1e-12),
    "three attributes": _product,
    "small and large groups": lambda r, n: _drawn(
        r, n, np.concatenate([np.ones(3 * n // 10), np.full(n // 200, 100.0)])
    ),
    "Ewens–Pitman": lambda r, n: _restaurant(r, n, 0.5, n / 100),
    "1 + negative binomial": lambda r, n: 1 + r.negative_binomial(0.3, 0.1, n // 4),
}


class Drawn(NamedTuple):
    """A sample of a population, and what is true of it."""

    sizes: Sizes  # of the sample's classes
    persons: int
    uniques: int  # rows that are unique in the population
    links: float  # Σ f/F: the rows that an attacker who tries all links correctly


def sampled(rng: np.random.Generator, population: Sizes, fraction: float) -> Drawn:
    """Draw persons without replacement."""
    size = population[population > 0]
    persons = int(size.sum())
    rows = max(round(fraction * persons), 1)
    found = rng.multivariate_hypergeometric(size, rows, method="marginals")
    alone = found == 1
    both = int((alone & (size == 1)).sum())
    return Drawn(found[found > 0], persons, both, float((found / size).sum()))


class Trial(NamedTuple):
    """One sample, with the truth and all estimates."""

    recipe: str
    fraction: float
    drawn: Drawn
    estimate: UniquenessEstimate
    models: dict[str, float | None]


def trials(
    persons: int, populations: int, fractions: tuple[float, ...], seed: int = 0
) -> Iterator[Trial]:
    """Draw populations by every recipe, sample each, and estimate."""
    for number, (recipe, make) in enumerate(RECIPES.items()):
        for repeat in range(populations):
            rng = np.random.default_rng([seed, number, repeat])
            population = make(rng, persons)
            for fraction in fractions:
                drawn = sampled(rng, population, fraction)
                models = {
                    "Zayatz": zayatz(drawn.sizes, fraction),
                    "Pitman": pitman(drawn.sizes, fraction),
                    "SNB": slid_negative_binomial(drawn.sizes, fraction),
                }
                found = estimate_uniqueness(drawn.sizes, drawn.persons)
                yield Trial(recipe, fraction, drawn, found, models)


def holds(trial: Trial) -> tuple[bool, bool]:
    """Whether the intervals of uniques and of links hold the truth."""
    uniques, links = trial.estimate.uniques, trial.estimate.links
    assert uniques is not None
    assert links is not None
    return (
        uniques.low <= trial.drawn.uniques <= uniques.high,
        links.low <= trial.drawn.links <= links.high,
    )


def main() -> None:
    """Print the tables of docs/populations.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--persons", type=int, default=50_000)
    parser.add_argument("--populations", type=int, default=4)
    given = parser.parse_args()
    fractions = (0.02, 0.1, 0.4)
    found = list(trials(given.persons, given.populations, fractions))
    print("| population | π | mixture | Zayatz | Pitman | SNB | interval / truth | held |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for recipe in RECIPES:
        for fraction in fractions:
            own = [t for t in found if (t.recipe, t.fraction) == (recipe, fraction)]
            known = [t for t in own if t.estimate.uniques is not None]
            if not known:
                print(f"| {recipe} | {fraction:g} | no estimate | | | | | |")
                continue

            def ratio(figures: list[tuple[float | None, int]]) -> str:
                good = [one / max(truth, 1) for one, truth in figures if one is not None]
                none = "" if len(good) == len(figures) else f" ({len(good)} of {len(figures)})"
                return f"{np.mean(good):.2f}{none}" if good else "–"

            truth = [t.drawn.uniques for t in known]
            mixture = [one.estimate for t in known if (one := t.estimate.uniques)]
            ends = [(one.low, one.high) for t in known if (one := t.estimate.uniques)]
            share = np.array(ends) / np.maximum(truth, 1)[:, None]
            low, high = share.mean(axis=0)
            held = sum(holds(t)[0] for t in known)
            cells = [ratio(list(zip(mixture, truth, strict=True)))]
            cells += [
                ratio([(t.models[name], t.drawn.uniques) for t in known])
                for name in ("Zayatz", "Pitman", "SNB")
            ]
            print(
                f"| {recipe} | {fraction:g} | {' | '.join(cells)} | {low:.2f}–{high:.2f} | "
                f"{held} of {len(known)} |"
            )
    every = [holds(t) for t in found if t.estimate.uniques is not None]
    uniques, links = (sum(column) for column in zip(*every, strict=True))
    print(f"\n{len(every)} samples: uniques held {uniques}, links held {links}")


if __name__ == "__main__":
    main()
