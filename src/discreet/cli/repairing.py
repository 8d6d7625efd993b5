"""``discreet repair``: from *Do not publish* to a release that can be signed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.comparing import seconds_of
from discreet.cli.console import Debug, Json, Quiet, guarded, progress_bar, say_json, say_lines


def repair(
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
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find changes of a job after which its release may be published.

    Each repair that is listed was verified on the whole table. Nothing is written without --apply.
    """
    with guarded(as_json=json, debug=debug):
        from discreet.api.repair import apply_repair, read_repairs, store_repairs
        from discreet.api.repair import repair as find_repairs
        from discreet.errors import InputError

        edits = None if apply is None else read_repairs(job)
        if edits is None:
            with progress_bar(quiet=quiet) as progress:
                found = find_repairs(
                    None, job, budget=seconds_of(budget), seed=seed, progress=progress
                )
            store_repairs(job, found)
            edits = [list(one.edits) for one in found.repairs]
            if apply is None:
                if json:
                    say_json({"job": str(job), **found.to_dict()})
                else:
                    say_lines(found.lines(str(job)))
                if found.needed and not found.repairs:
                    raise typer.Exit(1)
                return
        if apply is None or apply > len(edits):
            raise InputError(
                f"--apply {apply}: there are {len(edits)} repairs. List them: discreet repair {job}"
            )
        apply_repair(job, edits[apply - 1])
        if json:
            say_json({"job": str(job), "applied": apply})
        else:
            say_lines([f"Wrote repair {apply} to {job}. Publish it: discreet publish {job}"])
