"""Which tables msa-diversity can group where only some values are sensitive: by enumeration."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc

HARMLESS = ("N", "n")


def shares_hold(rows, ell):
    """No sensitive value of an attribute fills more than 1/ℓ of the rows."""
    return all(
        times * ell <= len(rows)
        for column in zip(*rows, strict=True)
        for value, times in Counter(column).items()
        if value not in HARMLESS
    )


def distinct_holds(rows, ell):
    """An attribute with a sensitive value has at least ℓ values."""
    return all(
        len(set(column)) >= ell or set(column) <= set(HARMLESS)
        for column in zip(*rows, strict=True)
    )


def partitions(rows):
    """All groupings of some rows."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(len(rest) + 1):
        for others in combinations(range(len(rest)), size):
            left = [row for at, row in enumerate(rest) if at not in others]
            for groups in partitions(left):
                yield [[first, *(rest[at] for at in others)], *groups]


def drawn_rows(seed, count):
    draw = random.Random(seed)
    return [(draw.choice("NNNabc"), draw.choice("nnxy")) for _ in range(count)]


def published(rows, requirement, suppression=0.0, publish="generalized"):
    frame = pl.DataFrame(
        {
            "age": [str(20 + at) for at in range(len(rows))],
            "a": [row[0] for row in rows],
            "b": [row[1] for row in rows],
        }
    )
    sensitive = {"role": "sensitive"}
    spared = {
        name: {"non_sensitive_values": [harmless]} if harmless in frame[name].to_list() else {}
        for name, harmless in (("a", "N"), ("b", "n"))
    }
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "a": sensitive | spared["a"],
            "b": sensitive | spared["b"],
        },
        requirements=[requirement],
        method={"msa-diversity": {"suppression": suppression, "publish": publish}},
        unit="rows",
    )
    return dc.publish(frame, job, seed=1)


@pytest.mark.parametrize("ell", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_some_grouping_keeps_the_shares_iff_the_whole_table_does(seed, ell):
    rows = drawn_rows(seed, 7)
    possible = any(all(shares_hold(group, ell) for group in groups) for groups in partitions(rows))
    assert possible == shares_hold(rows, ell)
    asked = {"p-diversity": {"l": ell}}
    if not possible:
        with pytest.raises(dc.InfeasibleError):
            published(rows, asked)
        return
    release = published(rows, asked)
    assert release.audit.ok
    assert release.manifest.suppressed_rows == 0


@pytest.mark.parametrize("publish", ["generalized", "buckets"])
@pytest.mark.parametrize("seed", range(8))
def test_joined_groups_have_enough_values_where_a_sensitive_one_occurs(tmp_path, seed, publish):
    rows = drawn_rows(seed, 12)
    asked = {"distinct-l-diversity": {"l": 3}}
    if not (shares_hold(rows, 3) and distinct_holds(rows, 3)):
        with pytest.raises(dc.InfeasibleError):
            published(rows, asked, publish=publish)
        return
    place = published(rows, asked, publish=publish).save(tmp_path / "release", **UNATTACKED)
    table, key = ("records", "age") if publish == "generalized" else ("sensitive", "group")
    found = pl.read_csv(place / f"{table}.csv", infer_schema_length=0)
    assert found.height == 12
    for _, group in found.group_by(key):
        assert distinct_holds(group.select("a", "b").rows(), 3)
    assert dc.audit(place).ok


@pytest.mark.parametrize("ell", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_lower_bound_is_the_least_number_of_rows_that_must_go(seed, ell):
    draw = random.Random(seed)
    rows = [(draw.choice("Naaab"), "n") for _ in range(8)]
    most = max(
        (
            size
            for size in range(ell, 9)
            for kept in combinations(rows, size)
            if shares_hold(kept, ell)
        ),
        default=0,
    )
    if most == 0:
        with pytest.raises(dc.InfeasibleError):
            published(rows, {"p-diversity": {"l": ell}}, suppression=1.0)
        return
    release = published(rows, {"p-diversity": {"l": ell}}, suppression=1.0)
    assert release.private["least_suppressed_rows"] == 8 - most
    assert release.manifest.suppressed_rows == 8 - most


def test_the_worked_example_loses_nobody():
    """N ×6, a, b with S = {a, b} and ℓ = 2: each of a and b is beside an N."""
    rows = [("N", "n")] * 6 + [("a", "n"), ("b", "n")]
    release = published(rows, {"p-diversity": {"l": 2}})
    assert release.manifest.suppressed_rows == 0
    assert release.audit.ok
    frequent = [("N", "n")] * 3 + [("a", "n")] * 5
    with pytest.raises(dc.InfeasibleError, match="One sensitive value of 'a' fills 62.5%"):
        published(frequent, {"p-diversity": {"l": 2}})
