"""A check of a Spark frame has the figures of the same table on one machine."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet")  # on pandas 3


@pytest.mark.parametrize("person", [(), ("who", "ward")])
def test_a_spark_frame_is_checked_as_any_other(spark, person):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.choice(["*", "[20, 30)", "[30, 40)", None], 300).tolist(),
            "a zip.code": rng.choice(["a", "A", "b"], 300),
            "ill": rng.choice(["flu", "gout", "ache", None], 300).tolist(),
            "pay": rng.choice([1, 2, 3, 50], 300),
            "who": rng.choice(["p", "q", "r", "s", "", None], 300).tolist(),
            "ward": rng.integers(0, 9, 300),
        }
    )
    roles = {"quasi": ["age", "a zip.code"], "sensitive": ["ill", "pay"], "person": person}
    asked = {**roles, "k": 20, "l": 3, "t": 0.1, "figures": True}
    here = dc.check(frame, **asked)
    there = dc.check(spark.createDataFrame(frame.to_arrow()), **asked)
    assert there.to_dict() == here.to_dict()


def test_columns_of_a_spark_frame_that_share_a_name(spark):
    cells = [(20 + n % 2, "ab"[n % 2], "ab"[n % 2], "uvw"[n % 3]) for n in range(24)]
    frame = spark.createDataFrame(cells, ["age", "x", "y", "z"]).toDF("age", "ill", "ill", "ill")
    checked = dc.check(frame, quasi=["age"], sensitive=["ill_3"], k=2, l=3)
    assert checked.ok and any("'ill' as 'ill_3'" in remark for remark in checked.remarks)
    job = dc.Job(
        attributes={"age": {"role": "quasi-identifier"}, "ill_3": {"role": "sensitive"}},
        requirements=[dc.KAnonymity(k=2), dc.DistinctLDiversity(l=3)],
        method="mondrian",
        unit="rows",
    )
    with pytest.warns(UserWarning, match="'ill' as 'ill_2', 'ill' as 'ill_3'"):
        release = dc.publish(frame, job)
    assert release.tables["records"].columns == ["age", "ill_3"]
