"""``discreet compare-tables``: outputs of several tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.checking import (
    QuasiColumns,
    RolesJob,
    SensitiveColumns,
    SuppressedCells,
    column_names,
)
from discreet.cli.console import CommandOutput, PageFile, PageLanguage, shared


@shared("json", "quiet", example="discreet compare-tables a.csv b.csv --original job.yaml")
def compare_tables(
    out: CommandOutput,
    tables: Annotated[list[Path], typer.Argument(help="Tables of any tools.")],
    original: Annotated[
        Path, typer.Option("--original", help="The original of all: a job file, or a table.")
    ],
    quasi: QuasiColumns = None,
    sensitive: SensitiveColumns = None,
    job: RolesJob = None,
    suppressed: SuppressedCells = None,
    queries: Annotated[int, typer.Option(min=0, help="Number of random COUNT queries.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of guesses and queries.")] = 0,
    page: PageFile = None,
    language: PageLanguage = "en",
) -> None:
    """Compare tables of several tools made from one original: risk against utility."""
    from discreet.addons.tables.compare_tables import compare_tables as run_compare

    with out.progress() as progress:
        comparison = run_compare(
            tables, original=original, job=job, quasi=column_names(quasi),
            sensitive=column_names(sensitive), suppressed=suppressed or (), queries=queries,
            seed=seed, progress=progress,
        )  # fmt: skip
    out.page(page, comparison, language)
    out.result(comparison.to_dict(), str(comparison))
