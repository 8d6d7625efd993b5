"""All rows of a person published in every mode: persons or rows in groups, numbered or not.

Everything is derived by loops from published cells, the numbers of persons where the files have
them, and the publisher's source rows where they have not.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.persons.naive_persons import REQUIREMENTS, Members, covers, holds, touched
from tests.saving import UNATTACKED

import discreet as dc
from discreet.releases.explanation import known_weaknesses

METHODS = ("mondrian", "local-recoding", "msa-diversity")
MODES: list[dict[str, Any]] = [
    {},
    {"scope": "rows"},
    {"link": "pseudonym"},
    {"link": "pseudonym", "at_most": 3},
]
NAMES = ["id", "age", "sex", "disease"]
Rows = list[tuple[str, str, str, str]]


def job(method: str, requirements: list[dict[str, Any]], mode: dict[str, Any]) -> dc.Job:
    needed = [] if method != "msa-diversity" else [{"p-diversity": {"l": 1.1}}]
    return dc.Job(
        attributes={
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "sex": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive"},
        },
        person={"column": "id", "rows": "keep", "disagreeing": 99, **mode},
        requirements=[*requirements, *needed],
        method={method: {}},
    )


def publish(rows: Rows, described: dc.Job) -> dc.Release:
    return dc.publish(pl.DataFrame(rows, schema=NAMES, orient="row"), described)


def groups_of(release: dc.Release, source: Rows, mode: dict[str, Any]) -> list[Members]:
    """The values of the persons of each group, as an attacker sees groups."""
    records = release.tables["records"]
    rows = release.formed.source_rows()["records"]  # type: ignore[attr-defined]
    person_of = [source[row][0] for row in rows]
    if "link" in mode:
        numbers = records["person"].to_list()
        assert len(set(zip(numbers, person_of, strict=True))) == len(set(numbers))
        assert len(set(numbers)) == len(set(person_of))
        assert set(numbers) == set(range(1, len(set(numbers)) + 1))
        person_of = numbers
    published: dict[Any, int] = defaultdict(int)
    for person in person_of:
        published[person] += 1
    groups: dict[Any, dict[Any, list[str]]] = defaultdict(lambda: defaultdict(list))
    cells_of: dict[Any, set[Any]] = defaultdict(set)
    cells = records.select("age", "sex", "disease").rows()
    for person, row, (age, sex, disease) in zip(person_of, rows, cells, strict=True):
        _, own_age, own_sex, own_disease = source[row]
        assert disease == own_disease
        assert covers(age, own_age) and covers(sex, own_sex)
        seen = (age, sex, published[person]) if "link" in mode else (age, sex)
        groups[seen][person].append(disease)
        cells_of[person].add((age, sex))
    if mode.get("scope") != "rows":
        assert all(len(own) == 1 for own in cells_of.values())
    assert max(published.values()) <= mode.get("at_most", len(source))
    return [list(group.values()) for group in groups.values()]


def person_rows(longest: int) -> st.SearchStrategy[Rows]:
    """Persons with 1 to so many rows."""
    row = st.tuples(
        st.sampled_from(["20", "30", "31", "60"]),
        st.sampled_from(["f", "m"]),
        st.sampled_from(["flu", "hiv", "cold", "gout"]),
    )
    persons = st.lists(st.lists(row, min_size=1, max_size=longest), min_size=1, max_size=12)
    return persons.map(
        lambda found: [(f"p{number}", *one) for number, own in enumerate(found) for one in own]
    )


@settings(deadline=None, max_examples=150)
@given(
    person_rows(40),
    st.sampled_from(METHODS),
    st.sampled_from(MODES),
    st.lists(st.sampled_from(REQUIREMENTS), max_size=3),
)
def test_every_group_keeps_what_is_guaranteed_of_its_persons(
    rows: Rows, method: str, mode: dict[str, Any], requirements: list[dict[str, Any]]
):
    try:
        release = publish(rows, job(method, requirements, mode))
    except dc.InfeasibleError:
        return
    groups = groups_of(release, rows, mode)
    # the reference weighs every person of a group as 1, so one of several groups more than once
    everyone = [own for group in groups for own in group]
    for group in groups:
        for requirement in requirements:
            assert holds(requirement, group, everyone), (requirement, group)


def hospital(people: int, seed: int = 5) -> Rows:
    """Encounters in the order of their dates: 1 to 40 rows a person, most have few."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        number = int(min(40, np.ceil(rng.pareto(1.4) + 1e-9) if rng.random() < 0.4 else 1))
        age, sex = int(rng.integers(18, 90)), "fm"[rng.integers(2)]
        for visit in range(max(number, 1)):
            when = rng.random()
            rows.append((when, (f"p{person}", str(age + visit // 8), sex,
                                "abcdefghij"[rng.integers(10)])))  # fmt: skip
    return [row for _, row in sorted(rows)]


@pytest.mark.parametrize("mode", MODES)
def test_no_group_of_a_hospital_is_below_k_persons(tmp_path: Path, mode: dict[str, Any]):
    rows = hospital(3000)
    counts = np.unique([row[0] for row in rows], return_counts=True)[1]
    assert len(counts) == 3000 and counts.max() == 40 and np.median(counts) == 1
    pl.DataFrame(rows, schema=NAMES, orient="row").write_csv(tmp_path / "encounters.csv")
    asked = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3}}]
    described = job("mondrian", asked, mode).model_copy(
        update={"source": dc.Source(path=tmp_path / "encounters.csv")}
    )
    release = dc.publish(None, described)
    groups = groups_of(release, rows, mode)
    assert min(len(group) for group in groups) >= 5
    assert len(groups) > 100
    if "link" not in mode:
        assert release.manifest.suppressed_rows == 0
    folder = release.save(tmp_path / "release", **UNATTACKED)
    alone, proved = dc.audit(folder), dc.audit(folder, original=described)
    assert alone.ok and proved.ok and not proved.unproved
    assert bool(alone.unproved) is ("link" not in mode)
    found = proved.promises[0].achieved["k"]
    assert found == min(len(group) for group in groups)
    words = " ".join(release.explanation)
    assert f"{len(rows):,} rows of 3,000 persons" in words
    said = " ".join(known_weaknesses(release.manifest))
    assert ("(person-intersection)" in said) is (mode.get("scope") == "rows")


