"""``discreet studio``: a page for this machine."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import Debug, guarded, note, say


def studio(
    data: Annotated[Path | None, typer.Argument(help="Table or job file to open.")] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any that is free.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open no browser.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Open a synthetic table.")] = False,
    upload_limit: Annotated[
        int, typer.Option("--upload-limit", min=1, help="Largest upload, in megabytes.")
    ] = 2048,
    idle: Annotated[
        float, typer.Option("--idle", min=0.01, help="Minutes without a page before it stops.")
    ] = 30,
    library: Annotated[
        Path | None,
        typer.Option("--library", help="Folder that keeps releases; default: of your account."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Publish a table from a page in the browser.

    The page is served to this machine alone, at an address that can be used once. Everything that
    it does is a job file, which 'discreet publish' runs again.
    """
    with guarded(debug=debug):
        from discreet.extras import require_extra

        for module in ("starlette", "uvicorn"):
            require_extra(module, "Pages of Studio", "studio")
        from discreet.addons.studio.server import StudioServer

        place = None if library is None else library.absolute()
        limit = upload_limit * 2**20
        server = StudioServer(port=port, upload_limit=limit, idle=idle * 60, library=place)
        with contextlib.closing(server):
            tables = server.session.tables
            if demo:
                server.session.opened = tables.open_demo()
            elif data is not None:
                server.session.opened = tables.open_path(data.absolute(), {})
            address = server.gate.address()
            say(f"Studio: {address}")
            sys.stdout.flush()
            note("The address can be used once. Press Enter for a new one; stop with Ctrl-C.")
            _attend(server.gate.address, None if no_browser else address)
            with contextlib.suppress(KeyboardInterrupt):
                server.run()
        note("Studio has stopped; uploads are removed, releases are kept.")


def _attend(new_address: Callable[[], str], address: str | None) -> None:
    """Open the browser, and print a new address whenever Enter is pressed."""
    import threading
    import webbrowser

    def renew() -> None:
        for _ in sys.stdin:
            say(f"Studio: {new_address()}")
            sys.stdout.flush()

    if address is not None:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=renew, daemon=True).start()
