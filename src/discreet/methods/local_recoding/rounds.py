"""Rounds of priced greedy choice, each on what the last one left, up to a higher ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.methods.local_recoding.candidates import Candidates, find_candidates
from discreet.methods.local_recoding.greedy import choose
from discreet.methods.local_recoding.group_needs import Needs
from discreet.methods.local_recoding.hulls import Space
from discreet.methods.local_recoding.remaining_rows import place_left
from discreet.methods.local_recoding.unit_groups import UnitGrouping
from discreet.typing import Floats

TOP = 1.0  # what a row pays for ``*`` in every cell


@dataclass(frozen=True, eq=False)
class Opening:
    """The candidates and prices of the first round, which also give the bound."""

    candidates: Candidates
    price: Floats


def open_candidates(space: Space, needs: Needs, ceiling: float, limit: int) -> Opening:
    """All candidates up to a ceiling and the first prices."""
    candidates = find_candidates(space, needs, ceiling, limit)
    return Opening(candidates, candidates.cheapest)


def group_in_rounds(
    space: Space, needs: Needs, first: Opening, ceilings: Sequence[float], limit: int
) -> UnitGrouping:
    """Grouping of at least the rows that are needed; the table must have as many.

    Groups have the values that are needed, but for those in which the last rows end up.
    In each round what is left is offered the candidates among itself; at last, rows that are too
    few for a group go where they cost least.
    """
    nobody = np.full(len(space.rows), np.inf)
    unit, group, rows, left = choose(first.candidates, space.rows, needs, first.price, nobody)
    groups = len(first.candidates.cost)
    for ceiling in ceilings:
        units = np.flatnonzero(left)
        if left.sum() < needs.rows:
            break
        rest = space.take(units, left[units])
        rest_needs = needs.take(units)
        opening = open_candidates(rest, rest_needs, ceiling, limit)
        nobody = np.full(len(units), np.inf)
        more = choose(opening.candidates, rest.rows, rest_needs, opening.price, nobody)
        unit = np.concatenate((unit, units[more[0]]))
        group = np.concatenate((group, more[1] + groups))
        rows = np.concatenate((rows, more[2]))
        groups += len(opening.candidates.cost)
        left = np.zeros_like(left)
        left[units] = more[3]
    if left.any():
        unit, group, rows = place_left(space, needs, unit, group, rows, left)
    return UnitGrouping.of(space, unit, group, rows)
