"""Series with generalized quasi-identifiers: every placement that the cells allow, every world."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.properties.test_publish_m_invariance_and_rho_different import (
    frame_of,
    make_job,
    population,
)
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.kinds.bucketized import GeneralizedBucketsKind


def groups_of(folder: Path):
    """By group: its one range of ages, how many people, its sensitive values."""
    cells, size, values = defaultdict(set), Counter(), defaultdict(list)
    for row in naive.read_csv(folder / "quasi_identifiers.csv"):
        ends = row["age"].strip("[]").split(", ")
        cells[row["group"]].add((int(ends[0]), int(ends[-1])))
        size[row["group"]] += 1
    for row in naive.read_csv(folder / "sensitive.csv"):
        values[row["group"]].append(row["disease"])
    assert all(len(ranges) == 1 for ranges in cells.values())
    return {g: (*next(iter(cells[g])), size[g], sorted(values[g])) for g in size}


def placements(people: list[int], held_back: int, groups):
    """Every way to put people, known by age, into groups whose cells cover them, but for some."""
    if not people:
        yield {}
        return
    first, *rest = people
    if held_back:
        yield from placements(rest, held_back - 1, groups)
    for group, (low, high, size, values) in groups.items():
        if size and low <= first <= high:
            left = {**groups, group: (low, high, size - 1, values)}
            for others in placements(rest, held_back, left):
                yield {first: group, **others}


def worlds(placement, groups):
    """Every way to give the people of a placement values of their groups."""
    by_group = defaultdict(list)
    for person, group in placement.items():
        by_group[group].append(person)
    ways = [
        [dict(zip(people, rows, strict=True))
         for rows in set(permutations(groups[group][3], len(people)))]
        for group, people in by_group.items()
    ]  # fmt: skip
    for parts in product(*ways):
        yield {person: value for part in parts for person, value in part.items()}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_placement_that_keeps_signatures_believes_more_than_one_in_m(tmp_path_factory, seed):
    draw = random.Random(seed)
    tables = list(population(draw, "abc", 2, 5, 0.0))
    folder = tmp_path_factory.mktemp("series")
    job = make_job(folder, dc.MInvariance(m=2, publish="generalized"))
    releases = []
    for number, people in enumerate(tables):
        try:
            release = dc.publish(frame_of(people), job, seed=seed)
        except dc.InfeasibleError:
            return
        place = release.save(folder / f"r{number}", report=False, **UNATTACKED)
        assert dc.audit(place).ok
        gone = release.manifest.suppressed_rows
        releases.append((people, gone, groups_of(place)))
    assert dc.audit_series(ledger=folder / "people.ledger").ok
    (first, few, one), (second, others, two) = releases
    kept = 0
    for before, after in product(
        placements(list(first), few, one), placements(list(second), others, two)
    ):
        both = before.keys() & after.keys()
        if any(set(one[before[p]][3]) != set(two[after[p]][3]) for p in both):
            continue  # the manifest says that signatures never change
        found: dict[int, Counter[str]] = defaultdict(Counter)
        total = 0
        for early, late in product(worlds(before, one), worlds(after, two)):
            if all(early[p] == late[p] for p in both):
                total += 1
                for person, value in {**early, **late}.items():
                    found[person][value] += 1
        kept += bool(total)
        assert all(max(c.values()) <= total / 2 for c in found.values() if total)
    assert kept  # the true placement is among them


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), rho=st.sampled_from([0.5, 0.7]))
def test_rho_different_with_cells_of_groups_keeps_the_whole_series(tmp_path_factory, seed, rho):
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("series")
    job = make_job(folder, dc.RhoDifferent(rho=rho, domain=("a", "b", "c"), publish="generalized"))
    for number, people in enumerate(population(draw, "abc", 3, 6, 0.3)):
        try:
            release = dc.publish(frame_of(people), job, seed=seed)
        except dc.InfeasibleError:
            return
        place = release.save(folder / f"r{number}", report=False, **UNATTACKED)
        groups = groups_of(place)
        assert all(max(Counter(v).values()) <= rho * len(v) for *_, v in groups.values())
        held_back = release.manifest.suppressed_rows
        assert next(placements(list(people), held_back, groups), None) is not None
        found = dc.audit_series(ledger=folder / "people.ledger")
        assert found.ok
        assert max(found.joint.greatest) <= rho + 1e-9


def test_a_table_of_persons_does_not_place_people_in_generalized_groups(tmp_path):
    job = make_job(tmp_path, dc.MInvariance(m=2, publish="generalized"))
    release = dc.publish(frame_of({20: "a", 25: "b", 30: "a", 35: "b"}), job, seed=0)
    place = release.save(tmp_path / "r", report=False, **UNATTACKED)
    persons = tmp_path / "persons.csv"
    persons.write_text("release,person,age\n1,Bob,20\n")
    with pytest.raises(dc.InputError, match="with its ledger"):
        dc.audit_series([place], persons=persons)


def test_rows_of_a_group_with_different_cells_are_noticed(tmp_path):
    job = make_job(tmp_path, dc.MInvariance(m=2, publish="generalized"))
    people = {20: "a", 25: "b", 30: "a", 35: "b", 40: "a", 45: "b"}
    release = dc.publish(frame_of(people), job, seed=0)
    tables, kind = release.coded_tables(), GeneralizedBucketsKind()
    assert kind.shard_problems(tables, release.manifest) == []
    assert kind.changes(tables, release.task, release.manifest) == []
    table = tables["quasi_identifiers"]
    ages = table["age"]
    codes = ages.codes.copy()
    codes[0] = (codes[0] + 1) % ages.cardinality
    columns = {**table.columns, "age": replace(ages, codes=codes)}
    forged = {**tables, "quasi_identifiers": replace(table, columns=columns)}
    (problem,) = kind.shard_problems(forged, release.manifest)
    assert "rows with different cells" in problem
    assert kind.changes(forged, release.task, release.manifest) != []
