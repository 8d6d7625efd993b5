"""What an attacker who knows all quasi-identifiers sees of a release, for the report.

Two distributions, from the counts that the audit derived from published files: how large the groups
are that people are in, and how much such an attacker believes in the value that each of them has,
the value's share of the group. A masked cell (``*``) is no value, and values that the guarantees
let be disclosed are not counted. A decomposed release publishes no
shares; of it only the sizes are known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np
from numpy.typing import NDArray

from discreet.releases.kinds.base import Kind, View
from discreet.table.counts import ValueCounts
from discreet.typing import Bools

BINS = 20  # of a belief, in equal steps from 0 to 1
STEPS = (1, 2, 3, 4, 5, 7)  # bounds of sizes, in every power of ten
MASKED = "*"


@dataclass(frozen=True)
class SizeBand:
    """The groups of some sizes."""

    low: int
    high: int  # inclusive
    groups: int
    people: int


@dataclass(frozen=True)
class Shares:
    """What an attacker who knows the groups believes of the values that people have."""

    people: int
    greatest: float
    histogram: tuple[int, ...]  # people by belief
    squares: Mapping[int, int]  # by size of group: Σ (people with a value)²

    @property
    def mean(self) -> float:
        """The mean belief; the same figure however the groups were dealt out to parts."""
        return fsum(found / size for size, found in self.squares.items()) / max(self.people, 1)

    def __add__(self, other: Shares) -> Shares:
        sizes = [*self.squares, *other.squares]
        return Shares(
            self.people + other.people,
            max(self.greatest, other.greatest),
            tuple(a + b for a, b in zip(self.histogram, other.histogram, strict=True)),
            {size: self.squares.get(size, 0) + other.squares.get(size, 0) for size in sizes},
        )


@dataclass(frozen=True)
class Picture:
    """The groups of a release, and the beliefs that their counts give."""

    sizes: Mapping[str, tuple[SizeBand, ...]] = field(default_factory=dict)  # by table
    beliefs: Mapping[str, Shares] = field(default_factory=dict)  # by sensitive attribute
    alike: bool = True  # whether the people of a group can't be told apart by their cells

    @classmethod
    def joined(cls, parts: Sequence[Picture]) -> Picture:
        """The picture of groups that were looked at in several parts."""
        bands: dict[str, list[SizeBand]] = {}
        beliefs: dict[str, Shares] = {}
        for part in parts:
            for table, own in part.sizes.items():
                bands.setdefault(table, []).extend(own)
            for name, shares in part.beliefs.items():
                beliefs[name] = beliefs[name] + shares if name in beliefs else shares
        sizes = {table: _joined_bands(found) for table, found in bands.items()}
        return cls(sizes, beliefs, all(part.alike for part in parts))


def picture_of(
    views: Mapping[str, View], kind: Kind, disclosable: Mapping[str, Collection[str | None]]
) -> Picture:
    """The picture of a release's views, by table; of values that are not disclosable."""
    beliefs: dict[str, Shares] = {}
    for view in views.values():
        for name, values in view.counts.values.items():
            if kind.publishes_counts and len(values.value):
                left_out = {MASKED, *disclosable.get(name, ())}
                covered = np.array([v not in left_out for v in view.domains[name].values], bool)
                beliefs[name] = _shares(values, view.counts.size, covered)
    sizes = {name: size_bands(view.counts.size) for name, view in views.items()}
    return Picture(sizes, beliefs, kind.makes_alike)


def size_bands(size: NDArray[np.int64]) -> tuple[SizeBand, ...]:
    """Group sizes in bands that grow with them; none is empty at the ends."""
    return _bands(size, np.ones(len(size), np.int64), size)


def _joined_bands(parts: Sequence[SizeBand]) -> tuple[SizeBand, ...]:
    figures = np.array([(band.low, band.groups, band.people) for band in parts], np.int64)
    return _bands(*figures.reshape(-1, 3).T)


def _bands(
    size: NDArray[np.int64], groups: NDArray[np.int64], people: NDArray[np.int64]
) -> tuple[SizeBand, ...]:
    """Bands of entries, each of some groups of about a size with so many people."""
    if not len(size):
        return ()
    edges = [1]
    while edges[-1] <= size.max():
        power = 10 ** (len(str(edges[-1])) - 1)
        edges.append(next(s * power for s in (*STEPS, 10) if s * power > edges[-1]))
    band = np.searchsorted(edges, size, side="right") - 1
    groups = np.bincount(band, groups, len(edges) - 1).astype(np.int64)
    people = np.bincount(band, people, len(edges) - 1).astype(np.int64)
    used = np.flatnonzero(groups)
    return tuple(
        SizeBand(edges[i], edges[i + 1] - 1, int(groups[i]), int(people[i]))
        for i in range(used[0], used[-1] + 1)
    )


def _shares(values: ValueCounts, size: NDArray[np.int64], covered: Bools) -> Shares:
    known = covered[values.value]
    count, own_size = values.count[known], size[values.class_of_entry[known]]
    belief = count / own_size
    place = np.clip((belief * BINS - 1e-9).astype(np.int64), 0, BINS - 1)
    histogram = np.bincount(place, count, BINS).astype(np.int64)
    sizes = np.flatnonzero(np.bincount(own_size))
    squares = np.zeros(int(own_size.max(initial=0)) + 1, np.int64)
    np.add.at(squares, own_size, count**2)  # exact, where a float of large classes is not
    return Shares(
        int(histogram.sum()),
        float(belief.max(initial=0.0)),
        tuple(int(count) for count in histogram),
        dict(zip(sizes.tolist(), squares[sizes].tolist(), strict=True)),
    )
