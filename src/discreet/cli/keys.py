"""``discreet keys``: keys that sign releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, guarded, note, say, say_json

app = typer.Typer(
    help="Manage keys that sign releases.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def _keys() -> None:
    """Keys that sign releases."""


@app.command("new")
def new(
    path: Annotated[
        Path, typer.Argument(help="File for the private key; the public key is written to KEY.pub.")
    ],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Create a private key for publish --sign and a public key for audit --trust."""
    with guarded(as_json=json, debug=debug):
        from discreet.io.signatures import create_keys

        public = create_keys(path)
        if json:
            say_json({"key": str(path), "public_key": str(public)})
        else:
            say(f"Private key: {path}. Public key: {public}.")
        note("Keep the private key secret. Distribute the public key separately from the releases.")
