"""Several spellings of one value: they must not pass for several values."""

from __future__ import annotations

import polars as pl
import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

NUMBERS = ["1.5", "1.50", "01.5", "1.5e0"]
ANSWERS = ["Yes", "yes ", " yes", "YES"]


def frame(values: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"sex": ["f", "m"] * 20, "dose": values * 10})


def job_of(**attribute: str) -> dc.Job:
    return dc.Job(
        attributes={
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "dose": {"role": "sensitive", **attribute},
        },
        requirements=[{"distinct-l-diversity": {"l": 4}}],
        method="mondrian",
    )


@pytest.mark.parametrize("other", [[], ["n/a"]], ids=["all numbers", "nearly all"])
def test_publish_refuses_spellings_of_one_number(other):
    table = pl.concat([frame(NUMBERS), pl.DataFrame({"sex": ["f"], "dose": other or ["1.5"]})])
    with pytest.raises(dc.JobError, match="attributes.dose: 4 spellings are 1 number") as error:
        dc.publish(table, job_of())
    assert "'type: number'" in str(error.value)
    assert "'type: text'" in str(error.value)
    assert dc.publish(table, job_of(type="text")).audit.ok  # codes, as the steward says


def test_publish_with_a_comma_as_the_decimal_sign(tmp_path):
    values = [one.replace(".", ",") for one in NUMBERS]
    frame(values).write_csv(tmp_path / "t.csv", separator=";")
    job = job_of().model_copy(
        update={"source": dc.Source(path=tmp_path / "t.csv", delimiter=";", decimal=",")}
    )
    with pytest.raises(dc.JobError, match="4 spellings are 1 number"):
        dc.publish(None, job)


def test_numbers_of_a_type_and_distinct_codes_are_published():
    with pytest.raises(dc.InfeasibleError):
        dc.publish(frame(NUMBERS), job_of(type="number"))
    assert dc.publish(frame(["01234", "12340", "00100", "99999"]), job_of()).audit.ok


@pytest.mark.parametrize("values", [NUMBERS, [*NUMBERS[:3], "1.500"]])
def test_check_counts_spellings_of_a_number_once(tmp_path, values):
    table = frame(values)
    found = dc.check(table, quasi=["sex"], sensitive=["dose"], l=2)
    assert not found.ok
    assert found.requirements[0].achieved == {"l": 1}
    assert "Column 'dose': 4 spellings are 1 number, and count as 1 value" in found.remarks[0]
    assert not dc.check(table, job_of(), l=2).ok
    assert dc.check(table, job_of(type="text")).requirements[0].achieved == {"l": 2}
    table.write_csv(tmp_path / "t.csv")
    arguments = ["check", str(tmp_path / "t.csv"), "--quasi", "sex", "--sensitive", "dose"]
    result = CliRunner().invoke(app, [*arguments, "--l", "2"])
    assert result.exit_code == 1
    assert "4 spellings are 1 number" in result.output


def test_spellings_that_differ_in_case_or_blanks_are_named(tmp_path):
    table = frame(ANSWERS)
    said = "Column 'dose': 4 values differ from another only in case, blanks or Unicode form"
    found = dc.check(table, quasi=["sex"], sensitive=["dose"], l=2)
    assert said in " ".join(found.remarks)
    release = dc.publish(table, job_of())
    assert said in " ".join(release.private["spellings"])
    assert said in " ".join(dc.profile(table, job_of()).warnings)
    table.write_csv(tmp_path / "t.csv")
    (tmp_path / "job.yaml").write_text(
        "source: {path: t.csv}\nattributes:\n  sex: {role: quasi-identifier}\n"
        "  dose: {role: sensitive}\nrequirements: [{k-anonymity: {k: 2}}]\nmethod: mondrian\n"
    )
    result = CliRunner().invoke(app, ["publish", str(tmp_path / "job.yaml"), "--quiet", *ACCEPTING])
    assert "WARNING: Column 'dose': 4 values differ" in " ".join(result.output.split())


def test_profile_names_spellings_of_a_number():
    mixed = dc.profile(frame([*NUMBERS[:3], "n/a"]))
    assert not any("spellings" in warning for warning in mixed.warnings)  # 25 % are no numbers
    table = pl.concat([frame(NUMBERS), pl.DataFrame({"sex": ["f"], "dose": ["n/a"]})])
    assert "Column 'dose': 4 spellings are 1 number" in " ".join(dc.profile(table).warnings)
