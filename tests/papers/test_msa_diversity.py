"""MSA-diversity and its rivals on tables 2, 4, 18 to 25, 42 and 43 of Abdalaal (2012)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from experiments.rivals import Gal, LiYe, Mmdcf
from experiments.rivals.gal import covered_by
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import coded_table

import discreet as dc
from discreet.methods.base import Task
from discreet.methods.msa_diversity.paper_grouping import paper_groups
from discreet.requirements.diversity import DistinctLDiversity, MDiversity, PDiversity

NINE = {  # tables 4, 42 and 43; t8 has b, as in the latter two
    "zip": [3000, 3500, 4000, 6500, 4500, 5500, 6000, 5000, 6500],
    "age": [20, 25, 25, 30, 35, 40, 45, 50, 55],
    "I1": list("abdabacbc"),
    "I2": list("wzxxyyzxw"),
}
FOUR = {  # table 18; both ranges are equally wide, and table 21 splits by zip
    "zip": [1200, 2400, 1500, 3400],
    "age": [30, 20, 23, 27],
    "I1": list("bcac"),
    "I2": list("wxwy"),
}


def task_of(columns, requirements=(), seed=0):
    table = coded_table(columns, "qqss")
    return Task(table, {}, list(requirements), np.random.default_rng(seed))


def people(group_of_row):
    """The groups as sets of t1, t2, …"""
    groups = {}
    for row, group in enumerate(group_of_row):
        groups.setdefault(int(group), set()).add(row + 1)
    return {frozenset(members) for group, members in groups.items() if group >= 0}


def cells(outcome, column, row):
    found = outcome.cells[column]
    return found.labels[found.cell_of_class[outcome.class_of_row[row - 1]]]


@pytest.mark.parametrize("seed", range(3))
def test_nine_people_get_the_paper_s_three_groups(seed):
    task = task_of(NINE, [MDiversity(l=3)], seed)
    outcome = dc.MsaDiversity().run(task)
    assert people(outcome.class_of_row) == {
        frozenset({1, 2, 3}),
        frozenset({6, 8, 9}),
        frozenset({4, 5, 7}),
    }
    assert outcome.facts["suppressed_rows"] == outcome.private["least_suppressed_rows"] == 0
    table_42 = {1: ("[20, 25]", "[3000, 4000]"), 6: ("[40, 55]", "[5000, 6500]")}
    table_42[4] = ("[30, 45]", "[4500, 6500]")
    for row, (age, zip_code) in table_42.items():
        assert cells(outcome, "age", row) == age
        assert cells(outcome, "zip", row) == zip_code


def test_nine_people_in_buckets():
    outcome = dc.MsaDiversity(publish="buckets").run(task_of(NINE, [PDiversity(l=3)]))
    assert len(people(outcome.group_of_row)) == 3


def test_table_2_has_three_values_and_is_only_2_pdiverse():
    release = dc.publish(_frame(FOUR), _job({"mondrian": {}}, [{"distinct-l-diversity": {"l": 3}}]))
    assert release.tables["records"].select("age", "zip").unique().rows() == [
        ("[20, 30]", "[1200, 3400]")
    ]
    with pytest.raises(dc.InfeasibleError, match="largest feasible l is 2"):
        dc.publish(_frame(FOUR), _job({"msa-diversity": {}}, [{"p-diversity": {"l": 3}}]))


def test_gal_and_others_leave_out_t4_and_t5():
    """Table 22, with k = ℓ = 3; the probability that t6 has c is 1/2, not 1/3."""
    task = task_of({name: NINE[name] for name in ("age", "zip", "I1", "I2")})
    outcome = Gal(l=3, halves="suppress").run(task)
    assert people(outcome.class_of_row) == {frozenset({1, 2, 3}), frozenset({6, 7, 8, 9})}
    assert cells(outcome, "age", 6) == "[40, 55]"
    assert cells(outcome, "zip", 1) == "[3000, 4000]"
    assert outcome.facts["suppressed_rows"] == 2
    assert outcome.facts["greatest_share"] == {"I1": 0.5, "I2": pytest.approx(1 / 3)}


def test_gal_and_others_suppress_nobody_where_both_halves_must_be_safe():
    task = task_of({name: NINE[name] for name in ("age", "zip", "I1", "I2")})
    outcome = Gal(l=3).run(task)
    assert people(outcome.class_of_row) == {frozenset({1, 2, 3, 4, 5}), frozenset({6, 7, 8, 9})}


def test_cover_of_the_second_half_by_zip():
    """Section 3.4: t4, t6, t7, t9 can't construct a group: a and c empty it."""
    values = np.array([[0, 1], [0, 2], [2, 3], [2, 0]], np.int32)
    assert covered_by(values, 2)
    assert not covered_by(values, 1)


