"""The command line: one file a command group."""

from __future__ import annotations

import gc
from typing import NoReturn

ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000  # importing makes little garbage; every 700 is slow


def main() -> NoReturn:
    """Run the command line."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    from discreet.cli.app import main as run

    run()
