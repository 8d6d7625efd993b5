"""A synthetic population over a series of releases: why a publisher needs a ledger.

Run it with ``python -m experiments.simulation --records 1000 --releases 6 --plot series.svg``.

The same people are published again and again, while some join, some leave and some values change.
Three publishers treat them: one makes every release anew (each safe by itself), one keeps
m-invariance, one keeps ρ-difference. The figures are the beliefs of an attacker who has all
releases so far and knows how often values change. For the first two they are estimates, from each
person's own groups alone; for ρ-different they are exact, over all persons and releases at once.
How often the attacker's best guess is right is counted for all three.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.attacks.series_beliefs import Series, joint
from discreet.methods.base import Bucketized, Past, Task
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.series.m_invariance.m_invariance import MInvariance
from discreet.methods.series.rho_different.rho_different import RhoDifferent, first_groups
from discreet.methods.shared.different_values import curve_places
from discreet.report.charts.chart import Chart
from discreet.report.charts.result_charts import series_chart
from discreet.report.charts.svg import standalone
from discreet.report.pieces import Page, Section, figures, table
from discreet.result import Result
from discreet.table.coded_table import CodedTable, Column
from discreet.table.kernels.lists import distinct_values
from discreet.table.past_releases import History, PastRelease
from discreet.table.roles import Role, ValueType

INDEPENDENT = "independent"
METHODS = (INDEPENDENT, MInvariance.name, RhoDifferent.name)


@dataclass(frozen=True)
class SimulatedPopulation:
    """Shares of records that are added, removed and changed between two releases."""

    people: int = 2000
    releases: int = 6
    insertions: float = 0.1
    deletions: float = 0.1
    updates: float = 0.1
    values: int = 10


@dataclass(frozen=True)
class SimulatedRelease:
    """One release of one publisher."""

    release: int
    method: str
    published: int
    held_back: int
    counterfeits: int
    greatest: float  # belief about any person
    above: float  # the share of people with a belief above ρ
    right: float  # the share of people whose present value the attacker guesses from their groups


@dataclass
class _Publisher:
    """The releases of one publisher so far."""

    method: str
    past: list[PastRelease] = field(default_factory=list)
    belief: dict[int, NDArray[np.float64]] = field(default_factory=dict)  # of each person


@dataclass(frozen=True)
class Simulation(Result):
    """A simulated series: a step for each release and publisher."""

    steps: tuple[SimulatedRelease, ...]
    rho: float  # the bound on beliefs

    def to_dict(self) -> dict[str, Any]:
        """The steps as plain data."""
        return {"steps": [asdict(step) for step in self.steps]}

    def __str__(self) -> str:
        head, *rows = self._rows()
        lines = [head, tuple("---" for _ in head), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def save_plot(self, path: str | Path) -> Path:
        """Write the greatest belief by release, a line for each publisher, as an SVG file."""
        path = Path(path)
        path.write_text(standalone(self._chart()), encoding="utf-8")
        return path

    def _rows(self) -> list[tuple[str, ...]]:
        """A heading, then a row for each release with a cell for each publisher."""
        rows = [("release", *(f"{name}: greatest (above, right)" for name in METHODS))]
        for release in sorted({step.release for step in self.steps}):
            own = {step.method: step for step in self.steps if step.release == release}
            cells = [f"{s.greatest:.3f} ({s.above:.0%}, {s.right:.0%})" for s in own.values()]
            rows.append((str(release), *cells))
        return rows

    def _chart(self) -> Chart:
        beliefs = {name: [s.greatest for s in self.steps if s.method == name] for name in METHODS}
        return series_chart(beliefs, self.rho)

    def _charts(self) -> list[Chart]:
        return [self._chart()]

    def _page(self) -> Page:
        head, *below = self._rows()
        return Page(
            kind="Simulated series",
            subject="of a made-up population",
            heading="What all releases together reveal",
            tone="",
            lede=(f"An attacker who has all releases so far, against the bound ρ = {self.rho:g}.",),
            cards=(),
            sections=[
                Section("Greatest belief by release", figures([self._chart()]), "Plot"),
                Section("Every release", table(head, below, range(1, len(head))), "Table"),
            ],
        )


def simulate(
    population: SimulatedPopulation | None = None,
    *,
    rho: float = 0.5,
    seed: int = 0,
) -> Simulation:
    """Publish a synthetic population repeatedly, by three publishers.

    One makes every release anew, one keeps m-invariance, one keeps ρ-difference. The result shows
    the beliefs of an attacker with all releases, by release.
    """
    population = population or SimulatedPopulation()
    rng = np.random.default_rng(seed)
    values = population.values
    stays = np.where(np.arange(values) % 3 == 0, 1.0, 1 - population.updates)  # some never change
    rows = [(str(code), str(code), float(stays[code])) for code in range(values)]
    correlation = Correlation.of(rows, "spread")
    publishers = [_Publisher(method) for method in METHODS]
    person = np.arange(population.people, dtype=np.int32)
    value = _drawn(len(person), values, rng)
    place = rng.random((len(person), 2))
    known = population.people
    steps = []
    for release in range(1, population.releases + 1):
        for publisher in publishers:
            task = _task(person, value, place, values, known, publisher, correlation, rng)
            steps.append(_publish(publisher, task, release, rho, correlation))
        stay = rng.random(len(person)) >= population.deletions
        person, value, place = person[stay], value[stay], place[stay]
        changes = rng.random(len(value)) >= stays[value]
        other = rng.integers(1, values, len(value))
        value = np.where(changes, (value + other) % values, value).astype(np.int32)
        joining = round(population.insertions * population.people)
        person = np.append(person, np.arange(known, known + joining)).astype(np.int32)
        value = np.append(value, _drawn(joining, values, rng)).astype(np.int32)
        place = np.concatenate([place, rng.random((joining, 2))])
        known += joining
    return Simulation(tuple(steps), rho)


def _drawn(count: int, values: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Values, some more frequent than others."""
    weight = 1 / (np.arange(values) + 3.0)
    return rng.choice(values, count, p=weight / weight.sum()).astype(np.int32)


