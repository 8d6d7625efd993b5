"""The command line: one file a command group."""

from discreet.cli.app import main

__all__ = ["main"]
