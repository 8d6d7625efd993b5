"""The hash of everything that the compiled code of a kernel depends on."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from discreet.table.kernels.tiers import Kernel

_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, np.generic)


@cache
def fingerprint(function: Callable[..., object]) -> str:
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
        if isinstance(value, Kernel):
            further.append(value.function)
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
