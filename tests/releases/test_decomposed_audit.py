"""The audit of a decomposed release finds what was tampered with."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from tests.tables import coded_table

import discreet as dc
from discreet.methods.base import NoiseValues
from discreet.releases.audit.audit import read_tables
from discreet.releases.audit.row_order import CHANCE
from discreet.releases.explanation import readers, uncomputed
from discreet.releases.kinds import decomposed
from discreet.releases.kinds.decomposed import DecomposedKind
from discreet.releases.manifest import Manifest, sha256_of
from discreet.releases.worlds.readers import link_through_sensitive_table

FRAME = pl.DataFrame(
    {
        "age": [str(20 + i) for i in range(96)],
        "job": ["nurse", "cook", "clerk", "actor"] * 24,
        "ill": ["flu", "cold", "gout", "cold", "flu", "gout"] * 16,
        "pay": [str(i % 12) for i in range(96)],
    }
)
JOB = dc.Job(
    attributes={
        "age": {"role": "quasi-identifier"},
        **{name: {"role": "sensitive"} for name in ("job", "ill", "pay")},
    },
    requirements=[{"sa-diversity": {"l": {"job": 3, "ill": 2, "pay": 2}}}],
    method={"decomposition": {"primary": "job", "l": {"job": 3, "ill": 2, "pay": 2}}},
)


@pytest.fixture
def folder(tmp_path):
    FRAME.write_csv(tmp_path / "table.csv")
    return dc.publish(FRAME, JOB, seed=1).save(tmp_path / "release", **UNATTACKED)


def test_a_numeric_attribute_may_be_called_like_our_column_of_values(tmp_path):
    """'group_values' has a column 'value' of its own, which holds the values of all attributes."""
    roles = {name: {"role": "sensitive"} for name in ("job", "ill")}
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier"},
            **roles,
            "value": {"role": "sensitive", "type": "integer"},
        },
        method={"decomposition": {}},
    )
    frame = FRAME.rename({"pay": "value"})
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(folder).ok
    assert set(dc.read_release(folder)["sensitive"]["value"]) == set(frame["value"])


def tamper(folder, table, change):
    """Rewrite a table and make the manifest agree with the new file."""
    path = folder / f"{table}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows = [rows[0], *change(rows[1:])]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["tables"][table] |= {"sha256": sha256_of(path), "rows": len(rows) - 1}
    naive.write_manifest(folder, manifest)


def test_an_untouched_release_passes_and_tells_what_readers_find(folder):
    audit = dc.audit(folder)
    assert audit.ok
    assert {finding.reader for finding in audit.readers} == {"pair", "row", "matching"}
    text = "\n".join(dc.publish(FRAME, JOB, seed=1).explanation)
    assert "groups with random numbers" in text
    assert "are noise" in text


def test_readers_of_a_release_are_computed_or_named_as_left_out(folder, monkeypatch):
    """More rows than a release in parts collects: the audit computes, the report says why not."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["readers"] = []
    naive.write_manifest(folder, manifest)
    assert "the manifest's 'readers' do not match its files" in dc.audit(folder).problems
    monkeypatch.setattr(DecomposedKind, "finding_rows", manifest["published_rows"] - 1)
    found = dc.audit(folder)
    assert found.readers
    assert not any("readers" in problem for problem in found.problems)
    loaded = Manifest.load(folder)
    (said,) = readers(loaded)
    assert "was not computed" in said
    weaker = [one for one in found.readers if one.reader != "matching"]
    assert "The strongest attacker" in uncomputed(loaded, weaker)[0]
    assert uncomputed(loaded, found.readers) == []


