"""Sensitive values in decomposition and anatomy, against enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from tests.tables import coded_column, coded_table

import discreet as dc
from discreet.releases.worlds.readers import link_through_sensitive_table
from discreet.requirements.feasibility import diverse_ell, most_diverse_groups, permissible_ell
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role

VALUES = "Nabc"


def partitions(items):
    """Every partition of some items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for place, group in enumerate(groups):
            yield [*groups[:place], [first, *group], *groups[place + 1 :]]


def keeps_shares(group, harmless, ell):
    return all(
        ell * count <= len(group) for v, count in Counter(group).items() if v not in harmless
    )


def is_diverse(group, harmless, ell):
    """No sensitive value, or at least ℓ rows of distinct values."""
    return set(group) <= harmless or len(group) == len(set(group)) >= ell


@given(
    st.lists(st.sampled_from("NNNabc"), min_size=1, max_size=7),
    st.sets(st.sampled_from("Na"), max_size=2),
)
@settings(max_examples=80, deadline=None)
def test_the_largest_l_is_that_of_all_partitions(rows, harmless):
    assume(set(rows) - harmless)
    counts = np.array([rows.count(value) for value in VALUES])
    sensitive = np.array([value not in harmless for value in VALUES])
    every = list(partitions(rows))

    def largest(passes):
        return max(
            ell
            for ell in range(1, len(rows) + 1)
            if any(all(passes(g, harmless, ell) for g in groups) for groups in every)
        )

    assert permissible_ell(counts, sensitive) == largest(keeps_shares)
    assert diverse_ell(counts, sensitive) == largest(is_diverse)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4), st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_the_most_groups_of_distinct_values_are_found(counts, ell):
    counts, sensitive = np.array(counts), np.array([False, False, True, True])
    most = most_diverse_groups(counts, sensitive, ell)
    capped = [
        min(n, m) if not s else n for m in [most] for n, s in zip(counts, sensitive, strict=True)
    ]
    assert sum(capped) >= ell * most
    for groups in range(most + 1, int(counts.sum()) + 2):
        held = sum(n if s else min(n, groups) for n, s in zip(counts, sensitive, strict=True))
        assert held < ell * groups


ROWS = st.tuples(st.sampled_from("NNNab"), st.sampled_from("xxyz"))
HARMLESS = {"p": {"N"}, "s": {"x"}}


@given(st.lists(ROWS, min_size=4, max_size=8), st.integers(2, 3), st.booleans(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_every_person_has_l_values_in_the_worlds_of_the_files(
    tmp_path_factory, rows, ell, insider, seed
):
    """Whoever has a sensitive value may have ℓ values, in all worlds that the files allow."""
    place = tmp_path_factory.mktemp("worlds") / "release"
    frame = pl.DataFrame(
        {"q": list(map(str, range(len(rows))))}
        | {name: [row[i] for row in rows] for i, name in enumerate("ps")}
    )
    assume(all(HARMLESS[name] <= set(frame[name]) for name in "ps"))
    made = dc.Job(
        attributes={
            "q": {"role": "quasi-identifier"},
            "p": {"role": "sensitive", "non_sensitive_values": ["N"]},
            "s": {"role": "sensitive", "non_sensitive_values": ["x"]},
        },
        requirements=[{"distinct-l-diversity": {"l": ell}}],
        method={"decomposition": {"beyond_permissible": True, "insider": insider}},
    )
    try:
        dc.publish(frame, made, seed=seed).save(place, report=False, **UNATTACKED)
    except dc.InfeasibleError:
        assume(False)
    people = naive.read_csv(place / "groups.csv")
    sensitive = [(row["p"], row["s"]) for row in naive.read_csv(place / "sensitive.csv")]
    sets = naive.group_sets(place / "group_values.csv", ["p", "s"])
    primary = naive.read_manifest(place)["method"]["primary"]
    groups = [person["group"] for person in people]
    possible = defaultdict(lambda: (set(), set()))
    for world in naive.worlds(groups, sets, sensitive, ["p", "s"], primary):
        for person, row in enumerate(world):
            for values, value in zip(possible[person], row, strict=True):
                values.add(value)
    for person, person_row in enumerate(people):
        truth = rows[int(person_row["q"])]
        for name, value, values in zip("ps", truth, possible[person], strict=True):
            assert value in values
            assert values == sets[person_row["group"]][name]
            assert values <= HARMLESS[name] or len(values) >= ell


@given(
    st.lists(ROWS, min_size=2, max_size=6).flatmap(
        lambda rows: st.tuples(
            st.just(rows), st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))
        )
    )
)
@settings(max_examples=80, deadline=None)
def test_readers_are_certain_of_sensitive_values_alone(release):
    """Certain: all worlds give the persons of a group with a known value one secret value."""
    rows, groups = release
    names = ["p", "s"]
    groups = [str(group) for group in groups]
    sets = {
        g: {name: {r[i] for r, of in zip(rows, groups, strict=True) if of == g}
            for i, name in enumerate(names)}
        for g in sorted(set(groups))
    }  # fmt: skip
    tables = decomposed_tables(rows, groups, sets, names)
    harmless = {"s": {"x"}}
    found = {
        finding.reader: finding
        for finding in link_through_sensitive_table(tables, "p", "p", harmless)
    }
    worlds = list(naive.worlds(groups, sets, rows, names, "p"))
    left = {"row": defaultdict(set), "matching": defaultdict(set), "pair": defaultdict(set)}
    for world in worlds:
        for group, (known, value) in zip(groups, world, strict=True):
            left["matching"][group, known].add(value)
    for group, values in sets.items():
        for known, value in rows:
            if known in values["p"] and value in values["s"]:
                left["pair"][group, known].add(value)
                left["row"][group, known].add(value)
    for reader, finding in found.items():
        single = {key for key, values in left[reader].items() if len(values) == 1}
        secret = {key for key in single if left[reader][key] != {"x"}}
        plain = link_through_sensitive_table(tables, "p", "p")
        before = next(one for one in plain if one.reader == reader)
        assert (finding.certain > 0) == bool(secret)
        assert finding.certain <= before.certain
        exposed = [len(values) for values in left[reader].values() if values != {"x"}]
        assert finding.least == min(exposed, default=len({r[1] for r in rows}))


