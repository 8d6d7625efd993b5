"""Full-domain, codip and anatomy with several rows of a person, and two sensitive attributes."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.persons.naive_persons import REQUIREMENTS, Members, covers, holds, touched
from tests.saving import UNATTACKED

import discreet as dc

METHODS: dict[str, Any] = {
    "full-domain": {"full-domain": {}},
    "with suppression": {"full-domain": {"suppression": 0.3}},
    "codip": {"codip": {}},
    "codip by mondrian": {"codip": {"recoding": "mondrian"}},
    "mondrian": {"mondrian": {}},
}
MULTI: list[dict[str, Any]] = [
    {"multi-attribute-l-diversity": {"l": 2}},
    {"multi-attribute-l-diversity": {"inner": {"p-diversity": {"l": 1.2}}}},
    {"multi-attribute-l-diversity": {"inner": {"entropy-l-diversity": {"l": 1.2}}}},
]
NAMES = ["id", "age", "ward", "disease", "drug"]
VALUES = {"disease": ["flu", "hiv", "cold"], "drug": ["x", "y", "z"]}
Rows = list[tuple[str, str, str, str, str]]


def job(method: Any, requirements: list[dict[str, Any]], mode: dict[str, Any]) -> dc.Job:
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer",
                    "hierarchy": {"intervals": [10, 40, "*"]}},
            "ward": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
            "drug": {"role": "sensitive"},
        },
        person={"column": "id", "rows": "keep", **mode},
        requirements=requirements,
        method=method,
    )  # fmt: skip


def fits(cell: str, value: str) -> bool:
    if cell.startswith("[") and cell.endswith(")"):
        low, high = cell[1:-1].split(", ")
        return int(low) <= int(value) < int(high)
    return covers(cell, value)


def groups_of(
    release: dc.Release, table: str, source: Rows, whole: bool
) -> list[dict[str, list[dict[str, str]]]]:
    """The rows of the persons of each group of a table, by the publisher's knowledge."""
    frame = release.tables[table]
    rows = release.formed.source_rows()[table]  # type: ignore[attr-defined]
    groups: dict[Any, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    cells_of: dict[str, set[Any]] = defaultdict(set)
    for row, cells in zip(rows, frame.iter_rows(named=True), strict=True):
        own = dict(zip(NAMES, source[row], strict=True))
        assert fits(cells["age"], own["age"]) and fits(cells["ward"], own["ward"])
        values = {name: cells[name] for name in VALUES if name in cells}
        assert all(own[name] == value for name, value in values.items())
        groups[cells["age"], cells["ward"]][own["id"]].append(values)
        cells_of[own["id"]].add((cells["age"], cells["ward"]))
    if whole:
        assert all(len(cells) == 1 for cells in cells_of.values())
    return list(groups.values())


def check(
    requirement: dict[str, Any], groups: list[dict[str, list[dict[str, str]]]], name: str
) -> None:
    everyone = [[row[name] for row in own] for group in groups for own in group.values()]
    ((model, asked),) = requirement.items()
    for group in groups:
        if model != "multi-attribute-l-diversity":
            members = [[row[name] for row in own] for own in group.values()]
            assert holds(requirement, members, everyone), (requirement, members)
            continue
        inner = asked.get("inner", {"distinct-l-diversity": {"l": asked.get("l")}})
        others = [
            other for other in VALUES if other != name and other in next(iter(group.values()))[0]
        ]
        known: dict[Any, Members] = defaultdict(list)
        for own in group.values():
            for combination in {tuple(row[other] for other in others) for row in own}:
                known[combination].append([row[name] for row in own])
        for members in known.values():
            assert holds(inner, members, everyone), (requirement, members)


def person_rows(names: list[str], longest: int) -> st.SearchStrategy[Rows]:
    row = st.tuples(
        st.sampled_from(["20", "30", "31", "60"]),
        st.sampled_from(["f", "m"]),
        *(st.sampled_from(VALUES[name]) for name in names),
    )
    stays = st.lists(row, min_size=1, max_size=longest).map(
        lambda own: [(own[0][0], own[0][1], *one[2:]) for one in own]  # at one age and ward
    )
    moves = st.lists(row, min_size=1, max_size=longest)
    persons = st.lists(st.one_of(stays, stays, moves), min_size=1, max_size=12)
    return persons.map(
        lambda found: [(f"p{n}", *one) for n, own in enumerate(found) for one in own]
    )


@settings(deadline=None, max_examples=150)
@given(
    person_rows(["disease", "drug"], 40),
    st.sampled_from(sorted(METHODS)),
    st.sampled_from(["persons", "rows"]),
    st.lists(st.sampled_from([*REQUIREMENTS, *MULTI]), min_size=1, max_size=3),
)
def test_every_table_keeps_what_is_guaranteed_of_its_persons(
    rows: Rows, method: str, scope: str, requirements: list[dict[str, Any]]
):
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    try:
        release = dc.publish(frame, job(METHODS[method], requirements, {"scope": scope}))
    except (dc.InfeasibleError, dc.JobError):  # or a sensitive value that no row has
        return
    for table in release.tables:
        groups = groups_of(release, table, rows, scope == "persons")
        for requirement in requirements:
            for name in release.manifest.tables[table].columns:
                if name in VALUES:
                    check(requirement, groups, name)


@settings(deadline=None, max_examples=60)
@given(
    person_rows(["disease"], 20),
    st.lists(st.sampled_from(REQUIREMENTS), max_size=2),
    st.sampled_from([None, 1, 2]),
)
def test_counts_of_anatomy_are_persons(rows: Any, requirements: list[Any], ell: int | None):
    frame = pl.DataFrame(rows, schema=NAMES[:4], orient="row")
    described = job({"anatomy": {} if ell is None else {"l": ell}}, requirements, {}).model_copy(
        update={"attributes": {n: a for n, a in job("mondrian", [], {}).attributes.items()
                               if n != "drug"}}
    )  # fmt: skip
    try:
        release = dc.publish(frame, described)
    except dc.InfeasibleError:
        return
    people = release.tables["quasi_identifiers"]
    source = release.formed.source_rows()["quasi_identifiers"]  # type: ignore[attr-defined]
    groups: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    group_of: dict[str, set[int]] = defaultdict(set)
    for row, (age, ward, group) in zip(source, people.rows(), strict=True):
        person, own_age, own_ward, disease = rows[row]
        assert (str(age), ward) == (own_age, own_ward)
        groups[group][person].append(disease)
        group_of[person].add(group)
    assert all(len(own) == 1 for own in group_of.values())
    for group in groups.values():  # exact quasi-identifiers show how many rows a person has
        assert len({len(own) for own in group.values()}) == 1
    said = {(group, value): count for group, value, count in release.tables["sensitive"].rows()}
    assert said == {
        (number, value): count
        for number, group in groups.items()
        for value, count in touched(list(group.values())).items()
    }
    everyone = [own for group in groups.values() for own in group.values()]
    bound = release.manifest.method.l
    for group in groups.values():
        members = list(group.values())
        assert max(touched(members).values()) * bound <= len(members)
        for requirement in requirements:
            assert holds(requirement, members, everyone)


def encounters() -> Rows:
    return [
        (f"p{n % 30}", str(20 + n % 30), "fm"[n % 2], VALUES["disease"][(n * 7 + n // 30) % 3],
         VALUES["drug"][(n // 5) % 3])
        for n in range(90)
    ]  # fmt: skip


@pytest.mark.parametrize("method", [*sorted(METHODS), "anatomy"])
def test_the_publisher_proves_it_and_the_files_do_not(tmp_path: Path, method: str):
    frame = pl.DataFrame(encounters(), schema=NAMES, orient="row")
    described = job(METHODS.get(method, {"anatomy": {"l": 1}}), [{"k-anonymity": {"k": 3}}], {})
    if method == "anatomy":
        frame = frame.drop("drug")
        attributes = {n: a for n, a in described.attributes.items() if n != "drug"}
        described = described.model_copy(update={"attributes": attributes})
    frame.write_csv(tmp_path / "encounters.csv")
    described = described.model_copy(update={"source": dc.Source(path=tmp_path / "encounters.csv")})
    folder = dc.publish(None, described).save(tmp_path / "release", **UNATTACKED)
    alone = dc.audit(folder)
    assert alone.ok and len(alone.unproved) == len(alone.promises)
    proved = dc.audit(folder, original=described)
    assert proved.ok and not proved.unproved
    assert proved.promises[0].achieved["k"] >= 3


def nine_rows_of_one() -> pl.DataFrame:
    rows = [("ann", "30", "a1"), *(("bob", "40", f"b{n}") for n in range(1, 10))]
    rows += [("cid", "50", "c1"), ("dan", "60", "d1")]
    return pl.DataFrame(rows, schema=["id", "age", "disease"], orient="row")


def anatomy_of_rows() -> dc.Job:
    described = job({"anatomy": {"l": 2}}, [], {})
    attributes = {n: described.attributes[n] for n in ("id", "age", "disease")}
    return described.model_copy(update={"attributes": attributes})


def test_persons_with_different_numbers_of_rows_share_no_group_of_anatomy():
    """Nine of ten rows of a group would be one person's, and so would nine of ten values."""
    said = "the 1 persons with 9 rows do not meet the requirements among themselves"
    with pytest.raises(dc.InfeasibleError, match=said):
        dc.publish(nine_rows_of_one(), anatomy_of_rows())


def test_groups_of_different_numbers_of_rows_are_found_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A folder by a version that grouped them is no longer proved, nor called within."""
    monkeypatch.setattr(
        "discreet.methods.decomposition.anatomy.banded_groups",
        lambda task, persons, grouped, **_: (grouped(task, persons)[persons.number], 0),
    )
    monkeypatch.setattr("discreet.releases.audit.persons._by_number_of_rows", lambda own, _: own)
    nine_rows_of_one().write_csv(tmp_path / "encounters.csv")
    source = dc.Source(path=tmp_path / "encounters.csv")
    described = anatomy_of_rows().model_copy(update={"source": source})
    folder = dc.publish(None, described).save(tmp_path / "release", **UNATTACKED)
    monkeypatch.undo()
    assert not dc.audit(folder, original=described).ok
    report = dc.attack(folder, original=described, attacks=["homogeneity"])
    assert not report.ok
    assert {f.verdict for f in report.findings} == {"exceeds the guarantee"}


def test_a_forged_count_of_persons_is_found(tmp_path: Path):
    frame = pl.DataFrame(encounters(), schema=NAMES, orient="row").drop("drug")
    frame.write_csv(tmp_path / "encounters.csv")
    described = job({"anatomy": {"l": 1}}, [{"k-anonymity": {"k": 3}}], {})
    described = described.model_copy(
        update={
            "attributes": {n: a for n, a in described.attributes.items() if n != "drug"},
            "source": dc.Source(path=tmp_path / "encounters.csv"),
        }
    )
    folder = dc.publish(None, described).save(tmp_path / "release", **UNATTACKED)
    place = folder / "sensitive.csv"
    counts = pl.read_csv(place)
    lowered = counts["count"].to_list()
    lowered[lowered.index(max(lowered))] -= 1
    counts.with_columns(pl.Series("count", lowered)).write_csv(place)
    manifest = dc.Manifest.load(folder)
    from discreet.releases.manifest import sha256_of

    manifest.tables["sensitive"].sha256 = sha256_of(place)
    (folder / "manifest.json").write_text(manifest.to_json())
    found = dc.audit(folder, original=described)
    assert "without their own sensitive row" in " ".join(found.problems)


@pytest.mark.parametrize(
    ("method", "mode", "said"),
    [
        ("full-domain", {"link": "pseudonym"}, "full-domain cannot number persons"),
        ("codip", {"link": "pseudonym"}, "codip cannot number persons"),
        ("anatomy", {"link": "pseudonym"}, "anatomy cannot number persons"),
        ("anatomy", {"scope": "rows"}, "anatomy groups persons"),
        ("decomposition", {}, "decomposition cannot publish several rows of a person"),
        ({"gal": {"l": 2}}, {}, "gal cannot publish several rows of a person"),
        (
            {"li-ye": {"alpha_qi": 1, "alpha_sa": 1}},
            {},
            "li-ye cannot publish several rows of a person",
        ),
        ({"mmdcf": {"l": 2}}, {}, "mmdcf cannot publish several rows of a person"),
    ],
)
def test_a_method_that_cannot_is_refused_by_name(method: Any, mode: dict[str, Any], said: str):
    frame = pl.DataFrame(encounters(), schema=NAMES, orient="row")
    with pytest.raises(dc.JobError, match=rf"{said}.*rows: collapse"):
        dc.publish(frame, job(method, [{"k-anonymity": {"k": 2}}], mode))


def test_levels_at_which_rows_of_a_person_differ_are_not_published():
    rows: Any = [("a", "20", "f", "flu", "x"), ("a", "60", "f", "hiv", "y"),
                 ("b", "21", "f", "flu", "x"), ("c", "61", "f", "hiv", "y")]  # fmt: skip
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    closed = dc.publish(frame, job({"full-domain": {}}, [{"k-anonymity": {"k": 1}}], {}))
    assert closed.manifest.method.levels == {"age": 3, "ward": 0}  # a's ages agree at the top alone
    finer = job({"full-domain": {}}, [{"k-anonymity": {"k": 1}}], {"scope": "rows"})
    assert dc.publish(frame, finer).manifest.method.levels == {"age": 0, "ward": 0}
    given = job({"full-domain": {"levels": {"age": 1, "ward": 0}}}, [{"k-anonymity": {"k": 1}}], {})
    with pytest.raises(dc.InfeasibleError, match="rows of 1 persons are still in several"):
        dc.publish(frame, given)
    without = job({"full-domain": {"suppression": 0.4}}, [{"k-anonymity": {"k": 1}}], {})
    release = dc.publish(frame, without)  # one person of three may go, with both rows
    assert release.manifest.suppressed_rows == 2
    assert release.manifest.method.levels == {"age": 0, "ward": 0}


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_the_number_of_rows_makes_no_value_certain_in_tables_of_codip(data: st.DataObject):
    """No value is one that a person must have, by the number of rows, unless all rows tell it."""
    people = data.draw(st.lists(st.tuples(st.integers(1, 5), st.integers(20, 80)),
                                min_size=8, max_size=30))  # fmt: skip
    rows = [
        (f"p{number}", str(age), "abc"[number % 3], data.draw(st.sampled_from(["no", "no", "flu"])),
         data.draw(st.sampled_from(["no", "no", "no", "x"])))
        for number, (count, age) in enumerate(people)
        for _ in range(count)
    ]  # fmt: skip
    described = job("codip", [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 1.5}}], {})
    attributes = {
        name: one.model_copy(update={"sensitive_values": (value,)})
        for name, value in (("disease", "flu"), ("drug", "x"))
        for one in [described.attributes[name]]
    }
    described = described.model_copy(update={"attributes": {**described.attributes, **attributes}})
    frame = pl.DataFrame(rows, NAMES, orient="row")
    try:
        release = dc.publish(frame, described, seed=1)
    except (dc.InfeasibleError, dc.JobError):  # or a sensitive value that no row has
        return
    for table in release.tables:
        names = [name for name in VALUES if name in release.tables[table].columns]
        for name in names:
            secret = "flu" if name == "disease" else "x"
            without = sum(row[NAMES.index(name)] != secret for row in rows)
            for group in groups_of(release, table, rows, True):
                harmless = sum(one[name] != secret for own in group.values() for one in own)
                for own in group.values():
                    has = any(one[name] == secret for one in own)
                    assert not has or len(own) <= harmless or len(own) > without
