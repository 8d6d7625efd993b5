"""Plans, ratios and the table of nodes against direct computation in plain Python."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.tables import coded_table, hierarchy_from_rows

from discreet.errors import InfeasibleError
from discreet.methods.base import Secrets, Task
from discreet.methods.codip.codip import Codip, Projector
from discreet.methods.codip.plans import Ratios, merge_steps, ordered, partitions
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.mutual_information import (
    association_loss,
    information_exposure,
    measure_information,
)

Q = {
    "q": [["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]],
    "r": [["x", "*"], ["y", "*"]],
}
NODES = list(product(range(3), range(2)))


def full_domain(**parameters) -> Codip:
    """The paper's search: one level for all rows, and no bound on what a known value reveals."""
    return Codip(recoding="full-domain", insider=False, **parameters)


@st.composite
def tables(draw: st.DrawFn, most: int = 4, rows: int = 14) -> dict[str, list[str]]:
    count = draw(st.integers(1, most))
    cells = [st.sampled_from("abc"), st.sampled_from("xy")]
    cells += [st.sampled_from("0123"[: draw(st.integers(1, 4))]) for _ in range(count)]
    drawn = draw(st.lists(st.tuples(*cells), min_size=1, max_size=rows))
    names = ["q", "r", *(f"s{i}" for i in range(count))]
    return {
        name: list(column) for name, column in zip(names, zip(*drawn, strict=True), strict=True)
    }


def task_of(columns: dict[str, list[str]], requirements, sensitive_values=None) -> Task:
    table = coded_table(columns, "qq" + "s" * (len(columns) - 2))
    hierarchies = {name: hierarchy_from_rows(table[name], rows) for name, rows in Q.items()}
    return Task(
        table, hierarchies, requirements, np.random.default_rng(0),
        secrets=Secrets(sensitive_values or {}),
    )  # fmt: skip


def sensitive_of(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: cells for name, cells in columns.items() if name.startswith("s")}


def groups_at(columns, node):
    label = {name: {row[0]: row for row in rows} for name, rows in Q.items()}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    keyed = [
        {**row, **{n: label[n][row[n]][level] for n, level in zip("qr", node, strict=True)}}
        for row in rows
    ]
    return naive.classes(keyed, ["q", "r"])


