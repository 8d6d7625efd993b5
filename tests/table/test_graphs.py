"""Components and flows against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.table.graphs import greatest_flow, smallest_connected


@st.composite
def edges(draw) -> tuple[int, list[tuple[int, int]]]:
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=15))


@given(edges())
def test_components_are_those_of_a_search(graph):
    nodes, joined = graph
    reached = [{node} for node in range(nodes)]
    for _ in range(nodes):
        for one, other in joined:
            reached[one] |= reached[other]
            reached[other] |= reached[one]
    ends = np.array(joined, np.int64).reshape(-1, 2)
    found = smallest_connected(nodes, ends[:, 0], ends[:, 1])
    assert found.tolist() == [min(nodes) for nodes in reached]


def test_a_long_path_in_any_order_is_one_component():
    path = np.random.default_rng(1).permutation(50_000)
    assert not smallest_connected(len(path), path[:-1], path[1:]).any()


@settings(deadline=None)  # the first case may compile
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.sets(st.integers(0, 2))), min_size=1, max_size=3),
)
def test_a_greatest_flow_is_that_of_all_assignments(demand, points):
    demand = np.array([*demand, 0, 0][:3])
    supply = np.array([supply for supply, _ in points])
    first = np.cumsum([0, *(len(boxes) for _, boxes in points)])
    box = np.array([one for _, boxes in points for one in sorted(boxes)], np.int32)
    flow = greatest_flow(demand, supply, first, box)
    assert (flow >= 0).all()
    assert (np.bincount(box, flow, 3) <= demand).all()
    sent = np.add.reduceat(np.append(flow, 0), first[:-1]) * (np.diff(first) > 0)
    assert (sent <= supply).all()
    people = [sorted(boxes) for count, boxes in points for _ in range(count)]
    assert flow.sum() == most(people, demand.tolist())


def most(people: list[list[int]], left: list[int]) -> int:
    if not people:
        return 0
    best = most(people[1:], left)
    for one in people[0]:
        if left[one]:
            left[one] -= 1
            best = max(best, 1 + most(people[1:], left))
            left[one] += 1
    return best
