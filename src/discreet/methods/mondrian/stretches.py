"""Stretches: units that lie side by side and are cut on their own.

A round reads and writes every open unit many times. Once parts are much shorter than the table, it
is therefore taken apart: the parts of a stretch are cut to the end while the processor's cache
holds them, and what is known of their units lies side by side in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from discreet.methods.mondrian.regions import Attributes, Regions, measure_parts
from discreet.methods.mondrian.units import Judge
from discreet.typing import Codes, Ints

CACHED = 2**17  # units whose arrays the processor's cache holds
SHRUNK = 8  # how many times shorter the longest part is before a stretch is taken apart


class Stretch(NamedTuple):
    """Consecutive places of the order of all units."""

    base: int  # its first place
    number: Codes  # (units,) of each unit of the stretch among all
    order: Codes  # (units,) of the stretch; cuts sort it
    attributes: Attributes
    judge: Judge

    @staticmethod
    def whole(order: Codes, attributes: Attributes, judge: Judge) -> Stretch:
        """All units."""
        return Stretch(0, np.arange(len(order), dtype=np.int32), order, attributes, judge)

    def measured(self, start: Ints, end: Ints, size: Ints) -> Regions:
        """The parts in some ranges, with so many rows."""
        return measure_parts(self.order, start, end, size, self.attributes, self.judge.least)

    def keep_order(self, numbers: Codes) -> None:
        """Enter the numbers of all units of the stretch at their places."""
        numbers[self.base : self.base + len(self.order)] = self.number.take(self.order)

    def too_long(self, parts: Regions) -> bool:
        """Return whether its parts are so short that it should be taken apart."""
        longest = int((parts.end - parts.start).max())
        return len(self.order) > CACHED and SHRUNK * longest < len(self.order)

    def apart(self, parts: Regions) -> Iterator[tuple[Stretch, Regions]]:
        """Take it apart: shorter stretches and the parts in each."""
        parts = parts.take(np.argsort(parts.start))
        most = max(CACHED, int((parts.end - parts.start).max()))
        first = 0
        while first < len(parts.start):
            low = int(parts.start[first])
            last = int(np.searchsorted(parts.end, low + most, side="right"))
            inside = parts.take(np.arange(first, last))
            inside = inside._replace(start=inside.start - low, end=inside.end - low)
            yield self._between(low, low + int(inside.end[-1])), inside
            first = last

    def _between(self, low: int, high: int) -> Stretch:
        unit = self.order[low:high]
        key = self.attributes.key.take(unit, axis=1)
        return Stretch(
            self.base + low,
            self.number[unit],
            np.arange(len(unit), dtype=np.int32),
            self.attributes._replace(key=key),
            self.judge.renumbered(unit),
        )
