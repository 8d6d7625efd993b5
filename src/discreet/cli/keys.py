"""``discreet keys``: keys that sign releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, guarded, note, say, say_json

app = typer.Typer(help="Keys that sign releases: new.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _keys() -> None:
    """Keys that sign releases."""


@app.command("new")
def new(
    path: Annotated[Path, typer.Argument(help="The private key's file; KEY.pub is beside it.")],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Make a key for publish --sign and its public key for audit --trust."""
    with guarded(as_json=json, debug=debug):
        from discreet.io.signatures import create_keys

        public = create_keys(path)
        if json:
            say_json({"key": str(path), "public_key": str(public)})
        else:
            say(f"Private key: {path}. Public key: {public}.")
        note("Keep the private key secret. Hand the public key on by another way than releases.")
