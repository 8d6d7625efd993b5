"""The private folder of a server: uploads and results, for its owner alone, removed at the end.

A server that was killed cannot remove its folder; the next one does, which it knows by the lock
that a living server holds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

PREFIX = "discreet-studio-"
LOCK = ".lock"


class PrivateFolder:
    """A new folder that only its owner may enter."""

    def __init__(self) -> None:
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))  # 0700
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        _locked(self._lock)

    def new(self, name: str) -> Path:
        """Make a folder in it."""
        place = self.path / name
        place.mkdir(mode=0o700)
        return place

    def close(self) -> None:
        """Remove it with all that it has."""
        with contextlib.suppress(OSError):
            os.close(self._lock)
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_abandoned() -> None:
    """Remove the folders of this user's servers that were killed."""
    if sys.platform == "win32":
        return
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if place.is_symlink() or place.stat().st_uid != os.getuid():
                continue
            lock = os.open(place / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if _locked(lock):
                shutil.rmtree(place, ignore_errors=True)
        finally:
            os.close(lock)


def _locked(file: int) -> bool:
    """Lock a file unless a living process has it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
