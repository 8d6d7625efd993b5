"""The hierarchy of a column whose values are codes of a standard classification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.errors import HierarchyError
from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    everything,
    grouping_by_key,
    named,
    present,
)
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.hierarchies.intervals import exact, interval_grouping
from discreet.hierarchies.standards.code_systems import (
    Above,
    above_atc,
    above_countries,
    above_icd,
    above_icd_9,
    above_isco,
    above_nace,
    above_nuts,
    above_postcodes,
)
from discreet.table.coded_table import Column

POSTCODE_LENGTHS = (3, 2, 1)
FINEST_STEPS = 100  # about so many of the finest round steps cover the values
ROUND_STEPS = (1, 5)  # times a power of ten; each divides the next

NOUN = {
    "icd-9": "codes of ICD-9-CM",
    "icd-10": "codes of ICD-10",
    "atc": "codes of ATC",
    "iso-3166": "codes of countries in ISO 3166",
    "nuts": "codes of NUTS",
    "isco-08": "codes of ISCO-08",
    "nace": "codes of NACE Rev. 2",
    "postcode": "postcodes",
}


def code_hierarchy(column: Column, name: str, keep: Sequence[int] | None) -> Hierarchy:
    """The hierarchy of a column of codes, up to ``*``; raise where a value is no code."""
    above = code_system(name, keep)
    texts = column.text.head(present(column)).to_list()
    paths = [above(text) for text in texts]
    wrong = [text for text, path in zip(texts, paths, strict=True) if path is None]
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({name}): {len(wrong)} of {len(texts)} values {verb} "
            f"not {NOUN[name]}{named(column, wrong)}. Correct them, list them under `missing:`, or "
            "use a hierarchy file."
        )
    columns = list(zip(*(path for path in paths if path is not None), strict=True))
    groupings = [
        grouping_by_key(labels, labels)
        for labels in (pl.Series(one, dtype=pl.String) for one in columns)
    ]
    return assemble(column, [*groupings, everything(len(texts))], name)


def code_system(name: str, keep: Sequence[int] | None = None) -> Above:
    """Return what gives the labels above a code of a classification."""
    if name == "icd-10":
        return above_icd()
    if name == "iso-3166":
        return above_countries()
    if name == "postcode":
        return above_postcodes(keep or POSTCODE_LENGTHS)
    plain = {
        "icd-9": above_icd_9, "atc": above_atc, "nuts": above_nuts, "isco-08": above_isco,
        "nace": above_nace,
    }  # fmt: skip
    return plain[name]


def number_hierarchy(column: Column) -> Hierarchy:
    """Ranges of round widths, 1 or 5 times a power of ten, from fine to the whole range."""
    if column.numbers is None:
        raise HierarchyError(
            f"Hierarchy of '{column.name}' (number): the column is {column.type}. Set `type: "
            "integer` or `type: number`."
        )
    numbers = column.numbers[: present(column)]
    spread = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    power = int(np.floor(np.log10(spread / FINEST_STEPS))) if spread > 0 else 0
    groupings: list[LevelGrouping] = []
    for width in (step * exact(10) ** (power + one) for one in range(4) for step in ROUND_STEPS):
        if width <= 1 and column.type.value == "integer":
            continue  # each value would be alone
        grouping = interval_grouping(column, width, exact(0))
        if 1 < len(grouping.labels) < (len(groupings[-1].labels) if groupings else len(numbers)):
            groupings.append(grouping)
    return assemble(column, [*groupings, everything(len(numbers))], "number")
