"""``discreet export``, ``codebook``, ``evidence``: a release for programs and reviewers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, note, progress_bar, say_json

ReleasePlace = Annotated[Path, typer.Argument(help="Release folder.")]
LabelFile = Annotated[
    Path | None,
    typer.Option("--labels", help="SPSS, Stata or SAS file whose labels are kept."),
]
Replace = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def export(
    release: ReleasePlace,
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            help="File to write: .sav, .dta, .xpt, .xlsx, .csv (also .gz, .zst), .parquet, "
            ".arrow; - for standard output.",
        ),
    ],
    table: Annotated[
        str | None, typer.Option("--table", help="Table to export, if the release has several.")
    ] = None,
    labels: LabelFile = None,
    format: Annotated[
        str | None,
        typer.Option("--format", help="Format, if the ending does not say; csv for -."),
    ] = None,
    force: Replace = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a table of an audited release as a file of another program."""
    with guarded(as_json=json, debug=debug):
        import sys
        import tempfile
        from typing import cast

        from discreet.errors import InputError
        from discreet.releases.exporting.export import ENDINGS, ExportFormat, copy_to
        from discreet.releases.exporting.export import export as write

        if format is not None and format not in ENDINGS:
            raise InputError(f"--format is one of {', '.join(ENDINGS)}; found '{format}'.")
        chosen = cast("ExportFormat | None", format)
        if str(to) == "-":
            if json:
                raise InputError("--json and --to - both print to stdout. Use one of them.")
            chosen = chosen or "csv"
            with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
                place = Path(folder) / f"table{ENDINGS[chosen]}"
                write(release, place, table=table, labels=labels, format=chosen)
                sys.stdout.flush()
                copy_to(place, sys.stdout.buffer)
            return
        made = write(release, to, table=table, labels=labels, format=chosen, force=force)
        if json:
            say_json(made.to_dict())
        elif not quiet:
            note(f"Wrote {made.path}: {made.rows} rows of '{made.table}', read back and compared.")
            for name, other in made.renamed.items():
                note(f"Column {name!r} is {other!r} in the file.")


def codebook(
    release: ReleasePlace,
    to: Annotated[
        Path, typer.Option("--to", help="File to write: .json, .csv or .xml (DDI-Codebook).")
    ],
    labels: LabelFile = None,
    force: Replace = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the codebook of a release: columns, values, labels and counts."""
    with guarded(debug=debug):
        from discreet.releases.exporting.codebook import codebook as describe

        describe(release, labels=labels).save(to, force=force)
        if not quiet:
            note(f"Wrote {to}")


class FrameworkChoice(StrEnum):
    """The structure of an evidence pack."""

    EMA = "ema"
    HIPAA = "hipaa"
    NIST = "nist"
    GDPR = "gdpr"


def evidence(
    release: ReleasePlace,
    framework: Annotated[
        FrameworkChoice, typer.Option("--for", help="Framework whose structure the pack has.")
    ],
    original: Annotated[
        Path | None,
        typer.Option("--original", help="Job file; also compare and attack. The pack is private."),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population", help="Table of the population's quasi-identifiers, or a job file."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0, help="Time limit of attacks; the pack lists what it cut."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write, .html or .json; default: beside the release."
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", help="Private key that signs the file (discreet keys new)."),
    ] = None,
    force: Replace = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write an evidence pack about a release for a regulator or a review board.

    It is filled from manifest, audit and attacks; what the publisher must write is marked.
    """
    with guarded(as_json=json, debug=debug):
        from discreet.api.evidence import evidence as make_pack
        from discreet.io.signatures import SigningKey

        key = None if sign is None else SigningKey.load(sign)
        with progress_bar(quiet=quiet) as progress:
            made = make_pack(
                release,
                framework.value,
                original=original,
                population=population,
                seconds=seconds,
                progress=progress,
            )
        private = ".private" if made.private else ""
        beside = release.resolve().with_name(
            f"{release.resolve().name}{private}.evidence-{framework.value}.html"
        )
        path = made.save(beside if output is None else output, sign=key, force=force)
        if json:
            say_json({**made.to_dict(), "path": str(path)})
        if not quiet:
            gaps = f"{made.to_write} parts are to be written by the publisher"
            note(f"Wrote {path}: {gaps}; {made.not_computed} were not computed.")
            if made.private:
                note("It is private: it holds figures that the release must not contain.")
