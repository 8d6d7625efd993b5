"""What a run is expected to take, beside what the benchmarks measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.pipeline import expected_cost
from discreet.pipeline.expected_cost import ExpectedCost, announce_cost
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

FIGURES = Path(__file__).parents[2] / "benchmarks" / "results.json"
METHODS = ("mondrian", "local-recoding", "full-domain", "decomposition")
NINE = 9  # columns of the tables of these benchmarks


def table(rows: int, columns: int, secrets: int = 1) -> CodedTable:
    """A table of which only its size is read."""
    nothing = np.zeros(0, np.int32)
    values = pl.Series([], dtype=pl.String)
    roles = [Role.SENSITIVE] * secrets + [Role.QUASI_IDENTIFIER] * (columns - secrets)
    named = {
        f"c{n}": Column(f"c{n}", role, ValueType.TEXT, nothing, values, values)
        for n, role in enumerate(roles)
    }
    return CodedTable(named, rows)


def measured() -> list[tuple[str, int, float, float]]:
    """Method, rows, processor seconds and GB of each publish of a large table of nine columns."""
    figures = [f for part in json.loads(FIGURES.read_text())["parts"] for f in part["figures"]]
    return [
        (figure["what"].split(": ")[-1], figure["rows"], figure["processor"], figure["memory"])
        for figure in figures
        if figure["section"].startswith(("Whole path", "Memory of one machine"))
        and figure.get("rows", 0) >= 1_000_000
        and figure["what"].split(": ")[-1] in METHODS
        and "processor" in figure and "memory" in figure
    ]  # fmt: skip


def test_estimates_are_near_what_was_measured():
    assert len(measured()) >= 8
    for method, rows, seconds, memory in measured():
        cost = ExpectedCost.of(table(rows, NINE), method)
        assert seconds / 2 < cost.seconds < 2 * seconds, (method, rows)
        assert memory / 2 < cost.memory < 2 * memory, (method, rows)


@pytest.mark.parametrize(
    ("rows", "columns", "secrets", "seconds"),  # of publish, as init writes the job for them
    [(7_214, 35, 27, 7.3), (1_470, 28, 18, 2.9), (101_766, 26, 21, 8.4), (48_842, 12, 2, 3.3)],
)
def test_attacks_are_part_of_the_estimate(rows, columns, secrets, seconds):
    cost = ExpectedCost.of(table(rows, columns, secrets), "unlinked", attack_seconds=60)
    assert seconds / 2 < cost.seconds < 2 * seconds


def test_only_long_runs_are_announced_and_a_budget_is_the_time():
    phases: list[str] = []
    announce_cost(lambda phase, _: phases.append(phase), table(1_000, 9), "mondrian")
    assert not phases
    announce_cost(lambda phase, _: phases.append(phase), table(10_000_000, 9), "mondrian")
    announce_cost(lambda phase, _: phases.append(phase), table(1_000, 9), "mondrian", budget=60)
    many, times = table(1_000_000, 9), 60  # of about two seconds each
    announce_cost(lambda phase, _: phases.append(phase), many, "mondrian", times=times, budget=60)
    assert [phase.split(" of memory")[0] for phase in phases] == [
        "About 15 s and 1.9 GB", "About 60 s and 0.3 GB"
    ]  # fmt: skip


def test_publish_says_it_once_on_stderr(tmp_path, monkeypatch):
    rows = [f"{20 + n % 40},{'flu' if n % 2 else 'gout'}" for n in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["age,ill", *rows, ""]))
    job = tmp_path / "job.yaml"
    job.write_text(
        "source: {path: t.csv}\nattributes:\n  age: {role: quasi-identifier, type: integer}\n"
        "  ill: {role: sensitive}\nmethod: mondrian\n"
    )
    monkeypatch.setattr(expected_cost, "SAID_FROM", 0.0)
    done = CliRunner().invoke(app, ["publish", str(job)])
    assert done.stderr.count("This is an estimate.") == 1, done.stderr
    assert "of memory are expected for 80 rows of 2 columns" in done.stderr
    quiet = CliRunner().invoke(app, ["publish", str(job), "--force", "--quiet"])
    assert "estimate" not in quiet.output
