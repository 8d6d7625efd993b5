"""A release whose verdict is *Do not publish* never appears without a reason, which is recorded."""

from __future__ import annotations

import json
import pickle
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from tests.commands import run_command

import discreet as dc
from discreet.statements import Statement

PEOPLE = pl.DataFrame(
    {
        "id": [f"p{n}" for n in range(24)],
        "age": [20 + n for n in range(24)],
        "illness": ["flu", "asthma", "ulcer", "gout"] * 6,
    }
)
ATTRIBUTES = """\
source: {path: people.csv}
attributes:
  id: {role: identifier}
  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [4, 100]}}
  illness: {role: sensitive}
"""
RISKY = ATTRIBUTES + "requirements: [{k-anonymity: {k: 1}}]\nmethod: full-domain\n"
SAFE = ATTRIBUTES + "requirements: [{k-anonymity: {k: 24}}]\nmethod: full-domain\n"
REASON = "Synthetic people, made for a test."
PRIVATE = {"release.private.json", "release.private.html", "release.private.rows.csv"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "risky.yaml").write_text(RISKY)
    (tmp_path / "safe.yaml").write_text(SAFE)
    return tmp_path


def record_of(folder: Path, name: str = "release") -> dict:
    return json.loads((folder / f"{name}.private.json").read_text())


def risky(folder: Path) -> dc.Release:
    return dc.publish(None, folder / "risky.yaml")


def test_nothing_appears_but_the_private_report(folder: Path) -> None:
    ended = run_command(folder, "publish", "risky.yaml")
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert lines[0] == "Verdict about risk: DO NOT PUBLISH."
    assert any(line.startswith("  - ") for line in lines[1:4])
    assert f"Nothing was written to {folder / 'release'}." in ended.stdout.replace(
        "to release", f"to {folder / 'release'}"
    )
    assert "release.private.html" in ended.stdout and '--accept-risk "reason"' in ended.stdout
    assert "Written to" not in ended.stdout and "Error: Nothing was published" in ended.stderr
    left = {entry.name for entry in folder.iterdir()} - {"people.csv", "risky.yaml", "safe.yaml"}
    assert left <= PRIVATE and {"release.private.json", "release.private.html"} <= left
    record = record_of(folder)
    assert record["verdict"]["verdict"] == "Do not publish" and "accepted_risk" not in record
    assert str(Statement("page.refused")) in (folder / "release.private.html").read_text()


def test_the_error_is_one_json_object(folder: Path) -> None:
    ended = run_command(folder, "publish", "risky.yaml", "--json")
    said = json.loads(ended.stdout)
    assert ended.returncode == said["exit_status"] == 1
    assert said["risk"]["verdict"] == "Do not publish" and said["risk"]["reasons"]
    assert said["private_report"].endswith("release.private.html")
    assert not (folder / "release").exists()


def test_a_reason_publishes_and_is_recorded(folder: Path) -> None:
    ended = run_command(folder, "publish", "risky.yaml", "--accept-risk", f"  {REASON}\n")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("Verdict about risk: DO NOT PUBLISH.")
    assert f"The risk was accepted: {REASON}" in ended.stdout
    assert f"Written to {folder / 'release'}: " in ended.stdout
    assert record_of(folder)["accepted_risk"] == REASON
    assert REASON in (folder / "release.private.html").read_text()
    assert dc.audit(folder / "release", original=folder / "risky.yaml").ok
    assert REASON not in (folder / "release" / "manifest.json").read_text()
    for framework in ("ema", "hipaa", "nist", "gdpr"):
        for original in (None, folder / "risky.yaml"):
            pack = dc.evidence(folder / "release", framework, original=original, seconds=1)
            assert pack.to_dict()["accepted_risk"] == REASON
            assert REASON in pack.save(folder / "pack.html", force=True).read_text()


@pytest.mark.parametrize("reason", ["", "  ", "\n", "bell\a", "x" * 2001])
def test_a_reason_says_something(folder: Path, reason: str) -> None:
    with pytest.raises(dc.InputError, match="needs a reason in words"):
        risky(folder).save(folder / "release", accept_risk=reason)
    assert not (folder / "release.private.json").exists()


def test_an_empty_reason_is_refused_before_the_job_runs(folder: Path) -> None:
    ended = run_command(folder, "publish", "risky.yaml", "--accept-risk", "")
    assert ended.returncode == 2 and "needs a reason in words" in ended.stderr


def test_python_raises_with_the_verdict(folder: Path) -> None:
    release = risky(folder)
    with pytest.raises(dc.RiskError) as caught:
        release.save(folder / "release")
    error = caught.value
    assert error.verdict.word == "Do not publish" and error.verdict.reasons
    assert error.exit_status == 1 and error.report == folder / "release.private.html"
    assert pickle.loads(pickle.dumps(error)).verdict.word == error.verdict.word
    assert not (folder / "release").exists()
    assert len(release.coded_tables()["records"].columns) == 2  # it can still be used
    release.save(folder / "release", accept_risk=REASON)
    assert record_of(folder)["accepted_risk"] == REASON


