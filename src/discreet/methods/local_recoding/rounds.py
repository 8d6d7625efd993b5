"""Rounds of priced greedy choice, each on what the last one left, up to a higher ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.methods.local_recoding.blocks import cut_blocks, first_block, is_large
from discreet.methods.local_recoding.candidates import LOWERED, Candidates, find_candidates
from discreet.methods.local_recoding.greedy import choose
from discreet.methods.local_recoding.group_needs import Needs
from discreet.methods.local_recoding.hulls import Space
from discreet.methods.local_recoding.nearest_groups import join_nearest
from discreet.methods.local_recoding.remaining_rows import place_left
from discreet.methods.local_recoding.unit_groups import UnitGrouping
from discreet.typing import Floats

TOP = 1.0  # what a row pays for ``*`` in every cell
FIRST_CEILING = 0.12
CEILINGS = (0.25, 0.5, 1.0)  # of the later rounds, on what is left
LEAST_CEILING = 0.01  # of the first round, from which those of a large table rise
FEW_LEFT = 0.02  # the share of a large table's rows that join groups of others


@dataclass(frozen=True, eq=False)
class Opening:
    """The candidates and prices of the first round, which also give the bound."""

    candidates: Candidates
    price: Floats


def open_candidates(space: Space, needs: Needs, ceiling: float, limit: int) -> Opening:
    """All candidates up to a ceiling and the first prices."""
    candidates = find_candidates(space, needs, ceiling, limit)
    return Opening(candidates, candidates.cheapest)


def fitting_ceiling(space: Space, needs: Needs, ceiling: float, limit: int) -> float:
    """Return a ceiling up to which the candidates of a large table should fit in a limit.

    It is the one up to which those of a block fit in the block's share of the limit.
    """
    block = first_block(space, needs.rows)
    share = limit * len(block) // len(space.rows)
    part = space.take(block, space.rows[block])
    return find_candidates(part, needs.take(block), ceiling, share).ceiling


def later_ceilings(space: Space, first: Opening) -> Sequence[float]:
    """The ceilings of the rounds after the first; those of a large table rise by small steps.

    In a large table hardly two tuples may be equal, and most candidates are expensive: they are
    found only for what the cheap ones leave.
    """
    rising: list[float] = []
    ceiling = max(first.candidates.ceiling, LEAST_CEILING) / LOWERED
    while is_large(space) and ceiling < FIRST_CEILING * (1 + 1e-9):
        rising.append(ceiling)
        ceiling /= LOWERED
    return *rising, *CEILINGS


def group_in_rounds(space: Space, needs: Needs, first: Opening, limit: int) -> UnitGrouping:
    """Grouping of at least the rows that are needed; the table must have as many.

    Groups have the values that are needed, but for those in which the last rows end up.
    In each round what is left is offered the candidates among itself, block by block; at last, rows
    that are too few for a group go where they cost least. In a large table the last few rows would
    have to pay much for groups of their own, so all of them join others.
    """
    no_home = np.full(len(space.rows), np.inf)
    *pieces, left = choose(first.candidates, space.rows, needs, first.price, no_home)
    found = [tuple(pieces)]
    groups = len(first.candidates.cost)
    few = int(FEW_LEFT * space.rows.sum()) if is_large(space) else 0
    for ceiling in later_ceilings(space, first):
        if left.sum() < max(needs.rows, few):
            break
        units = np.flatnonzero(left)
        for block in cut_blocks(space.take(units, left[units]), needs.rows):
            own = units[block]
            rest, rest_needs = space.take(own, left[own]), needs.take(own)
            opening = open_candidates(rest, rest_needs, ceiling, limit)
            no_home = np.full(len(own), np.inf)
            unit, group, rows, left[own] = choose(
                opening.candidates, rest.rows, rest_needs, opening.price, no_home
            )
            found.append((own[unit], group + groups, rows))
            groups += len(opening.candidates.cost)
    unit, group, rows = (np.concatenate(one) for one in zip(*found, strict=True))
    if not left.any():
        return UnitGrouping.of(space, unit, group, rows)
    if is_large(space) and len(unit):
        return join_nearest(UnitGrouping.of(space, unit, group, rows), left)
    return UnitGrouping.of(space, *place_left(space, needs, unit, group, rows, left))
