"""Comparing the exact columns of a published table with those of the original."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.table.budgets import IN_CACHE
from discreet.table.classes import group_codes, pack_keys
from discreet.table.coded_table import CodedTable, Column, exact_value
from discreet.typing import AnyInts, Codes, Floats, Ints

Number = TypeVar("Number", bound=np.generic)


def code_of_value(published: Column, source: Column) -> Ints:
    """Return the code in the published column of each value of the source's, −1 where absent.

    Numbers and dates are compared by value, everything else by text.
    """
    codes = code_of_text(published.text, source.text)
    kind = source.type
    lost = np.flatnonzero(codes < 0)
    if len(lost) and kind.ordered and published.type is kind:
        texts = published.text.to_list()
        known = {exact_value(t, kind): code for code, t in enumerate(texts) if t is not None}
        for place in lost:
            text = source.text[int(place)]
            codes[place] = -1 if text is None else known.get(exact_value(text, kind), -1)
    return codes


def code_of_text(dictionary: pl.Series, texts: pl.Series) -> Ints:
    """Return the place of each text in a dictionary without duplicates, −1 where absent."""
    if dictionary.equals(texts, null_equal=True):  # the groups of two tables of a release
        return np.arange(len(texts))
    known = pl.DataFrame({"text": dictionary, "code": np.arange(len(dictionary))})
    joined = texts.to_frame("text").join(
        known, on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["code"].fill_null(-1).to_numpy().astype(np.int64)


def recoded(published: Column, source: Column) -> Codes:
    """The source column in the published column's codes; absent values have one code beyond."""
    code = code_of_value(published, source)
    code[code < 0] = published.cardinality
    if np.array_equal(code, np.arange(len(code))):
        return source.codes
    return taken(code.astype(np.int32), source.codes)


def taken(of_number: NDArray[Number], number: AnyInts) -> NDArray[Number]:
    """Return the entry of each number, piece by piece: NumPy widens all indices that it takes."""
    result = np.empty(len(number), of_number.dtype)
    for first in range(0, len(number), IN_CACHE):
        part = slice(first, first + IN_CACHE)
        of_number.take(number[part], out=result[part], mode="clip")
    return result


def excess_rows(published: CodedTable, names: Sequence[str], original: CodedTable) -> int:
    """Return how many published rows, by some exact columns, exceed those of the original."""
    columns = [published[name] for name in names]
    return excess(
        [column.codes for column in columns],
        [recoded(column, original[column.name]) for column in columns],
        [column.cardinality + 1 for column in columns],
    )


def excess(
    columns: Sequence[Codes],
    other_columns: Sequence[Codes],
    cardinalities: Sequence[int],
    weights: Ints | None = None,
    weights_of_others: Ints | None = None,
) -> int:
    """Return how many of some rows exceed the others'; a row may count more than once."""
    if not columns:
        return 0
    rows, bound = len(columns[0]), prod(cardinalities)
    if bound <= IN_CACHE:
        count = _counted(columns, cardinalities, bound, weights)
        of_others = _counted(other_columns, cardinalities, bound, weights_of_others)
        return int(np.maximum(count - of_others, 0).sum())
    both = [np.concatenate(pair) for pair in zip(columns, other_columns, strict=True)]
    classes = group_codes(both, cardinalities, len(both[0]))
    seen = np.bincount(classes.class_of_row[:rows], weights, classes.count)
    held = np.bincount(classes.class_of_row[rows:], weights_of_others, classes.count)
    return int(np.maximum(seen - held, 0).sum())


def _counted(
    codes: Sequence[Codes], cardinalities: Sequence[int], bound: int, weights: Ints | None
) -> Floats:
    """Return how often each of few combinations of codes occurs."""
    counts = np.zeros(bound)
    for first in range(0, len(codes[0]), IN_CACHE):
        part = slice(first, first + IN_CACHE)
        key, _ = pack_keys([column[part] for column in codes], cardinalities, len(codes[0][part]))
        counts += np.bincount(key, None if weights is None else weights[part], bound)
    return counts
