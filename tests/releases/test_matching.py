"""Whether published rows can be matched to the original, against a search in plain Python."""

from __future__ import annotations

import csv
import json
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from tests.tables import coded_table

import discreet as dc
from discreet.methods.base import Task
from discreet.pipeline.run import make_release
from discreet.releases.audit import matching
from discreet.releases.audit.matching import unmatched_rows, untraced_rows

CELLS = ["1", "2", "3", "[1, 2]", "[2, 3]", "[1, 3]", "{1, 3}", "*"]


def greatest_matching(published, original, fits) -> int:
    """Kuhn's algorithm: one augmenting path for each published row."""
    taken: dict[int, int] = {}

    def place(p, seen):
        for o, row in enumerate(original):
            if o not in seen and fits(published[p], row):
                seen.add(o)
                if o not in taken or place(taken[o], seen):
                    taken[o] = p
                    return True
        return False

    return sum(place(p, set()) for p in range(len(published)))


def fits(published, row):
    cell, other, s = published
    return naive.covers(cell, str(row[0])) and naive.covers(other, str(row[1])) and s == row[2]


ORIGINAL = st.lists(
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from("xy")), min_size=1, max_size=9
)
PUBLISHED = st.lists(
    st.tuples(st.sampled_from(CELLS), st.sampled_from(CELLS), st.sampled_from("xy")),
    min_size=1,
    max_size=9,
)
EVERY = [(n, n, s) for n in (1, 2, 3) for s in "xy"]  # so that every cell covers some value


@settings(max_examples=150, deadline=None)
@given(ORIGINAL, PUBLISHED)
def test_the_rows_left_over_are_those_of_the_greatest_matching(original, published):
    original = original + EVERY
    table = coded_table({name: [row[i] for row in original] for i, name in enumerate("abs")}, "qqs")
    records = coded_table(
        {name: [row[i] for row in published] for i, name in enumerate("abs")}, "qqs"
    )
    task = Task(table, {}, [], np.random.default_rng(0))
    expected = len(published) - greatest_matching(published, original, fits)
    assert unmatched_rows(records, task, {}) == expected


def test_a_witness_is_checked_row_by_row():
    table = coded_table({"a": [1, 2, 3], "s": ["x", "y", "x"]}, "qs")
    records = coded_table({"a": ["[1, 2]", "3", "[1, 2]"], "s": ["y", "x", "x"]}, "qs")
    task = Task(table, {}, [], np.random.default_rng(0))

    def untraced(*rows):
        return untraced_rows(records, task, {}, np.array(rows, np.int32))

    assert untraced(1, 2, 0) == 0
    assert untraced(0, 2, 1) == 2  # sensitive values of each other
    assert untraced(1, 2, 2) == 1  # a source row used twice
    assert untraced(1, 9, 0) == 1  # none of the source's rows
    assert untraced(1, 2) == 3  # not a row for each


@pytest.mark.parametrize("limit", [0, matching.AT_ONCE])
def test_a_witness_of_exact_cells_is_checked_row_by_row(limit, monkeypatch):
    monkeypatch.setattr(matching, "AT_ONCE", limit)  # by runs of values, or by a table
    table = coded_table({"a": [1, 2, 3], "b": ["u", "v", "u"], "s": ["x", "y", "x"]}, "qqs")
    records = coded_table({"a": ["2", "3", "1"], "b": ["v", "u", "u"], "s": ["y", "x", "z"]}, "qqs")
    task = Task(table, {}, [], np.random.default_rng(0))

    def untraced(*rows):
        return untraced_rows(records, task, {}, np.array(rows, np.int32))

    assert untraced(1, 2, 0) == 1  # a sensitive value that the source lacks
    assert untraced(2, 1, 0) == 3
    assert untraced(1, 2, 2) == 1
    assert untraced(1, 9, 0) == 2


def test_an_audit_finds_what_was_changed_after_publishing(tmp_path):
    source = tmp_path / "people.csv"
    rows = [(age, place, "xyz"[age % 3]) for age in range(20, 60) for place in ("a", "b")]
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([("age", "place", "illness"), *rows])
    job = dc.Job(
        source={"path": source},
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "place": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "illness": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 3}}],
        method={"mondrian": {"cuts": "relaxed"}},
    )
    place = tmp_path / "release"
    make_release(None, job, seed=1).save(place, **UNATTACKED)
    assert dc.audit(place, original=job).ok

    records = place / "records.csv"
    header, first, *rest = records.read_text().splitlines()
    changed = [header, first.rpartition(",")[0] + ",x", *rest]
    if changed[1] == first:
        changed[1] = first.rpartition(",")[0] + ",y"
    records.write_text("\n".join(changed) + "\n")
    manifest = json.loads((place / "manifest.json").read_text())
    manifest["tables"]["records"]["sha256"] = sha256(records.read_bytes()).hexdigest()
    naive.write_manifest(place, manifest)
    audit = dc.audit(place, original=job)
    assert not audit.ok
    assert "1 of 80 rows of 'records' correspond to no row of the original" in audit.problems
