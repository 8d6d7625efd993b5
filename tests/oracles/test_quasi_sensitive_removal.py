"""The search for terms to remove against trying every removal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from experiments.paper_term_removal import remove_by_paper
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import knowledge_tables as plain

from discreet.knowledge.table import Knowledge, Links, knowledge_from_sets
from discreet.methods.quasi_sensitive.quasi_sensitive import principles_of
from discreet.methods.quasi_sensitive.removal import (
    INFEASIBLE,
    OPTIMAL,
    UNTOUCHED,
    Removal,
    TermGroups,
    remove_terms,
)
from discreet.requirements.quasi_sensitive import LinkRequirement, QsClDiversity, QsTCloseness

TERMS = "abcdef"
LABELS = ["flu", "cold", "gout", "hiv", "zoster"]


@st.composite
def cases(draw):
    """A table, a group of linked rows with at most 12 occurrences, and a prior."""
    table = {
        label: frozenset(draw(st.sets(st.sampled_from(TERMS), min_size=1)))
        for label in LABELS[: draw(st.integers(2, 5))]
    }
    rows, left = [], 12
    for _ in range(draw(st.integers(1, 4))):
        known = sorted(table[draw(st.sampled_from(sorted(table)))])
        row = sorted(draw(st.sets(st.sampled_from(known), max_size=min(left, 4))))
        rows.append(row)
        left -= len(row)
    shares = [draw(st.integers(1, 4)) for _ in table]
    prior = {label: Fraction(s, sum(shares)) for label, s in zip(table, shares, strict=True)}
    return table, rows, prior


REQUIREMENTS = st.one_of(
    st.builds(
        QsClDiversity,
        c=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
        l=st.integers(1, 4),
        weights=st.sampled_from(["equal", "prior"]),
    ),
    st.builds(
        QsTCloseness,
        t=st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5]),
        distance=st.sampled_from(["l1", "l2"]),
        weights=st.sampled_from(["equal", "prior"]),
    ),
)


def links(knowledge: Knowledge, prior: plain.Prior) -> Links:
    alpha = np.array([float(prior[label]) for label in knowledge.labels])
    nothing = np.zeros(0, np.int32)
    return Links(knowledge, nothing, np.zeros(1, np.int64), nothing, alpha)


def groups(knowledge: Knowledge, rows: list[list[str]]) -> TermGroups:
    code = {term: number for number, term in enumerate(knowledge.terms)}
    ordered = sorted(rows)
    return TermGroups(
        np.array([0, len(rows)]),
        np.concatenate(([0], np.cumsum([len(row) for row in ordered]))).astype(np.int64),
        np.array([code[term] for row in ordered for term in row], np.int32),
        knowledge.labels_of_term,
    )


def passes(table, rows, prior, requirement: LinkRequirement) -> bool:
    found = plain.belief(table, rows, prior if requirement.weights == "prior" else None)
    if isinstance(requirement, QsClDiversity):
        return plain.diverse(found, Fraction(str(requirement.c)), requirement.l)
    assert isinstance(requirement, QsTCloseness)
    return plain.close(found, prior, Fraction(str(requirement.t)), requirement.distance)


def cheapest(table, rows, prior, requirements) -> Fraction | None:
    """The least cost of any removal that passes; None where none does."""
    by_cost = sorted((plain.cost(rows, kept), kept) for kept in plain.removals(rows))
    for cost, kept in by_cost:
        if all(passes(table, kept, prior, r) for r in requirements):
            return cost
    return None


def check(removal: Removal, table, rows, prior, requirements, least: Fraction | None) -> None:
    if least is None:
        assert removal.status[0] == INFEASIBLE
        return
    assert removal.status[0] in (OPTIMAL, UNTOUCHED)
    assert removal.cost[0] == pytest.approx(float(least), abs=1e-12)
    place, kept = 0, []
    for row in sorted(rows):
        kept.append([t for t, k in zip(row, removal.stays[place:], strict=False) if k])
        place += len(row)
    assert plain.cost(sorted(rows), kept) == least
    assert all(passes(table, kept, prior, r) for r in requirements)


@given(cases(), st.lists(REQUIREMENTS, min_size=1, max_size=2))
@settings(max_examples=120, deadline=None)
def test_the_exact_search_finds_the_optimum(case, requirements):
    table, rows, prior = case
    requirements = [r.model_copy(update={"weights": requirements[0].weights}) for r in requirements]
    knowledge = knowledge_from_sets(list(table.items()))
    principles = principles_of(requirements, links(knowledge, prior))
    least = cheapest(table, rows, prior, requirements)
    removal = remove_terms(groups(knowledge, rows), principles, exact=True, threads=1)
    check(removal, table, rows, prior, requirements, least)


@given(cases(), REQUIREMENTS, st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_papers_search_ends_at_the_optimum(case, requirement, adaptive):
    table, rows, prior = case
    knowledge = knowledge_from_sets(list(table.items()))
    principles = principles_of([requirement], links(knowledge, prior))
    least = cheapest(table, rows, prior, [requirement])
    removal = remove_by_paper(groups(knowledge, rows), principles, adaptive=adaptive, nodes=10**6)
    check(removal, table, rows, prior, [requirement], least)


@given(cases(), REQUIREMENTS, st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_any_budget_gives_a_removal_that_passes_or_none(case, requirement, nodes):
    table, rows, prior = case
    knowledge = knowledge_from_sets(list(table.items()))
    principles = principles_of([requirement], links(knowledge, prior))
    removal = remove_terms(groups(knowledge, rows), principles, nodes=nodes, threads=1)
    if removal.status[0] > 0:
        place, kept = 0, []
        for row in sorted(rows):
            kept.append([t for t, k in zip(row, removal.stays[place:], strict=False) if k])
            place += len(row)
        assert passes(table, kept, prior, requirement)
        assert removal.cost[0] == pytest.approx(float(plain.cost(sorted(rows), kept)))
    elif removal.status[0] == INFEASIBLE:
        assert cheapest(table, rows, prior, [requirement]) is None
