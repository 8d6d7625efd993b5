"""The one decorator under which every kernel is made, and the choice between its two tiers.

A kernel is a plain function on arrays that Numba can compile. Compiling takes about half a second a
kernel, once on a machine; loading compiled code takes milliseconds, after Numba was imported. So a
kernel is interpreted at first, and compiled or loaded once interpreting it would have cost more.
The cost of a call is estimated from the elements of its arrays and the time of earlier calls.

Both tiers give the same results, so it does not matter when a kernel changes its tier; overflow of
an integer, in which they would differ, is an error in the interpreter. ``DISCREET_KERNELS`` set to
``interpreted`` or ``compiled`` asks for one tier; so does ``NUMBA_DISABLE_JIT=1`` for the first.
Where Numba is not installed, kernels are interpreted, and a warning names it once they take long.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, overload

import numpy as np

from discreet.table.budgets import AT_ONCE
from discreet.table.kernels import NoCompilerWarning

Function = TypeVar("Function", bound=Callable[..., object])

# Processor seconds; `python -m benchmarks --only first-release` measures them.
PER_BYTE = 0.7e-3  # compiling a kernel, for each byte of its code and of the kernels it calls
LOADED_FROM = 0.02  # interpreting one kernel whose compiled code is in the cache
NUMBA_FROM = 0.2  # interpreting all kernels, half the cost of importing Numba: more will follow
PER_ELEMENT = 1e-6  # the first time that a kernel is called
MISSED_FROM = 5.0  # interpreting all kernels where Numba is not installed: worth a warning

_LOCK = threading.RLock()


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(
    *, work: int = 1, wraps: bool = False, interpreted: Callable[..., object] | None = None
) -> Callable[[Function], Function]: ...
def kernel(
    function: Any = None,
    /,
    *,
    work: int = 1,
    wraps: bool = False,
    interpreted: Callable[..., object] | None = None,
) -> Any:
    """Make a kernel of a function on arrays.

    ``work`` is how many times longer the first call takes than one pass over the arguments; name it
    for searches. ``wraps`` allows integers to overflow, as hashes do. ``interpreted`` is a function
    with the same results on whole arrays, for the interpreter, where a loop would take long.
    """
    if function is None:
        return lambda function: Kernel(function, work, wraps, interpreted)
    return Kernel(function, work, wraps, interpreted)


def is_worthwhile(function: Callable[..., object], seconds: float) -> bool:
    """Return whether to call a kernel, compiled, where another way takes so many seconds longer."""
    return isinstance(function, Kernel) and (function.loaded or function.pays(seconds))


class Tiers:
    """The tier that was asked for, and the cost of interpreting so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.asked = os.environ.get("DISCREET_KERNELS", "")
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            self.asked = "interpreted"
        self.installed = find_spec("numba") is not None
        self._warned = False

    def miss_compiler(self, seconds: float) -> None:
        """Warn once that Numba is not installed, if interpreting takes long with this addition."""
        if self.seconds + seconds >= MISSED_FROM and not self._warned:
            self._warned = True
            warnings.warn(
                "Numba is not installed, so this table takes long. Install it: "
                "pip install 'discreet[fast]'.",
                NoCompilerWarning,
                stacklevel=4,
            )


TIERS = Tiers()


