"""Definitions, and what is published under them, derived again from the files."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from discreet_background import GuardingNodes, KeAnonymity, NtCloseness, XyLinkability
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from tests.tables import coded_column

import discreet as dc
from discreet.pipeline.run import make_release
from discreet.requirements.base import Domain, TableTerms
from discreet.table.classes import Classes
from discreet.table.counts import count_classes
from discreet.table.roles import Role

QUASI = ["age", "zip"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["20", "21", "30", "33", "47"]),
        st.sampled_from(["01", "02", "11"]),
        st.sampled_from(["flu", "hiv", "cold", ""]),
        st.sampled_from(["1", "2.5", "5", "40", ""]),
    ),
    min_size=1,
    max_size=24,
)
AGE = {"role": "quasi-identifier", "type": "integer"}
ILLNESSES = {"all": {"infectious": ["flu", "hiv", "cold"], "other": ["gout"]}}
METHODS = ["mondrian", "full-domain", {"full-domain": {"suppression": 0.3}}, "local-recoding"]


def frame_of(rows):
    table = pl.DataFrame(rows, ["age", "zip", "ill", "pay"], orient="row")
    return table.with_columns(pl.col("ill", "pay").replace("", None))


def published(rows, requirement, method):
    """Return the rows of the files of a release, by class, and its promise."""
    job = dc.Job(
        attributes={
            "age": {**AGE, "hierarchy": {"intervals": [5, 20, 100]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "ill": {"role": "sensitive", "hierarchy": {"tree": ILLNESSES}},
            "pay": {"role": "sensitive", "type": "number", "distance": "ordered"},
        },
        requirements=[requirement],
        method=method,
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        try:
            make_release(frame_of(rows), job, seed=1).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures
            assert not place.exists()
            return None
        (promise,) = naive.read_manifest(place)["promises"]
        audited = dc.audit(place)
        assert audited.ok
        assert not audited.unproved
        return naive.classes(naive.read_csv(place / "records.csv"), QUASI), promise


few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# (k,e)-anonymity


@few
@given(
    rows=ROWS,
    k=st.integers(1, 3),
    e=st.sampled_from([0, 1.5, 4, 39]),
    method=st.sampled_from(METHODS),
)
def test_what_is_published_is_ke_anonymous(rows, k, e, method):
    found = published(rows, {"ke-anonymity": {"k": k, "e": e, "attribute": "pay"}}, method)
    numbers = {Fraction(row[3]) for row in rows if row[3]}
    feasible = len(numbers) >= k and max(numbers) - min(numbers) >= e
    assert (found is not None) == feasible or "suppression" in str(method)
    assume(found is not None)
    groups, promise = found
    known = [{Fraction(row["pay"]) for row in group if row["pay"]} for group in groups]
    assert promise["achieved"]["k"] == min(map(len, known)) >= k
    assert promise["achieved"]["e"] == min(max(own) - min(own) for own in known) >= e


def test_numbers_close_together_fail_whatever_their_number():
    """Section 1 of Zhang and others: salaries that all differ, and disclose the salary."""
    salaries = {"age": ["[20, 30)"] * 4, "pay": [1000, 1001, 1002, 1003]}
    asked = [dc.DistinctLDiversity(l=4), KeAnonymity(k=4, e=500)]
    diverse, spread = dc.check(
        pl.DataFrame(salaries), quasi=["age"], sensitive=["pay"], requirements=asked
    ).requirements
    assert diverse.holds
    assert not spread.holds
    assert spread.achieved == {"e": 3, "k": 4}


def test_text_has_no_range():
    table = pl.DataFrame({"age": ["20"], "ill": ["flu"]})
    with pytest.raises(dc.JobError, match="ke-anonymity: 'ill' is not numeric. Give it the type"):
        dc.check(table, quasi=["age"], sensitive=["ill"], requirements=[KeAnonymity(k=1, e=0)])


# (n,t)-closeness


def distance(own, whole):
    """The Earth Mover's Distance where any two values are equally far apart."""
    return sum(
        max(Fraction(n, own.total()) - Fraction(whole[v], whole.total()), 0) for v, n in own.items()
    )


@few
@given(
    rows=ROWS,
    n=st.sampled_from([2, 4, 8, 30]),
    t=st.sampled_from([0, 0.25, 0.5]),
    method=st.sampled_from(METHODS),
)
def test_what_is_published_is_nt_close(rows, n, t, method):
    requirement = {"nt-closeness": {"n": n, "t": t, "attribute": "ill"}}
    found = published(rows, requirement, method)
    assert (found is not None) == (len(rows) >= n)
    assume(found is not None)
    groups, promise = found
    whole = Counter(row["ill"] for group in groups for row in group)
    figures = [
        0 if len(group) >= n else distance(Counter(row["ill"] for row in group), whole)
        for group in groups
    ]
    assert promise["achieved"]["t"] == pytest.approx(float(max(figures)))
    assert max(figures) <= Fraction(str(t))


def test_large_classes_may_differ_from_the_table():
    rows = [("20", "flu")] * 4 + [("30", "hiv")] * 3 + [("40", "flu"), ("40", "hiv")]
    table = pl.DataFrame(rows, ["age", "ill"], orient="row")
    asked = [NtCloseness(n=3, t=0.1), NtCloseness(n=4, t=0.1), NtCloseness(n=10, t=1)]
    large, small, none = dc.check(
        table, quasi=["age"], sensitive=["ill"], requirements=asked
    ).requirements
    assert large.holds  # the class of two rows is within 1/18 of the table
    assert large.achieved["t"] == pytest.approx(1 / 18)
    assert not small.holds  # three rows of one value
    assert small.achieved["t"] == pytest.approx(5 / 9)
    assert not none.holds  # no ten rows anywhere


