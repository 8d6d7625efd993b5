"""From what was decided about families to groups and counterfeits of the new release."""

from __future__ import annotations

import numpy as np

from discreet.methods.series.rho_different.completion import BLANK, TOLERANCE, solve
from discreet.methods.series.rho_different.families import Families, Verdicts
from discreet.methods.shared.different_values import rank_in_run
from discreet.typing import Codes, Ints


def complete(
    families: Families, verdicts: Verdicts, codes: Codes, rho: float
) -> tuple[Ints, tuple[Ints, Ints], float]:
    """The groups of all survivors who are published, counterfeits, and the greatest belief.

    (rows,) the group of each row, −1 for newcomers and who is held back; the group and the value of
    each counterfeit.
    """
    member = families.shapes.member
    sizes = np.diff(families.start)
    family = np.repeat(np.arange(families.count), sizes)  # of each member
    present = verdicts.published[member]
    person, family = member[present], family[present]
    row = families.row_of[person]
    value = codes[row].astype(np.int64)
    large = verdicts.too_large[family]
    truth = np.full(len(families.row_of), -1, np.int64)
    truth[person[~large]] = value[~large]
    found = solve(
        families.releases,
        families.shapes,
        families.start,
        truth,
        verdicts.greatest,
        families.matrix,
        rho,
    )
    party, count = _parties(family, verdicts.party[person])
    family_of_party = np.zeros(count, np.int64)
    family_of_party[party] = family
    large = verdicts.too_large[family_of_party]
    share = _greatest_share(party, value, count, len(families.matrix))
    fakes = np.where(large, 0, found.fakes[family_of_party])
    fakes = np.where(large & (share > rho + TOLERANCE), BLANK, fakes)
    bound = np.where(fakes == BLANK, rho, share)[large]
    begin = found.start[family_of_party]
    group, of_fake, value_of_fake = _publish(
        party, value, fakes, begin, found.value, len(families.matrix)
    )
    result = np.full(len(families.family_of_row), -1, np.int64)
    result[row] = group
    return result, (of_fake, value_of_fake), max(found.greatest, float(bound.max(initial=0.0)))


def _parties(family: Ints, party: Ints) -> tuple[Ints, int]:
    """One number for each party of all families, and how many there are."""
    if not len(family):
        return family, 0
    key = family * (int(party.max()) + 1) + party
    numbers, inverse = np.unique(key, return_inverse=True)
    return inverse.astype(np.int64), len(numbers)


def _greatest_share(party: Ints, value: Ints, count: int, values: int) -> np.ndarray:
    """The share of the most frequent value of each party."""
    key, times = np.unique(party * values + value, return_counts=True)
    most = np.zeros(count, np.int64)
    np.maximum.at(most, key // values, times)
    return most / np.maximum(np.bincount(party, minlength=count), 1)


def _publish(
    party: Ints,  # (people,)
    value: Ints,
    fakes: Ints,  # (parties,) how many counterfeits, or BLANK
    begin: Ints,  # (parties,) where they begin
    value_of_fake: Ints,
    values: int,
) -> tuple[Ints, Ints, Ints]:
    """The group of each person, and the group and value of each counterfeit."""
    size = np.bincount(party, minlength=len(fakes))
    blank = fakes == BLANK
    first = np.concatenate([[0], np.cumsum(np.where(blank, size, 1))])[:-1]  # group of each party
    order = np.argsort(party, kind="stable")
    rank = np.empty(len(party), np.int64)
    rank[order] = rank_in_run(party[order])
    group = first[party] + np.where(blank[party], rank, 0)
    joined = np.flatnonzero(fakes > 0)
    times = fakes[joined]
    of_joined = np.repeat(first[joined], times)
    place = np.repeat(begin[joined], times) + rank_in_run(of_joined)
    alone = np.flatnonzero(blank[party])
    others = (value[alone, None] + np.arange(1, values)) % values  # all but the person's own
    return (
        group,
        np.concatenate([of_joined, np.repeat(group[alone], values - 1)]),
        np.concatenate([value_of_fake[place], others.reshape(-1)]).astype(np.int64),
    )
