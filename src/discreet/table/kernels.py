"""The one decorator under which every compiled kernel is made.

Compiling takes seconds and loading from the cache a fraction of one, so every kernel is cached;
every kernel gives up the interpreter's lock, so that threads may run several at once.

Numba discards a cached kernel when its own file changes. Compiled code also contains the kernels
that it calls, constants and the layout of named tuples, often from other files; ``KernelCache``
discards it when any of them changes.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from types import CodeType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

Function = TypeVar("Function", bound=Callable[..., object])

_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, np.generic)


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
    compiled: Any = numba.njit(nogil=True)(function)
    compiled._cache = KernelCache(function)  # type: ignore[no-untyped-call]
    return cast(Function, compiled)


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, whose index is void once something that the kernel uses changes.

    Numba compares the version before it reads the rest of an index, so an index that names a class
    that no longer exists is never read.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled code for a signature, or None."""
        self._cache_file._version = f"{numba.__version__} {_fingerprint(self._py_func)}"
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]


@cache
def _fingerprint(function: Callable[..., object]) -> str:
    """Hash the code of a kernel and of all that it uses, directly or through other kernels."""
    digest = hashlib.sha256()
    found: dict[Any, None] = {function: None}  # in order
    waiting: list[Any] = [function]
    while waiting:
        own, used = _described(waiting.pop())
        digest.update(own)
        further = [one for one in used if one not in found]
        found |= dict.fromkeys(further)
        waiting += further
    return digest.hexdigest()


@cache
def _described(used: Any) -> tuple[bytes, tuple[Any, ...]]:
    """Return the hash of one function or named tuple, and the kernels and named tuples it names."""
    names = set(re.findall(r"\w+", " ".join(map(str, used.__annotations__.values()))))
    said: list[object] = [used.__qualname__]
    if isinstance(used, type):
        said.append(used._fields)  # type: ignore[attr-defined]
        scope = vars(sys.modules[used.__module__])
    else:
        for code in _codes(used.__code__):
            names |= set(code.co_names)
            constants = [one for one in code.co_consts if not isinstance(one, CodeType)]
            said += [code.co_code, code.co_names, constants]
        scope = used.__globals__
    further = []
    for name in sorted(names):
        value = scope.get(name)
        if isinstance(value, Dispatcher):
            further.append(value.py_func)
        elif isinstance(value, type) and hasattr(value, "_fields"):
            further.append(value)
        elif isinstance(value, _CONSTANTS):
            said += [name, value]
        elif isinstance(value, np.ndarray):
            said += [name, value.dtype.str, value.shape, value.tobytes()]
    return hashlib.sha256(repr(said).encode()).digest(), tuple(further)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, then that of the functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
