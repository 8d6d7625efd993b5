"""Exact counts of worlds: persons who take places in groups, one person after the other.

A world gives every person one option: a place in one group, or a row in each of several tables.
The state is the number of places that are left, so worlds that leave the same places are summed at
once; a pass forward and one backward give the share of the worlds in which each option is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from discreet.table.budgets import BEYOND
from discreet.typing import AnyInts, Floats, Ints


@dataclass(frozen=True, eq=False)
class Options:
    """What some people who are alike may take: each takes one."""

    place: Ints  # (options, places) where one is taken
    people: int = 1
    weight: Floats | None = None  # (options,) of a world that takes it; None where all are alike
    # (options,) Of each kind of options that there are, at least one person takes one.
    kind: AnyInts | None = None


@dataclass(eq=False)
class Budget:
    """The moves that are left to count worlds, each from one state to the next."""

    moves: int


def count_worlds(
    room: Sequence[int],  # (places,) how many people take each at most
    choices: Sequence[Options],
    most_states: int,
    *,
    fills: bool = True,  # whether every place is taken in the end
    budget: Budget | None = None,
) -> list[Floats] | None:
    """Return for each choice the share of worlds in which a person takes each option.

    None where there are too many states or moves, or no world.
    """
    # A state is one number, the places that are left are its digits; and the kinds that some
    # person of a choice has taken, as bits.
    widths = [number + 1 for number in room]
    units = list(accumulate(widths, mul, initial=1))
    marks = 1 << max((len(np.unique(c.kind)) for c in choices if c.kind is not None), default=0)
    whole: Any = np.int64 if units[-1] * marks < BEYOND else object
    unit, width = np.array(units[:-1], whole), np.array(widths, whole)
    state, taken_kinds = np.array([units[-1] - 1], whole), np.zeros(1, whole)
    weight = np.ones(1)
    steps: list[tuple[int, int, Ints, Ints, Ints, Floats, Floats]] = []
    # The weight of the ways to each state, person by person.
    for number, choice in enumerate(choices):
        options = len(choice.place)
        bit = np.zeros(options, whole)
        if choice.kind is not None:
            _, kind = np.unique(choice.kind, return_inverse=True)
            bit = np.array([1 << int(place) for place in kind], whole)
        every = int(np.bitwise_or.reduce(bit)) if options else 0
        used = unit[choice.place].sum(axis=1)
        own_weight = np.ones(options) if choice.weight is None else choice.weight
        for person in range(choice.people):
            if budget is not None:
                budget.moves -= len(state) * options
                if budget.moves < 0:
                    return None
            left = state[:, None, None] // unit[choice.place] % width[choice.place]
            before, option = np.nonzero((left > 0).all(axis=2))
            kinds: Any = taken_kinds[before] | bit[option]
            if person == choice.people - 1:
                complete = np.flatnonzero(kinds == every)
                before, option, kinds = before[complete], option[complete], kinds[complete] * 0
            key = (state[before] - used[option]) * (every + 1) + kinds
            following, after = np.unique(key, return_inverse=True)
            if not len(following) or len(following) > most_states:
                return None
            steps.append((number, len(state), before, option, after, weight, own_weight))
            reached = np.bincount(after, weight[before] * own_weight[option], len(following))
            weight = reached / reached.max()
            state, taken_kinds = following // (every + 1), following % (every + 1)
    if fills and state[-1] > 0:
        return None
    # The weight of the ways on from each state; both give the shares.
    shares: list[Floats] = [np.zeros(0)] * len(choices)
    ahead = np.ones(len(state))
    for number, states, before, option, after, weight, own_weight in reversed(steps):
        onward = own_weight[option] * ahead[after]
        share = np.bincount(option, weight[before] * onward, len(own_weight))
        shares[number] = share / share.sum()  # the people of a choice have equal shares
        ahead = np.bincount(before, onward, states).astype(np.float64)
        ahead /= ahead.max()
    return shares