@given(columns=tables(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_ratios_equal_the_paper_s_sums(columns, data):
    sensitive = sensitive_of(columns)
    names = list(sensitive)
    marks = {
        name: set(data.draw(st.lists(st.sampled_from("0123"), max_size=3), label=name))
        for name in names
    }
    table = coded_table(sensitive, "s" * len(names))
    masks = {n: np.array([v not in marks[n] for v in table[n].text]) for n in names}
    information = measure_information(table.sensitive, masks)
    sens = {name: (lambda value, out=marks[name]: value not in out) for name in names}
    ratios = Ratios(information)
    for plan in partitions(len(names)):
        named = [[names[a] for a in block] for block in plan]
        loss, exposed = naive.association_loss_of(sensitive, named), naive.exposure_of(
            sensitive, named, sens
        )  # fmt: skip
        assert association_loss(information, plan) == pytest.approx(loss, abs=1e-9)
        assert ratios.association_loss(plan) == pytest.approx(loss, abs=1e-9)
        assert information_exposure(information, plan) == pytest.approx(exposed, abs=1e-9)
        assert ratios.exposure(plan) == pytest.approx(exposed, abs=1e-9)


@given(columns=tables())
@settings(max_examples=80, deadline=None)
def test_merges_are_those_of_the_plain_algorithm(columns):
    sensitive = sensitive_of(columns)
    names = list(sensitive)
    information = measure_information(coded_table(sensitive, "s" * len(names)).sensitive)
    steps = [[[names[a] for a in block] for block in plan] for plan in merge_steps(information)]
    assert steps == naive.greedy_plans(sensitive)


@pytest.mark.parametrize(("attributes", "bell"), [(1, 1), (3, 5), (5, 52), (9, 21147)])
def test_partitions_are_all_and_each_once(attributes, bell):
    plans = list(partitions(attributes))
    assert len(plans) == len(set(plans)) == bell
    assert all(plan == ordered(plan) for plan in plans)


@given(
    columns=tables(),
    k=st.integers(1, 5),
    t=st.sampled_from([0.0, 0.2, 0.4, 1.0]),
    ell=st.integers(1, 2),
    dm=st.sampled_from([None, 20.0, 60.0]),
)
@settings(max_examples=80, deadline=None)
def test_the_node_table_equals_brute_force(columns, k, t, ell, dm):
    names = list(sensitive_of(columns))
    requirements = [KAnonymity(k=k), TCloseness(t=t), DistinctLDiversity(l=ell)]
    projector = Projector(task_of(columns, requirements), full_domain(dm=dm, minimize="height"))
    table = projector.recoder
    valid = {}
    for node in NODES:
        groups = groups_at(columns, node)
        size = sum(len(group) ** 2 for group in groups)
        if naive.k_of(groups) >= k and (dm is None or size <= dm):
            valid[node] = groups
    assert {table.node(n) for n in range(len(table.nodes))} == set(valid)
    for number in range(len(table.nodes)):
        for a, name in enumerate(names):
            groups = valid[table.node(number)]
            distance = naive.t_equal_of(groups, name)
            assert table.closeness[number, a] == pytest.approx(float(distance), abs=1e-12)
            good = distance <= t + 1e-9 and naive.distinct_of(groups, name) >= ell
            assert table.passes[number, a] == good
    for block in {block for plan in partitions(len(names)) for block in plan}:
        passing = [
            node for node, groups in valid.items()
            if all(
                naive.t_equal_of(groups, names[a]) <= t + 1e-9
                and naive.distinct_of(groups, names[a]) >= ell
                for a in block
            )
        ]  # fmt: skip
        best = min(passing, key=lambda node: (sum(node), node), default=None)
        found = table.cheapest(block)
        assert (None if found is None else table.node(found)) == best


@given(
    columns=tables(rows=24),
    t=st.sampled_from([0.1, 0.3, 1.0]),
    beta=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    alpha=st.sampled_from([0.3, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_greedy_and_exhaustive_plans(columns, t, beta, alpha):
    sensitive = sensitive_of(columns)
    requirements = [KAnonymity(k=2), TCloseness(t=t)]
    dm = 0.6 * len(columns["q"]) ** 2

    def publishable(block):
        for node in NODES:
            groups = groups_at(columns, node)
            small = sum(len(group) ** 2 for group in groups) <= dm and naive.k_of(groups) >= 2
            if small and all(naive.t_equal_of(groups, name) <= t + 1e-9 for name in block):
                return True
        return False

    def accepted(plan):
        exposed = naive.exposure_of(sensitive, plan)
        return exposed <= beta + 1e-9 and all(publishable(block) for block in plan)

    expected = None
    for plan in naive.greedy_plans(sensitive):
        if not accepted(plan):
            break
        expected = plan
    if expected and naive.association_loss_of(sensitive, expected) > alpha + 1e-9:
        expected = None

    def run(how):
        method = full_domain(plan=how, alpha=alpha, beta=beta, dm=dm)
        try:
            return method.run(task_of(columns, requirements)).facts
        except InfeasibleError as error:
            assert error.failures
            return None

    greedy, best = run("greedy"), run("exhaustive")
    assert (greedy and greedy["plan"]) == expected
    names = list(sensitive)
    losses = [
        naive.association_loss_of(sensitive, named)
        for plan in partitions(len(names))
        if accepted(named := [[names[a] for a in block] for block in plan])
    ]
    if best is None:
        assert min(losses, default=2.0) > alpha
    else:
        assert best["association_loss"] == pytest.approx(min(losses), abs=1e-9)
    if greedy is not None:
        assert best is not None
        assert best["association_loss"] <= greedy["association_loss"] + 1e-9


@given(columns=tables(most=3, rows=30), k=st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_more_attributes_are_never_closer(columns, k):
    """Theorem 1: a table with fewer sensitive attributes reaches at least the same closeness."""
    projector = Projector(task_of(columns, [KAnonymity(k=k)]), full_domain())
    blocks = sorted({block for plan in partitions(len(projector.names)) for block in plan})
    for block in blocks:
        for smaller in blocks:
            if set(smaller) <= set(block):
                less = projector.recoder.best_closeness(smaller)
                more = projector.recoder.best_closeness(block)
                assert (less is None) == (more is None)
                assert less is None or less <= more + 1e-12
    steps = projector.frontier().steps
    for finer, coarser in pairwise(steps):
        assert finer.information_exposure <= coarser.information_exposure + 1e-12
        assert finer.association_loss >= coarser.association_loss - 1e-12
        assert finer.closeness is None or finer.closeness <= coarser.closeness + 1e-12


@given(columns=tables(most=3), ell=st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_requirements_that_depend_on_the_whole_block(columns, ell):
    requirement = MultiAttributeLDiversity(l=ell)
    projector = Projector(task_of(columns, [requirement]), full_domain(minimize="height"))
    names = projector.names
    for block in {block for plan in partitions(len(names)) for block in plan}:
        chosen = [names[a] for a in block]
        passing = [
            node
            for node in NODES
            if all(
                naive.multi_attribute_distinct_of(groups_at(columns, node), name, chosen) >= ell
                for name in chosen
            )
        ]
        best = min(passing, key=lambda node: (sum(node), node), default=None)
        found = projector.recoder.cheapest(block)
        assert (None if found is None else projector.recoder.node(found)) == best
