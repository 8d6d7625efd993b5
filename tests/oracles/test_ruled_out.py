"""``ruled_out: harmless`` by enumeration: all assignments of rows to people, all such knowledge.

The people of a group each have one of its rows, every assignment equally likely. A fact says that a
person has a harmless value, or that a person has none. Whatever facts an attacker knows, no belief
in a sensitive value v is above n(v)/n(S), n(S) the rows with a sensitive value; and the fact that
the target has no harmless value reaches it (docs/requirements/l-diversity.md).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.test_non_sensitive import SPARED, VALUES, closed_under_merging, judged

from discreet.requirements.registry import requirement_from_mapping


def beliefs(rows, harmless, facts):
    """The belief in each value of the first person; None where no assignment obeys the facts."""
    had, worlds = Counter(), 0
    for world in itertools.permutations(rows):
        if all((world[person] in harmless) == fact for person, fact in facts.items()):
            had[world[0]] += 1
            worlds += 1
    return {value: Fraction(times, worlds) for value, times in had.items()} if worlds else None


def all_facts(people):
    for known in itertools.product([None, True, False], repeat=people):
        yield {person: fact for person, fact in enumerate(known) if fact is not None}


def strongest(rows, harmless):
    """The greatest belief in a sensitive value over everything that may be known; 0 for none."""
    found = [Fraction(0)]
    for facts in all_facts(len(rows)):
        held = beliefs(rows, harmless, facts) or {}
        found += [share for value, share in held.items() if value not in harmless]
    return max(found)


def possible(rows, harmless):
    """How many values are possible for a person who has none of the harmless ones."""
    return len(beliefs(rows, harmless, {0: False}) or {})


GROUPS = [
    rows for size in range(1, 6) for rows in itertools.combinations_with_replacement("Nabc", size)
]


@pytest.mark.parametrize("rows", GROUPS, ids="".join)
def test_no_knowledge_of_harmless_values_exceeds_the_bound(rows):
    harmless = {"N"}
    secret = Counter(value for value in rows if value != "N")
    expected = Fraction(max(secret.values(), default=0), max(sum(secret.values()), 1))
    assert strongest(rows, harmless) == expected
    labelled = [(0, value) for value in rows]
    for ell in (1, 1.5, 2, 3):
        asked = {"p-diversity": {"l": ell, "ruled_out": "harmless", "non_sensitive": ["e"]}}
        passes, _, _ = judged(requirement_from_mapping(asked), _with_names(labelled))
        assert passes[0] == (expected <= 1 / Fraction(ell))
    for ell in (1, 2, 3):
        asked = {
            "distinct-l-diversity": {"l": ell, "ruled_out": "harmless", "non_sensitive": ["e"]}
        }
        passes, _, _ = judged(requirement_from_mapping(asked), _with_names(labelled))
        assert passes[0] == (possible(rows, harmless) == 0 or possible(rows, harmless) >= ell)


def _with_names(rows):
    """N as the letter that the hierarchy of these tests knows."""
    return [(number, "e" if value == "N" else value) for number, value in rows]


def secrets_of(rows, harmless):
    return Counter(value for value in rows if value not in harmless)


def distinct(rows, harmless, ell):
    count = secrets_of(rows, harmless)
    return not count or len(count) >= ell


def shares(rows, harmless, ell):
    count = secrets_of(rows, harmless)
    return not count or Fraction(max(count.values()), sum(count.values())) <= 1 / Fraction(ell)


def entropy(rows, harmless, ell):
    count = secrets_of(rows, harmless)
    n = sum(count.values())
    spread = sum(k * math.log(n / k) for k in count.values())
    return not count or spread >= n * math.log(ell) - 1e-9


def recursive(rows, harmless, ell):
    """c = 2: the most frequent is less than twice as frequent as those from the ℓ-th on."""
    counts = sorted(secrets_of(rows, harmless).values(), reverse=True)
    return ell == 1 or not counts or counts[0] < 2 * sum(counts[ell - 1 :])


NAIVE = {
    "distinct-l-diversity": (distinct, {}),
    "p-diversity": (shares, {}),
    "m-diversity": (shares, {}),
    "entropy-l-diversity": (entropy, {}),
    "recursive-cl-diversity": (recursive, {"c": 2}),
}
ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(VALUES)), min_size=1, max_size=14)


@pytest.mark.parametrize("name", NAIVE)
@settings(max_examples=80, deadline=None)
@given(ROWS, SPARED, st.integers(1, 3))
def test_it_is_the_requirement_on_the_rows_with_a_sensitive_value(name, rows, spared, ell):
    naive, more = NAIVE[name]
    asked = requirement_from_mapping({name: {"l": ell, "ruled_out": "harmless", **more}})
    table = [value for _, value in rows]
    occurring = [value for value in sorted(spared) if value in table]
    (requirement,) = asked.sparing({"s": occurring}, ["s"])
    passes, figures, domain = judged(requirement, rows)
    of_class = defaultdict(list)
    for number, value in rows:
        of_class[number].append(value)
    expected = [naive(of_class[number], spared, ell) for number in sorted(of_class)]
    assert passes.tolist() == expected
    assert np.isfinite(figures[passes]).all()
    limits = requirement.share_bound(
        np.array([table.count(v) / len(table) for v in domain.values]), domain
    )
    for number, fine in zip(sorted(of_class), expected, strict=True):
        for value, limit in zip(domain.values, limits, strict=True):
            if fine:
                assert of_class[number].count(value) / len(of_class[number]) <= limit + 1e-9
    closed_under_merging(requirement, rows, passes)
    # never weaker than the form for attackers who rule nothing out
    (plain,) = requirement_from_mapping({name: {"l": ell, **more}}).sparing({"s": occurring}, ["s"])
    assert (judged(plain, rows)[0] | ~passes).all()
