"""Real tables whose unchanged columns single out most persons are not ready to sign."""

from __future__ import annotations

import polars as pl
import pytest
from tests.real_data import real_data

import discreet as dc
from discreet.releases.singling_out import singling_sentences
from discreet.report.risk_verdict import REFUSE

pytestmark = pytest.mark.data
HIDDEN = {"EmployeeNumber", "EmployeeCount"}


def test_staff_with_29_unchanged_columns_are_all_singled_out():
    table = pl.read_csv(real_data("hr/hr-attrition.csv"))
    free = {"role": "unchanged", "allow_identifying": True}
    roles = {name: {"role": "drop"} if name in HIDDEN else dict(free) for name in table.columns}
    roles |= {name: {"role": "quasi-identifier"} for name in ("Age", "Gender", "MaritalStatus")}
    roles["Age"]["type"] = "integer"
    roles["MonthlyIncome"] = {"role": "sensitive", "type": "integer"}
    job = dc.Job.model_validate(
        {"attributes": roles, "requirements": [{"k-anonymity": {"k": 10}}], "method": "mondrian"}
    )
    release = dc.publish(table, job)
    found = release.manifest.singling_out
    assert (found.counted, found.unchanged, found.unique["0"]) == (1470, 29, 0)
    assert found.columns["1"] == ["MonthlyRate"] and found.alone == 1386
    assert found.unique["1"] >= 1386 and found.unique["all"] == 1470
    sentence = singling_sentences(found)[0]
    assert "29 columns are unchanged; by one of them, MonthlyRate, 94" in str(sentence)
    assert release.verdict().word == REFUSE


def test_patients_are_singled_out_by_what_is_unchanged():
    table = pl.read_csv(real_data("diabetes/diabetic_data.csv"), infer_schema=False)
    unchanged = ["time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications"]
    quasi = ["race", "gender", "age"]
    columns = ["patient_nbr", *quasi, "diag_1", *unchanged]
    job = dc.Job.model_validate(
        {
            "attributes": {
                "patient_nbr": {"role": "identifier"},
                **{n: {"role": "quasi-identifier", "collapse": "most-frequent"} for n in quasi},
                "diag_1": {"role": "sensitive", "collapse": "most-frequent"},
                **{n: {"role": "unchanged", "collapse": "most-frequent"} for n in unchanged},
            },
            "person": {"column": "patient_nbr", "rows": "collapse", "disagreeing": 3},
            "requirements": [{"k-anonymity": {"k": 10}}],
            "method": "mondrian",
        }
    )
    release = dc.publish(table.select(columns), job)
    found = release.manifest.singling_out
    frame = release.tables["records"]
    cells = [*quasi, *unchanged]
    assert found.unique["0"] == 0 and found.counted == table["patient_nbr"].n_unique()
    assert found.unique["all"] == frame.filter(pl.struct(cells).is_unique()).height
    assert found.share("all") > 0.05 and release.verdict().word == REFUSE
