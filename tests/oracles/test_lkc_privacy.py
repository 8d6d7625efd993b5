"""LKC-privacy and requirements for attackers against brute force over all sets of columns."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc

QUASI = ["a", "b", "c", "d"]
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["1", "2", "*"]),
            "b": st.sampled_from(["x", "y", None]),
            "c": st.just("*"),
            "d": st.sampled_from(["p", "q"]),
            "ill": st.sampled_from(["flu", "gout", None]),
            "pay": st.sampled_from(["1", "2"]),
        }
    ),
    min_size=1,
    max_size=12,
)


def groups_of(rows, columns):
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in columns)].append(row)
    return list(found.values())


def share(group, name):
    return Fraction(max(Counter(row[name] for row in group).values()), len(group))


def frame_of(rows):
    return pl.DataFrame(rows, schema=dict.fromkeys([*QUASI, "ill", "pay"], pl.String))


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, length=st.integers(1, 4), k=st.integers(1, 4))
def test_lkc_figures_are_those_of_all_combinations(rows, length, k):
    found = dc.check(
        frame_of(rows), quasi=QUASI, sensitive=["ill", "pay"],
        requirements=[dc.LkcPrivacy(l=length, k=k, c=0.6)],
    )  # fmt: skip
    (one,) = found.requirements
    sets = [names for size in range(1, length + 1) for names in combinations(QUASI, size)]
    least = {size: [] for size in range(1, length + 1)}
    greatest = {size: [] for size in range(1, length + 1)}
    for names in sets:
        for group in groups_of(rows, names):
            least[len(names)].append(len(group))
            greatest[len(names)].append(max(share(group, "ill"), share(group, "pay")))
    holds = all(size >= k for own in least.values() for size in own)
    holds &= all(5 * part <= 3 for own in greatest.values() for part in own)
    assert one.holds == holds
    known = one.attackers
    for size, figures in known.by_length.items():
        assert figures["k"] == min(least[size])
        assert figures["c"] == pytest.approx(float(max(greatest[size])))
    varying = [name for name in QUASI if len({row[name] for row in rows}) > 1]
    largest = list(combinations(varying, min(length, len(varying))))
    failing = [
        names
        for names in largest
        if any(
            len(group) < k or 5 * max(share(group, "ill"), share(group, "pay")) > 3
            for group in groups_of(rows, names)
        )
    ]
    assert (known.sets, known.failing_sets) == (len(largest), len(failing))
    assert (known.worst_set in failing) == (failing != [])


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, k=st.integers(1, 3))
def test_requirements_hold_for_every_attacker(rows, k):
    attackers = {
        "neighbour": ["a", "d"],
        "survey": {"any": 2, "of": ["a", "b", "d"]},
        "colleague": {"columns": ["b"], "knows": "pay"},
    }
    job = dc.Job(
        attributes={
            **{name: {"role": "quasi-identifier"} for name in QUASI},
            "ill": {"role": "sensitive"},
            "pay": {"role": "sensitive"},
        },
        attackers=attackers,
        requirements=[{"k-anonymity": {"k": k}}, {"distinct-l-diversity": {"l": 2}}],
    )
    size, distinct = dc.check(frame_of(rows), job).requirements
    sets = [("a", "d"), ("a", "b"), ("b", "d"), ("b", "pay")]
    groups = [(names, group) for names in sets for group in groups_of(rows, names)]
    assert size.achieved["k"] == min(len(group) for _, group in groups)
    assert size.holds == all(len(group) >= k for _, group in groups)
    least = min(
        len({row[name] for row in group})
        for names, group in groups
        for name in ("ill", "pay")
        if name not in names
    )
    assert distinct.achieved["l"] == least
    assert distinct.holds == (least >= 2)


def test_counted_tables_have_the_same_figures(tmp_path):
    rows = frame_of([dict(zip([*QUASI, "ill", "pay"], row, strict=True)) for row in (
        ["1", "x", "*", "p", "flu", "1"], ["1", "x", "*", "p", "gout", "1"],
        ["2", "x", "*", "p", "flu", "2"], ["2", "y", "*", "q", "flu", "2"],
    ) for _ in range(3)])  # fmt: skip
    path = tmp_path / "table.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE people (a, b, c, d, ill, pay)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows.rows())
    asked = {"quasi": QUASI, "sensitive": ["ill"], "requirements": [dc.LkcPrivacy(l=2, k=4, c=0.5)]}
    here = dc.check(rows, **asked).requirements[0].to_dict()
    there = dc.check(f"sqlite:///{path}", table="people", **asked).requirements[0].to_dict()
    assert here == there
    assert here["achieved"] == {"c": 1.0, "k": 3.0}
