"""Measures of random releases against a computation row by row, value by value."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import coded_table

from discreet.hierarchies.cells import range_cell, set_cell
from discreet.hierarchies.coverage import cover
from discreet.releases.kinds.generalized import read_generalized
from discreet.utility.implied import ImpliedGeneralized, ImpliedUnlinked, exact
from discreet.utility.queries import QueryWorkload

QUICK = settings(max_examples=60, deadline=None)
NAMES = ("age", "job", "ill")


@st.composite
def releases(draw):
    """Original rows, and for each a published row (None: suppressed) that covers it."""
    row = st.tuples(
        st.one_of(st.none(), st.integers(0, 9)),
        st.one_of(st.none(), st.sampled_from("abcd")),
        st.sampled_from("xyz"),
    )
    rows = draw(st.lists(row, min_size=1, max_size=12))
    published = []
    for age, job, ill in rows:
        if draw(st.integers(0, 5)) == 0:
            published.append(None)
            continue
        others = draw(st.sets(st.sampled_from([r[1] for r in rows])))
        low, high = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        ages = ["*", None if age is None else str(age)]
        if age is not None:
            ages.append(range_cell(str(age - low), str(age + high), closed=True))
            ages.append(range_cell(str(age - low), str(age + high + 1), closed=False))
        members = sorted(others | {job}, key=lambda value: (value is None, value or ""))
        jobs = ["*", job, set_cell(members)]
        published.append(
            (
                draw(st.sampled_from(ages)),
                draw(st.sampled_from(jobs)),
                draw(st.sampled_from([ill, "*"])),
            )
        )
    return rows, published


def columns(rows):
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def naive_covered(cell, domain):
    """The values a cell covers, read without the product's parser."""
    if cell == "*":
        return set(domain)
    if isinstance(cell, str) and cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        last = int(high) if cell.endswith("]") else int(high) - 1
        return {v for v in domain if v is not None and int(low) <= v <= last}
    if isinstance(cell, str) and cell.startswith("{"):
        members = cell[1:-1].split(", ")
        return {v for v in domain if (v or '""') in members}
    return {v for v in domain if (v if v is None else str(v)) == cell}


def tables(rows, published):
    kept = [row for row in published if row is not None]
    return (
        coded_table(columns(rows), "qqs"),
        coded_table(columns(kept), "qqs"),
        len(rows) - len(kept),
        kept,
    )


@QUICK
@given(releases(), st.data())
def test_estimates_equal_the_enumeration_of_p2(release, data):
    rows, published = release
    original, records, suppressed, kept = tables(rows, published)
    if not kept:
        return
    domains = [sorted({row[i] for row in rows}, key=str) for i in range(3)]
    p2 = dict.fromkeys(product(*domains), suppressed / math.prod(map(len, domains)))
    for row in kept:
        parts = [naive_covered(cell, domains[i]) for i, cell in enumerate(row)]
        for point in product(*parts):
            p2[point] += 1 / math.prod(map(len, parts))
    coverages = {n: cover(original[n], records[n].text.to_list()) for n in NAMES}
    implied = ImpliedGeneralized(list(records), coverages, records.rows, suppressed)
    truth = exact(list(original), original.rows)
    unlinked = ImpliedUnlinked([original.quasi_identifiers, original.sensitive], len(rows))
    qd, m = data.draw(st.sampled_from([(1, 1), (2, 1), (2, 0), (0, 1)]))
    workload = QueryWorkload(queries=8, quasi_identifiers=qd, sensitive=m, selectivity=0.3)
    for batch in workload.batches(original, np.random.default_rng(7)):
        results = [r.estimate(batch) for r in (implied, truth, unlinked)]
        for query in range(len(batch.number)):

            def answers(point, query=query, batch=batch):
                sides = [True, True]
                for name, member in batch.members.items():
                    text = original[name].text.to_list()
                    value = point[NAMES.index(name)]
                    code = text.index(None if value is None else str(value))
                    sides[name == "ill"] &= bool(member[code, query])
                return sides

            expected = sum(mass for point, mass in p2.items() if all(answers(point)))
            assert results[0][query] == pytest.approx(expected)
            actual = sum(all(answers(row)) for row in rows)
            assert results[1][query] == pytest.approx(actual)
            sides = np.array([answers(row) for row in rows]).mean(axis=0)
            assert results[2][query] == pytest.approx(sides.prod() * len(rows))


@QUICK
@given(releases())
def test_figures_equal_the_computation_by_row(release):
    rows, published = release
    original, records, suppressed, kept = tables(rows, published)
    if not kept:
        return
    measures = read_generalized(original, {}, records, suppressed).measured()
    n = len(rows)
    sizes: dict[tuple[object, ...], int] = {}
    for row in kept:
        sizes[row[:2]] = sizes.get(row[:2], 0) + 1
    assert measures.structure.classes == len(sizes)
    assert measures.structure.discernibility == sum(s * s for s in sizes.values()) + suppressed * n
    bits = 0.0
    for i in range(2):
        original_cells = [row[i] for row in rows]
        domain = set(original_cells)
        lost = float(suppressed)
        for row, public in zip(rows, published, strict=True):
            covered = domain if public is None else naive_covered(public[i], domain)
            frequency = sum(value in covered for value in original_cells)
            bits -= math.log2(original_cells.count(row[i]) / frequency)
            lost += 0 if public is None else naive_loss(public[i], domain)
        assert measures.loss_by_attribute[NAMES[i]] == pytest.approx(lost / n)
    assert measures.entropy == pytest.approx(bits, abs=1e-9)


def naive_loss(cell, domain):
    if cell == "*":
        return 1.0
    if cell is None or cell[0] not in "[{":
        return 0.0
    if cell[0] == "{":
        return (len(naive_covered(cell, domain)) - 1) / max(len(domain) - 1, 1)
    present = [value for value in domain if value is not None]
    low, high = (int(end) for end in cell[1:-1].split(", "))
    width = max(present) - min(present)
    return (min(high, max(present)) - max(low, min(present))) / width if width else 0.0
