"""``discreet hierarchy``: look at the hierarchy of a column, or build one from a code list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import CommandOutput, note, shared

LISTED_AT_MOST = 10

app = typer.Typer(help="Show the hierarchy of a column, or build one.", no_args_is_help=True)


@app.command("show")
@shared("json", example="discreet hierarchy show zip --job job.yaml")
def show(
    out: CommandOutput,
    column: Annotated[str, typer.Argument(help="Column of the job's table.")],
    job: Annotated[Path, typer.Option("--job", help="Job file.")] = Path("job.yaml"),
    level: Annotated[
        int | None, typer.Option("--level", help="Print all nodes of this level.")
    ] = None,
) -> None:
    """Print the levels of a column's hierarchy, with the number of rows in each node."""
    from discreet.errors import InputError
    from discreet.hierarchies.hierarchy import count_levels
    from discreet.hierarchies.specs import Automatic
    from discreet.job.model import Job
    from discreet.pipeline.read import read_data
    from discreet.table.roles import Role

    read = Job.load(job)
    attribute = read.attributes.get(column)
    if attribute is None or attribute.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        known = [
            repr(name)
            for name, one in read.attributes.items()
            if one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        ]
        raise InputError(
            f"{job}: {column!r} is not a quasi-identifier or sensitive attribute, which alone "
            f"have hierarchies. These are: {', '.join(known)}."
        )
    coded = read_data(read)[column]
    built = (attribute.hierarchy or Automatic()).build(coded, read.folder)
    counted = count_levels(coded, built)
    if level is not None and not 0 <= level < len(counted):
        raise InputError(f"--level is from 0 to {len(counted) - 1}; found {level}.")
    labelled = attribute.role is Role.QUASI_IDENTIFIER  # cells of others are not printed
    levels = [
        {"rows": nodes.rows, "labels": nodes.labels} if labelled else {"rows": nodes.rows}
        for nodes in counted
    ]
    head = (
        f"Hierarchy of '{column}' ({built.place}): {sum(counted[0].rows)} rows, "
        f"{len(counted[0].rows)} values, {built.height} levels above them"
    )
    data = {"column": column, "hierarchy": built.place, "levels": levels}
    out.result(data, [head, *_lines(counted, level, labelled)])


def _lines(counted: list[Any], chosen: int | None, labelled: bool) -> list[str]:
    lines = ["", "level  nodes  fewest rows  most rows"]
    lines += [
        f"{number:5}  {len(one.rows):5}  {one.rows[-1]:11}  {one.rows[0]:9}"
        for number, one in enumerate(counted)
    ]
    if not labelled:
        return [*lines, "", "The values of a sensitive attribute are not printed."]
    for number, one in enumerate(counted):
        if chosen not in (None, number):
            continue
        most = len(one.rows) if chosen is not None else LISTED_AT_MOST
        lines += ["", f"Level {number}"]
        lines += [
            f"{rows:9}  {'(missing)' if label is None else label}"
            for label, rows in zip(one.labels[:most], one.rows[:most], strict=True)
        ]
        if len(one.rows) > most:
            lines.append(f"           and {len(one.rows) - most} more: --level {number}")
    return lines


@app.command("build")
@shared(example="discreet hierarchy build icd10.csv --to diagnosis.csv --parent above")
def build(
    out: CommandOutput,
    codes: Annotated[Path, typer.Argument(help="Code list: a table with a row for each code.")],
    to: Annotated[Path, typer.Option("--to", help="Hierarchy file to write.")],
    code: Annotated[str, typer.Option("--code", help="Column with the codes.")] = "code",
    parent: Annotated[
        str | None,
        typer.Option(
            "--parent",
            help="Column with the code above each, empty at the top; by default the longest other "
            "code that a code begins with.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Column with names, which labels then have.")
    ] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", help="Sheet, if the code list is a spreadsheet.")
    ] = None,
) -> None:
    """Write the hierarchy file of a classification from its official code list."""
    from discreet.errors import InputError
    from discreet.io.code_lists import write_code_hierarchy
    from discreet.io.source import Source

    if to.exists():
        raise InputError(f"{to} already exists. Remove it, or choose another --to.")
    source = Source.of_file(codes, sheet=sheet)
    count = write_code_hierarchy(source, to, code=code, parent=parent, name=name)
    note(f"Wrote {to}: {count} codes. In the job: hierarchy: {to}")
