"""A release that attacks break does not appear."""

from __future__ import annotations

import json

import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import app

JOB = """
source: {{path: table.csv}}
attributes:
  age: {{role: quasi-identifier, type: integer, hierarchy: {{intervals: [10, "*"]}}}}
  illness: {{role: sensitive}}
  work: {{role: sensitive}}
requirements: [k-anonymity: {{k: 2}}, distinct-l-diversity: {{l: 2}}]
method: full-domain
verify: {verify}
"""
TABLE = "age,illness,work\n" + "".join(
    f"{age},{illness},{work}\n"
    for age, illness, work in [
        (20, "flu", "cook"), (21, "flu", "clerk"), (22, "cold", "cook"), (31, "flu", "cook"),
        (33, "cold", "clerk"), (35, "hiv", "nurse"), (37, "flu", "nurse"),
    ]
)  # fmt: skip


@pytest.fixture
def job(tmp_path):
    def write(verify):
        (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
        path = tmp_path / "job.yaml"
        path.write_text(JOB.format(verify=verify), encoding="utf-8")
        return path

    return write


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_ceiling_keeps_the_folder_from_appearing(job, tmp_path):
    path = job("{ceiling: 0.5}")
    done = run("publish", path, *ACCEPTING)
    assert done.exit_code == 1
    assert "homogeneity on illness" in done.stderr
    assert "0.666667, above the ceiling of 0.5" in done.stderr
    assert "flu" not in done.stderr
    assert not (tmp_path / "release").exists()
    with pytest.raises(dc.AuditError, match="attacks go too far"):
        dc.publish(None, dc.Job.load(path))


def test_named_attacks_under_the_ceiling_let_it_appear_with_a_section(job, tmp_path):
    done = run(
        "publish", job("{attacks: [linking, homogeneity, absence], ceiling: 0.7}"), *ACCEPTING
    )
    assert done.exit_code == 0, done.stderr
    report = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "The worst attackers" not in report  # they were scored by the original
    assert "flu" not in report
    page = (tmp_path / "release.private.html").read_text(encoding="utf-8")
    assert "The worst attackers" in page
    assert "results in all. A page with each" in page
    assert "<svg" in page
    assert "<script" not in page
    assert "background-join" in page  # among what it does not promise


def test_the_short_form_runs_what_the_promises_speak_of(job, tmp_path):
    done = run("publish", job("attacks"), *ACCEPTING)
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "release.private.html").read_text(encoding="utf-8")
    assert "non-membership" in page


def test_an_unknown_attack_is_refused_with_the_nearest_name(job):
    done = run("publish", job("{attacks: [linkin]}"), *ACCEPTING)
    assert done.exit_code == 2
    assert "Did you mean linking" in done.stderr


def test_the_command_prints_text_json_and_a_page(job, tmp_path):
    path = job("null")
    assert run("publish", path, *ACCEPTING).exit_code == 0
    release, page = tmp_path / "release", tmp_path / "attacks.html"
    done = run("attack", release, "--original", path, "--page", page)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(
        "No attack exceeds a guarantee of this release.\nStrongest attack: "
    )
    assert "<svg" in page.read_text(encoding="utf-8")
    done = run("attack", release, "--original", path, "--attacks", "linking", "--json")
    found = json.loads(done.stdout)
    assert found["ok"]
    assert [f["attack"] for f in found["findings"]] == ["linking"]
    assert found["findings"][0]["greatest"] == pytest.approx(1 / 3)
    assert found["findings"][0]["bound"] == pytest.approx(1 / 2)
    done = run("attack", release, "--original", path, "--attacks", "linkin")
    assert done.exit_code == 2
    assert "Did you mean linking" in done.stderr


def test_rules_are_read_from_a_file(job, tmp_path):
    path = job("null")
    run("publish", path, *ACCEPTING)
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "- background-knowledge:\n    rules:\n"
        "      - {who: {age: ['22']}, attribute: illness, never: [flu]}\n",
        encoding="utf-8",
    )
    done = run("attack", tmp_path / "release", "--original", path, "--attacks", "linking",
               "--knowledge", rules, "--json")  # fmt: skip
    found = json.loads(done.stdout)["findings"]
    assert [f["attack"] for f in found] == ["linking", "background-knowledge"]
    assert found[1]["certain"] == pytest.approx(3 / 7)  # 22 has the cold, 20 and 21 the flu


def test_a_broken_promise_is_a_failed_attack(job, tmp_path):
    path = job("null")
    run("publish", path, *ACCEPTING)
    manifest = tmp_path / "release" / "manifest.json"
    text = manifest.read_text(encoding="utf-8").replace('"k": 2', '"k": 4')
    manifest.write_text(text, encoding="utf-8")
    done = run("attack", tmp_path / "release", "--original", path)
    assert done.exit_code == 1
    assert "exceeds the guarantee" in done.stdout
