"""``discreet publish``, ``discreet apply`` and ``discreet demo``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import (
    AcceptRisk,
    AttackSeconds,
    CommandOutput,
    NoAttack,
    Replace,
    result_data,
    say_lines,
    shared,
)

if TYPE_CHECKING:
    from discreet.pipeline.release import Release


class Format(StrEnum):
    """The format of published tables."""

    CSV = "csv"
    PARQUET = "parquet"


# The options' numbers in glibc's malloc.h.
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1


def reuse_memory() -> bool:
    """Let all threads allocate from one heap, and return whether that can be asked for.

    glibc gives every thread a heap of its own, and every large array pages of its own. What a step
    frees is then of no use to the steps after it: they fetch new pages, which takes time and, of
    the heaps of threads, memory.
    """
    if sys.platform != "linux":
        return False
    from ctypes import CDLL

    try:
        mallopt = CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    mallopt(M_MMAP_THRESHOLD, 1 << 30)  # older versions of glibc refuse it
    mallopt(M_TRIM_THRESHOLD, 1 << 26)
    return bool(mallopt(M_ARENA_MAX, 1))


@shared("verbose", "json", "quiet", example="discreet publish job.yaml --output release")
def publish(
    out: CommandOutput,
    job: Annotated[Path, typer.Argument(help="Job file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Release folder; default: the job's.")
    ] = None,
    format: Annotated[
        Format | None, typer.Option("--format", help="Format of the tables; default: the job's.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Engine that runs the job: local, spark or a plugin's.")
    ] = "local",
    master: Annotated[
        str | None, typer.Option("--master", help="Spark master, such as local[4].")
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", help="Spark Connect server: sc://HOST:PORT.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Seed of the method; the published row order stays random."
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", help="Ledger: path or PostgreSQL URL; default: the job's."),
    ] = None,
    force: Replace = False,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", help="Private key that signs the manifest (discreet keys new)."),
    ] = None,
    compared: Annotated[
        Path | None,
        typer.Option("--compared", help="Folder of 'discreet compare'; with --release."),
    ] = None,
    release_name: Annotated[
        str | None,
        typer.Option("--release", help="Name of the compared release whose setting is used."),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write reports.")] = False,
    language: Annotated[
        str | None,
        typer.Option("--language", help="Language of reports: en, de or tr; default: the job's."),
    ] = None,
    attack: AttackSeconds = 60,
    no_attack: NoAttack = False,
    accept_risk: AcceptRisk = None,
) -> None:
    """Publish a table; prove every guarantee on written files.

    Nothing appears unless every guarantee of the job holds for the files that were written, and
    the verdict about their risk is not 'Do not publish'.
    """
    reuse_memory()  # before NumPy starts threads
    from discreet.errors import InfeasibleError
    from discreet.io.atomic import require_free
    from discreet.io.signatures import SigningKey
    from discreet.job.model import Job
    from discreet.pipeline.decide import require_reason
    from discreet.pipeline.run import publish_folder
    from discreet.table.counts import WARNING, fixed_order

    require_reason(accept_risk)
    loaded = Job.load(job)
    if compared is not None or release_name is not None:
        from discreet.api.compare import compared_job

        loaded = compared_job(loaded, compared, release_name)
    if ledger is not None:
        loaded = loaded.with_ledger(ledger)
    if language is not None:
        from discreet.statements import require_language

        loaded = loaded.with_language(require_language(language))
    place = output or loaded.folder / loaded.output.path
    require_free(place, force)
    if fixed_order():
        out.note(f"WARNING: {WARNING}")
    key = None if sign is None else SigningKey.load(sign)
    with out.progress() as progress, ExitStack() as stack:
        chosen = None
        if engine != "local":
            from discreet.pipeline.engine import engine_named

            chosen = stack.enter_context(engine_named(engine).opened(place, remote or master))
        try:
            release = publish_folder(
                None,
                loaded,
                place,
                engine=chosen,
                format=format.value if format else loaded.output.format,
                seed=seed,
                force=force,
                report=not no_report,
                progress=progress,
                sign=key,
                attack=None if no_attack else attack,
                accept_risk=accept_risk,
                job_file=job,
            )
        except InfeasibleError as error:
            remedy = f"Find changes of the job: discreet repair {job}"
            raise InfeasibleError(f"{error}\n{remedy}", error.failures) from error
    from discreet.report.risk_verdict import READY
    from discreet.report.terminal import published_details, published_lines

    verdict = release.verdict()
    lines = published_lines(release.manifest, release.private, place, verdict, job)
    if verdict.word == READY and key is None:
        command = f"discreet keys new KEY, then discreet publish {job} --force --sign KEY"
        lines.append(f"To add a signature: {command}")
    if out.verbose:
        lines += published_details(release.manifest, release.private)
    out.result(_published_data(release, place), lines, verdict.tone)


def _published_data(release: Release, place: Path) -> dict[str, Any]:
    """Return what was published; ``private`` has what only the publisher may know."""
    from discreet.releases.explanation import explain

    manifest, private = release.manifest, release.private
    figures = {
        **{key: private[key] for key in ("utility", "method")},
        "guarantees": private["promises"],
        "risk": release.verdict().to_dict(),
        **{key: private[key] for key in ("accepted_risk",) if key in private},
    }
    explanation = explain(manifest)
    return {"release": str(place), **result_data(manifest), "explanation": explanation,
            "private": figures}  # fmt: skip


@shared("json", "quiet", example="discreet apply release new.csv --original job.yaml -o batch")
def apply(
    out: CommandOutput,
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
    force: Replace = False,
    attack: AttackSeconds = 60,
    no_attack: NoAttack = False,
    accept_risk: AcceptRisk = None,
) -> None:
    """Recode new rows to the levels of a release.

    Nothing appears unless every guarantee holds for the new rows and for all rows together.
    """
    from discreet.api.apply import apply as run_apply
    from discreet.io.atomic import require_free
    from discreet.pipeline.decide import require_reason
    from discreet.report.terminal import published_lines
    from discreet.table.roles import Role

    require_reason(accept_risk)
    require_free(output, force)
    with out.progress() as progress:
        batch = run_apply(
            release, data, original=original, beside=beside or (), suppression=suppression,
            progress=progress,
        )  # fmt: skip
        batch.save(
            output, force=force, format=batch.job.output.format, progress=progress,
            attack=None if no_attack else attack, accept_risk=accept_risk,
        )  # fmt: skip
    if not batch.job.with_role(Role.IDENTIFIER):
        out.note("The job names no identifier: nothing shows that the rows are of other persons.")
    rows, verdict = batch.private["together"]["rows"], batch.verdict()
    jointly = f"Together with the earlier release, {rows:,} rows keep the same guarantees."
    lines = published_lines(batch.manifest, batch.private, output, verdict, original)
    names = ("together", "verdict", "accepted_risk")
    private = {name: batch.private[name] for name in names if name in batch.private}
    out.result({**result_data(batch.manifest), **private}, [*lines, jointly], verdict.tone)


@shared(example="discreet demo")
def demo(
    out: CommandOutput,
    folder: Annotated[Path, typer.Argument(help="Folder for the files of the demo.")] = Path(
        "discreet-demo"
    ),
) -> None:
    """Show on a made-up table what an insider breaks, and what can be signed."""
    from discreet.api.demonstrate import demonstrate

    for line in demonstrate(folder):
        say_lines([line])
