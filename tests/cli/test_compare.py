"""``discreet compare`` from the command line and from Python."""

from __future__ import annotations

import csv
import json
import shlex
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
from tests.saving import ACCEPTING
from typer.testing import CliRunner

import discreet as dc
from discreet.api.demonstrate import make_patients
from discreet.cli.app import app

JOB = """
source: {path: patients.csv}
attributes:
  name: {role: identifier}
  birthday: {role: quasi-identifier, type: date}
  zip: {role: quasi-identifier, hierarchy: {mask: right}}
  sex: {role: quasi-identifier, hierarchy: suppress}
  diagnosis: {role: sensitive}
  occupation: {role: drop}
  income: {role: insensitive}
  ward: {role: insensitive}
requirements:
  - k-anonymity: {k: 2}
method: {anatomy: {prefer: nearby}}
"""


@pytest.fixture
def job(tmp_path):
    make_patients(tmp_path / "patients.csv", rows=400)
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_methods_side_by_side_and_one_that_fails(job, tmp_path):
    out = tmp_path / "comparison"
    done = run(
        job, "--methods", "mondrian,anatomy,m-invariance,gal", "--vary", "l=2,400",
        "--for", "queries", "--output", out, "--queries", "60", "--json", "--quiet",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found == json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    provenance = found["provenance"]
    assert provenance["version"] == dc.__version__
    assert provenance["data_sha256"] == sha256(
        pl.read_csv(tmp_path / "patients.csv", infer_schema=False)
        .drop("name", "occupation", "dependency", "infection").write_csv().encode()
    ).hexdigest()  # fmt: skip
    assert provenance["requirements"] == [{"k-anonymity": {"k": 2}}]
    assert provenance["queries"]["queries"] == 60
    points = {point["label"]: point for point in found["points"]}
    assert list(points) == [
        f"{name} l={ell}" for name in ("mondrian", "anatomy", "m-invariance", "gal")
        for ell in (2, 400)
    ]  # fmt: skip
    for label, point in points.items():
        assert ("failure" in point) == label.endswith("400")
    assert "l = 400 is above l_per" in points["anatomy l=400"]["failure"]
    for label in ("mondrian l=2", "anatomy l=2", "m-invariance l=2"):
        assert points[label]["belief_99"] <= 0.5 + 1e-9
        assert points[label]["belief_99"] <= points[label]["belief_max"]
        assert points[label]["divergence_ratio"] > 0
    assert found["unlinked"]["divergence_ratio"] == pytest.approx(1)
    (advice,) = found["recommendations"]
    fit = [p for p in points.values() if p.get("belief_99", 1) <= 0.5 + 1e-9]
    assert advice["label"] == min(fit, key=lambda p: p["query_error"])["label"]
    assert advice["sentence"].startswith(f"Recommended for queries: {advice['label']}. Its")
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["label"] for line in lines] == [*points, "unlinked"]
    assert lines[0]["l"] == "2"
    assert float(lines[0]["belief_99"]) == points["mondrian l=2"]["belief_99"]


def test_a_table_for_people(job):
    done = run(job, "--methods", "mondrian,anatomy", "--queries", "0")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    head = lines.index("") + 1  # recommendations come first
    assert lines[head].split()[:3] == ["release", "D", "belief"]
    assert [line.split()[0] for line in lines[head + 1 :][:3]] == [
        "mondrian",
        "anatomy",
        "unlinked",
    ]
    assert "Recommended for queries: none. No release has a figure for this use." in lines
    assert any(line.startswith("Recommended for records:") for line in lines)


