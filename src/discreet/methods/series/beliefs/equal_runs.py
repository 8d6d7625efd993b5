"""Which of many runs of numbers are equal."""

from __future__ import annotations

import numpy as np

from discreet.typing import Ints, Ints32


def distinct_runs(start: Ints, run: Ints32) -> tuple[Ints, Ints]:
    """Number equal runs alike, in the order of their first; also the first of each."""
    content = run.tobytes()
    ends = (start * run.itemsize).tolist()
    number_of: dict[bytes, int] = {}
    number = np.empty(len(start) - 1, np.int64)
    for one in range(len(number)):
        own = content[ends[one] : ends[one + 1]]
        number[one] = number_of.setdefault(own, len(number_of))
    return number, np.unique(number, return_index=True)[1]
