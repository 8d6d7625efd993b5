"""Several columns of the source as one set-valued attribute."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.pipeline.read import read_data
from discreet.table.bitmaps import members_of

ILLS = ["flu", "gout", "pox", None]


def frame(rows):
    return pl.DataFrame(
        {
            "age": [20 + n % 30 for n in range(len(rows))],
            "d1": [row[0] for row in rows],
            "d2": [row[1] for row in rows],
            "d3": [row[2] for row in rows],
        },
        schema_overrides={"d1": pl.String, "d2": pl.String, "d3": pl.String},
    )


def job(**ill):
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "ill": {"role": "sensitive", "columns": ["d1", "d2", "d3"], **ill},
    }
    return dc.Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 3}}],
                  method="mondrian")  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(ILLS)] * 3), min_size=1, max_size=12))
def test_a_row_has_the_set_of_its_values(rows):
    column = read_data(job(), frame(rows))["ill"]
    cells = [column.text[int(code)] for code in column.codes]
    for row, cell in zip(rows, cells, strict=True):
        expected = {value for value in row if value is not None}
        assert set(members_of(cell, column.separator)) == expected
        assert (cell is None) == (not expected)


def made(rows=120):
    draw = random.Random(1)
    return frame([[draw.choice(ILLS) for _ in range(3)] for _ in range(rows)])


def test_it_is_published_as_bits_and_audited(tmp_path):
    table = made()
    file = tmp_path / "t.csv"
    table.write_csv(file)
    for data in (table, file):
        release = dc.publish(data, job(), seed=1)
        assert release.audit.ok
        records = release.tables["records"]
        assert set(records.columns) == {"age", "ill=flu", "ill=gout", "ill=pox"}
        naive = sum("flu" in row for row in table.select("d1", "d2", "d3").rows())
        assert sum(str(bit) == "1" for bit in records["ill=flu"].to_list()) == naive


def test_other_columns_may_be_dropped_without_being_named():
    table = made().with_columns(note=pl.lit("x"))
    release = dc.publish(table, job(), seed=1)
    assert release.audit.ok
    assert release.private["notices"][0].parameters == {"count": 1, "columns": "'note'"}


def test_a_separator_that_no_value_contains_is_found():
    table = made().with_columns(d1=pl.lit("a;b"))
    column = read_data(job(), table)["ill"]
    assert column.separator == "|"
    with pytest.raises(dc.InputError, match="'d1': some values contain ';'"):
        read_data(job(multi_valued=";"), table)


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"ill": {"role": "quasi-identifier", "columns": ["a", "b"]}}, "not for role"),
        ({"ill": {"role": "sensitive", "columns": ["a"]}}, "columns"),
        ({"ill": {"role": "sensitive", "columns": ["a", "b"], "type": "integer"}}, "are text"),
        ({"ill": {"role": "sensitive", "columns": ["a", "b"], "hierarchy": "suppress"}}, "bits"),
        ({"ill": {"role": "sensitive", "columns": ["a", "b"]}, "a": {"role": "drop"}}, "twice"),
        ({"a": {"role": "sensitive", "columns": ["a", "b"]}}, "name of its own"),
    ],
)
def test_what_does_not_fit_is_refused(attributes, problem):
    with pytest.raises(dc.JobError, match=problem):
        dc.Job(attributes=attributes)


def test_init_advises_it(tmp_path):
    draw = random.Random(2)
    rows = {f"diag_{n}": [draw.choice(["E11.9", "I10.0", "J45.0", "F32.1", "C50.9"])
                          for _ in range(200)] for n in (1, 2, 3)}  # fmt: skip
    text = dc.propose(pl.DataFrame({"age": [n % 50 for n in range(200)], **rows})).text
    assert "columns: [diag_1, diag_2, diag_3]" in text
