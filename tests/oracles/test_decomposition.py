"""Readers and counts of decomposed releases against brute force over all assignments."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.tables import coded_column, coded_table

import discreet as dc
from discreet.methods.base import Task
from discreet.methods.decomposition.group_forming import (
    form_groups,
    join_residual_rows,
    largest_groups,
)
from discreet.methods.decomposition.group_merging import SignatureGroups
from discreet.methods.decomposition.noise import add_linkable_noise, index_sensitive
from discreet.methods.decomposition.noise_support import without_assignment
from discreet.methods.decomposition.targets import find_targets
from discreet.releases.kinds.decomposed import PrimaryCounts, counts_agree
from discreet.releases.worlds.readers import (
    Assignments,
    kept_values,
    link_through_sensitive_table,
)
from discreet.releases.worlds.sensitive_sets import (
    index_signatures,
    read_sets,
)
from discreet.table.assignments import World, possible_rows
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role

NAMES = ["p", "s", "u"]


@st.composite
def releases(draw, merged=False):
    """People in groups and sets that hold at least their values.

    Primary values of a group are distinct, unless groups are merged.
    """
    primaries = "abcd"
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    rows, groups, sets = [], [], {}
    for group, size in enumerate(sizes):
        values = {name: set() for name in NAMES}
        drawn = draw(st.permutations(list(primaries)))[:size]
        if merged:
            drawn = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
        for primary in drawn:
            row = (primary, draw(st.sampled_from("xyz")), draw(st.sampled_from("12")))
            rows.append(row)
            groups.append(str(group))
            for name, value in zip(NAMES, row, strict=True):
                values[name].add(value)
        values["s"] |= draw(st.sets(st.sampled_from("xyz"), max_size=1))
        sets[str(group)] = values
    known = [{row[i] for row in rows} for i in range(3)]
    for values in sets.values():
        values["s"] &= known[1]
    return rows, groups, sets


def tables_of(rows, groups, sets) -> dict[str, CodedTable]:
    listed = [(g, n, v) for g, values in sets.items() for n in NAMES for v in sorted(values[n])]
    columns = list(map(list, zip(*listed, strict=True)))
    shuffled = sorted(rows)
    return {
        "groups": coded_table({"q": [str(i) for i in range(len(rows))], "group": groups}, "qi"),
        "group_values": coded_table(
            dict(zip(("group", "attribute", "value"), columns, strict=True)), "iii"
        ),
        "sensitive": CodedTable(
            {
                name: coded_column(name, [row[i] for row in shuffled], Role.SENSITIVE)
                for i, name in enumerate(NAMES)
            },
            len(rows),
        ),
    }


@given(releases())
@settings(max_examples=60, deadline=None)
def test_readers_keep_what_brute_force_finds(release):
    rows, _, sets = release
    tables = tables_of(*release)
    read = read_sets(tables, NAMES)
    signatures = index_signatures(tables["sensitive"], NAMES)
    start, value = read.of(0)
    entries = [
        (tables["groups"]["group"].text[group], tables["sensitive"]["p"].text[int(value[entry])])
        for group in range(read.groups)
        for entry in range(start[group], start[group + 1])
    ]
    for reader in ("pair", "row"):
        kept = kept_values(read, signatures, 0, reader)
        for (group, primary), found in zip(entries, kept, strict=True):
            only = {group: {**sets[group], "p": {primary}}}
            if reader == "row":
                only = {group: sets[group]}
            for place, name in enumerate(NAMES[1:], 1):
                rows_left = (
                    naive.supported_rows(only, rows, NAMES)[group] if reader == "row" else set(rows)
                )
                expected = {row[place] for row in rows_left if row[0] == primary}
                assert found[place] == len(expected & sets[group][name])


@given(st.booleans().flatmap(lambda merged: releases(merged=merged)))
@settings(max_examples=150, deadline=None)
def test_struck_values_and_matching_are_those_of_all_worlds(release):
    """Every (group, value) is struck out, and every count of values left, as enumeration says."""
    rows, groups, sets = release
    tables = tables_of(*release)
    read = read_sets(tables, NAMES)
    signatures = index_signatures(tables["sensitive"], NAMES)
    size = tables["groups"]["group"].counts
    worlds = list(naive.worlds(groups, sets, rows, NAMES, "p"))
    assert worlds
    together = {(group, row) for world in worlds for group, row in zip(groups, world, strict=True)}
    worlds_of_sets = Assignments(read, signatures, 0, size)
    struck, complete = worlds_of_sets.struck_values()
    assert complete
    for place, name in enumerate(NAMES):
        had = {(group, row[place]) for group, row in together}
        assert struck[place] == sum(
            (group, value) not in had for group, values in sets.items() for value in values[name]
        )
    for known, name in enumerate(NAMES):
        kept = worlds_of_sets.matched_values(known)
        start, value = read.of(known)
        for group in range(read.groups):
            label = tables["groups"]["group"].text[group]
            for entry in range(start[group], start[group + 1]):
                text = tables["sensitive"][name].text[int(value[entry])]
                left = [row for other, row in together if other == label and row[known] == text]
                assert kept[entry].tolist() == [len({row[i] for row in left}) for i in range(3)]
    for finding in link_through_sensitive_table(tables, "p", "p"):
        if finding.reader == "matching":
            certain = certain_people(worlds, groups, NAMES.index(finding.attribute))
            assert finding.certain >= max(certain)
            assert not finding.exact or set(certain) == {finding.certain}


@given(st.booleans().flatmap(lambda merged: releases(merged=merged)), st.randoms())
@settings(max_examples=60, deadline=None)
def test_a_given_world_is_checked_and_changes_no_result(release, random):
    """Whatever rows people are said to have, true or not, the possible rows are the same."""
    rows, _, _ = release
    tables = tables_of(*release)
    read = read_sets(tables, NAMES)
    signatures = index_signatures(tables["sensitive"], NAMES)
    size = tables["groups"]["group"].counts
    arguments = read, signatures.codes, signatures.count, 0, size
    searched = possible_rows(*arguments)
    shuffled = random.sample(rows, len(rows))
    number = dict(zip(sorted(rows), signatures.of_row, strict=True))
    for said in (rows, shuffled, rows[:1] * len(rows)):
        signature = np.array([number[row] for row in said], np.int32)
        given_world = World(tables["groups"]["group"].codes, signature)
        found = possible_rows(*arguments, world=given_world)
        assert found.complete
        assert found.start.tolist() == searched.start.tolist()
        assert found.row.tolist() == searched.row.tolist()


def certain_people(worlds, groups, place):
    """For each world how many people's value follows from their primary value and the release."""
    left = defaultdict(set)
    for world in worlds:
        for group, row in zip(groups, world, strict=True):
            left[group, row[0]].add(row[place])
    return [
        sum(len(left[group, row[0]]) == 1 for group, row in zip(groups, world, strict=True))
        for world in worlds
    ]


