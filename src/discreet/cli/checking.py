"""``discreet audit`` and ``discreet measure``: looking at a release that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, progress_bar, say, say_json

if TYPE_CHECKING:
    from discreet.releases.audit import Audit

ReleaseFolder = Annotated[Path, typer.Argument(help="The release folder.")]


def audit(
    release: ReleaseFolder,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The job; also checks that nothing was lost or invented."),
    ] = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            "--knowledge",
            help="The knowledge table, FILE or ATTRIBUTE=FILE, of promises about linked labels.",
        ),
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
            found = run_audit(
                release, original=original, knowledge=_tables(knowledge), progress=progress
            )
        if json:
            say_json(found.to_dict())
        else:
            for promise in found.promises:
                say(promise_sentence(promise))
            for problem in found.problems:
                say(f"Problem: {problem}")
            say(_conclusion(found))
        if not found.ok:
            raise typer.Exit(1)


def _tables(given: list[str] | None) -> dict[str, str] | str | None:
    """``--knowledge FILE``, or ``ATTRIBUTE=FILE`` as often as there are attributes."""
    if not given:
        return None
    if len(given) == 1 and ("=" not in given[0] or Path(given[0]).exists()):
        return given[0]
    pairs = [one.partition("=") for one in given]
    return {attribute: path for attribute, _, path in pairs}


def _conclusion(found: Audit) -> str:
    if found.ok:
        return "Every promise holds."
    others = [promise for promise in found.promises if promise.unproved is None]
    if found.problems or not all(promise.holds for promise in others):
        return "The release does not keep its promises."
    return (
        f"{len(found.unproved)} of {len(found.promises)} promises could not be checked with what "
        "is at hand; the others hold."
    )


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
            say_json(found.to_dict(private=True))
        else:
            say(str(found))
