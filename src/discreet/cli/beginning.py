"""``discreet init``, ``discreet profile`` and ``discreet schema``: before anything is published."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.comparing import seconds_of
from discreet.cli.console import (
    CommandOutput,
    PageFile,
    Query,
    Replace,
    SourceOptions,
    Table,
    note,
    say_json,
    shared,
    source_options,
)


class Receiver(StrEnum):
    """Who receives a release, or the rule that it follows."""

    PUBLIC = "public"
    RESEARCH = "research"
    INTERNAL = "internal"
    SAFE_HARBOR = "hipaa-safe-harbor"
    CMS_11 = "cms-11"


JOB_ENDINGS = (".yaml", ".yml")


@shared("verbose", "json", "quiet", example="discreet init patients.csv --for research")
def init(
    out: CommandOutput,
    data: Annotated[
        str, typer.Argument(help="Table: a file of any known format, -, or a database's URL.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Job file to write.")] = Path(
        "job.yaml"
    ),
    force: Replace = False,
    preset: Annotated[
        Receiver | None,
        typer.Option("--for", "--preset", help="Guarantees by who receives it, or by a rule."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Answer eight questions, also from standard input.")
    ] = False,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Encoding of a text file, such as latin-1.")
    ] = None,
    source: SourceOptions = None,
    table: Table = None,
    query: Query = None,
    budget: Annotated[
        str, typer.Option("--budget", help="Time limit of the trial and its repair; 0s for none.")
    ] = "60s",
) -> None:
    """Propose roles and hierarchies in a commented job file.

    The proposal is tried on the table, and repaired if its release would be refused or useless.
    """
    from discreet.errors import InputError
    from discreet.job.proposing.job_text import propose_job
    from discreet.report.terminal import proposal_lines, role_lines

    if output.exists() and not force:
        raise InputError(
            f"{output} already exists. Use --force to replace it, or another --output."
        )
    if ask and preset is not None:
        raise InputError("--ask asks who receives the release. Remove --for.")
    proposed = propose_job(
        data,
        output.resolve().parent,
        preset=preset,
        options=source_options(source) | ({} if encoding is None else {"encoding": encoding}),
        table=table,
        query=query,
        ask=_asked if ask else None,
        tell=note,
    )
    seconds = 0.0 if budget == "0s" else seconds_of(budget)
    trial: list[str] = []
    # Answers and the rule's fixed levels are decisions; standard input cannot be read again.
    if seconds and data != "-" and not ask and preset is not Receiver.SAFE_HARBOR:
        from discreet.api.propose import tried_proposal

        with out.progress() as progress:
            proposed, trial = tried_proposal(proposed, budget=seconds, progress=progress)
    output.write_text(proposed.text, encoding="utf-8")
    persons: list[str] = []
    if proposed.persons is not None:
        persons = [
            f"{proposed.persons.sentence(repr(proposed.person))} The job reduces the "
            "rows of a person to one; see 'person:' and 'collapse:' in it."
        ]
    lines = [
        *persons,
        *proposed.notices,
        f"Wrote {output} with a proposed role for every column:",
        *role_lines({name: str(judged.role) for name, judged in proposed.roles.items()}),
        *proposal_lines(proposed.roles, verbose=out.verbose),
        *trial,
        f"Review the roles in {output}, then run: discreet publish {output}",
    ]
    if proposed.job.guessed:
        lines.append(
            "Roles that were guessed are under 'unconfirmed:'. Until you delete that line, the "
            "verdict is at best 'Look at these'."
        )
    out.result({"job": str(output), **proposed.to_dict(), "trial": trial}, lines)


def _asked(question: str, proposed: str) -> str | None:
    """Put a question to the terminal; None where the input ends."""
    note(f"{question}\n  [{proposed}]")
    try:
        return input()
    except EOFError:
        return None


@shared("verbose", "json", "quiet", example="discreet profile patients.csv")
def profile(
    out: CommandOutput,
    data: Annotated[str, typer.Argument(help="Table (a file or a database's URL), or job file.")],
    projections: Annotated[
        bool,
        typer.Option(
            "--projections", help="For a job: loss and exposure of publishing in several tables."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="With --projections: SVG file to write.")
    ] = None,
    source: SourceOptions = None,
    table: Table = None,
    query: Query = None,
    page: PageFile = None,
) -> None:
    """Show which columns identify rows, and what is feasible."""
    if projections or plot is not None:
        _explore(out, Path(data), plot)
        return
    from discreet.api.profile import profile as make_profile
    from discreet.report.terminal import profile_lines

    is_job = Path(data).suffix in JOB_ENDINGS
    with out.progress() as progress:
        table_and_job = (None, data) if is_job else (data, None)
        options = source_options(source)
        result = make_profile(
            *table_and_job, source=options, table=table, query=query, progress=progress
        )
    out.page(page, result)
    lines = str(result) if out.verbose else profile_lines(result, data)
    out.result(result.to_dict(), lines)
    if not is_job and not out.json:
        note("'discreet init' writes the proposed roles into a job file.")


def _explore(out: CommandOutput, data: Path, plot: Path | None) -> None:
    """Show the frontier of projection plans."""
    from discreet.api.explore import explore_projections
    from discreet.errors import InputError

    if data.suffix not in JOB_ENDINGS:
        raise InputError(
            f"--projections needs a job file ({' or '.join(JOB_ENDINGS)}), which names the "
            f"sensitive attributes; found {data}. 'discreet init' writes one."
        )
    with out.progress() as progress:
        exploration = explore_projections(None, data, progress=progress)
    if plot is not None:
        exploration.save_plot(plot)
        note(f"Wrote {plot}")
    out.result(exploration.to_dict(), str(exploration))


class Described(StrEnum):
    """What has a published schema."""

    JOB = "job"
    MANIFEST = "manifest"
    RESULT = "result"
    ERROR = "error"


def schema(
    of: Annotated[
        Described,
        typer.Argument(help="A job, a release's manifest, or what --json prints of either end."),
    ] = Described.JOB,
) -> None:
    """Print the JSON Schema of a job, a manifest, or of what --json prints."""
    from discreet.cli.schemas import error_schema, result_schema

    if of is Described.JOB:
        from discreet.job.model import Job

        say_json(Job.model_json_schema())
    elif of is Described.MANIFEST:
        from discreet.releases.manifest import Manifest

        say_json(Manifest.model_json_schema())
    else:
        say_json(result_schema() if of is Described.RESULT else error_schema())
