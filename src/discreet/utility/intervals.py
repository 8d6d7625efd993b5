"""Intervals of a share that was estimated from targets drawn at random (Clopper, Pearson, 1934)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

RATE = 0.95  # at least, of intervals that hold the exact figure
STEPS = 40  # of bisection: more digits than are shown

Interval = tuple[float, float]


def share_interval(successes: int, trials: int, rate: float = RATE) -> Interval:
    """Return the interval of a share, so many of the drawn targets having been counted."""
    if not trials:
        return 0.0, 1.0
    rest = (1 - rate) / 2
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