@settings(deadline=None, max_examples=25)
@given(person_rows(3), st.sampled_from(["mondrian", "local-recoding"]))
def test_an_attacker_who_sees_persons_and_their_rows_believes_the_share_of_persons(
    rows: Rows, method: str
):
    """All assignments of persons to published numbers that the files allow, equally likely.

    The attacker knows all rows of every person, and that rows beyond the published number were
    suppressed; whom they cannot tell apart have equal cells and equally many rows.
    """
    rows = [row for row in rows if int(row[0][1:]) < 6]
    mode = {"link": "pseudonym"}
    try:
        release = publish(rows, job(method, [{"k-anonymity": {"k": 2}}], mode))
    except dc.InfeasibleError:
        return
    numbers: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
    for number, *cells in (
        release.tables["records"].select("person", "age", "sex", "disease").rows()
    ):
        numbers[number].append(tuple(cells))  # type: ignore[arg-type]
    people: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for person, *own in rows:
        people[person].append(tuple(own))
    fits = {
        person: [
            number
            for number, shown in numbers.items()
            if len(shown)
            <= sum(covers(shown[0][0], age) and covers(shown[0][1], sex) for age, sex, _ in own)
        ]
        for person, own in people.items()
    }
    worlds = [
        dict(zip(people, chosen, strict=True))
        for chosen in itertools.permutations(numbers, len(people))
        if all(number in fits[person] for person, number in zip(people, chosen, strict=True))
    ]
    assert worlds  # the true one is among them
    group_of = {number: (*shown[0][:2], len(shown)) for number, shown in numbers.items()}
    groups: dict[Any, Members] = defaultdict(list)
    for number, shown in numbers.items():
        groups[group_of[number]].append([value for _, _, value in shown])
    worst = {
        value: max(Fraction(touched(g)[value], len(g)) for g in groups.values())
        for value in ("flu", "hiv", "cold", "gout")
    }
    for person, value in itertools.product(people, worst):
        having = sum(any(value == shown[2] for shown in numbers[w[person]]) for w in worlds)
        assert Fraction(having, len(worlds)) <= worst[value]
        sole = {group_of[number] for number in fits[person]}
        if len(sole) == 1:  # the group is certain: exactly the share of its persons
            own = groups[sole.pop()]
            assert Fraction(having, len(worlds)) == Fraction(touched(own)[value], len(own))


