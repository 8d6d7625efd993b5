"""Counts over published tables from which the figures of a manifest follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReleaseTally:
    """Counts over published tables from which all figures follow; those of parts add up."""

    classes: Mapping[str, int] = field(default_factory=dict)  # by table, or "" for the release
    squares: Mapping[str, int] = field(default_factory=dict)  # Σ |class|², likewise
    masked: Mapping[str, int] = field(default_factory=dict)  # by protected attribute: cells '*'
    counterfeits: int = 0
    closeness: float = 0.0  # of the worst class, of projections
    escapes: frozenset[str] = frozenset()  # columns with a backslash in some cell
    rows: Mapping[str, int] = field(default_factory=dict)  # by table, but those of every shard

    def __add__(self, other: ReleaseTally) -> ReleaseTally:
        return ReleaseTally(
            _summed(self.classes, other.classes),
            _summed(self.squares, other.squares),
            _summed(self.masked, other.masked),
            self.counterfeits + other.counterfeits,
            max(self.closeness, other.closeness),
            self.escapes | other.escapes,
            _summed(self.rows, other.rows),
        )


def _summed(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {n: some.get(n, 0) + others.get(n, 0) for n in dict.fromkeys([*some, *others])}
