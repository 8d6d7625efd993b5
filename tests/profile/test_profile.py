from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_table

from discreet.job.table_profile import profile_table


def naive_risk(columns, names):
    rows = list(zip(*(columns[name] for name in names), strict=True))
    sizes = Counter(rows)
    alone = sum(size == 1 for size in sizes.values())
    return len(sizes), alone / len(rows), len(sizes) / len(rows)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5),
    st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * 5), min_size=1, max_size=15),
)
def test_every_subset_has_its_risk(width, rows):
    columns = {f"q{i}": [row[i] for row in rows] for i in range(width)}
    found = profile_table(coded_table(columns))
    expected = {
        names: naive_risk(columns, names)
        for size in range(1, width + 1)
        for names in combinations(columns, size)
    }
    measured = {s.columns: (s.classes, s.unique_share, s.average_risk) for s in found.subsets}
    assert measured == expected
    assert len(found.subsets) == 2**width - 1
    assert found.risk is not None
    assert found.risk.columns == tuple(columns)
    order = [(len(s.columns), -s.average_risk) for s in found.subsets]
    assert order == sorted(order)


@pytest.mark.parametrize(("width", "sizes"), [(9, (1, 2, 3)), (30, (1, 2)), (60, (1,))])
def test_many_quasi_identifiers_get_small_subsets_and_the_whole(width, sizes):
    rng = np.random.default_rng(3)
    columns = {f"q{i}": rng.integers(0, 3, 40).tolist() for i in range(width)}
    found = profile_table(coded_table(columns))
    assert found.subset_sizes == sizes
    assert len(found.subsets) == sum(math.comb(width, size) for size in sizes) + 1
    for subset in found.subsets[:: max(len(found.subsets) // 20, 1)]:
        figures = (subset.classes, subset.unique_share, subset.average_risk)
        assert figures == naive_risk(columns, subset.columns)
    assert found.risk == found.subsets[-1]
    assert found.risk.columns == tuple(columns)


TABLE = coded_table(
    {
        "age": [1, 1, 2, 2, 3, 3, None, None],
        "ill": ["flu", "flu", "gout", "flu", "gout", "flu", "pox", "flu"],
        "ward": ["north", "north", "south", "north", "south", "north", "east", "north"],
        "paid": [1, 2, 1, 2, 1, 2, 1, 2],
        "note": ["n"] * 8,
    },
    "qsssi",
)


def test_sensitive_attributes_by_hand():
    found = profile_table(TABLE)
    ill, ward, paid = found.sensitive
    assert (ill.values, ill.l_per, ill.largest_share) == (3, 1, 0.625)
    assert (paid.values, paid.l_per) == (2, 2)
    assert paid.entropy_l == pytest.approx(2)
    assert ill.least_suppressed == {2: 0.25, 3: 5 / 8, 4: 1, 5: 1}
    assert paid.least_suppressed == {2: 0, 3: 1, 4: 1, 5: 1}
    assert found.least_suppressed == {2: 0.25, 3: 1, 4: 1, 5: 1}
    assert ill.raw_t == pytest.approx(0.375)  # both flu against 5 of 8
    assert paid.raw_t == pytest.approx(0)
    assert found.primary == "paid"
    assert ward.l_per == ill.l_per


def test_mutual_information():
    pairs = {(a.first, a.second): a for a in profile_table(TABLE).associations}
    entropy = -sum(p * math.log(p) for p in (5 / 8, 2 / 8, 1 / 8))
    assert pairs["ill", "ward"].mutual_information == pytest.approx(entropy)
    assert pairs["ill", "ward"].normalized == pytest.approx(1)
    joint = Counter(zip(TABLE["ill"].codes.tolist(), TABLE["paid"].codes.tolist(), strict=True))
    ill, paid = (Counter(TABLE[name].codes.tolist()) for name in ("ill", "paid"))
    expected = sum(c / 8 * math.log(c * 8 / (ill[i] * paid[p])) for (i, p), c in joint.items())
    assert pairs["ill", "paid"].mutual_information == pytest.approx(expected)


def test_the_primary_attribute_is_the_first_of_equals():
    table = coded_table({"q": [1, 2], "a": ["x", "y"], "b": ["x", "y"]}, "qss")
    assert profile_table(table).primary == "a"


def test_columns_and_missing_cells():
    age = profile_table(TABLE).columns[0]
    assert (age.name, age.role, age.type) == ("age", "quasi-identifier", "integer")
    assert (age.distinct, age.missing) == (3, 2)


def test_without_roles_they_are_proposed():
    table = coded_table(
        {
            "patient_id": list(range(30)),
            "age": [20 + i % 7 for i in range(30)],
            "diagnosis": ["flu", "gout", "pox"] * 10,
        }
    )
    found = profile_table(table, roles_known=False)
    assert found.quasi_identifiers == ("age", "diagnosis")
    assert [s.name for s in found.sensitive] == ["diagnosis"]
    assert found.to_dict()["proposals"]["patient_id"]["role"] == "identifier"
    assert found.columns[0].role == "identifier"


@pytest.mark.parametrize("roles_known", [True, False])
def test_no_value_of_the_table_is_shown(roles_known):
    found = profile_table(TABLE, roles_known=roles_known)
    shown = str(found) + json.dumps(found.to_dict())
    assert "average re-identification risk" in shown
    assert "paid" in shown
    for value in ("flu", "gout", "pox", "north", "south"):
        assert value not in shown


def test_an_empty_table():
    found = profile_table(TABLE.take(np.zeros(0, np.int64)))
    assert found.risk is None
    assert found.sensitive[0].raw_t is None
    assert found.sensitive[0].l_per == 0
    assert str(found)
