"""Columns that share a name in the header are read under names of their own, and said so."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.studio.opened_table import OpenedTable
from discreet.errors import InputError
from discreet.io.header import distinct_names
from discreet.job.proposing.job_text import propose_job

ROWS = "".join(f"{20 + n % 4},{n % 3},{30 + n % 5},{n % 3},f{n % 2}\n" for n in range(60))
TEXT = "age,score,age,score,age_2\n" + ROWS
JOB = """\
source: {path: survey.csv}
attributes:
  age: {role: quasi-identifier, type: integer}
  age_3: {role: quasi-identifier, type: integer}
  score: {role: sensitive}
unit: rows
requirements:
  - k-anonymity: {k: 3}
method: mondrian
"""


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.csv").write_text(TEXT)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "distinct"),
    [
        (["a", "b", "a"], ["a", "b", "a_2"]),
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["a_2", "a", "a", "a_2"], ["a_2", "a", "a_3", "a_2_2"]),
    ],
)
def test_each_column_gets_a_name_that_no_other_has(names, distinct):
    assert distinct_names(names, "t") == distinct


@pytest.mark.parametrize("names", [["ann", "1970-01-01", "ann"], ["a", "", "a"], []])
def test_a_header_that_may_be_a_row_is_refused(names):
    with pytest.raises(InputError, match="the header has"):
        distinct_names(names, "t")


def test_init_leaves_out_the_copy_and_keeps_what_differs(survey):
    proposed = propose_job(survey / "survey.csv", survey)
    attributes = yaml.safe_load(proposed.text)["attributes"]
    assert list(attributes) == ["age", "score", "age_3", "age_2"]
    assert "'age' as 'age_3', 'score' as 'score_2'" in proposed.notices[0]
    assert "value for value: 'score_2'" in proposed.notices[0]
    assert proposed.notices[0] in proposed.text
    assert "score_2" not in OpenedTable.of_file(survey / "survey.csv").table.columns
    assert proposed.notices[0] in dc.profile(survey / "survey.csv").warnings


def test_every_command_reads_the_same_names(survey):
    job = dc.Job.load(survey / "job.yaml")
    release = dc.publish(None, job, seed=1)
    assert release.tables["records"].columns == ["age", "score", "age_3"]
    notices = release.private["notices"]
    assert "'age' as 'age_3'" in notices[0]
    assert "not published (2): 'score_2', 'age_2'" in notices[1]
    folder = release.save(survey / "release", **UNATTACKED)
    assert dc.audit(folder, original=job).ok
    checked = dc.check(survey / "survey.csv", quasi=["age", "age_3"], sensitive=["score"], k=1)
    assert checked.ok and any("'age' as 'age_3'" in remark for remark in checked.remarks)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_a_frame_warns(kind):
    columns = [[20 + n % 4 for n in range(60)], [n % 3 for n in range(60)]]
    frame = pa.table([columns[0], columns[1], columns[0]], names=["age", "score", "age"])
    if kind == "pandas":
        frame = pd.DataFrame(list(zip(*columns, columns[0], strict=True)))
        frame.columns = ["age", "score", "age"]
    attributes = {"age": {"role": "quasi-identifier"}, "score": {"role": "sensitive"}}
    job = dc.Job(attributes=attributes, requirements=[{"k-anonymity": {"k": 3}}], method="mondrian")
    with pytest.warns(UserWarning, match="'age' as 'age_2'"):
        release = dc.publish(frame, job, seed=1)
    assert "'age_2'" in release.private["notices"][0]
    with pytest.warns(UserWarning, match="'age' as 'age_2'"):
        proposed = dc.propose(frame)
    assert list(proposed.roles) == ["age", "score"]
