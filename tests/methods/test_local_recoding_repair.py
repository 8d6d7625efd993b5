"""Mending by neighbours that a tree finds: as good as comparing all, and in less than all pairs."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.test_full_domain import column, groupings, hierarchy

from discreet.methods.local_recoding.blocks import cut
from discreet.methods.local_recoding.hulls import (
    Space,
    build_space,
    cell_cost,
    hull_cost,
    rank_by_hierarchy,
    rank_by_value,
)
from discreet.methods.local_recoding.nearest_groups import (
    LEAF,
    _cut_all,
    middle_of,
    nearest_of_all,
)
from discreet.methods.local_recoding.unit_groups import UnitGrouping
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
    columns, rankings, hierarchies = [], [], []
    for j in range(draw(st.integers(1, 2))):
        values = draw(st.integers(1, 8))
        columns.append(
            column(f"q{j}", Role.QUASI_IDENTIFIER, rng.integers(0, values, units).tolist(), values)
        )
        hierarchies.append(hierarchy(f"q{j}", draw(groupings(values))))
        rankings.append(rank_by_hierarchy(hierarchies[-1]))
    values = draw(st.integers(2, 30))
    codes = rng.integers(0, values, units)
    columns.append(numbers("n", codes, values, missing=draw(st.booleans())))
    hierarchies.append(None)
    rankings.append(rank_by_value(columns[-1]))
    rows = rng.integers(1, 4, units)
    space: Space = build_space(columns, rankings, hierarchies, first_row, rows)
    group = np.arange(units) // draw(st.integers(1, 5))
    if draw(st.booleans()):  # neighbours in the last attribute, else anybody
        group = group[np.argsort(np.argsort(codes, kind="stable"))]
    return UnitGrouping.of(space, first_row, group, rows)


def adds(made: UnitGrouping, one: int, other: int) -> float:
    """What all rows pay more if two groups are joined."""
    low, high = (np.stack([ranks[one], ranks[other]]) for ranks in (made.low, made.high))
    both, paid = made.size[[one, other]], made.cost[[one, other]]
    return both.sum() * hull_cost(made.space, low.min(axis=0), high.max(axis=0)) - both @ paid


@settings(max_examples=60, deadline=None)
@given(grouped())
def test_every_node_of_a_tree_is_cut_as_a_block_is(made):
    middle = middle_of(made.low, made.high)
    alike = np.ones(made.count, np.int64)
    wanted = np.arange(made.count, dtype=np.int32)
    nodes: list[list[int]] = []

    def cut_node(begin: int, end: int) -> None:
        nodes.append([begin, end, -1])
        if end - begin > LEAF:
            own, number = wanted[begin:end], len(nodes) - 1
            place = begin + (cut(made.space, middle, alike, own, 1) or len(own) // 2)
            cut_node(begin, place)
            nodes[number][2] = len(nodes)
            cut_node(place, end)

    cut_node(0, made.count)
    order = np.arange(made.count, dtype=np.int32)
    assert np.stack(_cut_all(made.space, middle, order), axis=1).tolist() == nodes
    assert (order == wanted).all()


@settings(max_examples=60, deadline=None)
@given(grouped(), st.integers(1, 40))
def test_a_block_is_cut_where_the_most_expensive_attribute_allows_the_most_even_cut(made, least):
    space = made.space
    items = np.arange(len(space.rows), dtype=np.int32)
    place = cut(space, space.rank, space.rows, items, least)
    assert sorted(items) == list(range(len(space.rows)))
    total, cuts = int(space.rows.sum()), []
    for j in range(space.rank.shape[1]):
        rank = space.rank[:, j]
        low, high = int(rank.min()), int(rank.max())
        cost, levels = cell_cost.function(space, j, low, high), int(space.levels[j])
        tables = space.first[j] + np.arange(levels) * space.values[j]
        inside = [base for base in tables if space.node[base + low] != space.node[base + high]]
        child = space.node[inside[-1] + rank] if inside else rank
        for value in range(low, high):  # between this rank and the next that occurs
            left = rank <= value
            before = int(space.rows[left].sum())
            if set(child[left]) & set(child[~left]) or min(before, total - before) < least:
                continue
            cuts.append((-cost, j, abs(2 * before - total), before, int(left.sum())))
    assert place == (min(cuts)[-1] if cuts else 0)
    if cuts:
        rank = space.rank[items, min(cuts)[1]]
        assert (np.diff(rank) >= 0).all()


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
@given(grouped(), st.integers(0, 2**32 - 1))
def test_hulls_of_unchanged_groups_are_kept(made, seed):
    rng = np.random.default_rng(seed)
    unit, group, rows = made.unit.copy(), made.group_of_piece, made.rows.copy()
    changed = np.zeros(made.count, bool)
    moved = rng.random(len(unit)) < rng.random()
    target = rng.integers(0, made.count, len(unit))
    changed[group[moved]] = changed[target[moved]] = True
    pieces = unit, np.where(moved, target, group), rows
    again = UnitGrouping.of(made.space, *pieces, before=made, changed=changed)
    anew = UnitGrouping.of(made.space, *pieces)
    for name in ("start", "unit", "rows", "size", "cost", "low", "high"):
        assert np.array_equal(getattr(again, name), getattr(anew, name)), name


def many_groups(count: int, seed: int = 0) -> UnitGrouping:
    """Groups of two neighbouring units each, spread over three free ranges."""
    rng = np.random.default_rng(seed)
    base = np.repeat(rng.integers(0, 999, (count, 3)), 2, axis=0)
    codes = base + rng.integers(0, 2, base.shape)
    columns = [numbers(f"n{j}", codes[:, j], 1000) for j in range(3)]
    units, rows = np.arange(2 * count), np.ones(2 * count, np.int64)
    rankings = [rank_by_value(of) for of in columns]
    space = build_space(columns, rankings, [None] * 3, units, rows)
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
