"""Noise, divergence and readers on the paper's own table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.real_data import real_data

import discreet as dc
from discreet.io.frames import code_frame
from discreet.methods.base import Task
from discreet.pipeline.run import make_release
from discreet.requirements.feasibility import permissible_ell
from discreet.table.roles import ColumnSpec, Role

QUASI_IDENTIFIERS = ["age", "fnlwgt", "marital-status", "race", "sex"]
SENSITIVE = ["occupation", "education", "hours-per-week", "relationship"]


def paper_adult() -> pl.DataFrame:
    frame = pl.read_csv(real_data("adult", "adult.csv"), infer_schema=False)[:32561]
    frame = frame.filter(~pl.any_horizontal(pl.all() == "?"))
    assert len(frame) == 30162
    return frame.select(*QUASI_IDENTIFIERS, *SENSITIVE)


def table(sensitive):
    frame = paper_adult().select(*QUASI_IDENTIFIERS, *sensitive)
    roles = dict.fromkeys(QUASI_IDENTIFIERS, Role.QUASI_IDENTIFIER)
    specs = {name: ColumnSpec(roles.get(name, Role.SENSITIVE)) for name in frame.columns}
    return code_frame(frame, specs)


@pytest.mark.data
def test_permissible_ell_of_the_paper_s_columns():
    coded = table(SENSITIVE)
    assert [permissible_ell(coded[name].counts) for name in SENSITIVE] == [7, 3, 2, 2]


@pytest.mark.data
@pytest.mark.parametrize(
    ("primary", "education", "most"),
    [(3, 3, 100), (4, 3, 10), (5, 3, 10), (7, 3, 10), (5, 5, 4733)],
)
def test_noise_stays_within_the_bounds_and_above_the_floor(primary, education, most):
    coded = table(["occupation", "education"])
    for seed in range(3):
        method = dc.Decomposition(
            l={"occupation": primary, "education": education}, beyond_permissible=True
        )
        outcome = method.run(Task(coded, {}, (), np.random.default_rng(seed)))
        groups = outcome.facts["groups"]
        floor = groups * education - np.minimum(coded["education"].counts, groups).sum()
        assert max(floor, 0) <= outcome.facts["noise_values"] <= most


@pytest.mark.data
def test_four_attributes_published_with_every_value_supported():
    frame = paper_adult()
    roles = dict.fromkeys(QUASI_IDENTIFIERS, "quasi-identifier")
    job = dc.Job(
        attributes={name: {"role": roles.get(name, "sensitive")} for name in frame.columns},
        method={"decomposition": {"l": {"occupation": 3}}},
    )
    release = make_release(frame, job, seed=0)
    values, sensitive = release.tables["group_values"], release.tables["sensitive"]
    sets = values.group_by("group", "attribute").agg("value").rows()
    by_group: dict = {}
    for group, attribute, listed in sets:
        by_group.setdefault(group, {})[attribute] = set(listed)
    distinct = sensitive.unique().rows()
    names = sensitive.columns
    by_primary: dict = {}
    for row in distinct:
        by_primary.setdefault(row[names.index("occupation")], []).append(row)
    wanted = {"occupation": 3, "education": 3, "hours-per-week": 2, "relationship": 2}
    short = [
        group for group, s in by_group.items() if any(len(s[n]) < ell for n, ell in wanted.items())
    ]
    assert not short
    assert release.private["method"]["noise_values"] > 0
    for s in list(by_group.values())[:2000]:
        supported = [
            row
            for primary in s["occupation"]
            for row in by_primary[primary]
            if all(v in s[n] for v, n in zip(row, names, strict=True))
        ]
        assert all(s[n] == {row[i] for row in supported} for i, n in enumerate(names))