def test_what_is_recommended_is_published_by_the_printed_command(job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(job, "--for", "queries", "--output", "comparison", "--queries", "40", "--quiet")
    assert done.exit_code == 0, done.output
    advice, command = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    assert advice.startswith("Advice: publish ")
    assert command.startswith(f"Publish it: discreet publish {job} --compared comparison")
    arguments = shlex.split(command.removeprefix("Publish it: discreet "))
    published = CliRunner().invoke(app, [*arguments, "--force", "--quiet"])
    assert published.exit_code == 0, published.output
    assert arguments[-3] in advice


def test_nothing_can_be_met(job):
    done = run(job, "--methods", "anatomy", "--vary", "l=400")
    assert done.exit_code == 1
    assert "anatomy l=400: anatomy: l = 400 is above" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods", "mondriann"], "unknown method 'mondriann'. Did you mean mondrian"),
        (["--methods", "mondrian", "--vary", "ell=2"], "'ell' is not a parameter of mondrian"),
        (["--methods", "mondrian", "--vary", "l"], "name each parameter once, with its values"),
        (["--methods", "mondrian", "--vary", "l="], "'l' has no value"),
        (["--methods", "mondrian,mondrian"], "mondrian is named twice"),
        (["--methods", "mondrian", "--for", "fun"], "Unknown use 'fun'"),
    ],
)
def test_wrong_calls(job, arguments, said):
    done = run(job, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_parameters_go_where_each_method_has_them(job):
    from discreet.api.settings_grid import settings_of

    loaded = dc.Job.load(job)
    settings = settings_of(
        loaded,
        ["mondrian", "decomposition", "rho-different", "full-domain", "anatomy"],
        {"l": [4], "k": [3], "suppression": [0.1]},
    )
    jobs = {one.method: one.job(loaded, ["diagnosis"]) for one in settings}
    asked = {
        name: [r.model_dump(exclude_defaults=True) for r in one.requirements]
        for name, one in jobs.items()
    }
    assert asked["mondrian"] == [{"k": 3}, {"l": 4.0}]
    assert asked["decomposition"] == [{"k": 3}]
    assert jobs["decomposition"].method.l == {"diagnosis": 4}
    assert jobs["rho-different"].method.rho == 0.25
    assert jobs["full-domain"].method.suppression == 0.1
    assert "suppression" not in next(s for s in settings if s.method == "mondrian").parameters
    assert jobs["anatomy"].method == dc.Anatomy(l=4, prefer="nearby")  # the job's own method


def test_from_python_with_learning():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 2000)
    ill = (age // 10 + (rng.random(2000) < 0.3) * rng.integers(1, 4, 2000)) % 4
    frame = pl.DataFrame({"age": age, "ill": [f"v{value}" for value in ill]})
    asked = dc.Job(
        attributes={"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}},
        measure=dc.MeasureSettings(target="ill"),
    )
    found = dc.compare(
        frame, asked, methods=[dc.Mondrian(), {"anatomy": {"prefer": "nearby"}}],
        vary={"l": [1.2, 2]}, uses="learning", ceiling=0.9,
    )  # fmt: skip
    assert "Input should be a valid integer" in found["anatomy l=1.2"].failure
    narrow, wide = found["mondrian l=1.2"], found["mondrian l=2"]
    assert narrow.skill == pytest.approx(1, abs=0.1)  # classes as narrow as an age
    assert 0 < wide.skill < narrow.skill
    assert 0 < found["anatomy l=2"].skill < 0.9
    assert found.unlinked.skill == 0
    (advice,) = found.recommendations
    assert narrow.verdict == "Do not publish"  # it would be the best otherwise
    assert (advice.use, advice.label) == ("learning", "anatomy l=2")
    skill = found["anatomy l=2"].skill
    assert f"Its skill is {skill:.3f} (unlinked baseline: 0.000)" in advice.sentence


def test_measure_learns_too(job, tmp_path):
    runner = CliRunner()
    release = tmp_path / "release"
    made = runner.invoke(
        app, ["publish", str(job), "--output", str(release), "--quiet", *ACCEPTING]
    )
    assert made.exit_code == 0, made.output
    done = runner.invoke(
        app,
        ["measure", str(release), "--original", str(job), "--learning", "--queries", "0", "--json"],
    )
    assert done.exit_code == 0, done.output
    learnt = json.loads(done.stdout)["learning"]
    assert learnt["draws"] == 3
    assert [one["target"] for one in learnt["targets"]] == ["diagnosis"]
    assert 0 < learnt["targets"][0]["original"]["accuracy"] <= 1
