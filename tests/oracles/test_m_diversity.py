"""ℓ-mdiversity by enumeration: all assignments of rows to people, all bits of knowledge.

A group's people each have one of its rows, every assignment equally likely. A bit says that a
person does not have a value of an attribute. After i bits that some assignment obeys, no belief in
a value of a person is above 1/(ℓ − i): so says m-diversity, and that it holds exactly where the
most frequent value of every attribute fills at most 1/ℓ (docs/papers/opinion-polls.md).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from tests.tables import coded_column

from discreet.requirements.base import Domain
from discreet.requirements.diversity import MDiversity
from discreet.table.classes import Classes
from discreet.table.counts import count_classes


def worlds_of(rows):
    """The distinct assignments with their multiplicities folded in: a list of tuples of rows."""
    return [tuple(rows[i] for i in order) for order in permutations(range(len(rows)))]


def facts_of(rows):
    """Every (person, attribute, value) that could be a bit."""
    return [
        (person, attribute, value)
        for person in range(len(rows))
        for attribute in range(len(rows[0]))
        for value in sorted({row[attribute] for row in rows})
    ]


def masks(rows):
    """For each fact "the person has the value", which worlds have it."""
    worlds = worlds_of(rows)
    return {
        fact: np.array([world[fact[0]][fact[1]] == fact[2] for world in worlds])
        for fact in facts_of(rows)
    }


def greatest_belief(rows, bits, target=0):
    """The greatest belief about one person (people are alike) after the worst ``bits`` facts."""
    has = masks(rows)
    facts = list(has)
    about = np.array([has[fact] for fact in facts if fact[0] == target])
    worst = Fraction(0)
    for chosen in combinations(facts, bits):
        possible = np.ones(about.shape[1], bool)
        for fact in chosen:
            possible &= ~has[fact]
        total = int(possible.sum())
        if total:
            worst = max(worst, Fraction(int((about & possible).sum(axis=1).max()), total))
    return worst


def ell_of(rows):
    """size / greatest count, the worst attribute."""
    greatest = max(
        max(sum(row[j] == value for row in rows) for value in {row[j] for row in rows})
        for j in range(len(rows[0]))
    )
    return Fraction(len(rows), greatest)


def judged(rows, ell):
    columns = [coded_column(f"s{j}", [row[j] for row in rows]) for j in range(len(rows[0]))]
    one = Classes(np.zeros(len(rows), np.int32), np.zeros(1, np.int64), np.array([len(rows)]))
    counts = count_classes(one, columns)
    domains = {c.name: Domain(tuple(c.text.to_list())) for c in columns}
    return MDiversity(l=ell).check(counts, domains).holds


def assert_m_diverse(rows, most_bits):
    ell = ell_of(rows)
    for bits in range(min(most_bits, int(np.ceil(ell)) - 1) + 1):
        if ell - bits > 0:
            assert greatest_belief(rows, bits) <= 1 / (ell - bits), (rows, bits)


@pytest.mark.parametrize(("size", "bits"), [(3, 2), (4, 3), (5, 3), (6, 2)])
def test_sa_distinct_groups_are_m_diverse(size, bits):
    """Theorem 2, all bits on all people; two attributes, each of distinct values."""
    rows = list(zip("abcdef"[:size], "uvwxyz"[:size], strict=True))
    assert ell_of(rows) == size
    assert_m_diverse(rows, bits)
    assert judged(rows, size)
    assert not judged(rows, size + 1)


@pytest.mark.parametrize("bits", [3, 4])
def test_sa_distinct_groups_of_six_are_m_diverse_after_more_bits(bits):
    """Values of such a group name whole rows, so that one attribute stands for all of them."""
    size = 6
    worlds = list(permutations(range(size)))
    has = {
        (person, row): sum(1 << w for w, world in enumerate(worlds) if world[person] == row)
        for person in range(size)
        for row in range(size)
    }
    everything = (1 << len(worlds)) - 1
    worst = Fraction(0)
    for chosen in combinations(has.values(), bits):
        possible = everything
        for mask in chosen:
            possible &= ~mask
        total = possible.bit_count()
        if total:
            top = max((possible & has[0, row]).bit_count() for row in range(size))
            worst = max(worst, Fraction(top, total))
    assert worst == Fraction(1, size - bits)


def test_every_group_of_three_and_four_rows_with_two_attributes():
    """SA-distinct or not: the share of the most frequent value decides, and nothing else."""
    for size in (3, 4):
        seen = set()
        for rows in product(product("abc", "xyz"), repeat=size):
            key = tuple(sorted(rows))
            if key in seen:
                continue
            seen.add(key)
            if len(seen) % 5:  # a fifth of them keeps the test short
                continue
            assert_m_diverse(list(key), 2 if size == 3 else 1)


def test_sampled_groups_of_five_and_six_rows_with_three_attributes():
    rng = np.random.default_rng(5)
    for size, samples, bits in ((5, 6, 2), (6, 4, 1)):
        for _ in range(samples):
            rows = [tuple(int(v) for v in rng.integers(0, 4, 3)) for _ in range(size)]
            assert_m_diverse(rows, bits)


def test_bits_about_others_never_do_better_than_bits_about_the_target():
    rng = np.random.default_rng(7)
    for _ in range(10):
        rows = [tuple(int(v) for v in rng.integers(0, 3, 2)) for _ in range(4)]
        has = masks(rows)
        own = [fact for fact in has if fact[0] == 0]
        about = np.array([has[fact] for fact in own])
        for bits in (1, 2):
            best = Fraction(0)
            for chosen in combinations(own, bits):
                possible = ~np.any([has[fact] for fact in chosen], axis=0)
                if possible.any():
                    top = int((about & possible).sum(axis=1).max())
                    best = max(best, Fraction(top, int(possible.sum())))
            assert greatest_belief(rows, bits) == best or bits >= ell_of(rows)


def test_table_2_of_the_paper_discloses_w():
    """Who is known not to have c has w for certain; three values an attribute are not enough."""
    rows = [("b", "w"), ("c", "x"), ("a", "w"), ("c", "y")]
    assert ell_of(rows) == 2
    assert greatest_belief(rows, 0) == Fraction(1, 2)
    assert greatest_belief(rows, 1) == 1
    assert not judged(rows, 3)


def test_table_42_of_the_paper():
    rows = [("a", "w"), ("b", "z"), ("d", "x")]
    assert [greatest_belief(rows, bits) for bits in range(3)] == [Fraction(1, 3), Fraction(1, 2), 1]


def test_a_colluder_s_known_row_counts_as_one_bit():
    """Knowing another person's row leaves the target one of the other rows."""
    rows = [("a", "w"), ("b", "z"), ("d", "x"), ("c", "y")]
    left = rows[1:]
    assert ell_of(left) == ell_of(rows) - 1
