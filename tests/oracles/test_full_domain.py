"""The full-domain search against brute force over all nodes, in plain Python on lists."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InfeasibleError
from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.methods.base import Task
from discreet.methods.full_domain.full_domain import FullDomain, minimal_nodes
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    PDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Distance, Role, ValueType

MEASURES = ("loss", "discernibility", "entropy", "class-size", "height")


def column(name: str, role: Role, codes: Sequence[int], cardinality: int) -> Column:
    text = pl.Series(name, [f"{name}{code:02}" for code in range(cardinality)])
    return Column(name, role, ValueType.TEXT, np.array(codes, np.int32), text, text)


def hierarchy(name: str, groups: Sequence[Sequence[int]]) -> Hierarchy:
    """``groups[l][v]`` is the node of value v at level l."""
    levels = []
    for level, group in enumerate(groups):
        nodes = max(group) + 1
        labels = [f"{name}{level}-{node}" for node in range(nodes)]
        leaves = np.array([group.count(node) for node in range(nodes)], np.int64)
        levels.append(level_from_groups(np.array(group), labels, leaves, len(group)))
    return Hierarchy(name, tuple(levels), len(groups[0]))


@st.composite
def groupings(draw: st.DrawFn, values: int) -> list[list[int]]:
    levels = [list(range(values))]
    for _ in range(draw(st.integers(0, 3))):
        nodes = max(levels[-1]) + 1
        parent = draw(
            st.lists(st.integers(0, max(nodes // 2, 1) - 1), min_size=nodes, max_size=nodes)
        )
        number = {p: i for i, p in enumerate(dict.fromkeys(parent))}
        levels.append([number[parent[node]] for node in levels[-1]])
    return levels


@st.composite
def tasks(draw: st.DrawFn, requirements: st.SearchStrategy[list[Requirement]]) -> Task:
    rows = draw(st.integers(1, 24))
    columns: dict[str, Column] = {}
    hierarchies = {}
    for j in range(draw(st.integers(2, 4))):
        name = f"q{j}"
        values = draw(st.integers(1, 5))
        codes = draw(st.lists(st.integers(0, values - 1), min_size=rows, max_size=rows))
        columns[name] = column(name, Role.QUASI_IDENTIFIER, codes, values)
        hierarchies[name] = hierarchy(name, draw(groupings(values)))
    for j in range(draw(st.integers(1, 2))):
        values = draw(st.integers(1, 4))
        codes = draw(st.lists(st.integers(0, values - 1), min_size=rows, max_size=rows))
        distance = draw(st.sampled_from([Distance.EQUAL, Distance.ORDERED]))
        made = column(f"s{j}", Role.SENSITIVE, codes, values)
        columns[made.name] = replace(made, distance=distance)
    table = CodedTable(columns, rows)
    return Task(table, hierarchies, draw(requirements), np.random.default_rng(0))


REQUIREMENTS = st.lists(
    st.one_of(
        st.integers(1, 6).map(lambda k: KAnonymity(k=k)),
        st.integers(1, 3).map(lambda ell: DistinctLDiversity(l=ell)),
        st.sampled_from([1.3, 1.7, 2.2]).map(lambda ell: EntropyLDiversity(l=ell)),
        st.sampled_from([0.1, 0.25, 0.4, 0.6]).map(lambda t: TCloseness(t=t)),
        st.sampled_from([(1.5, 2), (3.0, 2), (4.0, 3)]).map(
            lambda cl: RecursiveClDiversity(c=cl[0], l=cl[1])
        ),
        st.sampled_from([1.2, 1.6, 2.0]).map(lambda ell: PDiversity(l=ell)),
        st.just(MultiAttributeLDiversity(inner=DistinctLDiversity(l=2))),
    ),
    min_size=1,
    max_size=3,
)


# ---- brute force


Class = list[tuple[int, ...]]  # the sensitive codes of its rows


def passes(task: Task, requirement: Requirement, members: Class, published: Class) -> bool:
    if isinstance(requirement, KAnonymity):
        return len(members) >= requirement.k
    if isinstance(requirement, MultiAttributeLDiversity):
        return all(
            len({m[j] for m in members if m[:j] + m[j + 1 :] == others}) >= 2
            for j in range(len(members[0]))
            for others in {m[:j] + m[j + 1 :] for m in members}
        )
    for j, c in enumerate(task.table.sensitive):
        values, reference = [m[j] for m in members], [m[j] for m in published]
        if isinstance(requirement, TCloseness):
            distance = ordered if c.distance is Distance.ORDERED else equal
            if float(distance(values, reference)) > requirement.t + 1e-9:
                return False
        elif not diverse(requirement, values):
            return False
    return True


def diverse(requirement: Requirement, values: list[int]) -> bool:
    counts = sorted(Counter(values).values(), reverse=True)
    n = len(values)
    if isinstance(requirement, DistinctLDiversity):
        return len(counts) >= requirement.l
    if isinstance(requirement, EntropyLDiversity):
        entropy = -sum(c / n * math.log(c / n) for c in counts)
        return entropy >= math.log(requirement.l) - 1e-9
    if isinstance(requirement, RecursiveClDiversity):
        return counts[0] < requirement.c * sum(counts[requirement.l - 1 :])
    assert isinstance(requirement, PDiversity)
    return counts[0] * Fraction(str(requirement.l)) <= n


def equal(values: list[int], reference: list[int]) -> Fraction:
    n, m = len(values), len(reference)
    differences = (
        Fraction(values.count(v), n) - Fraction(reference.count(v), m) for v in set(reference)
    )
    return sum((abs(d) for d in differences), Fraction(0)) / 2


def ordered(values: list[int], reference: list[int]) -> Fraction:
    domain = sorted(set(reference))
    carried = total = Fraction(0)
    for v in domain:
        carried += Fraction(values.count(v), len(values))
        carried -= Fraction(reference.count(v), len(reference))
        total += abs(carried)
    return total / max(len(domain) - 1, 1)


def classes_at(task: Task, node: tuple[int, ...]) -> dict[tuple[int, ...], list[int]]:
    """The rows of every class."""
    levels = [
        task.hierarchies[c.name].levels[level]
        for c, level in zip(task.table.quasi_identifiers, node, strict=True)
    ]
    classes: dict[tuple[int, ...], list[int]] = {}
    for row in range(task.table.rows):
        key = tuple(
            int(level.node_of_leaf[c.codes[row]])
            for c, level in zip(task.table.quasi_identifiers, levels, strict=True)
        )
        classes.setdefault(key, []).append(row)
    return classes


def publish(task: Task, node: tuple[int, ...], budget: int) -> list[list[int]] | None:
    """The classes that are left after suppression, or None."""
    sensitive = [
        tuple(int(c.codes[row]) for c in task.table.sensitive) for row in range(task.table.rows)
    ]
    kept = list(classes_at(task, node).values())
    while True:
        published = [sensitive[row] for rows in kept for row in rows]
        good = [
            rows
            for rows in kept
            if all(
                passes(task, r, [sensitive[i] for i in rows], published) for r in task.requirements
            )
        ]
        left = sum(map(len, good))
        if not left or task.table.rows - left > budget:
            return None
        if len(good) == len(kept):
            return kept
        kept = good


def cost(task: Task, node: tuple[int, ...], kept: list[list[int]], measure: str) -> float:
    n = task.table.rows
    published = [row for rows in kept for row in rows]
    suppressed = n - len(published)
    if measure == "height":
        return sum(node)
    if measure == "class-size":
        return n / len(kept)
    if measure == "discernibility":
        return sum(len(rows) ** 2 for rows in kept) + suppressed * n
    total = 0.0
    for c, at in zip(task.table.quasi_identifiers, node, strict=True):
        level = task.hierarchies[c.name].levels[at]
        codes = c.codes.tolist()
        general = [int(level.node_of_leaf[code]) for code in codes]
        for row in range(n):
            out = row not in published
            if measure == "loss":
                total += 1 if out else float(level.loss[general[row]])
            else:
                wide = n if out else general.count(general[row])
                total += -math.log2(codes.count(codes[row]) / wide)
    return total / (n * len(node)) if measure == "loss" else total


def nodes(task: Task) -> list[tuple[int, ...]]:
    heights = [task.hierarchies[c.name].height for c in task.table.quasi_identifiers]
    return list(product(*(range(height + 1) for height in heights)))


def brute_force(
    task: Task, budget: int, measure: str
) -> tuple[float, tuple[int, ...], list[list[int]]] | None:
    found = []
    for node in nodes(task):
        kept = publish(task, node, budget)
        if kept is not None:
            found.append((cost(task, node, kept, measure), node, kept))
    if not found:
        return None
    least = min(f[0] for f in found)
    ties = [f for f in found if f[0] <= least + 1e-9 * max(1.0, least)]
    return min(ties, key=lambda f: (sum(f[1]), f[1]))


# ---- tests

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("measure", MEASURES)
@SETTINGS
@given(task=tasks(REQUIREMENTS), suppression=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
def test_the_optimum_is_that_of_brute_force(task: Task, suppression: float, measure: str) -> None:
    method = FullDomain.model_validate({"suppression": suppression, "minimize": measure})
    budget = math.floor(Fraction(str(suppression)) * task.table.rows)
    expected = brute_force(task, budget, measure)
    if expected is None:
        with pytest.raises(InfeasibleError) as caught:
            method.run(task)
        assert caught.value.failures
        return
    least, node, kept = expected
    outcome = method.run(task)
    assert tuple(outcome.facts["levels"].values()) == node
    assert outcome.facts["cost"] == pytest.approx(least, rel=1e-9, abs=1e-9)
    published = {frozenset(rows) for rows in kept}
    found: dict[int, set[int]] = {}
    for row, number in enumerate(outcome.class_of_row.tolist()):
        found.setdefault(number, set()).add(row)
    found.pop(-1, None)
    assert {frozenset(rows) for rows in found.values()} == published
    for c, at in zip(task.table.quasi_identifiers, node, strict=True):
        level = task.hierarchies[c.name].levels[at]
        cells = outcome.cells[c.name]
        for number, rows in found.items():
            label = cells.labels[cells.cell_of_class[number]]
            assert {level.labels[level.node_of_leaf[c.codes[row]]] for row in rows} == {label}


@SETTINGS
@given(task=tasks(REQUIREMENTS))
def test_the_minimal_nodes_are_those_of_brute_force(task: Task) -> None:
    good = {node for node in nodes(task) if publish(task, node, 0) is not None}
    minimal = [
        node
        for node in sorted(good)
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in good
        )
    ]
    assert [tuple(levels.values()) for levels in minimal_nodes(task)] == minimal
