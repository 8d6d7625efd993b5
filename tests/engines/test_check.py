"""A check of a Spark frame has the figures of the same table on one machine."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc


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
