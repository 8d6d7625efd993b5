"""``discreet audit`` and ``discreet measure``: looking at a release that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import (
    Debug,
    Json,
    PageFile,
    Quiet,
    guarded,
    progress_bar,
    say,
    say_json,
    write_page,
)

if TYPE_CHECKING:
    from discreet.api.series import SeriesAudit
    from discreet.methods.base import Progress
    from discreet.releases.audit.audit import Audit
    from discreet.result import Result

ReleaseFolder = Annotated[Path, typer.Argument(help="The release folder.")]
ReleaseFolders = Annotated[
    list[Path] | None, typer.Argument(help="The release folder; several for a series.")
]
SeriesLedger = Annotated[
    str | None, typer.Option("--ledger", help="Take all releases of a ledger as a series.")
]
KeyFile = Annotated[Path | None, typer.Option("--key", help="The ledger's key file.")]
PersonsFile = Annotated[
    Path | None,
    typer.Option("--persons", help="For a series of folders: release, person, quasi-identifiers."),
]
CorrelationFile = Annotated[
    Path | None,
    typer.Option(
        "--correlation", help="How values of a series follow each other; rho-different rests on it."
    ),
]


def audit(
    releases: ReleaseFolders = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The job; also checks that nothing was lost or invented."),
    ] = None,
    ledger: SeriesLedger = None,
    key: KeyFile = None,
    persons: PersonsFile = None,
    correlation: CorrelationFile = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            "--knowledge",
            help="The knowledge table, FILE or ATTRIBUTE=FILE, of promises about linked labels.",
        ),
    ] = None,
    trust: Annotated[
        Path | None,
        typer.Option("--trust", help="The public key by which the manifest must be signed."),
    ] = None,
    page: PageFile = None,
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
                if trust is not None:
                    raise InputError("--trust is for one release folder. Audit each by itself.")
                found = _described(audit_of_series(folders, ledger, key, persons, correlation))
            elif len(folders) == 1:
                found = _audit_one(folders[0], original, knowledge, trust, progress)
            else:
                raise InputError(
                    "Name one release folder; or several with --persons, or a series with --ledger."
                )
        facts, lines, made = found
        if page is not None:
            write_page(page, made, quiet=quiet)
        if json:
            say_json(facts)
        else:
            for line in lines:
                say(line)
        if not facts["ok"]:
            raise typer.Exit(1)


def _audit_one(
    folder: Path,
    original: Path | None,
    knowledge: list[str] | None,
    trust: Path | None,
    progress: Progress,
) -> tuple[dict[str, Any], list[str], Result]:
    from discreet.api.audit import audit as run_audit
    from discreet.releases.explanation import promise_sentence, reader_sentences, warnings

    found = run_audit(
        folder, original=original, knowledge=_tables(knowledge), trust=trust, progress=progress
    )
    lines = warnings(found.promises)
    lines += [promise_sentence(promise, found.unit) for promise in found.promises]
    lines += reader_sentences(found.readers)
    lines += [f"Problem: {problem}" for problem in found.problems]
    lines += [f"Left open: {remark}" for remark in found.remarks]
    if found.signed:
        lines.append("The manifest is signed by the trusted key.")
    lines.append(_conclusion(found))
    return found.to_dict(), lines, found


def _described(found: SeriesAudit) -> tuple[dict[str, Any], list[str], Result]:
    from discreet.api.series import describe

    return found.to_dict(), describe(found), found


def audit_of_series(
    folders: list[Path],
    ledger: str | None,
    key: Path | None,
    persons: Path | None,
    correlation: Path | None,
    alike: list[list[str]] | None = None,
) -> SeriesAudit:
    """The series of a ledger, or of some folders with a table of persons."""
    from discreet.api.series import audit_series
    from discreet.cli.ledger import settings_of

    settings = None if ledger is None else settings_of(ledger, key)
    return audit_series(
        folders, ledger=settings, persons=persons, correlation=correlation, alike=alike
    )


def _tables(given: list[str] | None) -> dict[str, str] | str | None:
    """``--knowledge FILE``, or ``ATTRIBUTE=FILE`` as often as there are attributes."""
    if not given:
        return None
    if len(given) == 1 and ("=" not in given[0] or Path(given[0]).exists()):
        return given[0]
    pairs = [one.partition("=") for one in given]
    return {attribute: path for attribute, _, path in pairs}


def _conclusion(found: Audit) -> str:
    if not found.ok:
        return "The release does not keep its promises."
    if not found.promises:
        return "The release promises nothing."
    if not found.unproved:
        return "Every promise holds."
    return (
        f"{len(found.unproved)} of {len(found.promises)} promises could not be checked with what "
        "is at hand; the others hold."
    )


def measure(
    release: ReleaseFolder,
    original: Annotated[Path, typer.Option("--original", help="The job that read the original.")],
    queries: Annotated[
        int | None, typer.Option(min=0, help="How many random COUNT queries; else the job says.")
    ] = None,
    learning: Annotated[
        bool,
        typer.Option("--learning", help="Run the job again on 70 %, learn, test on the others."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the queries and of learning.")] = 0,
    page: PageFile = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure what a release is still worth."""
    with guarded(as_json=json, debug=debug):
        from discreet.api.measure import measure as run_measure

        with progress_bar(quiet=quiet) as progress:
            found = run_measure(
                release,
                original=original,
                queries=queries,
                learning=learning,
                seed=seed,
                progress=progress,
            )
        if page is not None:
            from discreet.job.model import Job
            from discreet.releases.manifest import Manifest
            from discreet.report.pages.measure_page import measure_page

            made = measure_page(found.to_dict(), Manifest.load(release), Job.load(original))
            write_page(page, made, quiet=quiet)
        if json:
            say_json(found.to_dict(private=True))
        else:
            say(str(found))
