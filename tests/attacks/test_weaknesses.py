"""The report of a release names the readers that its promises leave open, and no others."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.attacks.registry import ATTACKS
from discreet.releases.explanation import known_weaknesses

ATTRIBUTES = {
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": [10, 30, "*"]},
    },
    "illness": {"role": "sensitive"},
    "work": {"role": "sensitive"},
}
K = {"k-anonymity": {"k": 3}}
NAIVE = {"distinct-l-diversity": {"l": 2}}
BOUND = {"p-diversity": {"l": 2}}
WHOLE = {"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 1.1}}}}
CLOSE = {"t-closeness": {"t": 0.6}}
APART = {"codip": {"plan": "given", "tables": [["illness"], ["work"]]}}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, 120),
            "illness": rng.choice(list("abcdef"), 120),
            "work": rng.choice(list("uvwxyz"), 120),
        }
    )


@pytest.mark.parametrize(
    ("method", "requirements", "named", "not_named"),
    [
        ("mondrian", [K], {"homogeneity", "background-join", "definetti"}, {"minimality"}),
        ("mondrian", [K, NAIVE], {"non-membership", "background-join", "minimality"},
         {"membership", "homogeneity"}),
        ("mondrian", [K, BOUND], {"background-join", "minimality"}, {"non-membership"}),
        ("mondrian", [K, WHOLE], {"minimality"}, {"background-join"}),
        ({"msa-diversity": {"grouping": "curve"}}, [{"m-diversity": {"l": 2}}],
         {"background-join", "minimality"}, {"non-membership", "associated"}),
        ({"msa-diversity": {"publish": "buckets"}}, [{"m-diversity": {"l": 2}}],
         {"membership", "definetti"}, {"link-through-sensitive-table"}),
        ("decomposition", [], {"link-through-sensitive-table", "membership"},
         {"homogeneity", "background-join", "minimality"}),
        (APART, [K, CLOSE], {"associated", "definetti"}, {"background-join", "membership"}),
    ],
)  # fmt: skip
def test_what_is_left_open_is_named(table, tmp_path, method, requirements, named, not_named):
    job = dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method)
    release = dc.publish(table, job, seed=0)
    said = set(re.findall(r"\(([a-z-]+)\)", " ".join(known_weaknesses(release.manifest))))
    assert said <= set(ATTACKS)
    assert said >= named | {"intersection"}
    assert not said & not_named
    page = (release.save(tmp_path / "release", **UNATTACKED) / "report.html").read_text(
        encoding="utf-8"
    )
    assert all(f"({name})" in page for name in said)


def test_blind_blocks_say_the_same_whether_rows_looked_across_or_not(table):
    def said(block):
        method = {"msa-diversity": {"grouping": "blocks", "block": block}}
        job = dc.Job(attributes=ATTRIBUTES, requirements=[BOUND], method=method)
        release = dc.publish(table, job, seed=0)
        across = release.private["method"]["steps"]["across_blocks"]
        return across, " ".join(known_weaknesses(release.manifest))

    some, sentences = said(4)
    none, others = said(120)
    assert some > 1
    assert none == 0
    assert "may have been placed by their sensitive values" in sentences
    assert sentences == others  # how many is known to the publisher alone
