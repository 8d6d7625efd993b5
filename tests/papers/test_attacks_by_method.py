"""Readers who know how a release was made."""

from __future__ import annotations

import pytest
from tests.attacks.handmade import write_csv

import discreet as dc


def test_minimality_of_full_domain(tmp_path):
    """q1,q1,q2,q2,q2,q2 with a,a,b,c,d,e at ℓ = 2: one class, share of a 1/3, belief 1."""
    rows = [["q1", "a"], ["q1", "a"], *(["q2", v] for v in "bcde")]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    job = dc.Job(
        source={"path": str(tmp_path / "table.csv")},
        attributes={
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "v": {"role": "sensitive"},
        },
        requirements=[{"distinct-l-diversity": {"l": 2}}],
        method="full-domain",
    )
    release = dc.publish(None, job, seed=0)
    (plain, found) = dc.attack(
        release, original=job, attacks=["homogeneity", "minimality"]
    ).findings
    assert plain.greatest == pytest.approx(1 / 3)
    assert found.method == "exact"
    assert found.certain == pytest.approx(2 / 6)
    assert found.verdict == "no guarantee against this"
    # The bound by drawn worlds is a bound.
    bound = dc.attack(release, original=job, attacks=[{"minimality": {"worlds": 1}}])
    if bound.findings:
        assert bound.findings[0].method.startswith("at most share/acceptance")
    else:
        assert bound.omitted["minimality"].startswith("not assessed")


def test_minimality_of_mondrian_by_leaves(tmp_path):
    """A class that every allowed cut would have broken tells why it was not cut."""
    rows = [["1", "a"], ["1", "a"], ["2", "b"], ["2", "c"]]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    job = dc.Job(
        source={"path": str(tmp_path / "table.csv")},
        attributes={
            "q": {"role": "quasi-identifier", "type": "integer"},
            "v": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
        method="mondrian",
    )
    release = dc.publish(None, job, seed=0)
    for worlds, how in ((1000, "exact"), (1, "leaf")):
        (found,) = dc.attack(
            release, original=job, attacks=[{"minimality": {"worlds": worlds}}]
        ).findings
        assert found.method == how
        # Of the 12 worlds 4 have both a on one side: a belief of 1/2 in everybody's truth
        # becomes 1/2 for a (either side) and 1/4 for b and c.
        assert found.mean == pytest.approx((1 / 2 + 1 / 2 + 1 / 4 + 1 / 4) / 4)


def test_minimality_of_groups_along_the_curve(tmp_path):
    """Rows a, a, b, c in curve order at ℓ = 2; blind blocks are immune."""
    rows = [["1", "a"], ["2", "a"], ["3", "b"], ["4", "c"]]
    write_csv(tmp_path / "table.csv", ["q", "v"], rows)
    findings = {}
    for grouping in ("curve", "blocks"):
        job = dc.Job(
            source={"path": str(tmp_path / "table.csv")},
            attributes={
                "q": {"role": "quasi-identifier", "type": "integer"},
                "v": {"role": "sensitive"},
            },
            requirements=[{"m-diversity": {"l": 2}}],
            method={"msa-diversity": {"grouping": grouping, "publish": "buckets"}},
        )
        release = dc.publish(None, job, seed=0)
        findings[grouping] = dc.attack(release, original=job, attacks=["minimality"])
    (found,) = findings["curve"].findings
    assert found.method == "exact"
    assert found.certain == 1  # all four: {1, 4} and {2, 3} were not {1, 2} and {3, 4}
    assert "immune" in findings["blocks"].inapplicable["minimality"]
