"""Which of many runs of numbers are equal."""

from __future__ import annotations

import numpy as np

from discreet.table.kernels import kernel
from discreet.typing import Ints, Ints32


@kernel(wraps=True)
def distinct_runs(start: Ints, run: Ints32) -> tuple[Ints, Ints]:
    """Number equal runs alike, by a table of hashes; also the first of each."""
    runs = len(start) - 1
    slots = 16
    while slots < 2 * runs:
        slots *= 2
    held = np.full(slots, -1, np.int64)  # the number of the run in each slot
    first = np.empty(runs, np.int64)
    number = np.empty(runs, np.int64)
    count = 0
    for one in range(runs):
        mixed = np.uint64(14695981039346656037)
        for at in range(start[one], start[one + 1]):
            mixed = (mixed ^ np.uint64(run[at] + 1)) * np.uint64(1099511628211)
        slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(slots - 1))
        while True:
            known = held[slot]
            if known < 0:
                held[slot] = count
                first[count] = one
                number[one] = count
                count += 1
                break
            other = first[known]
            alike = start[other + 1] - start[other] == start[one + 1] - start[one]
            at = 0
            while alike and at < start[one + 1] - start[one]:
                alike = run[start[other] + at] == run[start[one] + at]
                at += 1
            if alike:
                number[one] = known
                break
            slot = (slot + 1) & (slots - 1)
    return number, first[:count].copy()
