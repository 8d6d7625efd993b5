"""``attack``, ``measure``, ``check`` and ``compare-tables`` on tables of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.attacks.test_other_tables import ANJANA_OUTPUT, ARX_OUTPUT, PEOPLE, SDV_OUTPUT
from typer.testing import CliRunner

from discreet.cli.app import app

ROLES = ("--quasi", "age,zip", "--sensitive", "disease")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("people", PEOPLE), ("arx", ARX_OUTPUT), ("anjana", ANJANA_OUTPUT), ("sdv", SDV_OUTPUT)
    ):  # fmt: skip
        Path(f"{name}.csv").write_text(text)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_attack_a_table(run):
    done = run("attack", "anjana.csv", "--original", "people.csv", *ROLES, "--page", "page.html")
    assert done.exit_code == 0
    assert (
        "Read as generalized: each of 7 rows covers a row of the original of its own" in done.stdout
    )
    assert "Read as generalized" in Path("page.html").read_text()
    plain = run("attack", "sdv.csv", "--original", "people.csv", *ROLES, "--json")
    assert json.loads(plain.stdout)["shape"] == "synthetic"


def test_attack_a_table_with_the_roles_of_a_job(run):
    Path("job.yaml").write_text(
        "source: {path: people.csv}\n"
        "attributes:\n"
        "  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [20, '*']}}\n"
        "  zip: {role: quasi-identifier}\n"
        "  disease: {role: sensitive}\n"
        "requirements: [k-anonymity: {k: 2}]\n"
    )
    by_job = run("attack", "anjana.csv", "--original", "job.yaml", "--json")
    by_names = run("attack", "anjana.csv", "--original", "people.csv", *ROLES, "--json")
    assert by_job.exit_code == by_names.exit_code == 0
    first, second = (json.loads(done.stdout)["exact"]["findings"] for done in (by_job, by_names))
    assert [one["mean"] for one in first] == [one["mean"] for one in second]
    both = run("attack", "anjana.csv", "--original", "job.yaml", *ROLES)
    assert both.exit_code == 2
    assert "A job already names the roles" in both.stderr


def test_measure_and_compare_tables(run):
    done = run("measure", "arx.csv", "--original", "people.csv", *ROLES, "--json")
    assert json.loads(done.stdout)["rows"] == 7
    done = run(
        "compare-tables", "arx.csv", "sdv.csv", "--original", "people.csv", *ROLES,
        "--page", "page.html",
    )  # fmt: skip
    assert done.exit_code == 0
    assert "Least risk: arx." in done.stdout
    assert "Least risk: arx." in Path("page.html").read_text()


def test_check_counts_suppressed_rows_apart(run):
    done = run("check", "arx.csv", "--quasi", "age,zip", "--k", "3", "--suppressed", "*")
    assert done.exit_code == 0
    assert "1 rows are suppressed" in done.stdout
    done = run("check", "arx.csv", "--quasi", "age,zip", "--k", "3", "--missing", "match")
    assert done.exit_code == 0
    assert run("check", "arx.csv", "--quasi", "age,zip", "--k", "3").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attack", "arx.csv"), "Name one release folder and its job"),
        (("attack", "arx.csv", "--original", "no.csv"), "no.csv"),
        (
            ("attack", "arx.csv", "--original", "people.csv", "--quasi", "sex"),
            "'sex' is not in both",
        ),
        (("attack", "arx.csv", "--original", "people.csv", "--quick"), "for release folders"),
        (("measure", "arx.csv", "--original", "people.csv", *ROLES, "--learning"), "--control"),
    ],
)
def test_bad_input_ends_with_one_sentence(run, arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
