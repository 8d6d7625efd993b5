"""Profiles of real tables against figures that were found elsewhere."""

from __future__ import annotations

import polars as pl
import pytest
from tests.real_data import adult, real_data
from tests.tables import coded_frame, coded_table

from discreet.job.table_profile import profile_table

pytestmark = pytest.mark.data


def test_the_risk_of_the_raw_columns():
    found = profile_table(coded_frame(adult()))
    assert found.risk is not None
    assert found.risk.average_risk == pytest.approx(0.64657516, abs=1e-8)


def test_permissible_ell_on_adult():
    frame = pl.read_csv(real_data("adult", "adult.csv"), null_values="?").head(32_561).drop_nulls()
    assert frame.height == 30_162
    names = ["age", "occupation", "education", "hours-per-week", "relationship"]
    found = profile_table(coded_frame(frame.select(names), "qssss"))
    assert {s.name: s.l_per for s in found.sensitive} == {
        "occupation": 7,
        "education": 3,
        "hours-per-week": 2,
        "relationship": 2,
    }
    assert found.primary == "occupation"
    assert found.sensitive[0].values == 14


@pytest.mark.parametrize(
    ("opinions", "ell", "share"),
    [
        (["Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2"], 2, 0.0),
        (["Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2"], 3, 0.055),
        (["Q3_2", "Q3_3"], 4, 0.28),
        (["Q3_2", "Q3_3", "Q17_4", "Q2_4", "Q9_2"], 4, 0.47),
        (["Q2_1"], 2, 0.63),
    ],
)
def test_least_suppressed_of_opinions(opinions, ell, share):
    frame = pl.read_csv(real_data("opinions", "nonvoters.csv"), infer_schema_length=None)
    columns = {name: frame[name].to_list() for name in ["ppage", *opinions]}
    found = profile_table(coded_table(columns, "q" + "s" * len(opinions)))
    assert found.least_suppressed[ell] == pytest.approx(share, abs=0.005)
