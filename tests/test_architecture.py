"""The shape of the package: imports go one way, engines stay in their room, names are exported."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

PACKAGE = Path(discreet.__file__).parent
# A room may import from itself and from the rooms to its left.
ORDER = [
    "errors", "plugins", "by_name", "result", "table", "hierarchies", "knowledge", "requirements",
    "methods", "io", "utility", "ledger", "releases", "attacks", "job", "report", "pipeline",
    "engines", "api", "cli", "testing", "__main__",
]  # fmt: skip
ENGINE_LIBRARIES = {"pyspark"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            if node.module == "discreet":
                names |= {f"discreet.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    if room == "__init__":
        return
    rank = ORDER.index(room)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "discreet" and len(parts) > 1 and parts[1] in ORDER:
            assert ORDER.index(parts[1]) <= rank, f"{room} imports {name}"
        assert parts[0] not in ENGINE_LIBRARIES or "engines" in path.parts


def test_every_public_name_loads_and_is_its_home_s():
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = discreet.Nothing


@pytest.mark.parametrize("module", ["discreet", "discreet.cli.app"])
def test_bare_import_and_help_load_nothing_heavy(module):
    heavy = {"numpy", "numba", "polars", "pydantic", "pyarrow"}
    code = f"import sys, {module}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