def test_a_reason_that_is_not_needed_is_not_recorded(folder: Path) -> None:
    release = dc.publish(None, folder / "safe.yaml")
    release.save(folder / "release", accept_risk=REASON)
    assert release.verdict().word != "Do not publish"
    assert "accepted_risk" not in record_of(folder)


def test_without_attackers_a_release_is_at_most_one_to_look_at(folder: Path) -> None:
    release = dc.publish(None, folder / "safe.yaml")
    release.save(folder / "release", attack=None)
    assert release.verdict().word == "Look at these"
    assert "No attacker was tried" in " ".join(release.verdict().reasons)
    assert record_of(folder)["verdict"]["verdict"] == "Look at these"


def test_without_a_report_the_verdict_still_decides(folder: Path) -> None:
    ended = run_command(folder, "publish", "risky.yaml", "--no-report")
    assert ended.returncode == 1 and not (folder / "release").exists()
    assert record_of(folder)["verdict"]["verdict"] == "Do not publish"
    assert not (folder / "release.private.html").exists()
    assert "release.private.json" in ended.stdout


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_an_earlier_release_and_its_record_stay(folder: Path, format) -> None:
    release = dc.publish(None, folder / "safe.yaml")
    release.save(folder / "release", attack=None, format=format)
    before = {entry: entry.read_bytes() for entry in (folder / "release").iterdir()}
    record = (folder / "release.private.json").read_bytes()
    with pytest.raises(dc.RiskError, match="The earlier release there is unchanged") as caught:
        risky(folder).save(folder / "release", force=True, format=format)
    assert {entry: entry.read_bytes() for entry in (folder / "release").iterdir()} == before
    assert (folder / "release.private.json").read_bytes() == record
    assert caught.value.report == folder / "release.refused.private.html"
    assert record_of(folder, "release.refused")["verdict"]["verdict"] == "Do not publish"
    risky(folder).save(folder / "release", force=True, accept_risk=REASON)
    assert not list(folder.glob("*.refused.*"))


def test_a_ledger_records_a_reason_and_never_a_refused_release(folder: Path) -> None:
    with dc.Ledger.create(dc.LedgerSettings(path=folder / "people.ledger").located(folder)):
        pass
    job = "ledger: {path: people.ledger}\n" + RISKY
    (folder / "series.yaml").write_text(job)
    assert run_command(folder, "publish", "series.yaml").returncode == 1
    assert "no release yet" in run_command(folder, "ledger", "list", "people.ledger").stdout
    assert run_command(folder, "publish", "series.yaml", "--accept-risk", REASON).returncode == 0
    listed = run_command(folder, "ledger", "list", "people.ledger")
    assert f"Risk accepted: {REASON}" in listed.stdout
    assert run_command(folder, "ledger", "verify", "people.ledger").returncode == 0
    as_data = json.loads(run_command(folder, "ledger", "list", "people.ledger", "--json").stdout)
    assert as_data["releases"][0]["parameters"]["accepted_risk"] == REASON


def test_a_recorded_release_is_not_replaced_by_a_job_without_its_ledger(folder: Path) -> None:
    with dc.Ledger.create(dc.LedgerSettings(path=folder / "people.ledger").located(folder)):
        pass
    (folder / "series.yaml").write_text("ledger: {path: people.ledger}\n" + SAFE)
    dc.publish(None, folder / "series.yaml").save(folder / "release", attack=None)
    (folder / "release.private.json").unlink()
    ended = run_command(folder, "publish", "safe.yaml", "--force", "--no-attack")
    assert ended.returncode == 2 and "a ledger records this release" in ended.stderr
    assert run_command(folder, "ledger", "verify", "people.ledger").returncode == 0


def test_no_table_appears_in_a_database(folder: Path) -> None:
    output = "output: {path: release, url: 'sqlite:///out.db'}\n"
    (folder / "risky.yaml").write_text(RISKY + output)
    with pytest.raises(dc.RiskError):
        risky(folder).save(folder / "release")
    if (folder / "out.db").exists():
        with sqlite3.connect(folder / "out.db") as database:
            assert database.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_new_rows_are_applied_only_with_a_reason(folder: Path) -> None:
    risky(folder).save(folder / "release", accept_risk=REASON)
    more = PEOPLE.with_columns(pl.col("id").str.replace("p", "q"))
    more.write_csv(folder / "more.csv")
    command = ["apply", "release", "more.csv", "--original", "risky.yaml", "-o", "second"]
    ended = run_command(folder, *command)
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("Verdict about risk: DO NOT PUBLISH.")
    assert not (folder / "second").exists() and (folder / "second.private.html").exists()
    ended = run_command(folder, *command, "--accept-risk", REASON)
    assert ended.returncode == 0, ended.stderr
    assert record_of(folder, "second")["accepted_risk"] == REASON
