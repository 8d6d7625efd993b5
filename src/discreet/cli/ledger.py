"""``discreet ledger``: the record of earlier releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import Debug, Json, guarded, note, say, say_json

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
def init(place: Place, key: KeyFile = None, json: Json = False, debug: Debug = False) -> None:
    """Create a ledger, with a new key or an existing one."""
    with guarded(as_json=json, debug=debug):
        from discreet.ledger.ledger import Ledger

        settings = settings_of(place, key)
        with Ledger.create(settings) as ledger:
            if json:
                say_json({"ledger": ledger.name, "key": str(settings.key)})
            else:
                say(f"Created the ledger '{ledger.name}'. Its key is in {settings.key}.")
        note(
            "Store the key apart from the ledger and back up both: a series needs them to continue."
        )


@app.command("list")
def list_releases(
    place: Place, key: KeyFile = None, json: Json = False, debug: Debug = False
) -> None:
    """List the releases of a ledger."""
    with guarded(as_json=json, debug=debug):
        from discreet.ledger.ledger import Ledger

        with Ledger.open(settings_of(place, key)) as ledger:
            ledger.settled()
            entries = ledger.entries()
        if json:
            say_json({"releases": [entry.facts() for entry in entries]})
            return
        for entry in entries:
            say(
                f"{entry.number:>4}  {entry.recorded}  {entry.method}  {entry.published_rows:,} "
                f"records in {entry.groups:,} groups, {entry.counterfeits:,} counterfeits, "
                f"{entry.held_back:,} held back  {entry.folder}"
            )
            if entry.accepted_risk is not None:
                say(f"      Verdict: Do not publish. Risk accepted: {entry.accepted_risk}")
        if not entries:
            say("The ledger has no release yet.")


@app.command("show")
def show(
    place: Place,
    number: Annotated[int, typer.Argument(help="Number of the release.")],
    key: KeyFile = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show one release; held-back records as keyed hashes."""
    with guarded(as_json=json, debug=debug):
        from discreet.ledger.ledger import Ledger
        from discreet.ledger.settings import hex_of

        with Ledger.open(settings_of(place, key)) as ledger:
            ledger.settled()
            ledger.require_sound()
            entry = ledger.entry(number)
            contents = ledger.contents(entry)
        held_back = hex_of(contents.people[contents.group < 0])
        data = {**entry.facts(), "held_back_people": held_back}
        if json:
            say_json(data)
            return
        for name, value in data.items():
            say(f"{name.replace('_', ' '):18} {value}")


@app.command("verify")
def verify(place: Place, key: KeyFile = None, json: Json = False, debug: Debug = False) -> None:
    """Check the seals of a ledger and the published folders."""
    with guarded(as_json=json, debug=debug):
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
        if json:
            say_json({"ok": not problems, "problems": problems})
        else:
            for problem in problems:
                say(f"Problem: {problem}")
            if not problems:
                say(f"{count} releases: all seals are valid and the folders are unchanged.")
        if problems:
            raise typer.Exit(1)


@app.command("export")
def export(place: Place, key: KeyFile = None, debug: Debug = False) -> None:
    """Print the whole ledger without its key as JSON. The output is as private as the ledger."""
    with guarded(as_json=True, debug=debug):
        from discreet.ledger.ledger import Ledger

        with Ledger.open(settings_of(place, key)) as ledger:
            ledger.settled()
            ledger.require_sound()
            say_json(ledger.export())


@app.command("correlate")
def correlate(
    old: Annotated[Path, typer.Argument(help="Earlier table.")],
    new: Annotated[Path, typer.Argument(help="Later table.")],
    person: Annotated[str, typer.Option("--person", help="Identifier column of both tables.")],
    attribute: Annotated[str, typer.Option("--attribute", help="Sensitive column.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV file to write.")] = Path(
        "correlation.csv"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Estimate transition probabilities from two tables."""
    with guarded(as_json=json, debug=debug):
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
        if json:
            say_json({"correlation": str(output), "people": len(pairs), "pairs": len(rows)})
        else:
            say(f"Wrote {output}: {len(rows)} pairs of values, from {len(pairs):,} records.")
