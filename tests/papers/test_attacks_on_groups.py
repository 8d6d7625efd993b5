"""Attacks on groups, on the first worked example of each in its paper."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.attacks.handmade import Handmade
from tests.papers.voters import buckets_42, table_42

import discreet as dc

# Machanavajjhala et al. (2006), figure 1: zip, age, nationality, condition.
PATIENTS = [
    row.split(",")
    for row in [
        "13053,28,Russian,heart",
        "13068,29,American,heart",
        "13068,21,Japanese,viral",
        "13053,23,American,viral",
        "14853,50,Indian,cancer",
        "14853,55,Russian,heart",
        "14850,47,American,viral",
        "14850,49,American,viral",
        "13053,31,American,cancer",
        "13053,37,Indian,cancer",
        "13068,36,Japanese,cancer",
        "13068,35,American,cancer",
    ]
]
PATIENT_COLUMNS = {
    "zip": {"role": "q", "type": "integer"},
    "age": {"role": "q", "type": "integer"},
    "nationality": "q",
    "condition": "s",
}


def patients(folder, cells, promises=()):
    """The patients published with the cells of their classes."""
    records = [[*cell, "*", row[3]] for cell, row in zip(cells, PATIENTS, strict=True)]
    return Handmade(
        folder, PATIENT_COLUMNS, PATIENTS, {"records": (list(PATIENT_COLUMNS), records)}, promises
    )


def four_anonymous(folder, promises=()):
    """Figure 2."""
    cells = (
        [("[13000, 13100)", "[0, 30)")] * 4
        + [("[14850, 14860)", "[40, 99)")] * 4
        + [("[13000, 13100)", "[30, 40)")] * 4
    )
    return patients(folder, cells, promises)


def three_diverse(folder, promises=()):
    """Figure 3."""
    cell_of_zip = {
        "13053": ("[13050, 13060)", "[0, 40]"),
        "13068": ("[13060, 13070)", "[0, 40]"),
        "14853": ("[14850, 14860)", "(40, 99]"),
        "14850": ("[14850, 14860)", "(40, 99]"),
    }
    cells = [cell_of_zip[row[0]] for row in PATIENTS]
    cells = [(z, a.replace("(40", "[41")) for z, a in cells]
    return patients(folder, cells, promises)


def test_homogeneity_l_diversity_figure_2_discloses_4_of_12(tmp_path):
    found = four_anonymous(tmp_path, [{"k-anonymity": {"k": 4}}]).one("homogeneity")
    assert found.targets == 12
    assert found.certain == pytest.approx(4 / 12)
    assert found.mean == pytest.approx((4 * 0.5 + (2 * 0.5 + 2 * 0.25) + 4) / 12)
    assert found.greatest == 1
    assert found.bound is None


def test_homogeneity_l_diversity_figure_3_stays_at_a_half(tmp_path):
    found = three_diverse(tmp_path, [{"p-diversity": {"l": 2}}]).one("homogeneity")
    assert found.greatest == pytest.approx(1 / 2)
    assert found.bound == pytest.approx(1 / 2)
    assert not found.exceeded


UMEKO = {"who": {"nationality": ["Japanese"]}, "attribute": "condition", "never": ["heart"]}


def test_background_knowledge_l_diversity_umeko(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    rule = {"background-knowledge": {"rules": [UMEKO]}}
    found = four_anonymous(tmp_path / "a").one(rule)
    # Umeko's viral infection is certain; the other Japanese is among four with cancer.
    assert found.certain == pytest.approx(5 / 12)
    assert found.method == "exact"
    found = three_diverse(tmp_path / "b").one(rule)
    # In 1306*: Umeko viral 1/3, the Japanese with cancer 2/3; each American: heart 1/2,
    # cancer 1/3. In 1305*, where no one is Japanese: 1/4, 1/4, 1/2, 1/2; in 1485* the same shares.
    expected = [1 / 3, 2 / 3, 1 / 2, 1 / 3, *([1 / 4, 1 / 4, 1 / 2, 1 / 2] * 2)]
    assert found.mean == pytest.approx(sum(expected) / 12)
    assert found.greatest == pytest.approx(2 / 3)


def test_homogeneity_and_background_knowledge_opinion_polls_table_13(tmp_path):
    """The first group has c alone; in the second, one voter of zip 6600 for a leaves b."""
    original = [["20", "1200", "c"], ["30", "3400", "c"], ["30", "5600", "b"], ["40", "6600", "a"]]
    cells = [("[20, 30]", "[1200, 3400]")] * 2 + [("[30, 40]", "[5600, 6600]")] * 2
    records = [[*cell, row[2]] for cell, row in zip(cells, original, strict=True)]
    integer = {"role": "q", "type": "integer"}
    columns = {"age": integer, "zip": integer, "I1": "s"}
    made = Handmade(tmp_path, columns, original, {"records": (list(columns), records)})
    found = made.one("homogeneity", "I1")
    assert found.certain == pytest.approx(2 / 4)
    assert found.mean == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    rule = {"who": {"zip": ["6600"]}, "attribute": "I1", "never": ["b", "c"]}
    assert made.one({"background-knowledge": {"rules": [rule]}}, "I1").certain == 1


def test_skewness_opinion_polls_section_2_3_2_3(tmp_path):
    """2-diverse group with a and c at a half each, where a fills a tenth of the table."""
    rows = [["1", "a"], ["1", "c"]] + [["2", "c"]] * 8
    columns = {"q": "q", "v": "s"}
    promise = [{"t-closeness": {"t": 0.4}}]
    made = Handmade(tmp_path, columns, rows, {"records": (["q", "v"], rows)}, promise)
    found = made.one("skewness")
    assert found.details["greatest_gain"] == pytest.approx(5)
    assert found.bound == 1.0
    assert not found.exceeded
    assert found.mean == pytest.approx((0.5 + 0.5 + 8) / 10)


def test_skewness_opinion_polls_table_14_gains_nothing(tmp_path):
    rows = [["1", "a"]] * 4 + [["1", "b"]]
    made = Handmade(tmp_path, {"q": "q", "v": "s"}, rows, {"records": (["q", "v"], rows)})
    found = made.one("skewness")
    assert found.details["greatest_gain"] == pytest.approx(1)
    assert found.greatest == pytest.approx(0.8)


def test_similarity_opinion_polls_table_15(tmp_path):
    rows = [["1", v] for v in "ababf"]
    made = Handmade(tmp_path, {"q": "q", "v": "s"}, rows, {"records": (["q", "v"], rows)})
    kinds = {"similarity": {"kinds_of": {"v": {"first": ["a", "b"], "second": ["f"]}}}}
    found = made.one(kinds)
    assert found.greatest == pytest.approx(0.8)


def test_non_membership_opinion_polls_table_2(tmp_path):
    """(b,w),(c,x),(a,w),(c,y): one who is known not to have c has w."""
    rows = [["1", "b", "w"], ["1", "c", "x"], ["1", "a", "w"], ["1", "c", "y"]]
    columns = {"q": "q", "I1": "s", "I2": "s"}
    made = Handmade(
        tmp_path, columns, rows, {"records": (list(columns), rows)}, [{"p-diversity": {"l": 2}}]
    )
    one, two = [f for f in made.attack("non-membership") if f.aim == "I2"]
    assert one.greatest == 1
    assert one.certain == pytest.approx(1 / 2)
    assert one.bound is None  # 2-pdiversity promises nothing after one bit: 1/(2 − 1)
    assert two.greatest == 1


def test_non_membership_opinion_polls_table_42(tmp_path):
    """1/3, 1/2 and 1 for i = 0, 1, 2: the promise, and no more."""
    made = buckets_42(tmp_path)
    assert made.one("homogeneity", "I1").greatest == pytest.approx(1 / 3)
    one, two = [f for f in made.attack("non-membership") if f.aim == "I1"]
    assert one.greatest == pytest.approx(1 / 2)
    assert one.bound == pytest.approx(1 / 2)
    assert two.greatest == pytest.approx(1)
    assert not one.exceeded
    assert not two.exceeded


def test_people_who_fit_two_classes_of_table_42_are_believed_less(tmp_path):
    """t6, t7 and t9's cells overlap: beliefs mix over the assignments, never above 1/3."""
    found = table_42(tmp_path).one("homogeneity", "I1")
    assert found.targets == 9
    assert found.method == "exact"
    assert found.greatest <= 1 / 3 + 1e-12
    assert not found.exceeded


