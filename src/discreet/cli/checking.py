"""``discreet audit`` and ``discreet measure``: looking at a release that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, progress_bar, say, say_json

if TYPE_CHECKING:
    from discreet.algorithms.method import Progress

ReleaseFolder = Annotated[Path, typer.Argument(help="The release folder.")]


def audit(
    releases: Annotated[
        list[Path] | None, typer.Argument(help="The release folder; several for a series.")
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The job; also checks that nothing was lost or invented."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="Audit all releases of a ledger as a series.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", help="The ledger's key file.")] = None,
    persons: Annotated[
        Path | None,
        typer.Option(
            "--persons", help="For a series of folders: release, person, quasi-identifiers."
        ),
    ] = None,
    correlation: Annotated[
        Path | None, typer.Option("--correlation", help="The table that rho-different rests on.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Derive every promise again from the published files, of one release or of a series."""
    with guarded(as_json=json, debug=debug):
        from discreet.errors import InputError

        folders = releases or []
        with progress_bar(quiet=quiet) as progress:
            if ledger is not None or persons is not None:
                found = _audit_series(folders, ledger, key, persons, correlation)
            elif len(folders) == 1:
                found = _audit_one(folders[0], original, progress)
            else:
                raise InputError(
                    "Name one release folder; or several with --persons, or a series with --ledger."
                )
        if json:
            say_json(found[0])
        else:
            for line in found[1]:
                say(line)
        if not found[0]["ok"]:
            raise typer.Exit(1)


def _audit_one(
    folder: Path, original: Path | None, progress: Progress
) -> tuple[dict[str, Any], list[str]]:
    from discreet.checking import audit as run_audit
    from discreet.releases.explanation import promise_sentence

    found = run_audit(folder, original=original, progress=progress)
    lines = [promise_sentence(promise) for promise in found.promises]
    lines += [f"Problem: {problem}" for problem in found.problems]
    lines.append("Every promise holds." if found.ok else "The release does not keep its promises.")
    return found.to_dict(), lines


def _audit_series(
    folders: list[Path],
    ledger: str | None,
    key: Path | None,
    persons: Path | None,
    correlation: Path | None,
) -> tuple[dict[str, Any], list[str]]:
    from discreet.cli.ledger import settings_of
    from discreet.ledger.ledger import Ledger
    from discreet.series_audit import audit_ledger, audit_with_persons, describe

    if ledger is not None:
        with Ledger.open(settings_of(ledger, key)) as book:
            found = audit_ledger(book, correlation)
    else:
        assert persons is not None
        found = audit_with_persons(folders, persons, correlation)
    return found.to_dict(), describe(found)


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
