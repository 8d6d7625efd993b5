"""k^m-anonymity by top-down against brute force, from the published files."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

SETS = st.lists(
    st.tuples(
        st.frozensets(st.sampled_from(["a", "b", "c", "d", "ü"]), max_size=4),
        st.sampled_from(["1", "2"]),
    ),
    min_size=1,
    max_size=20,
)


def job_for(k, m, **more):
    return dc.Job(
        attributes={
            "items": {"role": "quasi-sensitive", "multi_valued": " "},
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "row": {"role": "insensitive", "allow_identifying": True},
        },
        requirements=[{"km-anonymity": {"k": k, "m": m}}, *more.pop("requirements", [])],
        method="top-down",
        **more,
    )


def items_of(cell):
    return frozenset() if cell in ("", "*") else frozenset(cell.split(" "))


def supports(sets, m):
    found = Counter()
    for one in sets:
        for size in range(1, m + 1):
            found.update(combinations(sorted(one), size))
    return found


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["items", "age", "row"])
        writer.writerows([" ".join(sorted(one)), age, i] for i, (one, age) in enumerate(rows))


@settings(max_examples=70, deadline=None)
@given(rows=SETS, k=st.integers(1, 4), m=st.integers(1, 3))
def test_every_combination_that_occurs_has_k_rows(rows, k, m):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "source.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(k, m)
        make_release(source, job, seed=1).save(place, **UNATTACKED)
        published = naive.read_csv(place / "records.csv")
        found = dc.audit(place, original=job.model_copy(update={"source": dc.Source(path=source)}))
    assert found.ok, found.problems
    sets = [items_of(row["items"]) for row in published]
    counted = supports(sets, m)
    assert all(times >= k for times in counted.values())
    (promise,) = found.promises
    assert promise.achieved == ({"k": min(counted.values())} if counted else {})
    kept = frozenset().union(*sets)
    for row in published:  # an item is removed everywhere or nowhere
        source_items = rows[int(row["row"])][0]
        assert items_of(row["items"]) == source_items & kept
        assert (row["items"] == "*") == bool(source_items and not source_items & kept)
    if counted:  # what an attacker finds who knows m items of a person, removed ones too
        for known in supports([one for one, _ in rows], m):
            still = set(known) & kept
            assert not still or sum(still <= one for one in sets) >= k
    for item in frozenset().union(*(one for one, _ in rows)) - kept:  # none is removed in vain
        finer = supports([one & (kept | {item}) for one, _ in rows], m)
        assert min(finer.values()) < k


def test_check_counts_items_and_other_methods_refuse():
    frame = pl.DataFrame({"items": ["a b", "a b", "a"], "age": list("111"), "row": list("123")})
    (one,) = dc.check(frame, job_for(2, 2)).requirements
    assert (one.holds, one.achieved) == (True, {"k": 2.0})
    (one,) = dc.check(frame, job_for(3, 2)).requirements
    assert (one.holds, one.achieved) == (False, {"k": 2.0})
    with pytest.raises(dc.JobError, match=r"km-anonymity is met by top-down, not by mondrian"):
        job_for(2, 2).using("mondrian")


def test_sets_and_columns_are_protected_in_one_release(tmp_path):
    rows = [(frozenset("ab" if i % 3 else "ac"), str(i % 2)) for i in range(12)]
    write(tmp_path / "source.csv", rows)
    job = job_for(5, 2, requirements=[{"k-anonymity": {"k": 4}}])
    make_release(tmp_path / "source.csv", job, seed=1).save(tmp_path / "release", **UNATTACKED)
    found = dc.audit(tmp_path / "release")
    assert [promise.holds for promise in found.promises] == [True, True]
    published = naive.read_csv(tmp_path / "release" / "records.csv")
    assert {row["items"] for row in published} == {"a b", "a"}
    assert {row["age"] for row in published} == {"0", "1"}
