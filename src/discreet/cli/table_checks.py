"""``discreet check``: any table against requirements, without a job and without a release."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.checking import column_names
from discreet.cli.console import (
    CommandOutput,
    PageFile,
    PageLanguage,
    Query,
    SourceOptions,
    Table,
    shared,
    source_options,
)

Columns = list[str] | None


@shared(
    "json",
    "quiet",
    example="discreet check table.csv --quasi age,zip --sensitive illness --k 5 --l 2",
)
def check(
    out: CommandOutput,
    data: Annotated[
        str | None, typer.Argument(help="Table: a file, or the URL of a database.")
    ] = None,
    quasi: Annotated[
        Columns, typer.Option("--quasi", help="Columns an attacker may know: age,zip or repeated.")
    ] = None,
    sensitive: Annotated[
        Columns, typer.Option("--sensitive", help="Sensitive columns: a,b or repeated.")
    ] = None,
    person: Annotated[
        Columns, typer.Option("--person", help="Columns that identify a person; counts persons.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="k-anonymity.")] = None,
    ell: Annotated[int | None, typer.Option("--l", help="Distinct l-diversity.")] = None,
    t: Annotated[float | None, typer.Option("--t", help="t-closeness.")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", help="Any other: 'entropy-l-diversity: {l: 3}'. Repeatable."),
    ] = None,
    job: Annotated[
        Path | None, typer.Option("--job", help="Job file with roles and requirements instead.")
    ] = None,
    source: SourceOptions = None,
    table: Table = None,
    query: Query = None,
    distance: Annotated[
        list[str] | None,
        typer.Option("--distance", help="For t-closeness: COLUMN=equal or COLUMN=ordered."),
    ] = None,
    sensitive_values: Annotated[
        list[str] | None,
        typer.Option("--sensitive-values", help="Values that are sensitive: COLUMN=a,b."),
    ] = None,
    harmless_values: Annotated[
        list[str] | None,
        typer.Option("--harmless-values", help="Values that may be disclosed: COLUMN=none."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing",
            help="Token that means a missing value; or 'match': missing and suppressed "
            "quasi-identifiers equal every value, 'value' (default): they are values.",
        ),
    ] = None,
    suppressed: Annotated[
        list[str] | None,
        typer.Option(
            "--suppressed", help="Cell that means suppressed, as '*'; rows of it count apart."
        ),
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Also print the figure of every model.")
    ] = False,
    page: PageFile = None,
    language: PageLanguage = "en",
) -> None:
    """Check any table against requirements: exit 0 if all hold, 1 if one fails.

    Generalized cells of any tool are labels. A database counts by itself; no row leaves it.
    """
    from discreet.api.check import check as run_check
    from discreet.errors import InputError
    from discreet.report.pages.check_page import check_lines

    if data is None and job is None:
        raise InputError("Name a table, or a job with --job.")
    with out.progress() as progress:
        checked = run_check(
            data,
            job,
            quasi=column_names(quasi),
            sensitive=column_names(sensitive),
            person=column_names(person),
            k=k,
            l=ell,
            t=t,
            requirements=[_parsed(one) for one in require or ()],
            distance=dict(_pair(one) for one in distance or ()),
            sensitive_values=_values(sensitive_values, column_names(sensitive)),
            harmless_values=_values(harmless_values, column_names(sensitive)),
            missing=missing or (),
            suppressed=suppressed or (),
            source=source_options(source),
            table=table,
            query=query,
            figures=figures,
            progress=progress,
        )
    out.page(page, checked, language)
    tone = "good" if checked.ok else "bad"
    out.result(checked.to_dict(), check_lines(checked), tone if checked.requirements else "")
    if not checked.ok:
        if job is None:
            out.note(
                "'discreet init' proposes a job; 'discreet publish' then makes a table that "
                "passes, or reports that none can."
            )
        raise typer.Exit(1)


def _pair(given: str) -> tuple[str, str]:
    name, _, word = given.rpartition("=")
    return name, word


def _values(given: list[str] | None, sensitive: list[str]) -> dict[str, list[str | None]]:
    """The values of ``COLUMN=a,b`` by column; an empty one is a missing value.

    A column or a value may contain ``=``: the longest name of a sensitive column decides.
    """
    by_column: dict[str, list[str | None]] = {}
    for option in given or ():
        named = [name for name in sensitive if option.startswith(f"{name}=")]
        name = max(named, key=len, default=option.partition("=")[0])
        cells = next(csv.reader([option[len(name) + 1 :]], skipinitialspace=True), [""])
        by_column.setdefault(name, []).extend(cell or None for cell in cells)
    return by_column


def _parsed(given: str) -> Any:
    """A requirement as a job writes it."""
    import yaml

    from discreet.errors import InputError

    try:
        return yaml.safe_load(given)
    except yaml.YAMLError:
        raise InputError(
            f"--require: {given!r} is not a requirement. Write it as in a job: "
            "'entropy-l-diversity: {l: 3}'."
        ) from None
