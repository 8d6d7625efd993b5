"""Cells of other tools, read against an original: each becomes a cell of our own notation.

Against an original every cell in another notation (``hierarchies/other_notations.py``) becomes the
values of the original that it covers, as one range or one set, so that whatever reads our own
releases reads these tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED, set_cell
from discreet.hierarchies.coverage import CellReader
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.hierarchies.other_notations import members_of, span_of
from discreet.table.coded_table import Column
from discreet.typing import Floats, Ints


class ReadCells(NamedTuple):
    """The distinct cells of a column, read against the original."""

    labels: list[str | None]  # in our notation; as it is where it could not be read
    covered: Ints  # values of the original that each covers; 0 where it could not be read


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
