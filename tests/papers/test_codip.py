"""The special cases and definitions of the CODIP paper, on tables small enough to do by hand."""

from __future__ import annotations

from math import log

import pytest
from tests import naive
from tests.tables import coded_table

from discreet.algorithms.plans import merge_steps
from discreet.models.information import (
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
