"""The names of a table's columns: each its own, and all of them spoken for."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Sequence

from discreet.errors import InputError


def require_names(names: Sequence[str], place: str) -> None:
    """Raise unless every column has a name of its own."""
    problems = []
    doubled = [name for name, count in Counter(names).items() if count > 1 and name]
    if doubled:
        listed = ", ".join(repr(name) for name in doubled)
        problems.append(f"columns with the same name: {listed}; give each its own")
    nameless = [str(number) for number, name in enumerate(names, 1) if not name]
    if nameless:
        problems.append(f"no name for column {', '.join(nameless)}; give each one")
    if not names:
        problems.append("no column")
    if problems:
        raise InputError(f"{place}: the header has {'; and '.join(problems)}.")


def check_columns(present: Sequence[str], named: Collection[str]) -> list[str]:
    """What is wrong between the columns of a table and those that a job names."""
    problems = []
    unnamed = [name for name in present if name not in named]
    if unnamed:
        listed = ", ".join(repr(name) for name in unnamed)
        noun = "column of the table has" if len(unnamed) == 1 else "columns of the table have"
        problems.append(
            f"{len(unnamed)} {noun} no role: {listed}. Name each under `attributes:`; `role: drop` "
            "leaves one out."
        )
    for name in named:
        if name not in present:
            near = difflib.get_close_matches(name, present, n=3)
            advice = " or ".join(repr(other) for other in near)
            tail = f"Did you mean {advice}?" if near else f"It has {_some(present)}."
            problems.append(f"the table has no column {name!r}. {tail}")
    return problems


def _some(names: Sequence[str], most: int = 10) -> str:
    listed = ", ".join(repr(name) for name in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")
