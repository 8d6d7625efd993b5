"""k-map and population risk: releases against a population or weights, from their files."""

from __future__ import annotations

import json
import tempfile
from fractions import Fraction
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.knowledge.test_individual_risk import by_definition
from tests.saving import UNATTACKED

import discreet as dc
from discreet.io.frames import code_frame
from discreet.job.sampling_weights import rounded
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType

QUASI = ["age", "zip"]
ATTRIBUTES = {
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": [5, 20, 100]},
    },
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "ill": {"role": "sensitive"},
}
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from([20, 21, 30, 33, 47]),
        st.sampled_from(["01", "02", "11"]),
        st.booleans(),  # whether the person is in the table
        st.sampled_from([1, 2.5, 4, 7.25]),  # the weight of the row
    ),
    min_size=1,
    max_size=16,
).filter(lambda people: any(one[2] for one in people))
BLIND = {"mondrian": {"cells": "blind"}}
METHODS = {
    "table": ["full-domain", "mondrian", {"mondrian": {"cells": "levels"}}, BLIND],
    "weights": ["full-domain", BLIND, {"mondrian": {"cells": "grid"}}],
}
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def job_of(folder, people, requirements, method="full-domain", *, by="table", **weight):
    """Write the population and the table in it, and return the job."""
    frame = pl.DataFrame(people, ["age", "zip", "inside", "w"], orient="row")
    frame.select(QUASI).write_csv(folder / "people.csv")
    own = frame.filter("inside").drop("inside").with_columns(ill=pl.lit("flu"))
    own.write_csv(folder / "table.csv")
    return dc.Job(
        source={"path": folder / "table.csv"},
        population=str(folder / "people.csv") if by == "table" else None,
        attributes={**ATTRIBUTES, "w": {"role": "weight", **weight}},
        requirements=requirements if isinstance(requirements, list) else [requirements],
        method=method,
    )


def fits(person, row):
    return naive.covers(row["age"], str(person[0])) and naive.covers(
        row["zip"], person[1], mask=True
    )


def naive_sizes(rows, people, by):
    """(rows, persons of the population) of each class, from the files alone and the population."""
    found = []
    for group in naive.classes(rows, QUASI):
        if by == "table":
            persons = Fraction(sum(fits(person, group[0]) for person in people))
        else:
            persons = sum(max(Fraction(row["w"]), Fraction(1)) for row in group)
        found.append((len(group), persons))
    return found


def naive_risk(rows, persons, by):
    return by_definition(rows, float(persons)) if by == "weights" else float(1 / persons)


def naive_figure(name, sizes, by, of="maximum"):
    if name == "k-map":
        return float(min(persons for _, persons in sizes))
    risks = [(rows, naive_risk(rows, persons, by)) for rows, persons in sizes]
    if of == "maximum":
        return max(risk for _, risk in risks)
    return sum(rows * risk for rows, risk in risks) / sum(rows for rows, _ in risks)


def whole(people, by):
    """The rows and persons of the one class of all."""
    rows = [one for one in people if one[2]]
    persons = len(people) if by == "table" else sum(Fraction(one[3]) for one in rows)
    return [(len(rows), Fraction(persons))]


REQUIRED = [
    {"k-map": {"k": 3}},
    {"k-map": {"k": 7}},
    {"population-risk": {"at_most": 0.3}},
    {"population-risk": {"at_most": 0.3, "of": "average"}},
]


@few
@given(
    people=PEOPLE,
    required=st.sampled_from(REQUIRED),
    by_method=st.sampled_from([(by, one) for by, found in METHODS.items() for one in found]),
)
def test_what_is_published_meets_the_bound_by_its_files(people, required, by_method):
    by, method = by_method
    ((name, asked),) = required.items()
    of = asked.get("of", "maximum")
    assume(by == "table" or any(one[2] and one[3] > 1 for one in people))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        job = job_of(folder, people, required, method, by=by)
        try:
            made = dc.publish(None, job, seed=1).save(folder / "release", **UNATTACKED)
        except dc.InfeasibleError:
            best = naive_figure(name, whole(people, by), by, of)
            assert best < asked["k"] if name == "k-map" else best > asked["at_most"]
            return
        rows = naive.read_csv(made / "records.csv")
        figure = naive_figure(name, naive_sizes(rows, people, by), by, of)
        if name == "k-map":
            assert figure >= asked["k"]
        else:
            assert figure <= asked["at_most"] + 1e-9
        (promise,) = dc.audit(made, original=job).promises
        assert promise.holds
        (achieved,) = promise.achieved.values()
        assert achieved == pytest.approx(figure)
        (stated,) = naive.read_manifest(made)["promises"]
        assert stated["parameters"]["by"] == by
        if by == "table":  # who is in the population is not in the files
            assert stated["achieved"] == {}
            (unproved,) = dc.audit(made).unproved
            assert "Add --original JOB" in unproved.unproved
        else:
            assert list(stated["achieved"].values()) == pytest.approx([figure])
            (alone,) = dc.audit(made).promises
            assert alone.holds


