"""Ordinary and border cases of the full-domain method."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest

from discreet.errors import InfeasibleError, InputError
from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.methods.base import Task
from discreet.methods.full_domain import full_domain
from discreet.methods.full_domain.full_domain import FullDomain, minimal_nodes, suppression_budget
from discreet.methods.full_domain.manifest_entry import FullDomainEntry
from discreet.methods.shared.lattice import Lattice
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.budgets import TABLE_CELLS
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

Cells = list[str | None]


def coded(name: str, cells: Cells, role: Role) -> Column:
    known = sorted({cell for cell in cells if cell is not None})
    values = [*known, None] if None in cells else known
    codes = np.array([values.index(cell) for cell in cells], np.int32)
    text = pl.Series(name, values, pl.String)
    return Column(name, role, ValueType.TEXT, codes, text, text)


def suppressible(column: Column, *, top: bool = True) -> Hierarchy:
    values = column.cardinality
    levels = [
        level_from_groups(np.arange(values), column.text.to_list(), np.ones(values, int), values)
    ]
    if top:
        levels.append(level_from_groups(np.zeros(values), ["*"], np.array([values]), values))
    return Hierarchy(column.name, tuple(levels), values)


def task(
    quasi_identifiers: dict[str, Cells],
    sensitive: dict[str, Cells],
    requirements: list[Requirement],
    *,
    top: bool = True,
) -> Task:
    columns = {name: coded(name, c, Role.QUASI_IDENTIFIER) for name, c in quasi_identifiers.items()}
    hierarchies = {name: suppressible(column, top=top) for name, column in columns.items()}
    columns |= {name: coded(name, c, Role.SENSITIVE) for name, c in sensitive.items()}
    rows = max((len(column.codes) for column in columns.values()), default=0)
    return Task(CodedTable(columns, rows), hierarchies, requirements, np.random.default_rng(0))


SEX: Cells = ["f", "f", "m", "m", "m", None]
ZIP: Cells = ["1", "1", "2", "2", "3", "3"]
ILL: Cells = ["a", "b", "a", "b", "a", "a"]


def test_the_cheapest_recoding_is_published_with_its_cells() -> None:
    outcome = FullDomain().run(task({"sex": SEX, "zip": ZIP}, {}, [KAnonymity(k=2)]))
    assert outcome.facts["levels"] == {"sex": 1, "zip": 0}
    assert outcome.facts["cost"] == 0.5
    assert outcome.class_of_row.tolist() == [0, 0, 1, 1, 2, 2]
    labels = {name: [c.labels[i] for i in c.cell_of_class] for name, c in outcome.cells.items()}
    assert labels == {"sex": ["*", "*", "*"], "zip": ["1", "2", "3"]}


def test_a_suppressed_row_is_marked_and_costs_all_its_cells() -> None:
    made = task({"sex": SEX, "zip": ZIP}, {}, [KAnonymity(k=2)])
    outcome = FullDomain(suppression=0.34).run(made)
    assert outcome.facts["levels"] == {"sex": 0, "zip": 0}
    assert outcome.class_of_row.tolist() == [0, 0, 1, 1, -1, -1]
    assert outcome.facts["cost"] == pytest.approx(2 / 6)
    assert all(len(column.cell_of_class) == 2 for column in outcome.cells.values())


def test_a_missing_value_is_a_class_of_its_own() -> None:
    outcome = FullDomain(minimize="height").run(task({"sex": SEX}, {}, [KAnonymity(k=1)]))
    cells = outcome.cells["sex"]
    assert [cells.labels[i] for i in cells.cell_of_class] == ["f", "m", None]


def test_all_minimal_recodings() -> None:
    made = task({"sex": SEX, "zip": ZIP}, {}, [KAnonymity(k=2)])
    assert minimal_nodes(made) == [{"sex": 1, "zip": 0}]
    both = task({"a": ["x", "x", "y", "y"], "b": ["x", "y", "x", "y"]}, {}, [KAnonymity(k=2)])
    assert minimal_nodes(both) == [{"a": 0, "b": 1}, {"a": 1, "b": 0}]
    assert FullDomain().run(both).facts["levels"] == {"a": 0, "b": 1}  # the tie
    assert minimal_nodes(task({"sex": SEX}, {}, [KAnonymity(k=7)])) == []


@pytest.mark.parametrize("suppression", [0.0, 0.5])
@pytest.mark.parametrize("minimize", ["loss", "discernibility", "entropy", "class-size", "height"])
def test_no_quasi_identifier_at_all(minimize: str, suppression: float) -> None:
    method = FullDomain.model_validate({"minimize": minimize, "suppression": suppression})
    outcome = method.run(task({}, {"ill": ILL}, [KAnonymity(k=6), DistinctLDiversity(l=2)]))
    assert outcome.class_of_row.tolist() == [0] * 6
    assert outcome.facts["levels"] == {}
    with pytest.raises(InfeasibleError):
        method.run(task({}, {"ill": ILL}, [KAnonymity(k=7)]))


def test_one_row_and_one_value() -> None:
    outcome = FullDomain().run(task({"sex": ["f"]}, {"ill": ["a"]}, [KAnonymity(k=1)]))
    assert outcome.class_of_row.tolist() == [0]
    with pytest.raises(InfeasibleError):
        FullDomain(suppression=1.0).run(task({"sex": ["f"]}, {}, [KAnonymity(k=2)]))


def test_no_rows() -> None:
    with pytest.raises(InputError, match="no rows"):
        FullDomain().run(task({"sex": []}, {}, [KAnonymity(k=1)]))


def test_no_requirement_publishes_the_values_themselves() -> None:
    assert FullDomain().run(task({"sex": SEX}, {}, [])).facts["levels"] == {"sex": 0}


def test_infeasible_says_which_requirement_fails_and_what_is_feasible() -> None:
    made = task(
        {"sex": SEX, "zip": ZIP},
        {"ill": ILL},
        [KAnonymity(k=2), EntropyLDiversity(l=2), TCloseness(t=0.0)],
    )
    with pytest.raises(InfeasibleError, match=r"entropy-l-diversity.*reaches l = 1\.88") as caught:
        FullDomain().run(made)
    (failure,) = caught.value.failures
    assert failure["requirement"] == "entropy-l-diversity"
    assert failure["parameters"] == {"l": 2.0}
    assert failure["feasible"] == failure["achieved"]
    assert "'a'" not in str(caught.value)


def test_hierarchies_that_do_not_end_in_one_node() -> None:
    made = task({"zip": ZIP}, {}, [KAnonymity(k=3)], top=False)
    with pytest.raises(InfeasibleError, match=r"k-anonymity \(k = 3\) reaches k = 2"):
        FullDomain().run(made)
    uneven: Cells = ["1", "1", "1", "2", "2", "2", "3"]
    made = task({"zip": uneven}, {}, [KAnonymity(k=3)], top=False)
    with pytest.raises(InfeasibleError, match="reaches k = 1 there"):
        FullDomain(suppression=0.1).run(made)
    assert FullDomain(suppression=0.15).run(made).class_of_row.tolist() == [0, 0, 0, 1, 1, 1, -1]


def test_infeasible_with_suppression_says_how_many_rows_would_have_to_go() -> None:
    cells: Cells = ["1", "1", "1", "2", "2", "2", "3", "4"]
    made = task({"zip": cells}, {}, [KAnonymity(k=3)], top=False)
    with pytest.raises(InfeasibleError, match="suppress 2 of 8 rows; 1 are allowed"):
        FullDomain(suppression=0.125).run(made)


def test_the_budget_is_the_share_rounded_down() -> None:
    assert suppression_budget(0.29, 100) == 29
    assert suppression_budget(0.05, 30162) == 1508
    assert suppression_budget(1.0, 3) == 3


def test_keys_wider_than_64_bits() -> None:
    rng = np.random.default_rng(5)
    rows = 300
    wide: dict[str, Cells] = {
        f"q{j}": [str(v) for v in rng.integers(0, 200, rows)] for j in range(10)
    }
    for cells in wide.values():
        cells[1] = cells[0]
    outcome = FullDomain(suppression=0.999).run(task(wide, {}, [KAnonymity(k=2)]))
    narrow = {name: wide[name] for name in ("q0", "q1")}
    assert outcome.class_of_row[0] == outcome.class_of_row[1] >= 0
    assert FullDomain().run(task(narrow, {}, [KAnonymity(k=2)])).facts["levels"] in (
        {"q0": 0, "q1": 1},
        {"q0": 1, "q1": 0},
        {"q0": 1, "q1": 1},
    )


def test_too_many_nodes_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match="mondrian"):
        Lattice([4] * 20)
    assert Lattice([1] * 10).nodes == 1024 < TABLE_CELLS


def test_given_levels_are_published_without_a_search() -> None:
    given = task({"sex": SEX, "zip": ZIP}, {"ill": ILL}, [KAnonymity(k=2)])
    outcome = FullDomain(levels={"sex": 1, "zip": 1}).run(given)
    assert outcome.facts == {"levels": {"sex": 1, "zip": 1}}
    assert np.bincount(outcome.class_of_row).tolist() == [6]
    searched = FullDomain().run(given)
    assert searched.facts["levels"] == {"sex": 1, "zip": 0}
    again = FullDomain(levels=searched.facts["levels"]).run(given)
    assert np.array_equal(again.class_of_row, searched.class_of_row)


def test_given_levels_at_which_a_requirement_fails_are_refused() -> None:
    given = task({"sex": SEX, "zip": ZIP}, {"ill": ILL}, [KAnonymity(k=2)])
    with pytest.raises(InfeasibleError, match="given levels do not meet.*reaches k = 1"):
        FullDomain(levels={"sex": 0, "zip": 0}).run(given)
    with pytest.raises(InfeasibleError, match="2 of 6 rows would have to be suppressed; 1 are"):
        FullDomain(levels={"sex": 0, "zip": 0}, suppression=0.2).run(given)
    outcome = FullDomain(levels={"sex": 0, "zip": 0}, suppression=0.4).run(given)
    assert (outcome.class_of_row == -1).tolist() == [False] * 4 + [True] * 2


@pytest.mark.parametrize("levels", [{"sex": 0}, {"sex": 0, "zip": 2}, {"sex": 0, "zip": 0, "x": 0}])
def test_given_levels_that_are_not_of_the_lattice(levels: dict[str, int]) -> None:
    given = task({"sex": SEX, "zip": ZIP}, {"ill": ILL}, [])
    with pytest.raises(InputError, match="Highest levels: {sex: 1, zip: 1}"):
        FullDomain(levels=levels).run(given)


@pytest.fixture
def end_after(monkeypatch):
    """End searches by their time budget after so many nodes."""

    class NodeBudget:
        def __init__(self, nodes: int) -> None:
            self.nodes = nodes

        def __getitem__(self, place: int) -> bool:
            self.nodes -= 1
            return self.nodes < 0

    def end(nodes: int) -> None:
        flag = NodeBudget(nodes)
        monkeypatch.setattr(full_domain, "stop_flag", {1.0: nullcontext(flag)}.__getitem__)

    return end


def test_a_search_that_is_ended_publishes_the_best_levels_so_far(end_after):
    rng = np.random.default_rng(4)
    cells = {f"q{j}": [str(code) for code in rng.integers(0, 2, 22)] for j in range(7)}
    given = task(cells, {"ill": list(rng.choice(["a", "b", "c"], 22))}, [TCloseness(t=0.2)])
    best = FullDomain(suppression=0.3, minimize="class-size").run(given).facts
    assert best["proved_optimal"]
    costs = []
    for nodes in range(best["nodes_examined"] + 1):
        end_after(nodes)
        found = FullDomain(suppression=0.3, minimize="class-size", seconds=1).run(given)
        again = FullDomain(suppression=0.3, levels=found.facts["levels"]).run(given)
        assert found.class_of_row.tolist() == again.class_of_row.tolist()
        assert found.facts["proved_optimal"] == (nodes == best["nodes_examined"])
        costs.append(found.facts["cost"])
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == best["cost"] < costs[0]


@pytest.mark.parametrize("minimize", ["class-size", "discernibility", "loss"])
def test_the_number_of_nodes_chosen_at_once_changes_no_optimum(minimize, monkeypatch):
    rng = np.random.default_rng(5)
    cells = {f"q{j}": [str(code) for code in rng.integers(0, 2 + j, 60)] for j in range(6)}
    given = task(cells, {"ill": list(rng.choice(["a", "b", "c"], 60))}, [KAnonymity(k=3)])
    method = FullDomain(suppression=0.2, minimize=minimize)
    found = method.run(given).facts
    assert found["nodes_examined"] > 4
    monkeypatch.setattr("discreet.methods.full_domain.lattice_search.AT_ONCE", 1)
    again = method.run(given).facts
    assert again["proved_optimal"]
    assert (again["levels"], again["cost"]) == (found["levels"], found["cost"])


def test_a_search_that_is_ended_before_it_finds_anything_says_so(end_after):
    given = task({"zip": ["1", "2", "3", "4", "5", "6"]}, {"ill": ILL}, [EntropyLDiversity(l=2)])
    end_after(0)
    with pytest.raises(InfeasibleError, match="within 'seconds' no recoding was found") as ended:
        FullDomain(suppression=0.5, seconds=1).run(given)
    assert "raise 'seconds'" in str(ended.value)
    with pytest.raises(InfeasibleError, match="not even the most general one"):  # proved
        FullDomain(seconds=1).run(given)


def test_the_publisher_is_told_that_a_search_was_ended():
    entry = FullDomainEntry(name="full-domain", levels={"zip": 1})
    assert "other levels may cost less" in entry.private_sentences({"proved_optimal": False}, {})[0]
    assert not entry.private_sentences({"proved_optimal": True}, {})
