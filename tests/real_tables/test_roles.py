"""Real tables through ``init`` to the job that it proposes, and traps that ``publish`` refuses."""

from __future__ import annotations

import polars as pl
import pytest
from tests.real_data import real_data

import discreet as dc
from discreet.job.direct_identifiers import refusal
from discreet.job.proposing.job_text import propose_job
from discreet.job.proposing.untyped_table import read_untyped
from discreet.pipeline.prepare import prepare_task, require_publishable
from discreet.pipeline.read import read_source
from discreet.table.roles import Role

TABLES = {
    "compas": "compas/compas-scores-two-years.csv",
    "hr": "hr/hr-attrition.csv",
    "diabetes": "diabetes/diabetic_data.csv",
}
PERSONS = {"compas": None, "hr": None, "diabetes": "patient_nbr"}
DIRECT = {
    "compas": ["id", "name", "first", "last", "c_case_number", "r_case_number", "vr_case_number",
               "c_jail_in", "c_jail_out"],
    "hr": ["EmployeeNumber", "MonthlyRate"],
    "diabetes": ["encounter_id", "patient_nbr"],
}  # fmt: skip
pytestmark = pytest.mark.data


@pytest.fixture(scope="module", params=TABLES)
def table(request):
    return request.param, real_data(TABLES[request.param])


def test_the_proposed_job_names_no_one_and_merges_no_strangers(table, tmp_path):
    name, path = table
    proposed = propose_job(path, tmp_path)
    job = proposed.job
    published = [column for column, one in job.attributes.items() if one.role.published]
    assert not set(DIRECT[name]) & set(published)
    assert (job.person.column[0] if job.person else None) == PERSONS[name]
    source = read_untyped(path).table
    for column in source:
        if column.name in published and job.attributes[column.name].role is Role.INSENSITIVE:
            # the same judgement by hand: values that one row alone has
            assert int((column.counts == 1).sum()) <= 0.05 * source.rows, column.name
            assert refusal(column, source.rows) is None
    rows = read_source(job)
    require_publishable(job, prepare_task(job, rows), rows)


def test_no_recognized_column_is_unchanged(tmp_path):
    job = propose_job(real_data(TABLES["hr"]), tmp_path).job
    assert job.attributes["Department"].role is Role.DROP
    assert job.attributes["DistanceFromHome"].role is Role.DROP


def test_the_first_job_of_the_hr_table_singles_out_nobody(tmp_path):
    """Four columns of few values were unchanged: 64 % unique by the quasi-identifiers and two."""
    job = propose_job(real_data(TABLES["hr"]), tmp_path).job
    unchanged = [name for name, one in job.attributes.items() if one.role is Role.INSENSITIVE]
    assert unchanged == ["EmployeeCount", "Over18", "StandardHours"]
    release = dc.publish(None, job, seed=1)
    assert release.manifest.singling_out is not None
    assert not any(release.manifest.singling_out.unique.values())


@pytest.mark.parametrize(
    ("columns", "role", "counts"),
    [
        (["first", "last"], "unchanged", ["2,800", "3,950"]),
        (["name"], "unchanged", ["7,158"]),
        (["name"], "quasi-identifier", ["7,158"]),
        (["name"], "sensitive", ["7,158"]),
        (["id"], "unchanged", ["7,214"]),
        (["id"], "quasi-identifier", ["7,214"]),
        (["c_case_number"], "unchanged", ["7,192"]),
        (["c_case_number"], "sensitive", ["7,192"]),
        (["dob"], "unchanged", ["4,091 of 7,214"]),
        (["c_jail_in"], "unchanged", ["6,907"]),
        (["c_jail_in"], "sensitive", ["6,907"]),
    ],
)
def test_a_trap_is_refused(columns, role, counts):
    path = real_data(TABLES["compas"])
    job = dc.Job(
        attributes={
            "sex": {"role": "quasi-identifier"}, "age_cat": {"role": "quasi-identifier"},
            "decile_score": {"role": "sensitive"}, **{name: {"role": role} for name in columns},
        },
        requirements=[{"k-anonymity": {"k": 5}}], method="mondrian",
    )  # fmt: skip
    with pytest.raises(dc.JobError) as caught:
        dc.publish(path, job)
    for name, count in zip(columns, counts, strict=True):
        assert f"attributes.{name}: " in str(caught.value)
        assert count in str(caught.value)
    cells = pl.read_csv(path, infer_schema_length=0, columns=columns).unique()
    values = {value for name in columns for value in cells[name].to_list() if len(value or "") > 5}
    assert not any(value in str(caught.value) for value in values)


@pytest.mark.parametrize(("data", "key"), [("compas", "c_jail_out"), ("diabetes", "patient_nbr")])
def test_a_key_whose_rows_disagree_is_refused(data, key):
    """24 values of c_jail_out join 51 strangers; the sex of three patients differs."""
    known = {"compas": "sex", "diabetes": "gender"}[data]
    secret = {"compas": "decile_score", "diabetes": "readmitted"}[data]
    job = dc.Job(
        attributes={
            key: {"role": "identifier"}, secret: {"role": "sensitive"},
            known: {"role": "quasi-identifier", "collapse": "most-frequent"},
        },
        person={"column": key, "rows": "collapse"},
        requirements=[{"k-anonymity": {"k": 5}}], method="mondrian",
    )  # fmt: skip
    found = {
        "compas": r"Of 24 persons .*'name': 24",
        "diabetes": r"Of 16,773 persons .*'gender': 3",
    }
    with pytest.raises(dc.InputError, match=found[data]):
        dc.publish(real_data(TABLES[data]), job)
