"""δ-presence: releases against a population, by brute force from their files."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.audit.shards import judge_shard
from discreet.table.counts import ClassCounts

QUASI = ["age", "zip"]
ATTRIBUTES = {
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": [5, 20, 100]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "ill": {"role": "sensitive"},
}
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from([20, 21, 30, 33, 47]),
        st.sampled_from(["01", "02", "11"]),
        st.booleans(),  # whether the person is in the table
    ),
    min_size=1,
    max_size=16,
).filter(lambda people: any(inside for _, _, inside in people))
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def job_of(folder, people, requirement, method="full-domain"):
    """Write the population and the table in it, and return the job."""
    frame = pl.DataFrame(people, ["age", "zip", "inside"], orient="row")
    frame.drop("inside").write_csv(folder / "people.csv")
    frame.filter("inside").drop("inside").with_columns(ill=pl.lit("flu")).write_csv(
        folder / "table.csv"
    )
    return dc.Job(
        source={"path": folder / "table.csv"},
        population=str(folder / "people.csv"),
        attributes=ATTRIBUTES,
        requirements=[requirement],
        method=method,
    )


def presence(rows, people):
    """The belief that each person of the population is in the table, from the files."""
    groups = naive.classes(rows, QUASI)

    def fits(person, group):
        return naive.covers(group[0]["age"], str(person[0])) and naive.covers(
            group[0]["zip"], person[1], mask=True
        )

    covered = [sum(fits(person, group) for person in people) for group in groups]
    beliefs = []
    for person in people:
        fitting = [number for number, group in enumerate(groups) if fits(person, group)]
        assert len(fitting) <= 1
        beliefs.append(sum((Fraction(len(groups[n]), covered[n]) for n in fitting), Fraction(0)))
    return beliefs


@few
@given(
    people=PEOPLE,
    lower=st.sampled_from([0, 0, 0.1, 0.3]),
    upper=st.sampled_from([0.4, 0.5, 0.75, 1]),
)
def test_what_is_published_keeps_presence_between_the_bounds(people, lower, upper):
    whole = Fraction(sum(inside for *_, inside in people), len(people))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = job_of(folder, people, {"delta-presence": {"lower": lower, "upper": upper}})
        try:
            place = dc.publish(None, job, seed=1).save(folder / "release", **UNATTACKED)
        except dc.InfeasibleError:
            # not even the most general recoding, in which all persons are alike
            assert not Fraction(str(lower)) <= whole <= Fraction(str(upper))
            return
        beliefs = presence(naive.read_csv(place / "records.csv"), people)
        assert Fraction(str(lower)) <= min(beliefs)
        assert max(beliefs) <= Fraction(str(upper))
        (promise,) = dc.audit(place, original=job).promises
        assert promise.holds
        assert promise.achieved["upper"] == pytest.approx(float(max(beliefs)))
        assert promise.achieved.get("lower", 0) == pytest.approx(
            float(min(beliefs) if lower else 0)
        )
        assert naive.read_manifest(place)["promises"][0]["achieved"] == {}
        (unproved,) = dc.audit(place).unproved
        assert "Add --original JOB" in unproved.unproved


@settings(few, max_examples=5)
@given(people=PEOPLE, upper=st.sampled_from([0.4, 0.5, 0.75]))
def test_the_cheapest_recoding_that_passes_is_found(people, upper):
    """Every node is published at its levels; the search finds the one of least height."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        requirement = {"delta-presence": {"upper": upper}}
        heights = []
        for age, zip_code in product(range(4), range(3)):
            given_levels = {"full-domain": {"levels": {"age": age, "zip": zip_code}}}
            try:
                dc.publish(None, job_of(folder, people, requirement, given_levels))
            except dc.InfeasibleError:
                continue
            heights.append(age + zip_code)
        assume(heights)
        searched = {"full-domain": {"minimize": "height"}}
        release = dc.publish(None, job_of(folder, people, requirement, searched))
        assert sum(release.manifest.method.levels.values()) == min(heights)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=2, max_size=4),
    st.sampled_from([0, 0.2]),
    st.sampled_from([0.5, 0.8]),
)
def test_cells_that_pass_make_a_cell_that_passes(cells, lower, upper):
    """Cells of a full-domain recoding, with their rows and persons; some have no rows."""
    requirement = dc.DeltaPresence(lower=lower, upper=upper)

    def passes(cells):
        shown = [(rows, people) for rows, people in cells if rows]
        outside = sum(people for rows, people in cells if not rows)
        counts = ClassCounts(
            np.array([rows for rows, _ in shown], np.int64),
            {},
            population=np.array([*(people for _, people in shown), outside], np.int64),
        )
        return bool(shown) and requirement.check(counts, {}).holds

    if passes(cells):
        for one, other in combinations(range(len(cells)), 2):
            rest = [cell for number, cell in enumerate(cells) if number not in (one, other)]
            merged = tuple(map(sum, zip(cells[one], cells[other], strict=True)))
            assert passes([merged, *rest])


