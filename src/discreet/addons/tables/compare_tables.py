"""Compare the outputs of several tools, made from one original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.addons.tables.joint_tables import join_tables
from discreet.addons.tables.measure_table import read_opened
from discreet.addons.tables.neighbour_attacks import neighbour_attacks
from discreet.addons.tables.other_table import OtherTable, open_table
from discreet.addons.tables.table_comparison import ComparedTable, TableComparison
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.table.roles import Role
from discreet.utility.queries import QueryWorkload


def compare_tables(
    tables: Mapping[str, Any] | Sequence[str | Path],
    *,
    original: Any,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    suppressed: Sequence[str] = (),
    queries: int = 1000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> TableComparison:
    """Compare tables of any tools, files or frames by name, made from one original.

    The attacker is the same for all: who knows the quasi-identifiers guesses each sensitive value
    from the nearest row, which for a generalized table is a row whose cells cover them. All tables
    answer the same random queries. Roles are those of ``attack_table``.
    """
    named = tables if isinstance(tables, Mapping) else _named(tables)
    if not named:
        raise InputError("Name at least one table to compare.")
    compared = []
    for number, (name, table) in enumerate(named.items()):
        progress(name, number / len(named))
        opened = open_table(
            table, original, job=job, quasi=quasi, sensitive=sensitive, suppressed=suppressed
        )
        compared.append(_compared(name, opened, queries, seed))
    return TableComparison(tuple(compared))


def _named(paths: Sequence[str | Path]) -> dict[str, Path]:
    """The tables by the names of their files; by their paths where two share a name."""
    files = [Path(path) for path in paths]
    stems = [file.stem for file in files]
    names = stems if len(set(stems)) == len(stems) else [str(file) for file in files]
    return dict(zip(names, files, strict=True))


def _compared(name: str, opened: OtherTable, queries: int, seed: int) -> ComparedTable:
    quasi = [column.name for column in opened.original.with_role(Role.QUASI_IDENTIFIER)]
    secrets = [column.name for column in opened.original.sensitive]
    if not quasi or not secrets:
        raise InputError(
            f"{name}: a comparison needs quasi-identifiers and a sensitive column that the table "
            "has. Name them with --quasi and --sensitive, or give a job."
        )
    joint = join_tables(
        opened.published, opened.original, None, opened.covered, opened.task.hierarchies
    )
    rng = np.random.default_rng(seed)
    guesses = tuple(
        one
        for one in neighbour_attacks(joint, quasi, secrets, ((), ()), rng)
        if one.details.get("known") == quasi
    )
    measures = read_opened(opened).measured(QueryWorkload(queries=queries), seed)
    return ComparedTable(name, opened.shape.value, opened.published.rows, guesses, measures)
