"""``discreet studio`` as a process of its own, for tests and pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.report.browser import Browser
from tests.studio.tab import Tab

import discreet


def environment() -> dict[str, str]:
    """Return the environment of a command that uses the same discreet from any folder."""
    source = str(Path(discreet.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "TERM": "dumb", "COLUMNS": "200"}


@contextmanager
def studio(folder: Path, *given: str) -> Iterator[str]:
    """Start a server in a folder; yield its address, which can be used once."""
    command = [sys.executable, "-m", "discreet", "studio", "--no-browser", *given]
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert address, process.stderr and process.stderr.read()
        yield address.group()
    finally:
        process.terminate()
        process.communicate(timeout=20)


def signed_in(browser: Browser, address: str) -> str:
    """Use an address in a tab; return the address for further tabs of this browser."""
    tab = Tab.new(browser, address)
    tab.ready("table")
    tab.close()
    return address.partition("?")[0]
