"""Attacks on persons with several published rows, beside figures found by loops and enumeration."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED

import discreet as dc
from discreet.attacks.beliefs import AT_ALL, GIVEN_ROW
from discreet.attacks.class_attacks import dealt_values
from discreet.attacks.intersection import candidates
from discreet.attacks.non_membership import beliefs_after_facts
from discreet.attacks.views import PersonView, joined_values
from discreet.io.frames import code_series
from discreet.requirements.base import Domain
from discreet.table.classes import Classes
from discreet.table.persons import Persons
from discreet.table.roles import ColumnSpec, Role, Unit

Rows = list[tuple[int, int, str, str]]  # person, group, two sensitive values
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("uvw"), st.sampled_from("xyz")),
    min_size=1,
    max_size=18,
)


def dense(numbers: list[int]) -> Any:
    return np.unique(numbers, return_inverse=True)[1]


def view_of(rows: Rows) -> PersonView:
    number = dense([row[0] for row in rows])
    groups = dense([row[1] for row in rows]).astype(np.int32)
    columns = {
        name: code_series(
            pl.Series(name, [row[place] for row in rows]), ColumnSpec(Role.SENSITIVE), (), "test"
        )
        for name, place in (("s", 2), ("t", 3))
    }
    persons = Persons(number, int(number.max()) + 1, 0)
    domains = {name: Domain.of(column) for name, column in columns.items()}
    return PersonView("records", Classes.of_numbers(groups), persons, columns, domains)


def members_of(rows: Rows) -> dict[int, dict[int, list[tuple[str, str]]]]:
    """By group and person: the values of the person's rows."""
    found: dict[int, dict[int, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    people, groups = dense([r[0] for r in rows]).tolist(), dense([r[1] for r in rows]).tolist()
    for person, group, row in zip(people, groups, rows, strict=True):
        found[group][person].append((row[2], row[3]))
    return found


def greatest(found: Any, view: PersonView) -> list[float]:
    return found.greatest(view.persons.count).tolist()


@settings(deadline=None, max_examples=200)
@given(ROWS)
def test_candidates_are_the_persons_with_a_row_in_every_group_of_the_target(rows: Rows):
    view = view_of(rows)
    groups: dict[int, set[int]] = defaultdict(set)
    for person, group in zip(
        view.persons.number.tolist(), view.classes.class_of_row.tolist(), strict=True
    ):
        groups[person].add(group)
    expected = [sum(own <= other for other in groups.values()) for _, own in sorted(groups.items())]
    assert candidates(view.classes, view.persons).tolist() == expected


@settings(deadline=None, max_examples=100)
@given(ROWS)
def test_beliefs_are_the_shares_that_a_loop_finds(rows: Rows):
    view, members = view_of(rows), members_of(rows)
    at_all, in_row = defaultdict(float), defaultdict(float)
    joined: dict[int, float] = defaultdict(float)
    for group in members.values():
        for person, own in group.items():
            for value in {s for s, _ in own}:
                touched = sum(value in {s for s, _ in other} for other in group.values())
                mass = sum(
                    sum(s == value for s, _ in other) / len(other) for other in group.values()
                )
                at_all[person] = max(at_all[person], touched / len(group))
                in_row[person] = max(in_row[person], mass / len(group))
                for known in {t for _, t in own}:
                    left = [o for o in group.values() if known in {t for _, t in o}]
                    share = sum(value in {s for s, _ in o} for o in left) / len(left)
                    joined[person] = max(joined[person], share)
    for found, expected in (
        (view.values("s", AT_ALL), at_all),
        (view.values("s", GIVEN_ROW), in_row),
        (joined_values(view, "s", ("t",)), joined),
    ):
        wanted = [expected[person] for person in sorted(expected)]
        assert greatest(found, view) == pytest.approx(wanted, abs=1e-8)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.just(0), st.sampled_from("uvw"), st.just("x")),
             min_size=1, max_size=7)
)  # fmt: skip
def test_the_number_of_rows_tells_what_all_ways_to_deal_them_tell(rows: Rows):
    view = view_of(rows)
    number, values = view.persons.number.tolist(), [row[2] for row in rows]
    worlds = list(itertools.permutations(values))
    expected: dict[int, float] = defaultdict(float)
    for person, value in set(zip(number, values, strict=True)):
        own = [place for place, other in enumerate(number) if other == person]
        share = sum(any(world[place] == value for place in own) for world in worlds) / len(worlds)
        expected[person] = max(expected[person], share)
    found = dealt_values(view, view.sensitive["s"])
    assert greatest(found, view) == pytest.approx([expected[p] for p in sorted(expected)])


