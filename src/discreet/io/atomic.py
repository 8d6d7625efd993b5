"""A release folder appears whole or not at all.

It is written beside its place, under a hidden name of its own, in a folder that only its owner may
enter, and renamed at the end. The run that writes a hidden folder holds a lock on it; a hidden
folder without a lock is the remainder of a killed run; the next run to the same place removes it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import FrameType

from discreet.errors import ReleaseError

MANIFEST = "manifest.json"
FOREIGN = (".DS_Store", "Thumbs.db", "desktop.ini")  # files that file managers put into folders
Moving = Callable[[Path], AbstractContextManager[None]]
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def release_place(path: Path, force: bool = False, moving: Moving | None = None) -> Iterator[Path]:
    """Yield a folder to write into, which takes its name when the block ends without an error.

    ``moving`` makes, from the written folder, a context in which it takes its name: the work
    immediately before and after the renaming.
    """
    path = path.absolute()
    require_free(path, force)
    with _termination_raises(), _reporting(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(path)
        begun: list[Path] = []
        lock = None
        try:
            partial, lock, mode = _make_partial(path, begun)
            yield partial
            _sync_tree(partial)
            require_free(path, force)
            with moving(partial) if moving else nullcontext():
                partial.chmod(mode)
                _put_in_place(partial, path)
        except BaseException:
            for folder in begun:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            _unlock(lock)


@contextmanager
def hidden_folder(path: Path) -> Iterator[Path]:
    """Make a folder beside a release's place, for its owner alone, removed when the block ends.

    The next run to the same place removes the folder of a killed run.
    """
    path = path.absolute()
    with _termination_raises(), _reporting(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        begun: list[Path] = []
        lock = None
        try:
            folder, lock, _ = _make_partial(path, begun)
            yield folder
        finally:
            for one in begun:
                shutil.rmtree(one, ignore_errors=True)
            _unlock(lock)


def write_private(path: Path, text: str) -> None:
    """Write a file beside a release that only its owner may read, whole or not at all."""
    path = path.absolute()
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    with _reporting(path, "The release itself is complete; only this private file is missing."):
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(path)
            _sync(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def hash_of_folder(folder: Path) -> str:
    """Hash the names and bytes of all files in a folder except those of file managers."""
    together = hashlib.sha256()
    for file in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
        if file.name in FOREIGN:
            continue
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        together.update(f"{file.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return together.hexdigest()


def require_free(path: Path, force: bool) -> None:
    """Raise if a release cannot take this place."""
    restored = not os.path.lexists(path) and _clear_abandoned(path)
    if not os.path.lexists(path):
        return
    if not force:
        reason = " (an interrupted run had moved it aside; it was put back)" if restored else ""
        raise ReleaseError(
            f"{path} already exists{reason}. Use --force to replace it, or choose "
            "another `output:`."
        )
    if path.is_symlink() or not path.is_dir():
        raise ReleaseError(f"{path}: is not a folder, so --force does not replace it. Remove it.")
    if any(path.iterdir()) and not (path / MANIFEST).is_file():
        raise ReleaseError(
            f"{path}: contains files but no {MANIFEST}, so it is not a release and --force does "
            "not replace it. Remove it or choose another `output:`."
        )


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


def _make_partial(path: Path, begun: list[Path]) -> tuple[Path, int | None, int]:
    """Return a new hidden folder, its lock, and the mode that it has once it takes its place.

    ``begun`` receives the folder's name before the folder exists, so that an interruption at any
    instant can remove it. Until the audit has passed, only its owner may enter it.
    """
    while True:
        partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
        begun.append(partial)
        partial.mkdir()
        mode = stat.S_IMODE(partial.stat().st_mode)  # as the umask has it
        partial.chmod(0o700)
        lock = _lock(partial)
        # Another run may have found the folder before it was locked, and cleared it away.
        if sys.platform == "win32" or (lock is not None and partial.exists()):
            return partial, lock, mode
        _unlock(lock)


def _clear_abandoned(path: Path) -> bool:
    """Remove the folders of killed runs; restore an old release that such a run had moved away.

    Returns whether a release was restored.
    """
    restored = False
    if sys.platform == "win32" or not path.parent.is_dir():
        return restored  # without locks a live run looks like a killed one
    hidden = [entry for entry in path.parent.iterdir() if entry.name.startswith(f".{path.name}.")]
    for entry in hidden:
        kind = entry.name.removeprefix(f".{path.name}.").partition("-")[0]
        if kind not in ("partial", "replaced") or not entry.is_dir() or entry.is_symlink():
            continue
        lock = _lock(entry)
        if lock is None:
            continue
        if kind == "replaced" and not os.path.lexists(path):
            entry.rename(path)
            restored = True
        else:
            shutil.rmtree(entry, ignore_errors=True)
        _unlock(lock)
    return restored


def _lock(folder: Path) -> int | None:
    """Lock a folder until this process ends or unlocks it; None if another holds it."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
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
