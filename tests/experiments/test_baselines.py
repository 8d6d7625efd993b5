"""The simple methods of the suite: what they publish, and what is believed of it, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from experiments.baselines import Sliced, mdav_groups, randomized, register, sliced, swapped

import discreet as dc
from discreet.methods.base import Task
from discreet.pipeline.prepare import prepare
from discreet.utility.implied import exact


def task_of(rows: int = 240, seed: int = 3) -> Task:
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": sex,
            "town": rng.integers(0, 5, rows),
            "ill": (rng.integers(0, 4, rows) + sex) % 6,
            "job": rng.integers(0, 7, rows),
        }
    ).select(pl.all().cast(pl.String))
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        "town": {"role": "quasi-identifier"},
        "ill": {"role": "sensitive"},
        "job": {"role": "sensitive"},
    }
    job = dc.Job(attributes=attributes, method="unlinked")
    return prepare(job, frame, rng=np.random.default_rng(seed))


def belief(reading, table, aim, *known):
    return reading.attacker(table, [aim, *known]) / reading.attacker(table, list(known))


def test_a_rate_of_0_publishes_the_original_and_is_believed():
    for method in (swapped, randomized):
        task = task_of()
        reading = method(task, 1)
        truth = exact([*task.table.quasi_identifiers, *task.table.sensitive], task.table.rows)
        for names in ([], ["ill"], ["ill", "job"]):
            assert reading.attacker(task.table, names) == pytest.approx(
                truth.mass_of_people(task.table, names)
            )


@pytest.mark.parametrize("method", [swapped, randomized])
def test_shares_of_sensitive_values_hardly_change(method):
    task = task_of(4000)
    ill = task.table["ill"]
    pair = method(task, 3).analyst.pair_table(task.table["sex"], ill)
    assert pair.sum(axis=0) == pytest.approx(ill.counts, rel=0.15)
    assert pair.sum(axis=1) == pytest.approx(task.table["sex"].counts)


def test_swapping_moves_whole_rows_and_randomizing_single_cells():
    rows = 4000
    task = task_of(rows)
    ill, job = task.table.sensitive
    joint = exact([ill, job], rows).pair_table(ill, job)
    assert (swapped(task, 4).analyst.pair_table(ill, job) == joint).all()
    assert (randomized(task, 4).analyst.pair_table(ill, job) != joint).any()


@pytest.mark.parametrize("method", [swapped, randomized])
def test_a_published_value_is_believed_by_the_rate_and_any_other_by_its_share(method):
    """Everybody is unique, so that the published value of each person is known."""
    rows, ell = 60, 4
    frame = pl.DataFrame({"id": range(rows), "ill": [f"v{i % 3}" for i in range(rows)]})
    attributes = {
        "id": {"role": "quasi-identifier", "type": "integer"},
        "ill": {"role": "sensitive"},
    }
    task = prepare(dc.Job(attributes=attributes, method="unlinked"), frame)
    reading = method(task, ell)
    identity, ill = task.table["id"], task.table["ill"]
    published = reading.analyst.pair_table(identity, ill).argmax(axis=1)[identity.codes]
    share = np.bincount(published, minlength=3) / rows
    expected = (published == ill.codes) / ell + (1 - 1 / ell) * share[ill.codes]
    assert belief(reading, task.table, "ill") == pytest.approx(expected)
    assert 0 < (published != ill.codes).sum() < rows


def test_sliced_masses_are_those_of_a_sum_over_buckets():
    """Against loops over buckets and people, by the definition alone."""
    task = task_of(60)
    table = task.table
    columns = [["sex", "ill"], ["job"], ["age", "town"]]
    bucket = (np.arange(60) % 4).astype(np.int32)
    release = Sliced(table, columns, bucket)
    for asked in ([], ["ill"], ["job", "ill"]):
        known = {"age", "sex", "town", *asked}
        expected = np.zeros(60)
        for person in range(60):
            for number in range(4):
                rows = np.flatnonzero(bucket == number)
                mass = float(len(rows))
                for names in columns:
                    alike = np.ones(len(rows), bool)
                    for name in known & set(names):
                        codes = table[name].codes
                        alike &= codes[rows] == codes[person]
                    mass *= alike.mean()
                expected[person] += mass
        assert release.mass_of_people(table, asked) == pytest.approx(expected)
    assert release.pair_table(table["sex"], table["ill"]).sum() == 60
    apart = release.pair_table(table["town"], table["job"])
    towns, jobs = table["town"], table["job"]
    expected = sum(
        np.outer(np.bincount(towns.codes[bucket == b], minlength=towns.cardinality),
                 np.bincount(jobs.codes[bucket == b], minlength=jobs.cardinality))
        / (bucket == b).sum()
        for b in range(4)
    )  # fmt: skip
    assert apart == pytest.approx(expected)
    drawn = release.draw(np.random.default_rng(1))
    for b in range(4):
        for names in columns:
            held, whole = (
                sorted(zip(*(codes[bucket == b] for codes in one), strict=True))
                for one in ([drawn[n] for n in names], [table[n].codes for n in names])
            )
            assert held == whole


def test_slicing_bounds_an_acquaintance_and_answers_queries_as_its_pairs_do():
    task = task_of()
    reading = sliced(task, 3)
    for name in ("ill", "job"):
        assert belief(reading, task.table, name).max() <= 1 / 3 + 1e-9
    assert reading.analyst.pair_table(task.table["sex"], task.table["ill"]).sum() == (
        pytest.approx(task.table.rows)
    )


def test_slicing_an_attribute_with_a_common_value_is_infeasible():
    frame = pl.DataFrame({"age": range(10), "ill": ["flu"] * 6 + list("abcd")})
    attributes = {"age": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    task = prepare(dc.Job(attributes=attributes, method="unlinked"), frame)
    with pytest.raises(dc.InfeasibleError, match=r"above 1/2"):
        sliced(task, 2)


@pytest.mark.parametrize(("rows", "k"), [(1, 3), (5, 3), (6, 3), (50, 4), (61, 5)])
def test_groups_of_mdav_have_k_to_2k_rows_that_lie_near(rows, k):
    place = np.random.default_rng(rows).random((rows, 2))
    size = np.bincount(mdav_groups(place, k))
    assert size.sum() == rows
    assert size.max() <= 2 * k - 1
    assert rows < k or size.min() >= k
    apart = np.array([0.0, 0.01, 0.02, 1.0, 1.01, 1.02])[:, None]
    assert len(set(mdav_groups(apart, 3)[:3])) == len(set(mdav_groups(apart, 3)[3:])) == 1


def test_mdav_is_published_and_audited_like_other_methods():
    register()
    frame = pl.DataFrame({"age": range(12), "ill": list("abcdabcdabcd")})
    attributes = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "ill": {"role": "sensitive"},
    }
    job = dc.Job(
        attributes=attributes, method={"mdav": {"k": 3}}, requirements=[{"k-anonymity": {"k": 3}}]
    )
    assert dc.publish(frame, job, seed=1).manifest.suppressed_rows == 0
