"""deFinetti learns what loops over people, values and assignments learn."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from discreet.attacks import definetti
from discreet.table.counts import sum_counts
from discreet.typing import Ints

GROUPS, MEMBERS, VALUES = 40, 4, 5
SIZES = (2, 3, 4, 1, 5)  # of five quasi-identifiers


def people(seed: int) -> tuple[Ints, Ints]:
    """Quasi-identifiers and sensitive values; in a third of the groups all look alike."""
    rng = np.random.default_rng(seed)
    count = GROUPS * MEMBERS
    values = np.stack([rng.integers(0, size, count) for size in SIZES])
    values[:, : count // 3] = values[:, : count // 3 : MEMBERS].repeat(MEMBERS, axis=1)[
        :, : count // 3
    ]
    return values, (values[0] + values[1] + rng.integers(0, 3, count)) % VALUES


def in_group(weights: list[dict[int, float]], held: Counter[int]) -> list[dict[int, float]]:
    """The beliefs about the members of a group, over all assignments of its values."""
    total, shares = 0.0, [dict.fromkeys(held, 0.0) for _ in weights]
    for world in set(itertools.permutations(held.elements())):
        mass = math.prod(weight[value] for weight, value in zip(weights, world, strict=True))
        total += mass
        for share, value in zip(shares, world, strict=True):
            share[value] += mass
    return [{value: mass / total for value, mass in share.items()} for share in shares]


def likely(of_person: Ints, s: int, seen: Counter[tuple[int, int, int]], total: int) -> float:
    """The likelihood of a person's quasi-identifiers where the value is s."""
    return math.prod(
        (1 + seen[column, value, s]) / (total + SIZES[column])
        for column, value in enumerate(of_person.tolist())
    )


def learnt_by_loops(values: Ints, sensitive: Ints) -> list[dict[int, float]]:
    """The beliefs after the last round."""
    groups = [range(g * MEMBERS, (g + 1) * MEMBERS) for g in range(GROUPS)]
    held = [Counter(sensitive[list(group)].tolist()) for group in groups]
    belief = [
        {s: n / MEMBERS for s, n in held[person // MEMBERS].items()}
        for person in range(len(sensitive))
    ]
    for _ in range(definetti.ROUNDS):
        seen: Counter[tuple[int, int, int]] = Counter()
        total: Counter[int] = Counter()
        for person, of_person in enumerate(belief):
            for s, share in of_person.items():
                total[s] += share
                for column, value in enumerate(values[:, person].tolist()):
                    seen[column, value, s] += share

        last = belief
        belief = [
            of_member
            for group, counts in zip(groups, held, strict=True)
            for of_member in in_group(
                [{s: likely(values[:, p], s, seen, total[s]) for s in counts} for p in group],
                counts,
            )
        ]
        pairs = [(new[s], old[s]) for new, old in zip(belief, last, strict=True) for s in new]
        moved = sum(abs(new - old) > definetti.MOVED for new, old in pairs)
        if moved <= definetti.STILL * len(pairs):
            break
    return belief


@pytest.mark.parametrize("seed", range(3))
def test_guesses_are_those_of_loops_over_all_assignments(seed: int) -> None:
    values, sensitive = people(seed)
    group = np.repeat(np.arange(GROUPS), MEMBERS)
    shape = (GROUPS, VALUES)
    counts = sum_counts(group, sensitive.astype(np.int32), np.ones(len(group), np.int64), shape)
    guess, share = definetti._learn(
        values, np.array(SIZES), group, np.arange(0, len(group) + 1, MEMBERS), counts,
        np.zeros(1, np.uint8),
    )  # fmt: skip
    for person, belief in enumerate(learnt_by_loops(values, sensitive)):
        assert belief[int(guess[person])] == pytest.approx(max(belief.values()), abs=1e-9)
        assert share[person] * MEMBERS == pytest.approx(
            max(Counter(sensitive[group == group[person]].tolist()).values())
        )
