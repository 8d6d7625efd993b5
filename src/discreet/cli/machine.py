"""``discreet keys`` and ``discreet warm-up``: what a machine has beside tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import CommandOutput, note, say, shared


@shared("quiet", example="discreet warm-up --method mondrian")
def warm_up(
    out: CommandOutput,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="Method to prepare; may be repeated. Default: all."),
    ] = None,
) -> None:
    """Compile all kernels once, so that later commands are fast."""
    from discreet.api.warm_up import warm_up as compile_kernels

    with out.progress() as progress:
        compiled = compile_kernels(method or (), progress=progress)
    say(f"Compiled {compiled} kernels. Later commands load them from the cache.")


keys = typer.Typer(
    help="Manage keys that sign releases.", no_args_is_help=True, rich_markup_mode=None
)


@keys.callback()
def _keys() -> None:
    """Keys that sign releases."""


@keys.command("new")
@shared("json", example="discreet keys new release.key")
def new(
    out: CommandOutput,
    path: Annotated[
        Path, typer.Argument(help="File for the private key; the public key is written to KEY.pub.")
    ],
) -> None:
    """Create a private key for publish --sign and a public key for audit --trust."""
    from discreet.io.signatures import create_keys

    public = create_keys(path)
    data = {"key": str(path), "public_key": str(public)}
    out.result(data, f"Private key: {path}. Public key: {public}.")
    note("Keep the private key secret. Distribute the public key separately from the releases.")
