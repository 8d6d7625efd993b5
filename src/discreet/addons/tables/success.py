"""How often an attacker who makes a guess is right, with what the table adds to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.attacks.base import Criterion, wilson
from discreet.releases.singling_out import Interval
from discreet.statements import Statement


@dataclass(frozen=True)
class Rate:
    """The guesses of an attacker that are right, and Wilson's interval of their share."""

    right: float
    guesses: int

    @property
    def share(self) -> float:
        """The share of guesses that are right."""
        return self.right / max(self.guesses, 1)

    @property
    def interval(self) -> Interval:
        """The interval that has the attacker's rate with a probability of 95 %."""
        return wilson(self.right, self.guesses)

    def to_dict(self) -> dict[str, Any]:
        """The rate as plain data."""
        return {"rate": self.share, "interval": list(self.interval), "guesses": self.guesses}


@dataclass(frozen=True)
class Success:
    """One attacker's guesses about persons in the table."""

    attack: str
    criterion: Criterion
    aim: str  # a column, or in words
    knowledge: Statement
    success: Rate
    baseline: Rate  # of guesses without the table
    # Of the same guesses, as far as they are comparable, about persons of the holdout; and about
    # as many persons of the original, where the number of persons matters.
    control: Rate | None = None
    beside_control: Rate | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def excess(self) -> tuple[float, Interval] | None:
        """What is due to being in the table: (s − c)/(1 − c), with its interval; never below 0.

        None without a holdout, or where every guess about the holdout is right.
        """
        if self.control is None or self.control.share >= 1:
            return None
        comparable = self.beside_control or self.success
        s, c = comparable.share, self.control.share
        value = (s - c) / (1 - c)
        # The error is propagated from half the widths of both intervals.
        of_s, of_c = (_half(rate.interval) for rate in (comparable, self.control))
        error = math.hypot(of_s / (1 - c), of_c * (1 - s) / (1 - c) ** 2)
        low, high = (min(max(end, 0.0), 1.0) for end in (value - error, value + error))
        return min(max(value, 0.0), 1.0), (low, high)

    @property
    def gain(self) -> float:
        """How much more often guesses are right than those without the table."""
        return self.success.share - self.baseline.share

    @property
    def is_significant(self) -> bool:
        """Whether the success is beyond chance: above that on the holdout, else on the baseline."""
        if self.control is not None:
            return self.excess is not None and self.excess[1][0] > 0
        return self.success.interval[0] > self.baseline.interval[1]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        excess = self.excess
        return {
            "attack": self.attack,
            "criterion": str(self.criterion),
            "aim": self.aim,
            "knowledge": self.knowledge,
            "success": self.success.to_dict(),
            "baseline": self.baseline.to_dict(),
            **({} if self.control is None else {"control": self.control.to_dict()}),
            **({} if excess is None else {"excess": {"rate": excess[0], "interval": excess[1]}}),
            **dict(self.details),
        }


def _half(interval: Interval) -> float:
    return (interval[1] - interval[0]) / 2
