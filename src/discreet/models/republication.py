"""What a release of a series promises by itself; across releases the audit of a series judges.

These are promises of methods, not requirements of jobs: merging two groups that keep them does not
give a group that keeps them, so no search that generalizes step by step can aim at them.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from discreet.data.counts import ValueCounts
from discreet.models.requirement import TOLERANCE, AttributeRequirement, Domain, Figures

Buckets = Literal["distinct", "equal-multiplicity"]


class MInvariance(AttributeRequirement):
    """Every group has at least ``m`` values, each once (or each equally often)."""

    name: ClassVar[str] = "m-invariance"
    figure_name: ClassVar[str] = "m"

    m: int = Field(ge=1, description="The least number of values in a group.")
    buckets: Buckets = Field(
        "distinct", description="Whether each value occurs once, or all of them equally often."
    )

    def measure(self, values: ValueCounts, size: NDArray[np.int64], domain: Domain) -> Figures:
        distinct = np.diff(values.start)
        most = _extreme(np.maximum, values)
        even = most <= 1 if self.buckets == "distinct" else most == _extreme(np.minimum, values)
        return np.where(even, distinct, 0).astype(np.float64)

    def accepts(self, figures: Figures) -> NDArray[np.bool_]:
        return figures >= self.m

    def sentence(self) -> str:
        how = "no two alike" if self.buckets == "distinct" else "each equally often"
        return (
            f"Every group is published with at least {self.m} values of {self.subject}, {how}; in "
            "every release of the series a person stands among the same values, or among values "
            "that are all new."
        )


class RhoDifference(AttributeRequirement):
    """No value fills more than the share ``rho`` of a group."""

    name: ClassVar[str] = "rho-different"
    figure_name: ClassVar[str] = "rho"
    smaller_is_better: ClassVar[bool] = True

    rho: float = Field(gt=0, le=1, description="The greatest belief that a reader may reach.")

    def measure(self, values: ValueCounts, size: NDArray[np.int64], domain: Domain) -> Figures:
        return _extreme(np.maximum, values) / np.maximum(size, 1)

    def accepts(self, figures: Figures) -> NDArray[np.bool_]:
        return figures <= self.rho + TOLERANCE

    def sentence(self) -> str:
        return (
            f"No value of {self.any_subject} fills more than {self.rho:.3g} of a group; nor does a "
            "reader of all releases of the series, who knows how values follow each other, reach "
            "a greater belief about anybody."
        )


def _extreme(pick: np.ufunc, values: ValueCounts) -> NDArray[np.int64]:
    """The greatest or the least count of every group; no group is empty."""
    if not values.classes:
        return np.zeros(0, np.int64)
    result: NDArray[np.int64] = pick.reduceat(values.count, values.start[:-1])
    return result
