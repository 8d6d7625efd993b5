"""What the package adds conforms, is closed under merging and follows its definitions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest
from discreet_background import (
    GradedAlphaKAnonymity,
    GuardingNodes,
    KeAnonymity,
    NtCloseness,
    PSensitiveKAnonymity,
    XyLinkability,
)
from hypothesis import given
from hypothesis import strategies as st
from tests import naive_check as naive
from tests.oracles import test_check as checks
from tests.oracles import test_non_sensitive as sparing
from tests.oracles.test_check import FEW, QUASI, ROWS, frame_of
from tests.properties import test_merging as merging

import discreet as dc
from discreet.requirements.judge import shown_parameters
from discreet.requirements.registry import REQUIREMENTS, requirement_from_mapping
from discreet.requirements.value_bounds import AlphaKAnonymity
from discreet.table.roles import Distance
from discreet.testing import check_requirement


def of(rows, name):
    return list(Counter(row[name] for row in rows).values())


def everywhere(judge):
    """A requirement on all attributes, from one on the counts of each."""
    return lambda rows, table: all(judge(of(rows, name), len(rows)) for name in rows[0])


def graded(rows, bounds, others, k):
    counts = Counter(row["diagnosis"] for row in rows)
    return len(rows) >= k and all(
        n <= bounds.get(value, others) * len(rows) + 1e-9 for value, n in counts.items()
    )


def spread(rows, k, e):
    known = {row["salary"] for row in rows} - {None}
    return len(known) >= k and max(known) - min(known) >= e


def near_enough(rows, table, n, t):
    own, whole = (Counter(row["diagnosis"] for row in some) for some in (rows, table))
    moved = sum(abs(own[v] / len(rows) - whole[v] / len(table)) for v in whole) / 2
    return len(rows) >= n or (len(table) >= n and moved <= t + 1e-9)


def guards(rows, table):
    pains = sum(row["diagnosis"] in ("flu", "gout") for row in rows)
    unknown = sum(row["diagnosis"] is None for row in rows)
    return 2 * max(pains, unknown) <= len(rows)


def unlinked(rows, epsilon):
    """No value has a greater share of the rows that agree in all other attributes."""
    for name in rows[0]:
        alike = defaultdict(list)
        for row in rows:
            alike[tuple(value for other, value in row.items() if other != name)].append(row[name])
        if any(max(Counter(own).values()) > epsilon * len(own) for own in alike.values()):
            return False
    return True


SALARIES = {"salary": (1000.0, 1100.0, 1500.0, 4000.0, None), "ward": ("a", "b")}
CASES = [
    (
        GradedAlphaKAnonymity(alpha={"flu": 0.5}, others=0.8, k=2, attribute="diagnosis"),
        {"naive": lambda rows, table: graded(rows, {"flu": 0.5}, 0.8, 2)},
    ),
    (
        PSensitiveKAnonymity(p=2, k=2),
        {"naive": everywhere(lambda counts, n: n >= 2 and len(counts) >= 2)},
    ),
    (
        KeAnonymity(k=2, e=500, attribute="salary"),
        {"values": SALARIES, "naive": lambda rows, table: spread(rows, 2, 500)},
    ),
    (
        NtCloseness(n=4, t=0.3, attribute="diagnosis"),
        {"naive": lambda rows, table: near_enough(rows, table, 4, 0.3)},
    ),
    (
        GuardingNodes(p=0.5, nodes={"pains": ["flu", "gout"], "none": [None]}),
        {"values": {"diagnosis": ("flu", "gout", "hiv", None)}, "naive": guards},
    ),
    (
        XyLinkability(epsilon=0.6),
        {"naive": everywhere(lambda counts, n: 5 * max(counts) <= 3 * n)},
    ),
    (
        XyLinkability(epsilon=0.5, others_known=True),
        {"naive": lambda rows, table: unlinked(rows, 0.5)},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("requirement", "given"), CASES, ids=lambda case: getattr(case, "name", "")
)
def test_conformance(requirement, given):
    if "values" not in given and requirement.coverage.names == ("diagnosis",):
        given = {**given, "values": {"diagnosis": ("asthma", "flu", "gout")}}
    check_requirement(requirement, **given)


EXAMPLES = [
    REQUIREMENTS["graded-alpha-k-anonymity"](alpha={"HIV": 0.1}, others=0.5, k=3),
    REQUIREMENTS["p-sensitive-k-anonymity"](p=3, k=5, attribute="ill"),
    REQUIREMENTS["ke-anonymity"](k=3, e=1000, attribute="salary"),
    REQUIREMENTS["nt-closeness"](n=1000, t=0.2),
    REQUIREMENTS["xy-linkability"](epsilon=0.4, others_known=True),
    REQUIREMENTS["guarding-nodes"](p=0.3, nodes=["infectious"], attribute="ill"),
    REQUIREMENTS["guarding-nodes"](p=0.3, nodes={"infectious": ["HIV", None]}),
]


@pytest.mark.parametrize("requirement", EXAMPLES, ids=lambda one: one.name)
def test_written_and_read_back(requirement):
    assert requirement_from_mapping({requirement.name: requirement.parameters()}) == requirement


def test_no_message_repeats_a_value_that_the_job_names():
    for requirement in EXAMPLES:
        assert "HIV" not in str(shown_parameters(requirement))
        assert "infectious" not in str(shown_parameters(requirement))


def test_graded_shares_name_no_value_that_is_not_published():
    graded = REQUIREMENTS["graded-alpha-k-anonymity"](
        alpha={"HIV": 0.1, "flu": 0.4}, k=3, attribute="ill"
    )
    assert graded.naming({"ill": ["flu", "gout"]}).parameters()["alpha"] == {"flu": 0.4}
    assert graded.naming({"ill": ["gout"]}).name == "k-anonymity"
    bounded = graded.model_copy(update={"others": 0.5})
    assert bounded.naming({"ill": ["gout"]}) == AlphaKAnonymity(alpha=0.5, k=3, attribute="ill")
    assert graded.sentence() == (
        "Each person is in a group of at least 3 people, of which each value of 'ill' that the job"
        " names makes up at most its own share, 40 % or less."
    )


MODELS = [
    GradedAlphaKAnonymity(alpha={"a": 0.4, "c": 0.7}, k=2),
    GradedAlphaKAnonymity(alpha={"a": 0.3}, others=0.6, k=1),
    PSensitiveKAnonymity(p=2, k=3),
    KeAnonymity(k=2, e=3, attribute="S"),
    GuardingNodes(p=0.6, nodes={"low": ("a", "b"), "c": ("c",)}, attribute="S"),
    XyLinkability(epsilon=0.6),
    XyLinkability(epsilon=0.6, others_known=True),
    NtCloseness(n=4, t=0.3),
]


@pytest.mark.parametrize("requirement", MODELS, ids=merging.name_of)
def test_merging_keeps_them_and_no_partition_beats_the_table(requirement):
    merging.test_merging_passing_classes_keeps_passing(requirement, Distance.EQUAL)
    merging.test_no_partition_beats_the_whole_table(requirement, Distance.EQUAL)


@pytest.mark.parametrize(
    "requirement",
    [one for one in MODELS if not (one.algebra.absorbing or one.algebra.against_table)],
    ids=merging.name_of,
)
def test_what_is_not_called_absorbing_is_not(requirement):
    merging.test_what_is_not_called_absorbing_is_not(requirement, Distance.EQUAL)


@pytest.mark.parametrize(
    "asked",
    [
        {"p-sensitive-k-anonymity": {"p": 2, "k": 2}},
        {"graded-alpha-k-anonymity": {"alpha": {"a": 0.2}, "others": 0.5, "k": 2}},
        {"nt-closeness": {"n": 4, "t": 0.2}},
        {"xy-linkability": {"epsilon": 0.4}},
        {"xy-linkability": {"epsilon": 0.4, "others_known": True}},
    ],
    ids=str,
)
def test_merging_keeps_them_where_some_values_are_not_sensitive(asked):
    sparing.test_the_others_are_closed_under_merging_too(asked)


def definition(requirement, rows, name, person):
    """Return a figure, whether a smaller one is better, and the bound's test, for one class."""
    whole = naive.mass(rows, name, person)
    match requirement.name:
        case "p-sensitive-k-anonymity":
            least = requirement.p
            return lambda own: naive.distinct(own, name, person), False, lambda f: f >= least
        case "xy-linkability":
            other = "pay" if name == "ill" else "ill"

            def confidence(own):
                alike = naive.having_each(own, other, person) if requirement.others_known else [own]
                return max(
                    float(
                        max(naive.touched(inner, name, person).values())
                        / len(naive.members(inner, person))
                    )
                    for inner in alike
                )

            return confidence, True, lambda f: f <= requirement.epsilon + 1e-12
        case "nt-closeness":
            by = naive.t_equal if name == "ill" else naive.t_ordered
            n = requirement.n
            far = 0.0 if len(rows) >= n else math.inf
            return (
                lambda own: 0.0 if len(own) >= n else far + by(naive.mass(own, name, None), whole),
                True,
                lambda f: f <= requirement.t + 1e-9,
            )
    raise AssertionError(requirement.name)


