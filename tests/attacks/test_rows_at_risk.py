"""The rows at risk of releases in several tables, and of persons with several rows."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import REASON

import discreet as dc

ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("uvw")), min_size=4, max_size=6)


def job(method, requirements=(), spared=(), person=None):
    test = {"role": "sensitive", **({"non_sensitive_values": list(spared)} if spared else {})}
    return dc.Job(
        attributes={
            "who": {"role": "identifier"},
            "q": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "s": test,
            "t": {"role": "sensitive"},
        },
        requirements=list(requirements),
        method=method,
        **({} if person is None else {"person": person}),
    )


def table(rows, who=None, q=None):
    names = who or [f"p{number}" for number in range(len(rows))]
    quasi = q or list(range(len(rows)))
    return pl.DataFrame(
        {"who": names, "q": quasi, "s": [s for s, _ in rows], "t": [t for _, t in rows]}
    )


def listed(folder, knows=None):
    place = folder / "release.private.rows.csv"
    if not place.exists():
        return set()
    with place.open(newline="") as file:
        return {
            (int(one["row"]), one["attribute"])
            for one in csv.DictReader(file)
            if knows is None or one["attacker_knows"] == knows
        }


def read(folder, name):
    with (folder / "release" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@settings(max_examples=15, deadline=None)
@given(ROWS, st.sampled_from([1, 2]), st.booleans())
def test_rows_of_a_decomposition_are_those_of_all_worlds(tmp_path_factory, rows, ell, spare):
    folder = tmp_path_factory.mktemp("decomposed")
    spared = {"a"} if spare and any(s == "a" for s, _ in rows) else set()
    frame = table(rows)
    made = job({"decomposition": {"l": {"s": ell, "t": ell}, "primary": "s"}}, spared=spared)
    try:
        release = dc.publish(frame, made, seed=1)
    except dc.InfeasibleError:
        return
    release.save(folder / "release", attack=60, accept_risk=REASON)
    group_of = {int(one["q"]): one["group"] for one in read(folder, "groups")}
    sets = defaultdict(set)
    for one in read(folder, "group_values"):
        sets[one["group"], one["attribute"]].add(one["value"])
    published = [(one["s"], one["t"]) for one in read(folder, "sensitive")]
    worlds = [
        world
        for world in itertools.permutations(published)
        if all(
            s in sets[group_of[q], "s"] and t in sets[group_of[q], "t"]
            for q, (s, t) in enumerate(world)
        )
    ]
    expected = set()
    for number, row in enumerate(rows):
        for place, name in enumerate("st"):
            if place == 0 and row[0] in spared:
                continue
            share = Counter(one[place] for one in rows)[row[place]] / len(rows)
            alone = sum(world[number][place] == row[place] for world in worlds) / len(worlds)
            fits = [world for world in worlds if world[number][1 - place] == row[1 - place]]
            certain = all(world[number][place] == row[place] for world in fits)
            alike = [one for one in rows if one[1 - place] == row[1 - place]]
            apart = all(one[place] == row[place] for one in alike)  # by the sensitive rows alone
            if (alone > 0.5 + 1e-9 and share <= 0.5) or (certain and not apart):
                expected.add((number + 1, name))
    assert listed(folder) == expected


@settings(max_examples=15, deadline=None)
@given(ROWS.filter(lambda rows: len({s for s, _ in rows}) > 1))
def test_rows_of_codip_are_those_of_each_table(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("codip")
    frame = table(rows, q=[number // 2 for number in range(len(rows))])
    method = {"codip": {"plan": "given", "tables": [["s"], ["t"]]}}
    dc.publish(frame, job(method, [dc.KAnonymity(k=1)]), seed=1).save(
        folder / "release", attack=60, accept_risk=REASON
    )
    expected = set()
    for place, name in enumerate("st"):
        values = [row[place] for row in rows]
        for number, value in enumerate(values):
            own = [v for at, v in enumerate(values) if at // 2 == number // 2]
            if own.count(value) / len(own) > 0.5 and values.count(value) / len(values) <= 0.5:
                expected.add((number + 1, name))
    assert listed(folder) == expected


def test_all_source_rows_of_a_collapsed_person_are_listed(tmp_path):
    rows = [("a", "u"), ("a", "u"), ("b", "v"), ("b", "w"), ("c", "w"), ("c", "w"), ("c", "u")]
    who = ["p0", "p1", "p2", "p0", "p3", "p1", "p3"]
    frame = table(rows, who, [1, 1, 2, 1, 2, 1, 2])
    made = job("mondrian", [dc.KAnonymity(k=2)], person={"column": "who", "rows": "collapse"})
    first = {"role": "sensitive", "collapse": "first"}
    attributes = {**made.attributes, "s": dc.Attribute(**first), "t": dc.Attribute(**first)}
    made = made.model_copy(update={"attributes": attributes})
    dc.publish(frame, made, seed=1).save(tmp_path / "release", attack=60, accept_risk=REASON)
    # p0 and p1 have "a" first, and their group nothing else; half of all persons have it
    found = listed(tmp_path, "quasi-identifiers")
    assert {row for row, name in found if name == "s"} == {1, 2, 4, 6}


@pytest.mark.parametrize("link", ["none", "pseudonym"])
def test_rows_of_persons_are_those_with_the_value_that_is_learned(tmp_path, link):
    # three persons of q = 1 have "a" in one of two rows each; those of q = 2 share nothing
    rows = [("a", "u"), ("x", "v"), ("a", "w"), ("b", "u"), ("a", "v"), ("c", "w"),
            ("b", "u"), ("c", "v"), ("x", "w"), ("y", "u"), ("d", "v"), ("e", "w")]  # fmt: skip
    who = [f"p{number // 2}" for number in range(12)]
    frame = table(rows, who, [1] * 6 + [2] * 6)
    person = {"column": "who", "rows": "keep", "link": link}
    release = dc.publish(frame, job("mondrian", [dc.KAnonymity(k=3)], person=person), seed=1)
    release.save(tmp_path / "release", attack=60, accept_risk=REASON)
    groups = {row["q"] for row in read(tmp_path, "records")}
    assert len(groups) == 2
    # "a" is certain of the persons of q = 1, half of all persons have it
    found = listed(tmp_path, "quasi-identifiers")
    assert {row for row, name in found if name == "s"} == {1, 3, 5}
    page = (tmp_path / "release.private.html").read_text(encoding="utf-8")
    assert "at risk. Their numbers are in the private file that ends in" in page
