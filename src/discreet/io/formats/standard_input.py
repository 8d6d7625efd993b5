"""The table on standard input, for ``-`` in place of a path.

Reading takes several passes, and a pipe has one, so its bytes are put into a temporary file that
only its owner may read and that ends with the process.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from discreet.errors import InputError

DASH = Path("-")
NAME = "standard-input"
_saved: list[Path] = []


@atexit.register
def remove_saved_input() -> None:
    """Remove the file with standard input, where there is one; for an end without ``atexit``."""
    for path in _saved:
        shutil.rmtree(path.parent, ignore_errors=True)


@cache
def saved_standard_input() -> Path:
    """Return a file with the bytes of standard input, which is read once in a process."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("'-' reads standard input, which is a terminal. Pipe a table into it.")
    path = Path(tempfile.mkdtemp(prefix="discreet-")) / NAME
    _saved.append(path)
    with path.open("xb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path