def ratings(d):
    """684 users of a made-up site, d films; the paper's own users can't be had."""
    rng = np.random.default_rng(1)
    shares = (
        [0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15, 0.15, 0.12, 0.10]
        if d == 2
        else [0.06, 0.11, 0.27, 0.34, 0.22]
    )
    people = {
        "age": rng.integers(10, 75, 684),
        "zip": rng.integers(10000, 99999, 684),
        "sex": rng.choice(["f", "m"], 684),
    }
    values = [str(value) for value in range(len(shares))]
    films = {f"film {i}": rng.choice(values, 684, p=shares) for i in range(d)}
    return pl.DataFrame({**people, **films})


@pytest.mark.parametrize(("d", "ell", "gal"), [(2, 5, 0.6), (5, 2, 0.86)])
def test_disclosure_probabilities_opinion_polls_figures_24_and_25(d, ell, gal):
    """Nobody is above 1/ℓ by MSA-diversity; by Gal and others about as far as the paper has it."""
    table = ratings(d)
    attributes = {
        name: {"role": "sensitive" if name.startswith("film") else "quasi-identifier"}
        for name in table.columns
    }
    greatest = {}
    for method, requirements in (
        ({"msa-diversity": {"publish": "buckets"}}, [{"m-diversity": {"l": ell}}]),
        ({"gal": {"l": ell, "halves": "suppress"}}, []),  # as the paper has it
    ):
        job = dc.Job(attributes=attributes, requirements=requirements, method=method)
        release = dc.publish(table, job, seed=0)
        findings = dc.attack(release, original=table, attacks=["homogeneity"]).findings
        assert all(f.targets == 684 - release.manifest.suppressed_rows for f in findings)
        assert len(findings) == d
        greatest[release.manifest.method.name] = max(f.greatest for f in findings)
    assert greatest["msa-diversity"] == pytest.approx(1 / ell)
    assert greatest["gal"] == pytest.approx(gal, abs=0.1)
