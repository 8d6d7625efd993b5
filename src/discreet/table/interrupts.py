"""Long work that Ctrl-C and time budgets can end.

A compiled kernel does not return to the interpreter before it is done, so a signal that arrives
meanwhile waits for it. ``interruptible`` therefore runs work in a thread of its own while the main
thread waits for signals. Kernels that may run for minutes also read a flag, which an interrupt or
the end of a time budget sets: in a notebook the thread then ends too. A command ends the process
instead, since no other way ends a running kernel.
"""

from __future__ import annotations

import contextvars
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from discreet.typing import StopFlag

Result = TypeVar("Result")
Progress = Callable[[str, float], None]  # what is done, and the share of it

POLL = 0.1  # seconds between two checks for a signal

_flags: dict[int, StopFlag] = {}  # of all work that runs now
_abandoned: list[threading.Thread] = []


class OutOfTimeError(Exception):
    """Work took longer than it may."""


class TimeBudget:
    """Time by the clock, shared out: what a part leaves is for the parts after it."""

    def __init__(self, seconds: float | None = None) -> None:
        self._ends = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Return the seconds that are left; infinite without a limit."""
        return self._ends - time.monotonic()

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return math.isfinite(self._ends)

    @property
    def spent(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0

    def part(self, parts: int, reserved: float = 0.0) -> TimeBudget:
        """Return an equal share of the time for the next of some parts; a share may be reserved."""
        return TimeBudget(self.left * (1 - reserved) / max(parts, 1)) if self.limited else self


def interruptible(work: Callable[[], Result], seconds: float | None = None) -> Result:
    """Run work so that Ctrl-C ends the call at once, even during a kernel.

    Raise ``OutOfTimeError`` after some seconds; outside the main thread the work itself must end.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    future: Future[Result] = Future()
    context = contextvars.copy_context()  # limits and languages that are in force

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=run, name="discreet", daemon=True)
    ends = math.inf if seconds is None else time.monotonic() + seconds
    thread.start()
    try:
        while not future.done():  # Polars' signal handler does not end an unlimited wait
            wait([future], min(POLL, max(ends - time.monotonic(), 0.001)))
            if time.monotonic() > ends and not future.done():
                raise OutOfTimeError
    except (KeyboardInterrupt, OutOfTimeError):
        for flag in list(_flags.values()):
            flag[0] = 1
        _abandoned.append(thread)
        raise
    return future.result()


def within(seconds: float, work: Callable[[Progress], Result], progress: Progress) -> Result:
    """Run work that reports its progress; raise ``OutOfTimeError`` after some seconds.

    Outside the main thread, work is ended where it reports.
    """
    ends = time.monotonic() + seconds

    def tell(phase: str, share: float) -> None:
        if time.monotonic() > ends:
            raise OutOfTimeError
        progress(phase, share)

    limit = None if math.isinf(seconds) else max(seconds, 0.001)
    return interruptible(lambda: work(tell), limit)


@contextmanager
def timing(timings: dict[str, float], step: str) -> Iterator[None]:
    """Add up the seconds that a step takes, by the clock."""
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[step] = round(timings.get(step, 0.0) + time.perf_counter() - started, 3)


def left_running() -> bool:
    """Return whether interrupted work still runs: the process would wait for it at its end."""
    return any(thread.is_alive() for thread in _abandoned)


@contextmanager
def stop_flag(seconds: float | None = None) -> Iterator[StopFlag]:
    """Yield a flag that is set by an interrupt, or after some seconds."""
    flag: StopFlag = np.zeros(1, np.uint8)
    _flags[id(flag)] = flag
    timer = None
    if seconds is not None:
        timer = threading.Timer(seconds, flag.fill, (1,))
        timer.daemon = True
        timer.start()
    try:
        yield flag
    finally:
        del _flags[id(flag)]
        if timer is not None:
            timer.cancel()
