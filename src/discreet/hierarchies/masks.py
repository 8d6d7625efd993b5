"""Masking characters: ``13053`` → ``1305*`` → ``130**`` → … → ``*``.

Values of different length are compared as if the shorter were padded with spaces on the masked
side, so that masking from the right keeps the same number of leading characters of every value.
A short value of which only the padding is masked is unchanged; once one of its own characters is
reached, it joins the longer values that begin like it. So ``12`` beside ``1234`` is ``12`` on
level 1, ``12**`` on level 2 together with ``1234``, and levels nest.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import HierarchyError
from discreet.hierarchies.building import LevelGrouping, everything, grouping_by_key, named, present
from discreet.table.coded_table import Column

Side = Literal["left", "right"]


def mask_groupings(column: Column, side: Side, character: str) -> list[LevelGrouping]:
    """One level for each character of the longest value; the last is ``*``."""
    text = column.text.head(present(column))
    longest = _longest(text)
    groupings = []
    for keep in range(longest - 1, 0, -1):
        grouping = masked(text, keep, side, character * (longest - keep))
        misread = collisions(text, grouping)
        if misread:
            raise HierarchyError(
                f"Hierarchy of '{column.name}' (mask): {len(misread)} of {len(text)} values "
                f"look like a masked one{named(column, misread)}. Choose another `character`."
            )
        groupings.append(grouping)
    return [*groupings, everything(len(text))]


def masked(text: pl.Series, keep: int, side: Side, mask: str) -> LevelGrouping:
    """Keep some characters of every value, counted from the side that is not masked."""
    value = pl.col("value")
    shown = value.str.head(keep) if side == "right" else value.str.tail(keep)
    label = (
        pl.concat_str(shown, pl.lit(mask))
        if side == "right"
        else pl.concat_str(pl.lit(mask), shown)
    )
    exact = value.str.len_chars() < keep
    frame = pl.DataFrame({"value": text}).select(
        # A short value is a node of its own: the first letter keeps it apart from longer ones.
        key=pl.when(exact)
        .then(pl.concat_str(pl.lit("e"), value))
        .otherwise(pl.concat_str(pl.lit("m"), shown)),
        label=pl.when(exact).then(value).otherwise(label),
    )
    return grouping_by_key(frame["key"], frame["label"])


def begins_alike(text: pl.Series, keep: int) -> NDArray[np.bool_]:
    """Return whether each value but the first of a sorted column begins like the one before it."""
    heads = text.str.head(keep)
    return (heads.slice(1) == heads.head(max(len(heads) - 1, 0))).to_numpy()


def prefixes(text: pl.Series, keep: int, mask: str) -> LevelGrouping:
    """Apply ``masked`` from the right to sorted values, where groups are runs: far faster."""
    first = np.flatnonzero(np.concatenate(([True], ~begins_alike(text, keep))))
    node_of_leaf = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(text))))
    frame = pl.DataFrame({"value": text.gather(first)}).select(
        pl.when(pl.col("value").str.len_chars() < keep)
        .then("value")
        .otherwise(pl.concat_str(pl.col("value").str.head(keep), pl.lit(mask)))
    )
    return LevelGrouping(node_of_leaf, frame.to_series().to_list())


def collisions(text: pl.Series, grouping: LevelGrouping) -> list[str]:
    """Values that equal the label of a node with other values."""
    labels = pl.Series(grouping.labels, dtype=pl.String)
    same = np.flatnonzero(text.is_in(labels.implode()).to_numpy())
    size = np.bincount(grouping.node_of_leaf)
    return [
        text[int(value)]
        for value in same
        if grouping.labels[grouping.node_of_leaf[value]] != text[int(value)]
        or size[grouping.node_of_leaf[value]] > 1
    ]


def _longest(text: pl.Series) -> int:
    longest = text.str.len_chars().max() if len(text) else 0
    assert isinstance(longest, int)
    return longest
