"""All rows of a person published: groups of persons, judged naively by files and source."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.persons.naive_persons import REQUIREMENTS, Members, holds, mass, touched
from tests.saving import UNATTACKED

import discreet as dc
from discreet.methods.shared.judged_persons import verdict_on_persons
from discreet.releases.audit.persons import judge_persons, packed_rows
from discreet.table.classes import Classes
from discreet.table.persons import Persons
from discreet.table.roles import Distance

METHODS = ("mondrian", "local-recoding", "msa-diversity")


def job(method: str, requirements: list[dict[str, Any]]) -> dc.Job:
    needed = [] if method != "msa-diversity" else [{"p-diversity": {"l": 1.1}}]
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "sex": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        },
        person={"column": "id", "rows": "keep"},
        requirements=[*requirements, *needed],
        method={method: {}},
    )


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from(["u", "v", "w", "x"])),
        min_size=1,
        max_size=24,
    ),
    st.sampled_from(REQUIREMENTS),
    st.booleans(),
)
def test_requirements_on_persons_are_what_a_loop_finds(
    rows: list[Any], requirement: dict[str, Any], in_several_classes: bool
):
    column = _column([value for _, _, value in rows])
    classes = _dense([group for _, group, _ in rows])
    number = _dense(
        [person if in_several_classes else (person, group) for person, group, _ in rows]
    )
    persons = Persons(number.astype(np.int64), int(number.max()) + 1, 0)
    ((name, asked),) = requirement.items()
    (one,) = dc.Job(
        attributes={"s": {"role": "sensitive"}}, requirements=[{name: asked}]
    ).requirements
    domains = {"s": dc_domain(column)}
    verdict = verdict_on_persons(one, Classes.of_numbers(classes), persons, [column], domains)
    audited = judge_persons(one, classes, number, [column], domains)
    members: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for group, person, (_, _, value) in zip(classes, number, rows, strict=True):
        members[int(group)][int(person)].append(value)
    of_person: dict[int, list[str]] = defaultdict(list)
    for person, (_, _, value) in zip(number, rows, strict=True):
        of_person[int(person)].append(value)
    everyone = list(of_person.values())
    assert verdict.passes.tolist() == [
        holds(requirement, list(members[group].values()), everyone) for group in sorted(members)
    ]
    assert audited.holds == verdict.holds  # counted by another code
    assert audited.achieved == verdict.achieved


def _dense(keys: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    place = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys], np.int32)


def _column(values: list[str]) -> Any:
    from discreet.io.frames import code_series
    from discreet.table.roles import ColumnSpec, Role

    return code_series(pl.Series("s", values), ColumnSpec(Role.SENSITIVE), (), "test")


def dc_domain(column: Any) -> Any:
    from discreet.requirements.base import Domain

    return Domain.of(column)


def test_the_share_of_persons_with_a_value_is_the_belief_that_a_member_has_it():
    """Cells are equal for all rows of all members: every naming of the members is as likely."""
    members = [["x", "x", "y"], ["x"], ["z", "y"], ["z"]]
    worlds = list(itertools.permutations(members))  # who is the target: the first
    for value, count in touched(members).items():
        belief = sum(value in world[0] for world in worlds) / len(worlds)
        assert belief == count / len(members)


def encounters() -> list[tuple[str, str, str, str]]:
    return [
        (f"p{n % 12}", str(20 + n % 12 + n % 3), "fm"[n % 2], "abcd"[(n * 7) % 4])
        for n in range(36)
    ]


@pytest.mark.parametrize("method", METHODS)
def test_the_files_alone_do_not_prove_it_and_the_publisher_can(tmp_path: Path, method: str):
    frame = pl.DataFrame(encounters(), schema=["id", "age", "sex", "disease"], orient="row")
    frame.write_csv(tmp_path / "encounters.csv")
    described = job(method, [{"k-anonymity": {"k": 3}}]).model_copy(
        update={"source": dc.Source(path=tmp_path / "encounters.csv")}
    )
    release = dc.publish(None, described)
    assert release.audit is not None and release.audit.ok
    folder = release.save(tmp_path / "release", **UNATTACKED)
    said = json.loads((folder / "manifest.json").read_text())
    assert said["person"] == {
        "rows": "keep", "rules": {}, "scope": "persons", "link": "none",
    }  # fmt: skip
    assert said["promises"][0]["achieved"] == {}
    alone = dc.audit(folder)
    assert alone.ok and alone.promises[0].unproved is not None
    assert "which rows belong to the same person" in alone.promises[0].unproved
    proved = dc.audit(folder, original=described)
    assert proved.ok and not proved.unproved
    assert proved.promises[0].achieved["k"] >= 3
    (tmp_path / "release.private.json").unlink()
    assert dc.audit(folder, original=described).unproved


def test_what_cannot_count_persons_is_refused_with_a_remedy():
    frame = pl.DataFrame(encounters(), schema=["id", "age", "sex", "disease"], orient="row")
    described = job("mondrian", [{"sa-diversity": {"l": {"disease": 2}}}])
    with pytest.raises(dc.JobError, match="sa-diversity cannot be judged on persons"):
        dc.publish(frame, described)


def test_one_group_of_all_persons_that_fails_is_infeasible():
    rows = [("a", "20", "f", "flu"), ("b", "30", "m", "flu"), ("c", "30", "m", "flu")]
    frame = pl.DataFrame(rows, schema=["id", "age", "sex", "disease"], orient="row")
    with pytest.raises(dc.InfeasibleError):
        dc.publish(frame, job("mondrian", [{"distinct-l-diversity": {"l": 2}}]))
    with pytest.raises(dc.InfeasibleError):
        dc.publish(frame, job("mondrian", [{"k-anonymity": {"k": 4}}]))


def test_weights_of_persons_with_many_different_numbers_of_rows_do_not_overflow():
    """The least common multiple of 1 to 40 rows is far beyond 64 bits once it is multiplied."""
    sizes = [rows for rows in range(1, 41) for _ in range(50)]
    number = np.repeat(np.arange(len(sizes)), sizes)
    persons = Persons(number.astype(np.int64), len(sizes), 0)
    values = [str((person * 7 + place * place) % 9) for person, rows in enumerate(sizes)
              for place in range(rows)]  # fmt: skip
    column = replace(_column(values), distance=Distance.ORDERED)
    groups = np.where(number % 5 == 0, 1, 0).astype(np.int32)  # one large, one small
    members: list[Members] = [[], []]
    for person, end in enumerate(np.cumsum(sizes)):
        members[int(groups[end - 1])].append(values[end - sizes[person] : end])
    everyone = members[0] + members[1]
    whole = {value: weight / len(everyone) for value, weight in mass(everyone).items()}
    beliefs = [
        {value: weight / len(group) for value, weight in mass(group).items()} for group in members
    ]
    ordered = sorted(whole)
    steps = [
        np.abs(np.cumsum([belief[v] - whole[v] for v in ordered])).sum() / (len(ordered) - 1)
        for belief in beliefs
    ]
    lifts = [max(belief[v] / whole[v] for v in ordered) - 1 for belief in beliefs]
    logs = [max(abs(math.log(belief[v] / whole[v])) for v in ordered) for belief in beliefs]
    classes, domains = Classes.of_numbers(groups), {"s": dc_domain(column)}
    for requirement, expected in [
        (dc.TCloseness(t=1), steps),
        (dc.BetaLikeness(beta=9), lifts),
        (dc.DeltaDisclosure(delta=9), logs),
    ]:
        figure = max(expected)
        found = verdict_on_persons(requirement, classes, persons, [column], domains)
        assert found.achieved[requirement.algebra.figure] == pytest.approx(figure, abs=1e-8)
    for bound, passes in [(max(lifts) * 1.001, True), (max(lifts) * 0.999, False)]:
        requirement = dc.BetaLikeness(beta=bound)
        found = verdict_on_persons(requirement, classes, persons, [column], domains)
        assert found.holds is passes


def test_a_private_file_of_another_release_proves_nothing(tmp_path: Path):
    frame = pl.DataFrame(encounters(), schema=["id", "age", "sex", "disease"], orient="row")
    frame.write_csv(tmp_path / "encounters.csv")
    described = job("mondrian", [{"k-anonymity": {"k": 3}}]).model_copy(
        update={"source": dc.Source(path=tmp_path / "encounters.csv")}
    )
    folder = dc.publish(None, described).save(tmp_path / "release", **UNATTACKED)
    private = tmp_path / "release.private.json"
    written = json.loads(private.read_text())
    beyond = packed_rows(np.arange(1000, 1036, dtype=np.int32))
    for rows in ({"records": beyond}, {"records": 7}, {"records": "?"}, [], None):
        private.write_text(json.dumps({**written, "source_rows": rows}))
        found = dc.audit(folder, original=described)
        assert found.unproved, rows
    other = packed_rows(np.arange(36, dtype=np.int32)[::-1])
    private.write_text(json.dumps({**written, "source_rows": {"records": other}}))
    assert not dc.audit(folder, original=described).ok


def test_a_guarantee_that_cannot_count_persons_is_not_claimed(tmp_path: Path):
    frame = pl.DataFrame(encounters(), schema=["id", "age", "sex", "disease"], orient="row")
    frame.write_csv(tmp_path / "encounters.csv")
    described = job("mondrian", [{"k-anonymity": {"k": 3}}]).model_copy(
        update={"source": dc.Source(path=tmp_path / "encounters.csv")}
    )
    folder = dc.publish(None, described).save(tmp_path / "release", **UNATTACKED)
    manifest = dc.Manifest.load(folder)
    claimed = manifest.promises[0].model_copy(
        update={"requirement": "sa-diversity", "parameters": {"l": {"disease": 1}}}
    )
    manifest.promises.append(claimed)
    (folder / "manifest.json").write_text(manifest.to_json())
    found = dc.audit(folder, original=described)
    assert found.promises[-1].unproved is not None
