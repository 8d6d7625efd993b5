"""``discreet evidence``: a pack about a release for reviewers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import CommandOutput, ReleasePlace, Replace, shared


class FrameworkChoice(StrEnum):
    """The structure of an evidence pack."""

    EMA = "ema"
    HIPAA = "hipaa"
    NIST = "nist"
    GDPR = "gdpr"


@shared("json", "quiet", example="discreet evidence release --for ema --original job.yaml")
def evidence(
    out: CommandOutput,
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
) -> None:
    """Write an evidence pack about a release for a regulator or a review board.

    It is filled from manifest, audit and attacks; what the publisher must write is marked.
    """
    from discreet.addons.evidence.make import evidence as make_pack
    from discreet.io.signatures import SigningKey

    key = None if sign is None else SigningKey.load(sign)
    with out.progress() as progress:
        pack = make_pack(
            release,
            framework.value,
            original=original,
            population=population,
            seconds=seconds,
            progress=progress,
        )
    private = ".private" if pack.private else ""
    beside = release.resolve().with_name(
        f"{release.resolve().name}{private}.evidence-{framework.value}.html"
    )
    path = pack.save(beside if output is None else output, sign=key, force=force)
    out.result({**pack.to_dict(), "path": str(path)}, [])
    gaps = f"{pack.to_write} parts are to be written by the publisher"
    out.note(f"Wrote {path}: {gaps}; {pack.not_computed} were not computed.")
    if pack.private:
        out.note("It is private: it holds figures that the release must not contain.")
