"""``discreet compare``: several methods on one table, risk against utility."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, note, progress_bar, say, say_json


def compare(
    job: Annotated[Path, typer.Argument(help="The job file; its own method only if it is named.")],
    methods: Annotated[str, typer.Option("--methods", help="Names, with commas between.")],
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", help="A parameter with values: l=2,3,5. May be given again."),
    ] = None,
    uses: Annotated[
        list[str] | None,
        typer.Option("--for", help="queries, associations, records or learning. Again for more."),
    ] = None,
    learning: Annotated[
        bool, typer.Option("--learning", help="Learn from every release too; takes longer.")
    ] = False,
    queries: Annotated[
        int | None, typer.Option(min=0, help="How many random COUNT queries; else the job says.")
    ] = None,
    ceiling: Annotated[
        float,
        typer.Option(min=0, max=1, help="Recommend no release with a greater belief for 99 %."),
    ] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Of methods, queries and learning.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="A folder for comparison.html, comparison.json and .csv."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run several methods on one table, and set what each is worth against what it gives away."""
    with guarded(as_json=json, debug=debug):
        from discreet.api.compare import compare as run_compare

        with progress_bar(quiet=quiet) as progress:
            found = run_compare(
                None,
                job,
                methods=[name.strip() for name in methods.split(",") if name.strip()],
                vary=_varied(vary or []),
                uses=uses or None,
                learning=learning,
                queries=queries,
                ceiling=ceiling,
                seed=seed,
                progress=progress,
            )
        if output is not None:
            from discreet.job.model import Job
            from discreet.report.pages.comparison_page import comparison_page

            page = comparison_page(found, Job.load(job))
            (found.save(output) / "comparison.html").write_text(page.html(), encoding="utf-8")
            if not quiet:
                note(f"Wrote {output / 'comparison.html'}, comparison.json and comparison.csv")
        if json:
            say_json(found.to_dict())
        else:
            say(str(found))
        if not found.published:
            raise typer.Exit(1 if any(point.infeasible for point in found.points) else 2)


def _varied(given: list[str]) -> dict[str, list[Any]]:
    """``l=2,3,5`` as the values that it names."""
    import yaml

    from discreet.errors import InputError

    varied: dict[str, list[Any]] = {}
    for one in given:
        name, equals, values = one.partition("=")
        if not equals or name.strip() in varied:
            raise InputError(
                f"--vary {one}: a parameter once, with its values: --vary l=2,3,5 --vary k=5,10."
            )
        varied[name.strip()] = [
            yaml.safe_load(value) for value in values.split(",") if value.strip()
        ]
    return varied
