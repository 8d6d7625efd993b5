"""The conformance of a requirement, checked on small random tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from discreet.api.audit import audit
from discreet.api.series import audit_series
from discreet.io.frames import code_frame
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Method, Task
from discreet.requirements.base import Domains, Requirement
from discreet.requirements.judge import covered, least_removed, stated, vacuous_for
from discreet.table.classes import Classes
from discreet.table.counts import ClassCounts, count_classes
from discreet.table.roles import ColumnSpec, Role
from discreet.testing.method_checks import LEDGER, published_sample
from discreet.testing.sample_tables import ATTRIBUTES, check_named, expect, sample_table
from discreet.typing import Bools

Cell = str | int | float | None
Row = Mapping[str, Cell]
Naive = Callable[[Sequence[Row], Sequence[Row]], bool]

VALUES: Mapping[str, Sequence[Cell]] = {
    "diagnosis": ("asthma", "flu", "gout", None),
    "salary": (1000.0, 1500.0, 4000.0),
}
TOLERANCE = 1e-6


def check_requirement(
    requirement: Requirement,
    *,
    values: Mapping[str, Sequence[Cell]] = VALUES,
    knowledge: Mapping[str, Knowledge] | None = None,
    naive: Naive | None = None,
    merging: bool = True,
    tables: int = 30,
    by: Method | None = None,
    attributes: Mapping[str, Mapping[str, Any]] = ATTRIBUTES,
    make_table: Callable[[int], pl.DataFrame] = sample_table,
) -> None:
    """Check a requirement on small random tables.

    ``values`` are the values of each sensitive attribute, numbers or text, None for a missing one;
    ``knowledge`` has the knowledge table of each attribute that is quasi-sensitive instead.
    ``naive(rows, table)`` decides from the rows of a class and of the whole table whether the class
    passes; write it without the code of the requirement. ``merging=False`` is for guarantees that
    merged classes may lose: only a method of its own can give these, no job may ask for them.

    A guarantee that is not judged on classes, but on all tables of a release or on a series, is
    checked on releases ``by`` a method that gives it, of tables that ``make_table`` makes.
    """
    check_named(requirement)
    sentence = stated(requirement)
    expect(
        sentence[:1].isupper() and sentence.endswith("."),
        f"{requirement.name}: '{sentence}' is not a sentence.",
    )
    expect(requirement.algebra.figure, f"{requirement.name} does not name its figure.")
    if by is not None:
        for seed in range(min(tables, 3)):
            _check_published(requirement, by, attributes, make_table(seed), seed)
        return
    rng = np.random.default_rng(0)
    for _ in range(tables):
        _Example.draw(requirement, values, knowledge or {}, rng).check(naive, merging)


def _check_published(
    requirement: Requirement,
    by: Method,
    attributes: Mapping[str, Mapping[str, Any]],
    frame: pl.DataFrame,
    seed: int,
) -> None:
    """Releases by a method state the guarantee, and an audit of them or the series proves it."""
    with TemporaryDirectory() as name:
        place = Path(name) / "published"
        release = published_sample(by, (), attributes, frame, seed, place)
        proved_guarantees = {
            guarantee.requirement: guarantee for guarantee in audit(place / "release").promises
        }
        series = audit_series(ledger=Path(name) / LEDGER) if by.needs_history else None
    stated = {
        guarantee.requirement: guarantee.parameters for guarantee in release.manifest.promises
    }
    expect(
        stated.get(requirement.name) == requirement.parameters(),
        f"{by.name} states {stated}, not {requirement.name} {requirement.parameters()}.",
    )
    proved = proved_guarantees[requirement.name].holds or (series is not None and series.ok)
    expect(proved, f"{requirement.name}: no audit proves what {by.name} publishes.")


def _dtype(values: Sequence[Cell]) -> type[pl.DataType]:
    text = any(isinstance(value, str) for value in values)
    return pl.String if text else pl.Float64


@dataclass(frozen=True)
class _Example:
    """A requirement with a small table in classes."""

    requirement: Requirement
    task: Task
    rows: Sequence[Row]
    classes: Sequence[tuple[int, ...]]  # the rows of each

    @classmethod
    def draw(
        cls,
        requirement: Requirement,
        values: Mapping[str, Sequence[Cell]],
        knowledge: Mapping[str, Knowledge],
        rng: np.random.Generator,
    ) -> _Example:
        count = int(rng.integers(1, 13))
        most = max(len(allowed) for allowed in values.values())
        cells = {  # the last rows, of all values, make the dictionary
            name: [
                *(allowed[code] for code in rng.integers(0, len(allowed), count)),
                *(allowed[code % len(allowed)] for code in range(most)),
            ]
            for name, allowed in values.items()
        }
        specs = {
            name: ColumnSpec(Role.QUASI_SENSITIVE, separator=" ")
            if name in knowledge
            else ColumnSpec(Role.SENSITIVE)
            for name in cells
        }
        frame = pl.DataFrame(cells, {name: _dtype(allowed) for name, allowed in values.items()})
        table = code_frame(frame, specs).take(np.arange(count))
        of_row = rng.integers(0, rng.integers(1, 5), count)
        members = [tuple(np.flatnonzero(of_row == c).tolist()) for c in np.unique(of_row)]
        rows = [{name: column[row] for name, column in cells.items()} for row in range(count)]
        task = Task(table, {}, [requirement], rng, knowledge=knowledge)
        return cls(requirement, task, rows, members)

    @property
    def domains(self) -> Domains:
        return self.task.domains

    def count(self, classes: Iterable[Sequence[int]]) -> ClassCounts:
        """The counts of any sets of rows, compared with the whole table."""
        sets = [list(rows) for rows in classes]
        size = np.array([len(rows) for rows in sets], np.int64)
        row = np.array(list(chain.from_iterable(sets)), np.int64)
        columns = {c.name: replace(c.take(row), total=c.counts) for c in self.task.table}
        taken = replace(self.task.table, columns=columns, rows=len(row))
        first = np.cumsum(size) - size
        grouped = Classes(np.repeat(np.arange(len(sets), dtype=np.int32), size), first, size)
        return count_classes(
            grouped,
            taken.sensitive,
            refined=self.requirement.algebra.refined,
            quasi_sensitive=taken.quasi_sensitive,
        )

    def passes(self, classes: Iterable[Sequence[int]]) -> Bools:
        return self.requirement.passes(self.count(classes), self.domains)

    def expect(self, holds: object, problem: str) -> None:
        classes = [[self.rows[row] for row in rows] for rows in self.classes]
        name, parameters = self.requirement.name, self.requirement.parameters()
        expect(holds, f"{name} {parameters}: {problem} The classes are {classes}.")

    def check(self, naive: Naive | None, merging: bool) -> None:
        self._check_attributes()
        self._check_figures()
        if naive is not None:
            derived = [naive([self.rows[row] for row in c], self.rows) for c in self.classes]
            passes = self.passes(self.classes).tolist()
            self.expect(passes == derived, f"It passes {passes}, the naive derivation {derived}.")
        if merging:
            self._check_merging()
            self._check_vacuous()
            self._check_least_removed()

    def _check_attributes(self) -> None:
        requirement, table = self.requirement, self.task.table
        problems = requirement.problems(self.domains)
        self.expect(not problems, f"It finds problems with the table: {problems}.")
        spoken_of = set(requirement.attributes(self.count(self.classes))) - {""}
        self.expect(spoken_of <= set(table.columns), f"It speaks of {spoken_of}.")
        protected = set(covered(requirement, {c.name: c.role for c in table}))
        self.expect(protected <= spoken_of, f"It covers {protected}, not {spoken_of}.")
        named = set(requirement.coverage.names)
        self.expect(not named or named == spoken_of, f"It names {named}, not {spoken_of}.")
        shown = {c.name: c.text.to_list() for c in table.sensitive}
        counts = self.count(self.classes)
        passes = requirement.passes(counts, self.domains)
        published = requirement.naming(shown).passes(counts, self.domains)
        self.expect((published == passes).all(), "`naming` all values changes what passes.")
        narrowed = requirement.within(list(table.columns))
        same = narrowed is not None and (narrowed.passes(counts, self.domains) == passes).all()
        self.expect(same, "`within` all attributes changes what passes.")

    def _check_figures(self) -> None:
        requirement, domains = self.requirement, self.domains
        counts = self.count(self.classes)
        name, smaller_is_better = requirement.algebra.figure, requirement.algebra.smaller_is_better
        verdict = requirement.check(counts, domains)
        passes = np.ones(counts.classes, bool)
        worst = []
        for attribute in requirement.attributes(counts):
            figures = requirement.figures(counts, domains, attribute)
            self.expect(
                figures.shape == (counts.classes,) and not np.isnan(figures).any(),
                f"Its figures are {figures}, not a number for each class.",
            )
            judged = requirement.judge(counts, domains, attribute)
            passes &= judged
            better = -figures if smaller_is_better else figures
            worst.append(better.min())
            if judged.any() and not requirement.further(counts, domains, attribute):
                enough = better >= better[judged].min() + TOLERANCE
                self.expect(judged[enough].all(), f"A better figure fails: {figures}, {judged}.")
        self.expect((verdict.passes == passes).all(), "`check` and `judge` differ.")
        self.expect(verdict.holds == passes.all(), "`holds` is not that all classes pass.")
        sign = -1 if smaller_is_better else 1
        self.expect(
            np.isclose(sign * verdict.achieved[name], min(worst)) or np.isinf(min(worst)),
            f"Achieved is {verdict.achieved}, the worst figure {sign * min(worst)}.",
        )
        sizes = counts.size
        small = sizes < requirement.needs.rows
        self.expect(not passes[small].any(), "A class with fewer rows than `needs` passes.")
        for attribute in set(requirement.attributes(counts)) & set(counts.values):
            few = np.diff(counts.values[attribute].start) < requirement.needs.values
            self.expect(not passes[few].any(), "A class with fewer values than `needs` passes.")

    def _check_merging(self) -> None:
        """Two passing classes make a passing one; one is enough where it is absorbing."""
        passes = dict(zip(self.classes, self.passes(self.classes).tolist(), strict=True))
        pairs = [
            (first, second)
            for first, second in combinations(self.classes, 2)
            if passes[first] + passes[second] >= (1 if self.requirement.algebra.absorbing else 2)
        ]
        merged = (
            self.passes([first + second for first, second in pairs]) if pairs else np.ones(0, bool)
        )
        lost = [pair for pair, passes_ in zip(pairs, merged, strict=True) if not passes_]
        self.expect(not lost, f"Merging the rows {lost[:1]} loses it.")

    def _check_vacuous(self) -> None:
        requirement = self.requirement
        counts = self.count(self.classes)
        single = self.count([(row,) for row in range(len(self.rows))])
        vacuous = [
            name
            for name in requirement.attributes(counts)
            if requirement.judge(single, self.domains, name).all()
        ]
        answer = vacuous_for(requirement, counts, self.domains)
        self.expect(set(answer) == set(vacuous), f"`vacuous_for` is {answer}, not {vacuous}.")

    def _check_least_removed(self) -> None:
        """No smaller number of removed rows lets a class pass."""
        requirement = self.requirement
        counts = self.count(self.classes)
        least = least_removed(requirement, counts, self.domains, 0.0)
        passes = requirement.passes(counts, self.domains)
        self.expect((least[passes] <= 0).all(), f"`least_removed` of passing classes: {least}.")
        self.expect((least <= counts.size).all(), f"`least_removed` is more than all: {least}.")
        if requirement.algebra.against_table:
            return
        for rows, wanted in zip(self.classes, least, strict=True):
            fewer = int(np.ceil(wanted - TOLERANCE)) - 1  # the greatest whole number below it
            left = [
                part
                for size in range(max(1, len(rows) - fewer), len(rows))
                for part in combinations(rows, size)
            ][:200]
            if left:
                self.expect(
                    not self.passes(left).any(),
                    f"`least_removed` says {wanted} of {len(rows)} rows; fewer are enough.",
                )
