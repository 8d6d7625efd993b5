"""One row for each person: rules, sets, refusals, and what the release and its audit say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.prepare import prepare

ENCOUNTERS = {
    "patient": ["a", "a", "b", "c", "c", "c", "d", None, None, "e"],
    "day": ["2020-01-03", "2020-01-01", *["2020-01-02"] * 8],
    "age": ["30", "31", "40", "50", "50", "51", "60", "35", "45", "55"],
    "sex": ["f", "f", "m", "f", "f", "f", "m", "f", "m", "m"],
    "cost": ["1.5", "2", "3", "4", "0.1", "0.2", "7", "8", "9", "1"],
    "diagnosis": ["flu", "hiv", "flu", "cold", "flu", "flu", None, "hiv", "cold", "flu"],
}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "patient": {"role": "identifier"},
    "day": {"role": "drop", "type": "date"},
    "age": {"role": "quasi-identifier", "type": "integer", "collapse": "last"},
    "sex": {"role": "quasi-identifier"},
    "cost": {"role": "insensitive", "type": "number", "collapse": "sum", "allow_identifying": True},
    "diagnosis": {"role": "sensitive"},
}
PERSON = {"column": "patient", "rows": "collapse", "order": "day"}


def job(person: Any = PERSON, **changed: dict[str, Any]) -> dc.Job:
    attributes = {name: {**ATTRIBUTES.get(name, {}), **changed.get(name, {})}
                  for name in {**ATTRIBUTES, **changed}}  # fmt: skip
    return dc.Job(
        attributes=attributes,
        person=person,
        requirements=[{"k-anonymity": {"k": 2}}],
        method={"mondrian": {}},
    )


def collapsed(job: dc.Job, rows: Any = ENCOUNTERS) -> dict[str, list[str | None]]:
    table = prepare(job, pl.DataFrame(rows)).table
    return {column.name: column.text.gather(pl.Series(column.codes)).to_list() for column in table}


def test_each_person_has_one_row_by_the_rules_of_the_columns():
    found = collapsed(job({**PERSON, "rows": {"count": "visits"}}, visits={"role": "insensitive"}))
    assert found == {
        "age": ["30", "40", "51", "60", "35", "45", "55"],
        "sex": ["f", "m", "f", "m", "f", "m", "m"],
        "cost": ["3.5", "3", "4.3", "7", "8", "9", "1"],
        "diagnosis=cold": ["0", "0", "1", None, "0", "1", "0"],
        "diagnosis=flu": ["1", "1", "1", None, "0", "0", "1"],
        "diagnosis=hiv": ["1", "0", "0", None, "1", "0", "0"],
        "visits": ["2", "1", "3", "1", "1", "1", "1"],
    }


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("first", ["31", "40", "50", "60", "35", "45", "55"]),
        ("most-frequent", ["30", "40", "50", "60", "35", "45", "55"]),
        ("min", ["30", "40", "50", "60", "35", "45", "55"]),
        ("max", ["31", "40", "51", "60", "35", "45", "55"]),
        ("sum", ["61", "40", "151", "60", "35", "45", "55"]),
        ("mean", ["30.5", "40", "50.3333333333", "60", "35", "45", "55"]),
        ("count", ["2", "1", "3", "1", "1", "1", "1"]),
    ],
)
def test_every_rule(rule: str, expected: list[str]):
    assert collapsed(job(age={"collapse": rule}))["age"] == expected


def test_rules_pass_over_missing_values_where_there_is_another():
    rows = {**ENCOUNTERS, "age": [None, "31", None, "50", None, "51", *["60"] * 4]}
    for rule, first in {"most-frequent": "31", "min": "31", "max": "31", "sum": "31"}.items():
        found = collapsed(job(age={"collapse": rule}), rows)["age"]
        assert found[:2] == [first, None]


def test_several_columns_name_a_person_together():
    rows = {**ENCOUNTERS, "site": ["1", "2", "1", "1", "1", "1", "1", "1", "1", "1"]}
    person = {**PERSON, "column": ["site", "patient"]}
    found = collapsed(job(person, site={"role": "identifier"}), rows)
    assert len(found["age"]) == 8


def test_the_rows_of_unnamed_persons_stay_apart():
    task = prepare(job(), pl.DataFrame(ENCOUNTERS))
    assert task.basis.one_row_each is not None
    counts = task.basis.one_row_each.counts
    assert (counts.rows, counts.persons, counts.most, counts.unnamed) == (10, 7, 3, 2)


def test_one_row_each_is_refused_where_some_have_more():
    attributes = {"age": {"collapse": None}, "cost": {"collapse": None}}
    with pytest.raises(dc.InputError) as error:
        prepare(job("patient", **attributes), pl.DataFrame(ENCOUNTERS))
    said = str(error.value)
    assert "10 rows of 7 persons by 'patient'; one person has 3 rows." in said
    assert "2 rows have no identifier" in said
    assert "rows: collapse" in said and "unit: rows" in said


def test_one_row_each_is_accepted_and_said():
    attributes = {"age": {"collapse": None}, "cost": {"collapse": None}}
    rows = pl.DataFrame(ENCOUNTERS)[[0, 2, 3, 6, 9]]
    release = dc.publish(rows, job("patient", **attributes))
    assert release.manifest.person is not None
    assert release.manifest.person.rows == "one"
    assert "Each row is one person." in str(release)


def test_columns_that_vary_need_a_rule():
    with pytest.raises(dc.JobError) as error:
        collapsed(job(age={"collapse": None}, cost={"collapse": None}))
    assert "attributes.age: 2 of 7 persons have rows with different values" in str(error.value)
    assert "attributes.cost: 2 of 7 persons" in str(error.value)


@pytest.mark.parametrize(
    ("person", "changed", "said"),
    [
        ("age", {}, "person: 'age' is not an identifier"),
        ({**PERSON, "order": "hour"}, {}, "person.order: there is no attribute 'hour'"),
        ({**PERSON, "order": None}, {}, "needs the order of a person's rows"),
        ({**PERSON, "count": "visits"}, {}, "'visits' needs a role"),
        ({"column": "patient", "order": "day"}, {}, "'order' and 'count' are for 'rows: collapse'"),
        (None, {}, "'collapse' needs 'person: {column: …, rows: collapse}'"),
        (PERSON, {"day": {"collapse": "first"}}, "role 'drop' is not published"),
        (PERSON, {"sex": {"collapse": "set"}}, "'collapse: set' is for sensitive"),
        (PERSON, {"diagnosis": {"distance": "equal"}}, "neither a hierarchy nor a distance"),
        (
            PERSON,
            {"diagnosis": {"multi_valued": ";", "collapse": "max"}},
            "sets cannot be collapsed by 'max'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(person: Any, changed: dict[str, Any], said: str):
    with pytest.raises(dc.JobError) as error:
        job(person, **changed)
    assert said in str(error.value)


def test_a_rule_that_does_not_fit_the_values_is_refused():
    with pytest.raises(dc.JobError, match="'collapse: sum' needs numbers"):
        collapsed(job(sex={"collapse": "sum"}))
    with pytest.raises(dc.JobError, match="'collapse: max' needs numbers or dates"):
        collapsed(job(sex={"collapse": "max"}))


def test_sets_of_cells_that_are_sets_are_joined():
    rows = {**ENCOUNTERS, "diagnosis": ["a;b", "b;c", "a", "", "", None, None, "a", "b", "c"]}
    found = collapsed(job(diagnosis={"multi_valued": ";"}), rows)
    assert found["diagnosis=b"] == ["1", "0", "0", None, "0", "1", "0"]
    assert found["diagnosis=c"] == ["1", "0", "0", None, "0", "0", "1"]


def test_a_separator_that_no_value_contains_is_chosen():
    rows = {**ENCOUNTERS, "diagnosis": [";", "|", *ENCOUNTERS["diagnosis"][2:]]}
    found = collapsed(job(), rows)
    assert found["diagnosis=;"][0] == found["diagnosis=|"][0] == "1"


def test_the_release_says_the_rules_and_the_audit_with_the_original_checks_them(tmp_path: Path):
    pl.DataFrame(ENCOUNTERS).write_csv(tmp_path / "encounters.csv")
    described = job().model_copy(update={"source": dc.Source(path=tmp_path / "encounters.csv")})
    release = dc.publish(None, described)
    folder = release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(folder, original=described).ok
    text = (folder / "manifest.json").read_text()
    said = json.loads(text)
    assert said["person"] == {
        "rows": "collapse",
        "rules": {"age": "last", "sex": "constant", "cost": "sum", "diagnosis": "set"},
    }
    assert (said["unit"], said["source_rows"]) == ("person", 7)
    assert "patient" not in text and "day" not in text
    assert "The source has 10 rows of 7 persons; one person has 3 rows." in str(release)
    (folder / "manifest.json").write_text(text.replace('"age": "last"', '"age": "first"'))
    changed = dc.audit(folder, original=described)
    assert "something else of a person's rows than the job" in " ".join(changed.problems)


def test_a_ledger_knows_collapsed_persons(tmp_path: Path):
    rows = pl.DataFrame(ENCOUNTERS).filter(pl.col("patient").is_not_null())
    ledger = dc.LedgerSettings(path=tmp_path / "persons.ledger").located(tmp_path)
    with dc.Ledger.create(ledger):
        pass
    described = dc.Job(
        attributes={
            **ATTRIBUTES,
            "diagnosis": {"role": "sensitive", "collapse": "most-frequent"},
        },
        person=PERSON,
        method={"m-invariance": {"m": 2}},
        ledger=ledger,
    )
    dc.publish(rows, described).save(tmp_path / "first", **UNATTACKED)
    dc.publish(rows, described).save(tmp_path / "second", **UNATTACKED)
    assert dc.audit(tmp_path / "second").ok


def test_methods_are_compared_on_one_row_for_each_person():
    found = dc.compare(pl.DataFrame(ENCOUNTERS), job(), methods=["mondrian"])
    (point,) = found.points
    assert (point.failure, found.rows) == (None, 7)


CELLS = st.sampled_from(["1", "2", "3", "7", None])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["p", "q", "r", None]), CELLS, CELLS), min_size=1),
    st.sampled_from(["first", "last", "most-frequent", "min", "max", "sum", "count", "set"]),
)
def test_collapsing_is_what_a_loop_over_persons_finds(rows: list[Any], rule: str):
    described = dc.Job(
        attributes={
            "person": {"role": "identifier"},
            "at": {"role": "drop", "type": "integer"},
            "value": {"role": "quasi-sensitive" if rule == "set" else "insensitive",
                      "type": "text" if rule == "set" else "integer", "collapse": rule},
        },
        person={"column": "person", "rows": "collapse", "order": "at"},
    )  # fmt: skip
    frame = pl.DataFrame(
        rows, schema=dict.fromkeys(["person", "at", "value"], pl.String), orient="row"
    )
    found = prepare(described, frame).table["value"]
    texts = found.text.gather(pl.Series(found.codes)).to_list()
    persons: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
    for number, (person, at, value) in enumerate(rows):
        persons[number if person is None else person].append((at, value))
    assert texts == [_naive(own, rule) for own in persons.values()]


def _naive(rows: list[tuple[Any, Any]], rule: str) -> str | None:
    in_order = [v for _, v in sorted(rows, key=lambda row: (row[0] is None, int(row[0] or 0)))]
    values = [value for value in in_order if value is not None]
    if rule == "count":
        return str(len(values))
    if rule in ("first", "last"):
        return in_order[0 if rule == "first" else -1]
    if not values:
        return None
    if rule == "set":
        return ";".join(sorted(set(values)))
    if rule == "most-frequent":
        return min(Counter(values).items(), key=lambda one: (-one[1], int(one[0])))[0]
    numbers = [Decimal(value) for value in values]
    return str({"min": min, "max": max, "sum": sum}[rule](numbers))