def test_li_and_ye_mask_w_and_c():
    """Table 21, α-QI = α-SA = 2."""
    release = dc.publish(_frame(FOUR), _job({"li-ye": {"alpha_qi": 2, "alpha_sa": 2}}, []))
    assert sorted(release.tables["records"].select("age", "zip", "I1", "I2").rows()) == [
        ("[20, 27]", "[2400, 3400]", "*", "x"),
        ("[20, 27]", "[2400, 3400]", "*", "y"),
        ("[23, 30]", "[1200, 1500]", "a", "*"),
        ("[23, 30]", "[1200, 1500]", "b", "*"),
    ]
    assert release.manifest.method.masked_cells == {"I1": 2, "I2": 2}
    assert release.audit.ok


def test_mmdcf_takes_the_fullest_buckets_first():
    """Tables 23 and 24; table 24 prints t9 as (e, z), table 23 as (e, f)."""
    columns = {
        "age": NINE["age"],
        "zip": NINE["zip"],
        "I1": list("aaabbccde"),
        "I2": list("fwxfwyyzf"),
    }
    outcome = Mmdcf(l=3).run(task_of(columns))
    found = people(outcome.group_of_row)
    alike = [frozenset({1, 5, 6}), frozenset({1, 5, 7})]  # t6 and t7 have the same values
    assert len(found) == 3
    assert frozenset({3, 8, 9}) in found
    assert any(group in found for group in alike)


def test_what_the_rivals_do_not_promise_is_refused():
    task = task_of(NINE, [PDiversity(l=3)])
    with pytest.raises(dc.InfeasibleError, match="use msa-diversity or mondrian"):
        Gal(l=2).run(task)
    task = task_of(FOUR, [DistinctLDiversity(l=2)])
    with pytest.raises(dc.InfeasibleError, match="use msa-diversity or mondrian"):
        LiYe(alpha_qi=2, alpha_sa=1).run(task)


def _frame(columns):
    return pl.DataFrame(columns)


def _job(method, requirements):
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "zip": {"role": "quasi-identifier", "type": "integer"},
            "I1": {"role": "sensitive"},
            "I2": {"role": "sensitive"},
        },
        requirements=requirements,
        method=method,
    )


def test_algorithm_1_as_printed_by_hand():
    """Two places; the first has three records, of which two share a value.

    Items: t1 (a, w) has 2 + 1, t2 (a, x) 2 + 2, t3 (b, x) 1 + 2. t2 is taken first and strikes both
    others out, so there is no pair; with the next place (c, w), (c, z), (b, w) t2 still has fewest
    partners struck: the counts below are those of all six records.
    """
    values = np.array([[0, 0], [0, 1], [1, 1], [2, 0], [2, 2], [1, 0]], np.int32)
    alone = paper_groups(values[:3], np.array([0, 3]), 2)
    assert alone.tolist() == [-1, -1, -1]
    # items of all six: 2 + 3, 2 + 2, 2 + 2, 2 + 3, 2 + 1, 2 + 3: the first record is taken, it
    # strikes out t2, t4 and t6; of t3 (1 + 1) and t5 (1 + 1) the first joins it
    both = paper_groups(values, np.array([0, 3, 6]), 2)
    assert both[[0, 2]].tolist() == [0, 0]
    # of the rest, t2 (1 + 1), t4 (2 + 2), t5 (2 + 1), t6 (1 + 2): t4, which strikes t5 and t6 out
    assert both[[3, 1]].tolist() == [1, 1]
    assert both[[4, 5]].tolist() == [2, 2]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=14),
    st.integers(2, 3),
    st.data(),
)
def test_groups_of_algorithm_1_are_sa_distinct(rows, size, data):
    values = np.array(rows, np.int32)
    inner = data.draw(st.sets(st.integers(1, len(rows))))
    places = np.array(sorted({0, *inner, len(rows)}))
    group = paper_groups(values, places, size)
    for number in range(group.max() + 1):
        members = values[group == number]
        assert len(members) == size
        for column in members.T:
            assert len(set(column.tolist())) == size


def test_algorithm_1_strands_people_whom_the_default_places():
    rng = np.random.default_rng(1)
    table = {
        "zip": rng.integers(0, 9, 60).tolist(),
        "age": rng.integers(20, 29, 60).tolist(),
        "I1": rng.choice(list("aaabcd"), 60).tolist(),
        "I2": rng.choice(list("wxyz"), 60).tolist(),
    }
    task = task_of(table, [MDiversity(l=2)])
    assert dc.MsaDiversity(suppression=0).run(task).facts["suppressed_rows"] == 0
    outcome = dc.MsaDiversity(grouping="paper", suppression=1).run(task)
    assert 0 < outcome.facts["suppressed_rows"] < 60
    with pytest.raises(dc.InfeasibleError, match="suppress"):
        dc.MsaDiversity(grouping="paper", suppression=0).run(task)
