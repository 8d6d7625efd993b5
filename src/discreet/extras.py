"""Packages that only some tasks need: each an extra, with one message where it is missing.

Refuse to work in a forked child of a process in which Polars' threads ran.

A fork copies one thread. Polars waits for the others for ever, without a message.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.errors import EngineError, InputError

_WORKER = re.compile(r"polars-\d")
_TASKS = Path("/proc/self/task")


def _workers_run() -> bool:
    """Return whether Polars' threads run in this process."""
    if "polars" not in sys.modules:
        return False
    try:
        names = [(task / "comm").read_bytes() for task in _TASKS.iterdir()]
    except OSError:
        return True  # a system that does not list threads
    return any(_WORKER.match(name.decode(errors="replace")) for name in names)


_threads_lost = False  # in this process
_workers_ran = False  # when the last fork began


def _note_before() -> None:
    global _workers_ran
    _workers_ran = _workers_run()


def _note_in_child() -> None:
    global _threads_lost
    _threads_lost = _threads_lost or _workers_ran


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_before, after_in_child=_note_in_child)


def require_unforked() -> None:
    """Raise in a forked child whose parent used Polars."""
    if _threads_lost:
        raise EngineError(
            "This process was forked from one that had used Polars, whose threads a fork does not "
            "copy. Start processes with multiprocessing.get_context('spawn'), or fork before the "
            "first use of Polars or discreet."
        )


PARQUET_RELEASES = "Releases in Parquet"
PANDAS_FRAMES = "Frames of pandas"


def require_extra(module: str, need: str, extra: str, package: str = "") -> Any:
    """Return a module, or raise with the command that installs it for ``need``.

    ``package`` is the name to install, where it differs from the module's.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages, on their own imports
            return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0].replace("_", "-")
        raise InputError(
            f"{need} need the package {package}. Install it: pip install 'discreet[{extra}]'."
        ) from None


def require_pyarrow(need: str = PARQUET_RELEASES) -> Any:
    """Return pyarrow with its Parquet module, or raise with the extra to install for ``need``."""
    extra = "pandas" if need == PANDAS_FRAMES else "parquet"
    require_extra("pyarrow.parquet", need, extra)
    return require_extra("pyarrow", need, extra)
