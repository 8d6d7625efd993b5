"""The weights of groups where worlds are too many to count: scaling to the sums of all worlds."""

from itertools import product

import numpy as np
import pytest

from discreet.releases.worlds import placement
from discreet.releases.worlds.placement import SCALING_PRECISION, scale


def fitting(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    start = np.append(0, np.cumsum([len(of_kind) for of_kind in groups]))
    return start, np.array([group for of_kind in groups for group in of_kind], np.int32)


def misfilled(weight, start, group, people, size) -> float:
    """The greatest share by which the expected rows of a group differ from its rows."""
    of_edge = np.repeat(people, np.diff(start)) * weight
    return float(np.abs(np.bincount(group, of_edge, len(size)) / size - 1).max())


@pytest.mark.parametrize("seed", range(5))
def test_weights_fill_every_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, group = fitting([sorted(rng.choice(30, 5, replace=False)) for _ in range(200)])
    people = rng.integers(1, 6, 200).astype(float)
    shares = rng.random(len(group)).reshape(200, 5)
    share = (shares / shares.sum(axis=1, keepdims=True)).ravel()
    size = np.bincount(group, np.repeat(people, 5) * share, 30)
    weight = scale(start, group, people, size)
    assert misfilled(weight, start, group, people, size) < SCALING_PRECISION
    assert np.add.reduceat(weight, start[:-1]) == pytest.approx(1)


def test_groups_that_no_world_gives_to_a_kind_have_no_weight() -> None:
    """The first kind fills group 0, so that the next two have no choice; the last two have one.

    By scaling alone, the weights of the others tend to 0 as one over the rounds.
    """
    start, group = fitting([[0], [0, 1], [1, 2], [2, 3, 4], [3, 4]])
    people = np.array([5.0, 2.0, 3.0, 4.0, 2.0])
    size = np.array([5.0, 2.0, 3.0, 5.0, 1.0])
    weight = scale(start, group, people, size)
    assert weight[:6].tolist() == [1, 0, 1, 0, 1, 0]
    assert weight[6:] == pytest.approx([5 / 6, 1 / 6, 5 / 6, 1 / 6])


@pytest.mark.parametrize("seed", range(5))
def test_weights_fit_where_people_were_placed_whatever_they_fit_besides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fits = [sorted(rng.choice(30, rng.integers(1, 6), replace=False)) for _ in range(100)]
    start, group = fitting(fits)
    people = rng.integers(1, 4, 100).astype(float)
    size = np.bincount([rng.choice(one) for one in fits], people, 30)
    weight = scale(start, group, people, size)
    filled = np.bincount(group, np.repeat(people, np.diff(start)) * weight, 30)
    assert filled == pytest.approx(size, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rows", [[1, 1, 1], [9, 1, 3], [1, 90, 0]])
def test_weights_remain_finite_where_no_world_exists(rows: list[int]) -> None:
    start, group = fitting([[0, 1], [1], [1, 2]])
    weight = scale(start, group, np.array([1.0, 7.0, 10.0]), np.array(rows, float))
    assert np.isfinite(weight).all()
    assert np.add.reduceat(weight, start[:-1]) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_edges_are_used_exactly_if_a_world_uses_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fits = [sorted(rng.choice(5, rng.integers(1, 4), replace=False).tolist()) for _ in range(7)]
    start, group = fitting(fits)
    size = np.bincount([rng.choice(one) for one in fits], minlength=5)
    worlds = [w for w in product(*fits) if (np.bincount(w, minlength=5) == size).all()]
    expected = [any(w[kind] == g for w in worlds) for kind, one in enumerate(fits) for g in one]
    kind = np.repeat(np.arange(7), np.diff(start))
    used = placement._used_edges(kind, group, np.ones(7), size.astype(float))
    assert used is not None
    assert used.tolist() == expected