def belief_after(group: list[set[str]], value: str, facts: tuple[str, ...]) -> float:
    left = [own for own in group if not own.intersection(facts)]
    return sum(value in own for own in left) / len(left)


@settings(deadline=None, max_examples=100)
@given(ROWS, st.integers(1, 3), st.booleans())
def test_facts_leave_the_members_that_a_search_of_all_facts_leaves(
    rows: Rows, bits: int, released: bool
):
    """Without the release, all persons are one group."""
    rows = rows if released else [(person, 0, s, t) for person, _, s, t in rows]
    view = view_of(rows) if released else view_of(rows).whole
    by_attribute, exact = beliefs_after_facts(view, bits)
    names = {v for column in view.sensitive.values() for v in column.text.to_list()}
    assert exact == (bits < 3)
    for number, (attribute, values) in enumerate(by_attribute.items()):
        texts = view.sensitive[attribute].text.to_list()
        expected = []
        for members in members_of(rows).values():
            group = {person: {v for row in own for v in row} for person, own in members.items()}
            for person, own in sorted(group.items()):
                true = sorted(names - own)
                choices = [c for n in range(bits + 1) for c in itertools.combinations(true, n)]
                for value in sorted({row[number] for row in members[person]}, key=texts.index):
                    belief = max(belief_after(list(group.values()), value, f) for f in choices)
                    expected.append((person, texts.index(value), belief))
        lines = list(zip(values.person, values.value, values.belief, strict=True))
        assert sorted(line[:2] for line in lines) == sorted(line[:2] for line in expected)
        if exact:
            assert np.array(sorted(lines)) == pytest.approx(np.array(sorted(expected)))
        limit = [belief for *_, belief in sorted(expected)]
        assert (np.array([b for *_, b in sorted(lines)]) <= np.array(limit) + 1e-6).all()


def job(*requirements: dict[str, Any], method: Any = "mondrian", **more: Any) -> dc.Job:
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "s": {"role": "sensitive"},
            "t": {"role": "sensitive"},
        },
        person={"column": "id", "rows": "keep"},
        requirements=list(requirements),
        method=method,
        **more,
    )


def frame_of(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["id", "age", "s", "t"], orient="row")


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(20, 24), st.sampled_from("uvw"),
                  st.sampled_from("xyz")),
        min_size=4, max_size=40,
    ),
    st.sampled_from(["mondrian", "local-recoding"]),
    st.lists(st.sampled_from([{"p-diversity": {"l": 1.2}}, {"t-closeness": {"t": 0.4}},
                              {"beta-likeness": {"beta": 1.0}}, {"entropy-l-diversity": {"l": 1.3}},
                              {"recursive-cl-diversity": {"c": 3, "l": 2}}]), max_size=2),
)  # fmt: skip
def test_no_attack_exceeds_a_guarantee_on_persons(
    rows: list[Any], method: str, asked: list[dict[str, Any]]
):
    frame = frame_of(rows)
    try:
        release = dc.publish(frame, job({"k-anonymity": {"k": 2}}, *asked, method=method))
    except dc.InfeasibleError:
        return
    report = dc.attack(release, original=frame)
    assert report.ok, str(report)
    people = len({row[0] for row in rows})
    for finding in (one for one in report.findings if not one.target):  # else cells or rows
        if finding.unit is Unit.PERSON:
            assert finding.targets == people
        else:  # definetti learns from rows whose group is certain
            assert 0 < finding.targets <= len(rows)
        assert finding.bound is None or finding.unit is Unit.PERSON
    crossed = next(f for f in report.findings if f.attack == "person-intersection")
    assert crossed.greatest <= 1 / 2 + 1e-9


