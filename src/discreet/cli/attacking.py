"""``discreet attack``: what attackers with given knowledge learn from a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.checking import (
    CorrelationFile,
    KeyFile,
    PersonsFile,
    ReleaseFolders,
    SeriesLedger,
    audit_of_series,
)
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
    from discreet.attacks.base import Attack


def attack(
    releases: ReleaseFolders = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="The job that read the original; needed for one release."),
    ] = None,
    attacks: Annotated[
        str | None, typer.Option("--attacks", help="Names, with commas between; all if left out.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="Count the targets above it.")
    ] = 0.5,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population", help="A table of the population's quasi-identifiers, or a job."
        ),
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option("--knowledge", help="YAML: a list of attacks with their parameters."),
    ] = None,
    page: PageFile = None,
    ledger: SeriesLedger = None,
    key: KeyFile = None,
    persons: PersonsFile = None,
    correlation: CorrelationFile = None,
    alike: Annotated[
        list[str] | None,
        typer.Option(
            "--alike", help="For a series: records known to have the same value, commas between."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure what an attacker with given background knowledge infers, and how often correctly."""
    with guarded(as_json=json, debug=debug):
        from discreet.errors import InputError

        if ledger is not None or persons is not None:
            known = None if alike is None else [[n.strip() for n in a.split(",")] for a in alike]
            series = audit_of_series(releases or [], ledger, key, persons, correlation, known)
            _tell_of_series(series, page, as_json=json, quiet=quiet)
            return
        if not releases or len(releases) > 1 or original is None:
            raise InputError(
                "Name one release folder and its job with --original; or several folders with "
                "--persons, or a series with --ledger."
            )
        from discreet.api.attack import attack as run_attack

        with progress_bar(quiet=quiet) as progress:
            found = run_attack(
                releases[0],
                original=original,
                attacks=_chosen(attacks, knowledge),
                population=population,
                threshold=threshold,
                progress=progress,
            )
        if page is not None:
            from discreet.job.model import Job
            from discreet.releases.manifest import Manifest
            from discreet.report.pages.attack_page import attack_page

            made = attack_page(found, Manifest.load(releases[0]), Job.load(original))
            write_page(page, made, quiet=quiet)
        if json:
            say_json(found.to_dict())
        else:
            say(str(found))
        if not found.ok:
            raise typer.Exit(1)


def _chosen(names: str | None, knowledge: Path | None) -> list[Attack] | None:
    """The attacks that are named, those of a file with their parameters; None for all."""
    from discreet.api.attack import parse_attacks, read_attacks
    from discreet.attacks.registry import all_attacks

    chosen = None
    if names is not None:
        chosen = parse_attacks([name.strip() for name in names.split(",") if name.strip()])
    if knowledge is not None:
        given = read_attacks(knowledge)
        named = {one.name for one in given}
        others = all_attacks() if chosen is None else chosen
        chosen = [*(one for one in others if one.name not in named), *given]
    return chosen


def _tell_of_series(found: SeriesAudit, page: Path | None, *, as_json: bool, quiet: bool) -> None:
    """What the attacks on several releases of the same records found."""
    from discreet.api.series import describe_attacks

    if page is not None:
        write_page(page, found, quiet=quiet)
    if as_json:
        whole = found.to_dict()
        say_json({name: whole[name] for name in ("ok", "attacks", "joint", "problems")})
    else:
        for line in [*describe_attacks(found), *(f"Problem: {one}" for one in found.problems)]:
            say(line)
    if not found.ok:
        raise typer.Exit(1)
