"""``discreet hierarchy show`` and ``build``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.commands import run_command
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import HierarchyError
from discreet.io.code_lists import hierarchy_rows

JOB = """
source: {path: people.csv}
attributes:
  country: {role: quasi-identifier, hierarchy: {standard: iso-3166}}
  illness: {role: sensitive, hierarchy: {standard: icd-10}, distance: hierarchical}
  age: {role: quasi-identifier, type: integer, hierarchy: {standard: age}}
  note: {role: drop}
requirements: [{k-anonymity: {k: 2}}, {t-closeness: {t: 0.9}}]
method: mondrian
"""
ROWS = """country,illness,age,note
DE,E11.9,31,x
FR,E10,33,x
AT,C50.1,52,x
JP,E11.9,58,x
JP,I21.0,51,x
,I21.0,30,x
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(folder, "hierarchy", *words)


def test_levels_and_counts(folder: Path) -> None:
    done = run(folder, "show", "country")
    assert done.stdout == (
        "Hierarchy of 'country' (iso-3166): 6 rows, 5 values, 3 levels above them\n"
        "\n"
        "level  nodes  fewest rows  most rows\n"
        "    0      5            1          2\n"
        "    1      3            1          3\n"
        "    2      3            1          3\n"
        "    3      1            6          6\n"
        "\nLevel 0\n        2  JP\n        1  AT\n        1  DE\n        1  FR\n"
        "        1  (missing)\n"
        "\nLevel 1\n        3  Western Europe\n        2  Eastern Asia\n        1  (missing)\n"
        "\nLevel 2\n        3  Europe\n        2  Asia\n        1  (missing)\n"
        "\nLevel 3\n        6  *\n"
    )
    one = run(folder, "show", "country", "--level", "2").stdout
    assert "Level 2" in one
    assert "Level 1" not in one
    levels = json.loads(run(folder, "show", "age", "--json").stdout)["levels"]
    assert levels[3] == {"rows": [3, 3], "labels": ["[20, 40)", "[40, 60)"]}


def test_sensitive_values_are_not_printed(folder: Path) -> None:
    for words in (["show", "illness"], ["show", "illness", "--json"]):
        done = run(folder, *words)
        assert done.returncode == 0
        assert not any(word in done.stdout for word in ("E11", "diabetes", "C50", "I21"))


def test_wrong_calls(folder: Path) -> None:
    done = run(folder, "show", "note")
    assert done.returncode == 2
    assert "These are: 'country', 'illness', 'age'." in done.stderr
    assert "from 0 to 3" in run(folder, "show", "country", "--level", "9").stderr


def test_standards_in_a_release(folder: Path) -> None:
    job = dc.Job.load(folder / "job.yaml")
    dc.publish(None, job).save(folder / "release", **UNATTACKED)
    assert dc.audit(folder / "release", original=job).ok


CODES = "Code,Above,Name\nA,,Animals\nA1,A,Mammals\nA11,A1,\nA12,A1,\nB,,Plants\nB1,B,\n"


def test_a_hierarchy_file_from_a_code_list(folder: Path) -> None:
    (folder / "codes.csv").write_text(CODES, encoding="utf-8")
    words = ["build", "codes.csv", "--to", "made.csv", "--code", "Code", "--parent", "Above"]
    assert run(folder, *words, "--name", "Name").returncode == 0
    assert (folder / "made.csv").read_text(encoding="utf-8").splitlines() == [
        "A,A,A Animals,*",
        "A1,A1 Mammals,A Animals,*",
        "A11,A1 Mammals,A Animals,*",
        "A12,A1 Mammals,A Animals,*",
        "B,B,B Plants,*",
        "B1,B1,B Plants,*",
    ]
    assert run(folder, *words).returncode == 2  # it exists
    job = JOB.replace("{standard: iso-3166}", "made.csv")
    (folder / "job.yaml").write_text(job, encoding="utf-8")
    (folder / "people.csv").write_text(
        ROWS.replace("DE", "A").replace("FR", "A11").replace("AT", "B1").replace("JP", "A12"),
        encoding="utf-8",
    )
    assert "4  A Animals" in run(folder, "show", "country").stdout


def test_a_code_list_without_parents(folder: Path) -> None:
    (folder / "isco.csv").write_text("code,title\n2,P\n25,Q\n2511,R\n251,S\n31,T\n", "utf-8")
    assert run(folder, "build", "isco.csv", "--to", "made.csv", "--name", "title").returncode == 0
    assert (folder / "made.csv").read_text(encoding="utf-8").splitlines() == [
        "2,2,2,2 P,*",
        "25,25,25 Q,2 P,*",
        "2511,251 S,25 Q,2 P,*",
        "251,251 S,25 Q,2 P,*",
        "31,31,31,31,*",
    ]


@pytest.mark.parametrize(
    ("parents", "problem"),
    [({"a": "b"}, "'b', above 'a', has no row"), ({"a": "b", "b": "a"}, "is above itself")],
)
def test_code_lists_that_are_no_tree(parents: dict[str, str | None], problem: str) -> None:
    with pytest.raises(HierarchyError, match=problem):
        hierarchy_rows(parents, {})
