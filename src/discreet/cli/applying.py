"""``discreet apply``: new rows at the levels of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import (
    AcceptRisk,
    AttackSeconds,
    Debug,
    Json,
    NoAttack,
    Quiet,
    guarded,
    note,
    progress_bar,
    say_json,
    say_lines,
)


def apply(
    release: Annotated[Path, typer.Argument(help="Folder of a release by full-domain.")],
    data: Annotated[str, typer.Argument(help="New rows, about other persons.")],
    original: Annotated[Path, typer.Option("--original", help="Job file that made the release.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the new release.")],
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Batch that was applied before. Repeatable."),
    ] = None,
    suppression: Annotated[
        float | None,
        typer.Option(
            "--suppression", min=0, max=1, help="Share of rows that may go; default: the job's."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    attack: AttackSeconds = 60,
    no_attack: NoAttack = False,
    accept_risk: AcceptRisk = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Recode new rows to the levels of a release.

    Nothing appears unless every guarantee holds for the new rows and for all rows together.
    """
    with guarded(as_json=json, debug=debug):
        from discreet.api.apply import apply as run_apply
        from discreet.io.atomic import require_free
        from discreet.pipeline.decide import require_reason
        from discreet.report.terminal import published_lines
        from discreet.table.roles import Role

        require_reason(accept_risk)
        require_free(output, force)
        with progress_bar(quiet=quiet) as progress:
            batch = run_apply(
                release, data, original=original, beside=beside or (), suppression=suppression,
                progress=progress,
            )  # fmt: skip
            batch.save(
                output, force=force, format=batch.job.output.format, progress=progress,
                attack=None if no_attack else attack, accept_risk=accept_risk,
            )  # fmt: skip
        if not batch.job.with_role(Role.IDENTIFIER) and not quiet:
            note("The job names no identifier: nothing shows that the rows are of other persons.")
        if json:
            names = ("together", "verdict", "accepted_risk")
            private = {name: batch.private[name] for name in names if name in batch.private}
            say_json({**batch.to_dict(), **private})
            return
        rows = batch.private["together"]["rows"]
        jointly = f"Together with the earlier release, {rows:,} rows keep the same guarantees."
        lines = published_lines(batch.manifest, batch.private, output, batch.verdict())
        say_lines([*lines, jointly])
