"""Refinement: rows with the finest cells that were published around them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.addons.tables.attack_table import attack_table

K = 3
WIDTHS = (5, 10, 20, 40)  # of the bands of each state, finest first


def recoded_as_arx_does(frame: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Publish rows in the finest bands that at least K of the remaining rows share."""
    ages = frame["age"].to_numpy()
    label = np.full(len(ages), "*", dtype=object)
    left = np.ones(len(ages), bool)
    for width in WIDTHS:
        band = ages // width
        counts = np.bincount(band[left], minlength=band.max() + 1)
        takes = left & (counts[band] >= K)
        for row in np.flatnonzero(takes):
            label[row] = f"[{band[row] * width}, {(band[row] + 1) * width}["
        left &= ~takes
    return frame.with_columns(pl.Series("age", label.tolist())), label


@pytest.mark.parametrize("seed", range(8))
def test_where_finest_groups_come_first_every_person_is_placed(seed):
    rng = np.random.default_rng(seed)
    ages = np.concatenate([rng.integers(0, 40, 60), rng.integers(40, 120, 25)])
    frame = pl.DataFrame({"age": ages, "disease": rng.choice(list("abcd"), len(ages))})
    table, label = recoded_as_arx_does(frame)
    found = attack_table(table, original=frame, quasi=["age"], sensitive=["disease"])
    assert found.exact is not None
    refined = [one for one in found.exact.findings if one.attack == "refinement"]
    if not refined:
        assert "refinement" in found.exact.inapplicable
        return
    # The belief of an attacker who is told the group of every person, counted by hand.
    disease = frame["disease"].to_numpy()
    told = [(disease[label == label[row]] == disease[row]).mean() for row in range(len(frame))]
    assert refined[0].mean == pytest.approx(np.mean(told))
    assert refined[0].details["ruled_out"] > 0
    plain = next(one for one in found.exact.findings if one.attack == "homogeneity")
    assert refined[0].details["mean_without_refinement"] == pytest.approx(plain.mean)


def test_groups_that_do_not_overlap_are_not_refined():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(0, 60, 80), "disease": rng.choice(list("ab"), 80)})
    job = {
        "attributes": {
            "age": {"role": "quasi-identifier", "type": "integer"},
            "disease": {"role": "sensitive"},
        },
        "requirements": [{"k-anonymity": {"k": 3}}],
    }
    for method in ("full-domain", {"mondrian": {"cuts": "strict"}}):
        release = dc.publish(frame, {**job, "method": method}, seed=1)
        report = dc.attack(release, original=frame, attacks=["refinement"])
        assert list(report.inapplicable) == ["refinement"]
