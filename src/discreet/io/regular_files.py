"""Files that are read whole: jobs, keys, tables of knowledge and of people."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import InputError


def require_regular(path: Path, what: str) -> None:
    """Raise if a path is not a regular file.

    Reading a pipe that no program writes to never ends. A path that does not exist passes: opening
    it reports that.
    """
    if path.is_dir():
        raise InputError(f"{what} {path}: is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{what} {path}: is a pipe or a device. Save it to a file first.")
