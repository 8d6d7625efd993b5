"""Every class model against its definition, written out with dictionaries and fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.requirements.base import Domain, Requirement
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
from discreet.requirements.value_bounds import AlphaKAnonymity, BetaLikeness, DeltaDisclosure
from discreet.table.classes import group_codes
from discreet.table.coded_table import Column
from discreet.table.counts import ClassCounts, count_classes
from discreet.table.roles import Distance, Role, ValueType

VALUES = ("a", "b", "c", "d", None)
Row = tuple[int, str | None, str | None]  # class, S, V
Tally = Counter[str | None]

rows_strategy = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(VALUES), st.sampled_from(VALUES[2:])),
    min_size=1,
    max_size=25,
)
QUICK = settings(max_examples=50, deadline=None)


def make_column(name: str, cells: list[str | None]) -> Column:
    """With the whole of VALUES as dictionary, so that some codes do not occur."""
    codes = np.array([VALUES.index(cell) for cell in cells], np.int32)
    text = pl.Series(VALUES, dtype=pl.String)
    return Column(name, Role.SENSITIVE, ValueType.TEXT, codes, text, text)


def counted(rows: list[Row]) -> ClassCounts:
    labels = np.array([row[0] for row in rows], np.int32)
    classes = group_codes([labels], [4], len(rows))
    columns = [make_column("S", [r[1] for r in rows]), make_column("V", [r[2] for r in rows])]
    return count_classes(classes, columns, refined=True)


def domains(distance: Distance = Distance.EQUAL, tree: Hierarchy | None = None):
    return {name: Domain(VALUES, distance, tree) for name in ("S", "V")}


def tallies(rows: list[Row], attribute: str) -> list[Tally]:
    """The counts of every class, in order of first appearance."""
    place = 1 if attribute == "S" else 2
    result: dict[int, Tally] = {}
    for row in rows:
        result.setdefault(row[0], Counter())[row[place]] += 1
    return list(result.values())


def refined_tallies(rows: list[Row], attribute: str) -> list[list[Tally]]:
    place, other = (1, 2) if attribute == "S" else (2, 1)
    result: dict[int, dict[str | None, Tally]] = {}
    for row in rows:
        result.setdefault(row[0], {}).setdefault(row[other], Counter())[row[place]] += 1
    return [list(inner.values()) for inner in result.values()]


def pd_recursive(tally: Tally, c: Fraction, ell: int, disclosable: set[str | None]) -> bool:
    """Definition 4.3 to the letter; the order of ties must not matter."""
    if ell == 1 or set(tally) <= disclosable:
        return True
    verdicts = set()
    for order in permutations(tally.items()):
        if any(x[1] < y[1] for x, y in pairwise(order)):
            continue
        r = [0, *(count for _, count in order)]  # r[1] … r[m]
        m = len(order)
        y = next(i for i, (value, _) in enumerate(order, 1) if value not in disclosable)
        if y <= ell - 1:
            tail = sum(r[j] for j in range(ell, m + 1))
        else:
            tail = sum(r[j] for j in range(ell - 1, y)) + sum(r[j] for j in range(y + 1, m + 1))
        verdicts.add(r[y] < c * tail)
    assert len(verdicts) == 1
    return verdicts.pop()


def entropy(tally: Tally) -> float:
    size = tally.total()
    return -math.fsum(n / size * math.log(n / size) for n in tally.values())


def shares(tally: Tally, table: Tally) -> list[tuple[Fraction, Fraction]]:
    """(p, q) for every value of the table."""
    size, total = tally.total(), table.total()
    return [(Fraction(n, total), Fraction(tally[v], size)) for v, n in table.items()]


def delta_disclosed(tally: Tally, table: Tally, delta: float) -> bool:
    return all(q > 0 and abs(math.log(q / p)) < delta for p, q in shares(tally, table))


def enhanced(tally: Tally, table: Tally, beta: Fraction) -> bool:
    return all(
        (q - p) / p <= min(beta, Fraction(-math.log(p)) + Fraction(1, 10**9))
        for p, q in shares(tally, table)
    )


Definition = Callable[[Tally, Tally], bool]  # of a class and the table
F = Fraction
CASES: list[tuple[Requirement, Definition]] = [
    (DistinctLDiversity(l=1), lambda q, _: len(q) >= 1),
    (DistinctLDiversity(l=3), lambda q, _: len(q) >= 3),
    (EntropyLDiversity(l=1), lambda *_: True),
    (EntropyLDiversity(l=2), lambda q, _: entropy(q) >= math.log(2) - 1e-9),
    (EntropyLDiversity(l=2.5), lambda q, _: entropy(q) >= math.log(2.5) - 1e-9),
    (RecursiveClDiversity(c=1, l=1), lambda *_: True),
    (RecursiveClDiversity(c=1, l=2), lambda q, _: pd_recursive(q, F(1), 2, set())),
    (RecursiveClDiversity(c=0.7, l=2), lambda q, _: pd_recursive(q, F(7, 10), 2, set())),
    (RecursiveClDiversity(c=2, l=3), lambda q, _: pd_recursive(q, F(2), 3, set())),
    (RecursiveClDiversity(c=3, l=4), lambda q, _: pd_recursive(q, F(3), 4, set())),
    (
        PdRecursiveClDiversity(c=0.5, l=2, disclosable=["a", None]),
        lambda q, _: pd_recursive(q, F(1, 2), 2, {"a", None}),
    ),
    (
        PdRecursiveClDiversity(c=1, l=3, disclosable=["a", "c", "never"]),
        lambda q, _: pd_recursive(q, F(1), 3, {"a", "c"}),
    ),
    (
        PdRecursiveClDiversity(c=2, l=4, disclosable=["c"]),
        lambda q, _: pd_recursive(q, F(2), 4, {"c"}),
    ),
    (
        NpdRecursiveClDiversity(c1=2, c2=0.3, l=2, disclosable=["c"], not_ruled_out=["d"]),
        lambda q, _: pd_recursive(q, F(2), 2, {"c"}) and F(q["d"], q.total()) >= F(3, 10),
    ),
    (
        NpdRecursiveClDiversity(c1=5, c2=0.2, l=2, not_ruled_out=[None, "d"]),
        lambda q, _: (
            pd_recursive(q, F(5), 2, set()) and min(q[None], q["d"]) >= F(1, 5) * q.total()
        ),
    ),
    (PDiversity(l=2), lambda q, _: 2 * max(q.values()) <= q.total()),
    (PDiversity(l=2.2), lambda q, _: F(11, 5) * max(q.values()) <= q.total()),
    (MDiversity(l=3), lambda q, _: 3 * max(q.values()) <= q.total()),
    (
        AlphaKAnonymity(alpha=0.6, k=3),
        lambda q, _: q.total() >= 3 and max(q.values()) <= F(3, 5) * q.total(),
    ),
    (
        AlphaKAnonymity(alpha=0.3, k=2, value="c"),
        lambda q, _: q.total() >= 2 and q["c"] <= F(3, 10) * q.total(),
    ),
    (
        BetaLikeness(beta=0.5),
        lambda q, t: all((y - x) / x <= F(1, 2) for x, y in shares(q, t)),
    ),
    (
        BetaLikeness(beta=1.1),
        lambda q, t: all((y - x) / x <= F(11, 10) for x, y in shares(q, t)),
    ),
    (BetaLikeness(beta=1.1, enhanced=True), lambda q, t: enhanced(q, t, F(11, 10))),
    (DeltaDisclosure(delta=0.8), lambda q, t: delta_disclosed(q, t, 0.8)),
    (DeltaDisclosure(delta=3), lambda q, t: delta_disclosed(q, t, 3)),
    (KAnonymity(k=4), lambda q, _: q.total() >= 4),
]


def case_name(case: object) -> str:
    if not isinstance(case, Requirement):
        return ""
    return f"{case.name}-{'-'.join(str(v) for v in case.parameters().values())}"


@pytest.mark.parametrize(("requirement", "definition"), CASES, ids=case_name)
def test_model_is_its_definition(requirement: Requirement, definition: Definition) -> None:
    @QUICK
    @given(rows_strategy)
    def agree(rows: list[Row]) -> None:
        expected = np.ones(len({row[0] for row in rows}), bool)
        for attribute in ("S", "V"):
            classes = tallies(rows, attribute)
            table = sum(classes, Counter())
            expected &= [definition(tally, table) for tally in classes]
        counts = counted(rows)
        assert list(requirement.passes(counts, domains())) == list(expected)
        verdict = requirement.check(counts, domains())
        assert verdict.holds == expected.all()
        assert list(verdict.failing) == list(np.flatnonzero(~expected))

    agree()


@pytest.mark.parametrize("requirement", [case[0] for case in CASES], ids=case_name)
def test_kept_classes_are_a_table_of_their_own(requirement: Requirement) -> None:
    @settings(max_examples=15, deadline=None)
    @given(rows_strategy, st.lists(st.booleans(), min_size=4, max_size=4))
    def agree(rows: list[Row], choice: list[bool]) -> None:
        seen = list(dict.fromkeys(row[0] for row in rows))
        mask = np.array(choice[: len(seen)])
        kept = {label for label, keep in zip(seen, mask, strict=True) if keep}
        rest = [row for row in rows if row[0] in kept]
        left = counted(rows).keep(mask)
        if not rest:
            verdict = requirement.check(left, domains())
            assert (verdict.holds, verdict.achieved, len(verdict.passes)) == (True, {}, 0)
            return
        again = requirement.check(counted(rest), domains())
        verdict = requirement.check(left, domains())
        assert list(verdict.passes) == list(again.passes)
        assert verdict.achieved == again.achieved

    agree()


INNER = [case for case in CASES if "diversity" in case[0].name]


@pytest.mark.parametrize(("inner", "definition"), INNER, ids=case_name)
def test_multi_attribute_is_its_definition(inner: Requirement, definition: Definition) -> None:
    requirement = MultiAttributeLDiversity(inner=inner)

    @settings(max_examples=30, deadline=None)
    @given(rows_strategy)
    def agree(rows: list[Row]) -> None:
        expected = np.ones(len({row[0] for row in rows}), bool)
        for attribute in ("S", "V"):
            expected &= [
                all(definition(tally, tally) for tally in refined)
                for refined in refined_tallies(rows, attribute)
            ]
        counts = counted(rows)
        assert list(requirement.passes(counts, domains())) == list(expected)
        verdict = requirement.check(counts, domains())
        assert verdict.holds == expected.all()
        achieved = [
            inner.check(ClassCounts(part.size, {name: part.counts}), domains()).achieved
            for name, part in counts.refined.items()
        ]
        for key, figure in verdict.achieved.items():
            smaller_is_better = inner.algebra.smaller_is_better and key == inner.algebra.figure
            worst = max if smaller_is_better else min
            assert figure == worst(one[key] for one in achieved)
        assert verdict.achieved.keys() == achieved[0].keys()

    agree()


# --- the Earth Mover's Distance, by an exact transport --------------------------------------


def transport(supply: list[int], demand: list[int], cost: list[list[int]]) -> int:
    """The least cost to move supply to demand: shortest augmenting paths, whole numbers."""
    m = len(supply)
    source, sink = 2 * m, 2 * m + 1
    room = {(source, i): supply[i] for i in range(m)} | {(m + j, sink): demand[j] for j in range(m)}
    price = dict.fromkeys(room, 0)
    for i in range(m):
        for j in range(m):
            room[i, m + j], price[i, m + j] = sum(supply), cost[i][j]
    for u, v in list(room):
        room.setdefault((v, u), 0)
        price.setdefault((v, u), -price[u, v])
    total = 0
    while True:
        distance = {source: 0}
        before: dict[int, int] = {}
        for _ in range(2 * m + 2):
            for (u, v), free in room.items():
                if free and u in distance and distance[u] + price[u, v] < distance.get(v, 10**18):
                    distance[v], before[v] = distance[u] + price[u, v], u
        if sink not in distance:
            return total
        path, node = [], sink
        while node != source:
            path.append((before[node], node))
            node = before[node]
        moved = min(room[edge] for edge in path)
        for u, v in path:
            room[u, v] -= moved
            room[v, u] += moved
        total += moved * distance[sink]


def tree_of(groups: list[int], joined: list[int]) -> Hierarchy:
    """Leaves, groups of leaves, groups of groups, and perhaps not one root."""
    first = np.array(groups, np.int32)
    second = np.array(joined, np.int32)[first]
    levels = [np.arange(len(VALUES), dtype=np.int32), first, second, np.zeros_like(first)]
    made = [
        level_from_groups(
            nodes, [str(n) for n in range(5)], np.bincount(nodes, minlength=5), len(VALUES)
        )
        for nodes in levels
    ]
    return Hierarchy("S", tuple(made), len(VALUES))


@pytest.mark.parametrize("distance", list(Distance))
def test_closeness_is_the_least_transport(distance: Distance) -> None:
    @QUICK
    @given(
        rows_strategy,
        st.lists(st.integers(0, 2), min_size=5, max_size=5),
        st.lists(st.integers(0, 1), min_size=3, max_size=3),
        st.booleans(),
    )
    def agree(rows: list[Row], groups: list[int], joined: list[int], rooted: bool) -> None:
        tree = tree_of(groups, joined)
        if not rooted:
            tree = Hierarchy("S", tree.levels[:-1], tree.leaves)
        classes = tallies(rows, "S")
        table = sum(classes, Counter())
        present = [value for value in VALUES if table[value]]
        codes = [VALUES.index(value) for value in present]
        m = len(present)

        def cost(i: int, j: int) -> int:
            if distance is Distance.EQUAL:
                return int(i != j)
            if distance is Distance.ORDERED:
                return abs(i - j)
            a, b = codes[i], codes[j]
            shared = [level.node_of_leaf[a] == level.node_of_leaf[b] for level in tree.levels]
            return shared.index(True) if True in shared else tree.height

        scale = {"equal": 1, "ordered": max(m - 1, 1), "hierarchical": tree.height}[distance]
        costs = [[cost(i, j) for j in range(m)] for i in range(m)]
        expected = [
            transport(
                [tally[v] * table.total() for v in present],
                [table[v] * tally.total() for v in present],
                costs,
            )
            / (scale * table.total() * tally.total())
            for tally in classes
        ]
        counts = counted(rows)
        known = domains(distance, tree)
        figures = TCloseness(t=0.3).figures(counts, known, "S")
        assert figures == pytest.approx(expected, abs=1e-12)
        if m == 1 or len(classes) == 1:
            assert figures == pytest.approx(0, abs=1e-12)
        passes = TCloseness(t=0.3, attribute="S").passes(counts, known)
        assert list(passes) == [figure <= 0.3 + 1e-9 for figure in expected]

    agree()


def test_ordered_distance_of_long_gaps() -> None:
    """Few values in a class out of many in the table, where the binary search has work to do."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 400, 3000).astype(np.int32)
    labels = rng.integers(0, 300, 3000).astype(np.int32)
    text = pl.Series([str(i) for i in range(400)], dtype=pl.String)
    column = Column("S", Role.SENSITIVE, ValueType.TEXT, codes, text, text)
    classes = group_codes([labels], [300], 3000)
    counts = count_classes(classes, [column])
    domain = {"S": Domain(tuple(text), Distance.ORDERED)}
    figures = TCloseness(t=0.1).figures(counts, domain, "S")
    present = np.unique(codes)
    table = np.cumsum(np.bincount(codes, minlength=400)[present]) / 3000
    for c in range(classes.count):
        own = np.bincount(codes[classes.class_of_row == c], minlength=400)[present]
        gap = np.abs(np.cumsum(own) / own.sum() - table).sum() / (len(present) - 1)
        assert figures[c] == pytest.approx(gap, abs=1e-12)


