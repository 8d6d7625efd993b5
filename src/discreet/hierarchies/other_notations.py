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
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED, ValueSet, parse_cell, set_cell
from discreet.hierarchies.coverage import CellReader
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column
from discreet.typing import Bools, Floats, Ints

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


class ReadCells(NamedTuple):
    """The distinct cells of a column, read against the original."""

    labels: list[str | None]  # in our notation; as it is where it could not be read
    covered: Ints  # values of the original that each covers; 0 where it could not be read


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


def read_cells(
    cells: pl.Series,
    original: Column,
    hierarchy: Hierarchy | None,
    suppressed: Collection[str] = (SUPPRESSED,),
) -> ReadCells:
    """Read distinct cells against the original: each becomes a cell of our own notation.

    What our own releases write is kept as it is. A number that the original lacks, or a text that
    no notation and no hierarchy explains, covers nothing and is kept too.
    """
    reader = CellReader(original, hierarchy, None)
    texts: list[str | None] = [
        SUPPRESSED if cell in suppressed or (cell is None and not original.has_null) else cell
        for cell in cells.to_list()
    ]
    values = original.text.to_list()
    numbers = original.numbers
    code_of_number = {} if numbers is None else {n: c for c, n in enumerate(numbers.tolist())}
    own_ranges = reader.ranges(pl.Series(texts, dtype=pl.String))
    size_of_range = dict(
        zip(own_ranges.cell.tolist(), (own_ranges.last - own_ranges.first).tolist(), strict=True)
    )
    labels: list[str | None] = []
    covered = np.zeros(len(texts), np.int64)
    for place, text in enumerate(texts):
        size = size_of_range.get(place) or sum(hi - lo for lo, hi in reader.runs(text))
        if size or text is None:
            labels.append(text)
            covered[place] = size
            continue
        codes = _codes_of(text, values, numbers, code_of_number, reader.code_of_value)
        labels.append(
            text if not len(codes) else _label(codes, values, ordered=numbers is not None)
        )
        covered[place] = len(codes)
    return ReadCells(labels, covered)


def _codes_of(
    text: str,
    values: Sequence[str | None],
    numbers: Floats | None,
    code_of_number: dict[float, int],
    code_of_value: dict[str | None, int],
) -> Ints:
    """Return the codes of the original's values that a cell in another notation covers."""
    if numbers is not None:
        try:
            code = code_of_number.get(float(text))
        except ValueError:
            code = None
        if code is not None:
            return np.array([code])
        span = span_of(text)
        if span is not None:
            return np.flatnonzero(span.holds(numbers))
    members = members_of(text)
    if members is not None:
        codes = [code_of_value.get(member, -1) for member in members]
        return np.array(codes if min(codes) >= 0 else [], np.int64)
    if "*" in text:
        return _masked(text, values)
    return np.zeros(0, np.int64)


def _masked(text: str, values: Sequence[str | None]) -> Ints:
    """Return the codes of the values behind a mask; a single last ``*`` may be several."""
    whole = re.escape(text).replace(r"\*", ".")
    patterns = [whole] + ([whole[:-1] + ".*"] if text.count("*") == 1 and text[-1] == "*" else [])
    for pattern in patterns:
        matches: Callable[[str], object] = re.compile(pattern, re.DOTALL).fullmatch
        codes = [code for code, value in enumerate(values) if value is not None and matches(value)]
        if codes:
            return np.array(codes)
    return np.zeros(0, np.int64)


def _label(codes: Ints, values: Sequence[str | None], *, ordered: bool) -> str | None:
    """Write the values of some codes, ascending, as one cell of our notation."""
    if len(codes) == 1:
        return values[int(codes[0])]
    if ordered and codes[-1] - codes[0] + 1 == len(codes):
        return f"[{values[int(codes[0])]}, {values[int(codes[-1])]}]"
    return set_cell(values[int(code)] for code in codes)
