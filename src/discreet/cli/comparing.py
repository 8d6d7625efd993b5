"""``discreet compare``: several methods beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import CommandOutput, shared


@shared("json", "quiet", example="discreet compare job.yaml --vary l=2,3 --output comparison")
def compare(
    out: CommandOutput,
    job: Annotated[
        Path, typer.Argument(help="Job file; its method runs only if --methods names it.")
    ],
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Comma-separated methods; default: all that suit the job."),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", help="Parameter and values: l=2,3,5. Repeatable."),
    ] = None,
    uses: Annotated[
        list[str] | None,
        typer.Option("--for", help="Use: queries, associations, records or learning. Repeatable."),
    ] = None,
    learning: Annotated[
        bool, typer.Option("--learning", help="Also train models on every release (slower).")
    ] = False,
    queries: Annotated[
        int | None, typer.Option(min=0, help="Number of random COUNT queries; default: the job's.")
    ] = None,
    ceiling: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Recommend no release with a 99th-percentile belief above this."
        ),
    ] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of methods, queries and learning.")] = 0,
    budget: Annotated[
        str,
        typer.Option("--budget", help="Time limit of all settings together, as 90s, 5m or 1h."),
    ] = "5m",
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for comparison.html, .json and .csv."),
    ] = None,
) -> None:
    """Compare utility and disclosure risk of several methods."""
    from discreet.api.compare import compare as run_compare

    with out.progress() as progress:
        comparison = run_compare(
            None,
            job,
            methods=None
            if methods is None
            else [name.strip() for name in methods.split(",") if name.strip()],
            vary=_varied(vary or []),
            uses=uses or None,
            learning=learning,
            queries=queries,
            ceiling=ceiling,
            seed=seed,
            budget=seconds_of(budget),
            progress=progress,
        )
    if output is not None:
        from discreet.job.model import Job
        from discreet.report.pages.measure_page import comparison_page

        page = comparison_page(comparison, Job.load(job))
        (comparison.save(output) / "comparison.html").write_text(page.html(), encoding="utf-8")
        out.note(f"Wrote {output / 'comparison.html'}, comparison.json and comparison.csv")
    lines, best = str(comparison).splitlines(), comparison.best
    if best is not None and output is None:
        lines.append("To publish it by its name, write the comparison: --output comparison")
    elif best is not None:
        chosen = f"--compared {output} --release '{best.label}' --seed {seed}"
        lines.append(f"Publish it: discreet publish {job} {chosen}")
    out.result(comparison.to_dict(), lines)
    if not comparison.published:
        raise typer.Exit(1 if any(point.infeasible for point in comparison.points) else 2)


def seconds_of(written: str) -> float:
    """Parse ``90s``, ``5m`` or ``1h`` into seconds."""
    from discreet.errors import InputError

    units = {"s": 1, "m": 60, "h": 3600}
    number, unit = (written[:-1], written[-1:]) if written[-1:] in units else (written, "s")
    try:
        return float(number) * units[unit]
    except ValueError:
        raise InputError(f"--budget {written}: give a time, such as 90s, 5m or 1h.") from None


def _varied(given: list[str]) -> dict[str, list[Any]]:
    """Parse ``l=2,3,5`` into values."""
    import yaml

    from discreet.errors import InputError

    varied: dict[str, list[Any]] = {}
    for one in given:
        name, equals, values = one.partition("=")
        if not equals or name.strip() in varied:
            raise InputError(
                f"--vary {one}: name each parameter once, with its values, for example "
                "--vary l=2,3,5 --vary k=5,10."
            )
        varied[name.strip()] = [
            yaml.safe_load(value) for value in values.split(",") if value.strip()
        ]
    return varied