def test_without_links_the_mean_belief_is_the_mean_share_of_persons():
    """All ways to give the rows of one group to its persons, each of whom has some row."""
    values, people = ["x", "x", "y", "z"], ["a", "b", "c"]
    worlds = [
        world
        for world in itertools.product(people, repeat=len(values))
        if set(world) == set(people)
    ]
    for value in set(values):
        beliefs = [
            Fraction(sum((p, value) in zip(w, values, strict=True) for w in worlds), len(worlds))
            for p in people
        ]
        shares = [
            Fraction(len({p for p, v in zip(w, values, strict=True) if v == value}), len(people))
            for w in worlds
        ]
        assert beliefs == [sum(shares) / len(shares)] * len(people)


def test_groups_of_rows_that_pass_may_fail_together():
    apart = [[["v"], ["w"]], [["w"], ["v"]]]  # a and b, a and d: a has v in the first group only
    merged = [["v", "w"], ["w"], ["v"]]
    bound = {"p-diversity": {"l": 2}}
    everyone = [own for group in apart for own in group]
    assert all(holds(bound, group, everyone) for group in apart)
    assert not holds(bound, merged, everyone)


def saved(tmp_path: Path, mode: dict[str, Any]) -> tuple[Path, dc.Job]:
    pl.DataFrame(hospital(200), schema=NAMES, orient="row").write_csv(tmp_path / "source.csv")
    described = job("mondrian", [{"k-anonymity": {"k": 3}}], mode).model_copy(
        update={"source": dc.Source(path=tmp_path / "source.csv")}
    )
    return dc.publish(None, described, seed=3).save(tmp_path / "release", **UNATTACKED), described


def forge(folder: Path, change: Any) -> None:
    """Change the published rows, and the hash of the file in the manifest."""
    records = pl.read_csv(folder / "records.csv", infer_schema=False)
    change(records).write_csv(folder / "records.csv")
    manifest = dc.Manifest.load(folder)
    from discreet.releases.manifest import sha256_of

    manifest.tables["records"].sha256 = sha256_of(folder / "records.csv")
    (folder / "manifest.json").write_text(manifest.to_json())


def test_forged_numbers_of_persons_are_found(tmp_path: Path):
    folder, described = saved(tmp_path, {"link": "pseudonym"})
    honest = (folder / "records.csv").read_bytes()
    said = (folder / "manifest.json").read_bytes()

    def found(change: Any, original: dc.Job | None = None) -> str:
        (folder / "records.csv").write_bytes(honest)
        (folder / "manifest.json").write_bytes(said)
        forge(folder, change)
        audit = dc.audit(folder, original=original)
        assert not audit.ok
        return " ".join(audit.problems)

    def each_row_a_person(records: pl.DataFrame) -> pl.DataFrame:
        return records.with_columns(
            pl.Series("person", [str(n) for n in range(1, len(records) + 1)])
        )

    found(each_row_a_person)  # the stated k is another
    assert "numbers more persons" in found(each_row_a_person, described)
    shifted = pl.col("person").cast(pl.Int64) + 7
    assert "not numbered from 1" in found(
        lambda records: records.with_columns(shifted.cast(pl.String))
    )
    rolled = found(
        lambda records: records.with_columns(
            pl.Series("person", np.roll(records["person"].to_numpy(), 1))
        ),
        described,
    )
    assert "several groups" in rolled and "not one for each person" in rolled
    manifest = json.loads(said)
    manifest["person"]["link"] = "none"
    (folder / "records.csv").write_bytes(honest)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
    assert "numbers persons" in " ".join(dc.audit(folder).problems)


