"""Wrong calls from Python end in errors of discreet, and a fork that cannot work says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc

JOB = {
    "attributes": {
        "age": {
            "role": "quasi-identifier",
            "type": "integer",
            "hierarchy": {"intervals": [10, "*"]},
        },
        "illness": {"role": "sensitive"},
    },
    "requirements": [{"k-anonymity": {"k": 2}}],
    "method": "mondrian",
}
TABLE = pl.DataFrame({"age": ["20", "21", "30", "31"], "illness": ["a", "b", "a", "b"]})


def test_a_mapping_is_a_job():
    assert dc.publish(TABLE, JOB).manifest.published_rows == 4


@pytest.mark.parametrize("job", [None, 5, [JOB], TABLE, b"job.yaml"])
def test_what_is_no_job(job):
    with pytest.raises(dc.InputError, match="Give a Job, a mapping of its keys, or the path"):
        dc.publish(TABLE, job)


def test_a_mapping_that_is_wrong_names_all_problems():
    with pytest.raises(dc.JobError) as caught:
        dc.publish(TABLE, {**JOB, "tea": 1, "requirements": [{"k-anonymity": {"k": 0}}]})
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: dc.KAnonymity(k=0), "k: Input should be greater than or equal to 1; found 0"),
        (lambda: dc.KAnonymity(), "k: is missing"),
        (lambda: dc.Mondrian(speed=1), "speed: is not a parameter"),
        (lambda: dc.Attribute(role="nobody"), "There is no role 'nobody'"),
        (lambda: dc.Source(path="x", delimiter="ab"), "must be one ASCII character"),
        (lambda: dc.Person(column=()), "column"),
        (lambda: dc.LedgerSettings(), "give either a 'path'"),
        (lambda: dc.Output(format="x"), "format"),
        (lambda: dc.Verify(ceiling=7), "ceiling"),
        (lambda: dc.MeasureSettings(queries=-1), "queries"),
        (lambda: dc.KnowledgeSource(path=""), "path"),
    ],
)
def test_a_wrong_value_is_a_job_error(make, problem):
    with pytest.raises(dc.JobError) as caught:
        make()
    assert problem in str(caught.value)
    assert "pydantic.dev" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        dc.audit,
        dc.codebook,
        dc.read_release,
        dc.Job.load,
        dc.Manifest.load,
        lambda wrong: dc.attack(wrong, original=dc.Job(**JOB)),
        lambda wrong: dc.measure(wrong, original=dc.Job(**JOB)),
        lambda wrong: dc.audit_bayes(wrong, original=dc.Job(**JOB)),
        lambda wrong: dc.evidence(wrong, "gdpr"),
        lambda wrong: dc.apply(wrong, TABLE, original=JOB),
        lambda wrong: dc.export(wrong, "x.csv"),
        lambda wrong: dc.publish(TABLE, JOB).save(wrong, **UNATTACKED),
        lambda wrong: dc.publish(TABLE, JOB).save_page(wrong),
    ],
)
@pytest.mark.parametrize("wrong", [None, 3, b"release", ["release"], {}, TABLE], ids=type)
def test_what_is_no_path_is_an_input_error(call, wrong):
    with pytest.raises(dc.InputError, match=f"the type {type(wrong).__name__}. Give its path"):
        call(wrong)


@pytest.mark.parametrize("wrong", [None, 3, b"x", {}, object()], ids=type)
def test_what_is_no_table_or_no_name_is_an_error_of_discreet(wrong):
    for call in (
        lambda: dc.check(wrong, quasi=["age"], k=2),
        lambda: dc.check(TABLE, quasi=wrong, k=2),
        lambda: dc.profile(wrong),
        lambda: dc.propose(wrong),
        lambda: dc.publish(wrong, JOB),
        lambda: dc.compare(wrong, JOB),
        lambda: dc.audit("release", original=3),
    ):
        with pytest.raises(dc.DiscreetError):
            call()


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("width", [1.0e308, 1e301, 10**400])
def test_a_width_beyond_floating_point(kind, width):
    age = {"role": "quasi-identifier", "type": kind, "hierarchy": {"intervals": [width]}}
    job = {**JOB, "attributes": {**JOB["attributes"], "age": age}, "method": "full-domain"}
    with pytest.raises(dc.HierarchyError, match="above 1e\\+300"):
        dc.publish(TABLE, job)


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("width", [2**52, 2**63, 1e17, 1e300])
def test_a_very_wide_interval_holds_all_values(kind, width):
    age = {"role": "quasi-identifier", "type": kind, "hierarchy": {"intervals": [width]}}
    job = {**JOB, "attributes": {**JOB["attributes"], "age": age}, "method": "full-domain"}
    release = dc.publish(TABLE, job)
    assert release.tables["records"]["age"].n_unique() == 1


FORK = """
import os, sys
import polars as pl
import discreet as dc

job, table = {job!r}, pl.DataFrame({table!r})
if {used}:
    dc.publish(table, job)
child = os.fork()
if child == 0:
    try:
        print(dc.publish(table, job).manifest.published_rows)
    except dc.EngineError as error:
        print(error)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
print(dc.publish(table, job).manifest.published_rows)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("used", [False, True])
def test_a_fork_after_polars_was_used_raises(used):
    code = FORK.format(job=JOB, table=TABLE.to_dict(as_series=False), used=used)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(dc.__file__).parents[1])},
    )  # fmt: skip
    in_child, in_parent = done.stdout.splitlines()
    assert in_parent == "4"
    assert ("get_context('spawn')" in in_child) if used else in_child == "4"
