"""Mondrian: worked examples, edges, and what it reaches on Adult."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.real_data import adult, adult_hierarchy
from tests.tables import coded_frame, coded_table, hierarchy_from_rows

from discreet.errors import HierarchyError, InfeasibleError, InputError
from discreet.methods.base import Task
from discreet.methods.mondrian.mondrian import Mondrian, _check
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import DistinctLDiversity
from discreet.requirements.k_anonymity import KAnonymity

SEVEN = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]


def run(columns, roles, requirements, hierarchies=None, **parameters):
    table = coded_table(columns, roles)
    built = {
        name: hierarchy_from_rows(table[name], rows) for name, rows in (hierarchies or {}).items()
    }
    task = Task(table, built, requirements, np.random.default_rng(0))
    return Mondrian(**parameters).run(task)


def cells(outcome, name):
    """The published cell of each row."""
    column = outcome.cells[name]
    return [column.labels[column.cell_of_class[c]] for c in outcome.class_of_row]


def test_a_number_is_cut_at_its_median_and_tightened():
    outcome = run({"age": [20, 21, 25, 40, 41, 60]}, "q", [KAnonymity(k=3)])
    assert cells(outcome, "age") == ["[20, 25]"] * 3 + ["[40, 60]"] * 3


def test_the_widest_attribute_is_cut_first():
    outcome = run(
        {"age": [1, 2, 1, 2], "pay": [10, 10, 90, 90], "zip": [0, 100, 0, 100]},
        "qqq",
        [KAnonymity(k=2)],
    )
    assert cells(outcome, "age") == ["1", "2", "1", "2"]  # all widths are 1: the first one is cut
    assert cells(outcome, "pay") == ["[10, 90]"] * 4


def test_strict_cuts_keep_ties_together_and_relaxed_ones_split_them():
    ages = [30, 30, 30, 30, 31]
    strict = run({"age": ages}, "q", [KAnonymity(k=2)])
    assert cells(strict, "age") == ["[30, 31]"] * 5
    relaxed = run({"age": ages}, "q", [KAnonymity(k=2)], cuts="relaxed")
    assert cells(relaxed, "age") == ["30", "30", "[30, 31]", "[30, 31]", "[30, 31]"]


def test_a_hierarchy_is_cut_at_the_children_and_small_ones_are_pooled():
    tree = [[leaf, leaf[0], "*"] for leaf in ("a1", "a2", "b1", "c1", "d1")]
    places = ["a1", "a2", "b1", "b1", "c1", "d1"]
    outcome = run({"place": places}, "q", [KAnonymity(k=2)], {"place": tree})
    assert cells(outcome, "place") == ["a", "a", "b1", "b1", "*", "*"]


def test_a_pool_that_fails_takes_the_smallest_passing_child():
    tree = [[leaf, leaf[0], "*"] for leaf in ("a1", "b1", "c1")]
    places = ["a1"] * 4 + ["b1"] * 2 + ["c1"]
    outcome = run({"place": places}, "q", [KAnonymity(k=2)], {"place": tree})
    assert cells(outcome, "place") == ["a1"] * 4 + ["*"] * 3


def test_levels_above_which_nothing_is_named_meet_in_a_star():
    tree = [["1", "low"], ["2", "low"], ["8", "high"]]
    outcome = run({"n": ["1", "2", "8"]}, "q", [KAnonymity(k=3)], {"n": tree})
    assert cells(outcome, "n") == ["*"] * 3
    assert outcome.cells["n"].loss.tolist() == [1.0]


def test_cells_that_are_levels_never_go_above_the_top():
    tree = [["1", "low"], ["2", "low"], ["8", "high"], ["9", "high"]]
    numbers = ["1", "8", "2", "9"]
    outcome = run({"n": numbers}, "q", [KAnonymity(k=2)], {"n": tree}, cells="levels")
    assert cells(outcome, "n") == ["low", "high", "low", "high"]
    with pytest.raises(InfeasibleError, match="not even the top levels.* reaches k = 2 .*one top"):
        run({"n": numbers}, "q", [KAnonymity(k=3)], {"n": tree}, cells="levels")


def test_text_without_a_hierarchy_is_published_as_sets():
    outcome = run({"c": ["b", "a", "x, y", None]}, "q", [KAnonymity(k=2)])
    assert cells(outcome, "c") == ["{a, b}", "{a, b}", '{"x, y", ""}', '{"x, y", ""}']


def test_missing_numbers_are_set_apart_or_listed():
    ages = [1, 5, None, None, 9]
    assert cells(run({"age": ages}, "q", [KAnonymity(k=2)]), "age") == [
        "[1, 9]", "[1, 9]", None, None, "[1, 9]",
    ]  # fmt: skip
    assert cells(run({"age": ages[:3]}, "q", [KAnonymity(k=2)]), "age") == ['{1, 5, ""}'] * 3


def test_requirements_against_the_table_compare_with_the_whole_table():
    outcome = run(
        {"age": list(range(8)), "s": list("xyxyxxyy")},
        "qs",
        [TCloseness(t=0.0, attribute="s")],
    )
    assert cells(outcome, "age") == ["[0, 1]"] * 2 + ["[2, 3]"] * 2 + ["[4, 7]"] * 4


def test_one_row_one_value_and_no_quasi_identifier():
    assert cells(run({"age": [7]}, "q", [KAnonymity(k=1)]), "age") == ["7"]
    assert cells(run({"age": [7, 7]}, "q", [KAnonymity(k=1)]), "age") == ["7", "7"]
    outcome = run({"s": ["x", "y"]}, "s", [KAnonymity(k=2)])
    assert outcome.class_of_row.tolist() == [0, 0]


def test_infeasible_says_what_would_be_feasible():
    with pytest.raises(InfeasibleError, match=r"distinct-l-diversity .* reaches l = 2") as raised:
        run({"age": [1, 2], "s": ["x", "y"]}, "qs", [KAnonymity(k=2), DistinctLDiversity(l=3)])
    (failure,) = raised.value.failures
    assert failure["feasible"] == {"l": 2.0}


def test_a_label_with_two_meanings_is_refused():
    tree = [["a", "x", "x"], ["b", "y", "x"]]
    with pytest.raises(HierarchyError, match="'x' denotes different values"):
        run({"c": ["a", "b"]}, "q", [KAnonymity(k=1)], {"c": tree})


def test_no_rows():
    with pytest.raises(InputError, match="no rows"):
        run({"age": []}, "q", [KAnonymity(k=1)])


def adult_task(requirements):
    frame = adult().select([*SEVEN, "occupation"])
    frame = frame.with_columns(frame["age"].cast(str))
    table = coded_frame(frame, "qqqqqqqs")
    trees = {name: hierarchy_from_rows(table[name], adult_hierarchy(name)) for name in SEVEN}
    return Task(table, trees, requirements, np.random.default_rng(0))


@pytest.mark.data
@pytest.mark.parametrize(
    ("requirements", "bound"),
    [
        ([KAnonymity(k=5)], 0.042),
        ([KAnonymity(k=5), DistinctLDiversity(l=3, attribute="occupation")], 0.046),
    ],
)
def test_loss_on_adult(requirements, bound):
    task = adult_task(requirements)
    outcome = Mondrian().run(task)
    size = np.bincount(outcome.class_of_row)
    loss = [c.loss[c.cell_of_class] @ size / size.sum() for c in outcome.cells.values()]
    assert np.mean(loss) <= bound
    assert size.min() >= 5


class LeastRows:
    """A judge of ranges of units with given weights that records what it judged."""

    def __init__(self, weight, least):
        self.weight, self.least, self.judged = np.array(weight), least, []

    def passes(self, order, start, end, size):
        self.judged += zip(start.tolist(), end.tolist(), size.tolist(), strict=True)
        return size >= self.least

    def meets_averages(self, order, start, end, size):
        return sum(size) == sum(self.weight)


def test_every_class_is_judged_again():
    start, order = np.array([0, 2, 3, 9, 10]), np.arange(10)[::-1].astype(np.int32)
    judge = LeastRows([9, 1, 1, 1, 1, 1, 1, 5, 1, 1], 2)  # the units in reverse order
    _check(judge, order, start)
    assert judge.judged == [(0, 2, 2), (2, 3, 5), (3, 9, 6), (9, 10, 9)]
    for low, high in pairwise(start):
        weight = judge.weight.copy()
        weight[order[low:high]] = 0
        with pytest.raises(AssertionError, match="judged to pass"):
            _check(LeastRows(weight, 2), order, start)


def test_many_values_of_a_set_are_listed_in_order(monkeypatch):
    words = ["pear", "fig", "plum", "fig", "date", "pear"]
    marked = run({"fruit": words}, "q", [KAnonymity(k=6)])
    monkeypatch.setattr("discreet.methods.shared.tight_cells.MARKED", 0)
    sorted_ = run({"fruit": words}, "q", [KAnonymity(k=6)])
    assert cells(marked, "fruit") == cells(sorted_, "fruit") == ["{date, fig, pear, plum}"] * 6
