"""Kernels: functions on arrays that are interpreted for little work and compiled for much."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.table.kernels.tiers import kernel as kernel


def __getattr__(name: str) -> Any:  # NumPy is loaded with the first kernel, not with ``listening``
    if name != "kernel":
        raise AttributeError(f"module 'discreet.table.kernels' has no attribute '{name}'")
    from discreet.table.kernels.tiers import kernel

    return kernel
