"""deFinetti learns the same from quasi-identifiers that are counted together."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks import definetti
from discreet.table.counts import sum_counts


def learnt(joined: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The guesses for 60 groups of 5 people; in 20 of them all are alike, and values tie."""
    monkeypatch.setattr(definetti, "JOINED", joined)
    monkeypatch.setattr(definetti, "KEPT", 2000 * (joined < 2**15))  # places are found anew
    rng = np.random.default_rng(seed)
    sizes = np.array([2, 3, 4, 1, 5])
    values = np.stack([rng.integers(0, size, 300) for size in sizes])
    values[:, :100] = values[:, :100:5].repeat(5, axis=1)
    group = np.repeat(np.arange(60), 5)
    sensitive = (values[0] + values[1] + rng.integers(0, 3, 300)) % 6
    counts = sum_counts(group, sensitive.astype(np.int32), np.ones(300, np.int64), (60, 6), None)
    guess, _ = definetti._learn(
        values, sizes, group, np.arange(0, 301, 5), counts, np.zeros(1, np.uint8)
    )
    return guess.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_guesses_are_the_same_however_many_quasi_identifiers_are_joined(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = learnt(1, seed, monkeypatch)
    assert len(alone) == 300
    assert learnt(100, seed, monkeypatch) == learnt(2**15, seed, monkeypatch) == alone


def test_joined_quasi_identifiers_are_few() -> None:
    sizes = np.array([9, 2, 3, 50, 4, *[1] * 70])
    values = np.stack([np.arange(6) % size for size in sizes])
    joint = definetti._joined(values, sizes, 30)
    assert [each for _, each in joint] == [(2, 3, 4), (9,), (50,)]
    assert joint[0][0].tolist() == ((values[1] * 3 + values[2]) * 4 + values[4]).tolist()
