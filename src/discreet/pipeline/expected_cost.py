"""What a run is expected to take, said before it begins.

An estimate from the rows, columns and method of a job. The rates are those of
``benchmarks/RESULTS.md``: processor seconds and memory of ``discreet publish`` without attacks by
published cell, and of attacks by row and column and by pair of sensitive attributes. A table may
take several times as much: what groups cost depends on its values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from discreet.methods.base import Progress
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable

SAID_FROM = 10.0  # seconds
START = 0.6  # seconds until a command works
CELL_SECONDS = 1.6e-7  # mondrian, local-recoding, full-domain: 10,000,000 rows of nine columns
CELL_SECONDS_OF = {
    "anatomy": 2.5e-7,
    "decomposition": 3.2e-7,
    "msa-diversity": 1e-6,
    "codip": 1e-6,
    "top-down": 1e-6,
    "m-invariance": 1e-6,
    "rho-different": 4e-6,
    "quasi-sensitive": 1e-5,
}
ATTACK_CELL_SECONDS = 2e-6
PAIR_SECONDS = 8e-3  # of two sensitive attributes, each of which an attacker may know
BASE_MEMORY, CELL_MEMORY, ATTACK_MEMORY = 0.1, 2e-8, 0.4  # GB


class ExpectedCost(NamedTuple):
    """Processor seconds and GB that a run is expected to take."""

    seconds: float
    memory: float

    @classmethod
    def of(
        cls, table: CodedTable, method: str | None, *, attack_seconds: float = 0.0
    ) -> ExpectedCost:
        """Estimate a publish by a method, where one is named, and attacks of at most some time."""
        cells, secrets = table.rows * len(table.columns), len(table.sensitive)
        published = 0.0 if method is None else cells * CELL_SECONDS_OF.get(method, CELL_SECONDS)
        attacked = cells * ATTACK_CELL_SECONDS + secrets**2 * PAIR_SECONDS
        return cls(
            START + published + min(attacked, attack_seconds),
            BASE_MEMORY + cells * CELL_MEMORY + (ATTACK_MEMORY if attack_seconds else 0.0),
        )


def announce_cost(
    progress: Progress,
    table: CodedTable,
    method: str | None,
    *,
    attack_seconds: float = 0.0,
    times: int = 1,
    budget: float = math.inf,
) -> None:
    """Tell what is expected of a run that may take long, of so many publishes within a budget."""
    cost = ExpectedCost.of(table, method, attack_seconds=attack_seconds)
    seconds = min(times * cost.seconds, budget)
    if seconds > SAID_FROM:
        figures = {"seconds": seconds, "memory": cost.memory, "rows": table.rows}
        progress(Statement("cost.expected", columns=len(table.columns), **figures), 0.0)
