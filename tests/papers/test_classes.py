"""The worked examples of the class models: ℓ-diversity's patients, CODIP's table 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from discreet.requirements.base import Domain
from discreet.requirements.bayes_optimal import (
    bayes_figures,
    dense_counts,
    estimated_prior,
    posterior_belief,
)
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    MDiversity,
    NpdRecursiveClDiversity,
    PDiversity,
    PdRecursiveClDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, count_classes
from discreet.table.roles import Distance, Role, ValueType

PATIENTS = """
13053,28,Russian,heart 13068,29,American,heart 13068,21,Japanese,viral 13053,23,American,viral
14853,50,Indian,cancer 14853,55,Russian,heart 14850,47,American,viral 14850,49,American,viral
13053,31,American,cancer 13053,37,Indian,cancer 13068,36,Japanese,cancer 13068,35,American,cancer
"""
ROWS = [tuple(cell.split(",")) for cell in PATIENTS.split()]
CONDITION = [row[3] for row in ROWS]
AGE = [int(row[1]) for row in ROWS]
FOUR_ANONYMOUS = ["young" if age < 30 else "old" if age >= 40 else "30s" for age in AGE]
THREE_DIVERSE = [
    row[0][:4] + ("young" if age <= 40 else "old") for row, age in zip(ROWS, AGE, strict=True)
]


def column(name: str, cells: Sequence[str]) -> Column:
    values = sorted(set(cells))
    codes = np.array([values.index(cell) for cell in cells], np.int32)
    series = pl.Series(values, dtype=pl.String)
    return Column(name, Role.SENSITIVE, ValueType.TEXT, codes, series, series)


def counted(
    labels: Sequence[str], *columns: Column, refined: bool = False
) -> tuple[ClassCounts, dict[str, Domain]]:
    group = column("group", labels)
    classes = group_codes([group.codes], [group.cardinality], len(labels))
    domains = {c.name: Domain(tuple(c.text.to_list()), c.distance) for c in columns}
    return count_classes(classes, columns, refined=refined), domains


def test_four_anonymous_table_is_homogeneous_in_one_class() -> None:
    counts, domains = counted(FOUR_ANONYMOUS, column("condition", CONDITION))
    assert KAnonymity(k=4).check(counts, domains).achieved == {"k": 4}
    verdict = DistinctLDiversity(l=2).check(counts, domains)
    assert not verdict.holds
    assert verdict.achieved == {"l": 1}
    assert verdict.by_attribute == {"condition": 1}
    assert counts.size[verdict.failing].sum() == 4  # 4 of 12 are disclosed


def test_three_diverse_table() -> None:
    counts, domains = counted(THREE_DIVERSE, column("condition", CONDITION))
    assert DistinctLDiversity(l=3).check(counts, domains).holds
    entropy = EntropyLDiversity(l=2.8).check(counts, domains)
    assert entropy.holds
    assert entropy.achieved["l"] == pytest.approx(math.exp(1.0397207708), abs=1e-9)
    assert not EntropyLDiversity(l=3).check(counts, domains).holds
    assert RecursiveClDiversity(c=2.001, l=3).check(counts, domains).holds
    at_two = RecursiveClDiversity(c=2, l=3).check(counts, domains)
    assert not at_two.holds
    assert at_two.achieved == {"c": 2}
    assert len(at_two.failing) == 3
    assert PDiversity(l=2).check(counts, domains).achieved == {"l": 2}


RAW = [  # table 1 of CODIP: diagnosis, family history, job
    ("HT", "HT", "teacher"),
    ("HT", "DB", "lawyer"),
    ("DB", "HT", "farmer"),
    ("AS", "AS", "teacher"),
]


@pytest.mark.parametrize(
    ("labels", "closeness"),
    [
        ("1122", {"diagnosis": 0.5}),
        ("1212", {"diagnosis": 0.25, "history": 0.5}),
        ("1221", {"diagnosis": 0.25, "job": 0.5}),
    ],
    ids="bcd",
)
def test_closeness_of_codip_table_1(labels: str, closeness: dict[str, float]) -> None:
    names = ("diagnosis", "history", "job")
    columns = [column(name, [row[i] for row in RAW]) for i, name in enumerate(names)]
    counts, domains = counted(labels, *columns)
    verdict = TCloseness(t=0.5).check(counts, domains)
    assert verdict.holds
    assert verdict.achieved == {"t": 0.5}
    assert verdict.by_attribute | closeness == verdict.by_attribute
    assert not TCloseness(t=0.49).check(counts, domains).holds
    assert TCloseness(t=0.25, attribute="diagnosis").check(counts, domains).holds == (
        labels != "1122"
    )


def test_ordered_closeness_of_the_salary_example() -> None:
    """Li and others, section 4: {3,4,5}k and {6,8,11}k against {3,…,11}k: 0.375 and 0.167."""
    salaries = ["3", "4", "5", "6", "8", "11", "7", "9", "10"]
    salary = column("salary", [s.zfill(2) for s in salaries])
    counts, domains = counted("aaabbbccc", salary)
    ordered = {"salary": Domain(domains["salary"].values, Distance.ORDERED)}
    figures = TCloseness(t=0.2).figures(counts, ordered, "salary")
    assert figures[:2] == pytest.approx([0.375, 1 / 6])
    assert list(TCloseness(t=0.2).passes(counts, ordered))[:2] == [False, True]


def test_block_that_is_diverse_in_each_attribute_and_not_in_both() -> None:
    """Section 4.3: knowing that S is not s1 leaves v3 alone."""
    s = column("S", ["s1", "s1", "s2", "s3"])
    v = column("V", ["v1", "v2", "v3", "v3"])
    counts, domains = counted("qqqq", s, v, refined=True)
    assert DistinctLDiversity(l=3).check(counts, domains).holds
    assert RecursiveClDiversity(c=2.1, l=3).check(counts, domains).holds
    verdict = MultiAttributeLDiversity(l=2).check(counts, domains)
    assert not verdict.holds
    assert verdict.by_attribute == {"S": 1, "V": 1}
    entropy = MultiAttributeLDiversity(inner=EntropyLDiversity(l=1.5))
    assert not entropy.check(counts, domains).holds
    assert MultiAttributeLDiversity(l=1).check(counts, domains).holds


def test_both_cases_of_definition_4_3() -> None:
    # Counts 6 flu, 4 cold, 3 HIV, 2 lupus. Y = {flu}: s_y is cold, y = 2.
    cells = ["flu"] * 6 + ["cold"] * 4 + ["HIV"] * 3 + ["lupus"] * 2
    counts, domains = counted("q" * 15, column("ill", cells))

    def figure(ell: int, *disclosable: str) -> float:
        requirement = PdRecursiveClDiversity(c=1, l=ell, disclosable=disclosable)
        return requirement.check(counts, domains).achieved["c"]

    assert figure(3, "flu") == 4 / (3 + 2)  # y = 2 ≤ ℓ − 1: ranks 3 and 4
    assert figure(2, "flu") == 4 / (6 + 3 + 2)  # y = 2 > ℓ − 1: all but y
    assert figure(3, "flu", "cold") == 3 / (4 + 2)  # y = 3 > 2: rank 2, then rank 4
    assert figure(4, "flu", "cold") == 3 / 2  # y = 3 ≤ 3: rank 4
    assert figure(5, "flu") == math.inf
    assert figure(2) == RecursiveClDiversity(c=1, l=2).check(counts, domains).achieved["c"]
    assert figure(3, "flu", "cold", "HIV", "lupus") == 0  # nothing needs hiding
    assert not PdRecursiveClDiversity(c=0.8, l=3, disclosable=["flu"]).check(counts, domains).holds
    assert PdRecursiveClDiversity(c=0.81, l=3, disclosable=["flu"]).check(counts, domains).holds


def test_npd_adds_the_least_share() -> None:
    cells = ["flu", "flu", "HIV", "flu", "flu", "flu", "HIV", "cold"]
    counts, domains = counted("aaaabbbb", column("ill", cells))
    held = NpdRecursiveClDiversity(
        c1=4, c2=0.25, l=2, disclosable=["flu"], not_ruled_out=["HIV"]
    ).check(counts, domains)
    assert held.holds
    assert held.achieved == {"c1": 1 / 3, "c2": 0.25}
    both = NpdRecursiveClDiversity(c1=4, c2=0.25, l=2, not_ruled_out=["HIV", "cold"])
    verdict = both.check(counts, domains)
    assert list(verdict.passes) == [False, True]
    assert verdict.achieved["c2"] == 0


def test_msa_table_2_is_distinct_3_and_only_2_diverse_in_probability() -> None:
    columns = column("I1", list("bcac")), column("I2", list("wxwy"))
    counts, domains = counted("gggg", *columns)
    assert DistinctLDiversity(l=3).check(counts, domains).holds
    for model in (PDiversity, MDiversity):
        assert model(l=2).check(counts, domains).holds
        assert not model(l=2.01).check(counts, domains).holds


def test_bayes_belief_of_the_patients() -> None:
    """Theorem 3.1: with f estimated from the table, and the homogeneous class certain."""
    condition = column("condition", CONDITION)
    by_class, _ = counted(FOUR_ANONYMOUS, condition)
    kinds = ["|".join(row[:3]) for row in ROWS]
    by_kind, _ = counted(kinds, condition)
    number = {label: i for i, label in enumerate(dict.fromkeys(FOUR_ANONYMOUS))}
    class_of_kind = np.array([number[label] for label in FOUR_ANONYMOUS])
    audit = bayes_figures(
        by_class.values["condition"],
        by_kind.values["condition"],
        class_of_kind,
        prior=np.full((12, 3), 1 / 3),
    )
    # With a flat prior the belief is the share in the class.
    assert audit.greatest_belief == 1
    assert audit.greatest_gain == pytest.approx(2 / 3)
    assert audit.positive == pytest.approx(4 / 12)
    assert audit.negative == pytest.approx(8 / 12)  # no cancer under 30; nothing else in the 30s
    assert audit.breached == 0  # 1/3 is not below ρ1
    counts = dense_counts(by_class.values["condition"])
    prior = np.tile([0.5, 0.3, 0.2], (12, 1))  # cancer, heart, viral
    prior[2] = [0.5, 0.01, 0.49]  # the Japanese of 21: heart disease is rare
    belief = posterior_belief(by_class.values["condition"], class_of_kind, prior, np.ones(12))
    of_class = prior[:4].mean(axis=0)
    odds = counts[0] * prior[2] / of_class
    assert belief[2] == pytest.approx(odds / odds.sum())
    assert belief[2][2] > 0.97
    assert estimated_prior(by_kind.values["condition"]).sum() == 12


@pytest.mark.parametrize("seed", range(3))
def test_about_148_groups_of_five_have_no_diversity(seed):
    """Machanavajjhala and others (2006, section 1.1): 12,000 groups of 5 with 3 values."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 3, 60_000).astype(np.int32)
    group = np.repeat(np.arange(12_000, dtype=np.int32), 5)
    classes = group_codes([group], [12_000], 60_000)
    text = pl.Series(["a", "b", "c"])
    sensitive = Column("S", Role.SENSITIVE, ValueType.TEXT, value, text, text, Distance.EQUAL)
    counts = count_classes(classes, [sensitive])
    figures = DistinctLDiversity(l=2).measure(counts.values["S"], counts.size, Domain(text))
    alike = int((figures < 2).sum())
    expected = 12_000 * 3 / 3**5
    assert math.floor(expected) == 148
    assert math.floor(5 * expected) == 740
    assert abs(alike - expected) < 3 * math.sqrt(expected)
