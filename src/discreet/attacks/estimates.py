"""Estimates from targets drawn at random: intervals that hold the exact figure at a stated rate.

Targets are drawn with replacement, so both intervals hold at any size of the sample: that of a
share by Clopper and Pearson (1934), that of a mean of beliefs by Maurer and Pontil (2009, theorem
4), whose width follows the variance of the beliefs that were found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.typing import AnyInts, Floats

if TYPE_CHECKING:
    from discreet.releases.adversary_view import AdversaryView

TARGETS = 4000  # drawn
RATE = 0.95  # at least, of intervals that hold the exact figure
STEPS = 40  # of bisection: more digits than are shown

Interval = tuple[float, float]


def drawn_targets(view: AdversaryView, rng: np.random.Generator) -> AdversaryView:
    """Return the view with some of its targets, drawn with replacement; a small view as it is."""
    if view.targets <= TARGETS:
        return view
    drawn = rng.integers(0, view.targets, TARGETS)
    return replace(
        view,
        place_of_target=view.place_of_target[drawn],
        truth={name: codes[drawn] for name, codes in view.truth.items()},
        estimated=True,
    )


def share_interval(successes: int, trials: int) -> Interval:
    """Return the interval of a share, so many of the drawn targets having been counted."""
    if not trials:
        return 0.0, 1.0
    rest = (1 - RATE) / 2
    coefficient = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    coefficient = coefficient[-1] - coefficient - coefficient[::-1]  # ln (trials over k)
    k = np.arange(trials + 1)

    def at_most(most: int, share: float) -> float:
        """Return the chance of at most so many successes."""
        log = coefficient + k * math.log(share) + (trials - k) * math.log1p(-share)
        return float(np.exp(log[: most + 1]).sum())

    low = _crossing(lambda share: at_most(successes - 1, share), 1 - rest) if successes else 0.0
    high = _crossing(lambda share: at_most(successes, share), rest) if successes < trials else 1.0
    return low, high


def _crossing(falling: Callable[[float], float], level: float) -> float:
    """Return where a function that falls from 1 to 0 crosses a level."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > level else (low, middle)
    return (low + high) / 2


def mean_interval(belief: Floats, count: AnyInts) -> Interval:
    """Return the interval of the mean belief, each line having been drawn so many times."""
    trials = int(count.sum())
    if trials < 2:
        return 0.0, 1.0
    mean = float(belief @ count) / trials
    variance = float(np.square(belief - mean) @ count) / (trials - 1)
    rest = math.log(4 / (1 - RATE))
    reach = math.sqrt(2 * variance * rest / trials) + 7 * rest / (3 * (trials - 1))
    return max(mean - reach, 0.0), min(mean + reach, 1.0)