def test_a_value_that_no_row_supports_is_found(folder):
    names = list(FRAME.columns[1:])
    sensitive = FRAME.select(names).rows()
    sets = naive.group_sets(folder / "group_values.csv", names)

    def struck_out(group, name, value):
        wider = {**sets[group], name: sets[group][name] | {value}}
        found = naive.supported_rows({group: wider}, sensitive, names)[group]
        return value not in {row[names.index(name)] for row in found}

    wrong = next(
        [group, name, value]
        for group in sets
        for name in ("ill", "pay")
        for value in sorted({row[names.index(name)] for row in sensitive} - sets[group][name])
        if struck_out(group, name, value)
    )
    tamper(folder, "group_values", lambda rows: [*rows, wrong])
    problem = next(p for p in dc.audit(folder).problems if "can be ruled out" in p)
    assert "1 values" in problem


def test_a_value_that_is_in_no_sensitive_row_is_found(folder):
    tamper(folder, "group_values", lambda rows: [*rows, ["1", "pay", "99"]])
    assert any("name no group" in problem for problem in dc.audit(folder).problems)


def test_a_missing_value_breaks_the_promise_and_the_counts(folder):
    def drop(rows):
        gone = next(i for i, row in enumerate(rows) if row[1] == "job")
        return rows[:gone] + rows[gone + 1 :]

    tamper(folder, "group_values", drop)
    audit = dc.audit(folder)
    assert not audit.ok
    assert any("disagree on how often" in problem for problem in audit.problems)


def test_a_swapped_group_is_found_with_the_original(folder):
    def swap(rows):
        first = rows[0]
        other = next(row for row in rows if row[1] != first[1])
        first[1], other[1] = other[1], first[1]
        return rows

    tamper(folder, "groups", swap)
    source = dc.Source(path=folder.parent / "table.csv")
    audit = dc.audit(folder, original=JOB.model_copy(update={"source": source}))
    assert any("without their value" in problem for problem in audit.problems)


def test_sensitive_rows_in_the_order_of_the_people_are_found(folder):
    people = pl.read_csv(folder / "groups.csv", infer_schema=False)
    linked = people.join(FRAME, on="age", maintain_order="left")
    names = pl.read_csv(folder / "sensitive.csv").columns
    tamper(folder, "sensitive", lambda rows: [list(r) for r in linked.select(names).iter_rows()])
    assert any("links" in problem for problem in dc.audit(folder).problems)


