"""Two-way tables of releases in groups, against a sum over people and sensitive rows one by one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import coded_table

from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most_people", [3, 80])  # people that differ, or many that are alike
@pytest.mark.parametrize("several", [False, True])  # rows of a group with the same value
def test_a_two_way_table_is_the_sum_over_people_and_rows(
    seed: int, most_people: int, several: bool
) -> None:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, most_people + 1, 20)
    people, groups = int(size.sum()), len(size)
    own = np.append([0, 1, 2, 3], rng.integers(0, 4, people - 4)).astype(np.int32)
    value_of_signature = np.array([2, 0, 1, 2, 0] if several else [0, 1, 2], np.int32)
    held = [rng.permutation(len(value_of_signature))[: rng.integers(1, 4)] for _ in range(groups)]
    if not several:
        held = [np.sort(one) for one in held]
    mass = np.concatenate(
        [n * share / share.sum() for n, one in zip(size, held, strict=True)
         for share in [rng.random(len(one)) + 0.1]]
    )  # fmt: skip
    signature = np.concatenate(held).astype(np.int32)
    original = coded_table(
        {"q": [f"q{code}" for code in own], "s": [f"s{n % 3}" for n in range(people)]}, "qs"
    )
    implied = ImpliedGroups(
        original,
        PublishedPeople({"q": own}, np.append(0, np.cumsum(size))),
        SensitiveRows(
            {"s": value_of_signature}, len(value_of_signature),
            np.append(0, np.cumsum([len(one) for one in held])), signature, mass,
        ),
    )  # fmt: skip
    expected = np.zeros((4, 3))
    person = entry = 0
    for n, one in zip(size, held, strict=True):
        for code in own[person : person + n]:
            for place, row in enumerate(one):
                expected[code, value_of_signature[row]] += mass[entry + place] / n
        person, entry = person + n, entry + len(one)
    for _ in range(2):  # a second time, with what the first has kept
        assert implied.pair_table(original["q"], original["s"]) == pytest.approx(expected)
