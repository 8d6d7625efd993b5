"""Several skewed attributes together: what each method promises of them, on made-up tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.skewed import (
    Case,
    acquaintance,
    insider,
    measured,
    methods,
    public_verdict,
    quasi,
    scene_of,
    secret,
    yes_no,
    yes_no_attributes,
)

import discreet as dc

BY_LISTS = {"distinct-l-diversity": {"l": 2}}
DECOMPOSITION = {"insider": True, "beyond_permissible": True}


def scores(rows=600):
    """A score of ten grades, and two yes/no columns that go with it: nearly half, and few."""
    rng = np.random.default_rng(5)
    score = rng.integers(1, 11, rows)
    return pl.DataFrame(
        {
            "number": range(rows),
            "age": rng.integers(18, 80, rows),
            "score": score.astype(str),
            "again": np.where(rng.random(rows) < 0.2 + 0.05 * score, "yes", "no"),
            "violent": np.where(rng.random(rows) < 0.02 * score, "yes", "no"),
        }
    )


SCORES = {
    "number": {"role": "identifier"},
    **quasi(age="integer"),
    "score": secret(),
    "again": secret("yes"),
    "violent": secret("yes"),
}


def released(tmp_path, frame, attributes, method, asked):
    job = {"attributes": attributes, "requirements": asked, "method": method}
    release = dc.publish(frame, job, seed=1)
    place = release.save(tmp_path / "release", accept_risk="A test.")
    return release, scene_of(release, place)


def test_groups_are_merged_until_an_insider_gains_little(tmp_path):
    frame = scores()
    plain = {"decomposition": DECOMPOSITION | {"insider": False}}
    _, before = released(tmp_path / "plain", frame, SCORES, plain, [BY_LISTS])
    merged = {"decomposition": DECOMPOSITION}
    release, after = released(tmp_path / "merged", frame, SCORES, merged, [BY_LISTS])
    assert insider(before, 2) > 0.1
    assert insider(after, 2) <= 0.01
    assert acquaintance(after, 2) <= 1
    assert release.verdict().word == "Ready to sign"


def test_a_table_that_no_grouping_can_hide_becomes_one_group(tmp_path):
    """Both columns are "yes" in half of the rows: any list that leaves a value out tells more."""
    frame = pl.DataFrame(
        {
            "age": [20, 30, 40, 50] * 3,
            "first": ["yes", "yes", "no", "no"] * 3,
            "second": ["yes", "no", "yes", "no"] * 3,
        }
    )
    attributes = {**quasi(age="integer"), "first": secret("yes"), "second": secret("yes")}
    method = {"decomposition": DECOMPOSITION}
    _, scene = released(tmp_path, frame, attributes, method, [BY_LISTS])
    assert insider(scene, 2) == 0


@pytest.mark.parametrize("name", ["decomposition", "codip", "unlinked"])
def test_yes_no_columns_are_hidden_from_insiders(name):
    case = Case("3 yes/no", lambda: yes_no(3, 2_000), yes_no_attributes(3), (2,))
    method, asked = methods(case, 2)[name]
    found = measured(case, case.frame(), 2, method, asked)
    assert found.verdict == "Ready to sign"
    assert (found.lost, found.masked) == (0, 0)
    assert found.acquaintance <= 1
    assert found.insider <= 0.01


def test_unlinked_tables_are_ready_for_everybody_with_a_new_ledger():
    case = Case("3 yes/no", lambda: yes_no(3, 500), yes_no_attributes(3), (2,))
    assert public_verdict(case, case.frame(), "unlinked", []) == "Ready to sign"
