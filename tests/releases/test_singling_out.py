"""Singling out: who is unique by published cells, against a count of every pair of rows."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import REASON, UNATTACKED

import discreet as dc
from discreet.job.attackers import JobAttackers
from discreet.job.parts import SignOff
from discreet.releases import singling_out as module
from discreet.releases.audit.audit import audit_folder
from discreet.releases.manifest import Manifest, SinglingOut
from discreet.releases.singling_out import (
    People,
    UniqueCounts,
    count_unique,
    singling_out,
    singling_sentences,
    unique_alone,
    unique_by,
)
from discreet.report.risk_verdict import LOOK, READY, REFUSE, Review, risk_verdict
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, Unit, ValueType


def coded(rows: list[tuple[int, ...]], quasi: int) -> CodedTable:
    columns = {}
    for place, codes in enumerate(zip(*rows, strict=True)):
        role = Role.QUASI_IDENTIFIER if place < quasi else Role.INSENSITIVE
        text = pl.Series([str(value) for value in range(max(codes) + 1)])
        own = np.array(codes, np.int32)
        columns[f"c{place}"] = Column(f"c{place}", role, ValueType.TEXT, own, text, text)
    return CodedTable(columns, len(rows))


def brute_force(keys: list[tuple[int, ...]], person: list[int], *, linked: bool) -> int:
    """The persons whom a key tells apart, by comparing each with every other person."""
    keys_of: dict[int, list[tuple[int, ...]]] = {}
    for key, number in zip(keys, person, strict=True):
        keys_of.setdefault(number, []).append(key)
    unique = 0
    for number, own in keys_of.items():
        others = [theirs for other, theirs in keys_of.items() if other != number]
        if linked:
            unique += all(sorted(own) != sorted(theirs) for theirs in others)
        else:
            unique += any(all(key not in theirs for theirs in others) for key in own)
    return unique


TABLES = st.integers(1, 12).flatmap(
    lambda rows: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 4), min_size=rows, max_size=rows),
    )
)


@pytest.mark.parametrize("people", ["rows", "known", "linked"])
@given(table=TABLES)
@settings(max_examples=150, deadline=None)
def test_counts_equal_those_of_a_comparison_of_all_persons(people, table):
    rows, number = table
    quasi, free = 2, [2, 3, 4]
    person = list(range(len(rows))) if people == "rows" else number
    basis = People(Unit.ROW)
    if people != "rows":
        found, of_row = np.unique(number, return_inverse=True)
        basis = People(Unit.PERSON, of_row.astype(np.int64), len(found), people == "linked")

    def expected(columns) -> int:
        keys = [tuple(row[c] for c in (0, 1, *columns)) for row in rows]
        return brute_force(keys, person, linked=people == "linked")

    counts = count_unique(coded(rows, quasi), basis, exact=True, total=0)
    assert counts.counted == len(set(person))
    assert counts.none == expected([])
    assert counts.single == {f"c{c}": expected([c]) for c in free}
    assert counts.pairs == {
        (f"c{a}", f"c{b}"): expected([a, b]) for a, b in combinations(free, 2)
    }  # fmt: skip
    assert counts.every == expected(free)
    alone = brute_force([(row[2],) for row in rows], person, linked=people == "linked")
    assert unique_alone(coded(rows, quasi), basis, "c2") == alone


@given(table=TABLES)
@settings(max_examples=50, deadline=None)
def test_counted_entries_and_parts_give_the_same_counts(table):
    rows, _ = table
    whole = count_unique(coded(rows, 1), People(Unit.ROW), exact=True, total=0)
    distinct = sorted(set(rows))
    weights = np.array([rows.count(row) for row in distinct], np.int64)
    counted = count_unique(
        coded(distinct, 1).counted(weights), People(Unit.ROW), exact=True, total=0
    )
    assert counted == whole
    parts = UniqueCounts()
    for cell in sorted({row[0] for row in rows}):
        own = coded([row for row in rows if row[0] == cell], 1)
        parts += count_unique(own, People(Unit.ROW), exact=True, total=len(rows))
    assert parts == whole


def wide_table(rows: int = 400, columns: int = 12, classes: int = 40) -> CodedTable:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, classes, (rows, 1))
    free = rng.integers(0, rng.integers(2, 6, columns), (rows, columns))
    return coded([tuple(map(int, row)) for row in np.hstack([cells, free])], 1)


@pytest.mark.parametrize("classes", [40, 1])  # a class of all rows is thinned
def test_pairs_that_are_too_many_are_estimated_within_their_interval(monkeypatch, classes):
    table = wide_table(classes=classes)
    exact = count_unique(table, People(Unit.ROW), exact=True)
    monkeypatch.setattr(module, "PAIR_CELLS", 66 * 200)
    drawn = count_unique(table, People(Unit.ROW), exact=False)
    assert drawn.drawn == module.SAMPLE and drawn.single == exact.single
    recounted = {pair: unique_by(table, People(Unit.ROW), pair) for pair in drawn.candidates()}
    assert all(recounted[pair] == exact.pairs[pair] for pair in recounted)
    found = module.summarize(drawn, recounted, 0, manifest(), "records", Unit.ROW)
    most = max(exact.pairs.values())
    assert found.unique["2"] <= most <= (found.at_most or 0) <= found.unique["all"]
    if classes > 1:
        assert (found.at_most or 0) - most < 0.1 * table.rows
    assert found.share("2") == (found.at_most or 0) / table.rows
    assert any("drawn at random" in line for line in singling_sentences(found))


def staff(rows: int = 240, seed: int = 5) -> pl.DataFrame:
    """A table of staff like the one of many tutorials: one rate is different for nearly all."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "income": rng.integers(1000, 9000, rows),
            "rate": rng.permutation(rows * 20)[:rows] // 2,
            "team": rng.choice(["a", "b", "c"], rows),
            "travel": rng.choice(["rarely", "often"], rows),
        }
    )