def test_numbers_in_the_order_of_the_original_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class InOrder:
        """Numbers persons as they come."""

        def permutation(self, count: int) -> Any:
            return np.arange(count)

    from discreet.releases.kinds import generalized as kind

    numbered = kind.numbered_persons
    monkeypatch.setattr(
        kind, "numbered_persons", lambda table, persons, rng: numbered(table, persons, InOrder())
    )
    with pytest.raises(dc.AuditError, match="related to the order of the original"):
        saved(tmp_path, {"link": "pseudonym"})


def test_the_numbers_are_new_in_every_release(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("DISCREET_INSECURE_FIXED_ORDER")
    rows = hospital(100)
    described = job("mondrian", [{"k-anonymity": {"k": 3}}], {"link": "pseudonym"})

    def numbers() -> dict[Any, Any]:
        release = dc.publish(pl.DataFrame(rows, schema=NAMES, orient="row"), described, seed=1)
        source = release.formed.source_rows()["records"]  # type: ignore[attr-defined]
        number = release.tables["records"]["person"].to_list()
        return {rows[row][0]: n for row, n in zip(source, number, strict=True)}

    first, second = numbers(), numbers()
    assert first.keys() == second.keys() and first != second  # the seed does not fix them


@pytest.mark.parametrize(
    ("person", "said"),
    [
        ({"rows": "collapse", "scope": "rows"}, "are for 'rows: keep'"),
        ({"link": "pseudonym"}, "are for 'rows: keep'"),
        ({"rows": "keep", "scope": "rows", "link": "pseudonym"}, "which groups the rows"),
        ({"rows": "keep", "at_most": 2}, "'at_most' is for 'link: pseudonym'"),
        ({"rows": "keep", "link": "pseudonym", "at_most": 0}, "greater than or equal to 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(person: dict[str, Any], said: str):
    with pytest.raises((dc.JobError, ValueError), match=said):
        dc.Job(
            attributes={"id": {"role": "identifier"}, "s": {"role": "sensitive"}},
            person={"column": "id", **person},
        )


def test_a_column_called_person_is_in_the_way_of_the_numbers():
    frame = pl.DataFrame({"id": ["a", "a", "b"], "person": ["x", "y", "x"]})
    described = dc.Job(
        attributes={"id": {"role": "identifier"}, "person": {"role": "sensitive"}},
        person={"column": "id", "rows": "keep", "link": "pseudonym"},
        method="mondrian",
    )
    with pytest.raises(dc.InputError, match="Rename the table's column"):
        dc.publish(frame, described)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["mondrian", "local-recoding"])
def test_composite_keys_missing_identifiers_and_sets(
    tmp_path: Path, method: str, mode: dict[str, Any]
):
    rng = np.random.default_rng(3)
    rows = 200
    frame = pl.DataFrame(
        {
            "hospital": rng.choice(["x", "y"], rows),
            "id": [None if n % 19 == 0 else str(n % 30) for n in range(rows)],
            "age": rng.integers(20, 60, rows),
            "drugs": ["|".join(sorted(set(rng.choice(list("abc"), 2)))) for _ in range(rows)],
            "note": rng.choice(["u", "v"], rows),
        }
    )
    frame.write_csv(tmp_path / "rows.csv")
    described = dc.Job(
        source={"path": str(tmp_path / "rows.csv")},
        attributes={
            "hospital": {"role": "identifier"},
            "id": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "drugs": {"role": "sensitive", "multi_valued": "|"},
            "note": {"role": "insensitive"},
        },
        person={"column": ["hospital", "id"], "rows": "keep", **mode},
        requirements=[{"k-anonymity": {"k": 3}}, {"t-closeness": {"t": 0.7}}],
        method=method,
    )
    release = dc.publish(None, described)
    known = set(frame.drop_nulls("id").select("hospital", "id").rows())
    unnamed = frame["id"].null_count()
    assert release.private["persons"]["persons"] == len(known) + unnamed
    folder = release.save(tmp_path / "release", format="parquet", **UNATTACKED)
    proved = dc.audit(folder, original=described)
    assert proved.ok and not proved.unproved
    assert bool(dc.audit(folder).unproved) is ("link" not in mode)
