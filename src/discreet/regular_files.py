"""The one way to open a file that a job, a command or an upload names.

Such a file is a regular one: a pipe without a writer never ends, nor does a device such as
``/dev/zero``. A file that is read whole has at most ``MOST_BYTES``. What a compressed file unpacks
to is unlimited on the command line, where tables may be huge, and limited wherever
``unpacking_at_most`` is in force: in Studio, and for tables that are small by nature.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from discreet.errors import InputError

MOST_BYTES = 256 * 2**20  # of a file that is read whole: a job, a key, a hierarchy, a manifest
MOST_PRIVATE_BYTES = 4 * 2**30  # of a private record, which numbers the rows of its release

_PIECE = 1 << 20  # bytes
_unpacked: ContextVar[int | None] = ContextVar("unpacked", default=None)


def path_of(given: object, what: str) -> Path:
    """Return a path that Python code gives; raise InputError for anything else, such as None."""
    if isinstance(given, str | Path):
        return Path(given)
    raise InputError(
        f"{what} is of the type {type(given).__name__}. Give its path as text or as a Path."
    )


def open_regular(path: str | Path, what: str = "") -> io.BufferedReader:
    """Open a regular file to read its bytes; raise InputError for anything else.

    A pipe is not waited for. Failures of the system, such as a missing file, are OSErrors.
    """
    name = f"{what} {path}".strip()
    try:
        # The descriptor is checked, not the path, which may change in between.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
    except ValueError:
        raise InputError(f"{name}: not a path. Check it.") from None
    except OSError:
        _require_regular(Path(path), name)  # a socket, or a folder where these cannot be opened
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{name}: is a folder. Name a file in it.")
        if not stat.S_ISREG(mode):
            raise InputError(f"{name}: is a pipe or a device. Save it to a file first.")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _require_regular(path: Path, name: str) -> None:
    if path.is_dir():
        raise InputError(f"{name}: is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{name}: is a pipe or a device. Save it to a file first.")


def read_whole(path: str | Path, what: str = "", most: int = MOST_BYTES) -> bytes:
    """Return all bytes of a regular file that has at most so many."""
    with open_regular(path, what) as file:
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else None
    if data is None or len(data) > most:
        name = f"{what} {path}".strip()
        raise InputError(
            f"{name}: larger than {most:,} bytes, the most that is read. Check that it is the "
            "right file."
        )
    return data


def read_text(
    path: str | Path, what: str = "", *, encoding: str = "utf-8-sig", most: int = MOST_BYTES
) -> str:
    """Return the text of a regular file, its line ends as they are."""
    return read_whole(path, what, most).decode(encoding)


def named_text(path: str | Path, what: str) -> str:
    """Return the text of a file that a user names; raise InputError where it cannot be read."""
    try:
        return read_text(path, what)
    except OSError as error:
        raise InputError(f"{what} {path}: {error.strerror}. Check the path.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} {path}: not UTF-8 at byte {error.start}. Save it as UTF-8."
        ) from None


@contextmanager
def unpacking_at_most(limit: int | None) -> Iterator[None]:
    """Limit what each compressed file unpacks to, in bytes; None leaves it unlimited."""
    token = _unpacked.set(limit)
    try:
        yield
    finally:
        _unpacked.reset(token)


class Unpacking(io.RawIOBase):
    """A stream of unpacked bytes that ends in an error beyond the limit that is in force."""

    def __init__(self, stream: io.BufferedIOBase | io.RawIOBase, path: Path) -> None:
        self._stream, self._path = stream, path
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        count = self._stream.readinto(buffer) or 0  # type: ignore[arg-type]
        self._read += count
        require_unpacked_size(self._path, self._read)
        return count


def require_unpacked_size(path: Path, size: int) -> None:
    """Raise if a file unpacks to more bytes than the limit that is in force."""
    limit = _unpacked.get()
    if limit is not None and size > limit:
        raise InputError(
            f"{path}: compressed, and unpacks to more than {limit:,} bytes. Unpack it, and name "
            "the unpacked file by its path."
        )


def require_unpacked_archive(path: Path) -> None:
    """Raise if the members of a zip file, which a spreadsheet is, unpack to more than the limit."""
    limit = _unpacked.get()
    if limit is None:
        return
    with open_regular(path) as file:
        if not zipfile.is_zipfile(file):
            return
        with zipfile.ZipFile(file) as archive:
            size = 0
            for member in archive.infolist():
                # Sizes in the archive may be wrong: each member is unpacked to its end.
                member.file_size = limit + 1
                member.CRC = None  # type: ignore[assignment]  # of the stated size
                with archive.open(member) as unpacked:
                    while count := len(unpacked.read(_PIECE)):
                        size += count
                        require_unpacked_size(path, size)


def require_unpacked_stream(path: Path) -> None:
    """Raise for an Arrow stream wherever a limit is in force: nothing in it says its size."""
    if _unpacked.get() is not None:
        raise InputError(
            f"{path}: an Arrow stream, whose unpacked size is unknown. Save it as an Arrow file, "
            "as Parquet or as CSV."
        )


def require_unpacked_cells(path: Path, rows: int, columns: int) -> None:
    """Raise if a columnar file has more cells than the limit allows, four bytes a cell.

    A column of one value takes a few bytes, whatever its number of rows.
    """
    require_unpacked_size(path, 4 * rows * columns)