def job_of(method: object = "mondrian", **changes: object) -> dc.Job:
    roles: dict[str, dict[str, object]] = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "sex": {"role": "quasi-identifier"},
        "income": {"role": "sensitive", "type": "integer"},
        "rate": {"role": "unchanged", "type": "integer", "allow_identifying": True},
        "team": {"role": "unchanged"},
        "travel": {"role": "unchanged"},
    }
    for name, role in changes.items():
        roles[name] = {"role": role, "allow_identifying": role in ("unchanged", "weight")}
    requirements = [{"k-anonymity": {"k": 10}}] if method == "mondrian" else []
    return dc.Job.model_validate(
        {"attributes": roles, "requirements": requirements, "method": method}
    )


def manifest() -> Manifest:
    return dc.publish(staff(40), job_of()).manifest


def test_unchanged_is_a_word_for_insensitive():
    assert job_of().attributes["rate"].role is Role.INSENSITIVE


def test_one_unchanged_column_that_differs_for_nearly_all_refuses_a_release(tmp_path):
    table = staff()
    release = dc.publish(table, job_of())
    found = release.manifest.singling_out
    alone = table["rate"].is_unique().sum()
    assert alone > 200
    assert found.unique["0"] == 0 and found.unique["1"] >= alone and found.alone == alone
    assert found.columns["1"] == ["rate"] and found.unique["all"] == table.height
    first = singling_sentences(found)[0]
    assert first.id == "singling.columns"
    assert first.parameters["count"] == 3 and first.parameters["column"] == "rate"
    assert first.parameters["share"].parameters["value"] == pytest.approx(
        100 * alone / table.height
    )
    verdict = release.verdict()  # without any attack
    assert verdict.word == REFUSE
    (figure,) = verdict.figures
    assert figure.key == "singled_out" and figure.value == found.share("2")
    folder = release.save(tmp_path / "release", attack=5, accept_risk=REASON)
    assert release.verdict().word == REFUSE
    written = json.loads((folder / "manifest.json").read_text())["singling_out"]
    assert written["unique"] == {"0": 0, **{n: found.unique[n] for n in ("1", "2", "all")}}
    for page in (folder / "report.html", tmp_path / "release.private.html"):
        text = page.read_text()
        assert "by one of them, rate" in text
    private = (tmp_path / "release.private.html").read_text()
    assert private.index("by one of them, rate") < private.index("Signature")
    assert release.review.attacks.to_dict()["singling_out"] == written


