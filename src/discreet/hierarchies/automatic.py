"""A hierarchy for a column that has none, and the kind of hierarchy to propose for a column.

- Ordered values: ranges of about equal frequency, joined two by two, up to ``*``.
- Text that looks like codes of one length (zip codes): their first characters, ``130**``.
- Labels with an order (``[70-80)``, ``65+``, ``low``): 2, 4, … neighbours together.
- Other text with at most 50 values: sets; the two rarest groups are joined until half remain,
  so that frequent values stay exact longest.
- More text: the values that begin alike, ``Sm*``; a value shorter than that stays as it is.

There are at most 6 levels above the values, and the last is always ``*``.

Text labels that have an order: brackets such as ``[70-80)``, ``65+``, ``<18``, and scales.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from math import floor, log10

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    closed_ranges,
    everything,
    order_hierarchy,
    present,
)
from discreet.hierarchies.cells import set_cell
from discreet.hierarchies.groupings import (
    begins_alike,
    collisions,
    exact,
    interval_grouping,
    masked,
)
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

FEWEST_LABELS = 3

BRACKET = re.compile(
    r"^[\[(]?\s*(?:"
    r"(?P<below><=?|≤|under|below|unter|bis|moins de|menos de)\s*(?P<top>\d+(?:\.\d+)?)"
    r"|(?P<above>>=?|≥|over|above|über|ab|plus de|mas de|mais de)\s*(?P<bottom>\d+(?:\.\d+)?)"
    r"|(?P<low>\d+(?:\.\d+)?)\s*(?:-|–|to|bis|a|à|,)\s*(?P<high>\d+(?:\.\d+)?)"
    r"|(?P<from>\d+(?:\.\d+)?)\s*(?:\+|s|plus|and over|and older|or more|or older|und mehr)"
    r")\s*[\])]?$",
    re.IGNORECASE,
)
_SCALES = (
    ("very low", "low", "medium", "moderate", "high", "very high"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "seldom", "sometimes", "sporadic", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large", "very large"),
)


def label_order(labels: Sequence[str]) -> list[str] | None:
    """Return labels in their order; None where they have none that is certain.

    All must be brackets of numbers without two that begin alike, or all of one scale of words.
    """
    if len(labels) < FEWEST_LABELS:
        return None
    for scale in _SCALES:
        place = {word: at for at, word in enumerate(scale)}
        at = [place.get(label.strip().lower(), -1) for label in labels]
        if min(at) >= 0 and len(set(at)) == len(at):
            return [label for _, label in sorted(zip(at, labels, strict=True))]
    brackets = [_ends(label) for label in labels]
    ends = [end for end in brackets if end is not None]
    if len(ends) < len(labels) or len(set(ends)) < len(ends):
        return None
    ordered = sorted(zip(ends, labels, strict=True))
    return [label for _, label in ordered]


def _ends(label: str) -> tuple[float, float] | None:
    """The place of a bracket on the line of numbers."""
    bracket = BRACKET.match(label.strip())
    if bracket is None:
        return None
    if bracket["top"] is not None:
        return float("-inf"), float(bracket["top"])
    if bracket["low"] is not None:
        low, high = float(bracket["low"]), float(bracket["high"])
        return (low, high) if low <= high else None
    return float(bracket["bottom"] or bracket["from"]), float("inf")


AUTOMATIC = "automatic"  # where such a hierarchy comes from
LEVELS = 6
LARGEST_SET = 50
_CODE = r"^[0-9A-Za-z-]*[0-9][0-9A-Za-z-]*$"
_CODE_LENGTHS = range(3, 13)
_FEWEST_CODES = 10
_LONGEST_PREFIX = 16
_DAYS_OF_YEAR = 365.25
_CONCENTRATED = 0.9  # share of rows in one interval above which equal widths inform little


def automatic_hierarchy(column: Column) -> Hierarchy:
    """A hierarchy chosen by the column's type and values."""
    text = column.text.head(present(column))
    if column.numbers is not None:
        groupings = _range_groupings(column)
    elif _looks_like_codes(text):
        groupings = _code_groupings(text)
    elif (order := _order(text)) is not None:
        return order_hierarchy(column, order, _neighbours(len(order)), star=True)
    elif len(text) <= LARGEST_SET:
        groupings = _set_groupings(text.to_list(), column.counts[: len(text)])
    else:
        groupings = _prefix_groupings(text)
    return assemble(column, [*groupings, everything(len(text))], AUTOMATIC)


def propose(column: Column) -> str | dict[str, object]:
    """Return the text for ``hierarchy:`` of a column, by its type and values."""
    values = present(column)
    if values <= 2:
        return "suppress"
    if column.type is ValueType.DATE:
        return _propose_dates(column)
    if column.type.ordered:
        return _propose_intervals(column)
    if _looks_like_codes(column.text.head(values)):
        return {"mask": "right"}
    order = _order(column.text.head(values))
    if order is not None:
        return {"groups": [*_neighbours(len(order)), "*"], "order": order}
    return "automatic" if values > 3 else "suppress"


def _order(text: pl.Series) -> list[str] | None:
    return label_order(text.to_list()) if len(text) <= LARGEST_SET else None


def _neighbours(labels: int) -> list[int]:
    """2, 4, 8, … neighbours, as long as two groups remain."""
    return [2**power for power in range(1, LEVELS) if 2**power < labels]


