"""Refuse to work in a forked child of a process in which Polars' threads ran.

A fork copies one thread. Polars waits for the others for ever, without a message.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from discreet.errors import EngineError

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
