"""Sets as bits: a multi-valued sensitive attribute becomes one binary attribute for each member.

Definition 2 of Fang and others, "Privacy beyond single sensitive attribute": an attribute over the
members v1 … vm becomes m attributes ``attribute=member`` that say 1 where a person's set holds the
member and 0 where it does not. Every model, method and measure then treats the bits like any other
sensitive attribute.

The bits are lossless: the sets follow from them (``sets_of``). An empty set has 0 in every bit; a
missing cell is missing in every bit, so that the two stay distinct. With a floor on the support
only members that enough rows hold get a bit of their own; the others share one, under a name that
no member has, which says whether a person has any of them. That is not lossless.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.table.coded_table import Column
from discreet.table.roles import Distance, ValueType
from discreet.typing import Bools

REST = "(rest)"


@dataclass(frozen=True)
class Bitmap:
    """The bits of the sets of one attribute."""

    attribute: str
    separator: str
    members: Mapping[str, str]  # by the name of the bit
    rest: str | None = None  # the bit that members below the floor share

    @property
    def bits(self) -> tuple[str, ...]:
        """The names of all bits, in order."""
        return (*self.members, *(() if self.rest is None else (self.rest,)))

    @property
    def lossless(self) -> bool:
        """Whether the sets can be restored."""
        return self.rest is None

    def without(self, gone: Collection[str]) -> Bitmap:
        """Return the bitmap that lacks some bits."""
        members = {bit: member for bit, member in self.members.items() if bit not in gone}
        return replace(self, members=members, rest=None if self.rest in gone else self.rest)


def expand(column: Column, min_support: int = 1) -> tuple[Bitmap, list[Column]]:
    """The bits of a multi-valued column; members that fewer rows hold share one bit."""
    separator = column.separator
    if separator is None:
        raise ValueError(f"'{column.name}' is not multi-valued")
    codes_of_member: dict[str, list[int]] = {}
    for code, cell in enumerate(column.text.to_list()):
        for member in members_of(cell, separator):
            codes_of_member.setdefault(member, []).append(code)
    if not codes_of_member:
        raise InputError(
            f"Column '{column.name}': it is multi-valued and no cell holds a member. Drop it, or"
            " check its separator."
        )
    # Rare members share one bit.
    held_codes: dict[str, Sequence[int]] = {}
    shared: list[int] = []
    for member in sorted(codes_of_member):
        codes = codes_of_member[member]
        if column.counts[codes].sum() >= min_support:
            held_codes[member] = codes
        else:
            shared += codes
    # A bit for each of the others.
    names = {f"{column.name}={member}": member for member in held_codes}
    bits = [_bit(column, f"{column.name}={member}", codes) for member, codes in held_codes.items()]
    rest = None
    if shared:
        rest = _rest_name(column.name, codes_of_member)
        bits.append(_bit(column, rest, shared))
    return Bitmap(column.name, separator, names, rest), bits


def members_of(cell: str | None, separator: str) -> list[str]:
    """The members of a cell; none of an empty or a missing one."""
    return list(dict.fromkeys(member for member in (cell or "").split(separator) if member))


def sets_of(bitmap: Bitmap, bits: Mapping[str, pl.Series]) -> pl.Series | None:
    """The sets that bits represent, as text; None where they are unknown.

    Sets are unknown where a bit is absent (in another table), is neither 0 nor 1, or is
    shared. The members are in sorted order; a missing cell is null.
    """
    if not bitmap.lossless or any(name not in bits for name in bitmap.members):
        return None
    columns = [bits[name].cast(pl.String) for name in bitmap.members]
    if not all(column.drop_nulls().is_in(["0", "1"]).all() for column in columns):
        return None
    chosen = [
        pl.when(column == "1").then(pl.lit(member)).alias(str(number))
        for number, (column, member) in enumerate(
            zip(columns, bitmap.members.values(), strict=True)
        )
    ]
    joined = pl.concat_str(chosen, separator=bitmap.separator, ignore_nulls=True)
    missing = columns[0].is_null()
    frame = pl.select(pl.when(~missing).then(joined).alias(bitmap.attribute))
    return frame.to_series()


def _bit(column: Column, name: str, holding: Sequence[int]) -> Column:
    """The bit that is 1 for some values of a column; its dictionary holds the values that occur."""
    state = np.zeros(column.cardinality, np.int32)  # of each set: 0, 1, or 2 where it is missing
    state[np.array(holding, np.int64)] = 1
    if column.has_null:
        state[-1] = 2
    occurs: Bools = np.bincount(state, column.counts, 3) > 0
    code_of_state = np.cumsum(occurs, dtype=np.int32) - 1
    shown = [value for value, there in zip((0, 1, None), occurs, strict=True) if there]
    text = [None if value is None else str(value) for value in shown]
    return replace(
        column,
        name=name,
        type=ValueType.INTEGER,
        codes=code_of_state[state][column.codes],
        text=pl.Series(name, text, dtype=pl.String),
        values=pl.Series(name, shown, dtype=pl.Int64),
        numbers=np.array([np.nan if value is None else value for value in shown], np.float64),
        distance=Distance.EQUAL,
        separator=None,
    )


def _rest_name(attribute: str, members: Mapping[str, object]) -> str:
    name = REST
    while name in members:
        name = f"({name})"
    return f"{attribute}={name}"
