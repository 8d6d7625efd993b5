"""``discreet ledger``: the record of earlier releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import CommandOutput, Replace, note, say_json, shared

if TYPE_CHECKING:
    from discreet.ledger.settings import LedgerSettings

app = typer.Typer(
    help="Manage the ledger, the sealed record of earlier releases.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Place = Annotated[str, typer.Argument(help="Ledger: path or PostgreSQL URL.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="Key file; default: DISCREET_LEDGER_KEY, else LEDGER.key."),
]


def settings_of(place: str, key: Path | None) -> LedgerSettings:
    """The settings that a command line names."""
    from discreet.ledger.settings import LedgerSettings

    return LedgerSettings.at(place, key=key).located(Path.cwd())


@app.command("init")
@shared("json", example="discreet ledger init people.ledger")
def init(out: CommandOutput, place: Place, key: KeyFile = None) -> None:
    """Create a ledger, with a new key or an existing one."""
    from discreet.ledger.ledger import Ledger

    settings = settings_of(place, key)
    with Ledger.create(settings) as ledger:
        data = {"ledger": ledger.name, "key": str(settings.key)}
        out.result(data, f"Created the ledger '{ledger.name}'. Its key is in {settings.key}.")
    note("Store the key apart from the ledger and back up both: a series needs them to continue.")


@app.command("list")
@shared("json", example="discreet ledger list people.ledger")
def list_releases(out: CommandOutput, place: Place, key: KeyFile = None) -> None:
    """List the releases of a ledger."""
    from discreet.ledger.ledger import Ledger

    with Ledger.open(settings_of(place, key)) as ledger:
        ledger.settled()
        entries = ledger.entries()
    lines = [] if entries else ["The ledger has no release yet."]
    for entry in entries:
        lines.append(
            f"{entry.number:>4}  {entry.recorded}  {entry.method}  {entry.published_rows:,} "
            f"records in {entry.groups:,} groups, {entry.counterfeits:,} counterfeits, "
            f"{entry.held_back:,} held back  {entry.folder}"
        )
        if entry.accepted_risk is not None:
            lines.append(f"      Verdict: Do not publish. Risk accepted: {entry.accepted_risk}")
    out.result({"releases": [entry.facts() for entry in entries]}, lines)


@app.command("show")
@shared("json", example="discreet ledger show people.ledger 2")
def show(
    out: CommandOutput,
    place: Place,
    number: Annotated[int, typer.Argument(help="Number of the release.")],
    key: KeyFile = None,
) -> None:
    """Show one release; held-back records as keyed hashes."""
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.settings import hex_of

    with Ledger.open(settings_of(place, key)) as ledger:
        ledger.settled()
        ledger.require_sound()
        entry = ledger.entry(number)
        contents = ledger.contents(entry)
    data = {**entry.facts(), "held_back_people": hex_of(contents.people[contents.group < 0])}
    out.result(data, [f"{name.replace('_', ' '):18} {value}" for name, value in data.items()])


@app.command("verify")
@shared("json", example="discreet ledger verify people.ledger")
def verify(out: CommandOutput, place: Place, key: KeyFile = None) -> None:
    """Check the seals of a ledger and the published folders."""
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.record import DamagedLedgerError

    count = 0
    try:
        with Ledger.open(settings_of(place, key)) as ledger:
            ledger.settled()
            problems = ledger.verify()
            count = len(ledger.entries())
    except DamagedLedgerError as error:
        problems = [error.problem]
    intact = f"{count} releases: all seals are valid and the folders are unchanged."
    lines = [f"Problem: {problem}" for problem in problems] or [intact]
    out.result({"ok": not problems, "problems": problems}, lines, "bad" if problems else "good")
    if problems:
        raise typer.Exit(1)


@app.command("export")
@shared(example="discreet ledger export people.ledger")
def export(out: CommandOutput, place: Place, key: KeyFile = None) -> None:
    """Print the whole ledger without its key as JSON. The output is as private as the ledger."""
    from discreet.ledger.ledger import Ledger

    with Ledger.open(settings_of(place, key)) as ledger:
        ledger.settled()
        ledger.require_sound()
        say_json(ledger.export())


@app.command("correlate")
@shared(
    "json",
    example="discreet ledger correlate old.csv new.csv --person id --attribute disease",
)
def correlate(
    out: CommandOutput,
    old: Annotated[Path, typer.Argument(help="Earlier table.")],
    new: Annotated[Path, typer.Argument(help="Later table.")],
    person: Annotated[str, typer.Option("--person", help="Identifier column of both tables.")],
    attribute: Annotated[str, typer.Option("--attribute", help="Sensitive column.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV file to write.")] = Path(
        "correlation.csv"
    ),
    force: Replace = False,
) -> None:
    """Estimate transition probabilities from two tables."""
    from discreet.errors import InputError
    from discreet.io.correlations import value_pairs, write_correlation
    from discreet.methods.series.beliefs.correlation import estimated

    if output.exists() and not force:
        raise InputError(
            f"{output} already exists. Use --force to replace it, or another --output."
        )
    pairs = value_pairs(old, new, person, attribute)
    rows = estimated(pairs)
    write_correlation(output, rows)
    out.result(
        {"correlation": str(output), "people": len(pairs), "pairs": len(rows)},
        f"Wrote {output}: {len(rows)} pairs of values, from {len(pairs):,} records.",
    )
