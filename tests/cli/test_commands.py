"""The commands as a person or a pipeline calls them: output, files and exit status."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from tests import naive
from tests.saving import ACCEPTING

from discreet.releases.manifest import sha256_of

SECRET = re.compile(r"Patient \d|hepatitis|depression|gastritis")


def test_publish_writes_the_release_and_nothing_else(hospital, process):
    done = process("publish", "job.yaml", "--seed", "1", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (hospital / "release").iterdir()) == [
        "manifest.json", "records.csv", "report.html",
    ]  # fmt: skip
    assert sorted(path.name for path in hospital.iterdir()) == [
        "job.yaml", "patients.csv", "release", "release.private.html", "release.private.json",
        "release.private.rows.csv",
    ]  # fmt: skip
    assert "of 600 rows" in done.stdout
    assert "\nWritten to " in done.stdout  # after the warning of unprotected attributes
    private = hospital / "release.private.json"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert json.loads(private.read_text())["seed"] == 1
    assert stat.S_IMODE((hospital / "release.private.html").stat().st_mode) == 0o600


def test_release_holds_no_identifier_seed_path_or_source_order(hospital, run):
    run("publish", "job.yaml", "--seed", "424242", *ACCEPTING)
    for file in (hospital / "release").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "Patient" not in text
        assert "424242" not in text
        assert str(hospital) not in text
    source = [row["income"] for row in naive.read_csv(hospital / "patients.csv")]
    published = [row["income"] for row in naive.read_csv(hospital / "release" / "records.csv")]
    assert published != source[: len(published)]


def test_report_and_messages_hold_no_sensitive_value(hospital, run):
    done = run("publish", "job.yaml", *ACCEPTING)
    assert not SECRET.search((hospital / "release" / "report.html").read_text(encoding="utf-8"))
    assert not SECRET.search(done.stdout + done.stderr)


def test_json_is_one_object_with_the_manifest(hospital, run):
    done = run(
        "publish", "job.yaml", "--json", "--format", "parquet", "--output", "out", *ACCEPTING
    )
    data = json.loads(done.stdout)
    assert data["guarantees"][0]["holds"] is True
    assert (hospital / "out" / "records.parquet").exists()
    assert data["tables"]["records"]["file"] == "records.parquet"


def test_same_seed_same_release(hospital, process):
    process("publish", "job.yaml", "--seed", "3", "--output", "first", *ACCEPTING)
    process("publish", "job.yaml", "--seed", "3", "--output", "second", *ACCEPTING)
    first = (hospital / "first" / "records.csv").read_bytes()
    assert first == (hospital / "second" / "records.csv").read_bytes()


def test_an_existing_release_is_refused_without_force(hospital, run):
    assert run("publish", "job.yaml", "--seed", "1", *ACCEPTING).returncode == 0
    before = (hospital / "release" / "records.csv").read_bytes()
    refused = run("publish", "job.yaml", "--seed", "2", *ACCEPTING)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (hospital / "release" / "records.csv").read_bytes() == before
    assert run("publish", "job.yaml", "--seed", "2", "--force", *ACCEPTING).returncode == 0
    assert (hospital / "release" / "records.csv").read_bytes() != before


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("distinct-l-diversity: {l: 9, attribute: diagnosis}", ["distinct-l-diversity", "9", "8"]),
        ("k-anonymity: {k: 601}", ["k-anonymity", "601", "600"]),
        ("entropy-l-diversity: {l: 8, attribute: diagnosis}", ["entropy-l-diversity", "7."]),
    ],
)
def test_an_infeasible_job_says_what_fails_and_what_is_feasible(hospital, run, requirement, words):
    job = (hospital / "job.yaml").read_text().replace("suppression: 0.02", "suppression: 0")
    (hospital / "job.yaml").write_text(job.replace("k-anonymity: {k: 5}", requirement))
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 1
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in hospital.iterdir()) == ["job.yaml", "patients.csv"]


def test_t_zero_without_a_root_is_infeasible(hospital, run):
    job = (hospital / "job.yaml").read_text()
    job = job.replace('[year, decade, "*"]', "[year, decade]")
    (hospital / "job.yaml").write_text(job.replace("k-anonymity: {k: 5}", "t-closeness: {t: 0}"))
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 1
    assert "t-closeness" in done.stderr


def test_a_wrong_job_lists_all_its_problems_with_their_lines(hospital, run):
    job = (hospital / "job.yaml").read_text()
    job = job.replace("role: identifier", "role: identifer").replace("{k: 5}", "{k: 0, kk: 1}")
    (hospital / "job.yaml").write_text(job + "metod: x\n")
    done = run("publish", "job.yaml", "--json", *ACCEPTING)
    assert done.returncode == 2
    problems = json.loads(done.stdout)["problems"]
    assert any("line 3" in line and "attributes.name.role" in line for line in problems)
    assert any("line 12" in line and "k" in line for line in problems)
    assert any("metod" in line and "method" in line for line in problems)
    assert len(problems) == 4


def test_columns_that_do_not_match_are_named_together(hospital, run):
    job = (
        (hospital / "job.yaml")
        .read_text()
        .replace("  ward: ", "  wards:")
        .replace("  zip:", "  zap:")
    )
    (hospital / "job.yaml").write_text(job)
    done = run("publish", "job.yaml", *ACCEPTING)
    assert done.returncode == 2
    for word in ("'ward'", "'zip'", "wards", "zap"):
        assert word in done.stderr


def test_audit_accepts_its_own_release_and_finds_each_tampering(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    release = hospital / "release"
    assert run("audit", "release", "--original", "job.yaml").returncode == 0
    records = release / "records.csv"
    whole = records.read_text(encoding="utf-8")
    records.write_text(whole.replace("female", "male", 1), encoding="utf-8")
    changed = run("audit", "release")
    assert changed.returncode == 1
    assert "records.csv" in changed.stdout

    records.write_text("\n".join(whole.splitlines()[:-1]) + "\n", encoding="utf-8")
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["tables"]["records"]["sha256"] = sha256_of(records)
    naive.write_manifest(release, manifest)
    fewer = run("audit", "release")
    assert fewer.returncode == 1
    assert "rows of 'records'" in fewer.stdout

    records.write_text(whole, encoding="utf-8")
    (release / "extra.csv").write_text("x\n1\n")
    assert "extra.csv" in run("audit", "release").stdout


def test_audit_with_the_original_finds_an_invented_value(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    release = hospital / "release"
    records = release / "records.csv"
    lines = records.read_text(encoding="utf-8").splitlines()
    lines[1] = re.sub(r",\d+,ward", ",77777,ward", lines[1])
    records.write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["tables"]["records"]["sha256"] = sha256_of(records)
    naive.write_manifest(release, manifest)
    done = run("audit", "release", "--original", "job.yaml")
    assert done.returncode == 1
    assert "no row of the original" in done.stdout


def test_a_stronger_promise_than_the_files_keep_is_found(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    path = hospital / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["promises"][0]["parameters"]["k"] = 590
    path.write_text(json.dumps(manifest))
    done = run("audit", "release", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["guarantees"][0]["holds"] is False


def test_measure_prints_every_figure(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    done = run("measure", "release", "--original", "job.yaml", "--json", "--queries", "50")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    for name in ("loss", "discernibility", "entropy", "class_size", "height", "query_error"):
        assert name in data
    private = json.loads((hospital / "release.private.json").read_text(encoding="utf-8"))
    assert data["loss"] == pytest.approx(private["utility"]["loss"])


def test_init_writes_a_job_that_publishes(hospital, run):
    made = run("init", "patients.csv", "--output", "proposed.yaml")
    assert made.returncode == 0, made.stderr
    assert "#" in (hospital / "proposed.yaml").read_text(encoding="utf-8")
    assert run("init", "patients.csv", "--output", "proposed.yaml").returncode == 2
    done = run("publish", "proposed.yaml", "--output", "out", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    assert "Patient" not in (hospital / "out" / "records.csv").read_text(encoding="utf-8")


def test_profile_of_a_table_and_of_a_job(hospital, run):
    of_job = json.loads(run("profile", "job.yaml", "--json").stdout)
    shown = run("profile", "job.yaml")
    assert shown.returncode == 0, shown.stderr
    assert "Riskiest sets of quasi-identifiers" in shown.stdout
    assert "l_per" in run("profile", "job.yaml", "--verbose").stdout
    assert run("profile", "patients.csv").returncode == 0
    assert {entry["name"] for entry in of_job["sensitive"]} == {"diagnosis", "occupation", "income"}
    assert not SECRET.search(shown.stdout)


def test_schema_is_json_schema_of_the_job(run):
    data = json.loads(run("schema").stdout)
    assert {"attributes", "requirements", "method"} <= set(data["properties"])
    assert "full-domain" in json.dumps(data)
    job = {"attributes": {"age": {"role": "quasi-identifier"}}}
    for verify in ("attacks", None, {"attacks": "all"}, {"attacks": ["linking"], "ceiling": 0.5}):
        jsonschema.validate(job | {"verify": verify}, data)
    for verify in ("attack", {"attacks": "none"}, {"ceiling": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(job | {"verify": verify}, data)


def test_schema_of_the_manifest_describes_what_a_release_says(hospital, run):
    assert run("publish", "job.yaml", "--seed", "1", *ACCEPTING).returncode == 0
    schema = json.loads(run("schema", "manifest").stdout)
    manifest = json.loads((hospital / "release/manifest.json").read_text())
    jsonschema.validate(manifest, schema)
    for damage in ({"format": 2}, {"method": manifest["method"] | {"note": "x"}}, {"extra": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(manifest | damage, schema)


def test_demo_tells_the_whole_journey_twice(tmp_path, process):
    for _ in range(2):
        done = process("demo")
        assert done.returncode == 0, done.stderr
    shares = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) of 3,000 people", done.stdout)]
    unique, certain = shares[:2]
    assert unique > 2850  # of the original
    assert certain > 1000  # to an insider, though every guarantee of the usual remedy holds
    words = re.findall(r"Verdict about risk: ([^.]+)\.", done.stdout)
    assert words == ["Look at these", "Ready to sign", "Do not publish"]
    assert "Repair: Ready to sign" in done.stdout
    assert done.stdout.count("every guarantee holds") == 2
    assert (tmp_path / "discreet-demo" / "release" / "report.html").exists()


def test_usage_errors_are_exit_2_without_traceback(hospital, process):
    for arguments in (
        ["publish"],
        ["publish", "absent.yaml", *ACCEPTING],
        ["audit", "absent"],
        ["nonsense"],
    ):
        done = process(*arguments)
        assert done.returncode == 2, arguments
        assert done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(hospital, number):
    lines = (hospital / "patients.csv").read_text(encoding="utf-8").splitlines()
    big = [lines[0], *(f"{number} {line}" for number, line in enumerate(lines[1:] * 800))]
    (hospital / "patients.csv").write_text("\n".join(big) + "\n", encoding="utf-8")
    before = sorted(path.name for path in hospital.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", "publish", "job.yaml", *ACCEPTING],
        cwd=hospital, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if any(path.name.startswith(".release") for path in Path(hospital).iterdir()):
            break
        time.sleep(0.002)
    assert process.poll() is None, "the run ended before it could be interrupted"
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was published" in errors
    assert sorted(path.name for path in hospital.iterdir()) == before


def test_a_report_is_written_again_in_another_language(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    public = (hospital / "release" / "report.html").read_bytes()
    assert run("report", "release").stdout.strip() == "Report: release.private.html"
    assert run("report", "release", "--output", "en.html").returncode == 0
    assert (hospital / "en.html").read_bytes() == public
    assert run("report", "release", "--output", "de.html", "--language", "de").returncode == 0
    assert "lang='de'" in (hospital / "de.html").read_text(encoding="utf-8")[:200]


@pytest.mark.parametrize("place", ["release/report.html", "release/report.de.html", "job.yaml"])
def test_a_report_replaces_no_file_and_adds_none_to_a_release(hospital, run, place):
    run("publish", "job.yaml", *ACCEPTING)
    before = {path: path.read_bytes() for path in hospital.rglob("*") if path.is_file()}
    done = run("report", "release", "--output", place, "--language", "de")
    assert done.returncode == 2 and "Name " in done.stderr
    assert before == {path: path.read_bytes() for path in hospital.rglob("*") if path.is_file()}


def test_no_report_is_written_of_damaged_files(hospital, run):
    run("publish", "job.yaml", *ACCEPTING)
    with (hospital / "release" / "records.csv").open("a") as table:
        table.write("\n")
    done = run("report", "release", "--output", "report.html")
    assert done.returncode == 1 and "discreet audit release" in done.stderr
    assert not (hospital / "report.html").exists()
