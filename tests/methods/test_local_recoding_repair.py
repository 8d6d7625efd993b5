"""Mending by neighbours that a tree finds: as good as comparing all, and in less than all pairs."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.test_full_domain import column, groupings, hierarchy

from discreet.methods.local_recoding.hulls import (
    Space,
    UnitGrouping,
    build_space,
    cell_cost,
    hull_costs,
)
from discreet.methods.local_recoding.nearest_groups import (
    _cut_all,
    join_nearest,
    nearest_of_all,
)
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType


def numbers(name: str, codes: np.ndarray, values: int, *, missing: bool = False) -> Column:
    """A column of numbers for free ranges; the last value may stand for a missing one."""
    place = 3.0 * np.arange(values)
    text: list[str | None] = [f"{number:g}" for number in place]
    if missing:
        place[-1], text[-1] = np.nan, None
    series = pl.Series(name, text, dtype=pl.String)
    return Column(
        name,
        Role.QUASI_IDENTIFIER,
        ValueType.INTEGER,
        codes.astype(np.int32),
        series,
        series,
        numbers=place,
    )


@st.composite
def grouped(draw: st.DrawFn) -> UnitGrouping:
    """Random groups of units over a hierarchy or two and a free range."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    units = draw(st.integers(2, 300))
    first_row = np.arange(units)
    columns, hierarchies = [], []
    for j in range(draw(st.integers(1, 2))):
        values = draw(st.integers(1, 8))
        columns.append(
            column(f"q{j}", Role.QUASI_IDENTIFIER, rng.integers(0, values, units).tolist(), values)
        )
        hierarchies.append(hierarchy(f"q{j}", draw(groupings(values))))
    values = draw(st.integers(2, 30))
    codes = rng.integers(0, values, units)
    columns.append(numbers("n", codes, values, missing=draw(st.booleans())))
    hierarchies.append(None)
    rows = rng.integers(1, 4, units)
    space: Space = build_space(columns, hierarchies, first_row, rows)
    group = np.arange(units) // draw(st.integers(1, 5))
    if draw(st.booleans()):  # neighbours in the last attribute, else anybody
        group = group[np.argsort(np.argsort(codes, kind="stable"))]
    return UnitGrouping.of(space, first_row, group, rows)


def adds(made: UnitGrouping, one: int, other: int) -> float:
    """What all rows pay more if two groups are joined."""
    low, high = (np.stack([ranks[one], ranks[other]]) for ranks in (made.low, made.high))
    both, paid = made.size[[one, other]], made.cost[[one, other]]
    return (
        both.sum() * hull_costs(made.space, low.min(axis=0)[None], high.max(axis=0)[None])[0]
        - both @ paid
    )


@settings(max_examples=60, deadline=None)
@given(grouped(), st.integers(1, 60))
def test_blocks_are_cut_evenly_in_the_most_expensive_attribute(made, most):
    space = made.space
    order = np.arange(len(space.rank), dtype=np.int32)
    nodes = list(
        zip(*(ends.tolist() for ends in _cut_all(space, space.rank, order, most)), strict=True)
    )
    assert sorted(order) == list(range(len(order)))
    assert nodes[0][:2] == (0, len(order))
    for number, (begin, end, second) in enumerate(nodes):
        if second < 0:
            assert end - begin <= most
            continue
        assert nodes[number + 1][:2] == (begin, nodes[second][0])
        assert nodes[second][1] == end
        ranks = space.rank[order[begin:end]]
        place = nodes[second][0] - begin
        assert place in even_cuts(space, ranks)


def even_cuts(space: Space, ranks: np.ndarray) -> set[int]:
    """Where to cut units in the most expensive attribute, as near to the middle as possible."""
    costs = [
        cell_cost.function(space, j, ranks[:, j].min(), ranks[:, j].max())
        if ranks[:, j].min() < ranks[:, j].max()
        else -1.0
        for j in range(ranks.shape[1])
    ]
    j = int(np.argmax(costs))
    rank = ranks[:, j]
    low, high = int(rank.min()), int(rank.max())
    tables = space.first[j] + np.arange(int(space.levels[j])) * space.values[j]
    inside = [base for base in tables if space.node[base + low] != space.node[base + high]]
    child = space.node[inside[-1] + rank] if inside else rank
    before = [
        int((rank <= value).sum())
        for value in range(low, high)
        if not set(child[rank <= value]) & set(child[rank > value])
    ]
    if not before:
        return {len(rank) // 2}
    nearest = min(abs(2 * place - len(rank)) for place in before)
    return {place for place in before if abs(2 * place - len(rank)) == nearest}


@settings(max_examples=60, deadline=None)
@given(grouped(), st.lists(st.integers(1, 30), min_size=4, max_size=4))
def test_the_tree_finds_what_comparing_all_finds(made, wanted):
    some = np.linspace(0, made.count - 1, 4).astype(np.int64)
    near, added = nearest_of_all(made, some, np.array(wanted))
    for i, (f, count) in enumerate(zip(some, wanted, strict=True)):
        all_ = {g: adds(made, f, g) for g in range(made.count) if g != f}
        found = [int(g) for g in near[i] if g >= 0]
        assert len(set(found)) == len(found) == min(count, len(all_))
        assert [all_[g] for g in found] == pytest.approx(sorted(all_.values())[:count], abs=1e-9)
        assert added[i][: len(found)] == pytest.approx([all_[g] for g in found], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(grouped(), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_remaining_rows_join_or_borrow_and_every_row_stays(made, least, seed):
    large = made.size >= least
    if not large.any():
        return
    rng = np.random.default_rng(seed)
    kept = large & (rng.random(made.count) < 0.8)
    kept[np.argmax(made.size)] = True
    piece = kept[made.group_of_piece]
    groups = UnitGrouping.of(
        made.space, made.unit[piece], made.group_of_piece[piece], made.rows[piece]
    )
    units = len(made.space.rows)
    remaining = made.space.rows - np.bincount(groups.unit, groups.rows, units).astype(np.int64)
    if remaining.any():
        joined = join_nearest(groups, remaining, least)
        assert joined.size.min() >= least
        assert (np.bincount(joined.unit, joined.rows, units) == made.space.rows).all()


def many_groups(count: int, seed: int = 0) -> UnitGrouping:
    """Groups of two neighbouring units each, spread over three free ranges."""
    rng = np.random.default_rng(seed)
    base = np.repeat(rng.integers(0, 999, (count, 3)), 2, axis=0)
    codes = base + rng.integers(0, 2, base.shape)
    columns = [numbers(f"n{j}", codes[:, j], 1000) for j in range(3)]
    units, rows = np.arange(2 * count), np.ones(2 * count, np.int64)
    space = build_space(columns, [None] * 3, units, rows)
    return UnitGrouping.of(space, units, units // 2, rows)


@pytest.mark.parametrize("alike", [False, True])
def test_ten_times_the_groups_are_not_a_hundred_times_the_work(alike):
    seconds = []
    for count in (2000, 20_000):
        made = many_groups(count)
        if alike:  # all groups have one hull: nothing tells them apart
            space = made.space._replace(rank=np.zeros_like(made.space.rank))
            made = UnitGrouping.of(space, made.unit, made.group_of_piece, made.rows)
        some = np.arange(made.count)
        nearest_of_all(made, some[:2], np.full(2, 24))
        taken = []
        for _ in range(2):
            started = time.process_time()
            nearest_of_all(made, some, np.full(made.count, 24))
            taken.append(time.process_time() - started)
        seconds.append(min(taken))
    assert seconds[1] <= 30 * seconds[0]
