"""Outputs of several tools side by side: risk against utility, on one original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.addons.tables.pages import comparison_of_tables_page, tables_charts
from discreet.addons.tables.success import Success
from discreet.addons.tables.table_measures import TableMeasures
from discreet.report.charts.chart import Chart
from discreet.report.pieces import Page
from discreet.result import Result
from discreet.statements import Statement

# What analysts ask, and the figure that tells how well a table answers; smaller is better.
QUESTIONS = ("counts", "shares", "means", "associations", "columns")


@dataclass(frozen=True)
class ComparedTable:
    """One tool's output: an attacker who is the same for all, and what the table is worth."""

    name: str
    shape: str
    rows: int
    inference: tuple[Success, ...]  # of each sensitive column, by the quasi-identifiers
    measures: TableMeasures

    @property
    def risk(self) -> float:
        """How much more often the worst sensitive column is guessed right than without a table."""
        return max((success.gain for success in self.inference), default=0.0)

    @property
    def errors(self) -> dict[str, float | None]:
        """The error of each question."""
        errors, asked = self.measures.errors, self.measures.query_error
        return {
            "counts": None if asked is None else asked.release.median,
            "shares": None if errors.shares is None else errors.shares.release,
            "means": None if errors.means is None else errors.means.release,
            "associations": self.measures.association_error,
            "columns": self.measures.distance,
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "name": self.name,
            "shape": self.shape,
            "rows": self.rows,
            "risk": self.risk,
            "inference": [compared.to_dict() for compared in self.inference],
            "errors": self.errors,
        }


@dataclass(frozen=True)
class TableComparison(Result):
    """Several tables made from one original."""

    tables: tuple[ComparedTable, ...]

    @property
    def best(self) -> dict[str, str]:
        """The table with the least error of each question; none where no table answers it."""
        best = {}
        for question in QUESTIONS:
            answered = [(compared.errors[question], compared.name) for compared in self.tables]
            known = [(error, name) for error, name in answered if error is not None]
            if known:
                best[question] = min(known)[1]
        return best

    @property
    def dominated(self) -> dict[str, str]:
        """Tables that another one beats in risk and in every error, and that one."""
        dominated = {}
        for compared in self.tables:
            for other in self.tables:
                if other is not compared and _beats(other, compared):
                    dominated[compared.name] = other.name
        return dominated

    @property
    def summary(self) -> list[Statement]:
        """What each table is best for, and which are dominated."""
        safest = min(self.tables, key=lambda item: item.risk)
        statements = [Statement("tables.least-risk.none", table=safest.name)]
        if safest.risk > 0:
            statements = [Statement("tables.least-risk", table=safest.name, gain=safest.risk)]
        by_table: dict[str, list[str]] = {}
        for question, name in self.best.items():
            by_table.setdefault(name, []).append(question)
        for name, questions in by_table.items():
            statements.append(
                Statement(
                    "tables.best-for",
                    table=name,
                    questions=[Statement(f"tables.question.{item}") for item in questions],
                )
            )
        statements += [
            Statement("tables.dominated", table=name, other=other)
            for name, other in self.dominated.items()
        ]
        return statements

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "tables": [compared.to_dict() for compared in self.tables],
            "best": self.best,
            "dominated": self.dominated,
        }

    def _page(self) -> Page:
        return comparison_of_tables_page(self)

    def _charts(self) -> Sequence[Chart]:
        return tables_charts(self)

    def __str__(self) -> str:
        wide = max(5, *(len(compared.name) for compared in self.tables))
        head = f"{'table':{wide}}  {'read as':10}  {'risk':>6}"
        lines = [head + "".join(f"  {question:>12}" for question in QUESTIONS)]
        for compared in self.tables:
            errors = "".join(
                f"  {'–' if error is None else f'{error:.4f}':>12}"
                for error in compared.errors.values()
            )
            lines.append(
                f"{compared.name:{wide}}  {compared.shape:10}  {compared.risk:>6.1%}{errors}"
            )
        return "\n".join(
            [
                *lines, "",
                "risk: how much more often the worst sensitive column is guessed right, by the "
                "quasi-identifiers, than without the table; others: errors, smaller is better.",
                *self.summary,
            ]
        )  # fmt: skip


def _beats(first: ComparedTable, second: ComparedTable) -> bool:
    pairs = [(first.risk, second.risk)]
    pairs += [
        (mine, theirs)
        for mine, theirs in zip(first.errors.values(), second.errors.values(), strict=True)
        if mine is not None and theirs is not None
    ]
    return all(mine <= theirs for mine, theirs in pairs) and any(
        mine < theirs for mine, theirs in pairs
    )