@given(
    sets=st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=3),
    further=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    counts=st.lists(st.integers(0, 5), min_size=4, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_primary_counts_agree_as_brute_force_says(sets, further, counts):
    size = [len(values) + more for values, more in zip(sets, further, strict=False)]

    def ways(groups, left):
        if not groups:
            return not any(left)
        values, people = groups[0]
        return any(
            ways(groups[1:], [a - b for a, b in zip(left, chosen, strict=True)])
            for chosen in _splits(sorted(values), people, 4)
            if all(a >= b for a, b in zip(left, chosen, strict=True))
        )

    start = np.cumsum([0, *(len(values) for values in sets)])
    value = np.array([v for values in sets for v in sorted(values)], np.int32)
    found = counts_agree([PrimaryCounts.of(start, value, np.array(size), np.array(counts))])
    assert found == ways(list(zip(sets, size, strict=True)), counts)
    apart = [
        PrimaryCounts.of(
            np.array([0, len(own)]),
            np.array(sorted(own), np.int32),
            np.array([people]),
            np.array(counts),
        )
        for own, people in zip(sets, size, strict=True)
    ]
    assert counts_agree(apart) == found  # a shard for each group


def _splits(values, people, domain):
    """All ways to give every value to at least one of the people."""
    if not values:
        if people == 0:
            yield [0] * domain
        return
    for here in range(1, people + 1):
        for rest in _splits(values[1:], people - here, domain):
            rest[values[0]] = here
            yield rest


@given(
    primary=st.lists(st.sampled_from("aaabbcdef"), min_size=1, max_size=60),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_forming_leaves_fewer_residual_rows_than_a_group_has(primary, data):
    column = coded_column("p", primary, Role.SENSITIVE)
    ell = data.draw(st.integers(1, len(primary) // max(Counter(primary).values())))
    formed = largest_groups(column, (), ell, (), np.random.default_rng(0))
    assert (formed.group_of_row < 0).sum() < ell
    for group in range(formed.groups):
        values = column.codes[formed.group_of_row == group]
        assert len(values) == len(set(values.tolist())) == ell


SENSITIVE_ROWS = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from("12"))


@given(st.lists(SENSITIVE_ROWS, min_size=4, max_size=8), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_linkable_noise_is_refused_exactly_where_no_world_has_it(rows, seed):
    """Definition 4 by a join, then every world that the groups' sets allow."""
    assume(2 * max(Counter(row[0] for row in rows).values()) <= len(rows))
    table = coded_table(
        {"q": list(map(str, range(len(rows))))}
        | {name: [row[i] for row in rows] for i, name in enumerate(NAMES)},
        "qsss",
    )
    wanted = {name: min(2, len({row[i] for row in rows})) for i, name in enumerate(NAMES)}
    task = Task(table, {}, (), np.random.default_rng(seed))
    targets = find_targets(task, "decomposition", "p", wanted, beyond_permissible=True)
    formed = form_groups(targets.primary, targets.others, 2, targets.wanted, task, None)
    group_of_row = join_residual_rows(
        formed, targets.primary, targets.others, targets.wanted, task.rng
    )
    sensitive = index_sensitive([targets.primary, *targets.others], len(rows))
    signatures = sensitive.classes.class_of_row
    groups = SignatureGroups(group_of_row, formed.groups, signatures)
    every, least = np.arange(formed.groups), [2, *targets.wanted]
    noise = groups.fill(
        every, lambda start, member: add_linkable_noise(sensitive, start, member, least, task.rng)
    )
    sets = {}
    for group in every:
        own = [row for row, of in zip(rows, group_of_row, strict=True) if of == group]
        sets[group] = {name: {row[i] for row in own} for i, name in enumerate(NAMES)}
        joined = [row for row in rows if row[0] in sets[group]["p"]]
        for place, name in enumerate(NAMES[1:], 1):
            added = noise.of(place)
            chosen = {table[name].text[int(v)] for g, v in zip(*added, strict=True) if g == group}
            linkable = {row[place] for row in joined} - sets[group][name]
            lack = max(wanted[name] - len(sets[group][name]), 0)
            assert chosen <= linkable
            assert len(chosen) == min(lack, len(linkable))
            assert noise.lacking[group, place] == lack - len(chosen)
    for place, name in enumerate(NAMES[1:], 1):
        for group, value in zip(*noise.of(place), strict=True):
            sets[group][name].add(table[name].text[int(value)])
    worlds = list(naive.worlds(group_of_row.tolist(), sets, rows, NAMES, "p"))
    had = {
        (group, place, row[place])
        for world in worlds
        for group, row in zip(group_of_row.tolist(), world, strict=True)
        for place in (1, 2)
    }
    gone = {
        (int(noise.group[i]), int(noise.attribute[i]), int(noise.value[i]))
        for i in without_assignment(sensitive, group_of_row, formed.groups, noise)
    }
    for group, place, value in zip(noise.group, noise.attribute, noise.value, strict=True):
        text = table[NAMES[place]].text[int(value)]
        assert ((group, place, text) not in had) == ((group, place, value) in gone)


JOB = {
    "q": {"role": "quasi-identifier"},
    "a": {"role": "sensitive"},
    "b": {"role": "sensitive"},
}


def test_a_dependency_between_attributes_is_met_by_merging():
    import polars as pl

    frame = pl.DataFrame(
        {
            "q": [str(i) for i in range(24)],
            "a": ["k", "l", "m", "n"] * 6,
            "b": ["x", "x", "y", "y"] * 6,  # follows from a: no noise value has support
        }
    )
    job = dc.Job(attributes=JOB, method={"decomposition": {"l": {"a": 2, "b": 2}}})
    for seed in range(8):
        release = dc.publish(frame, job, seed=seed)
        assert release.manifest.promises[0].by_attribute["b"] == 2
        assert release.private["method"]["noise_values"] == 0
    alone = frame.with_columns(pl.Series("b", ["x"] * 24))
    with pytest.raises(dc.InfeasibleError, match="it has 1 values in all"):
        job = dc.Job(
            attributes=JOB,
            method={"decomposition": {"l": {"a": 2, "b": 2}, "beyond_permissible": True}},
        )
        dc.publish(alone, job, seed=0)


def test_one_row_one_value_and_nulls():
    import polars as pl

    for frame in (
        pl.DataFrame({"q": ["1"], "a": ["x"], "b": ["y"]}),
        pl.DataFrame({"q": ["1", "2"], "a": ["x", "x"], "b": [None, "y"]}),
        pl.DataFrame({"q": [None, "2", "3"], "a": ["x", None, "z"], "b": ["p", "p", None]}),
    ):
        method = {"decomposition": {"l": {"a": 1, "b": 1}}}
        release = dc.publish(frame, dc.Job(attributes=JOB, method=method), seed=0)
        assert release.audit.ok
        assert release.tables["groups"].height == frame.height


def test_names_and_requirements_that_cannot_be_are_refused():
    import polars as pl

    frame = pl.DataFrame({"group": ["1", "2"], "s": ["a", "b"]})
    job = dc.Job(
        attributes={"group": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}},
        method="decomposition",
    )
    with pytest.raises(dc.InputError, match="a column 'group' of its own"):
        dc.publish(frame, job)
    frame = frame.rename({"group": "q"})
    attributes = {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    with pytest.raises(dc.JobError, match="cannot guarantee t-closeness"):
        dc.publish(
            frame,
            dc.Job(
                attributes=attributes,
                method="decomposition",
                requirements=[{"t-closeness": {"t": 0.2}}],
            ),
        )
    with pytest.raises(dc.JobError, match="'x' is not a sensitive attribute"):
        dc.publish(frame, dc.Job(attributes=attributes, method={"decomposition": {"primary": "x"}}))
    with pytest.raises(dc.InfeasibleError, match="l = 3 is above l_per = 2"):
        dc.publish(frame, dc.Job(attributes=attributes, method={"anatomy": {"l": 3}}))