@settings(few, max_examples=6)
@given(people=PEOPLE, required=st.sampled_from(REQUIRED), by=st.sampled_from(["table", "weights"]))
def test_the_search_finds_the_least_height_of_all_recodings(people, required, by):
    """Brute force: every node is judged from the cells that it would publish."""
    ((name, asked),) = required.items()
    assume(by == "table" or any(one[2] and one[3] > 1 for one in people))
    inside = [one for one in people if one[2]]

    def cell(person, age, zip_code):
        steps = [1, 5, 20, 100]
        masked = person[1][: 2 - zip_code] + "*" * zip_code
        return (person[0] // steps[age] if age < 4 else 0, masked)

    heights = []
    for age, zip_code in product(range(5), range(3)):
        groups = {}
        for one in inside:
            groups.setdefault(cell(one, age, zip_code), []).append(one)
        sizes = [
            (
                len(rows),
                Fraction(sum(cell(one, age, zip_code) == key for one in people))
                if by == "table"
                else sum(Fraction(one[3]) for one in rows),
            )
            for key, rows in groups.items()
        ]
        figure = naive_figure(name, sizes, by, asked.get("of", "maximum"))
        good = figure >= asked["k"] if name == "k-map" else figure <= asked["at_most"] + 1e-12
        if good:
            heights.append(age + zip_code)
    with tempfile.TemporaryDirectory() as place:
        searched = {"full-domain": {"minimize": "height"}}
        job = job_of(Path(place), people, required, searched, by=by)
        if not heights:
            with pytest.raises(dc.InfeasibleError):
                dc.publish(None, job)
            return
        assert sum(dc.publish(None, job).manifest.method.levels.values()) == min(heights)


MANY = [(20 + i % 9, f"{i % 3}1", i % 4 == 0, 4.0 + i % 3) for i in range(120)]


def test_mondrian_makes_more_classes_for_a_mean_than_for_each_row(tmp_path):
    classes = {}
    for of in ("maximum", "average"):
        required = {"population-risk": {"at_most": 0.08, "of": of}}
        release = dc.publish(None, job_of(tmp_path, MANY, required, BLIND, by="weights"))
        classes[of] = release.private["utility"]["classes"]
        assert release.audit.promises[0].achieved["at_most"] <= 0.08
    assert classes["average"] > classes["maximum"] > 1


@pytest.mark.parametrize("classes", [1, 2, 3, 6, 11, 32])
def test_a_mean_is_spent_over_all_rounds_of_cuts(tmp_path, classes):
    """All persons are in the table, so a class of any size adds one expected re-identification.

    Every round halves the classes: with the bound for 6 the third has four cuts and makes two.
    """
    pl.DataFrame({"age": range(32), "ill": "flu"}).write_csv(tmp_path / "table.csv")
    pl.DataFrame({"age": range(32)}).write_csv(tmp_path / "people.csv")
    job = dc.Job(
        source={"path": tmp_path / "table.csv"},
        population=str(tmp_path / "people.csv"),
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ill": {"role": "sensitive"},
        },
        requirements=[{"population-risk": {"at_most": classes / 32, "of": "average"}}],
        method="mondrian",
    )
    release = dc.publish(None, job)
    assert release.private["utility"]["classes"] == classes
    assert release.audit.promises[0].achieved["at_most"] == classes / 32


def test_a_class_of_a_sample_covers_the_persons_of_its_region(tmp_path):
    """A single row needs a cell that covers others of the population, not its own values."""
    people = [(20 + i, "01", i == 5, 10.0) for i in range(12)]
    release = dc.publish(None, job_of(tmp_path, people, {"k-map": {"k": 4}}, "mondrian"))
    place = release.save(tmp_path / "release", **UNATTACKED)
    (row,) = naive.read_csv(place / "records.csv")
    assert sum(fits(person, row) for person in people) >= 4
    assert row["age"] != "25"


