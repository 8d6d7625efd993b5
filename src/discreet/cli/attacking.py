"""``discreet attack``: what readers with stated knowledge learn from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.checking import ReleaseFolder
from discreet.cli.console import Debug, Json, Quiet, guarded, note, progress_bar, say, say_json


def attack(
    release: ReleaseFolder,
    original: Annotated[Path, typer.Option("--original", help="The job that read the original.")],
    attacks: Annotated[
        str | None, typer.Option("--attacks", help="Names, with commas between; all if left out.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="Count the targets above it.")
    ] = 0.5,
    population: Annotated[
        Path | None,
        typer.Option("--population", help="A table of everybody's quasi-identifiers, or a job."),
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option("--knowledge", help="YAML: a list of attacks with their parameters."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write the findings as one HTML page too.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Attack a release: what a reader with stated knowledge comes to believe, and how rightly."""
    with guarded(as_json=json, debug=debug):
        from discreet.attacks.catalog import all_attacks
        from discreet.checking import attack as run_attack
        from discreet.checking import parse_attacks, read_attacks

        chosen = None
        if attacks is not None:
            chosen = parse_attacks([name.strip() for name in attacks.split(",") if name.strip()])
        if knowledge is not None:
            given = read_attacks(knowledge)
            named = {one.name for one in given}
            others = all_attacks() if chosen is None else chosen
            chosen = [*(one for one in others if one.name not in named), *given]
        with progress_bar(quiet=quiet) as progress:
            found = run_attack(
                release,
                original=original,
                attacks=chosen,
                population=population,
                threshold=threshold,
                progress=progress,
            )
        if page is not None:
            from discreet.job import Job
            from discreet.releases.manifest import Manifest
            from discreet.report.attack_page import attack_page

            made = attack_page(found, Manifest.load(release), Job.load(original))
            page.write_text(made.html(), encoding="utf-8")
            if not quiet:
                note(f"Wrote {page}")
        if json:
            say_json(found.to_dict())
        else:
            say(str(found))
        if not found.ok:
            raise typer.Exit(1)