@pytest.mark.parametrize("person", [None, "who"])
@FEW
@given(rows=ROWS)
def test_figures_are_those_of_the_definitions(person, rows):
    asked = [
        PSensitiveKAnonymity(p=2, k=2),
        XyLinkability(epsilon=0.5),
        XyLinkability(epsilon=0.5, others_known=True),
    ]
    if person is None:
        asked.append(NtCloseness(n=3, t=0.3))
    found = dc.check(
        frame_of(rows), quasi=QUASI, sensitive=["ill", "pay"], requirements=asked,
        person=person or (), distance={"pay": "ordered"},
    )  # fmt: skip
    checks.agree(found, rows, person, definition)


@FEW
@given(rows=ROWS, person=st.sampled_from([None, "who"]))
def test_shares_of_named_values(rows, person):
    if "flu" not in {row["ill"] for row in rows}:
        return
    asked = GradedAlphaKAnonymity(alpha={"flu": 0.25}, others=0.75, k=2)
    (found,) = dc.check(
        frame_of(rows), quasi=QUASI, sensitive=["ill"], requirements=[asked], person=person or ()
    ).requirements
    ratios, sizes = [], []
    for own in naive.classes_of(rows, QUASI):
        sizes.append(len(naive.members(own, person)))
        counts = naive.touched(own, "ill", person)
        ratios += [
            float(n) / sizes[-1] / (0.25 if value == "flu" else 0.75) for value, n in counts.items()
        ]
    assert found.achieved == pytest.approx({"share_over_alpha": max(ratios), "k": min(sizes)})
    assert found.holds == (max(ratios) <= 1 + 1e-9 and min(sizes) >= 2)


@FEW
@given(ROWS)
def test_ranges_of_numbers(rows):
    asked = KeAnonymity(k=2, e=5, attribute="pay")
    (found,) = dc.check(
        frame_of(rows), quasi=QUASI, sensitive=["ill", "pay"], requirements=[asked]
    ).requirements
    known = [{row["pay"] for row in own} - {None} for own in naive.classes_of(rows, QUASI)]
    ranges = [max(own) - min(own) if own else 0 for own in known]
    assert found.achieved == {"e": min(ranges), "k": min(map(len, known))}
    assert found.holds == (min(ranges) >= 5 and min(map(len, known)) >= 2)
