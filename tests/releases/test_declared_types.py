"""Declared integers, numbers and dates are values of their type in Parquet files and databases."""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

import pyarrow.parquet
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc

TYPES = {"visits": "int64", "pay": "double", "seen": "date32[day]", "floor": "int64"}
DECOMPOSITION = {"decomposition": {"primary": "pay", "l": {"pay": 2, "visits": 2, "seen": 2}}}
METHODS = [
    "mondrian",
    {"full-domain": {"suppression": 0.2}},
    "anatomy",
    DECOMPOSITION,
    "msa-diversity",
]


def source(folder: Path) -> Path:
    """People whose numbers are written in several ways, and some in no canonical way."""
    rows = ["age,visits,pay,seen,floor"]
    for i in range(24):
        visits = ["+5", "05", "007", "-0", "11"][i % 5]
        pay = ["7", "7.0", "2.50", "1e3", "", "-0.0"][i % 6]
        rows.append(f"{20 + i // 2},{visits},{pay},2020-01-{1 + i % 7:02}, 0{i % 3}")
    path = folder / "people.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def job(folder: Path, method: object, **output: object) -> dc.Job:
    one = method == "anatomy"
    asked = {"anatomy": [], "msa-diversity": [{"p-diversity": {"l": 2}}]}
    by_class = [] if method == DECOMPOSITION else [{"k-anonymity": {"k": 2}}]
    held = "insensitive" if one else "sensitive"
    return dc.Job(
        source=dc.Source(path=source(folder)),
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "visits": {"role": held, "type": "integer"},
            "pay": {"role": "sensitive", "type": "number"},
            "seen": {"role": held, "type": "date"},
            "floor": {"role": "insensitive", "type": "integer"},
        },
        requirements=asked.get(str(method), by_class),
        method=method,
        **({"output": output} if output else {}),
    )


def schemas(folder: Path) -> dict[str, str]:
    found = {}
    for table in naive.read_manifest(folder)["tables"].values():
        schema = pyarrow.parquet.read_schema(folder / table["file"])
        found |= {field.name: str(field.type) for field in schema}
    return found


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda m: m if isinstance(m, str) else next(iter(m))
)
def test_parquet_holds_declared_types_and_is_audited_by_value(tmp_path, method):
    asked = job(tmp_path, method)
    folder = dc.publish(None, asked).save(tmp_path / "release", format="parquet", **UNATTACKED)
    found = schemas(folder)
    assert {name: found[name] for name in TYPES} == TYPES
    assert found["age"].endswith("string")  # cells: ranges and '*' among them
    assert dc.audit(folder).ok, dc.audit(folder).problems
    audit = dc.audit(folder, original=asked)
    assert audit.ok, audit.problems
    dc.measure(folder, original=asked)
    dc.attack(folder, original=asked)


def test_a_csv_file_keeps_the_text_of_the_source(tmp_path):
    folder = dc.publish(None, job(tmp_path, "mondrian")).save(tmp_path / "release", **UNATTACKED)
    rows = dc.read_release(folder)["records"]
    assert set(rows["visits"]) == {"5", "007", "-0", "11"}  # '+5' and '05' are one value
    assert set(rows["floor"]) == {" 00", " 01", " 02"}
    assert set(rows["pay"]) == {"7", "2.50", "1e3", "-0.0", None}


def test_another_number_in_a_typed_file_is_found(tmp_path):
    """The audit compares by value, not by nothing: other values are not the original's."""
    asked = job(tmp_path, "mondrian")
    folder = dc.publish(None, asked).save(tmp_path / "release", format="parquet", **UNATTACKED)
    for old, new in (("007", "008"), (" 02", " 03")):
        text = source(tmp_path).read_text()
        asked.source.path.write_text(text.replace(old, new))
        audit = dc.audit(folder, original=asked)
        assert any("correspond to no row" in problem for problem in audit.problems), audit.problems


def test_a_database_holds_declared_types(tmp_path):
    asked = job(tmp_path, "mondrian", url=f"sqlite:///{tmp_path / 'out.db'}")
    dc.publish(None, asked).save(tmp_path / "release", **UNATTACKED)
    with sqlite3.connect(tmp_path / "out.db") as database:
        ddl = {row[1]: row[2] for row in database.execute("PRAGMA table_info(records)")}
        rows = database.execute("SELECT visits, pay, seen, floor FROM records").fetchall()
    assert ddl["visits"] == ddl["floor"] == "BIGINT"
    assert (ddl["pay"], ddl["seen"], ddl["age"]) == ("DOUBLE PRECISION", "DATE", "TEXT")
    assert {row[0] for row in rows} == {5, 7, 0, 11}
    assert {row[1] for row in rows} == {7.0, 2.5, 1000.0, 0.0, None}
    assert {date.fromisoformat(row[2]).day for row in rows} == set(range(1, 8))
    assert {row[3] for row in rows} == {0, 1, 2}


def test_what_no_type_holds_exactly_stays_text(tmp_path):
    asked = job(tmp_path, "mondrian")
    path = asked.source.path
    path.write_text(path.read_text().replace(",11,", ",9223372036854775808,"))
    path.write_text(path.read_text().replace(",2.50,", ",0.10000000000000000001,"))
    folder = dc.publish(None, asked).save(tmp_path / "release", format="parquet", **UNATTACKED)
    found = schemas(folder)
    assert found["visits"].endswith("string")
    assert found["pay"].endswith("string")
    assert found["seen"] == "date32[day]"
    assert dc.audit(folder, original=asked).ok
