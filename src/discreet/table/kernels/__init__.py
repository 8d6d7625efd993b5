"""Kernels: functions on arrays that are interpreted for little work and compiled for much.

The command line listens to compilation without importing NumPy, which comes with the first kernel.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.table.kernels.tiers import kernel as kernel


class NoCompilerWarning(UserWarning):
    """Numba is not installed, and would have saved much time."""


listeners: list[Callable[[int, float], None]] = []  # called with compiled kernels and seconds


def __getattr__(name: str) -> Any:
    if name != "kernel":
        raise AttributeError(f"module 'discreet.table.kernels' has no attribute '{name}'")
    from discreet.table.kernels.tiers import kernel

    return kernel
