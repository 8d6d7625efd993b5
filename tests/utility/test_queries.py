from __future__ import annotations

import numpy as np
import pytest
from tests.tables import coded_column, coded_table

from discreet.table.coded_table import CodedTable
from discreet.table.roles import Distance, Role
from discreet.utility.implied import exact
from discreet.utility.queries import QueryWorkload, query_error, values_asked


def drawn(table, **parameters):
    workload = QueryWorkload(**parameters)
    return list(workload.batches(table, np.random.default_rng(5)))


def is_run(member):
    codes = np.flatnonzero(member)
    return codes[-1] - codes[0] + 1 == len(codes)


@pytest.mark.parametrize(
    ("domain", "share", "asked"),
    [(14, 0.05**0.5, 4), (2, 0.9, 1), (1, 0.5, 1), (10, 0.95, 9), (74, 0.05 ** (1 / 4), 35)],
)
def test_the_number_of_values_asked(domain, share, asked):
    assert values_asked(domain, share) == asked


def test_ordered_attributes_take_runs_and_others_sets():
    ages = [*range(40), None]
    jobs = [f"job {i % 20}" for i in range(41)]
    batches = drawn(coded_table({"age": ages, "job": jobs}, "qs"), queries=200, selectivity=0.04)
    assert sum(len(batch.number) for batch in batches) == 200
    member_of_age = np.concatenate([batch.members["age"] for batch in batches], axis=1)
    member_of_job = np.concatenate([batch.members["job"] for batch in batches], axis=1)
    assert (member_of_age.sum(axis=0) == 8).all()
    assert (member_of_job.sum(axis=0) == 4).all()
    assert not member_of_age[40].any()  # a missing value lies on no line
    assert all(is_run(member) for member in member_of_age.T)
    assert not all(is_run(member) for member in member_of_job.T)


def test_an_ordered_distance_makes_runs_too():
    column = coded_column("grade", list("abcdefghij"), Role.SENSITIVE, distance=Distance.ORDERED)
    (batch,) = drawn(CodedTable({"grade": column}, 10), queries=50, selectivity=0.5)
    assert all(is_run(member) for member in batch.members["grade"].T)


def test_a_multi_valued_attribute_counts_cells_that_contain_any_term():
    cells = ["a|b", "b|c", "b|c", "c", "d", None]
    column = coded_column("ill", cells, Role.QUASI_SENSITIVE, separator="|")
    workload = QueryWorkload(queries=80, selectivity=0.2)
    table = CodedTable({"ill": column}, 6)
    (batch,) = workload.batches(table, np.random.default_rng(0), sets=True)
    asked = batch.terms["ill"]
    term = asked.asked.argmax(axis=0)
    assert (asked.asked.sum(axis=0) == 1).all()  # one term of four: a, b, c or d
    assert set(term) == {0, 1, 2, 3}
    counts = exact([column], 6).estimate(batch)
    assert (counts == np.array([1, 3, 3, 1])[term]).all()
    assert (asked.share_of_domain == np.array([1, 2, 2, 1])[term] / 5).all()


@pytest.mark.parametrize("times", [1, 254, 255, 256, 1000])
def test_sets_of_many_rows_are_counted_exactly(times):
    cells = ["a|b"] * times + ["b"] * 200 + ["c"] * 2 * times + [None]
    ages = [number % 3 for number in range(len(cells))]
    ill = coded_column("ill", cells, Role.QUASI_SENSITIVE, separator="|")
    table = CodedTable({"age": coded_column("age", ages), "ill": ill}, len(cells))
    workload = QueryWorkload(queries=21, quasi_identifiers=1, selectivity=0.4)
    for batch in workload.batches(table, np.random.default_rng(0), sets=True):
        found = exact(list(table), table.rows).estimate(batch)
        for query, count in enumerate(found):
            terms = {"abc"[code] for code in np.flatnonzero(batch.terms["ill"].asked[:, query])}
            of_ages = set(np.flatnonzero(batch.members["age"][:, query]))
            both = zip(ages, cells, strict=True)
            assert count == sum(a in of_ages and bool(terms & {*(c or "")}) for a, c in both)


def test_every_query_asks_for_qd_and_m_attributes():
    names = [f"q{i}" for i in range(4)] + [f"s{i}" for i in range(3)]
    table = coded_table({name: ["x", "y", "z"] for name in names}, "qqqqsss")
    batches = drawn(table, queries=400, quasi_identifiers=2, sensitive=2)
    asked = {tuple(batch.members) for batch in batches}
    assert all([name[0] for name in names] == ["q", "q", "s", "s"] for names in asked)
    assert len(asked) == 6 * 3
    assert sorted(np.concatenate([batch.number for batch in batches])) == list(range(400))


def test_a_seed_gives_the_same_workload():
    table = coded_table({"age": list(range(30)), "ill": ["x", "y", "z"] * 10}, "qs")
    for one, other in zip(drawn(table, queries=20), drawn(table, queries=20), strict=True):
        assert all((one.members[name] == other.members[name]).all() for name in one.members)


def test_the_summary_of_errors():
    actual = np.array([0.0, 10.0, 100.0, 200.0])
    estimate = np.array([1.0, 15.0, 100.0, 100.0])
    summary = query_error(actual, estimate, rows=20_000)
    assert summary.median == 0.5  # of 0.5, 0, 0.5; the zero count is left out
    assert summary.mean == pytest.approx((1 / 20 + 5 / 20 + 0 + 0.5) / 4)
    assert query_error(np.zeros(2), np.ones(2), rows=10).median is None


def test_an_empty_table_is_asked_nothing():
    assert drawn(coded_table({"note": ["x"]}, "i"), queries=3) == []