# --- the decision at the bound ---------------------------------------------------------------


def test_bounds_are_the_decimals_that_were_written() -> None:
    ten = [(0, "a", "c")] * 3 + [(0, "b", "c")] * 7  # shares 0.3 and 0.7
    counts = counted(ten)

    def passes(requirement: Requirement) -> bool:
        return bool(requirement.passes(counts, domains())[0])

    assert passes(AlphaKAnonymity(alpha=0.7, k=10, attribute="S"))
    assert not passes(AlphaKAnonymity(alpha=0.7, k=11, attribute="S"))
    assert not passes(AlphaKAnonymity(alpha=0.6999999999999999, k=1, attribute="S"))
    npd = NpdRecursiveClDiversity(c1=3, c2=0.3, l=2, not_ruled_out=["a"], attribute="S")
    assert passes(npd)
    assert not passes(npd.model_copy(update={"c2": 0.30000000000000004}))
    assert 2.2 * 25 > 55  # in floats
    many = counted([(0, "a", "c")] * 55 + [(0, "b", "c")] * 25)
    recursive = RecursiveClDiversity(c=2.2, l=2, attribute="S")
    assert not recursive.passes(many, domains())[0]
    assert recursive.model_copy(update={"c": 2.2000001}).passes(many, domains())[0]


def test_counts_beyond_int64_products() -> None:
    counts = counted([(0, "a", "c")] * 3 + [(0, "b", "c")] * 3)
    tight = 0.50000000000000011  # a denominator of 10¹⁷
    assert AlphaKAnonymity(alpha=tight, k=1, attribute="S").passes(counts, domains())[0]
    tiny = AlphaKAnonymity(alpha=1e-300, k=1, attribute="S")
    assert not tiny.passes(counts, domains())[0]
