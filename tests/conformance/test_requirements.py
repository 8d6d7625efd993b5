"""The built-in requirements pass the conformance kit that plugins use."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from pydantic import Field

import discreet as dc
from discreet.knowledge.table import knowledge_from_sets
from discreet.requirements.base import Algebra, AttributeRequirement, ClassNeeds
from discreet.requirements.registry import REQUIREMENTS
from discreet.requirements.republication import (
    MInvarianceRequirement,
    RhoDifference,
    SeriesMInvariance,
    SeriesRhoDifference,
)
from discreet.testing import check_requirement
from discreet.testing.sample_tables import ATTRIBUTES, sample_table

LABELS = {"symptoms": knowledge_from_sets([("flu", "a"), ("flu", "b"), ("gout", "b")])}
TERMS = {"symptoms": ("a", "b", "a b", None)}


def of(rows, name):
    return list(Counter(row[name] for row in rows).values())


def everywhere(judge):
    """A requirement on all attributes, from one on the counts of each."""
    return lambda rows, table: all(judge(of(rows, name), len(rows)) for name in rows[0])


def recursive(counts, c, ell):
    ordered = sorted(counts, reverse=True)
    return len(ordered) >= ell and ordered[0] < c * sum(ordered[ell - 1 :])


def entropy(counts, size):
    return -sum(n / size * math.log(n / size) for n in counts)


def likeness(rows, table, beta):
    for name in rows[0]:
        whole = Counter(row[name] for row in table)
        for value, n in Counter(row[name] for row in rows).items():
            q = whole[value] / len(table)
            if n / len(rows) > q * (1 + beta) + 1e-9:
                return False
    return True


CASES = [
    (dc.KAnonymity(k=3), {"naive": lambda rows, table: len(rows) >= 3}),
    (dc.DistinctLDiversity(l=2), {"naive": everywhere(lambda counts, n: len(counts) >= 2)}),
    (
        dc.EntropyLDiversity(l=1.8),
        {"naive": everywhere(lambda c, n: entropy(c, n) >= math.log(1.8) - 1e-9)},
    ),
    (
        dc.RecursiveClDiversity(c=2, l=2),
        {"naive": everywhere(lambda counts, n: recursive(counts, 2, 2))},
    ),
    (dc.PdRecursiveClDiversity(c=1, l=2, disclosable=["flu"], attribute="diagnosis"), {}),
    (
        dc.NpdRecursiveClDiversity(
            c1=1.5, c2=0.2, l=2, disclosable=["flu"], not_ruled_out=["gout"], attribute="diagnosis"
        ),
        {},
    ),
    (dc.PDiversity(l=2), {"naive": everywhere(lambda counts, n: 2 * max(counts) <= n)}),
    (dc.MDiversity(l=1.5), {}),
    (dc.MultiAttributeLDiversity(l=2), {}),
    (dc.TCloseness(t=0.3), {}),
    (
        dc.AlphaKAnonymity(alpha=0.6, k=2),
        {"naive": everywhere(lambda counts, n: n >= 2 and 5 * max(counts) <= 3 * n)},
    ),
    (
        dc.LkcPrivacy(l=2, k=2, c=0.6),
        {"naive": everywhere(lambda counts, n: n >= 2 and 5 * max(counts) <= 3 * n)},
    ),
    (dc.DeltaPresence(upper=0.9), {"naive": lambda rows, table: False}),  # without a population
    (dc.KMap(k=3), {"naive": lambda rows, table: len(rows) >= 3}),  # a class has its rows alone
    (dc.PopulationRisk(at_most=0.4), {"naive": lambda rows, table: len(rows) >= 3}),
    (dc.BetaLikeness(beta=1), {"naive": lambda rows, table: likeness(rows, table, 1)}),
    (dc.DeltaDisclosure(delta=1.2), {}),
    (
        dc.SaDiversity(l={"diagnosis": 2, "salary": 3}),
        {"naive": lambda r, t: len(of(r, "diagnosis")) >= 2 and len(of(r, "salary")) >= 3},
    ),
    (dc.QsClDiversity(c=1, l=2), {"values": TERMS, "knowledge": LABELS}),
    (dc.QsTCloseness(t=0.3), {"values": TERMS, "knowledge": LABELS}),
    (
        RhoDifference(rho=0.5),
        {"naive": everywhere(lambda counts, n: 2 * max(counts) <= n)},
    ),
    (
        MInvarianceRequirement(m=2),
        {"merging": False, "naive": everywhere(lambda c, n: max(c) == 1 and len(c) >= 2)},
    ),
]  # fmt: skip
ONE = {name: entry for name, entry in ATTRIBUTES.items() if name != "salary"}
SERIES = {"attributes": ONE, "make_table": lambda seed: sample_table(seed).drop("salary")}
# Judged on all tables of a decomposed release, or on a series of releases.
CASES += [
    (
        dc.ConditionalLDiversity(l=2, known="diagnosis"),
        {
            "by": dc.Decomposition(
                l={"diagnosis": 2, "salary": 2}, primary="diagnosis", conditional_l={"l": 2}
            )
        },
    ),
    (SeriesMInvariance(m=2), {"by": dc.MInvariance(m=2), **SERIES}),
    (SeriesRhoDifference(rho=0.5), {"by": dc.RhoDifferent(rho=0.5), **SERIES}),
]


def test_every_requirement_is_checked():
    # No method gives the first of itself, and the second is judged on sets: oracles/test_bcf… and
    # oracles/test_km_anonymity.py.
    elsewhere = {"bcf-anonymity-in-series", "km-anonymity"}
    assert {requirement.name for requirement, _ in CASES} == set(REQUIREMENTS.built_in) - elsewhere


@pytest.mark.parametrize(
    ("requirement", "given"), CASES, ids=lambda case: getattr(case, "name", "")
)
def test_conformance(requirement, given):
    values = given.get("values")
    if values is None and requirement.coverage.names == ("diagnosis",):
        values = {"diagnosis": ("asthma", "flu", "gout")}
        given = {**given, "values": values}
    check_requirement(requirement, **given)


class Most(AttributeRequirement):
    """No value occurs more than ``most`` times in a class: merging loses it."""

    name: ClassVar[str] = "most"
    algebra: ClassVar[Algebra] = Algebra("most", smaller_is_better=True)

    most: int = Field(description="The greatest number of rows with one value.")

    def measure(self, values, size, domain):
        return np.maximum.reduceat(values.count, values.start[:-1]).astype(float)

    def accepts(self, figures):
        return figures <= self.most

    def sentence(self):
        return f"No value occurs more than {self.most} times."


class Wrong(Most):
    """A requirement with one mistake."""

    name: ClassVar[str] = "wrong"


def mistaken(**methods):
    return type("Mistaken", (Wrong,), {"__doc__": "A mistake.", **methods})(most=5)


@pytest.mark.parametrize(
    ("requirement", "given", "problem"),
    [
        (Most(most=2), {}, "loses it"),
        (Most(most=2), {"naive": lambda rows, table: True, "merging": False}, "naive derivation"),
        (mistaken(sentence=lambda self: "no sentence"), {}, "not a sentence"),
        (mistaken(accepts=lambda self, f: f >= 2), {"merging": False}, "better figure fails"),
        (mistaken(measure=lambda self, v, s, d: s * np.nan), {}, "not a number for each class"),
        (mistaken(needs=ClassNeeds(rows=3)), {"merging": False}, "`needs`"),
        (mistaken(parameters=lambda self: {"most": 7}), {}, "read back"),
        (mistaken(problems=lambda self, domains: ["no"]), {}, "problems with the table"),
        (
            mistaken(accepts=lambda self, f: f <= 99, excess=lambda self, v, size, d, share: size),
            {},
            "least_removed",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_mistakes_are_found(requirement, given, problem):
    with pytest.raises(AssertionError, match=problem):
        check_requirement(requirement, **given)