def test_without_unchanged_columns_nobody_is_singled_out():
    changes = {"rate": "drop", "team": "drop", "travel": "drop"}
    found = dc.publish(staff(), job_of(**changes)).manifest.singling_out
    assert found.unique == {"0": 0, "1": 0, "2": 0, "all": 0}
    assert found.singled_out("2") == 0
    (sentence,) = singling_sentences(found)
    assert sentence.id == "singling.none"
    assert sentence.parameters["share"].parameters["value"] == 0


FEW = SinglingOut(
    table="records", unit=Unit.ROW, counted=100, unchanged=3, exact_cells=False,
    unique={"0": 0, "1": 1, "2": 5, "all": 6}, columns={"1": ["rate"]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("attackers", "value", "word"),
    [("internal", 0, READY), ("research", 0.05, LOOK), ("public", 0.06, REFUSE),
     (["insider"], 0, READY), (["colleague"], 0.05, LOOK), ({"press": ["age"]}, 0.05, LOOK)],
)  # fmt: skip
def test_the_figure_is_about_what_the_chosen_attackers_know(attackers, value, word):
    stated = manifest().model_copy(update={"singling_out": FEW})
    chosen = JobAttackers.model_validate(attackers)
    found = risk_verdict(stated, Review(), chosen, SignOff(), {})
    (figure,) = found.figures
    assert (figure.key, figure.value, figure.word) == ("singled_out", value, word)
    assert (found.word == REFUSE) == (word == REFUSE)


def test_a_sampling_weight_is_an_unchanged_column():
    table = staff().with_columns(weight=pl.col("rate") + 1)
    job = job_of(rate="drop", team="drop", travel="drop", weight="weight")
    found = dc.publish(table, job).manifest.singling_out
    assert found.unchanged == 1 and found.columns["1"] == ["weight"] and found.share("1") > 0.9


@pytest.mark.parametrize(
    "stated", [{"unique": {"0": 0, "1": 0, "2": 0, "all": 0}}, {"counted": 9}, None]
)
def test_an_audit_derives_the_figure_again(tmp_path, stated):
    folder = dc.publish(staff(), job_of()).save(tmp_path / "release", report=False, **UNATTACKED)
    assert audit_folder(folder).ok
    place = folder / "manifest.json"
    written = json.loads(place.read_text())
    if stated is None:
        del written["singling_out"]
    else:
        written["singling_out"] |= stated
    place.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n")
    problems = audit_folder(folder).problems
    assert any("singling_out" in problem for problem in problems)


def test_an_audit_accepts_another_sample_and_no_false_count(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAIR_CELLS", 0)
    job = job_of(rate="drop")
    table = staff().with_columns(pl.Series("rate", np.arange(240) % 7))
    job = dc.Job.model_validate(
        job.model_dump(mode="json", exclude_none=True)
        | {"attributes": {**job.model_dump(mode="json", exclude_none=True)["attributes"],
                          "rate": {"role": "insensitive"}}}
    )  # fmt: skip
    folder = dc.publish(table, job).save(tmp_path / "release", report=False, **UNATTACKED)
    stated = json.loads((folder / "manifest.json").read_text())["singling_out"]
    assert stated["drawn"] == module.SAMPLE and stated["unique"]["2"] <= stated["at_most"]
    monkeypatch.setattr(module, "SEED", 7)
    assert audit_folder(folder).ok
    place = folder / "manifest.json"
    forged = json.loads(place.read_text())
    forged["singling_out"]["unique"]["2"] -= 1
    place.write_text(json.dumps(forged, ensure_ascii=False, indent=1) + "\n")
    assert any("singling_out" in problem for problem in audit_folder(folder).problems)


def test_exact_quasi_identifiers_count_whom_unchanged_columns_add():
    table = staff().with_columns(age=pl.col("age") // 20 * 20, income=pl.col("income") % 7)
    release = dc.publish(table, job_of({"anatomy": {"l": 2}}))
    found = release.manifest.singling_out
    alone = table.group_by("age", "sex").len().filter(pl.col("len") == 1).height
    assert found.exact_cells and found.unique["0"] == alone
    assert found.singled_out("all") == (found.unique["all"] - alone) / table.height
    groups = release.coded_tables()["quasi_identifiers"]
    frame = pl.DataFrame({c.name: c.codes for c in groups})
    for known, columns in (
        ("0", ["age", "sex"]),
        ("all", ["age", "sex", "rate", "team", "travel"]),
    ):
        sole = pl.col("group").n_unique().over(columns) == 1
        assert found.group_known[known] == frame.filter(sole).height
    assert [said.id for said in singling_sentences(found)][-2:] == [
        "singling.exact", "singling.groups",
    ]  # fmt: skip


def test_persons_with_several_rows_are_counted_by_who_they_are(tmp_path):
    rng = np.random.default_rng(2)
    visits = pl.DataFrame(
        {
            "id": [f"p{n // 2}" for n in range(120)],
            "age": np.repeat(rng.integers(20, 40, 60), 2),
            "sex": np.repeat(rng.choice(["f", "m"], 60), 2),
            "income": rng.integers(1, 9, 120),
            "rate": np.repeat(np.arange(60), 2),  # the same in both rows of a person
        }
    )
    job = dc.Job.model_validate(
        {
            "attributes": {
                "id": {"role": "identifier"},
                "age": {"role": "quasi-identifier", "type": "integer"},
                "sex": {"role": "quasi-identifier"},
                "income": {"role": "sensitive"},
                "rate": {"role": "unchanged", "allow_identifying": True},
            },
            "person": {"column": "id", "rows": "keep"},
            "requirements": [{"k-anonymity": {"k": 5}}],
            "method": "mondrian",
        }
    )
    release = dc.publish(visits, job)
    of_files, of_persons = release.audit.singling_out, release.audit.persons_singled_out
    assert of_files.unit is Unit.ROW and of_files.unique["1"] == 0  # two rows look alike
    assert of_persons.unit is Unit.PERSON and of_persons.unique["1"] == 60
    assert of_persons.counted == 60
    assert release.verdict().word == REFUSE
    folder = release.save(tmp_path / "release", **UNATTACKED)
    assert audit_folder(folder).singling_out == release.manifest.singling_out == of_files


def test_the_worst_of_several_tables_is_stated():
    release = dc.publish(
        staff(),
        dc.Job.model_validate(
            {
                "attributes": {
                    "age": {"role": "quasi-identifier", "type": "integer"},
                    "sex": {"role": "quasi-identifier"},
                    "income": {"role": "sensitive"},
                    "team": {"role": "sensitive"},
                    "rate": {"role": "unchanged", "allow_identifying": True},
                    "travel": {"role": "drop"},
                },
                "requirements": [{"k-anonymity": {"k": 5}}],
                "method": {"codip": {"recoding": "mondrian", "beta": 0.1}},
            }
        ),
    )
    found = singling_out(release.coded_tables(), release.manifest)
    assert found == release.manifest.singling_out
    carrying = [n for n, one in release.manifest.tables.items() if "rate" in one.columns]
    assert [found.table] == carrying and found.columns["1"] == ["rate"]
