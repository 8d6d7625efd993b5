"""Numba's side of kernels: the only module that imports it.

Numba discards a cached kernel when its own file changes. Compiled code also contains the kernels
that it calls, constants and the layout of named tuples, often from other files; ``KernelCache``
discards it when any of them changes, by a hash of everything that the compiled code of a kernel
depends on (``fingerprint``). Where no folder for the cache can be written, kernels are compiled in
each process anew. A folder that ``NUMBA_CACHE_DIR`` names may be read-only once it is filled, as in
an image of a container.

Before it loads compiled code, Numba prepares to compile: it imports its implementations of Python
and NumPy, and SciPy, for 0.3 s. Code needs none of them but the addresses of C functions that it
calls. ``numba.core`` gives LLVM these when it is imported, ``rtsys`` those of memory and
``numba.cpython.hashing`` the secrets of hashes; no other module does but that of parallel code,
which no kernel is. That was looked up in the versions up to ``LOADED_ALONE``. A later version
prepares as Numba does.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba.core import event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys
from numba.extending import typeof_impl

from discreet.table.kernels import listeners
from discreet.table.kernels.tiers import Kernel

_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, np.generic)


@cache
def fingerprint(function: Callable[..., object]) -> str:
    """Hash the code of a kernel and of all that it uses, directly or through other kernels."""
    digest = hashlib.sha256()
    reached: dict[Any, None] = {function: None}  # in order
    waiting: list[Any] = [function]
    while waiting:
        description, used = _described(waiting.pop())
        digest.update(description)
        further = [name for name in used if name not in reached]
        reached |= dict.fromkeys(further)
        waiting += further
    return digest.hexdigest()


@cache
def _described(used: Any) -> tuple[bytes, tuple[Any, ...]]:
    """Return the hash of one function or named tuple, and the kernels and named tuples it names."""
    names = set(re.findall(r"\w+", " ".join(map(str, used.__annotations__.values()))))
    parts: list[object] = [used.__module__, used.__qualname__]  # code names modules it calls
    if isinstance(used, type):
        parts.append(used._fields)  # type: ignore[attr-defined]
        scope = vars(sys.modules[used.__module__])
    else:
        for code in _codes(used.__code__):
            names |= set(code.co_names)
            constants = [
                constant for constant in code.co_consts if not isinstance(constant, CodeType)
            ]
            parts += [code.co_code, code.co_names, constants]
        scope = used.__globals__
    further = []
    for name in sorted(names):
        value = scope.get(name)
        if isinstance(value, Kernel):
            further.append(value.function)
        elif isinstance(value, type) and hasattr(value, "_fields"):
            further.append(value)
        elif isinstance(value, _CONSTANTS):
            parts += [name, value]
        elif isinstance(value, np.ndarray):
            parts += [name, value.dtype.str, value.shape, value.tobytes()]
    return hashlib.sha256(repr(parts).encode()).digest(), tuple(further)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, then that of the functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


LOADED_ALONE = (0, 68)  # the last version of Numba of which compiled code is known to need no more


def dispatcher(function: Callable[..., object], *, inner: bool = False) -> Any:
    """Make Numba's dispatcher of a kernel, serial, without the interpreter's lock.

    The code of a kernel that others call (``inner``) becomes part of theirs: it is not cached on
    its own and cannot be called from Python, which saves a third of the time to compile it. Numba
    would compile it once more for every constant that it is called with.
    """
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}  # no C code calls a kernel
    if inner:
        options["no_cpython_wrapper"] = True
        called: Any = numba.njit(**options)(function)
        of_types = called.get_call_template
        called.get_call_template = lambda args, kws: of_types(tuple(map(_general, args)), kws)
        return called
    compiled: Any = numba.njit(**options)(function)
    compiled._cache = _cache_of(function)
    return compiled


def _general(literal: Any) -> Any:
    """The type of a constant without its value."""
    return types.unliteral(literal)  # type: ignore[no-untyped-call]


def in_cache(function: Callable[..., object]) -> bool:
    """Return whether the cache has compiled code of a kernel for some types of arguments."""
    cache = _cache_of(function)
    return isinstance(cache, KernelCache) and cache.filled


_NamedFolder: Any = CompileResultCacheImpl._locator_classes[0]  # by NUMBA_CACHE_DIR


class _ReadableFolder(_NamedFolder):  # type: ignore[misc]
    """A named folder; one that exists need not be writable."""

    def ensure_cache_path(self) -> None:
        if not Path(self.get_cache_path()).is_dir():
            super().ensure_cache_path()


class _KernelFiles(CompileResultCacheImpl):
    _locator_classes = [_ReadableFolder, *CompileResultCacheImpl._locator_classes[1:]]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, whose index is void once something that the kernel uses changes.

    Numba compares the version before it reads the rest of an index, so an index that names a class
    that no longer exists is never read. Two processes may write at once: files of code have the
    version in their name, and code for other types than asked for is not used.
    """

    _impl_class = _KernelFiles

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file = self._cache_file
        file._version = f"{numba.__version__} {fingerprint(function)}"
        stamp = repr((file._version, file._source_stamp))
        version = hashlib.sha256(stamp.encode()).hexdigest()[:12]
        file._data_name_pattern = f"{self._impl.filename_base}.{version}.{{number:d}}.nbc"

    @property
    def filled(self) -> bool:
        """Whether there is code for some types."""
        try:
            return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]
        except (OSError, EOFError, pickle.UnpicklingError):
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled code for a signature, or None."""
        try:
            overload = self._loaded(sig, target_context)
        except (OSError, EOFError, pickle.UnpicklingError):  # unreadable, or cut off
            return None
        return overload if overload is not None and overload.signature.args == tuple(sig) else None

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        if _numba_version() > LOADED_ALONE:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        import_module("numba.cpython.hashing")
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, unless the folder is full or cannot be written any more."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except (OSError, EOFError, pickle.UnpicklingError):
            self.disable()  # type: ignore[no-untyped-call]


def _numba_version() -> tuple[int, int]:
    major, minor, *_ = numba.__version__.split(".")
    return int(major), int(minor)


def _cache_of(function: Callable[..., object]) -> FunctionCache | NullCache:
    try:
        return KernelCache(function)
    except (RuntimeError, OSError):  # no folder can be written
        return NullCache()


@typeof_impl.register(Kernel)
def _type_of_kernel(value: Kernel, context: object) -> Any:
    """Let compiled kernels call kernels."""
    return types.Dispatcher(value.inner)


class _Compilation(event.Listener):
    """Listener that reports the number of compiled kernels and their time."""

    def __init__(self) -> None:
        self.count, self.depth, self.seconds, self.started = 0, 0, 0.0, 0.0

    def on_start(self, event: object) -> None:
        if self.depth == 0:
            self.started = time.perf_counter()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        self.count += not event.data["dispatcher"].py_func.__module__.startswith("numba.")
        seconds = self.seconds + time.perf_counter() - self.started
        if self.depth == 0:
            self.seconds = seconds
        for listener in listeners:
            listener(self.count, seconds)


event.register("numba:compile", _Compilation())  # type: ignore[no-untyped-call]
