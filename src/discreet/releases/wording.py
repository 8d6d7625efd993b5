"""Sentences about people, said of rows where a person may have several.

Only an identifier whose values all differ shows that every row is a person of its own. Without one
a guarantee about groups of rows must not be read as one about people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from discreet.table.roles import Unit

_QUOTED = re.compile(r"('[^']*')")  # names of columns and tables stay as they are
_OF_ROWS = tuple(
    (re.compile(rf"\b{said}\b"), instead)
    for said, instead in (
        ("people who look alike", "rows that look alike"),
        ("may know about people", "may know"),
        ("a single member", "a single row"),
        ("members", "rows"),
        ("is held by", "is in"),
        ("[Nn]obody was left out", "no row was left out"),
        ("[Nn]obody in the group has them", "no row of the group has them"),
        ("Nobody", "No row"),
        ("nobody", "no row"),
        ("somebody in it may have", "a row in it may have"),
        ("anybody", "any row"),
        ("[Pp]eople's values", "values"),
        ("People stand", "Rows stand"),
        ("people", "rows"),
        ("links a person to", "links a row to"),
        ("no person is protected", "no row is protected"),
        ("for a person", "for a row"),
        ("a person's", "a row's"),
        ("a person stands", "a row stands"),
    )
)


def of_unit(sentence: str, unit: Unit) -> str:
    """A sentence about people as it may be said of a release with this unit."""
    if unit is Unit.PERSON:
        return sentence
    parts = _QUOTED.split(sentence)
    for place in range(0, len(parts), 2):
        for said, instead in _OF_ROWS:
            parts[place] = said.sub(instead, parts[place])
    return "".join(parts)


def all_of_unit(sentences: Iterable[str], unit: Unit) -> list[str]:
    """Several sentences, as ``of_unit``."""
    return [of_unit(sentence, unit) for sentence in sentences]