def _range_groupings(column: Column) -> list[LevelGrouping]:
    """2, 4, …, 32 ranges of about equal frequency, finest first."""
    assert column.numbers is not None
    values = present(column)
    distinct, place = np.unique(column.numbers[:values], return_inverse=True)
    bins = 1
    while bins < 2 ** (LEVELS - 1) and bins * 4 <= len(distinct):
        bins *= 2
    count = np.bincount(place, column.counts[:values], len(distinct))
    middle = np.cumsum(count) - count / 2
    # Values that no row of the table has (a part of it was taken) weigh nothing.
    bin_of_value = np.floor(middle / max(count.sum(), 1) * bins).astype(np.int64)[place]
    groupings: list[LevelGrouping] = []
    while bins > 1:
        grouping = closed_ranges(column, bin_of_value)
        if 1 < len(grouping.labels) < len(groupings[-1].labels if groupings else distinct):
            groupings.append(grouping)
        bin_of_value //= 2
        bins //= 2
    return groupings


def _looks_like_codes(text: pl.Series) -> bool:
    lengths = text.str.len_chars().unique()
    return (
        len(text) >= _FEWEST_CODES
        and len(lengths) == 1
        and lengths[0] in _CODE_LENGTHS
        and bool(text.str.contains(_CODE).all())
    )


def _code_groupings(text: pl.Series) -> list[LevelGrouping]:
    length = int(text.str.len_chars()[0])
    lengths = _halving(text, range(length - 1, 0, -1))
    return _readable(text, [masked(text, keep, "right", "*" * (length - keep)) for keep in lengths])


def _prefix_groupings(text: pl.Series) -> list[LevelGrouping]:
    shared = 0
    first, last = text[0], text[-1]  # sorted: a prefix of these two is a prefix of all
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    lengths = _halving(text, range(shared + _LONGEST_PREFIX, shared, -1))
    levels = [_with_exact_labels(text, masked(text, keep, "right", "*")) for keep in lengths]
    return _readable(text, levels)


def _halving(text: pl.Series, lengths: range) -> list[int]:
    """The shortest prefixes, longest first, that each at least halve the number of groups."""
    chosen = []
    fewest = len(text)
    for keep in lengths:
        groups = len(text) - int(begins_alike(text, keep).sum())
        if 1 < groups <= fewest / 2:
            chosen.append(keep)
            fewest = groups
    return chosen[-(LEVELS - 1) :]


def _with_exact_labels(text: pl.Series, grouping: LevelGrouping) -> LevelGrouping:
    """The same level, where a node with a single value has that value as its label."""
    first = np.zeros(len(grouping.labels), np.int64)
    first[grouping.node_of_leaf] = np.arange(len(text))
    alone = np.bincount(grouping.node_of_leaf) == 1
    labels = pl.DataFrame({"alone": alone, "value": text.gather(first), "label": grouping.labels})
    chosen = labels.select(pl.when("alone").then("value").otherwise("label"))
    return LevelGrouping(grouping.node_of_leaf, chosen.to_series().to_list())


def _readable(text: pl.Series, levels: list[LevelGrouping]) -> list[LevelGrouping]:
    """The levels without a label that looks like a value."""
    if not text.str.contains("*", literal=True).any():
        return levels
    return [level for level in levels if not collisions(text, level)]


def _set_groupings(values: list[str], counts: NDArray[np.int64]) -> list[LevelGrouping]:
    """Join the two rarest groups until half remain, repeatedly."""
    groups: list[tuple[int, tuple[int, ...]]] = [
        (int(count), (value,)) for value, count in enumerate(counts)
    ]
    groupings: list[LevelGrouping] = []
    while len(groups) > 2:
        target = (len(groups) + 1) // 2
        heapq.heapify(groups)
        while len(groups) > target:
            (rare, first), (next_rare, second) = heapq.heappop(groups), heapq.heappop(groups)
            heapq.heappush(groups, (rare + next_rare, tuple(sorted(first + second))))
        node_of_leaf = np.zeros(len(values), np.int64)
        labels = []
        for node, (_, members) in enumerate(sorted(groups, key=lambda group: group[1])):
            node_of_leaf[list(members)] = node
            names = [values[member] for member in members]
            labels.append(names[0] if len(names) == 1 else set_cell(names))
        groupings.append(LevelGrouping(node_of_leaf, labels))
    return groupings[: LEVELS - 1]


def _propose_intervals(column: Column) -> str | dict[str, object]:
    assert column.numbers is not None
    numbers = column.numbers[: present(column)]
    if not np.isfinite(numbers).all():
        return "automatic"
    width = round_width(float(numbers.max() - numbers.min()) / 16)
    if column.type is ValueType.INTEGER:
        width = max(width, 2)
    widths = [_plain(width * factor) for factor in (1, 2, 4)]
    coarsest = interval_grouping(column, exact(widths[-1]), exact(0))
    rows = np.bincount(coarsest.node_of_leaf, column.counts[: len(numbers)])
    if rows.max() > _CONCENTRATED * max(rows.sum(), 1):
        return "automatic"
    return {"intervals": [*widths, "*"]}


def round_width(width: float) -> int | float:
    """The least of 1, 2, 5 × 10ⁿ that is not below a width."""
    if width <= 0:
        return 1
    power = 10.0 ** floor(log10(width))
    rounded = next((step * power for step in (1, 2, 5) if step * power >= width), 10 * power)
    return _plain(rounded)


def _plain(width: float) -> int | float:
    short = float(f"{width:.12g}")
    return int(short) if short.is_integer() else short


def _propose_dates(column: Column) -> dict[str, object]:
    assert column.numbers is not None
    numbers = column.numbers[: present(column)]
    years = float(numbers.max() - numbers.min()) / _DAYS_OF_YEAR
    if years > 20:
        return {"dates": ["month", "year", "decade", "*"]}
    if years > 1:
        return {"dates": ["month", "quarter", "year", "*"]}
    return {"dates": ["month", "quarter", "*"]}
