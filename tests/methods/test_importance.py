"""The importance of a quasi-identifier: which column full-domain and mondrian keep finer."""

from __future__ import annotations

import polars as pl
import pytest

import discreet as dc

ROWS = pl.DataFrame(
    {
        "a": [str(i % 4) for i in range(32)],
        "b": [str(i // 4 % 4) for i in range(32)],
        "ill": ["flu" if i % 3 else "gout" for i in range(32)],
    }
)


def lost(method, **importance):
    quasi = {"role": "quasi-identifier", "hierarchy": "suppress"}
    job = dc.Job(
        attributes={
            "a": quasi | {"importance": importance.get("a", 1)},
            "b": quasi | {"importance": importance.get("b", 1)},
            "ill": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=8)],
        method=method,
    )
    return dc.publish(ROWS, job, seed=1).private["utility"]


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "top-down"])
def test_the_more_important_column_stays_finer(method):
    for more, less in (("a", "b"), ("b", "a")):
        found = lost(method, **{more: 5})
        by_column = found["loss_by_attribute"]
        assert by_column[more] < by_column[less]
        assert found["loss"] == pytest.approx((5 * by_column[more] + by_column[less]) / 6)


def test_an_importance_is_for_quasi_identifiers():
    with pytest.raises(dc.JobError, match="an importance is for quasi-identifiers, not for role"):
        dc.Job(
            attributes={
                "a": {"role": "quasi-identifier"},
                "ill": {"role": "sensitive", "importance": 2},
            }
        )


def test_compare_keeps_the_attackers_of_a_job_by_methods_that_meet_them():
    quasi = {"role": "quasi-identifier", "hierarchy": "suppress"}
    job = dc.Job(
        attributes={"a": quasi, "b": quasi, "ill": {"role": "sensitive"}},
        attackers={"one": ["a"], "two": ["b"]},
        requirements=[dc.KAnonymity(k=8)],
        method="top-down",
    )
    found = dc.compare(ROWS, job, methods=["top-down", "local-recoding"])
    assert found["top-down"].loss == 0
    assert found["local-recoding"].loss > 0  # it protects against one who knows both columns
