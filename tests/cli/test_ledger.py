"""``discreet ledger``, publishing to it, and the audit of a series.

These stories are long, so their commands run within the process of the tests; other files start
processes.
"""

from __future__ import annotations

import json
import random
import signal
from subprocess import CompletedProcess

import pytest
from tests.commands import invoke
from tests.saving import ACCEPTING

JOB = """\
source: {path: TABLE}
attributes:
  name:    {role: identifier}
  age:     {role: quasi-identifier, type: integer}
  disease: {role: sensitive}
method: {METHOD}
ledger: {path: people.ledger}
"""


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments: str) -> CompletedProcess[str]:
        done = invoke(*arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def series(tmp_path, run):
    """Three tables of the same people, a job for each, and a ledger."""
    for number in (1, 2, 3):
        draw = random.Random(number)
        rows = [
            f"Person {person},{20 + person},{['flu', 'ache', 'cold', 'mumps'][person % 4]}"
            for person in range(40)
            if draw.random() < 0.9
        ]
        table = "name,age,disease\n" + "\n".join(rows) + "\n"
        (tmp_path / f"t{number}.csv").write_text(table)
    done = run("ledger", "init", "people.ledger")
    assert done.returncode == 0, done.stderr

    def publish(method: str):
        for number in (1, 2, 3):
            job = JOB.replace("TABLE", f"t{number}.csv").replace("METHOD", method)
            (tmp_path / f"job{number}.yaml").write_text(job)
            done = run("publish", f"job{number}.yaml", "-o", f"r{number}", *ACCEPTING)
            assert done.returncode == 0, done.stderr
            assert "Person" not in done.stdout + done.stderr

    return publish


def test_publish_list_show_verify_export_and_audit(series, run, tmp_path):
    series("m-invariance: {m: 3}")
    listed = json.loads(run("ledger", "list", "people.ledger", "--json").stdout)["releases"]
    assert [one["number"] for one in listed] == [1, 2, 3]
    shown = json.loads(run("ledger", "show", "people.ledger", "2", "--json").stdout)
    assert shown["method"] == "m-invariance"
    assert len(shown["held_back_people"]) == shown["held_back"]
    assert run("ledger", "verify", "people.ledger").returncode == 0
    exported = run("ledger", "export", "people.ledger").stdout
    assert len(json.loads(exported)["releases"]) == 3
    assert "Person" not in exported
    alone = run("audit", "r3", "--original", "job3.yaml")
    assert alone.returncode == 1  # the guarantee of the series was not checked
    assert "r3: 1 of 2 guarantees could not be checked; the others hold." in alone.stdout
    done = run("audit", "--ledger", "people.ledger", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["invariance"]["overlapping"] == 0
    attacks = {one["attack"]: one for one in found["attacks"]}
    assert list(attacks) == [
        "record-linking", "value-association", "correspondence", "value-equivalence",
        "tuple-equivalence",
    ]  # fmt: skip
    assert attacks["value-association"]["greatest"] <= 1 / 3 + 1e-9
    assert attacks["record-linking"]["greatest"] == 1  # ages are published as they are
    assert attacks["tuple-equivalence"]["mean"] >= attacks["value-equivalence"]["mean"]
    done = run("attack", "--ledger", "people.ledger", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["attacks"] == found["attacks"]
    assert run("measure", "r3", "--original", "job3.yaml", "--queries", "20").returncode == 0


def test_the_audit_of_one_folder_says_what_it_does_not_show(series, run, tmp_path):
    series("rho-different: {rho: 0.5, unstated: stay}")
    done = run("audit", "r2", "--page", "page.html")
    assert done.returncode == 1  # nothing fails, and not every guarantee was checked
    conclusion, *lines = done.stdout.splitlines()
    alone, together, *_ = (line for line in lines if line.startswith("  - "))
    assert alone.startswith("  - In this release, no value of ")
    assert together.startswith("  - NOT CHECKED: An attacker who has this release and all earlier ")
    assert "--ledger PLACE, or name all folders with --persons" in together
    assert conclusion.startswith("r2: 1 of 2 guarantees could not be checked")
    assert "1 of 2 guarantees could not be checked" in (tmp_path / "page.html").read_text()
    found = json.loads(run("audit", "r2", "--json").stdout)
    assert (found["ok"], found["unproved"]) == (True, 1)
    (tmp_path / "r2" / "extra.csv").write_text("x\n")
    assert run("audit", "r2").returncode == 1


def test_audit_of_folders_with_a_table_of_persons(series, run, tmp_path):
    series("rho-different: {rho: 0.5, unstated: stay}")
    lines = ["release,person,age"]
    for number in (1, 2, 3):
        for row in (tmp_path / f"t{number}.csv").read_text().splitlines()[1:]:
            name, age, _ = row.split(",")
            lines.append(f"{number},{name},{age}")
    (tmp_path / "persons.csv").write_text("\n".join(lines) + "\n")
    done = run("audit", "r1", "r2", "r3", "--persons", "persons.csv", "--json")
    by_persons = json.loads(done.stdout)
    by_ledger = json.loads(run("audit", "--ledger", "people.ledger", "--json").stdout)
    assert by_persons["ok"]
    attack = ("attack", "r1", "r2", "r3", "--persons", "persons.csv")
    done = run(*attack, "--alike", "Person 0, Person 4")
    assert done.returncode == 0, done.stderr
    assert "tuple-equivalence: " in done.stdout
    assert "record-linking: " in done.stdout
    done = run(*attack, "--alike", "Person 0,Nobody")
    assert done.returncode == 2
    assert "1 of the records in --alike" in done.stderr
    assert run("attack", "r1").returncode == 2  # neither the original nor a series
    assert by_persons["joint"] == by_ledger["joint"]
    assert max(by_persons["joint"]["greatest"]) <= 0.5 + 1e-9
    text = run("audit", "--ledger", "people.ledger").stdout
    assert "The series keeps its guarantees." in text


def test_a_series_that_was_published_anew_each_time_is_found_out(run, tmp_path, series):
    """Releases of two ledgers, each sound, do not make a sound series."""
    series("m-invariance: {m: 2}")
    job = (tmp_path / "job2.yaml").read_text().replace("people.ledger", "other.ledger")
    (tmp_path / "other.yaml").write_text(job)
    run("ledger", "init", "other.ledger")
    assert run("publish", "other.yaml", "-o", "other", "--seed", "3", *ACCEPTING).returncode == 0
    lines = ["release,person,age"]
    for number in (1, 2):
        for row in (tmp_path / f"t{number}.csv").read_text().splitlines()[1:]:
            name, age, _ = row.split(",")
            lines.append(f"{number},{name},{age}")
    (tmp_path / "persons.csv").write_text("\n".join(lines) + "\n")
    done = run("audit", "r1", "other", "--persons", "persons.csv")
    assert done.returncode == 1
    assert "partly new" in done.stdout


def test_wrong_key_and_missing_ledger(series, run, tmp_path):
    run("ledger", "init", "other.ledger")
    done = run("ledger", "list", "people.ledger", "--key", "other.ledger.key")
    assert done.returncode == 2
    assert "is not the key" in done.stderr
    assert run("ledger", "list", "absent.ledger").returncode == 2
    assert "no such file" in run("ledger", "verify", ".").stderr
    assert run("ledger", "init", "people.ledger").returncode == 2


def test_ledger_by_option(series, run, tmp_path):
    job = JOB.replace("TABLE", "t1.csv").replace("METHOD", "m-invariance: {m: 2}")
    (tmp_path / "plain.yaml").write_text(job.replace("ledger: {path: people.ledger}\n", ""))
    assert run("publish", "plain.yaml", *ACCEPTING).returncode == 2
    done = run("publish", "plain.yaml", "--ledger", "people.ledger", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    assert "t1.csv" not in (tmp_path / "release" / "report.html").read_text()
    assert "people.ledger" not in (tmp_path / "release" / "report.html").read_text()


def test_a_correlation_is_estimated_from_two_tables(run, tmp_path):
    (tmp_path / "old.csv").write_text("name,ill,x\na,flu,1\nb,flu,1\nc,gout,1\nd,,1\n")
    (tmp_path / "new.csv").write_text("name,ill,x\na,flu,1\nb,gout,1\nc,gout,1\nd,flu,1\n")
    done = run(
        "ledger", "correlate", "old.csv", "new.csv", "--person", "name", "--attribute", "ill"
    )
    assert done.returncode == 0, done.stderr
    lines = sorted((tmp_path / "correlation.csv").read_text().splitlines())
    assert lines == [
        ",flu,1", "flu,flu,0.5", "flu,gout,0.5", "gout,gout,1", "old,new,probability",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("old,new\na,b\n", "the header has 2 columns"),
        ("old,new,probability\na,b,2\n", "line 2: the probability is not a number from 0 to 1"),
        ("old,new,probability\na,b,0.5\na,b,0.1\n", "line 3: the same pair of values"),
        ("old,new,probability\na,b,0.7\na,c,0.6\n", "add up to 1.3, above 1"),
    ],
)
def test_a_wrong_correlation_table_is_refused_without_repeating_values(
    series, run, tmp_path, table, problem
):
    (tmp_path / "odds.csv").write_text(table)
    job = JOB.replace("TABLE", "t1.csv")
    (tmp_path / "job.yaml").write_text(
        job.replace("METHOD", "rho-different: {correlation: odds.csv}")
    )
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 2
    assert problem in done.stderr
