"""``discreet keys`` and ``discreet warm-up``: what a machine has beside tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, Json, Quiet, guarded, note, progress_bar, say, say_json


def warm_up(
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="Method to prepare; may be repeated. Default: all."),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile all kernels once, so that later commands are fast."""
    with guarded(debug=debug):
        from discreet.api.warm_up import warm_up as compile_kernels

        with progress_bar(quiet=quiet) as progress:
            compiled = compile_kernels(method or (), progress=progress)
        say(f"Compiled {compiled} kernels. Later commands load them from the cache.")


keys = typer.Typer(
    help="Manage keys that sign releases.", no_args_is_help=True, rich_markup_mode=None
)


@keys.callback()
def _keys() -> None:
    """Keys that sign releases."""


@keys.command("new")
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