def _task(
    person: NDArray[np.int32],
    value: NDArray[np.int32],
    place: NDArray[np.float64],
    values: int,
    known: int,
    publisher: _Publisher,
    correlation: Correlation,
    rng: np.random.Generator,
) -> Task:
    axes = ("age", "zip")
    columns = {name: _numbers(name, place[:, axis]) for axis, name in enumerate(axes)}
    text = pl.Series("value", [str(code) for code in range(values)])
    columns["value"] = Column("value", Role.SENSITIVE, ValueType.TEXT, value, text, text)
    table = CodedTable(columns, len(person))
    history = History(tuple(publisher.past), person, known, tuple(text.to_list()))
    return Task(table, {}, (), rng, past=Past(history, correlation))


def _numbers(name: str, cells: NDArray[np.float64]) -> Column:
    known, codes = np.unique((cells * 100).astype(np.int64), return_inverse=True)
    values = pl.Series(name, known)
    return Column(
        name,
        Role.QUASI_IDENTIFIER,
        ValueType.INTEGER,
        codes.astype(np.int32),
        values.cast(pl.String),
        values,
        known.astype(np.float64),
    )


def _publish(
    publisher: _Publisher, task: Task, release: int, rho: float, correlation: Correlation
) -> SimulatedRelease:
    outcome = _outcome(publisher.method, task, rho)
    history = task.past.history
    assert history is not None
    fakes = outcome.counterfeits
    kept = outcome.group_of_row >= 0
    column = task.table["value"]
    group = np.concatenate([outcome.group_of_row[kept], fakes.group if fakes else []])
    value = np.concatenate([column.codes[kept], fakes.value["value"] if fakes else []])
    key = group.astype(np.int64) * column.cardinality + value.astype(np.int64)
    keys, count = np.unique(key, return_counts=True)
    groups = int(outcome.group_of_row.max(initial=-1)) + 1
    start = np.searchsorted(keys // column.cardinality, np.arange(groups + 1)).astype(np.int64)
    entries = (keys % column.cardinality).astype(np.int32)
    people = history.person_of_row[kept]
    publisher.past.append(
        PastRelease(people, outcome.group_of_row[kept], start, entries, count.astype(np.int32))
    )
    matrix = correlation.matrix(history.values)
    belief = _updated_belief(publisher, matrix, column.cardinality)
    right = float((belief.argmax(axis=1) == column.codes[kept]).mean())
    greatest = float(belief.max())
    above = float((belief.max(axis=1) > rho + 1e-9).mean())
    if publisher.method == RhoDifferent.name:
        found = joint(
            Series.of_history(replace(history, releases=publisher.past)), correlation, rho
        )
        greatest, above = max(found.greatest), found.above / max(len(people), 1)
    return SimulatedRelease(
        release=release,
        method=publisher.method,
        published=len(people),
        held_back=int((~kept).sum()),
        counterfeits=0 if fakes is None else len(fakes.group),
        greatest=greatest,
        above=above,
        right=right,
    )


def _outcome(method: str, task: Task, rho: float) -> Bucketized:
    least = math.ceil(1 / rho - 1e-9)
    if method == MInvariance.name:
        return MInvariance(m=least).run(task)
    if method == RhoDifferent.name:
        return RhoDifferent(rho=rho).run(task)
    column = task.table["value"]
    rows = np.arange(task.table.rows)
    group, fakes = first_groups(
        rows, column.codes, curve_places(task, least), column.cardinality, least, task.rng
    )
    kept = ~np.isin(group, fakes[0])  # without a ledger there are no counterfeits
    group = np.where(kept, group, -1)
    known = distinct_values(group[kept])
    return Bucketized(np.where(kept, np.searchsorted(known, group), -1).astype(np.int32))


def _updated_belief(
    publisher: _Publisher, matrix: NDArray[np.float64], values: int
) -> NDArray[np.float64]:
    """Carry the beliefs about every person on through the last release: (people, values)."""
    last = publisher.past[-1]
    share = np.zeros((last.groups, values))
    of_entry = np.repeat(np.arange(last.groups), np.diff(last.start))
    share[of_entry, last.value] = last.count
    share /= share.sum(axis=1, keepdims=True)
    result = np.empty((len(last.person), values))
    for at, (person, group) in enumerate(zip(last.person.tolist(), last.group, strict=True)):
        before = publisher.belief.get(person)
        now = share[group] if before is None else (before @ matrix) * share[group]
        total = now.sum()
        now = now / total if total > 0 else share[group]
        publisher.belief[person] = now
        result[at] = now
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what repeated releases of a synthetic population reveal."""
    parser = argparse.ArgumentParser(prog="python -m experiments.simulation")
    parser.add_argument("--records", type=int, default=1000, help="Records in the first release.")
    parser.add_argument("--releases", type=int, default=6, help="Number of releases.")
    parser.add_argument("--insertions", type=float, default=0.1, help="Share of new records.")
    parser.add_argument("--deletions", type=float, default=0.1, help="Share of deleted records.")
    parser.add_argument("--updates", type=float, default=0.1, help="Share of changed values.")
    parser.add_argument("--rho", type=float, default=0.5, help="Bound on the attacker's belief.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the synthetic population.")
    parser.add_argument("--plot", type=Path, help="SVG file to write: beliefs by release.")
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    asked = parser.parse_args(arguments)
    shares = (asked.insertions, asked.deletions, asked.updates)
    if asked.records < 10 or asked.releases < 1 or not all(0 <= share <= 1 for share in shares):
        parser.error("Use 10 records or more, a release or more, and shares from 0 to 1.")
    if not 0.05 <= asked.rho <= 0.95:
        parser.error("--rho must lie between 0.05 and 0.95.")
    population = SimulatedPopulation(asked.records, asked.releases, *shares)
    simulation = simulate(population, rho=asked.rho, seed=asked.seed)
    if asked.plot is not None:
        simulation.save_plot(asked.plot)
    if asked.json:
        print(json.dumps(simulation.to_dict()))
        return 0
    print(simulation)
    print()
    for step in simulation.steps:
        if step.release == asked.releases:
            print(
                f"{step.method}: in the last release {step.published:,} records, "
                f"{step.counterfeits:,} counterfeits, {step.held_back:,} held back."
            )
    print(
        "Figures: greatest belief of an attacker who has all releases; in brackets the share of "
        "records with a belief above rho, and the share whose value the attacker guesses."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
