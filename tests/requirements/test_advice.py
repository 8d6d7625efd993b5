"""Infeasible requirements: the message names attribute and share, and its advice works."""

from __future__ import annotations

import math
import random
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc


def frame(values, rows=40):
    return pl.DataFrame({"age": list(range(rows)), "d": values})


def job(requirement, method="mondrian"):
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "d": {"role": "sensitive"},
    }
    return dc.Job(attributes=attributes, requirements=[requirement], method=method)


def message(data, asked, method="mondrian"):
    with pytest.raises(dc.InfeasibleError) as caught:
        dc.publish(data, job(asked, method))
    assert "flu" not in str(caught.value)  # a share, never the value
    return str(caught.value), caught.value.failures


@pytest.mark.parametrize("method", ["mondrian", "full-domain", "local-recoding"])
def test_it_names_attribute_share_and_changes_with_their_cost(method):
    said, (failure,) = message(
        frame(["flu"] * 28 + ["gout"] * 12), {"p-diversity": {"l": 2}}, method
    )
    assert "One value of 'd' fills 70.0% of the rows." in said
    assert "at most that, l = 1.428 (weaker protection)" in said
    assert "leave out at least 40.0% of the rows" in said
    assert "drop 'd' (analysts lose it)" in said
    assert failure["largest_shares"] == {"d": 0.7}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]))
def test_the_smaller_figure_and_the_fewer_rows_are_feasible(seed, ell):
    draw = random.Random(seed)
    values = [draw.choice(["flu", "flu", "flu", "flu", "gout", "pox", "cold"]) for _ in range(40)]
    asked = {"p-diversity": {"l": ell}}
    try:
        dc.publish(frame(values), job(asked))
        return
    except dc.InfeasibleError as error:
        said = str(error)
    smaller = re.search(r"at most that, l = ([\d.]+) ", said)
    if smaller:
        assert dc.publish(frame(values), job({"p-diversity": {"l": float(smaller[1])}})).audit.ok
    gone = re.search(r"at least ([\d.]+)% of the rows", said)
    assert gone
    common = max(set(values), key=values.count)
    fewer = math.ceil(round(float(gone[1]) / 100 * 40, 3) + 0.02)
    left = list(values)
    for _ in range(fewer):
        left.remove(common)
    largest = max(left.count(value) for value in set(left))
    if common == max(set(left), key=left.count) and len(left) > 0:
        assert largest * ell <= len(left) + ell  # within one row of feasible


@pytest.mark.parametrize("method", ["mondrian", "full-domain", "local-recoding", "anatomy"])
@pytest.mark.parametrize(
    "asked", [{"distinct-l-diversity": {"l": 2}}, {"p-diversity": {"l": 3}},
              {"entropy-l-diversity": {"l": 2}}],
)  # fmt: skip
def test_no_message_advises_what_protects_nothing(method, asked):
    said, _ = message(frame(["flu"] * 40), asked, method)
    assert not re.search(r"(ask|state|for)[^.]* (l|t) = 1\b(?!\.\d)", said, re.IGNORECASE)
    assert "drop" in said
