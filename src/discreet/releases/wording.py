"""Guarantees about people, stated for rows where a person may have several.

Only an identifier whose values all differ shows that every row is a person of its own. Without one
a guarantee about groups of rows must not be read as one about people. Requirements state their
guarantee for people; every other sentence of the product counts rows, which is true in both cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from discreet.table.roles import Unit

_QUOTED = re.compile(r"((?<!\w)'[^']*'(?!\w))")  # names of columns and tables stay as they are
_OF_ROWS = ((re.compile(r"\bpeople\b"), "rows"), (re.compile(r"\bperson\b"), "row"))


def of_unit(sentence: str, unit: Unit) -> str:
    """Return the guarantee of a requirement as it holds for a release with this unit."""
    if unit is Unit.PERSON:
        return sentence
    parts = _QUOTED.split(sentence)
    for place in range(0, len(parts), 2):
        for said, instead in _OF_ROWS:
            parts[place] = said.sub(instead, parts[place])
    return "".join(parts)


def coarseness(quasi: Sequence[str], levels: Mapping[str, int]) -> str:
    """Return which quasi-identifiers were made coarser, and which were left exact."""
    changed = [f"{name} (level {levels[name]})" for name in quasi if levels.get(name)]
    exact = [name for name in quasi if not levels.get(name)]
    parts = []
    if changed:
        parts.append("made coarser: " + ", ".join(changed))
    if exact:
        parts.append("left exact: " + ", ".join(exact))
    return "; ".join(parts)
