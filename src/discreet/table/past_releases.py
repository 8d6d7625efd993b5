"""Earlier releases as a method may use them: people by number, groups by their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.typing import Ints, Ints32


@dataclass(frozen=True, eq=False)
class PastRelease:
    """One earlier release: each person's group, and the published values of each group."""

    person: Ints32  # (people published,)
    group: Ints32  # (people published,)
    start: Ints  # (groups + 1,)
    value: Ints32  # (entries,) the history's codes, ascending in a group
    count: Ints32  # (entries,) counterfeits included

    @property
    def groups(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> Ints:
        """The people in each group; counterfeits are not counted."""
        return np.bincount(self.group, minlength=self.groups).astype(np.int64)


@dataclass(frozen=True, eq=False)
class History:
    """All earlier releases, the people of the table now, and one dictionary for all of them."""

    releases: Sequence[PastRelease]
    person_of_row: Ints32  # (rows,) the same person has the same number everywhere
    people: int  # the number of persons, in the past or now
    values: tuple[str | None, ...]  # the dictionary: the table's, which has all earlier values
    fixed: bool = False  # whether an earlier release fixed the dictionary as the series' domain
