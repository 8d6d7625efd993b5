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


@cache
def saved_standard_input() -> Path:
    """Return a file with the bytes of standard input, which is read once in a process."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("'-' reads standard input, which is a terminal. Pipe a table into it.")
    folder = Path(tempfile.mkdtemp(prefix="discreet-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / NAME
    with path.open("xb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path
