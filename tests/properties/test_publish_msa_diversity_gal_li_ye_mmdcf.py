"""Whatever MSA-diversity and its rivals publish keeps its promise, as derived from the files."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

QUASI = ["q", "zip", "n"]


@st.composite
def tables(draw):
    """Tables with 2 to 6 sensitive attributes."""
    attributes = draw(st.integers(2, 6))
    values = ["flu", "hiv", "cold", "ü=1", "", "x, y"][: draw(st.integers(3, 6))]
    row = st.tuples(
        st.sampled_from(["a", "b", "c", "ü", 'x, "y"', ""]),
        st.sampled_from(["01", "02", "11", "12"]),
        st.sampled_from(["1", "2", "3", "8", "20", ""]),
        *(st.sampled_from(values) for _ in range(attributes)),
    )
    return [f"s{j}" for j in range(attributes)], draw(st.lists(row, min_size=1, max_size=40))


def write(path: Path, sensitive, rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *QUASI, *sensitive, "note"])
        for number, row in enumerate(rows):
            writer.writerow([f"person {number}", *row, f"note {number % 3}"])


def job_for(sensitive, method, requirements) -> dc.Job:
    return dc.Job(
        attributes={
            "name": {"role": "identifier"},
            "q": {"role": "quasi-identifier"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "n": {"role": "quasi-identifier", "type": "integer"},
            **{name: {"role": "sensitive"} for name in sensitive},
            "note": {"role": "insensitive", "allow_identifying": True},
        },
        requirements=requirements,
        method=method,
    )


def published(folder, rows, sensitive, method, requirements, seed):
    """The release folder, or nothing where the job is infeasible."""
    source, place = Path(folder) / "table.csv", Path(folder) / "release"
    write(source, sensitive, rows)
    try:
        make_release(source, job_for(sensitive, method, requirements), seed=seed).save(
            place, **UNATTACKED
        )
    except dc.InfeasibleError as error:
        assert error.failures
        assert not place.exists()
        assume(False)
    return place


def assert_accounted(manifest, count, rows):
    assert manifest["source_rows"] == len(rows)
    assert manifest["published_rows"] == count
    assert manifest["suppressed_rows"] == len(rows) - count


@given(
    table=tables(),
    ell=st.sampled_from([1.5, 2, 2, 3, 4]),
    grouping=st.sampled_from(["curve", "blocks", "paper"]),
    name=st.sampled_from(["p-diversity", "m-diversity"]),
    k=st.sampled_from([1, 1, 5]),
    seed=st.integers(0, 5),
    cells=st.sampled_from(["free", "free", "grid"]),
)
@settings(max_examples=35, deadline=None, suppress_health_check=list(HealthCheck))
def test_generalized_groups_keep_the_bound(table, ell, grouping, name, k, seed, cells):
    sensitive, rows = table
    with tempfile.TemporaryDirectory() as folder:
        method = {"msa-diversity": {"grouping": grouping, "suppression": 0.9, "cells": cells}}
        requirements = [{name: {"l": ell}}, {"k-anonymity": {"k": k}}]
        place = published(folder, rows, sensitive, method, requirements, seed)
        records = naive.read_csv(place / "records.csv")
        manifest = naive.read_manifest(place)
        private = json.loads(place.with_name("release.private.json").read_text())
    assert_accounted(manifest, len(records), rows)
    groups = naive.classes(records, QUASI)
    bound = Fraction(str(ell))
    assert all(naive.p_diversity_holds(groups, attribute, bound) for attribute in sensitive)
    assert naive.k_of(groups) >= k
    assert manifest["method"]["groups"] == len(groups)
    assert manifest["method"]["suppressed_rows"] >= private["least_suppressed_rows"]
    whole = [{name: row[3 + j] for j, name in enumerate(sensitive)} for row in rows]
    possible = len(rows) >= k and all(
        naive.p_diversity_holds([whole], name, bound) for name in sensitive
    )
    if possible and grouping != "paper":
        assert len(records) == len(rows)
    kept = Counter(tuple(row[s] for s in [*sensitive, "note"]) for row in records)
    held = Counter((*row[3:], f"note {i % 3}") for i, row in enumerate(rows))
    assert not kept - held


@given(
    table=tables(),
    ell=st.sampled_from([2, 3]),
    grouping=st.sampled_from(["curve", "blocks", "paper"]),
    seed=st.integers(0, 5),
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_buckets_keep_the_bound(table, ell, grouping, seed):
    sensitive, rows = table
    with tempfile.TemporaryDirectory() as folder:
        method = {"msa-diversity": {"grouping": grouping, "publish": "buckets", "suppression": 0.9}}
        place = published(folder, rows, sensitive, method, [{"p-diversity": {"l": ell}}], seed)
        assert_buckets(place, rows, sensitive, ell)


@given(table=tables(), ell=st.sampled_from([2, 3]), seed=st.integers(0, 5))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_mmdcf_groups_differ_in_every_attribute(table, ell, seed):
    sensitive, rows = table
    with tempfile.TemporaryDirectory() as folder:
        place = published(folder, rows, sensitive, {"mmdcf": {"l": ell}}, [], seed)
        groups = assert_buckets(place, rows, sensitive, ell)
    for group in groups:
        for attribute in sensitive:
            assert len({row[attribute] for row in group}) == len(group)


def assert_buckets(place, rows, sensitive, ell):
    people = naive.read_csv(place / "quasi_identifiers.csv")
    values = naive.read_csv(place / "sensitive.csv")
    assert_accounted(naive.read_manifest(place), len(people), rows)
    groups = defaultdict(list)
    for row in values:
        groups[row["group"]].append(row)
    sizes = {group: len(members) for group, members in groups.items()}
    assert Counter(row["group"] for row in people) == sizes
    held = list(groups.values())
    assert all(naive.p_diversity_holds(held, a, Fraction(ell)) for a in sensitive)
    assert not Counter((r["q"], r["zip"], r["n"]) for r in people) - Counter(r[:3] for r in rows)
    assert not Counter(tuple(r[s] for s in sensitive) for r in values) - Counter(
        r[3:] for r in rows
    )
    return held


@given(
    table=tables(),
    ell=st.integers(1, 3),
    k=st.sampled_from([None, 4]),
    halves=st.sampled_from(["both-safe", "suppress"]),
    seed=st.integers(0, 5),
)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_gal_parts_need_ell_values_to_be_emptied(table, ell, k, halves, seed):
    sensitive, rows = table
    with tempfile.TemporaryDirectory() as folder:
        method = {"gal": {"l": ell, "halves": halves, **({"k": k} if k else {})}}
        place = published(folder, rows, sensitive, method, [], seed)
        records = naive.read_csv(place / "records.csv")
        manifest = naive.read_manifest(place)
    assert_accounted(manifest, len(records), rows)
    if halves == "both-safe":
        assert len(records) == len(rows)
    for group in naive.classes(records, QUASI):
        assert len(group) >= (k or ell)
        assert least_cover([tuple(row[s] for s in sensitive) for row in group], ell) >= ell


def least_cover(rows, enough):
    """The fewest (attribute, value) pairs of which every row has one; not counted past enough."""
    if not rows or enough == 0:
        return 0
    fewest = enough
    for attribute, value in enumerate(rows[0]):
        rest = [row for row in rows if row[attribute] != value]
        fewest = min(fewest, 1 + least_cover(rest, fewest - 1))
    return fewest


@given(table=tables(), alpha=st.integers(1, 3), seed=st.integers(0, 5))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_li_and_ye_leave_enough_values_or_none(table, alpha, seed):
    sensitive, rows = table
    with tempfile.TemporaryDirectory() as folder:
        method = {"li-ye": {"alpha_qi": alpha, "alpha_sa": alpha}}
        place = published(folder, rows, sensitive, method, [], seed)
        records = naive.read_csv(place / "records.csv")
        assert dc.audit(place).ok
    assert len(records) == len(rows)
    for group in naive.classes(records, QUASI):
        for attribute in sensitive:
            values = {row[attribute] for row in group} - {"*"}
            # two classes may be published alike, one of them masked
            assert len(values) == 0 or len(values) >= alpha


def test_one_row_one_value_and_nothing_asked(tmp_path):
    source = tmp_path / "table.csv"
    write(source, ["s0"], [("a", "01", "1", "flu")])
    job = job_for(["s0"], {"msa-diversity": {}}, [{"p-diversity": {"l": 2}}])
    with pytest.raises(dc.InfeasibleError, match="1 of 1 rows"):
        make_release(source, job)
    with pytest.raises(dc.InputError, match="no requirement states l"):
        make_release(source, job_for(["s0"], {"msa-diversity": {}}, []))
    rivals = {"gal": {"l": 2}, "mmdcf": {"l": 2}, "li-ye": {"alpha_qi": 2, "alpha_sa": 2}}
    for method in ({name: parameters} for name, parameters in rivals.items()):
        with pytest.raises(dc.InfeasibleError, match="at most|exclude nothing"):
            make_release(source, job_for(["s0"], method, []))


def test_too_frequent_a_value_is_said_before_any_work(tmp_path):
    source = tmp_path / "table.csv"
    rows = [("a", "01", str(i), "flu" if i < 7 else "hiv", "xyz"[i % 3]) for i in range(10)]
    write(source, ["s0", "s1"], rows)
    job = job_for(["s0", "s1"], {"msa-diversity": {}}, [{"m-diversity": {"l": 2}}])
    with pytest.raises(dc.InfeasibleError) as caught:
        make_release(source, job)
    assert "One value of 's0' fills 70.0% of the rows" in str(caught.value)
    assert "largest feasible l is 1.428" in str(caught.value)
    assert "4 of 10 rows (40.0%)" in str(caught.value)
    assert "flu" not in str(caught.value)
    assert caught.value.failures[0]["least_suppressed"] == 0.4


def test_the_publisher_alone_learns_who_is_absent(tmp_path):
    source = tmp_path / "table.csv"
    rows = [("a", "01", str(i), "flu" if i < 7 else "hiv", "abcdefghij"[i]) for i in range(10)]
    write(source, ["s0", "s1"], rows)
    method = {"msa-diversity": {"suppression": 0.5}}
    release = make_release(source, job_for(["s0", "s1"], method, [{"p-diversity": {"l": 2}}]))
    assert release.private["absence"]["s0"] == {"among_suppressed": 1.0, "in_table": 0.7}
    assert "absence" not in release.manifest.to_json()


def test_a_requirement_it_does_not_aim_at_is_checked(tmp_path):
    source = tmp_path / "table.csv"
    write(source, ["s0"], [("a", "01", str(i), "ab"[i % 2]) for i in range(8)])
    asked = [{"p-diversity": {"l": 2}}, {"t-closeness": {"t": 0}}]
    release = make_release(source, job_for(["s0"], {"msa-diversity": {}}, asked))
    assert release.manifest.published_rows == 8
    write(source, ["s0"], [("a", "01", str(i), "abc"[i % 3]) for i in range(9)])
    with pytest.raises(dc.InfeasibleError, match="use mondrian"):
        make_release(source, job_for(["s0"], {"msa-diversity": {}}, asked))


def test_a_number_that_is_missing_everywhere(tmp_path):
    source = tmp_path / "table.csv"
    write(source, ["s0"], [("a", "01", "", "ab"[i % 2]) for i in range(4)])
    for method in ({"msa-diversity": {}}, {"gal": {"l": 2}}):
        job = job_for(["s0"], method, [{"p-diversity": {"l": 2}}])
        assert make_release(source, job).manifest.published_rows == 4
