"""``discreet export`` and ``codebook``: a release for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import CommandOutput, ReleasePlace, Replace, say_json, shared

LabelFile = Annotated[
    Path | None,
    typer.Option("--labels", help="SPSS, Stata or SAS file whose labels are kept."),
]


@shared("json", "quiet", example="discreet export release --to release.sav")
def export(
    out: CommandOutput,
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
) -> None:
    """Write a table of an audited release as a file of another program."""
    import sys
    import tempfile
    from typing import cast

    from discreet.addons.places.export import ENDINGS, ExportFormat, copy_to
    from discreet.addons.places.export import export as write
    from discreet.errors import InputError

    if format is not None and format not in ENDINGS:
        raise InputError(f"--format is one of {', '.join(ENDINGS)}; found '{format}'.")
    chosen = cast("ExportFormat | None", format)
    if str(to) == "-":
        if out.json:
            raise InputError("--json and --to - both print to stdout. Use one of them.")
        chosen = chosen or "csv"
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            place = Path(folder) / f"table{ENDINGS[chosen]}"
            write(release, place, table=table, labels=labels, format=chosen)
            sys.stdout.flush()
            copy_to(place, sys.stdout.buffer)
        return
    exported = write(release, to, table=table, labels=labels, format=chosen, force=force)
    if out.json:
        say_json(exported.to_dict())
        return
    rows = f"{exported.rows} rows of '{exported.table}'"
    out.note(f"Wrote {exported.path}: {rows}, read back and compared.")
    for name, other in exported.renamed.items():
        out.note(f"Column {name!r} is {other!r} in the file.")


@shared("quiet", example="discreet codebook release --to codebook.json")
def codebook(
    out: CommandOutput,
    release: ReleasePlace,
    to: Annotated[
        Path, typer.Option("--to", help="File to write: .json, .csv or .xml (DDI-Codebook).")
    ],
    labels: LabelFile = None,
    force: Replace = False,
) -> None:
    """Write the codebook of a release: columns, values, labels and counts."""
    from discreet.addons.places.codebook import codebook as describe

    describe(release, labels=labels).save(to, force=force)
    out.note(f"Wrote {to}")
