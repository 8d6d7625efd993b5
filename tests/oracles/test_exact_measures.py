"""Measures of bucketized and decomposed releases against sums over all people and rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.releases.kinds.bucketized import BucketizedKind
from discreet.releases.kinds.implied_groups import read_decomposed
from discreet.utility.divergence import kl_divergence
from discreet.utility.implied import QueryBatch

TABLES = st.lists(
    st.tuples(
        st.sampled_from("123"),
        st.sampled_from("uv"),
        st.sampled_from("abcd"),
        st.sampled_from("xyz"),
    ),
    min_size=2,
    max_size=24,
)


def release_of(rows, method, sensitive):
    frame = pl.DataFrame(rows, schema=["q", "r", "s", "t"], orient="row")
    roles = {"q": "quasi-identifier", "r": "quasi-identifier"}
    for name in ("s", "t"):
        roles[name] = "sensitive" if name in sensitive else "drop"
    attributes = {n: {"role": role} for n, role in roles.items()}
    try:
        return make_release(frame, dc.Job(attributes=attributes, method=method), seed=0)
    except dc.InfeasibleError:  # a value fills half of the rows: l = 1 is only given if asked for
        ell = 1 if len(sensitive) == 1 else dict.fromkeys(sensitive, 1)
        job = dc.Job(attributes=attributes, method={method: {"l": ell}})
        return make_release(frame, job, seed=0)


def divergence(original: Counter, release: dict) -> float:
    """Σ p1 ln(p1/p2) where both are masses that add up to the rows."""
    rows = sum(original.values())
    return sum(c / rows * math.log(c / release[key]) for key, c in original.items())


@given(TABLES)
@settings(max_examples=40, deadline=None)
def test_anatomy(rows):
    release = release_of(rows, "anatomy", ["s"])
    tables = release.coded_tables()
    implied = BucketizedKind().implied(release.task.table, tables, release.task, release.manifest)
    people = release.tables["quasi_identifiers"].rows(named=True)
    size = Counter(person["group"] for person in people)
    mass: dict = defaultdict(float)
    for person in people:
        for row in release.tables["sensitive"].rows(named=True):
            if row["group"] == person["group"]:
                share = row["count"] / size[person["group"]]
                mass[person["q"], person["r"], row["s"]] += share
    original = Counter((q, r, s) for q, r, s, _ in rows)
    assert kl_divergence(release.task.table, implied) == pytest.approx(divergence(original, mass))
    check_pairs_and_query(release, implied, mass)


def check_pairs_and_query(release, implied, mass):
    table = release.task.table
    pairs = implied.pair_table(table["q"], table["s"])
    for q, one in enumerate(table["q"].text.to_list()):
        for s, other in enumerate(table["s"].text.to_list()):
            expected = sum(m for key, m in mass.items() if key[0] == one and key[2] == other)
            assert pairs[q, s] == pytest.approx(expected, abs=1e-6)
    asked = {
        "q": np.arange(table["q"].cardinality) == 0,
        "s": np.arange(table["s"].cardinality) < 2,
    }
    batch = QueryBatch(np.array([0]), {name: member[:, None] for name, member in asked.items()})
    wanted = {
        name: set(table[name].text.filter(member).to_list()) for name, member in asked.items()
    }
    expected = sum(m for key, m in mass.items() if key[0] in wanted["q"] and key[2] in wanted["s"])
    assert implied.estimate(batch)[0] == pytest.approx(expected, abs=1e-6)


@given(TABLES)
@settings(max_examples=40, deadline=None)
def test_decomposition(rows):
    release = release_of(rows, "decomposition", ["s", "t"])
    tables = release.coded_tables()
    primary = release.manifest.method.primary
    raked, uniform_reading = read_decomposed(release.task.table, tables, primary)
    sets: dict = defaultdict(lambda: defaultdict(set))
    for row in release.tables["group_values"].rows(named=True):
        sets[row["group"]][row["attribute"]].add(row["value"])
    people = release.tables["groups"].rows(named=True)
    original = Counter(rows)

    uniform: dict = defaultdict(float)
    for person in people:
        own = sets[person["group"]]
        for s in own["s"]:
            for t in own["t"]:
                key = person["q"], person["r"], s, t
                uniform[key] += 1 / (len(own["s"]) * len(own["t"]))
    assert kl_divergence(release.task.table, uniform_reading) == pytest.approx(
        divergence(original, uniform)
    )

    assert raked is not None
    size = Counter(person["group"] for person in people)
    of_group = np.add.reduceat(raked.rows[0].mass, raked.rows[0].start[:-1])
    names = tables["groups"]["group"].text.to_list()
    assert of_group == pytest.approx([size[int(name)] for name in names], abs=1e-3)
    of_row = np.bincount(raked.rows[0].signature, raked.rows[0].mass)
    counts = Counter((s, t) for *_, s, t in rows)
    table = release.task.table
    for number, mass in enumerate(of_row):
        s = table["s"].text[int(raked.rows[0].codes["s"][number])]
        t = table["t"].text[int(raked.rows[0].codes["t"][number])]
        if not release.private["method"]["merged_groups"]:
            assert mass == pytest.approx(counts[s, t], rel=0.05)
    mass: dict = defaultdict(float)
    groups = np.repeat(np.arange(len(names)), np.diff(raked.rows[0].start))
    for group, number, one in zip(groups, raked.rows[0].signature, raked.rows[0].mass, strict=True):
        s = table["s"].text[int(raked.rows[0].codes["s"][number])]
        t = table["t"].text[int(raked.rows[0].codes["t"][number])]
        for person in people:
            if str(person["group"]) == names[group]:
                mass[person["q"], person["r"], s, t] += one / size[person["group"]]
    assert kl_divergence(release.task.table, raked) == pytest.approx(
        divergence(original, mass), abs=1e-9
    )
    check_pairs_and_query(release, raked, mass)
