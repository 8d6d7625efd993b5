"""Adult, 7 quasi-identifiers, occupation: the figures of the specification's prototype.

Full-domain recoding and its optimum are unique, and Anatomy's divergence hardly depends on chance,
so these agree to the last digit or two. Mondrian's figures depend on where it cuts, which is ours
and not the prototype's; its median query error also on the queries that were drawn.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.real_data import adult, real_data

import discreet as dc
from discreet.api.compare import Original, School
from discreet.releases.measure import read_utility
from discreet.utility.divergence import fixed_reader
from discreet.utility.queries import QueryWorkload

pytestmark = pytest.mark.data

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
)  # fmt: skip
K5, P4 = [{"k-anonymity": {"k": 5}}], [{"p-diversity": {"l": 4}}]
# method, requirements; then query error, KL, D, belief 99 %, each with what it may be off by
FIGURES = {
    "full-domain": ("full-domain", K5, (0.474, 0.06), (8.43, 0.01), (10.2, 0.05), (0.26, 0.01)),
    "full-domain, 4 % suppressed": (
        {"full-domain": {"suppression": 0.04}}, K5,
        (0.124, 0.04), (5.42, 0.01), (5.8, 0.05), (0.59, 0.01),
    ),
    "mondrian": ("mondrian", K5, (0.026, 0.01), (1.61, 0.2), (0.20, 0.1), (0.87, 0.06)),
    "mondrian p-diverse": ("mondrian", P4, (0.315, 0.1), (5.94, 0.4), (4.5, 1.0), (0.25, 0.005)),
    "anatomy": (
        {"anatomy": {"l": 4}}, [], (0.094, 0.01), (0.86, 0.01), (0.70, 0.02), (0.25, 0.005),
    ),
    "anatomy, near": (
        {"anatomy": {"l": 4, "prefer": "nearby"}}, [],
        (0.043, 0.01), (0.73, 0.06), (0.26, 0.03), (0.25, 0.005),
    ),
}  # fmt: skip


def original(method, requirements):
    folder = real_data("adult", "arx-form")
    frame = adult()
    attributes = {name: {"role": "drop"} for name in frame.columns}
    for name in QUASI:
        attributes[name] = {"role": "quasi-identifier", "hierarchy": str(folder / f"{name}.csv")}
    attributes["age"]["type"] = "integer"
    attributes["occupation"] = {"role": "sensitive"}
    job = dc.Job(attributes=attributes, requirements=requirements, method=method)
    return Original.read(job, frame)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_near_the_prototype(name):
    method, requirements, error, away, ratio, believed = FIGURES[name]
    read = original(method, requirements)
    release = read.release(read.job, 1, None, lambda *_: None)
    reading = read_utility(release.coded_tables(), release.task, release.manifest)
    measures = reading.measured(QueryWorkload(queries=2000), seed=1)
    assert measures.query_error.release.median == pytest.approx(error[0], abs=error[1])
    assert measures.kl_divergence == pytest.approx(away[0], abs=away[1])
    assert measures.divergence_ratio == pytest.approx(ratio[0], abs=ratio[1])
    belief = fixed_reader(reading.original, reading.implied)
    assert belief is not None
    assert belief.percentile_99 == pytest.approx(believed[0], abs=believed[1])
    unlinked = measures.divergence.unlinked
    assert unlinked.kl_divergence == pytest.approx(1.32, abs=0.005)
    assert unlinked.ratio == pytest.approx(1)
    assert measures.query_error.unlinked.median == pytest.approx(0.108, abs=0.015)


def test_skill_is_near_the_prototype():
    read = original({"anatomy": {"l": 4, "prefer": "nearby"}}, [])
    learning = School(read, (), 1).learning(read.job, 1, lambda *_: None)
    assert learning.skill == pytest.approx(0.69, abs=0.1)
    assert np.isclose(learning.targets[0].floor.accuracy, 0.13, atol=0.01)
