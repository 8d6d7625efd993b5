"""codip from the command line: the example job, the frontier, what can't be met, wrong jobs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests import naive
from tests.saving import ACCEPTING

import discreet as dc

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "codip"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path


def with_method(place: Path, method: dict, requirements: list | None = None) -> None:
    job = yaml.safe_load((place / "job.yaml").read_text(encoding="utf-8"))
    job["method"] = method
    if requirements is not None:
        job["requirements"] = requirements
    (place / "job.yaml").write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")


def test_the_example_publishes_audits_and_measures(place, run):
    done = run("publish", "job.yaml", "--seed", "1", *ACCEPTING)
    assert done.returncode == 0, done.stderr
    manifest = naive.read_manifest(place / "release")
    tables = len(manifest["method"]["plan"])
    assert tables > 1
    names = {path.name for path in (place / "release").iterdir()}
    assert {f"projection_{number + 1}.csv" for number in range(tables)} < names
    private = json.loads((place / "release.private.json").read_text(encoding="utf-8"))
    assert private["method"]["association_loss"] <= 0.3
    assert private["method"]["information_exposure"] <= 0.3
    assert manifest["bitmaps"]["diagnoses"]["rest"] == "diagnoses=(rest)"
    assert "projection_1.csv, projection_2.csv" in done.stdout
    audit = run("audit", "release", "--original", "job.yaml")
    assert audit.returncode == 0, audit.stdout
    measured = json.loads(run("measure", "release", "--original", "job.yaml", "--json").stdout)
    assert set(measured["tables"]) == {f"projection_{n + 1}" for n in range(tables)}
    assert measured["query_error"]["median"] >= 0


def test_the_frontier(place, run):
    done = run("profile", "--projections", "job.yaml", "--plot", "frontier.svg")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = next(line for line in lines if line.startswith("1 "))
    assert first.split()[:3] == ["1", "0.0000", "1.0000"]
    assert "not met" in done.stdout or "met" in done.stdout
    assert (place / "frontier.svg").read_text(encoding="utf-8").startswith("<svg")
    data = dc.explore_projections(None, place / "job.yaml").to_dict()
    steps = data["steps"]
    assert [step["tables"] for step in steps] == list(range(len(data["attributes"]), 0, -1))
    assert steps[0]["association_loss"] == 1
    assert steps[-1]["improvement"] in (0, None)


def test_an_unreachable_alpha_names_the_nearest_point(place, run):
    with_method(place, {"codip": {"alpha": 0.01, "beta": 0.05}})
    done = run("publish", "job.yaml", "--json", *ACCEPTING)
    assert done.returncode == 1
    assert "The frontier's nearest point" in done.stderr
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["parameters"] == {"alpha": 0.01, "beta": 0.05}
    assert failure["feasible"]["alpha"] > 0.01
    assert not (place / "release").exists()
    with_method(place, {"codip": {"alpha": failure["feasible"]["alpha"], "beta": 0.05}})
    assert dc.publish(None, dc.Job.load(place / "job.yaml"))  # what was called feasible is


def test_an_unreachable_t_names_what_is_feasible(place, run):
    requirements = [{"k-anonymity": {"k": 4}}, {"t-closeness": {"t": 0.0001}}]
    with_method(place, {"codip": {"dm": 60000, "recoding": "full-domain"}}, requirements)
    done = run("publish", "job.yaml", "--json", *ACCEPTING)
    assert done.returncode == 1
    failures = json.loads(done.stdout)["failures"]
    assert {failure["requirement"] for failure in failures} == {"t-closeness"}
    feasible = max(failure["feasible"]["t"] for failure in failures)
    assert f"t-closeness reaches t = {feasible:.6g} there at best" in done.stderr
    requirements[1]["t-closeness"]["t"] = feasible
    method = {"dm": 60000, "beta": 0.0, "recoding": "full-domain"}
    with_method(place, {"codip": method}, requirements)
    assert dc.publish(None, dc.Job.load(place / "job.yaml"))


@pytest.mark.parametrize(
    ("method", "requirement", "message"),
    [
        ({"dm": 10}, {"k": 4}, "Raise dm"),
        ({}, {"k": 1000}, "reaches k = 400 there at best"),
    ],
)
def test_sizes_that_no_recoding_meets(place, method, requirement, message):
    with_method(place, {"codip": method}, [{"k-anonymity": requirement}])
    with pytest.raises(dc.InfeasibleError, match=message):
        dc.publish(None, dc.Job.load(place / "job.yaml"))


def test_a_given_plan(place):
    tables = [["diagnoses", "drug"], ["job"], ["income"]]
    with_method(place, {"codip": {"plan": "given", "tables": tables}})
    plan = dc.publish(None, dc.Job.load(place / "job.yaml")).manifest.method.plan
    assert plan[0][0].startswith("diagnoses=")
    assert plan[0][-1] == "drug"
    assert plan[1:] == [["job"], ["income"]]
    with_method(place, {"codip": {"plan": "given", "tables": tables, "beta": 0.01}})
    with pytest.raises(dc.InfeasibleError, match="The given plan has 3 tables"):
        dc.publish(None, dc.Job.load(place / "job.yaml"))


@pytest.mark.parametrize(
    ("method", "messages"),
    [
        ({"plan": "given"}, ["'tables' and 'plan: given' go together"]),
        ({"tables": [["drug"]]}, ["'tables' and 'plan: given' go together"]),
        ({"alpha": 1.5}, ["alpha"]),
        ({"plan": "exhaustive"}, ["up to 9 sensitive attributes"]),
        (
            {"plan": "given", "tables": [["drug", "drugs"], ["job", "drug"], []]},
            ["'drug' is listed twice", "'drugs' is not a sensitive", "'income' is in no table",
             "a table has no attribute"],
        ),
    ],
)  # fmt: skip
def test_wrong_methods_are_refused_with_every_problem(place, method, messages):
    with_method(place, {"codip": method})
    with pytest.raises(dc.InputError) as caught:
        dc.publish(None, dc.Job.load(place / "job.yaml"))
    for message in messages:
        assert message in str(caught.value)