class Kernel:
    """A function on arrays that is interpreted or compiled, whichever costs less."""

    def __init__(
        self,
        function: Any,
        work: int,
        wraps: bool,
        interpreted: Callable[..., object] | None = None,
    ) -> None:
        update_wrapper(self, function)
        self.function = function
        self._wraps = wraps
        self._on_whole_arrays = interpreted
        self._per_element = work * PER_ELEMENT
        self._elements = 0
        self._seconds = 0.0
        self._dispatcher: Any = None  # Numba's, once it is needed

    def __call__(self, *arguments: Any) -> Any:
        if self.loaded:
            return self._dispatcher(*arguments)
        elements = 1 + _size(arguments)
        if self._compiles(elements):
            return self.compiled(*arguments)
        started = time.thread_time()
        with np.errstate(over="ignore" if self._overflows else "raise"):
            result = self.interpreted(*arguments)
        seconds = time.thread_time() - started
        TIERS.seconds += seconds
        self._seconds += seconds
        self._elements += elements
        self._per_element = self._seconds / self._elements
        return result

    def __reduce__(self) -> str:
        return str(self.function.__qualname__)

    @property
    def loaded(self) -> bool:
        """Whether calls run compiled code at once."""
        return self._dispatcher is not None and TIERS.asked != "interpreted"

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function, calling other kernels without the choice of a tier for each call."""
        return self._on_whole_arrays or _interpreted(self.function)

    @cached_property
    def _overflows(self) -> bool:
        """Whether the kernel, or one that it calls, may overflow."""
        return any(part._wraps for part in self._parts)

    @cached_property
    def _compiling_costs(self) -> float:
        return PER_BYTE * sum(len(part.function.__code__.co_code) for part in self._parts)

    @cached_property
    def _parts(self) -> set[Kernel]:
        """The kernel and all that it calls, directly or through others."""
        parts = {self}
        waiting = [self]
        while waiting:
            part = waiting.pop()
            names = map(part.function.__globals__.get, part.function.__code__.co_names)
            called = {name for name in names if isinstance(name, Kernel)} - parts
            parts |= called
            waiting += called
        return parts

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher of the function; it compiles a signature when it is first called."""
        if self._dispatcher is None:
            with _LOCK:
                if self._dispatcher is None:
                    from discreet.table.kernels.compiling import dispatcher

                    self._dispatcher = dispatcher(self.function)
        return self._dispatcher

    @cached_property
    def inner(self) -> Any:
        """Numba's dispatcher of the function for compiled kernels that call it."""
        from discreet.table.kernels.compiling import dispatcher

        return dispatcher(self.function, inner=True)

    def _compiles(self, elements: int) -> bool:
        coming = elements * self._per_element
        if not TIERS.installed and TIERS.asked != "interpreted":
            TIERS.miss_compiler(coming)
            return False
        return self.pays(coming) or (elements >= AT_ONCE and not TIERS.asked)

    def pays(self, coming: float) -> bool:
        """Return whether loading or compiling costs less than so many seconds of another way."""
        if TIERS.asked or not TIERS.installed:
            return TIERS.installed and TIERS.asked == "compiled"
        if self._seconds + coming >= self._compiling_costs:
            return True
        return (
            self._seconds + coming >= LOADED_FROM
            and TIERS.seconds + coming >= NUMBA_FROM
            and self._in_cache
        )

    @cached_property
    def _in_cache(self) -> bool:
        if "numba" not in sys.modules and not self._has_index:
            return False
        from discreet.table.kernels.compiling import in_cache

        return in_cache(self.function)

    @property
    def _has_index(self) -> bool:
        """Whether a file of the cache has the kernel's name; Numba is not imported to see it."""
        source = Path(self.function.__code__.co_filename)
        index = f"{source.stem}.{self.function.__qualname__}-*.nbi"
        folder, home = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("HOME")
        if folder:  # Numba looks nowhere else
            return any(Path(folder).glob(f"*/{index}"))
        if any((source.parent / "__pycache__").glob(index)):
            return True
        return bool(home) and any(Path(f"{home}/.cache/numba").glob(f"*/{index}"))


def _size(arguments: tuple[Any, ...]) -> int:
    size = 0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            size += argument.size
        elif isinstance(argument, tuple):
            size += _size(argument)
    return size


# The names of a module, and the same with plain functions in the place of kernels; by identity.
_NAMESPACES: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}


def _interpreted(function: Any) -> Callable[..., Any]:
    """Return a function that calls plain functions in the place of kernels."""
    names = function.__globals__
    with _LOCK:
        if id(names) not in _NAMESPACES:
            plain: dict[str, Any] = {}
            _NAMESPACES[id(names)] = names, plain  # before it is filled: kernels call each other
            plain |= {
                name: value.interpreted if isinstance(value, Kernel) else value
                for name, value in names.items()
            }
        _, plain = _NAMESPACES[id(names)]
    return FunctionType(function.__code__, plain, function.__name__, function.__defaults__)