def test_suppression_is_allowed_where_other_rows_do_not_matter(tmp_path):
    method = {"full-domain": {"suppression": 0.3}}
    people = [*MANY, (90, "51", True, 1.0)]
    job = job_of(tmp_path, people, {"k-map": {"k": 6}}, method, by="weights")
    release = dc.publish(None, job)
    assert release.manifest.suppressed_rows >= 1
    assert release.audit.promises[0].holds
    average = {"population-risk": {"at_most": 0.2, "of": "average"}}
    with pytest.raises(dc.JobError, match="not judged where rows are suppressed"):
        dc.publish(None, job_of(tmp_path, people, average, method, by="weights"))


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("local-recoding", "k-map is met by full-domain, mondrian, not by local-recoding"),
        ("anatomy", "k-map is met by full-domain, mondrian, not by anatomy"),
        ("mondrian", "cells of mondrian are as narrow as the rows of a class"),
    ],
)
def test_other_methods_refuse(tmp_path, method, said):
    given_method = {"anatomy": {"l": 1}} if method == "anatomy" else method
    with pytest.raises(dc.JobError, match=said):
        dc.publish(None, job_of(tmp_path, MANY, {"k-map": {"k": 3}}, given_method, by="weights"))


def test_what_is_missing_is_named(tmp_path):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 3}}, by="weights")
    plain = dc.Job(
        source=job.source,
        attributes={**ATTRIBUTES, "w": {"role": "drop"}},
        requirements=[{"k-map": {"k": 3}}],
    )
    with pytest.raises(dc.JobError, match="k-map needs population sizes. Name a table under"):
        dc.publish(None, plain)
    by_table = job_of(tmp_path, MANY, {"k-map": {"k": 3, "by": "table"}}, by="weights")
    with pytest.raises(dc.JobError, match="population: is missing"):
        dc.publish(None, by_table)
    normalized = [(*one[:3], 0.5) for one in MANY]
    with pytest.raises(dc.JobError, match="Multiply normalized weights"):
        dc.publish(None, job_of(tmp_path, normalized, {"k-map": {"k": 3}}, by="weights"))
    outside = job_of(tmp_path, MANY, {"k-map": {"k": 3}}, "mondrian")
    pl.DataFrame({"age": [20], "zip": ["01"]}).write_csv(tmp_path / "people.csv")
    with pytest.raises(dc.InputError, match="must contain every row of the table"):
        dc.publish(None, outside)


@pytest.mark.parametrize("weight", ["-1", "0", "", "nan"])
def test_weights_must_be_numbers_above_0(tmp_path, weight):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 3}}, by="weights")
    text = (tmp_path / "table.csv").read_text().splitlines()
    (tmp_path / "table.csv").write_text("\n".join([*text, f"20,01,{weight},flu"]) + "\n")
    with pytest.raises(dc.InputError, match="[Cc]olumn 'w'"):
        dc.publish(None, job)


def test_a_forged_weight_is_found(tmp_path):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 6}}, by="weights")
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    rows = naive.read_csv(place / "records.csv")
    rows[0]["w"] = "1000"
    pl.DataFrame(rows).write_csv(place / "records.csv")
    manifest = naive.read_manifest(place)
    from discreet.releases.manifest import sha256_of

    manifest["tables"]["records"]["sha256"] = sha256_of(place / "records.csv")
    naive.write_manifest(place, manifest)
    assert not dc.audit(place, original=job).ok


def test_rounded_weights_are_published_and_judged(tmp_path):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 5}}, by="weights", round=2)
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    rows = naive.read_csv(place / "records.csv")
    assert {row["w"] for row in rows} == {"4", "6"}  # of 4, 5 and 6
    sizes = naive_sizes(rows, MANY, "weights")
    (promise,) = dc.audit(place, original=job).promises
    assert promise.achieved["k"] == float(min(persons for _, persons in sizes))
    assert dc.audit(place).ok


@pytest.mark.parametrize("step", [50, 1000])
@pytest.mark.parametrize("required", [{"k-map": {"k": 50}}, {"population-risk": {"at_most": 0.09}}])
def test_rounding_a_weight_inflates_no_guarantee(tmp_path, step, required):
    people = [(20 + i, "01", True, w) for i, w in enumerate([1, 1, 2, 1])]
    job = job_of(tmp_path, people, required, by="weights", round=step)
    with pytest.raises((dc.InfeasibleError, dc.JobError)):
        dc.publish(None, job)
    checked = dc.check(tmp_path / "table.csv", job)
    assert not checked.ok
    assert checked.population.persons <= 5


