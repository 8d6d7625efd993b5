"""``discreet simulate-series``: why a series of releases needs a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, note, progress_bar, say, say_json


def simulate_series(
    records: Annotated[int, typer.Option(min=10, help="Records in the first release.")] = 1000,
    releases: Annotated[int, typer.Option(min=1, max=30, help="Number of releases.")] = 6,
    insertions: Annotated[float, typer.Option(min=0, max=1, help="Share of new records.")] = 0.1,
    deletions: Annotated[float, typer.Option(min=0, max=1, help="Share of deleted records.")] = 0.1,
    updates: Annotated[float, typer.Option(min=0, max=1, help="Share of changed values.")] = 0.1,
    rho: Annotated[
        float, typer.Option(min=0.05, max=0.95, help="Bound on the attacker's belief.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the synthetic population.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="SVG file to write: beliefs by release.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show what repeated releases of a population reveal.

    A synthetic population is published repeatedly, with and without a ledger.
    """
    with guarded(as_json=json, debug=debug):
        from discreet.api.simulate import SimulatedPopulation, simulate

        population = SimulatedPopulation(records, releases, insertions, deletions, updates)
        with progress_bar(quiet=quiet) as progress:
            made = simulate(population, rho=rho, seed=seed, progress=progress)
        if plot is not None:
            made.save_plot(plot)
            note(f"Wrote {plot}")
        if json:
            say_json(made.to_dict())
            return
        say(str(made))
        say()
        last = {step.method: step for step in made.steps if step.release == releases}
        for name, step in last.items():
            say(
                f"{name}: in the last release {step.published:,} records, {step.counterfeits:,} "
                f"counterfeits, {step.held_back:,} held back."
            )
        say(
            "Figures: greatest belief of an attacker who has all releases; in brackets the share "
            "of records with a belief above rho, and the share whose value the attacker guesses."
        )
