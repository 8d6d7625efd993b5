"""Worlds of a release's groups: all ways to give the members of each group its sensitive rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import factorial


def count_worlds(rows_of_group: Sequence[Sequence[int]]) -> int:
    """Return how many worlds differ from each other."""
    worlds = 1
    for rows in rows_of_group:
        worlds *= factorial(len(rows))
        for count in Counter(rows).values():
            worlds //= factorial(count)
    return worlds


def all_worlds(rows_of_group: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, ...]]]:
    """Every world: for each group the rows of its members, in the members' order."""
    arrangements = [list(distinct_arrangements(sorted(rows))) for rows in rows_of_group]
    for world in product(*arrangements):
        yield list(world)


def distinct_arrangements(rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The distinct orders of some rows, each once."""
    left = Counter(rows)
    chosen: list[int] = []

    def extend() -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(rows):
            yield tuple(chosen)
            return
        for row in list(left):
            if left[row]:
                left[row] -= 1
                chosen.append(row)
                yield from extend()
                chosen.pop()
                left[row] += 1

    yield from extend()
