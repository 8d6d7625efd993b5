"""A file without a header has a person's cells as its first line: no command repeats one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests import commands
from tests.saving import ACCEPTING

import discreet as dc
from discreet.addons.places.spreadsheets import write_workbook

TYPED = """\
Ann Smith,1980-02-03,HIV,ann@x.org
Bob Jones,1975-12-30,flu,bob@x.org
Cid Brown,1990-07-01,gout,cid@x.org
Dan White,1961-05-11,flu,dan@x.org
Eve Black,1983-01-09,asthma,eve@x.org
Fay Green,1979-10-22,gout,fay@x.org
"""
ONE_DATE = """\
Ann,Smith,Berlin,HIV,nurse,1980-02-03
Bob,Jones,Hamburg,flu,smith,1975-12-30
Cid,Brown,Bremen,gout,clerk,1990-07-01
Dan,White,Dresden,asthma,cook,1961-05-11
"""
WORDS = """\
Ann Smith,Berlin,HIV
Bob Jones,Hamburg,flu
Cid Brown,Bremen,gout
Dan White,Dresden,COVID
"""
HEADED = "name,born,illness,mail\n" + "".join(
    f"P{n},{1950 + n % 4 * 10}-02-03,{('flu', 'gout', 'cold', 'ache')[n // 4 % 4]},p{n}@y.org\n"
    for n in range(64)
)
JOB = """\
source: {{path: {path}}}
attributes:
  name: {{role: identifier}}
  born: {{role: quasi-identifier, type: date}}
  illness: {{role: sensitive}}
requirements: [{{k-anonymity: {{k: 2}}}}]
method: {{full-domain: {{suppression: 1.0}}}}
"""


def cells(text: str) -> set[str]:
    return {word for line in text.splitlines() for cell in line.split(",") for word in cell.split()}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("headed.csv").write_text(HEADED)
    Path("headed.yaml").write_text(JOB.format(path="headed.csv"))
    Path("job.yaml").write_text(JOB.format(path="people.csv"))

    def invoke(*arguments: str) -> tuple[int, str]:
        done = commands.invoke(*arguments)
        return done.exit_code, done.stdout + done.stderr

    return invoke


NAMED = [
    ("check", "people.csv", "--quasi", "nam", "--k", "2", "--json"),
    ("check", "people.csv", "--quasi", "smit", "--sensitive", "Berli", "--k", "2"),
    ("check", "people.csv", "--job", "job.yaml"),
    ("publish", "job.yaml", "--output", "release", *ACCEPTING),
    ("profile", "job.yaml", "--json"),
    ("compare", "job.yaml", "--methods", "mondrian"),
    ("hierarchy", "build", "people.csv", "--to", "tree.csv", "--code", "key"),
]
PROPOSED = [
    ("init", "people.csv", "--output", "new.yaml"),
    ("profile", "people.csv"),
    ("profile", "people.csv", "--json"),
]


def assert_hidden(code: int, shown: str, text: str) -> None:
    assert code not in (0, None), shown
    assert not {cell for cell in cells(text) if cell in shown}, shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("text", [TYPED, ONE_DATE, WORDS], ids=["typed", "one date", "words"])
@pytest.mark.parametrize("command", NAMED, ids=lambda words: " ".join(words[:4]))
def test_a_command_that_lacks_a_column_repeats_no_cell(run, command, text):
    Path("people.csv").write_text(text)
    code, shown = run(*command)
    assert_hidden(code, shown, text)
    assert "header=false" in shown


@pytest.mark.parametrize("text", [TYPED, ONE_DATE], ids=["typed", "one date"])
@pytest.mark.parametrize("command", PROPOSED, ids=" ".join)
def test_no_job_is_proposed_from_cells_as_names(run, command, text):
    Path("people.csv").write_text(text)
    assert_hidden(*(result := run(*command)), text)
    assert "header=false" in result[1]
    assert not Path("new.yaml").exists()


def test_a_sheet_without_a_header_is_refused_too(run):
    pytest.importorskip("fastexcel")
    rows = [line.split(",") for line in TYPED.splitlines()]
    table = pl.DataFrame(rows[1:], schema=rows[0], orient="row")
    write_workbook(Path("people.xlsx"), table, "people")
    for command in (("profile", "people.xlsx"), ("check", "people.xlsx", "--quasi", "x")):
        assert_hidden(*(result := run(*command)), TYPED)
        assert "header=false" in result[1]


def test_commands_on_a_release_repeat_no_cell_of_an_original_without_a_header(run):
    code, shown = run("publish", "headed.yaml", "--output", "release", *ACCEPTING)
    assert code == 0, shown
    Path("people.csv").write_text(TYPED)
    for command in (
        ("audit", "release", "--original", "job.yaml"),
        ("measure", "release", "--original", "job.yaml"),
        ("attack", "release", "--original", "job.yaml"),
        ("apply", "release", "people.csv", "--original", "headed.yaml", "--output", "more"),
    ):
        code, shown = run(*command)
        assert_hidden(code, shown, TYPED)
        assert "header=false" in shown, shown


def test_a_header_above_numbers_is_one_though_a_name_has_digits(run):
    Path("people.csv").write_text(
        "age,income,2020,city\n30,1000,1,Bonn\n31,2000,0,Kiel\n32,3000,1,Bonn\n"
    )
    assert run("profile", "people.csv")[0] == 0
    code, shown = run("check", "people.csv", "--quasi", "cty", "--k", "2")
    assert code == 2 and "city" not in shown and "header=false" in shown


def test_a_stated_header_is_one(run):
    Path("people.csv").write_text("name,2019,2020,2021\nx,1,2,3\ny,4,5,6\n")
    assert run("profile", "people.csv")[0] != 0
    assert run("profile", "people.csv", "--source", "header=true")[0] == 0
    assert run("init", "people.csv", "--source", "header=true", "--output", "new.yaml")[0] == 0
    assert dc.Job.load("new.yaml").source.header


def test_a_header_of_words_above_other_words_is_repeated(run):
    Path("people.csv").write_text("city,street,illness\nBonn,Am Hof,flu\nKiel,Ufer,HIV\n")
    code, shown = run("check", "people.csv", "--quasi", "ctiy", "--k", "2")
    assert code == 2 and "Did you mean 'city'?" in shown
