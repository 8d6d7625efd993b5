"""A number that is written in several ways is one value."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.io.column_dictionary import canonical_text
from discreet.io.frames import code_frame
from discreet.io.writing import typed_values
from discreet.job.table_profile import profile_table
from discreet.table.code_maps import code_of_value
from discreet.table.coded_table import Column
from discreet.table.roles import ColumnSpec, Role, ValueType

NUMBER, INTEGER, DATE = ValueType.NUMBER, ValueType.INTEGER, ValueType.DATE


def coded(cells: list[str | None], kind: ValueType, role: Role = Role.SENSITIVE) -> Column:
    return code_frame(pl.DataFrame({"a": cells}), {"a": ColumnSpec(role, kind)})["a"]


@pytest.mark.parametrize(
    ("kind", "cells", "text"),
    [
        (NUMBER, ["007", "7.0", "07", "7", "+7", "70e-1", " 7 "], ["7"]),
        (INTEGER, ["+5", " 5 ", "05"], ["5"]),
        (INTEGER, ["05", "5", "-5", "-05"], ["-5", "5"]),
        (NUMBER, ["0", "-0", "0.0", "-0.0", None, "1"], ["0", "1", None]),
        (NUMBER, [".5", "0.50", "5e-1"], ["0.5"]),
        (DATE, ["2020-01-02", " 2020-01-02"], ["2020-01-02"]),
        (INTEGER, ["007"], ["007"]),
        # equal as floats, not as numbers; each in two spellings
        (
            INTEGER,
            ["9007199254740993", "09007199254740992", "9007199254740992", "09007199254740993"],
            ["9007199254740992", "9007199254740993"],
        ),
        (NUMBER, ["0.1", "0.10000000000000000001"], ["0.1", "0.10000000000000000001"]),
    ],
)
@pytest.mark.parametrize("role", [Role.SENSITIVE, Role.QUASI_IDENTIFIER])
def test_spellings_of_one_number_are_one_value(kind, cells, text, role):
    column = coded(cells, kind, role)
    assert column.values.to_list() == text
    assert int(column.counts.sum()) == len(cells)
    shown = column.values.gather(column.codes).to_list()
    for cell, one in zip(cells, shown, strict=True):
        assert (cell is None) == (one is None)
        assert cell is None or kind is DATE or float(cell) == float(one)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (NUMBER, ["007", "7.0", "7", "+7", "70e-1", " 7 ", "7."]),
        (NUMBER, ["0", "-0", "-0.0", ".0", "0e5"]),
        (NUMBER, ["1e20", "100000000000000000000", "1E+20"]),
        (NUMBER, ["0.10000000000000000001", "0.100000000000000000010"]),
        (NUMBER, ["1e-400", "10e-401"]),
        (INTEGER, ["99999999999999999999", "+099999999999999999999"]),
        (DATE, ["2020-01-02", " 2020-01-02 "]),
    ],
)
def test_equal_values_have_one_canonical_text(kind, cells):
    assert canonical_text(pl.Series(cells), kind).n_unique() == 1


def test_canonical_texts_of_different_values_differ():
    cells = ["0.1", "0.10000000000000000001", "9007199254740992", "9007199254740993", "1e-400", "0"]
    assert canonical_text(pl.Series(cells), NUMBER).n_unique() == len(cells)
    others = ["*", "x", "1e9999999999", "nan", "", None]
    assert canonical_text(pl.Series(others), NUMBER).to_list() == others


@pytest.mark.parametrize(
    ("kind", "cells", "typed"),
    [
        (INTEGER, ["007", "+5", None], [7, 5, None]),
        (INTEGER, ["9223372036854775807"], [9223372036854775807]),
        (INTEGER, ["9223372036854775808", "1"], None),  # beyond 64 bits
        (NUMBER, ["7", "0.1", "-0", None], [7.0, 0.1, 0.0, None]),
        (NUMBER, ["9007199254740993"], None),  # no double equals it
        (NUMBER, ["0.10000000000000000001"], None),
        (DATE, [" 2020-02-29", None], [date(2020, 2, 29), None]),
        (INTEGER, ["7", "*"], None),
        (ValueType.TEXT, ["7"], None),
    ],
)
def test_a_column_is_typed_where_every_cell_is_exactly_such_a_value(kind, cells, typed):
    found = typed_values(pl.Series(cells, dtype=pl.String), kind)
    assert found.to_list() == (cells if typed is None else typed)
    assert not any(str(value) == "-0.0" for value in found)


def test_a_spelling_of_a_suppressed_row_alone_is_not_published(tmp_path):
    frame = pl.DataFrame({"age": ["1"] * 4 + ["2"], "pay": ["070.0", "8", "+70", "8", "7e1"]})
    asked = job({"k-anonymity": {"k": 2}}).model_copy(
        update={"method": dc.FullDomain(suppression=0.5)}
    )
    folder = dc.publish(frame, asked).save(tmp_path / "release", **UNATTACKED)
    rows = dc.read_release(folder)["records"]
    assert sorted(rows["pay"]) == ["70", "70", "8", "8"]


def test_what_is_published_unchanged_keeps_its_texts():
    cells = ["7", "007", "7.0"]
    column = coded(cells, NUMBER, Role.INSENSITIVE)
    assert column.text.gather(column.codes).to_list() == cells


def test_texts_are_compared_letter_by_letter():
    assert coded(["7", "007"], ValueType.TEXT).cardinality == 2


def job(requirement: dict) -> dc.Job:
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "number", "hierarchy": "suppress"},
            "pay": {"role": "sensitive", "type": "number"},
        },
        requirements=[requirement],
        method="full-domain",
    )


def test_spellings_do_not_count_for_diversity():
    frame = pl.DataFrame({"age": ["1"] * 4, "pay": ["7", "07", "7.0", "007"]})
    for asked in ("distinct-l-diversity", "entropy-l-diversity"):
        with pytest.raises(dc.InfeasibleError):
            dc.publish(frame, job({asked: {"l": 2}}))


def test_an_audit_counts_by_value(tmp_path):
    """A release of another tool that counted spellings does not pass."""
    frame = pl.DataFrame({"age": ["1"] * 4, "pay": ["7", "8", "7", "8"]})
    folder = dc.publish(frame, job({"distinct-l-diversity": {"l": 2}})).save(
        tmp_path / "release", **UNATTACKED
    )
    records = folder / "records.csv"
    records.write_text(records.read_text().replace(",8", ",07"))
    manifest = (folder / "manifest.json").read_text()
    before = naive.read_manifest(folder)["tables"]["records"]["sha256"]
    after = dc.releases.manifest.sha256_of(records)
    (folder / "manifest.json").write_text(manifest.replace(before, after))
    assert not dc.audit(folder).ok


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_spellings_do_not_count_for_distances_and_are_published_alike(tmp_path, format):
    """Two classes with the same pay in other spellings are as close as can be."""
    source = tmp_path / "people.csv"
    source.write_text("age,pay\n01,7\n1,9\n1,07\n2,7.0\n2.0,9.0\n2,007\n")
    asked = job({"t-closeness": {"t": 0.0}}).model_copy(update={"source": dc.Source(path=source)})
    folder = dc.publish(None, asked).save(tmp_path / "release", format=format, **UNATTACKED)
    rows = dc.read_release(folder)["records"]
    assert sorted(rows["age"].to_list()) == ["1"] * 3 + ["2"] * 3
    seven, nine = ("7", "9") if format == "csv" else (7.0, 9.0)
    assert sorted(rows["pay"].to_list()) == [seven] * 4 + [nine] * 2
    assert naive.read_manifest(folder)["promises"][0]["achieved"]["t"] == 0
    audit = dc.audit(folder, original=asked)
    assert audit.ok, audit.problems


def test_columns_of_two_tables_are_compared_by_value():
    mine, theirs = coded(["07", "8"], NUMBER), coded(["7.0", "9", None], NUMBER)
    assert code_of_value(mine, theirs).tolist() == [0, -1, -1]


def test_a_profile_warns_of_texts_that_are_nearly_alike():
    frame = pl.DataFrame(
        {
            "ill": ["Flu", "flu ", "FLU", "gout", "cafe\u0301", "caf\u00e9", "a  b", "a b"],
            "age": ["1", "2", "3", "4", "5", "6", "7", "8"],
        }
    )
    specs = {name: ColumnSpec(Role.SENSITIVE) for name in frame.columns}
    found = profile_table(code_frame(frame, specs))
    assert [column.nearly_alike for column in found.columns] == [7, 0]
    (warning,) = found.warnings
    assert "'ill': 7 values" in warning
    assert not any(cell.strip() in warning for cell in frame["ill"])
