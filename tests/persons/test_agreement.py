"""A key that joins rows of different persons is neither proposed nor published with."""

from __future__ import annotations

import random

import polars as pl
import pytest
import yaml

import discreet as dc
from discreet.job.proposing.job_text import propose_job

PERSONS, VISITS = 200, 2
ROWS = PERSONS * VISITS


def visits(errors=0, seed=1):
    """Two rows a person; in the second row of some persons the sex is wrong."""
    draw = random.Random(seed)
    sex = [draw.choice("fm") for _ in range(PERSONS)]
    born = [f"19{draw.randint(40, 99)}-0{draw.randint(1, 9)}-11" for _ in range(PERSONS)]
    rows = [
        {
            "patient_id": 1_000_000 + 7 * person,
            "sex": {"f": "m", "m": "f"}[sex[person]] if visit and person < errors else sex[person],
            "born": born[person],
            "illness": draw.choice(["flu", "cold", "gout"]),
        }
        for visit in range(VISITS)
        for person in range(PERSONS)
    ]
    return pl.DataFrame(rows)


def job(rows="collapse", **person):
    return dc.Job(
        attributes={
            "patient_id": {"role": "identifier"},
            "born": {"role": "drop"},
            "illness": {"role": "sensitive"},
            "sex": {"role": "quasi-identifier",
                    **({"collapse": "most-frequent"} if rows == "collapse" else {})},
        },
        person={"column": "patient_id", "rows": rows, **person},
        requirements=[{"k-anonymity": {"k": 2}}],
        method="mondrian",
    )  # fmt: skip


def proposed(frame, tmp_path):
    frame.write_csv(tmp_path / "table.csv")
    return yaml.safe_load(propose_job(tmp_path / "table.csv", tmp_path).text)


@pytest.mark.parametrize("rows", ["collapse", "keep"])
def test_publish_refuses_strangers_with_the_counts(rows):
    with pytest.raises(dc.InputError, match=r"Of 200 persons .*'sex': 5\..*disagreeing: 5"):
        dc.publish(visits(errors=5), job(rows))
    assert dc.publish(visits(errors=5), job(rows, disagreeing=5)).audit.ok
    assert dc.publish(visits(), job(rows)).audit.ok


def test_columns_that_are_not_published_count_too():
    strangers = visits().with_columns(
        born=pl.Series([f"19{n % 60 + 40}-01-11" for n in range(ROWS)])
    )
    with pytest.raises(dc.InputError, match=r"'born': \d+"):
        dc.publish(strangers, job())
    unnamed = strangers.rename({"born": "date of birth"})
    attributes = {name: one for name, one in job().attributes.items() if name != "born"}
    with pytest.raises(dc.InputError, match=r"'date of birth': \d+"):
        dc.publish(unnamed, dc.Job(**{**dict(job()), "attributes": attributes}))


def test_missing_values_agree():
    sex = pl.when(pl.int_range(pl.len()) < PERSONS).then(None).otherwise("sex").alias("sex")
    assert dc.publish(visits().with_columns(sex), job()).audit.ok


def test_init_proposes_a_key_whose_rows_agree(tmp_path):
    assert proposed(visits(), tmp_path)["person"] == {"column": "patient_id", "rows": "collapse"}
    made = proposed(visits(errors=2), tmp_path)["person"]
    assert made == {"column": "patient_id", "rows": "collapse", "disagreeing": 2}
    assert "person" not in proposed(visits(errors=50), tmp_path)


def test_init_proposes_no_key_beside_a_unique_one(tmp_path):
    draw = random.Random(3)
    frame = pl.DataFrame({
        "id": list(range(1, ROWS + 1)), "sex": [draw.choice("fm") for _ in range(ROWS)],
        "case_number": [f"{10_000_000 + n // 2}CF" for n in range(ROWS)],
        "MonthlyRate": [draw.choice([n, max(n - 1, 0)]) * 13 + 2000 for n in range(ROWS)],
        "released": [f"2014-01-{n % 28 + 1:02} 1{n % 10}:{n % 60:02}:{n % 59:02}"
                     for n in range(ROWS)],
        "illness": [draw.choice(["flu", "cold"]) for _ in range(ROWS)],
    })  # fmt: skip
    assert "person" not in proposed(frame, tmp_path)
    assert "person" not in proposed(frame.drop("id", "case_number"), tmp_path)


def test_init_sees_patients_behind_the_number_of_a_row(tmp_path):
    numbered = visits().with_columns(id=pl.int_range(1, ROWS + 1))
    assert proposed(numbered, tmp_path)["person"]["column"] == "patient_id"
