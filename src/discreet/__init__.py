"""Publish tables about people so that nobody in them is disclosed.

The public names are those that the stub beside this file imports. They load when they are first
used, so that ``import discreet`` costs nothing.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import discreet.extras  # noqa: F401  registers its hooks before any fork

__version__ = "0.2.0"


@cache
def _homes() -> dict[str, str]:
    """The module of each public name."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: node.module or ""
        for node in ast.walk(stub)
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = ["__version__", *_homes()]
    elif name in _homes():
        value = getattr(import_module(_homes()[name]), name)
    else:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_homes()])
