"""What a benchmark yields, and how whole processes are measured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the results."""

    section: str
    what: str
    rows: int
    seconds: float | None = None
    processor: float | None = None  # seconds of all processors together
    memory: float | None = None  # GB, the greatest resident size
    loss: float | None = None
    ratio: float | None = None
    ratio_to: str = ""
    bound: str = ""  # what the project asks for, such as "≤ 6"

    @property
    def met(self) -> bool | None:
        """Whether the ratio is within its bound; None where nothing is asked for."""
        if not self.bound or self.ratio is None:
            return None
        sign, number = self.bound.split()
        return self.ratio <= float(number) if sign == "≤" else self.ratio >= float(number)


@dataclass(frozen=True)
class Run:
    """A process that has ended well."""

    seconds: float
    processor: float  # seconds of all processors together
    memory: float  # GB
    output: str


class RunError(Exception):
    """A process that ended badly, or not in time."""


class OutOfTimeError(RunError):
    """A process that was stopped because it took too long."""


# The system lets a process begin with the greatest memory of the one that started it; so a small
# one starts it, waits, and reports the time and the memory on its last line.
STARTER = """
import os, sys, time
started = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(f"\\n{time.perf_counter() - started} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
sys.exit(min(os.waitstatus_to_exitcode(status) % 256, 255))
"""


def run(command: Sequence[str], timeout: float = 900) -> Run:
    """Run a process; its time and the greatest memory that it held."""
    started = [sys.executable, "-I", "-S", "-c", STARTER, *command]
    with subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise OutOfTimeError(f"not done after {timeout:.0f} s") from None
    if process.returncode:
        said = errors.strip().splitlines()
        raise RunError(said[-1] if said else f"ended with {process.returncode}")
    *lines, last = output.strip().splitlines()
    seconds, processor, kilobytes = last.split()
    return Run(float(seconds), float(processor), int(kilobytes) / 1e6, "\n".join(lines))
