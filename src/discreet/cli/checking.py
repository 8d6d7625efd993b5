"""``discreet audit`` and ``discreet measure``: looking at a release that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, progress_bar, say, say_json

ReleaseFolder = Annotated[Path, typer.Argument(help="The release folder.")]


def audit(
    release: ReleaseFolder,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The job; also checks that nothing was lost or invented."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Derive every promise again from the published files."""
    with guarded(as_json=json, debug=debug):
        from discreet.checking import audit as run_audit
        from discreet.releases.explanation import promise_sentence

        with progress_bar(quiet=quiet) as progress:
            found = run_audit(release, original=original, progress=progress)
        if json:
            say_json(found.to_dict())
        else:
            for promise in found.promises:
                say(promise_sentence(promise))
            for problem in found.problems:
                say(f"Problem: {problem}")
            say("Every promise holds." if found.ok else "The release does not keep its promises.")
        if not found.ok:
            raise typer.Exit(1)


def measure(
    release: ReleaseFolder,
    original: Annotated[Path, typer.Option("--original", help="The job that read the original.")],
    queries: Annotated[int, typer.Option(min=0, help="How many random COUNT queries.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the query workload.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure what a release is still worth."""
    with guarded(as_json=json, debug=debug):
        from discreet.checking import measure as run_measure

        with progress_bar(quiet=quiet) as progress:
            found = run_measure(
                release, original=original, queries=queries, seed=seed, progress=progress
            )
        if json:
            say_json(found.to_dict())
        else:
            say(str(found))
