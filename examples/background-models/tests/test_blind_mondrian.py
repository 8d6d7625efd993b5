"""Groups that no sensitive value shaped, against all worlds and from files: m-confidentiality."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import polars as pl
import pytest
from discreet_background import BlindMondrian
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.testing import check_method

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
METHODS = ["blind-mondrian", {"blind-mondrian": {"cells": "grid"}}]
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
        groups.setdefault((str(row["age"]), row["zip"]), Counter())[row["ill"]] += 1
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
    method=st.sampled_from(METHODS),
)
def test_an_attacker_who_knows_the_algorithm_believes_no_more_than_the_share(
    people, values, method
):
    asked = [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 1.5}}]
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
    asked = [{"k-anonymity": {"k": 2}}, *diverse]
    assert groups_of(people, values, asked, "blind-mondrian") is None


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
    asked = [{"k-anonymity": {"k": k}}, {"p-diversity": {"l": m}}]
    job = job_of(asked, method, source={"path": folder / "table.csv"})
    try:
        place = dc.publish(None, job, seed=1).save(folder / "release", **UNATTACKED)
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
    alone = groups_of(people, ["flu"] * len(people), asked[:1], method)  # other values, same groups
    assert {key: own.total() for key, own in alone.items()} == {
        (own[0]["age"], own[0]["zip"]): len(own) for own in groups
    }


def test_the_method_conforms():
    check_method(BlindMondrian(), requirements=[dc.KAnonymity(k=3)])


def test_without_a_size_there_are_no_groups():
    job = job_of([{"p-diversity": {"l": 2}}], "blind-mondrian")
    with pytest.raises(dc.InfeasibleError, match="the job has none. Add k-anonymity"):
        dc.publish(frame_of([(20, "01")] * 2, ["flu", "hiv"]), job)


def test_a_table_that_fails_is_not_published_and_the_remedy_is_named():
    asked = [{"k-anonymity": {"k": 2}}, {"p-diversity": {"l": 2}}]
    people = [(20, "01")] * 2 + [(47, "11")] * 2
    job = job_of(asked, "blind-mondrian")
    with pytest.raises(dc.InfeasibleError, match="formed without a look at sensitive values"):
        dc.publish(frame_of(people, ["flu", "flu", "hiv", "gout"]), job)


@pytest.mark.parametrize("parameters", [{"cuts": "relaxed"}, {"cells": "levels"}])
def test_cuts_that_depend_on_the_order_of_rows_are_refused(parameters):
    with pytest.raises(dc.JobError, match="Use 'cuts: strict'"):
        BlindMondrian(**parameters)
