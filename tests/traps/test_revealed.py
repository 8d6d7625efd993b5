"""Protected columns that reveal quasi-identifiers, which attackers know exactly, are refused.

A year of birth as a sensitive attribute beside an age: both tables of a release without a link were
*Ready to sign*, and an attacker who knew a person's age read the row with the diagnosis.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dc

ROWS = 600
METHODS = ["unlinked", "mondrian", "codip", "full-domain"]


def _table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age, height = rng.integers(18, 90, ROWS), rng.integers(150, 200, ROWS)
    weight = rng.integers(45, 120, ROWS)
    day = np.datetime64("2025-01-01") + rng.integers(0, 300, ROWS)
    stay = rng.integers(1, 60, ROWS)
    district = rng.integers(0, 24, ROWS)
    return pl.DataFrame(
        {
            "age": age,
            "height": height,
            "admitted": pl.Series(day.astype("datetime64[D]")),
            "district": pl.Series(district).cast(pl.String),
            "birth_year": 2025 - age,
            "age_group": pl.Series((age >= 50).astype(int) + (age >= 70)).cast(pl.String),
            "weight": weight,
            "bmi": np.round(weight / (height / 100) ** 2, 1),
            "discharged": pl.Series((day + stay).astype("datetime64[D]")),
            "stay": stay,
            "clinic": pl.Series(district * 3 + rng.integers(0, 3, ROWS)).cast(pl.String),
            "area": pl.Series(district // 4).cast(pl.String),
            "income": rng.permutation(ROWS * 50)[:ROWS],
            "diagnosis": rng.choice(["asthma", "flu", "gout", "ulcer"], ROWS),
            "smoker": rng.choice(["no", "yes"], ROWS, p=[0.97, 0.03]),
        }
    )


TABLE = _table()
QUASI = {"age": "integer", "height": "integer", "admitted": "date", "district": "text"}


def _job(*sensitive: str, method: str = "unlinked", role: str = "sensitive", **more) -> dc.Job:
    attributes = {
        name: {"role": "quasi-identifier", "type": kind, "hierarchy": "suppress"}
        for name, kind in QUASI.items()
    }
    attributes |= {name: {"role": role} | more for name in sensitive}
    attributes["diagnosis"] = {"role": "sensitive"}
    return dc.Job.model_validate(
        {
            "attributes": attributes,
            "requirements": [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2}}],
            "method": method,
            "others": "drop",
        }
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("columns", "known"),
    [
        (["birth_year"], "age"),  # value for value
        (["age_group"], "age"),  # in ranges
        (["clinic"], "district"),  # finer
        (["weight", "bmi"], "height"),  # a quotient
        (["discharged", "stay"], "admitted"),  # a difference
    ],
)
def test_a_column_that_reveals_a_quasi_identifier_is_refused(method, columns, known):
    with pytest.raises(dc.JobError) as refused:
        dc.publish(TABLE, _job(*columns, method=method), seed=1)
    text = str(refused.value)
    assert f"reveals the quasi-identifier '{known}'" in text
    assert all(f"'{name}'" in text for name in columns)


@pytest.mark.parametrize("role", ["sensitive", "unchanged"])
def test_in_every_role_that_publishes_it(role):
    with pytest.raises(dc.JobError, match="attributes.birth_year: .*reveals"):
        dc.publish(TABLE, _job("birth_year", role=role), seed=1)


def test_it_is_published_if_the_job_allows_it():
    job = _job("birth_year", allow_identifying=True)
    assert dc.publish(TABLE, job, seed=1).tables["sensitive"].height == ROWS


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_say_nothing_of_quasi_identifiers_are_published(method):
    """Nearly distinct incomes, rare values and one of two factors reveal nothing."""
    job = _job("income", "smoker", "weight", "stay", "area", method=method)
    assert dc.publish(TABLE, job, seed=1).tables


def test_several_rows_of_a_person_are_no_evidence():
    """A value of which only the rows of one person speak says nothing about others."""
    doubled = pl.concat([TABLE.with_row_index("person")] * 3)
    job = _job("income", method="mondrian")
    job = job.model_dump(mode="json", exclude_unset=True, by_alias=True)
    job["attributes"]["person"] = {"role": "identifier"}
    job["person"] = {"column": "person", "rows": "keep"}
    assert dc.publish(doubled, dc.Job.model_validate(job), seed=1).tables
