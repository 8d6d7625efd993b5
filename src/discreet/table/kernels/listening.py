"""Listeners to compilation, apart so that the command line can listen without importing NumPy."""

from __future__ import annotations

from collections.abc import Callable


class NoCompilerWarning(UserWarning):
    """Numba is not installed, and would have saved much time."""


listeners: list[Callable[[int, float], None]] = []  # called with compiled kernels and seconds