NINE_ROWS = [("a", 20, "hiv", "x")] * 9 + [(p, 20, "flu", "x") for p in "bcde"]


def test_one_person_with_nine_rows_of_a_value_is_one_of_five():
    release = dc.publish(frame_of(NINE_ROWS), job({"k-anonymity": {"k": 5}}))
    report = dc.attack(release, original=frame_of(NINE_ROWS))
    assert (report.persons, report.rows) == (5, 13)
    assert "13 published rows of 5 people" in str(report)
    by_title = {f.title: f for f in report.findings if f.aim in ("s", "the person")}
    assert by_title["linking"].greatest == pytest.approx(1 / 5)
    at_all = by_title["homogeneity (has it at all)"]
    assert at_all.mean == pytest.approx((1 / 5 + 4 * 4 / 5) / 5)
    assert at_all.verdict == "does no better than without the release"  # one group is all
    dealt = by_title["number-of-rows"]
    assert dealt.greatest == 1  # nine of thirteen rows: at least five of them have the value
    original, records = report.risks
    assert original.prosecutor == pytest.approx(1 / 5) and records.prosecutor == 1 / 5


def test_a_job_verifies_its_release_on_persons():
    frame = frame_of([(f"p{n % 10}", 20 + n % 10, "uvwxy"[n % 5], "x") for n in range(30)])
    release = dc.publish(
        frame,
        job(
            {"k-anonymity": {"k": 3}},
            {"p-diversity": {"l": 1.5, "attribute": "s"}},
            verify="attacks",
        ),
    )
    assert release.attacks is not None and release.attacks.persons == 10
    with pytest.raises(dc.AuditError, match="above the ceiling of 0.4"):
        dc.publish(frame, job({"k-anonymity": {"k": 3}}, verify={"ceiling": 0.4}))


def test_a_folder_is_attacked_with_the_private_file_beside_it(tmp_path: Path):
    frame = frame_of([(f"p{n % 10}", 20 + n % 10, "uvw"[n % 3], "x") for n in range(30)])
    frame.write_csv(tmp_path / "table.csv")
    described = job({"k-anonymity": {"k": 3}}).model_copy(
        update={"source": dc.Source(path=tmp_path / "table.csv")}
    )
    release = dc.publish(None, described)
    folder = release.save(tmp_path / "release", **UNATTACKED)
    found, expected = (dc.attack(each, original=described) for each in (folder, release))
    assert {**found.to_dict(), "timings": {}} == {**expected.to_dict(), "timings": {}}
    (tmp_path / "release.private.json").unlink()
    with pytest.raises(dc.InputError, match="which rows belong to the same person"):
        dc.attack(folder, original=described)


def test_a_release_without_persons_counts_rows():
    rows = [(f"p{n % 10}", 20 + n % 10, "uvw"[n % 3], "x") for n in range(30)]
    described = job({"k-anonymity": {"k": 3}}).model_copy(update={"person": None, "unit": "rows"})
    report = dc.attack(dc.publish(frame_of(rows), described), original=frame_of(rows))
    assert report.persons is None
    assert {f.unit for f in report.findings} == {Unit.ROW}
    assert "people" not in report.summary and "person" not in report.summary
    one_each = [(f"p{n}", *row[1:]) for n, row in enumerate(rows)]
    described = described.model_copy(update={"person": dc.Person(column="id")})
    report = dc.attack(dc.publish(frame_of(one_each), described), original=frame_of(one_each))
    assert {f.unit for f in report.findings} == {Unit.PERSON}


