"""``discreet audit``, ``report`` and ``measure``: check, show and measure an existing release."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import CommandOutput, PageFile, PageLanguage, ReleasePlace, shared

if TYPE_CHECKING:
    from discreet.api.series_audit import SeriesAudit
    from discreet.methods.base import Progress
    from discreet.result import Result

ReleaseFolders = Annotated[
    list[Path] | None, typer.Argument(help="Release folder; several for a series.")
]
ReleaseFoldersOrTable = Annotated[
    list[Path] | None,
    typer.Argument(help="Release folder; several for a series; or a table of any tool."),
]
QuasiColumns = Annotated[
    list[str] | None,
    typer.Option("--quasi", help="Of a table: columns an attacker may know, age,zip or repeated."),
]
SensitiveColumns = Annotated[
    list[str] | None,
    typer.Option("--sensitive", help="Of a table: sensitive columns, a,b or repeated."),
]
RolesJob = Annotated[
    Path | None, typer.Option("--job", help="Of a table: job file with roles and hierarchies.")
]
SuppressedCells = Annotated[
    list[str] | None,
    typer.Option("--suppressed", help="Of a table: cell that means suppressed; default: '*'."),
]
SeriesLedger = Annotated[
    str | None, typer.Option("--ledger", help="Audit all releases of this ledger.")
]
KeyFile = Annotated[Path | None, typer.Option("--key", help="Key file of the ledger.")]
PersonsFile = Annotated[
    Path | None,
    typer.Option("--persons", help="For a series: CSV with release, person, quasi-identifiers."),
]
CorrelationFile = Annotated[
    Path | None,
    typer.Option(
        "--correlation", help="Transition probabilities of values, which rho-different relies on."
    ),
]


def column_names(given: list[str] | None) -> list[str]:
    """The names of ``a,b`` or of a repeated option; quotes around a name keep a comma in it."""
    return [name for row in csv.reader(given or (), skipinitialspace=True) for name in row]


@shared("verbose", "json", "quiet", example="discreet audit release --original job.yaml")
def audit(
    out: CommandOutput,
    releases: ReleaseFolders = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="Job file; also check that no row was lost or invented."),
    ] = None,
    ledger: SeriesLedger = None,
    key: KeyFile = None,
    persons: PersonsFile = None,
    correlation: CorrelationFile = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            "--knowledge",
            help="Knowledge table for guarantees about linked labels: FILE or ATTRIBUTE=FILE.",
        ),
    ] = None,
    trust: Annotated[
        Path | None,
        typer.Option("--trust", help="Public key that must have signed the manifest."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", help="URL of the database with the tables, if made in place."),
    ] = None,
    bayes: Annotated[
        bool,
        typer.Option(
            "--bayes", help="Also what an attacker who knows the population believes (--original)."
        ),
    ] = False,
    population: Annotated[
        Path | None,
        typer.Option("--population", help="For --bayes: table of the population, same columns."),
    ] = None,
    page: PageFile = None,
    language: PageLanguage = "en",
) -> None:
    """Derive every guarantee again from the published files.

    Of one release, or of a series with --ledger or --persons.
    """
    from discreet.errors import InputError

    folders = releases or []
    with out.progress() as progress:
        if ledger is not None or persons is not None:
            if trust is not None:
                raise InputError("--trust is for one release folder. Audit each by itself.")
            outcome = _described(audit_of_series(folders, ledger, key, persons, correlation))
        elif len(folders) == 1:
            outcome = _audit_one(
                folders[0], original, knowledge, trust, database, progress, verbose=out.verbose
            )
        else:
            raise InputError(
                "Name one release folder; or several with --persons, or a series with --ledger."
            )
    facts, lines, result = outcome
    if bayes or population is not None:
        if len(folders) != 1 or original is None or not facts["ok"]:
            raise InputError("--bayes needs one release folder that holds, and --original JOB.")
        from discreet.api.bayes import audit_bayes

        beliefs = audit_bayes(folders[0], original=original, population=population)
        facts = {**facts, "bayes": beliefs.to_dict()}
        lines = [*lines, *beliefs.lines()]
    out.page(page, result, language)
    failed = not facts["ok"] or bool(facts.get("unproved"))
    if failed:
        lines = [f"{lines[0]} (exit status 1)", *lines[1:]]
    out.result(facts, lines, "good" if not failed else "warn" if facts["ok"] else "bad")
    if failed:
        raise typer.Exit(1)


@shared("json", "quiet", example="discreet report release --output bericht.html --language de")
def report(
    out: CommandOutput,
    release: ReleasePlace,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the public report to this file.")
    ] = None,
    language: PageLanguage = "en",
) -> None:
    """Open the report of a release, or write it again from the files.

    Opens the private report beside the release, if there is one. Writes only what files prove.
    """
    import webbrowser

    from discreet.errors import AuditError, InputError
    from discreet.releases.audit.audit import audit_folder
    from discreet.releases.audit.files import REPORT
    from discreet.releases.manifest import Manifest
    from discreet.report.pages.release_page import release_page
    from discreet.statements import speaking

    if output is None:
        places = (release.with_name(f"{release.name}.private.html"), release / REPORT)
        place = next((path for path in places if path.is_file()), None)
        if place is None:
            raise InputError(f"{release} has no report. Write one: --output FILE")
        if sys.stdout.isatty() and not out.json:
            webbrowser.open(place.resolve().as_uri())
    else:
        if output.exists():
            raise InputError(f"{output} already exists. Name another file with --output.")
        if output.resolve().is_relative_to(release.resolve()):  # a release has its own files alone
            raise InputError(f"{output} is within the release. Name a file outside with --output.")
        findings = audit_folder(release)
        if not findings.ok:
            raise AuditError(
                f"{output} was not written: the files do not prove the guarantees. "
                f"What is wrong: discreet audit {release}"
            )
        with speaking(language):
            text = release_page(Manifest.load(release), findings.picture).html()
        output.write_text(text, encoding="utf-8")
        place = output
    out.result({"report": str(place)}, f"Report: {place}")


def _audit_one(
    folder: Path,
    original: Path | None,
    knowledge: list[str] | None,
    trust: Path | None,
    database: str | None,
    progress: Progress,
    *,
    verbose: bool,
) -> tuple[dict[str, Any], list[str], Result]:
    from discreet.api.audit import audit as run_audit
    from discreet.releases.explanation import reader_sentences
    from discreet.releases.manifest import Manifest
    from discreet.report.terminal import audit_lines

    findings = run_audit(
        folder, original=original, knowledge=_tables(knowledge), trust=trust, database=database,
        progress=progress,
    )  # fmt: skip
    lines = audit_lines(findings, Manifest.load(folder), folder, verbose=verbose)
    if verbose:
        lines += reader_sentences(findings.readers)
    return findings.to_dict(), lines, findings


def _described(found: SeriesAudit) -> tuple[dict[str, Any], list[str], Result]:
    from discreet.api.series_audit import describe

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


@shared("verbose", "json", "quiet", example="discreet measure release --original job.yaml")
def measure(
    out: CommandOutput,
    release: Annotated[Path, typer.Argument(help="Release folder, or a table of any tool.")],
    original: Annotated[
        Path,
        typer.Option("--original", help="Job file of the original; of a table also a table."),
    ],
    queries: Annotated[
        int | None, typer.Option(min=0, help="Number of random COUNT queries; default: the job's.")
    ] = None,
    learning: Annotated[
        bool,
        typer.Option(
            "--learning", help="Publish 70% of the rows, train models on them, test on the rest."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of queries and learning.")] = 0,
    quasi: QuasiColumns = None,
    sensitive: SensitiveColumns = None,
    job: RolesJob = None,
    control: Annotated[
        Path | None,
        typer.Option("--control", help="Of a table, for --learning: rows to test models on."),
    ] = None,
    suppressed: SuppressedCells = None,
    page: PageFile = None,
) -> None:
    """Measure the utility of a release, or of a table of any tool, against the original."""
    if release.is_file():
        import discreet

        with out.progress() as progress:
            of_table = discreet.measure_table(
                release, original=original, job=job, quasi=column_names(quasi),
                sensitive=column_names(sensitive), control=control,
                suppressed=suppressed or (), queries=1000 if queries is None else queries,
                learning=learning, seed=seed, progress=progress,
            )  # fmt: skip
        out.page(page, of_table)
        out.result(of_table.to_dict(), of_table.lines())
        return
    from discreet.api.measure import measure as run_measure
    from discreet.report.terminal import measure_lines

    with out.progress() as progress:
        measures = run_measure(
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

        shown = measure_page(measures.to_dict(), Manifest.load(release), Job.load(original))
        out.page(page, shown)
    lines = str(measures) if out.verbose else measure_lines(measures)
    out.result(measures.to_dict(private=True), lines)
