"""The special cases and definitions of the CODIP paper, on tables small enough to do by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import log
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.tables import coded_table

import discreet as dc
from discreet.methods.codip.plans import merge_steps
from discreet.pipeline.prepare import prepare
from discreet.requirements.mutual_information import (
    association_loss,
    information_exposure,
    measure_information,
)

# two equal attributes and one that is independent of both
HAND = {"a": list("ppqq"), "b": list("xxyy"), "c": list("0101")}
# table 1 (a) of the paper
PATIENTS = {
    "diagnosis": ["HT", "HT", "DB", "AS"],
    "family": ["HT", "DB", "HT", "AS"],
    "job": ["teacher", "lawyer", "farmer", "teacher"],
}


def information(columns, sensitive_values=None):
    return measure_information(coded_table(columns, "s" * len(columns)).sensitive, sensitive_values)


def test_entropy_and_mutual_information_of_equal_and_independent_attributes():
    found = information(HAND)
    assert found.entropy == pytest.approx([log(2)] * 3)
    assert found.mutual[0, 1] == pytest.approx(log(2))
    assert found.mutual[0, 2] == pytest.approx(0, abs=1e-15)
    assert found.exposable[0, 1] == pytest.approx(0, abs=1e-12)
    assert found.exposable[0, 2] == pytest.approx(2 * log(2))


def test_ratios_by_hand():
    found = information(HAND)
    together, apart = [[0, 1], [2]], [[0], [1, 2]]
    assert association_loss(found, together) == pytest.approx(0, abs=1e-12)
    assert association_loss(found, apart) == pytest.approx(1)
    assert information_exposure(found, together) == pytest.approx(0, abs=1e-12)
    # of E(a, c) = E(b, c) = 2 ln 2 one is in a table with two of three attributes
    assert information_exposure(found, apart) == pytest.approx(1 / 2 * 2 / 3)


def test_values_that_are_not_sensitive_expose_less():
    table = coded_table(HAND, "sss")
    only_p = {"a": table["a"].text.to_numpy() == "p"}
    found = information(HAND, only_p)
    assert found.sensitive_share == pytest.approx([0.5, 1, 1])
    assert found.exposable[0, 2] == pytest.approx(0.5 * log(2) + log(2))
    nothing = {name: table[name].text.to_numpy() == "?" for name in HAND}
    assert information_exposure(information(HAND, nothing), [[0, 1, 2]]) == 0


@pytest.mark.parametrize("columns", [HAND, PATIENTS], ids=["hand", "patients"])
def test_special_plans(columns):
    found = information(columns)
    one, each = [[0, 1, 2]], [[0], [1], [2]]
    assert association_loss(found, one) == 0
    assert association_loss(found, each) == 1
    assert information_exposure(found, one) == pytest.approx(1)
    assert information_exposure(found, each) == 0


def test_independent_attributes_have_nothing_to_lose():
    found = information({"a": list("0011"), "b": list("0101")})
    assert association_loss(found, [[0], [1]]) == 0


def test_equal_attributes_have_nothing_to_expose():
    found = information({"a": list("0011"), "b": list("0011")})
    assert information_exposure(found, [[0, 1]]) == 0


def test_a_bit_and_its_complement_tie_and_the_first_pair_wins():
    bits = {"a": [0, 0, 1, 1, 0], "b": [1, 1, 0, 0, 1], "c": [0, 1, 1, 0, 1], "d": [1, 0, 0, 1, 0]}
    steps = list(merge_steps(information(bits)))
    assert steps == [
        ((0,), (1,), (2,), (3,)),
        ((0, 1), (2,), (3,)),
        ((0, 1), (2, 3)),
        ((0, 1, 2, 3),),
    ]


def test_closeness_of_table_1():
    """Tables (c) and (d) are 0.25-close in diagnosis; every table is 0.5 in some attribute."""
    rows = [
        dict(zip(PATIENTS, cells, strict=True)) for cells in zip(*PATIENTS.values(), strict=True)
    ]
    tables = {"b": ((0, 1), (2, 3)), "c": ((0, 2), (1, 3)), "d": ((0, 3), (1, 2))}
    for name, classes in tables.items():
        groups = [[rows[i] for i in group] for group in classes]
        worst = [naive.t_equal_of(groups, attribute) for attribute in PATIENTS]
        assert max(worst) == 0.5
        if name != "b":
            assert worst[0] == 0.25


@given(
    rows=st.lists(
        st.tuples(*(st.sampled_from(cells) for cells in ("ab", "xy", "012", "012", "01"))),
        min_size=4,
        max_size=30,
    ),
    ell=st.integers(1, 2),
    beta=st.sampled_from([0.0, 0.4]),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_joining_tables_on_quasi_identifiers_tells_no_more_than_one_table(rows, ell, beta):
    """Theorem 2. A class of n rows with ℓ values has each at most n − ℓ + 1 times.

    The paper writes k for n, which holds for classes of exactly k: the bound rises with n. Somebody
    who joins the tables on a person's quasi-identifiers sees every row of one class beside every
    row of another, so the share of values from p tables is the product of their shares.
    """
    quasi, sensitive = ["q", "r"], ["s", "t", "u"]
    frame = pl.DataFrame(rows, schema=[*quasi, *sensitive], orient="row")
    job = dc.Job(
        attributes={
            **{name: {"role": "quasi-identifier", "hierarchy": "suppress"} for name in quasi},
            **{name: {"role": "sensitive"} for name in sensitive},
        },
        requirements=[{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": ell}}],
        method={"codip": {"beta": beta}},
    )
    try:
        release = dc.publish(frame, job, seed=0)
    except dc.InfeasibleError:
        assume(False)
    tables = [table.to_dicts() for table in release.tables.values()]
    for person in frame.unique(quasi).to_dicts():
        groups = [
            [row for row in table if all(row[name] in (person[name], "*") for name in quasi)]
            for table in tables
        ]
        bounds = [Fraction(len(group) - ell + 1, len(group)) for group in groups]
        for block in combinations(range(len(tables)), min(2, len(tables))):
            joined = [()]
            for number in block:
                own = [name for name in groups[number][0] if name in sensitive]
                cells = [tuple(row[name] for name in own) for row in groups[number]]
                joined = [(*before, cell) for before in joined for cell in cells]
            most = max(joined.count(value) for value in set(joined))
            product = Fraction(1)
            for number in block:
                product *= bounds[number]
            assert Fraction(most, len(joined)) <= product <= max(bounds)


def test_improvement_and_reduced_join_threat_of_section_4_3():
    """1 − t′/t and 1 − Γβ against the single table, which has the weakest closeness."""
    job = dc.Job.load(Path(__file__).parents[2] / "examples" / "codip" / "job.yaml")
    frontier = dc.Codip().explore(prepare(job))
    base = frontier.baseline.closeness
    assert base is not None
    assert base > 0
    for step in frontier.steps:
        assert step.closeness <= base
        assert step.improvement == pytest.approx(1 - step.closeness / base)
        assert step.reduced_join_threat == pytest.approx(1 - step.information_exposure)