SEVERAL_TABLES = [
    ({"codip": {"plan": "given", "tables": [["s"], ["t"]]}}, "sensitive", 2),
    ({"anatomy": {"l": 2}}, "drop", 1),
    ("full-domain", "sensitive", 1),
]


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(20, 24), st.sampled_from("uvwx"),
                  st.sampled_from("xyz")),
        min_size=6, max_size=40,
    ),
    st.sampled_from(SEVERAL_TABLES),
    st.sampled_from(["persons", "rows"]),
)  # fmt: skip
def test_persons_are_targets_in_every_kind_of_release(
    rows: list[Any], made: tuple[Any, str, int], scope: str
):
    method, role, tables = made
    by_anatomy = tables == 1 and method != "full-domain"
    described = dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "s": {"role": "sensitive"},
            "t": {"role": role},
        },
        person={"column": "id", "rows": "keep", "scope": "persons" if by_anatomy else scope},
        requirements=[] if by_anatomy else [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 1.1}}],
        method=method,
    )
    try:
        release = dc.publish(frame_of(rows), described)
    except dc.InfeasibleError:
        return
    report = dc.attack(release, original=frame_of(rows))
    assert report.ok, str(report)
    linked = [f for f in report.findings if f.attack == "linking"]
    assert len(linked) == tables and len(report.risks) == tables + 1
    assert report.persons == max(f.targets for f in linked) <= len({row[0] for row in rows})


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(20, 24), st.sampled_from("uvw"),
                  st.sampled_from("xyz")),
        min_size=8, max_size=40,
    ),
    st.sampled_from(["persons", "rows"]),
)  # fmt: skip
def test_two_tables_of_a_release_tell_the_product_of_what_each_tells(rows: list[Any], scope: str):
    method = {"codip": {"plan": "given", "tables": [["s"], ["t"]]}}
    described = job({"k-anonymity": {"k": 2}}).model_copy(
        update={"method": dc.Job(attributes={"s": {"role": "sensitive"}}, method=method).method,
                "person": dc.Person(column="id", rows="keep", scope=scope)}
    )  # fmt: skip
    try:
        release = dc.publish(frame_of(rows), described)
    except dc.InfeasibleError:
        return
    report = dc.attack(release, original=frame_of(rows), attacks=["intersection"])
    # By hand: the greatest share of persons of a group who have a value, of each table and person.
    greatest: list[dict[Any, float]] = []
    for table, place in (("projection_1", 2), ("projection_2", 3)):
        cells = release.tables[table]["age"].to_list()
        members: dict[Any, dict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
        for cell, row in zip(cells, release.formed.source_rows()[table], strict=True):  # type: ignore[attr-defined]
            members[cell][rows[row][0]].add(rows[row][place])
        shares: dict[Any, float] = defaultdict(float)
        for group in members.values():
            for person, values in group.items():
                for value in values:
                    share = sum(value in other for other in group.values()) / len(group)
                    shares[person] = max(shares[person], share)
        greatest.append(shares)
    products = [greatest[0][person] * greatest[1][person] for person in greatest[0]]
    (found,) = report.findings
    assert found.targets == len(products)
    assert found.mean == pytest.approx(np.mean(products))
    assert found.greatest == pytest.approx(max(products))


def test_an_attacker_who_knows_all_other_values_of_a_row_is_bounded():
    rows = [(f"p{n % 16}", 20 + n % 4, "uvwx"[n % 4], "xy"[n // 16]) for n in range(32)]
    inner = {"multi-attribute-l-diversity": {"attribute": "s", "inner": {"p-diversity": {"l": 2}}}}
    release = dc.publish(frame_of(rows), job(inner))
    report = dc.attack(release, original=frame_of(rows), attacks=["background-join"])
    assert report.ok
    by_aim = {f.aim: f for f in report.findings}
    assert by_aim["s"].bound == pytest.approx(0.5) and by_aim["s"].greatest <= 0.5 + 1e-9


def test_a_share_of_just_the_bound_exceeds_nothing():
    values = ["v0", "v0", "v1", "v2", "v3", "v0", "v1", "v2", "v3"]
    rows = [(f"p{max(n - 1, 0)}", 20 + n, value, "x") for n, value in enumerate(values)]
    described = job({"m-diversity": {"l": 4, "attribute": "s"}})
    report = dc.attack(dc.publish(frame_of(rows), described), original=frame_of(rows))
    found = [f for f in report.findings if f.attack == "non-membership" and f.aim == "s"]
    assert [f.greatest for f in found] == [1 / 3, 1 / 2]
    assert report.ok, report.summary
