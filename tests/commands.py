"""A command of the command line, run in this process: a process of its own takes a second to start.

What ``main`` does around the application (streams, signals, the end of a process) is tested in
processes (``tests/cli/test_streams.py``, ``test_interrupts.py``, ``test_imports.py``).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from contextlib import chdir
from pathlib import Path
from typing import Any

import typer
from click.testing import CliRunner, Result

from discreet.cli.app import app

COMMANDS = typer.main.get_command(app)  # made once: Typer takes 30 ms to prepare all commands


def invoke(*words: str) -> Result:
    """Run ``discreet WORDS`` here, with whatever state the test has made."""
    return CliRunner().invoke(COMMANDS, list(words), prog_name="discreet")


def run_command(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``discreet ARGUMENTS`` in a folder; return its exit status and its output."""
    words, handler = [str(argument) for argument in arguments], signal.getsignal(signal.SIGTERM)
    try:
        with chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            done = invoke(*words)
    finally:
        signal.signal(signal.SIGTERM, handler)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def _show_warning(message: Warning | str, *_: Any) -> None:
    sys.stderr.write(f"{message}\n")
