"""Every job in examples/ publishes, and its release stands up to the audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*/job.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_publishes(path, tmp_path):
    job = dc.Job.load(path)
    release = tmp_path / "release"
    make_release(None, job, seed=1).save(release, **UNATTACKED)
    audit = dc.audit(release, original=path)
    assert audit.ok
    promised = {promise.requirement for promise in audit.promises}
    assert promised == {requirement.name for requirement in job.requirements}
