"""Cells as other tools write them, rewritten in the notation of ``cells.py``.

==========================  ====================================================================
``[20, 30[``, ``]20, 30]``  ranges of ARX; ``(20,30]`` of R's ``cut``, as sdcMicro recodes numbers
``20-29``, ``20..29``       closed ranges of numbers
``<18``, ``>=65``, ``65+``  ranges with one end, also ``≤`` and ``≥``
``130**``                   a mask: each ``*`` is one character, a single last one any number
``{b,a}``, ``{a;b}``        sets in any order
``*``, a missing cell       suppressed; a missing cell only where the original has none
==========================  ====================================================================

Against an original every such cell becomes the values of the original that it covers, as one
range or one set, so that whatever reads our own releases reads these tables. Without an original
only the spelling can be made the same.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from discreet.hierarchies.cells import ValueSet, parse_cell, set_cell
from discreet.typing import Bools, Floats

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INFINITE = {"-inf": -math.inf, "-∞": -math.inf, "inf": math.inf, "+inf": math.inf, "∞": math.inf}
_END = rf"{_NUMBER}|[-+]?(?:inf|∞)"
_INTERVAL = re.compile(rf"([\[\](])\s*({_END})\s*[,;]\s*({_END})\s*([\[\])])", re.IGNORECASE)
_BETWEEN = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_ONE_END = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
_SET = re.compile(r"\{([^{}]*)\}")


class Span(NamedTuple):
    """A range of numbers, and which of its ends belong to it."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool

    def holds(self, numbers: Floats) -> Bools:
        """Return which numbers lie in it; a missing one does not."""
        above = numbers >= self.low if self.low_closed else numbers > self.low
        below = numbers <= self.high if self.high_closed else numbers < self.high
        return np.asarray(above & below)


def span_of(cell: str) -> Span | None:
    """Read a range of numbers in any of the notations; None for anything else."""
    text = cell.strip()
    if matched := _INTERVAL.fullmatch(text):
        low, high = _end(matched[2]), _end(matched[3])
        return Span(low, high, matched[1] == "[", matched[4] == "]") if low <= high else None
    if matched := _BETWEEN.fullmatch(text):
        low, high = float(matched[1]), float(matched[2])
        return Span(low, high, low_closed=True, high_closed=True) if low < high else None
    if matched := _ONE_END.fullmatch(text):
        end, closed = float(matched[2]), matched[1] in ("<=", ">=", "≤", "≥")
        if matched[1] in ("<", "<=", "≤"):
            return Span(-math.inf, end, low_closed=False, high_closed=closed)
        return Span(end, math.inf, low_closed=closed, high_closed=False)
    if matched := _AND_MORE.fullmatch(text):
        return Span(float(matched[1]), math.inf, low_closed=True, high_closed=False)
    return None


def _end(text: str) -> float:
    known = _INFINITE.get(text.lower())
    return float(text) if known is None else known


def members_of(cell: str) -> list[str] | None:
    """Read a set whose members are separated by commas or semicolons; None for anything else."""
    matched = _SET.fullmatch(cell.strip())
    if matched is None:
        return None
    parsed = parse_cell(cell.strip())
    if isinstance(parsed, ValueSet) and len(parsed.members) > 1:
        return [member or "" for member in parsed.members]
    return [member.strip() for member in re.split(r"[,;]", matched[1]) if member.strip()] or None


def one_spelling(cell: str) -> str:
    """Return a range or a set in one spelling, so that equal cells of a table are written alike."""
    span = span_of(cell)
    if span is not None:
        opened, closed = "[" if span.low_closed else "(", "]" if span.high_closed else ")"
        return f"{opened}{span.low:g}, {span.high:g}{closed}"
    members = members_of(cell)
    return cell if members is None else set_cell(sorted(set(members)))
