"""A report names what a release leaves open, and nothing that it does promise."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.attacks.weaknesses import known_weaknesses

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("requirements", "open_to_homogeneity"),
    [
        ((dc.KAnonymity(k=4),), True),
        ((dc.PDiversity(l=2, attribute="diagnosis"),), False),
        ((), True),
    ],
)
def test_homogeneity_is_named_where_only_sizes_are_promised(requirements, open_to_homogeneity):
    job = dc.Job.load(EXAMPLES / "mondrian" / "job.yaml")
    release = dc.publish(None, job.model_copy(update={"requirements": requirements}), seed=1)
    named = any("(homogeneity)" in one for one in known_weaknesses(release.manifest))
    assert named is open_to_homogeneity


def test_sets_of_a_decomposition_are_a_promise_about_values():
    release = dc.publish(None, dc.Job.load(EXAMPLES / "decomposition" / "job.yaml"), seed=1)
    said = known_weaknesses(release.manifest)
    assert not any("(homogeneity)" in one for one in said)
    assert any("(link-through-sensitive-table)" in one for one in said)
