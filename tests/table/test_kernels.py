"""Kernels: when they are compiled, that both tiers agree, and what their cache survives."""

from __future__ import annotations

import importlib
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.table.kernels import NoCompilerWarning, kernel, tiers
from discreet.table.kernels.lists import lengthened
from discreet.table.kernels.tiers import Kernel

compiling = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)
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
        caller = importlib.import_module("caller").caller.compiled
        result = caller(pair(**{"first": 1, "second": 2}))
        return result, bool(sum(caller.stats.cache_hits.values()))

    yield run
    for module in ("caller", "called"):
        sys.modules.pop(module, None)


@compiling
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


@compiling
def test_a_cache_that_names_a_class_of_the_past_is_not_read(run):
    assert run(CALLED) == (20, False)
    assert run(CALLED.replace("Pair", "Couple"), "Couple") == (20, False)


@kernel
def doubled(values):
    result = np.empty_like(values)
    for i in range(len(values)):
        result[i] = twice(values[i])
    return result


@kernel
def twice(value):
    return value * 2


@kernel(wraps=True)
def hashed(value):
    return value * np.uint64(0x9E3779B97F4A7C15)


@kernel
def slot_of(values, size):
    return np.int64(hashed(values[0]) & np.uint64(size - 1))


@pytest.fixture
def choosing(monkeypatch):
    """A process that has interpreted nothing yet and was asked for no tier."""
    monkeypatch.setattr(tiers.TIERS, "asked", "")
    monkeypatch.setattr(tiers.TIERS, "seconds", 0.0)


def fresh(function: Kernel) -> Kernel:
    return Kernel(function.function, 1, False)


def test_little_work_is_interpreted_and_numba_not_imported(choosing):
    code = """
import sys
import numpy as np
from discreet.table.kernels import kernel

@kernel
def total(values):
    result = 0
    for value in values:
        result += value
    return result

assert total(np.arange(10)) == 45
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@compiling
def test_much_work_is_compiled(choosing, monkeypatch):
    one = fresh(doubled)
    assert one(np.arange(1000)).tolist() == list(range(0, 2000, 2))
    assert one._dispatcher is None
    one._compiling_costs = 0.0
    assert one(np.arange(1000)).tolist() == list(range(0, 2000, 2))
    assert one._dispatcher is not None


@compiling
def test_without_numba_kernels_are_interpreted_and_a_warning_names_it_once(
    choosing, monkeypatch, recwarn
):
    monkeypatch.setattr(tiers.TIERS, "installed", False)
    monkeypatch.setattr(tiers.TIERS, "_warned", False)
    slow = fresh(doubled)
    assert slow(np.arange(3)).tolist() == [0, 2, 4]
    assert not recwarn
    monkeypatch.setattr(tiers.TIERS, "seconds", tiers.MISSED_FROM)
    with pytest.warns(NoCompilerWarning, match=r"pip install 'discreet\[fast\]'"):
        slow(np.arange(3))
    slow(np.arange(3))
    assert not recwarn and slow._dispatcher is None


def test_compiled_code_in_the_cache_is_used_for_less_work(choosing, monkeypatch):
    monkeypatch.setattr(tiers, "LOADED_FROM", 0.0)
    monkeypatch.setattr(tiers, "NUMBA_FROM", 0.0)
    doubled.compiled(np.arange(3))
    one, other = fresh(doubled), fresh(doubled)
    one(np.arange(3))
    assert one._dispatcher is not None
    monkeypatch.setattr(Kernel, "_in_cache", False)
    other(np.arange(3))
    assert other._dispatcher is None


@pytest.mark.parametrize("asked", ["interpreted", "compiled"])
@compiling
def test_one_tier_can_be_asked_for(asked, monkeypatch):
    monkeypatch.setattr(tiers.TIERS, "asked", asked)
    one = fresh(doubled)
    assert one(np.arange(4)).tolist() == [0, 2, 4, 6]
    assert (one._dispatcher is not None) == (asked == "compiled")


def test_an_interpreted_kernel_refuses_an_overflow_that_compiled_code_has_not(monkeypatch):
    monkeypatch.setattr(tiers.TIERS, "asked", "interpreted")
    with pytest.raises(FloatingPointError, match="overflow"):
        doubled(np.array([2**31 - 1], np.int32))


def test_hashes_may_overflow_in_both_tiers(monkeypatch):
    values = np.array([2**60 + 5], np.uint64)
    monkeypatch.setattr(tiers.TIERS, "asked", "interpreted")
    assert slot_of(values, 1024) == (((2**60 + 5) * 0x9E3779B97F4A7C15) & 1023)


def test_a_kernel_is_pickled_by_its_name():
    from discreet.table import graphs

    assert pickle.loads(pickle.dumps(graphs.components_of_flow)) is graphs.components_of_flow


# ------------------------------------------------------------------------------------- the cache

USE = """
import numpy as np
from discreet.table.graphs import components_of_flow

first = np.array([0, 2], np.int64)
point, box = components_of_flow(2, first, np.array([0, 1], np.int32), np.array([0]), np.array([0]))
assert (point == box).tolist() == [True, False], (point, box)
"""


def use(**environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", USE],
        env={**os.environ, "DISCREET_KERNELS": "compiled", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


@compiling
def test_no_folder_for_the_cache_means_only_compiling_again(tmp_path):
    """As in a container with read-only files: neither package, home nor the named folder."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "kernels")
    process = use(
        NUMBA_CACHE_DIR=nowhere,
        NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator",
        HOME=nowhere,
    )
    assert process.communicate()[1] == "" and process.returncode == 0


