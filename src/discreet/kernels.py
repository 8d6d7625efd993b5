"""The one decorator under which every compiled kernel is made.

Compiling takes seconds and loading from the cache a fraction of one, so every kernel is cached;
every kernel gives up the interpreter's lock, so that threads may run several at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function on arrays, serially, with a cache on disk."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
