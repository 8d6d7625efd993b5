"""Local recoding against all partitions of tiny tables, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracles.test_full_domain import REQUIREMENTS, column, groupings, hierarchy, passes

from discreet.errors import InfeasibleError
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.methods.base import Generalized, Task
from discreet.methods.local_recoding.local_recoding import LocalRecoding
from discreet.requirements.base import Requirement
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType


@st.composite
def tasks(draw: st.DrawFn, requirements: st.SearchStrategy[list[Requirement]]) -> Task:
    rows = draw(st.integers(1, 6))
    columns: dict[str, Column] = {}
    hierarchies = {}
    for j in range(draw(st.integers(1, 3))):
        values = draw(st.integers(1, 5))
        codes = draw(st.lists(st.integers(0, values - 1), min_size=rows, max_size=rows))
        columns[f"q{j}"] = column(f"q{j}", Role.QUASI_IDENTIFIER, codes, values)
        hierarchies[f"q{j}"] = hierarchy(f"q{j}", draw(groupings(values)))
    for j in range(draw(st.integers(1, 2))):
        codes = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
        columns[f"s{j}"] = column(f"s{j}", Role.SENSITIVE, codes, 3)
    table = CodedTable(columns, rows)
    return Task(table, hierarchies, draw(requirements), np.random.default_rng(0))


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]


def loss_of_cell(tree: Hierarchy, codes: set[int]) -> float:
    for level in tree.levels:
        nodes = {int(level.node_of_leaf[code]) for code in codes}
        if len(nodes) == 1:
            return float(level.loss[nodes.pop()])
    return 1.0


def width(numbers: Sequence[float], codes: set[int]) -> float:
    inside = [numbers[code] for code in codes]
    if len(codes) == 1:
        return 0.0
    if any(np.isnan(inside)):
        return 1.0
    span = np.nanmax(numbers) - np.nanmin(numbers)
    return float((max(inside) - min(inside)) / span) if span else 0.0


def loss_of_class(task: Task, part: Sequence[int], *, ranges: bool = False) -> float:
    losses = []
    for of in task.table.quasi_identifiers:
        codes = {int(of.codes[row]) for row in part}
        if ranges and of.numbers is not None:
            losses.append(width(of.numbers, codes))
        else:
            losses.append(loss_of_cell(task.hierarchies[of.name], codes))
    return len(part) * sum(losses) / len(losses) / task.table.rows


def least_loss(task: Task, *, ranges: bool = False) -> float | None:
    """The least loss of all partitions that meet the requirements; None if none does."""
    rows = [
        tuple(int(of.codes[row]) for of in task.table.sensitive) for row in range(task.table.rows)
    ]
    best = None
    for parts in partitions(range(task.table.rows)):
        members = [[rows[i] for i in part] for part in parts]
        if all(passes(task, r, m, rows) for r in task.requirements for m in members):
            loss = sum(loss_of_class(task, part, ranges=ranges) for part in parts)
            best = loss if best is None else min(best, loss)
    return best


def published_loss(task: Task, outcome: Generalized) -> float:
    cells = outcome.cells.values()
    return float(
        np.mean(
            [column.loss[column.cell_of_class[outcome.class_of_row]].mean() for column in cells]
        )
    )


def check(task: Task, outcome: Generalized, least: float) -> None:
    """What must hold of any outcome, beside the promise."""
    assert (outcome.class_of_row >= 0).all()
    loss = published_loss(task, outcome)
    assert loss == pytest.approx(outcome.facts["loss"])
    assert loss >= least - 1e-9
    assert outcome.facts["lower_bound"] <= least + 1e-9
    rows = [
        tuple(int(of.codes[row]) for of in task.table.sensitive) for row in range(task.table.rows)
    ]
    for number in np.unique(outcome.class_of_row):
        inside = [rows[row] for row in np.flatnonzero(outcome.class_of_row == number)]
        assert all(passes(task, r, inside, rows) for r in task.requirements)


@given(task=tasks(REQUIREMENTS), effort=st.sampled_from(["quick", "good"]))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_between_the_bound_and_all_partitions(task, effort):
    least = least_loss(task)
    if least is None:
        with pytest.raises(InfeasibleError) as caught:
            LocalRecoding(effort=effort).run(task)
        assert caught.value.failures
        return
    check(task, LocalRecoding(effort=effort).run(task), least)


def random_task(seed: int) -> Task:
    """Six rows, two quasi-identifiers of four values in two pairs, k of 2 or 3."""
    rng = np.random.default_rng(seed)
    columns = {
        name: column(name, Role.QUASI_IDENTIFIER, rng.integers(0, 4, 6).tolist(), 4)
        for name in ("q0", "q1")
    }
    columns["s0"] = column("s0", Role.SENSITIVE, [0] * 6, 3)
    hierarchies = {name: hierarchy(name, [[0, 1, 2, 3], [0, 0, 1, 1]]) for name in ("q0", "q1")}
    return Task(CodedTable(columns, 6), hierarchies, [KAnonymity(k=2 + seed % 2)], rng)


@pytest.mark.parametrize("effort", ["quick", "good", "best"])
def test_rows_that_are_too_few_found_a_class_together(effort):
    """0 and 2 each alone would take in everybody; with one row of 1 they need nobody else."""
    columns = {
        "q": column("q", Role.QUASI_IDENTIFIER, [0, 1, 1, 1, 1, 2], 3),
        "s": column("s", Role.SENSITIVE, [0] * 6, 3),
    }
    tree = {"q": hierarchy("q", [[0, 1, 2]])}
    task = Task(CodedTable(columns, 6), tree, [KAnonymity(k=3)], np.random.default_rng(0))
    best = least_loss(task)
    assert best == 0.5
    outcome = LocalRecoding(effort=effort).run(task)
    check(task, outcome, best)
    assert outcome.facts["loss"] == pytest.approx(best)


def test_k_alone_is_nearly_optimal_on_tiny_tables():
    """In the mean: a single table may lose more, since a greedy choice is local."""
    lost, least = 0.0, 0.0
    for seed in range(60):
        task = random_task(seed)
        best = least_loss(task)
        assert best is not None
        outcome = LocalRecoding(effort="good").run(task)
        check(task, outcome, best)
        lost, least = lost + outcome.facts["loss"], least + best
    assert lost <= 1.06 * least


@given(task=tasks(REQUIREMENTS), data=st.data())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_free_ranges(task, data):
    columns = dict(task.table.columns)
    of = columns["q0"]
    numbers = np.array(
        data.draw(st.lists(st.integers(0, 9), min_size=of.cardinality, max_size=of.cardinality)),
        float,
    )
    numbers.sort()
    text = of.text.to_list()
    if of.cardinality > 1 and data.draw(st.booleans()):
        numbers[-1], text[-1] = np.nan, None
    series = pl.Series("q0", text, dtype=pl.String)
    columns["q0"] = replace(of, type=ValueType.INTEGER, numbers=numbers, text=series, values=series)
    task = replace(task, table=replace(task.table, columns=columns))
    least = least_loss(task, ranges=True)
    if least is not None:
        check(task, LocalRecoding(effort="quick", ranges=True).run(task), least)


@given(task=tasks(st.integers(1, 3).map(lambda k: [KAnonymity(k=k)])))
@settings(max_examples=40, deadline=None)
def test_levels_alone_never_leave_the_hierarchies(task):
    try:
        outcome = LocalRecoding(effort="quick", cells="levels").run(task)
    except InfeasibleError:
        return
    for name, cells in outcome.cells.items():
        known = {label for level in task.hierarchies[name].levels for label in level.labels}
        assert {cells.labels[cell] for cell in cells.cell_of_class} <= known
