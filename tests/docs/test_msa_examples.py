"""The examples of MSA-diversity and its rivals publish, and pass their audit with the original."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.saving import UNATTACKED

import discreet as dc

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
JOBS = ["msa-diversity", "msa-diversity-buckets", "naive-diversity", "gal", "li-ye", "mmdcf"]


@pytest.mark.parametrize("name", JOBS)
def test_example_publishes_audits_and_measures(name, tmp_path):
    path = EXAMPLES / f"{name}.yaml"
    release = dc.publish(None, dc.Job.load(path), seed=1)
    release.save(tmp_path / "release", **UNATTACKED)
    audit = dc.audit(tmp_path / "release", original=path)
    assert audit.ok, audit.problems
    measures = dc.measure(tmp_path / "release", original=path, queries=100)
    assert 0 <= measures.loss <= 1
    assert any(name.removesuffix("-buckets") in line for line in release.explanation) or (
        name == "naive-diversity"
    )


def test_naive_diversity_is_no_bound_on_probability():
    """Three distinct answers to each question, and yet one may be nearly certain."""
    naive = dc.publish(None, dc.Job.load(EXAMPLES / "naive-diversity.yaml"), seed=1)
    ours = dc.publish(None, dc.Job.load(EXAMPLES / "msa-diversity.yaml"), seed=1)
    shares = naive.tables["records"].group_by("age", "zip", "region", "tax").len()
    sizes = naive.tables["records"].group_by("age", "zip", "region").len(name="size")
    joined = shares.join(sizes, on=["age", "zip", "region"])
    assert (joined["len"] / joined["size"]).max() > 1 / 3
    assert ours.manifest.promises[0].achieved["l"] >= 3
