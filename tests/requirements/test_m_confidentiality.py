"""m-confidentiality: groups that no sensitive value shaped, against all worlds and from files."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive

import discreet as dc

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
PEOPLE = st.tuples(st.sampled_from([20, 21, 30, 47]), st.sampled_from(["01", "02", "11"]))
METHODS = [
    "mondrian",
    {"mondrian": {"cells": "levels"}},
    "full-domain",
    {"full-domain": {"suppression": 0.4}},
]
few = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def job_of(requirements, method, **more):
    return dc.Job(attributes=ATTRIBUTES, requirements=requirements, method=method, **more)


def frame_of(people, values):
    frame = pl.DataFrame(people, ["age", "zip"], orient="row")
    return frame.with_columns(ill=pl.Series(values))


def groups_of(people, values, requirements, method):
    """The values of each published group by its cells; None where nothing is published."""
    try:
        release = dc.publish(frame_of(people, values), job_of(requirements, method), seed=1)
    except dc.InfeasibleError:
        return None
    groups = {}
    for row in release.tables["records"].to_dicts():
        groups.setdefault((row["age"], row["zip"]), Counter())[row["ill"]] += 1
    return groups


def greatest_belief(people, values, requirements, method):
    """What an attacker believes who keeps the worlds that give this very release."""
    seen = groups_of(people, values, requirements, method)
    if seen is None:
        return None
    worlds = [
        world
        for world in set(permutations(values))
        if groups_of(people, world, requirements, method) == seen
    ]
    beliefs = [
        Fraction(count, len(worlds))
        for person in range(len(people))
        for count in Counter(world[person] for world in worlds).values()
    ]
    return max(beliefs), seen


@settings(few, max_examples=4)
@given(
    people=st.lists(PEOPLE, min_size=4, max_size=5),
    values=st.permutations(["flu", "flu", "hiv", "hiv", "gout"]),
    method=st.sampled_from(["mondrian", "full-domain"]),
)
def test_an_attacker_who_knows_the_algorithm_believes_no_more_than_the_share(
    people, values, method
):
    asked = [{"k-anonymity": {"k": 2}}, {"m-confidentiality": {"m": 1.5}}]
    found = greatest_belief(people, values[: len(people)], asked, method)
    assume(found is not None)
    belief, groups = found
    shares = [Fraction(max(own.values()), own.total()) for own in groups.values()]
    assert belief == max(shares) <= Fraction(2, 3)


def test_groups_by_sensitive_values_disclose_more_than_the_share():
    """The attack that the model excludes: one class of six, though ages 20 and 30 differ."""
    people = [(20, "01")] * 2 + [(30, "01")] * 4
    values = ["flu", "flu", "hiv", "gout", "cold", "mumps"]
    diverse = [{"p-diversity": {"l": 2}}]
    (counts,) = groups_of(people, values, diverse, "mondrian").values()
    assert counts["flu"] == 2
    assert counts.total() == 6
    # both 20-year-olds have the flu: with any other values the two ages would be two groups
    for pair in (["flu", "hiv"], ["hiv", "gout"]):
        left = Counter(values) - Counter(pair)
        other = groups_of(people, [*pair, *left.elements()], diverse, "mondrian")
        assert len(other) == 2
    asked = [{"k-anonymity": {"k": 2}}, {"m-confidentiality": {"m": 2}}]
    assert groups_of(people, values, asked, "mondrian") is None


@few
@given(
    people=st.lists(PEOPLE, min_size=1, max_size=20),
    data=st.data(),
    k=st.integers(1, 4),
    m=st.sampled_from([1, 1.5, 2]),
    method=st.sampled_from(METHODS),
)
def test_what_is_published_bounds_every_share(people, data, k, m, method, tmp_path_factory):
    values = [data.draw(st.sampled_from(["flu", "hiv", "gout"])) for _ in people]
    folder = tmp_path_factory.mktemp("blind")
    frame_of(people, values).write_csv(folder / "table.csv")
    asked = [{"k-anonymity": {"k": k}}, {"m-confidentiality": {"m": m}}]
    job = job_of(asked, method, source={"path": folder / "table.csv"})
    try:
        place = dc.publish(None, job, seed=1).save(folder / "release")
    except dc.InfeasibleError as error:
        assert error.failures
        return
    groups = naive.classes(naive.read_csv(place / "records.csv"), QUASI)
    shares = [
        Fraction(max(Counter(row["ill"] for row in own).values()), len(own)) for own in groups
    ]
    assert max(shares) * Fraction(str(m)) <= 1
    assert dc.audit(place, original=job).ok
    assert not dc.audit(place, original=job).unproved
    (unproved,) = dc.audit(place).unproved
    assert unproved.requirement == "m-confidentiality"
    alone = groups_of(people, ["flu"] * len(people), asked[:1], method)  # other values, same groups
    assert {key: own.total() for key, own in alone.items()} == {
        (own[0]["age"], own[0]["zip"]): len(own) for own in groups
    }


def test_groups_that_sensitive_values_shaped_fail_the_audit(tmp_path):
    people = [(20, "01")] * 2 + [(30, "01")] * 4 + [(47, "11")] * 4
    values = ["flu", "flu", "hiv", "gout", "cold", "mumps", "flu", "hiv", "gout", "cold"]
    frame_of(people, values).write_csv(tmp_path / "table.csv")
    source = {"path": tmp_path / "table.csv"}
    steered = job_of([{"p-diversity": {"l": 2}}], "mondrian", source=source)
    place = dc.publish(None, steered).save(tmp_path / "release", report=False)
    manifest = naive.read_manifest(place)
    (promise,) = manifest["promises"]
    promise["requirement"] = "m-confidentiality"
    promise["parameters"] = {"attribute": None, "m": 2.0}
    promise["achieved"] = {"m": promise["achieved"].pop("l")}
    naive.write_manifest(place, manifest)
    blind = job_of([{"m-confidentiality": {"m": 2}}], "mondrian", source=source)
    found = dc.audit(place, original=blind)
    assert not found.ok
    assert not found.promises[0].holds


@pytest.mark.parametrize(
    ("others", "method", "said"),
    [
        ([{"p-diversity": {"l": 2}}], "mondrian", "p-diversity forms groups by sensitive values"),
        ([], {"mondrian": {"cuts": "relaxed"}}, "does not form groups by quasi-identifiers alone"),
        ([], {"full-domain": {"seconds": 5}}, "full-domain without 'seconds'"),
        ([], "local-recoding", "Use mondrian with strict cuts"),
    ],
)
def test_jobs_whose_groups_would_depend_on_sensitive_values_are_refused(others, method, said):
    job = job_of([{"m-confidentiality": {"m": 2}}, *others], method)
    with pytest.raises(dc.JobError, match=said):
        dc.publish(frame_of([(20, "01")] * 2, ["flu", "hiv"]), job)


def test_a_table_alone_shows_neither_how_groups_were_formed_nor_a_population():
    for requirement in (dc.MConfidentiality(m=1), dc.DeltaPresence(upper=1)):
        with pytest.raises(dc.JobError, match=f"{requirement.name} co"):
            dc.check(
                frame_of([(20, "01")], ["flu"]), quasi=QUASI, sensitive=["ill"],
                requirements=[requirement],
            )  # fmt: skip
