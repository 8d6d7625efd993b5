"""``discreet warm-up``: the kernels of this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.console import Debug, Quiet, guarded, progress_bar, say


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