def test_problems_of_a_job_are_named(tmp_path):
    people = [(20, "01", True), (30, "02", False)]
    job = job_of(tmp_path, people, {"delta-presence": {"upper": 0.5}}, "mondrian")
    with pytest.raises(dc.JobError, match="delta-presence is met by full-domain, not by mondrian"):
        dc.publish(None, job)
    half = {"full-domain": {"suppression": 0.5}}
    suppressing = job_of(tmp_path, people * 5, {"delta-presence": {"upper": 0.5}}, half)
    with pytest.raises(dc.JobError, match="not judged where rows are suppressed"):
        dc.publish(None, suppressing)
    without = job.model_copy(update={"population": None})
    with pytest.raises(dc.JobError, match="population: is missing. Name a table"):
        dc.publish(None, without)


def test_a_table_that_is_not_part_of_its_population_is_refused(tmp_path):
    job = job_of(tmp_path, [(20, "01", True), (30, "02", True)], {"delta-presence": {"upper": 1}})
    (tmp_path / "people.csv").write_text("age,zip\n20,01\n")
    with pytest.raises(dc.InputError, match="must contain every row of the table"):
        dc.publish(None, job)


def test_another_population_than_the_publisher_s_is_noticed(tmp_path):
    people = [(20, "01", True), (20, "01", False), (30, "01", False)]
    job = job_of(tmp_path, people, {"delta-presence": {"upper": 0.5}})
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    (tmp_path / "people.csv").write_text("age,zip\n20,01\n")
    assert not dc.audit(place, original=job).ok


def test_the_attack_on_membership_is_bounded_by_it(tmp_path):
    people = [(20, "01", True), (21, "01", False), (30, "01", False), (33, "02", True)]
    job = job_of(tmp_path, people, {"delta-presence": {"upper": 0.5}})
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    given_population = {"original": job, "attacks": ["membership"]}
    report = dc.attack(place, population=tmp_path / "people.csv", **given_population)
    (found,) = report.findings
    assert found.bound == found.greatest == 0.5
    assert not found.exceeded
    fewer = tmp_path / "fewer.csv"  # other knowledge than the publisher reckoned with
    fewer.write_text("age,zip\n20,01\n33,02\n")
    (found,) = dc.attack(place, population=fewer, **given_population).findings
    assert found.greatest == 1
    assert found.bound is None


def test_cells_that_no_person_fits_fail(tmp_path):
    people = [(20, "01", True), (21, "01", False)]
    job = job_of(tmp_path, people, {"delta-presence": {"upper": 0.5}})
    release = dc.publish(None, job)
    (cell,) = release.tables["records"]["age"]
    records = release.coded_tables()["records"]
    strange = replace(records["age"], text=pl.Series([cell.replace("20", "60")]))
    tables = {"records": replace(records, columns={**records.columns, "age": strange})}
    findings = judge_shard(tables, release.manifest, release.task, {})
    assert not findings.verdicts[0].holds


def test_a_table_alone_shows_no_population():
    frame = pl.DataFrame({"age": [20], "ill": ["flu"]})
    with pytest.raises(dc.JobError, match="delta-presence compares with a population"):
        dc.check(frame, quasi=["age"], sensitive=["ill"], requirements=[dc.DeltaPresence(upper=1)])
