"""MSA-diversity exchanges members of near groups until no exchange loses less: by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest

from discreet.methods.msa_diversity import exchanges
from discreet.methods.msa_diversity.diverse_groups import (
    HARMLESS,
    RANGE,
    SET,
    TREE,
    DiverseGroups,
    Rows,
    add,
    empty_groups,
)
from discreet.methods.msa_diversity.exchanges import Changes, improve
from discreet.methods.msa_diversity.unplaced_rows import group_losses


def made_rows(rng: np.random.Generator, count: int, ell: tuple[int, int]) -> Rows:
    """A range, a set and a tree of six leaves, and two sensitive attributes."""
    part = np.array(
        [1 if leaf // 2 == other // 2 else 2 for leaf in range(6) for other in range(6)]
    )
    same = np.eye(6, dtype=bool).ravel()
    return Rows(
        values=rng.integers(0, 9, (count, 2)).astype(np.int32),
        part=np.array([ell[1]] * 2),
        whole=np.array([ell[0]] * 2),
        least=-(-ell[0] // ell[1]),
        codes=rng.integers(0, [9, 4, 6], (count, 3)).astype(np.int32),
        kind=np.array([RANGE, SET, TREE]),
        cardinality=np.array([9, 4, 6]),
        start=np.array([0, 9, 13]),
        place=np.concatenate([np.arange(9) / 8, np.arange(4) / 3, np.arange(6) / 5]),
        pair_start=np.array([0, 0, 0]),
        pair=np.where(same, 0.0, part / 2),
    )  # fmt: skip


def made_groups(rng: np.random.Generator, rows: Rows) -> DiverseGroups:
    """Groups of different sizes that keep the bounds; some rows have none."""
    count = len(rows.values)
    groups = empty_groups(count)
    number = 0
    waiting = list(range(count))
    while len(waiting) >= rows.least:
        size = int(rng.integers(rows.least, rows.least + 3))
        chosen = waiting[:size]
        if keeps_bounds(rows, chosen):
            for row in chosen:
                add(groups, number, row)
            number += 1
            waiting = waiting[size:]
        else:
            waiting.pop(int(rng.integers(min(size, len(waiting)))))
    return groups


def keeps_bounds(rows: Rows, members: list[int]) -> bool:
    return len(members) >= rows.least and all(
        max(Counter(rows.values[members, j].tolist()).values()) * rows.whole[j]
        <= len(members) * rows.part[j]
        for j in range(2)
    )


def loss_of(rows: Rows, members: list[int]) -> float:
    number, word, leaf = rows.codes[members].T
    return len(members) * (
        (number.max() - number.min()) / 8
        + (len(set(word.tolist())) - 1) / 3
        + max((0 if a == b else 0.5 if a // 2 == b // 2 else 1) for a in leaf for b in leaf)
    )


def members_of(groups: DiverseGroups) -> dict[int, list[int]]:
    found = {}
    for group in np.flatnonzero(groups.size).tolist():
        row, found[group] = groups.first[group], []
        while row >= 0:
            found[group].append(int(row))
            row = groups.next_row[row]
    return found


def unchanged(rows: Rows, groups: DiverseGroups) -> Changes:
    """Return that no row was compared yet."""
    count = int(groups.group_of_row.max()) + 1
    return Changes(np.zeros(count, np.int64), np.zeros(len(rows.values), np.int64))


def exchange_all(rows: Rows, groups: DiverseGroups, loss: np.ndarray, reach: int, most: int) -> int:
    """Exchange members until no exchange loses less; return how many times."""
    swaps = 0
    changes = unchanged(rows, groups)
    while more := improve(rows, groups, loss, changes, reach, most):
        swaps += more
    return swaps


@pytest.mark.parametrize("ell", [(2, 1), (3, 1), (5, 2)])
@pytest.mark.parametrize("seed", range(8))
def test_no_exchange_of_near_rows_loses_less(seed, ell):
    rng = np.random.default_rng(seed)
    rows = made_rows(rng, 100, ell)
    groups = made_groups(rng, rows)
    before = members_of(groups)
    loss = group_losses(rows, groups)
    reach = 10
    swaps = exchange_all(rows, groups, loss, reach, most=100)
    after = members_of(groups)
    assert swaps > 0
    assert {group: len(own) for group, own in before.items()} == {
        group: len(own) for group, own in after.items()
    }
    assert sorted(chain(*before.values())) == sorted(chain(*after.values()))
    for group, own in after.items():
        assert all(groups.group_of_row[row] == group for row in own)
        assert keeps_bounds(rows, own)
        assert loss[group] == pytest.approx(loss_of(rows, own))
    for here, there in combinations(after, 2):
        for row in after[here]:
            for other in after[there]:
                if abs(row - other) > reach:
                    continue
                one = [*(r for r in after[here] if r != row), other]
                two = [*(r for r in after[there] if r != other), row]
                if keeps_bounds(rows, one) and keeps_bounds(rows, two):
                    gain = loss[here] + loss[there] - loss_of(rows, one) - loss_of(rows, two)
                    assert gain < 1e-8


def test_large_groups_stay_as_they_are():
    rng = np.random.default_rng(1)
    rows = made_rows(rng, 100, (2, 1))
    groups = made_groups(rng, rows)
    before = members_of(groups)
    most = int(np.median(groups.size[groups.size > 0]))
    exchange_all(rows, groups, group_losses(rows, groups), 10, most)
    after = members_of(groups)
    assert any(len(own) > most for own in before.values())
    for group, own in before.items():
        if len(own) > most:
            assert sorted(after[group]) == sorted(own)


@pytest.mark.parametrize("most", [4, 100])
@pytest.mark.parametrize("ell", [(2, 1), (3, 1), (5, 2)])
@pytest.mark.parametrize("seed", range(6))
def test_loops_and_whole_arrays_exchange_the_same_members(seed, ell, most):
    """With harmless values, and from one comparison of all rows to the next."""
    results = []
    for exchange in (improve.function, improve.interpreted):
        rng = np.random.default_rng(seed)
        rows = made_rows(rng, 120, ell)
        rows.values[rng.random(rows.values.shape) < 0.2] = HARMLESS
        groups = made_groups(rng, rows)
        loss, changes = group_losses(rows, groups), unchanged(rows, groups)
        swaps = [exchange(rows, groups, loss, changes, 20, most) for _ in range(4)]
        results.append((swaps, *groups, loss, *changes))
    assert sum(results[0][0]) > 0
    for by_loops, at_once in zip(*results, strict=True):
        np.testing.assert_array_equal(by_loops, at_once)


def test_pairs_are_compared_again_only_where_a_group_changed(monkeypatch):
    """The interpreter measures each row once, and then those near an exchange."""
    rows = made_rows(np.random.default_rng(3), 400, (2, 1))
    groups = made_groups(np.random.default_rng(3), rows)
    measured: list[int] = []
    losses_with = exchanges._losses_with

    def counted(rows, added, members):
        measured.append(np.broadcast(added, members[:, 0]).size)
        return losses_with(rows, added, members)

    monkeypatch.setattr(exchanges, "_losses_with", counted)
    loss, changes = group_losses(rows, groups), unchanged(rows, groups)
    work = []
    while improve.interpreted(rows, groups, loss, changes, 50, 100):
        work.append(sum(measured))
        measured.clear()
    assert len(work) > 2
    assert work[0] < 400 * 50 * 2
    assert sum(measured) < work[0] / 4
