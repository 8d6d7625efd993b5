"""The one decorator under which every compiled kernel is made.

Compiling takes seconds and loading from the cache a fraction of one, so every kernel is cached;
every kernel gives up the interpreter's lock, so that threads may run several at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function on arrays, serially, with a cache on disk.

    Where Numba is told not to compile (``NUMBA_DISABLE_JIT=1``, to debug a kernel), NumPy's scalars
    would warn of every hash that wraps around.
    """
    if getattr(numba.config, "DISABLE_JIT", 0):

        @wraps(function)
        def interpreted(*arguments: object) -> object:
            with np.errstate(over="ignore"):
                return function(*arguments)

        return cast(Function, interpreted)
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