def decomposed_tables(rows, groups, sets, names):
    listed = [(g, n, v) for g, values in sets.items() for n in names for v in sorted(values[n])]
    columns = list(map(list, zip(*listed, strict=True)))
    ordered = sorted(rows)
    return {
        "groups": coded_table({"q": [str(i) for i in range(len(rows))], "group": groups}, "qi"),
        "group_values": coded_table(
            dict(zip(("group", "attribute", "value"), columns, strict=True)), "iii"
        ),
        "sensitive": CodedTable(
            {
                name: coded_column(name, [row[i] for row in ordered], Role.SENSITIVE)
                for i, name in enumerate(names)
            },
            len(rows),
        ),
    }


@given(st.lists(st.tuples(st.sampled_from("Nab"), st.sampled_from("xyz")), min_size=3, max_size=6))
@settings(max_examples=30, deadline=None)
def test_whole_rows_hide_a_value_from_insiders_only_among_l_rows_with_the_known_one(rows):
    """Theorem 6: in every grouping, by the share of the group's rows with the known value."""
    for groups in partitions(list(range(len(rows)))):
        for group in groups:
            for person in group:
                value, known = rows[person]
                alike = [rows[other][0] for other in group if rows[other][1] == known]
                belief = Fraction(alike.count(value), len(alike))
                for ell in (2, 3):
                    if value != "N" and belief <= Fraction(1, ell):
                        assert len(alike) >= ell


@given(st.lists(st.tuples(st.sampled_from("Nab"), st.sampled_from("xyz")), min_size=4, max_size=7))
@example([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])  # one group of four holds for ell = 2
@settings(max_examples=20, deadline=None)
def test_groups_that_hold_an_insider_are_few_and_have_l_squared_rows(rows):
    """Theorem 6, counted over the groupings in which no belief is above 1/l."""
    ell = 2
    held = [
        grouping for grouping in partitions(list(range(len(rows)))) if holds(rows, grouping, ell)
    ]
    for grouping in held:
        for known in "xyz":
            secret = [
                group for group in grouping
                if any(rows[n][1] == known and rows[n][0] != "N" for n in group)
            ]  # fmt: skip
            assert len(secret) <= sum(row[1] == known for row in rows) // ell
            for group in secret:
                if sum(rows[n][1] == known for n in group) * ell <= len(group):
                    assert len(group) >= ell**2
    if sorted(rows) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]:
        assert held  # the bound is reached


def holds(rows, grouping, ell) -> bool:
    """Whether an insider who knows the second value believes no sensitive first one above 1/l."""
    for group in grouping:
        pairs = Counter(rows[n] for n in group)
        known = Counter(rows[n][1] for n in group)
        if any(v != "N" and count * ell > known[x] for (v, x), count in pairs.items()):
            return False
    return True


@given(
    st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("vwz")), min_size=2, max_size=6),
    st.data(),
    st.sampled_from([2, 3]),
)
@settings(max_examples=120, deadline=None)
def test_beliefs_move_little_where_a_value_is_near_the_bound(rows, data, ell):
    """Theorem 7, by all assignments of persons to rows within random lists that allow the truth."""
    known = [row for row in rows if row[0] == "x"]
    p = sum(row[1] == "v" for row in known) / max(len(known), 1)
    assume(known and p <= 1 / ell)
    group = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    lists = [
        [{row[place] for row, of in zip(rows, group, strict=True) if of == number}
         for place in range(2)]
        for number in range(3)
    ]  # fmt: skip
    worlds = [
        world
        for world in permutations(rows)
        if all(row[i] in lists[of][i] for row, of in zip(world, group, strict=True) for i in (0, 1))
    ]
    has_known = [sum(world[i][0] == "x" for world in worlds) for i in range(len(rows))]
    has_both = [sum(world[i] == ("x", "v") for world in worlds) for i in range(len(rows))]
    beliefs = [(n, both / n) for n, both in zip(has_known, has_both, strict=True) if n]
    weight = sum(n for n, _ in beliefs)
    assert sum(n * b for n, b in beliefs) / weight == pytest.approx(p)
    above = sum(n for n, b in beliefs if b > 1 / ell + 1e-12) / weight
    moved = sum(n * abs(b - p) for n, b in beliefs) / weight
    assert moved <= 2 * (1 / ell - p + above) + 1e-12
