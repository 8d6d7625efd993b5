"""Columns that identify people directly are found by their values, and ordinary ones are not."""

from __future__ import annotations

import random

import polars as pl
import pytest
import yaml
from tests.real_data import real_data
from tests.tables import coded_column

import discreet as dc
from discreet.job.identifying import identifying_values
from discreet.job.proposing.job_text import propose_job

DRAW = random.Random(0)


def repeated(values, times=6):
    return [value for value in values for _ in range(times)]


def digits(count):
    return "".join(DRAW.choice("0123456789") for _ in range(count))


def drawn(make, number=40):
    return repeated(dict.fromkeys(make() for _ in range(number)))


DIRECT = {
    "contact": drawn(lambda: f"{DRAW.choice('abcxyz')}{digits(3)}@example.org"),
    "reach": drawn(lambda: f"+49 170 {digits(7)}"),
    "mobile": drawn(lambda: f"({digits(3)}) {digits(3)}-{digits(4)}"),
    "social": drawn(lambda: f"{digits(3)}-{digits(2)}-{digits(4)}"),
    "token": drawn(lambda: f"{digits(8)}-{digits(4)}-{digits(4)}-{digits(4)}-{digits(12)}"),
    "bank": drawn(lambda: f"DE{digits(20)}"),
    "code": drawn(lambda: f"P{digits(6)}"),
    "mrn": drawn(lambda: f"MRN-{digits(7)}"),
    "patient_nbr": drawn(lambda: int("1" + digits(6))),
    "pat": drawn(lambda: int("1" + digits(8))),
}
ORDINARY = {
    "zip": drawn(lambda: digits(5)),
    "postcode": drawn(lambda: f"SW{digits(1)}A {digits(1)}AA"),
    "zip4": drawn(lambda: f"{digits(5)}-{digits(4)}"),
    "pincode": drawn(lambda: "1" + digits(5)),
    "born": drawn(lambda: f"19{digits(2)}-0{DRAW.randint(1, 9)}-1{DRAW.randint(0, 9)}"),
    "day": drawn(lambda: int(f"19{digits(2)}0{DRAW.randint(1, 9)}1{DRAW.randint(0, 9)}")),
    "visit": drawn(lambda: f"1{DRAW.randint(0, 9)}.0{DRAW.randint(1, 9)}.19{digits(2)}"),
    "age": drawn(lambda: DRAW.randint(0, 99)),
    "icd": drawn(lambda: f"{DRAW.choice('ABCEIJ')}{digits(2)}.{digits(1)}"),
    "dx": drawn(lambda: f"{DRAW.choice('ABCEIJ')}{digits(DRAW.choice([2, 3, 4]))}"),
    "income": drawn(lambda: DRAW.randint(9_000, 250_000)),
    "salary": drawn(lambda: DRAW.randint(100_000, 999_999)),
    "weight": drawn(lambda: round(DRAW.uniform(40, 120), 6)),
    "town": drawn(lambda: DRAW.choice(["Ulm", "Bonn", "Kiel", "Jena", "Trier"])),
    "atc": drawn(lambda: f"{DRAW.choice('ABC')}{digits(2)}BA{digits(2)}"),
    "count": drawn(lambda: f"{DRAW.choice('AB')}{digits(3)}"),  # as a column of Polars' own
    "district": repeated([f"D{number:06}" for number in range(10)], 100),
}


@pytest.mark.parametrize("name", DIRECT)
def test_it_is_found_although_its_values_repeat(name, tmp_path):
    assert identifying_values(coded_column(name, DIRECT[name])) is not None
    frame = pl.DataFrame({name: DIRECT[name], "sex": ["f", "m"] * (len(DIRECT[name]) // 2)})
    frame.write_csv(tmp_path / "table.csv")
    proposed = yaml.safe_load(propose_job(tmp_path / "table.csv", tmp_path).text)
    assert proposed["attributes"][name]["role"] == "drop"  # rows of a value differ in sex
    assert "person" not in proposed
    frame.with_columns(sex=pl.lit("f")).write_csv(tmp_path / "table.csv")
    proposed = yaml.safe_load(propose_job(tmp_path / "table.csv", tmp_path).text)
    assert proposed["attributes"][name]["role"] == "identifier"


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_column_is_not(name):
    assert identifying_values(coded_column(name, ORDINARY[name])) is None


@pytest.mark.data
def test_no_column_of_adult_is():
    frame = pl.read_csv(real_data("adult/adult.csv"))
    for name in frame.columns:
        assert identifying_values(coded_column(name, frame[name].to_list())) is None, name


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "insensitive"])
def test_publishing_it_needs_the_job_s_word(role):
    frame = pl.DataFrame({"mail": DIRECT["contact"], "sex": ["f"] * len(DIRECT["contact"])})

    def job(**further):
        attributes = {"mail": {"role": role, **further}, "sex": {"role": "quasi-identifier"}}
        requirements = [{"k-anonymity": {"k": 6}}]
        return dc.Job(attributes=attributes, requirements=requirements, method="mondrian")

    with pytest.raises(dc.JobError, match=r"attributes\.mail: .*e-mail addresses") as caught:
        dc.publish(frame, job())
    assert "example.org" not in str(caught.value)
    assert dc.publish(frame, job(allow_identifying=True)).audit.ok
