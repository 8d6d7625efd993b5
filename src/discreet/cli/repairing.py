"""``discreet repair``: from *Do not publish* to a release that can be signed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.comparing import seconds_of
from discreet.cli.console import CommandOutput, shared


@shared("json", "quiet", example="discreet repair job.yaml --apply 1")
def repair(
    out: CommandOutput,
    job: Annotated[Path, typer.Argument(help="Job file.")],
    apply: Annotated[
        int | None,
        typer.Option(
            "--apply", min=1, help="Number of the repair to write to the job file; keeps comments."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", help="Time limit of the search, as 90s, 5m or 1h.")
    ] = "60s",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of sample and methods.")] = 0,
) -> None:
    """Find changes of a job after which its release may be published.

    Each repair that is listed was verified on the whole table. Nothing is written without --apply.
    """
    from discreet.api.repair import apply_repair, read_repairs, store_repairs
    from discreet.api.repair import repair as find_repairs
    from discreet.errors import InputError

    edits = None if apply is None else read_repairs(job)
    if edits is None:
        with out.progress() as progress:
            result = find_repairs(
                None, job, budget=seconds_of(budget), seed=seed, progress=progress
            )
        store_repairs(job, result)
        edits = [list(one.edits) for one in result.repairs]
        if apply is None:
            out.result({"job": str(job), **result.to_dict()}, result.lines(str(job)))
            if result.needed and not result.repairs:
                raise typer.Exit(1)
            return
    if apply is None or apply > len(edits):
        raise InputError(
            f"--apply {apply}: there are {len(edits)} repairs. List them: discreet repair {job}"
        )
    apply_repair(job, edits[apply - 1])
    applied = f"Wrote repair {apply} to {job}. Publish it: discreet publish {job}"
    out.result({"job": str(job), "applied": apply}, applied)
