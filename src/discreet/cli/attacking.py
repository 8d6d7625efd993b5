"""``discreet attack``: what attackers with given background knowledge learn from a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.checking import (
    CorrelationFile,
    KeyFile,
    PersonsFile,
    QuasiColumns,
    ReleaseFoldersOrTable,
    RolesJob,
    SensitiveColumns,
    SeriesLedger,
    SuppressedCells,
    audit_of_series,
    column_names,
)
from discreet.cli.console import CommandOutput, PageFile, PageLanguage, shared

if TYPE_CHECKING:
    from discreet.api.series_audit import SeriesAudit
    from discreet.attacks.base import Attack


@shared("verbose", "json", "quiet", example="discreet attack release --original job.yaml")
def attack(
    out: CommandOutput,
    releases: ReleaseFoldersOrTable = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", help="Job file of the original; of a table also a table."),
    ] = None,
    attacks: Annotated[
        str | None, typer.Option("--attacks", help="Comma-separated attacks; default: all.")
    ] = None,
    threshold: Annotated[
        float,
        typer.Option("--threshold", min=0, max=1, help="Count targets with a belief above it."),
    ] = 0.5,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population", help="Table of the population's quasi-identifiers, or a job file."
        ),
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option("--knowledge", help="YAML file: list of attacks with their parameters."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=0, help="Time limit; the report lists what it cut off."),
    ] = 300,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Estimate from targets drawn at random, with intervals."),
    ] = False,
    quasi: QuasiColumns = None,
    sensitive: SensitiveColumns = None,
    job: RolesJob = None,
    control: Annotated[
        Path | None,
        typer.Option("--control", help="Of a table: rows that it was not made from."),
    ] = None,
    suppressed: SuppressedCells = None,
    page: PageFile = None,
    language: PageLanguage = "en",
    ledger: SeriesLedger = None,
    key: KeyFile = None,
    persons: PersonsFile = None,
    correlation: CorrelationFile = None,
    alike: Annotated[
        list[str] | None,
        typer.Option(
            "--alike", help="For a series: comma-separated records known to share a value."
        ),
    ] = None,
) -> None:
    """Measure what attackers infer from a release, or from a table of any tool.

    Each attacker has given background knowledge; beliefs are scored against the original.
    """
    from discreet.errors import InputError

    if ledger is not None or persons is not None:
        known = None if alike is None else [[n.strip() for n in a.split(",")] for a in alike]
        series = audit_of_series(releases or [], ledger, key, persons, correlation, known)
        _say_series(out, series, page)
        return
    if not releases or len(releases) > 1 or original is None:
        raise InputError(
            "Name one release folder and its job (--original), a table and its original, "
            "several folders with --persons, or a series with --ledger."
        )
    if releases[0].is_file():
        if population is not None or quick:
            raise InputError(
                "--population and --quick are for release folders. Attack the table without."
            )
        import discreet

        chosen = _chosen(attacks, knowledge)
        with out.progress() as progress:
            of_table = discreet.attack_table(
                releases[0], original=original, job=job, quasi=column_names(quasi),
                sensitive=column_names(sensitive), control=control, attacks=chosen,
                suppressed=suppressed or (), threshold=threshold, seconds=seconds,
                progress=progress,
            )  # fmt: skip
        out.page(page, of_table, language)
        lines = str(of_table).splitlines() if out.verbose else of_table.brief()
        out.result(of_table.to_dict(), lines)
        return
    from discreet.api.attack import attack as run_attack
    from discreet.report.terminal import attack_lines

    with out.progress() as progress:
        report = run_attack(
            releases[0],
            original=original,
            attacks=_chosen(attacks, knowledge),
            population=population,
            threshold=threshold,
            seconds=seconds,
            quick=quick,
            progress=progress,
        )
    if page is not None:
        from discreet.job.model import Job
        from discreet.releases.manifest import Manifest
        from discreet.report.pages.attack_page import attack_page
        from discreet.statements import speaking

        with speaking(language):
            shown = attack_page(report, Manifest.load(releases[0]), Job.load(original))
        out.page(page, shown)
    tone = "good" if report.ok else "bad"
    out.result(report.to_dict(), str(report) if out.verbose else attack_lines(report), tone)
    if not report.ok:
        raise typer.Exit(1)


def _chosen(names: str | None, knowledge: Path | None) -> list[Attack] | None:
    """Return the named attacks and those of a file; None for all."""
    from discreet.api.attack import parse_attacks, read_attacks
    from discreet.attacks.registry import all_attacks

    chosen = None
    if names is not None:
        chosen = parse_attacks([name.strip() for name in names.split(",") if name.strip()])
    if knowledge is not None:
        of_file = read_attacks(knowledge)
        named = {one.name for one in of_file}
        others = all_attacks() if chosen is None else chosen
        chosen = [*(one for one in others if one.name not in named), *of_file]
    return chosen


def _say_series(out: CommandOutput, found: SeriesAudit, page: Path | None) -> None:
    """Print what attacks on several releases of the same records found."""
    from discreet.api.series_audit import describe_attacks

    out.page(page, found)
    whole = found.to_dict()
    out.result(
        {name: whole[name] for name in ("ok", "attacks", "joint", "problems")},
        [*(f"Problem: {problem}" for problem in found.problems), *describe_attacks(found)],
    )
    if not found.ok:
        raise typer.Exit(1)