@pytest.mark.parametrize("rows", [6, 21])
def test_the_order_of_few_rows_is_judged_by_a_bound_on_all_orders(tmp_path, rows):
    """In groups of three with values of their own, (3!)^g of all orders fit."""
    names = [f"{i:02}" for i in range(rows)]
    frame = pl.DataFrame({"age": names, "job": names})
    job = dc.Job(
        attributes={"age": {"role": "quasi-identifier"}, "job": {"role": "sensitive"}},
        method={"decomposition": {"l": {"job": 3}}},
    )
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", report=False, **UNATTACKED)
    assert dc.audit(folder).remarks == ()
    people = pl.read_csv(folder / "groups.csv", infer_schema=False)
    tamper(folder, "sensitive", lambda _: [[name] for name in people["age"]])
    audit = dc.audit(folder)
    chance = math.factorial(3) ** (rows // 3) / math.factorial(rows)
    if chance < CHANCE:
        assert any("links" in problem for problem in audit.problems)
    else:
        assert audit.ok
        assert f"a chance of at most {chance:.2g}," in audit.remarks[0]
        assert audit.to_dict()["remarks"] == list(audit.remarks)


FOUR = pl.DataFrame({"age": ["20", "21", "22", "23"], "job": list("abcb"), "ill": list("zxyz")})
FOUR_JOB = dc.Job(
    attributes={
        "age": {"role": "quasi-identifier"},
        "job": {"role": "sensitive"},
        "ill": {"role": "sensitive"},
    },
    method={"decomposition": {"primary": "job", "l": {"job": 2, "ill": 2}}},
)


def test_a_value_that_only_all_groups_together_rule_out_is_found(tmp_path):
    """The group of 21 and 22 needs both rows with x or y, so 20 and 23 have z for certain."""
    folder = dc.publish(FOUR, FOUR_JOB, seed=1).save(tmp_path / "release", **UNATTACKED)
    group = {"21": "1", "22": "1", "20": "2", "23": "2"}
    tamper(folder, "groups", lambda rows: [[age, group[age]] for age, _ in rows])
    sets = {("1", "job"): "bc", ("1", "ill"): "xy", ("2", "job"): "ab", ("2", "ill"): "xz"}
    tamper(
        folder,
        "group_values",
        lambda _: [[*key, v] for key, values in sets.items() for v in values],
    )
    (problem,) = dc.audit(folder).problems
    assert "1 values of 'ill'" in problem
    assert "no assignment of all rows" in problem


@pytest.mark.parametrize("seed", range(8))
def test_the_method_leaves_no_such_value(seed, tmp_path):
    folder = dc.publish(FOUR, FOUR_JOB, seed=seed).save(tmp_path / "release", **UNATTACKED)
    names = ["job", "ill"]
    groups = [person["group"] for person in naive.read_csv(folder / "groups.csv")]
    sets = naive.group_sets(folder / "group_values.csv", names)
    rows = [tuple(row[n] for n in names) for row in naive.read_csv(folder / "sensitive.csv")]
    worlds = list(naive.worlds(groups, sets, rows, names, "job"))
    for group, values in sets.items():
        had = {row for world in worlds for g, row in zip(groups, world, strict=True) if g == group}
        assert {row[1] for row in had} == values["ill"]


def test_readers_of_a_merged_group_are_counted_in_people(tmp_path):
    """One illness for each job: who knows the job of anybody in the one group knows the illness."""
    frame = FOUR.with_columns(pl.Series("job", list("aabc")), pl.Series("ill", list("xxyz")))
    job = FOUR_JOB.model_copy(update={"method": dc.Decomposition(primary="job", l={"ill": 2})})
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    tamper(folder, "groups", lambda rows: [[age, "1"] for age, _ in rows])
    sets = {"job": "abc", "ill": "xyz"}
    tamper(
        folder,
        "group_values",
        lambda _: [["1", name, v] for name, values in sets.items() for v in values],
    )
    found = link_through_sensitive_table(read_tables(folder, Manifest.load(folder)), "job", "job")
    assert [(one.certain, one.people, one.exact) for one in found] == [(4, 4, True)] * 3


@settings(max_examples=40, deadline=None)
@given(data=st.data(), groups=st.integers(1, 6))
def test_entries_of_sets_are_distinct_and_sorted(data: st.DataObject, groups: int) -> None:
    """Of people and of noise, each value of each attribute once in its group."""
    any_group = st.integers(0, groups - 1)
    rows = data.draw(
        st.lists(st.tuples(any_group, st.sampled_from("xyz"), st.sampled_from("pq")), min_size=1)
    )
    number = np.array(data.draw(st.permutations(range(groups))), np.int32)
    table = coded_table({"a": [row[1] for row in rows], "b": [row[2] for row in rows]}, "ss")
    columns = [table["a"], table["b"]]
    group = number[[row[0] for row in rows]]
    value = st.integers(0, columns[0].cardinality - 1)
    added = np.array(data.draw(st.lists(st.tuples(any_group, value))), np.int32).reshape(-1, 2).T
    published = decomposed._group_values(
        columns, group, groups, number, {"a": NoiseValues(added[0], added[1])}
    )
    expected = set(zip(group.tolist(), columns[0].codes.tolist(), strict=True))
    expected |= set(zip(number[added[0]].tolist(), added[1].tolist(), strict=True))
    second = (columns[1].codes + columns[0].cardinality).tolist()
    expected |= set(zip(group.tolist(), second, strict=True))
    in_group, attribute, of_value = (column.codes.tolist() for column in published.columns)
    assert list(zip(in_group, of_value, strict=True)) == sorted(expected)
    assert attribute == [int(code >= columns[0].cardinality) for code in of_value]