def test_neighbourhoods_between_class_and_table_are_lost_by_merging():
    """Why no other superset is used: two passing classes, merged, have none that fits."""
    n, t = 4, Fraction(1, 5)
    line = ["a"] * 3, ["a"], ["b"], ["b"] * 30  # the values of four neighbouring classes
    around = {  # every run of neighbouring classes is a natural superset of those within it
        (low, high): Counter(value for own in line[low:high] for value in own)
        for low in range(4)
        for high in range(low + 1, 5)
    }

    def passes(low, high):
        own = around[low, high]
        return any(
            wide.total() >= n and distance(own, wide) <= t
            for (first, last), wide in around.items()
            if first <= low and high <= last
        )

    assert passes(1, 2)
    assert passes(2, 3)
    assert not passes(1, 3)


# (X,Y)-linkability


@few
@given(
    rows=ROWS,
    epsilon=st.sampled_from([0.4, 0.5, 0.75, 1]),
    others=st.booleans(),
    method=st.sampled_from(METHODS),
)
def test_what_is_published_links_no_value_above_epsilon(rows, epsilon, others, method):
    requirement = {"xy-linkability": {"epsilon": epsilon, "others_known": others}}
    found = published(rows, requirement, method)
    assume(found is not None)
    groups, promise = found
    greatest = Fraction(0)
    for aim, other in (("ill", "pay"), ("pay", "ill")):
        for group in groups:
            alike = defaultdict(list)
            for row in group:
                alike[row[other] if others else ""].append(row[aim])
            for own in alike.values():
                greatest = max(greatest, Fraction(max(Counter(own).values()), len(own)))
    assert greatest <= Fraction(str(epsilon))
    assert promise["achieved"]["epsilon"] == pytest.approx(float(greatest))


@few
@given(rows=ROWS)
def test_confidence_from_some_attributes_to_joint_values_is_no_greater(rows):
    """Whatever X and Y are taken from the columns, the finest X and single Y are the worst."""
    table = frame_of(rows)
    (found,) = dc.check(
        table, quasi=QUASI, sensitive=["ill", "pay"], requirements=[XyLinkability(epsilon=1)]
    ).requirements
    greatest = 0.0
    for x in ([], ["age"], ["zip"], QUASI):
        for y in (["ill"], ["pay"], ["ill", "pay"]):
            alike = defaultdict(list)
            for row in table.to_dicts():
                alike[tuple(row[name] for name in x)].append(tuple(row[name] for name in y))
            greatest = max(
                greatest, *(max(Counter(own).values()) / len(own) for own in alike.values())
            )
    assert found.achieved["epsilon"] == pytest.approx(greatest)


# Guarding nodes


@few
@given(
    rows=ROWS,
    p=st.sampled_from([0.5, 0.7, 1]),
    nodes=st.sampled_from([["infectious"], ["hiv", "flu"], ["infectious", "hiv"]]),
    method=st.sampled_from(METHODS),
)
def test_what_is_published_guards_every_node(rows, p, nodes, method):
    below = {"infectious": {"flu", "hiv", "cold"}, "hiv": {"hiv"}, "flu": {"flu"}}
    values = {row[2] for row in rows}
    assume(all(values & below[node] for node in nodes))
    found = published(
        rows, {"guarding-nodes": {"p": p, "nodes": nodes, "attribute": "ill"}}, method
    )
    assume(found is not None)
    groups, promise = found
    greatest = max(
        Fraction(sum(row["ill"] in below[node] for row in group), len(group))
        for group in groups
        for node in nodes
    )
    assert promise["achieved"]["p"] == pytest.approx(float(greatest))
    assert greatest <= Fraction(str(p))
    shown = {row["ill"] for group in groups for row in group}
    assert all(set(values) <= shown for values in promise["parameters"]["nodes"].values())


def test_a_personal_guard_is_lost_by_merging():
    """Why every node is guarded in every class: only one of two classes has a guarded person."""
    first = [("flu", "infectious"), ("gout", None), ("gout", None)]  # a value, a guarding node
    second = [("hiv", None), ("hiv", None), ("flu", None)]  # nobody here minds
    infectious = {"flu", "hiv"}

    def breach(rows):
        share = Fraction(sum(value in infectious for value, _ in rows), len(rows))
        return max(share for _, guard in rows if guard) if any(g for _, g in rows) else 0

    assert breach(first) == Fraction(1, 3)
    assert breach(second) == 0
    assert breach(first + second) == Fraction(2, 3)


def test_a_node_that_is_not_in_the_hierarchy_is_refused():
    with pytest.raises(dc.JobError, match="'cancer' is neither a value of 'ill' nor a node"):
        published(
            [("20", "01", "flu", "1")],
            {"guarding-nodes": {"p": 1, "nodes": ["cancer"], "attribute": "ill"}},
            "mondrian",
        )


def test_nodes_without_values_pass_nothing():
    column = coded_column("ill", ["flu", "gout"], Role.SENSITIVE)
    counts = count_classes(Classes.of_numbers(np.zeros(2, np.int32)), [column])
    unresolved = GuardingNodes(p=0.9, nodes=["flu"])
    domains = {"ill": Domain.of(column)}
    assert not unresolved.check(counts, domains).holds
    assert unresolved.for_table(TableTerms()).check(counts, domains).holds