@compiling
@pytest.mark.parametrize("damage", ["cut", "empty", "read-only"])
def test_a_damaged_cache_means_only_compiling_again(tmp_path, damage):
    process = use(NUMBA_CACHE_DIR=str(tmp_path))
    assert process.communicate()[1] == ""
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for path in files:
        if damage == "read-only":
            path.chmod(stat.S_IRUSR)
        else:
            path.write_bytes(path.read_bytes()[: 40 if damage == "cut" else 0])
    process = use(NUMBA_CACHE_DIR=str(tmp_path))
    assert process.communicate()[1] == "" and process.returncode == 0


READ_ONLY = """
import tempfile
from discreet.table.kernels import listeners

def refuse(*_, **__):
    raise PermissionError("read-only")

tempfile.TemporaryFile = refuse  # how Numba tries whether a folder can be written
listeners.append(lambda kernels, seconds: print("compiled"))
"""


@compiling
def test_a_filled_cache_is_used_where_it_cannot_be_written(tmp_path):
    """As in an image of a container that was warmed up, with read-only files."""
    assert use(NUMBA_CACHE_DIR=str(tmp_path)).communicate()[1] == ""
    environment = {"DISCREET_KERNELS": "compiled", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", READ_ONLY + USE]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@compiling
def test_two_processes_may_fill_an_empty_cache_at_once(tmp_path):
    both = [use(NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == ["", ""]
    assert [process.returncode for process in both] == [0, 0]


@compiling
def test_listeners_are_told_of_compiling(tmp_path):
    code = """
import numpy as np
from discreet.table.kernels import listeners
told = []
listeners.append(lambda kernels, seconds: told.append((kernels, seconds)))
from discreet.releases.worlds.permanents import matching_beliefs_of_groups
one, belief = np.array([0, 1]), np.zeros(1)
matching_beliefs_of_groups(
    one, one, np.array([1]), one, np.ones(1), 10, belief, np.zeros(1, np.uint8)
)
assert belief[0] == 1.0
assert told[-1][0] == 3, told  # the kernel and the two that it calls
assert told[-1][1] > 0
"""
    environment = {"DISCREET_KERNELS": "compiled", "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, check=True)


LOADED = """
import math
from typing import NamedTuple
import numpy as np
from discreet.table.kernels import kernel
from discreet.table.kernels.lists import lengthened

class Given(NamedTuple):
    values: np.ndarray
    share: float

@kernel
def steps(rng, given: Given, most: int):
    found = np.empty(1, np.int32)
    sums = {0: 0.0}
    for number, value in enumerate(given.values):
        if number == len(found):
            found = lengthened(found, 2 * len(found))
        found[number] = int(rng.random() * value)
        sums[value % 3] = sums.get(value % 3, 0.0) + math.log(value) * given.share ** 2
    order = np.argsort(given.values)
    if len(given.values) > most:
        raise ValueError("too many")
    return found[: len(given.values)], sums[0], hash(given.share) != 0, order.max()
"""
LOAD = """
import sys
import numpy as np
from steps import Given, steps

given = Given(np.array([5, 3, 9, 7]), 0.5)
tiers = steps.interpreted, steps.compiled
ours, theirs = (tier(np.random.default_rng(1), given, 4) for tier in tiers)
assert ours[0].tolist() == theirs[0].tolist() and ours[0].dtype == theirs[0].dtype
assert ours[1:] == theirs[1:]
try:
    steps.compiled(np.random.default_rng(1), given, 3)
except ValueError as error:
    assert str(error) == "too many"
print(sum(steps.compiled.stats.cache_hits.values()), "numba.cpython.mathimpl" in sys.modules)
"""


@compiling
def test_compiled_code_is_loaded_without_preparing_to_compile_more(tmp_path):
    from discreet.table.kernels.compiling import LOADED_ALONE

    (tmp_path / "steps.py").write_text(LOADED)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }
    later = "from discreet.table.kernels import compiling; compiling.LOADED_ALONE = (0, 0)\n"
    for code, loaded, prepared in (LOAD, 0, True), (LOAD, 1, False), (later + LOAD, 1, True):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stdout.split() == [str(loaded), str(prepared)], done.stderr[-2000:]
    assert LOADED_ALONE > (0, 60)


@compiling
def test_numba_gives_llvm_addresses_only_where_loading_compiled_code_looks_for_them():
    import numba

    root = Path(numba.__file__).parent
    giving = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "add_symbol(" in path.read_text(encoding="utf-8")
        and path.relative_to(root).parts[0] not in ("tests", "cuda")
    }
    loaded = {"core/base.py", "core/externals.py", "core/runtime/nrt.py", "cpython/hashing.py"}
    assert giving == loaded | {"np/ufunc/parallel.py"}  # no kernel is parallel


@compiling
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_a_lengthened_array_begins_with_the_given_one_in_both_tiers(dtype):
    given = np.arange(5, dtype=dtype)
    for tier in (lengthened.interpreted, lengthened.compiled):
        found = tier(given, 12)
        assert len(found) == 12
        assert found.dtype == dtype
        assert (found[:5] == given).all()