@pytest.mark.parametrize("rule", ["sum", "max", "mean", "count", "first", "last", "most-frequent"])
def test_rows_of_a_person_do_not_add_up_their_weights(rule):
    """Nine rows of weight 10 of one person represent 10 persons, not 90."""
    with pytest.raises(dc.JobError, match="could let a person represent more persons"):
        dc.Job(
            person={"column": "id", "rows": "collapse"},
            attributes={
                **ATTRIBUTES,
                "id": {"role": "identifier"},
                "w": {"role": "weight", "collapse": rule},
            },
            requirements=[{"k-map": {"k": 30}}],
        )


@few
@given(
    weights=st.lists(
        st.one_of(st.floats(0.01, 5000), st.integers(1, 400).map(lambda n: n / 10)), min_size=1
    ),
    step=st.sampled_from([0.1, 0.3, 0.5, 1, 2.5, 5, 7, 50, 1000]),
)
def test_a_rounded_weight_represents_no_more_persons_than_the_true_one(weights, step):
    table = code_frame(
        pl.DataFrame({"w": weights}),
        {"w": ColumnSpec(Role.WEIGHT, ValueType.NUMBER, Distance.ORDERED, None)},
    )
    column = rounded(table["w"], step)
    for true, code in zip(weights, column.codes, strict=True):
        published = float(column.text[int(code)])
        assert max(published, 1) <= max(true, 1) * (1 + 1e-11)
        assert true - published < step * (1 + 1e-11)  # no more precision is lost than was asked
        assert published > 0


def test_figures_are_private_and_in_profile_check_measure_and_compare(tmp_path):
    household = pl.Series("hh", [i // 2 for i in range(30)])
    job = job_of(tmp_path, MANY, {"k-map": {"k": 25}}, BLIND, by="weights")
    table = pl.read_csv(tmp_path / "table.csv", schema_overrides={"zip": pl.String})
    table.with_columns(household).write_csv(tmp_path / "table.csv")
    job = dc.Job(
        source=job.source,
        attributes={**job.attributes, "hh": {"role": "household"}},
        requirements=job.requirements,
        method=job.method,
    )
    rows = naive.read_csv(tmp_path / "table.csv")
    before = [naive_risk(n, p, "weights") for n, p in naive_sizes(rows, [], "weights")]
    profile = dc.profile(None, job)
    assert profile.population.maximum == pytest.approx(max(before))
    assert "linked to its person" in str(profile)
    found = dc.check(tmp_path / "table.csv", job)
    assert found.population.to_dict() == profile.population.to_dict()
    assert not found.ok
    release = dc.publish(None, job)
    place = release.save(tmp_path / "release", **UNATTACKED)
    published = naive.read_csv(place / "records.csv")
    sizes = naive_sizes(published, [], "weights")
    private = json.loads((tmp_path / "release.private.json").read_text())["utility"]["population"]
    assert private["average"] == pytest.approx(naive_figure("", sizes, "weights", "average"))
    assert private["smallest"] == float(min(persons for _, persons in sizes))
    assert private["households"]["households"] == 15
    assert "households" not in (place / "manifest.json").read_text()
    assert "hh" not in published[0]
    assert "Risk in the population" in release.private_page().html()
    assert "Risk in the population" not in (place / "report.html").read_text()
    checked = dc.check(place / "records.csv", job)
    assert checked.ok
    assert checked.population.average == pytest.approx(private["average"])
    measured = dc.measure(place, original=job)
    assert measured.population.average == pytest.approx(private["average"])
    (point,) = dc.compare(None, job, methods=[BLIND], queries=0).points
    assert point.population_risk == pytest.approx(private["average"])
    assert point.population_risk_max == pytest.approx(private["maximum"])


def test_a_population_table_gives_exact_figures(tmp_path):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 3}}, "mondrian")
    rows = naive.read_csv(tmp_path / "table.csv")
    sizes = naive_sizes(rows, MANY, "table")
    profile = dc.profile(None, job)
    assert profile.population.source == "table"
    assert profile.population.persons == len(MANY)
    assert profile.population.average == pytest.approx(naive_figure("", sizes, "table", "average"))
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    checked = dc.check(place / "records.csv", job)
    assert checked.ok
    published = naive_sizes(naive.read_csv(place / "records.csv"), MANY, "table")
    assert checked.population.smallest == float(min(persons for _, persons in published))


def test_an_evidence_pack_names_the_weight(tmp_path):
    job = job_of(tmp_path, MANY, {"k-map": {"k": 25}}, BLIND, by="weights")
    place = dc.publish(None, job).save(tmp_path / "release", **UNATTACKED)
    pack = dc.evidence(place, "ema")
    assert "sampling weight" in json.dumps(pack.to_dict())
