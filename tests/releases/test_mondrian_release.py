"""What a release by Mondrian says about itself, and what it keeps private."""

from __future__ import annotations

import csv
import hashlib
import json

import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.releases.explanation import explain
from discreet.releases.manifest import Manifest

JOB = """
source: {path: people.csv}
attributes:
  age:     {role: quasi-identifier, type: integer, hierarchy: {intervals: [5, 10, "*"]}}
  place:   {role: quasi-identifier, hierarchy: places.csv}
  job:     {role: quasi-identifier}
  illness: {role: sensitive}
requirements:
  - k-anonymity: {k: %d}
method: {mondrian: {cells: levels}}
"""


@pytest.fixture
def job(tmp_path):
    rows = [(20 + i % 40, f"town {i % 7}", "ab"[i % 2], "xyz"[i % 3]) for i in range(200)]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("age", "place", "job", "illness"), *rows])
    with (tmp_path / "places.csv").open("w", newline="") as file:
        csv.writer(file).writerows((f"town {i}", f"region {i % 2}", "*") for i in range(7))
    path = tmp_path / "job.yaml"
    path.write_text(JOB % 4)
    return path


def test_cells_are_labels_and_the_manifest_names_the_hierarchies(job, tmp_path):
    release = tmp_path / "release"
    make_release(None, dc.Job.load(job), seed=1).save(release, **UNATTACKED)
    manifest = json.loads((release / "manifest.json").read_text())
    assert manifest["method"]["parameters"] == {"cuts": "strict", "cells": "levels"}
    assert set(manifest["method"]["hierarchies"]) == {"age", "place", "job"}
    assert manifest["method"]["hierarchies"]["place"] == "places.csv"
    with (release / "records.csv").open(newline="") as file:
        records = list(csv.DictReader(file))
    known = {"*"} | {f"town {i}" for i in range(7)} | {"region 0", "region 1"}
    assert {row["place"] for row in records} <= known
    assert {row["job"] for row in records} <= {"a", "b", "*"}
    assert dc.audit(release, original=job).ok
    said = " ".join(explain(Manifest.load(release)))
    assert "as coarse as each group needs: age, place, job." in said
    assert "place (places.csv)" in said
    assert str(tmp_path) not in (release / "manifest.json").read_text()


def test_the_private_file_has_the_source_s_hash(job, tmp_path):
    release = tmp_path / "release"
    make_release(None, dc.Job.load(job), seed=1).save(release, **UNATTACKED)
    private = json.loads((tmp_path / "release.private.json").read_text())
    expected = hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    assert private["source_sha256"] == expected
    assert {"seed", "engine", "timings"} <= set(private)


def test_the_same_seed_gives_the_same_files(job, tmp_path):
    for name in ("first", "second"):
        make_release(None, dc.Job.load(job), seed=7).save(tmp_path / name, **UNATTACKED)
    first, second = ((tmp_path / name / "records.csv").read_bytes() for name in ("first", "second"))
    assert first == second


def test_progress_names_every_phase(job, tmp_path):
    phases: dict[str, list[float]] = {}

    def tell(phase: str, share: float) -> None:
        phases.setdefault(phase, []).append(share)

    release = make_release(None, dc.Job.load(job), seed=1, progress=tell)
    release.save(tmp_path / "release", progress=tell, **UNATTACKED)
    wanted = ["reading", "hierarchies", "mondrian", "writing", "reading back", "audit", "measures"]
    assert [phase for phase in phases if phase in wanted] == wanted
    assert phases["mondrian"][-1] == 1.0
    assert all(0 <= share <= 1 for shares in phases.values() for share in shares)
    phases.clear()
    assert dc.audit(tmp_path / "release", original=job, progress=tell).ok
    assert list(phases) == [
        "reading", "hierarchies", "reading the release", "deriving guarantees", "comparing files",
    ]  # fmt: skip
    assert max(phases["reading the release"]) > 0.9


def test_what_cannot_be_met_publishes_nothing(job, tmp_path):
    job.write_text(JOB % 201)
    with pytest.raises(dc.InfeasibleError, match="k = 200"):
        make_release(None, dc.Job.load(job), seed=1)
