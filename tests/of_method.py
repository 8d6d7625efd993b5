"""Run the tests of a method, selected by what they import: make test-one METHOD=mondrian.

Selected are the files of the tests that import a module of the method's folder, themselves or
through another file of the tests, and those that are named after the method. In these files, and in
the conformance kit, oracles and properties of all methods, a test with parameters is selected
unless they name other methods alone. Tests of engines, commands, pages and documents run whole
programs and are left to ``make test``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from discreet.methods.registry import METHODS

TESTS = Path(__file__).resolve().parent
WHOLE_PROGRAMS = {"cli", "docs", "engines", "experiments", "mass", "package", "report", "studio"}
OF_ALL_METHODS = {"conformance", "oracles", "properties"}


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, also through other files of the tests."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for name in list(names):
        inner = TESTS.parent / f"{name.replace('.', '/')}.py"
        if name.startswith("tests.") and inner.is_file() and inner != path:
            names |= imported(inner)
    return frozenset(names)


def is_of_method(path: Path, method: str) -> bool:
    """Return whether a file imports a module of the method's folder, or is named after it."""
    folder = METHODS[method].__module__.rpartition(".")[0]
    named = method.replace("-", "_") in path.stem
    return named or any(f"{name}.".startswith(f"{folder}.") for name in imported(path))


def files_of(method: str) -> Iterator[Path]:
    """Yield the files that may have tests of a method."""
    for path in sorted(TESTS.rglob("test_*.py")):
        room = path.relative_to(TESTS).parts[0]
        all_methods = room in OF_ALL_METHODS and "METHODS" in path.read_text(encoding="utf-8")
        if room not in WHOLE_PROGRAMS and (all_methods or is_of_method(path, method)):
            yield path


def concerns(path: Path, parameters: str, method: str) -> bool:
    """Return whether a test, with the text of its parameters, is one of a method."""
    named = {name for name in METHODS if f"-{name}-" in f"-{parameters}-"}
    return method in named or (not named and is_of_method(path, method))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the method, also in the processes that run tests side by side."""
    parser.addoption("--method", required=True, choices=list(METHODS))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect all tests but those of the method."""
    chosen, others = [], []
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "id", "")
        ours = concerns(item.path, parameters, config.getoption("--method"))
        (chosen if ours else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


if __name__ == "__main__":
    method = METHODS[sys.argv[1]].name
    side_by_side = ["-n", "2", "--dist", "worksteal"]
    options = ["-q", "-m", "not data", "-p", "tests.of_method", "--method", method, *side_by_side]
    sys.exit(pytest.main([*options, *sys.argv[2:], *map(str, files_of(method))]))
