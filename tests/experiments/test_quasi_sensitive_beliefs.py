"""Figure 9 (a) of the paper on quasi-sensitive attributes: which mean has its shape."""

from __future__ import annotations

import pytest
from experiments.quasi_sensitive import QuasiSensitiveSettings, beliefs
from tests.real_data import real_data


@pytest.mark.data
def test_the_mean_of_the_greatest_change_is_least_at_1_and_most_at_2_and_then_falls(tmp_path):
    settings = QuasiSensitiveSettings(
        data=real_data("adult", "adult.csv"), output=tmp_path, rows=120, k=(1, 2, 5, 10)
    )
    found = list(beliefs(settings))
    by_k = {(row["requirement"], row["k"]): row for row in found}
    for ell in (30, 60):
        greatest = [by_k[f"c = 1, l = {ell}", k]["of the greatest"] for k in settings.k]
        assert greatest[1] > greatest[2] > greatest[3]
        assert greatest[0] < greatest[1] / 3
    for k in settings.k:
        first, second = (by_k[f"c = 1, l = {ell}", k] for ell in (30, 60))
        assert first["of the greatest"] == pytest.approx(second["of the greatest"], abs=0.01)
    flat = [row["over all labels"] for row in found]
    assert max(flat) < 1.1 * min(flat)
    assert max(flat) < 2 / 3000
