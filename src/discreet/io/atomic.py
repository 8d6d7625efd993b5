"""A release folder appears whole or not at all.

It is written beside its place, under a hidden name of its own, in a folder that only its owner may
enter, and renamed at the end. The run that writes a hidden folder or file holds a lock on it. One
without a lock is the remainder of a killed run, and the next run beside it removes it, if its name
says that it was written on this machine: on a shared disk, locks of other machines may be
invisible.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType

from discreet.errors import EXISTS, ReleaseError
from discreet.regular_files import open_regular, read_whole

MANIFEST = "manifest.json"
FOREIGN = (".DS_Store", "Thumbs.db", "desktop.ini")  # files that file managers put into folders
Moving = Callable[[Path], AbstractContextManager[None]]
TERMINATED = 128 + signal.SIGTERM
_HIDDEN = re.compile(
    r"\.(?P<name>.+)\.partial-(?P<machine>[0-9a-f]{12})-[0-9a-f]{16}", re.DOTALL
)  # as _hidden_name writes it


@contextmanager
def release_place(path: Path, force: bool = False, moving: Moving | None = None) -> Iterator[Path]:
    """Yield a folder to write into, which takes its name when the block ends without an error.

    ``moving`` makes, from the written folder, a context in which it takes its name: the work
    immediately before and after the renaming.
    """
    path = path.absolute()
    require_free(path, force)
    with _hidden_folder(path) as (partial, mode):
        yield partial
        # Whole on the disk, in a place that is still free, and then under its name.
        _sync_tree(partial)
        require_free(path, force)
        with moving(partial) if moving else nullcontext():
            partial.chmod(mode)
            _put_in_place(partial, path)


@contextmanager
def hidden_folder(path: Path) -> Iterator[Path]:
    """Make a folder beside a release's place, for its owner alone, removed when the block ends.

    The next run beside it removes the folder of a killed run.
    """
    with _hidden_folder(path.absolute()) as (folder, _):
        yield folder


@contextmanager
def _hidden_folder(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a hidden folder, and the mode that it has once it takes its place.

    Unless it has taken another name, it is removed when the block ends. Until the audit has passed,
    only its owner may enter it.
    """
    modes = []

    def make(folder: Path) -> None:
        folder.mkdir()
        modes.append(stat.S_IMODE(folder.stat().st_mode))  # as the umask has it
        folder.chmod(0o700)

    def remove(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    with _termination_raises(), _reporting(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(path)
        with _hidden(path, make, remove) as folder:
            yield folder, modes[-1]


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file beside a release that only its owner may read, whole or not at all."""
    path = path.absolute()
    with (
        _reporting(path, "The release itself is complete; only this private file is missing."),
        hidden_file(path) as partial,
    ):
        with partial.open("wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
        _sync(path.parent)


@contextmanager
def hidden_file(path: Path) -> Iterator[Path]:
    """Make an empty file beside a place, for its owner alone; whatever is left of it is removed."""

    def make(file: Path) -> None:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    with _hidden(path, make, lambda file: file.unlink(missing_ok=True)) as partial:
        yield partial


@contextmanager
def _hidden(
    path: Path, make: Callable[[Path], None], remove: Callable[[Path], None]
) -> Iterator[Path]:
    """Yield a hidden file or folder beside a place, which this run has locked."""
    begun: list[Path] = []  # known before it exists: an interruption at any instant removes it
    lock = None
    try:
        while True:
            partial = _hidden_name(path)
            begun.append(partial)
            make(partial)
            lock = _lock(partial)
            if _is_held(partial, lock):
                break
            _unlock(lock)
        yield partial
    finally:
        for hidden in begun:
            remove(hidden)
        _unlock(lock)


def hash_of_folder(folder: Path) -> str:
    """Hash the names and bytes of all files in a folder except those of file managers."""
    together = hashlib.sha256()
    for file in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
        if file.name in FOREIGN:
            continue
        with open_regular(file) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        together.update(f"{file.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return together.hexdigest()


def require_free(path: Path, force: bool) -> None:
    """Raise if a release cannot take this place."""
    restored = not os.path.lexists(path) and clear_abandoned(path)
    if not os.path.lexists(path):
        return
    if not force:
        reason = " (an interrupted run had moved it aside; it was put back)" if restored else ""
        raise ReleaseError(
            f"{path} already exists{reason}. Use --force to replace it, or choose "
            "another `output:`."
        ).with_code(EXISTS)
    if path.is_symlink() or not path.is_dir():
        raise ReleaseError(f"{path}: is not a folder, so --force does not replace it. Remove it.")
    if any(path.iterdir()) and not (path / MANIFEST).is_file():
        raise ReleaseError(
            f"{path}: contains files but no {MANIFEST}, so it is not a release and --force does "
            "not replace it. Remove it or choose another `output:`."
        )
    _require_unrecorded(path)


def _require_unrecorded(path: Path) -> None:
    """Raise if a ledger records the release in a place; its manifest says so.

    Releases of earlier versions say it in their private record alone, by the people held back.
    """
    manifest = _read_object(path / MANIFEST)
    if manifest is None and (path / MANIFEST).exists():
        raise ReleaseError(
            f"{path}: its {MANIFEST} cannot be read, so it may be recorded in a ledger, and --force"
            " does not replace it. Remove it or choose another `output:`."
        )
    private = _read_object(path.with_name(f"{path.name}.private.json")) or {}
    if (manifest or {}).get("recorded") or "held_back" in private:
        raise ReleaseError(
            f"{path}: a ledger records this release, so --force does not replace it. A published "
            "release cannot be withdrawn. Choose another `output:`."
        )


def _read_object(path: Path) -> dict[str, object] | None:
    try:
        content = json.loads(read_whole(path)) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _put_in_place(partial: Path, path: Path) -> None:
    """Rename the new folder to its place; an old one is removed only after that."""
    replaced = path.with_name(f".{path.name}.replaced-{secrets.token_hex(8)}")
    lock = None
    if path.exists():
        lock = _lock(path)
        path.rename(replaced)
    try:
        partial.rename(path)
    except BaseException:
        if replaced.exists():
            replaced.rename(path)
        raise
    finally:
        _unlock(lock)
    _sync(path.parent)
    shutil.rmtree(replaced, ignore_errors=True)
    if replaced.exists():
        warnings.warn(
            f"{replaced}: the replaced release could not be removed. Remove it manually.",
            stacklevel=2,
        )


def _hidden_name(path: Path) -> Path:
    """Return a new hidden name beside a place, which says on which machine it is written."""
    return path.with_name(f".{path.name}.partial-{_machine()}-{secrets.token_hex(8)}")


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]


def _is_held(hidden: Path, lock: int | None) -> bool:
    """Whether a lock came in time: another run may have cleared away what was not locked yet."""
    return sys.platform == "win32" or (lock is not None and hidden.exists())


def clear_abandoned(path: Path) -> bool:
    """Remove what killed runs left beside a place, whatever the names of their releases.

    An old release that such a run had moved away from this place comes back; returns whether.
    """
    restored = False
    if sys.platform == "win32" or not path.parent.is_dir():
        return restored  # without locks a live run looks like a killed one
    for entry in list(path.parent.iterdir()):
        replaced = entry.name.startswith(f".{path.name}.replaced-") and entry.is_dir()
        regular = not entry.is_symlink() and (entry.is_dir() or entry.is_file())
        if not regular or not (replaced or _abandonable(entry, path)):
            continue
        lock = _lock(entry)
        if lock is None:
            continue
        if replaced and not os.path.lexists(path):
            entry.rename(path)
            restored = True
        elif entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.unlink(missing_ok=True)
        _unlock(lock)
    return restored


def _abandonable(entry: Path, path: Path) -> bool:
    """Whether a hidden name is one that a run on this machine gave.

    Earlier versions gave names without a machine: these are cleared beside their own place alone.
    """
    named = _HIDDEN.fullmatch(entry.name)
    if named is not None:
        return named["machine"] == _machine()
    return entry.name.startswith(f".{path.name}.partial-") and entry.is_dir()


def _lock(place: Path) -> int | None:
    """Lock a folder or file until this process ends or unlocks it; None if another holds it."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(place, os.O_RDONLY if place.is_dir() else os.O_RDWR)
    except (FileNotFoundError, PermissionError):  # it is gone, or another user's
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _sync(path: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_tree(folder: Path) -> None:
    for entry in folder.rglob("*"):
        _sync(entry)
    _sync(folder)


@contextmanager
def _reporting(path: Path, left: str = "Nothing was left there.") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReleaseError(
            f"{path}: cannot be written ({error.strerror or error}). {left} Make room, or choose "
            "another place."
        ) from error


@contextmanager
def _termination_raises() -> Iterator[None]:
    """Raise on a request to terminate, so that unfinished folders are removed."""
    usual = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.SIG_DFL:
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
