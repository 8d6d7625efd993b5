"""The 18 identifiers of HIPAA Safe Harbor, looked for in columns."""

from __future__ import annotations

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.evidence.safe_harbor import (
    FOUND,
    IDENTIFIERS,
    LOOK_AT,
    NOT_FOUND,
    named_identifier,
    safe_harbor,
)
from discreet.job.proposing.untyped_table import read_untyped

ROWS = 40
COLUMNS = {
    "A": ("patient_name", [f"{a} {b}" for a in ("Mary", "John", "Emma", "Paul")
                           for b in ("Smith", "Jones", "Brown", "Weber", "Kaya", "Silva",
                                     "Moore", "Koch", "Lopez", "Diaz")]),
    "B": ("zip", [f"{10000 + 37 * i:05}" for i in range(ROWS)]),
    "C": ("admission_date", [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(ROWS)]),
    "D": ("phone", [f"+1 212 555 {1000 + i}" for i in range(ROWS)]),
    "E": ("fax", [f"+1 213 555 {2000 + i}" for i in range(ROWS)]),
    "F": ("contact", [f"p{i}@example.org" for i in range(ROWS)]),
    "G": ("ssn", [f"{100 + i}-45-{6000 + i}" for i in range(ROWS)]),
    "H": ("mrn", [f"MR{700000 + i}" for i in range(ROWS)]),
    "I": ("insurance_number", [f"HP{800000 + i}" for i in range(ROWS)]),
    "J": ("account", [f"DE{10 + i} 5001 0517 5407 3249 {10 + i}" for i in range(ROWS)]),
    "K": ("driver_license_no", [f"L{900000 + i}" for i in range(ROWS)]),
    "L": ("car", [f"1HGCM82633A{100000 + i}" for i in range(ROWS)]),
    "M": ("device_serial", [f"SN{600000 + i}" for i in range(ROWS)]),
    "N": ("page", [f"https://example.org/people/{i}" for i in range(ROWS)]),
    "O": ("seen_from", [f"10.0.{i}.7" for i in range(ROWS)]),
    "P": ("fingerprint", [f"whorl {i % 7}" for i in range(ROWS)]),
    "Q": ("portrait", [f"img{i}.jpg" for i in range(ROWS)]),
    "R": ("token", [f"{i:08x}-aaaa-4bbb-8ccc-{i:012x}" for i in range(ROWS)]),
}  # fmt: skip
# Nothing in the cells of these shows what they are: a person must judge.
BY_NAME = {"P"}


def judged(**columns: list[object]) -> dict[str, str]:
    table = read_untyped(pl.DataFrame(columns)).table
    return {finding.letter: finding.status for finding in safe_harbor(list(table))}


@pytest.mark.parametrize("letter", IDENTIFIERS)
def test_each_identifier_is_recognized_and_only_it(letter):
    name, values = COLUMNS[letter]
    found = judged(**{name: values})
    assert found.pop(letter) == (LOOK_AT if letter in BY_NAME else FOUND)
    assert FOUND not in found.values(), {k: v for k, v in found.items() if v == FOUND}


def test_a_table_with_all_18_has_each_of_them():
    found = judged(**dict(COLUMNS.values()))
    assert NOT_FOUND not in found.values()
    assert [letter for letter, status in found.items() if status == LOOK_AT] == ["P"]


def test_an_ordinary_table_has_none_of_them():
    found = judged(
        sex=["f", "m"] * 20,
        state=["Ohio", "Texas", "Maine", "Utah"] * 10,
        year_of_birth=[1950 + i for i in range(ROWS)],
        age=[30 + i for i in range(ROWS)],
        diagnosis=["flu", "asthma", "gout", "migraine"] * 10,
        income=[1000.5 * i for i in range(ROWS)],
        insurance=["public", "private"] * 20,
    )
    assert set(found.values()) == {NOT_FOUND}


@pytest.mark.parametrize(
    ("column", "cells", "status"),
    [
        ("zip", ["100**", "101**", "*"], NOT_FOUND),
        ("zip", ["1001*", "101**"], FOUND),
        ("zip", ["036**", "101**"], FOUND),  # at most 20,000 people
        ("zip", ["[10001, 10019]", "[20001, 20019]"], FOUND),
        ("city", ["Austin", "Boston"], LOOK_AT),
        ("city", ["*", "*"], NOT_FOUND),
        ("state", ["Ohio", "Texas"], NOT_FOUND),
    ],
)
def test_places(column, cells, status):
    assert judged(**{column: cells * 10})["B"] == status


@pytest.mark.parametrize(
    ("column", "cells", "status"),
    [
        ("age", ["34", "89"], NOT_FOUND),
        ("age", ["34", "90"], FOUND),
        ("age", ["[30, 40)", "[80, 90)"], NOT_FOUND),
        ("age", ["[30, 40)", "[85, 95)"], FOUND),
        ("age", ["34", "90 or older"], NOT_FOUND),
        ("age", ["34", "≥ 95"], FOUND),
        ("birthday", ["[1960, 1970)", "[1970, 1980)"], NOT_FOUND),
        ("birthday", ["1960", "1925"], LOOK_AT),
        ("birthday", ["1960-05", "1970-06"], FOUND),
        ("seen", ["3.4.2020", "5.4.2020"], FOUND),
        ("seen", ["May 2020", "June 2020"], FOUND),
        ("share", ["3.4", "5.41"], NOT_FOUND),
    ],
)
def test_dates_and_ages(column, cells, status):
    assert judged(**{column: cells * 10})["C"] == status


def test_one_cell_among_many_is_found_and_not_repeated():
    values = ["nothing"] * 30 + ["write to canary@example.org"]
    table = read_untyped(pl.DataFrame({"remark": values})).table
    (mail,) = [one for one in safe_harbor(list(table)) if one.letter == "F"]
    assert mail.found == {"remark": "1 of 2 distinct cells are e-mail addresses"}
    assert "canary" not in str(mail.to_dict())


def test_names_of_columns_that_are_not_published():
    assert named_identifier("patient_name") == "A"
    assert named_identifier("Telefon") == "D"
    assert named_identifier("insurance") is None
    assert named_identifier("diagnosis") is None


def test_the_preset_for_safe_harbor_leaves_nothing_to_be_found(tmp_path):
    rows = 200
    frame = pl.DataFrame(
        {
            "name": [f"Patient {i:04}" for i in range(rows)],
            "zip": [f"{10000 + i % 90:05}" for i in range(rows)],
            "age": [20 + i % 80 for i in range(rows)],
            "sex": ["f", "m"] * (rows // 2),
            "diagnosis": ["flu", "asthma", "gout", "migraine"] * (rows // 4),
        }
    )
    path = tmp_path / "patients.csv"
    frame.write_csv(path)
    place = dc.publish(None, dc.propose(path, preset="hipaa-safe-harbor").job, seed=1)
    place.save(tmp_path / "release", **UNATTACKED)
    made = dc.evidence(tmp_path / "release", "hipaa")
    status = {one["identifier"]: one["status"] for one in made.figures["safe_harbor"]}
    assert set(status.values()) == {NOT_FOUND}
