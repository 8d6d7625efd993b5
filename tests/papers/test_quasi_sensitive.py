"""Shi, Xiong and Fung (2010), figure 1: patients, symptoms, and a table of diseases."""

from __future__ import annotations

import csv

import numpy as np
import polars as pl
import pytest
from benchmarks.quasi_sensitive import paper_knowledge
from tests.tables import coded_column

import discreet as dc
from discreet.knowledge.table import estimated_prior, knowledge_from_sets, link
from discreet.requirements.base import Domain
from discreet.requirements.quasi_sensitive import LabelPosteriors, QsClDiversity, QsTCloseness
from discreet.table.classes import Classes, classes_of
from discreet.table.counts import count_values
from discreet.table.roles import Role

FLU = ["coughing", "headache", "sore throat"]
HEPATITIS = ["loss of appetite", "vomiting", "body aches", "dark urine"]
SYMPTOMS = [
    "coughing|headache|sore throat",
    "coughing|headache",
    "headache|sore throat",
    "headache|vomiting",
    "headache|sore throat",
]
GROUPS = ["GA", "GA", "GA", "TX", "TX"]


@pytest.fixture
def table():
    return knowledge_from_sets([("flu", FLU), ("hepatitis B", HEPATITIS)])


@pytest.fixture
def column():
    return coded_column("symptoms", SYMPTOMS, Role.QUASI_SENSITIVE, "|")


@pytest.fixture
def groups() -> Classes:
    return classes_of([coded_column("state", GROUPS)], 5)


def test_who_links_to_what(table, column):
    links = link(column, table)
    labels = [
        None
        if links.set_of_value[code] < 0
        else [
            table.labels[label]
            for label in links.label[
                links.start[links.set_of_value[code]] : links.start[links.set_of_value[code] + 1]
            ]
        ]
        for code in column.codes
    ]
    assert labels == [["flu"], ["flu"], ["flu"], None, ["flu"]]
    assert links.unlinked_rows(column.counts) == 1
    assert list(estimated_prior(links, column.counts)) == [1.0, 0.0]


def test_the_first_group_is_certain_of_the_flu(table, column, groups):
    links = link(column, table)
    head, tail = LabelPosteriors(count_values(groups, column), links, "equal").head_and_tail(2)
    assert list(head) == [1.0, 1.0]  # the fourth row links to nothing and is not counted
    assert list(tail) == [0.0, 0.0]
    domain = Domain(table.labels, links=links)
    counts = count_values(groups, column)
    assert not QsClDiversity(c=10, l=2).admits(counts, groups.size, domain).any()


def test_a_prior_that_is_already_certain_is_close(table, column, groups):
    links = link(column, table)
    links = links.with_prior(estimated_prior(links, column.counts))
    domain = Domain(table.labels, links=links)
    figures = QsTCloseness(t=0).measure(count_values(groups, column), groups.size, domain)
    assert list(figures) == [0.0, 0.0]


def test_published_from_files(tmp_path):
    pl.DataFrame(
        {
            "age": ["22", "25", "27", "30", "35"],
            "gender": ["M", "M", "M", "F", "F"],
            "state": GROUPS,
            "occupation": ["student"] * 3 + ["engineer"] * 2,
            "symptoms": SYMPTOMS,
        }
    ).write_csv(tmp_path / "people.csv")
    with (tmp_path / "diseases.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["disease", "symptom"])
        writer.writerows([("flu", term) for term in FLU])
        writer.writerows([("hepatitis B", term) for term in HEPATITIS])
    (tmp_path / "job.yaml").write_text(
        """
source: {path: people.csv}
attributes:
  age:        {role: quasi-identifier, hierarchy: suppress}
  gender:     {role: quasi-identifier}
  state:      {role: quasi-identifier}
  occupation: {role: quasi-identifier}
  symptoms:
    role: quasi-sensitive
    multi_valued: "|"
    knowledge: {path: diseases.csv, label: disease, term: symptom}
requirements:
  - k-anonymity: {k: 2}
  - qs-cl-diversity: {c: 2, l: 2, attribute: symptoms}
method: quasi-sensitive
"""
    )
    job = dc.Job.load(tmp_path / "job.yaml")
    release = dc.publish(None, job)
    found = release.tables["records"].group_by("state").agg(pl.col("symptoms").sort()).sort("state")
    # No symptom is in both diseases, so only a row without any fits both. In Georgia two rows must
    # lose all: the flu then has (1 + 1/2 + 1/2) / 3 = 2/3 ≤ 2 · 1/3; those of two symptoms are the
    # cheapest.
    georgia, texas = found["symptoms"].to_list()
    assert len(georgia) == 3
    assert sorted(cell == "*" for cell in georgia) == [False, True, True]
    assert "coughing|headache|sore throat" in georgia
    assert texas == ["*", "headache|vomiting"]
    facts = release.private["method"]  # what the files do not say is the publisher's
    assert facts["suppressed_terms"] == 6
    assert facts["optimal_groups"] == facts["groups"] == 2
    assert facts["cost"] == pytest.approx((3 / (11 / 6 + 3) + 1) / 2)
    assert facts["attributes"]["symptoms"]["unlinked_rows"] == 1


def test_the_synthetic_knowledge_table_has_the_paper_s_parameters():
    """Section 4.1: 3,000 labels with Poisson(20) terms each; a term occurs 100 times on average."""
    knowledge = paper_knowledge(np.random.default_rng(1), 3000)
    terms = np.diff(knowledge.term_start)
    assert len(knowledge.labels) == 3000
    assert terms.mean() == pytest.approx(20, abs=0.5)
    assert terms.var() == pytest.approx(20, rel=0.15)
    assert len(knowledge.term) / len(knowledge.terms) == pytest.approx(100, rel=0.05)
