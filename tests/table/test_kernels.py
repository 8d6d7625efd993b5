"""A cached kernel notices what changes in another file."""

from __future__ import annotations

import importlib
import os
import sys

import pytest

CALLER = """
from called import FACTOR, Pair, callee
from discreet.table.kernels import kernel

@kernel
def caller(pair: Pair) -> int:
    return callee(pair.first) * FACTOR
"""
CALLED = """
from typing import NamedTuple
from discreet.table.kernels import kernel

FACTOR = 10

class Pair(NamedTuple):
    first: int
    second: int

@kernel
def further(x):
    return x + 1

@kernel
def callee(x):
    return further(x)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(called: str, name: str = "Pair") -> tuple[int, bool]:
        """The result for the pair (1, 2), and whether the code came from the cache."""
        (tmp_path / "caller.py").write_text(CALLER.replace("Pair", name))
        (tmp_path / "called.py").write_text(called)
        for module in ("caller", "called"):
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        pair = getattr(importlib.import_module("called"), name)
        caller = importlib.import_module("caller").caller
        result = caller(pair(**{"first": 1, "second": 2}))
        return result, bool(sum(caller.stats.cache_hits.values()))

    yield run
    for module in ("caller", "called"):
        sys.modules.pop(module, None)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_a_cached_kernel_notices_changes_in_another_file(run):
    assert run(CALLED) == (20, False)
    assert run(CALLED) == (20, True)
    assert run(CALLED + "\n# a comment\n") == (20, True)
    changed = CALLED.replace("x + 1", "x + 2")  # in a callee of the callee
    assert run(changed) == (30, False)
    assert run(changed.replace("FACTOR = 10", "FACTOR = 7")) == (21, False)
    swapped = changed.replace("first: int\n    second: int", "second: int\n    first: int")
    assert run(swapped) == (30, False)
    assert run(swapped) == (30, True)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_a_cache_that_names_a_class_of_the_past_is_not_read(run):
    assert run(CALLED) == (20, False)
    assert run(CALLED.replace("Pair", "Couple"), "Couple") == (20, False)
