"""Results on Adult on which other software and brute force agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.methods.base import Task
from discreet.methods.full_domain.full_domain import FullDomain, minimal_nodes
from discreet.requirements.base import Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import EntropyLDiversity
from discreet.requirements.k_anonymity import KAnonymity
from discreet.table.classes import classes_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Distance, Role, ValueType

DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("DISCREET_DATA", DEFAULT)) / "adult" / "arx-form"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="DISCREET_DATA has no adult/arx-form"),
]


def coded(frame: pl.DataFrame, name: str, role: Role) -> Column:
    text = frame[name].unique().sort()
    codes = frame[name].cast(pl.Enum(text)).to_physical().cast(pl.Int32).to_numpy()
    distance = Distance.ORDERED if role is Role.SENSITIVE else Distance.EQUAL
    return Column(name, role, ValueType.TEXT, codes, text, text, distance=distance)


def hierarchy(column: Column) -> Hierarchy:
    text = (FOLDER / f"{column.name}.csv").read_text(encoding="utf-8")
    lines = {line.split(";")[0]: line.split(";") for line in text.splitlines()}
    levels = []
    for depth in range(len(next(iter(lines.values())))):
        of_value = [lines[value][depth] for value in column.text]
        labels = sorted(set(of_value))
        node_of_leaf = np.array([labels.index(label) for label in of_value])
        all_labels = [line[depth] for line in lines.values()]
        leaves = np.array([all_labels.count(label) for label in labels])
        levels.append(level_from_groups(node_of_leaf, labels, leaves, len(lines)))
    return Hierarchy(column.name, tuple(levels), len(lines))


def adult(requirements: Sequence[Requirement], sensitive: Sequence[str] = ()) -> Task:
    frame = pl.read_csv(FOLDER / "adult-30162.csv", separator=";", infer_schema=False)
    columns = {
        name: coded(frame, name, Role.SENSITIVE if name in sensitive else Role.QUASI_IDENTIFIER)
        for name in frame.columns
    }
    hierarchies = {name: hierarchy(c) for name, c in columns.items() if name not in sensitive}
    table = CodedTable(columns, len(frame))
    return Task(table, hierarchies, requirements, np.random.default_rng(0))


def test_nine_quasi_identifiers_k_5_entropy() -> None:
    outcome = FullDomain(minimize="entropy").run(adult([KAnonymity(k=5)]))
    assert list(outcome.facts["levels"].values()) == [1, 2, 1, 1, 3, 2, 2, 1, 1]
    assert outcome.facts["cost"] == pytest.approx(407289.5389, abs=1e-4)


def test_k_5_and_t_closeness_on_occupation_discernibility() -> None:
    requirements = [KAnonymity(k=5), TCloseness(t=0.1, attribute="occupation")]
    task = adult(requirements, ["occupation"])
    outcome = FullDomain(minimize="discernibility").run(task)
    assert list(outcome.facts["levels"].values()) == [1, 1, 1, 2, 3, 2, 2, 1]
    assert outcome.facts["cost"] == 97868020
    levels = outcome.facts["levels"]
    columns = [
        Column(
            c.name,
            c.role,
            c.type,
            task.hierarchies[c.name].levels[levels[c.name]].node_of_leaf[c.codes],
            c.text,
            c.values,
        )
        for c in task.table.quasi_identifiers
    ]
    counts = task.count(classes_of(columns, task.table.rows))
    achieved = requirements[1].check(counts, task.domains).achieved
    assert achieved["t"] == pytest.approx(0.07276, abs=5e-6)


def test_entropy_5_diversity_on_occupation_entropy() -> None:
    task = adult([EntropyLDiversity(l=5, attribute="occupation")], ["occupation"])
    outcome = FullDomain(minimize="entropy").run(task)
    assert list(outcome.facts["levels"].values()) == [1, 1, 1, 1, 3, 2, 2, 1]
    assert outcome.facts["cost"] == pytest.approx(324620.5270, abs=1e-4)


def test_classes_of_the_raw_columns() -> None:
    task = adult([])
    classes = classes_of(task.table.quasi_identifiers, task.table.rows)
    assert classes.count / task.table.rows == pytest.approx(0.64657516, abs=1e-8)


def test_the_optimum_is_a_minimal_node() -> None:
    task = adult([KAnonymity(k=5)])
    assert FullDomain().run(task).facts["levels"] in minimal_nodes(task)
