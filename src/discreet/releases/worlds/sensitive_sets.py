"""The sets of values of a decomposed release and the signatures of T^S, read from its tables.

A signature is a distinct row of T^S; it *supports* a group if all its values are in the group's
sets (``supported_sets``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from discreet.errors import ReleaseError
from discreet.io.column_dictionary import canonical_text, recode
from discreet.releases.manifest import Manifest
from discreet.table.assignments import Sets
from discreet.table.budgets import IN_CACHE
from discreet.table.classes import classes_of
from discreet.table.code_maps import code_of_text, taken
from discreet.table.coded_table import CodedTable, Tables, derived_once
from discreet.table.counts import order_by_class
from discreet.table.kernels.lists import stable_order, starts_of
from discreet.table.published import GROUP
from discreet.typing import Bools, Ints, Ints32

PEOPLE, VALUES, SENSITIVE = "groups", "group_values", "sensitive"
ATTRIBUTE, VALUE = "attribute", "value"


def primary_of(manifest: Manifest) -> str:
    """Return the sensitive attribute on which the groups were formed."""
    primary = getattr(manifest.method, "primary", None)
    if primary not in manifest.tables[SENSITIVE].columns:
        raise ReleaseError("manifest.json: 'method.primary' names no column of 'sensitive'.")
    return str(primary)


@dataclass(frozen=True, eq=False)
class SensitiveSignatures:
    """The distinct rows of T^S with an index by value, in it the commonest first."""

    of_row: Ints32  # (rows,)
    codes: Ints32  # (signatures, attributes)
    count: Ints  # (signatures,)
    offset: Ints  # (attributes + 1,)
    start: Ints  # (values of all attributes + 1,)
    listed: Ints32  # (attributes × signatures,)


class SetsAndRows(NamedTuple):
    """A decomposed release in codes: the sets of its groups, and the rows of T^S."""

    names: list[str]  # of the sensitive attributes
    sets: Sets
    signatures: SensitiveSignatures
    size: Ints  # (groups,) people

    @classmethod
    def of(cls, tables: Tables) -> SetsAndRows:
        """Read both from the published tables; once for the same tables."""
        sensitive = tables[SENSITIVE]
        names = [column.name for column in sensitive.sensitive]
        signatures = signatures_of(sensitive, names)
        return cls(names, read_sets(tables, names), signatures, tables[PEOPLE][GROUP].counts)


def read_sets(tables: Tables, attributes: Sequence[str]) -> Sets:
    """Read ``group_values`` in the codes of the other two tables; once for the same tables."""
    return _read_sets(tables[VALUES], tables[PEOPLE], tables[SENSITIVE], tuple(attributes))


def are_listed_in_order(
    values: CodedTable, sensitive: CodedTable, attributes: Sequence[str]
) -> bool:
    """Return whether ``group_values`` is sorted by group, attribute and value, each entry once."""
    number = values[GROUP].text.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    value = _coded_values(values, sensitive, attributes)
    for first in range(0, len(value), IN_CACHE):
        part = slice(first, first + IN_CACHE + 1)  # with the first entry of the next piece
        group, place = number.take(values[GROUP].codes[part]), value[part]
        rises = (group[1:] == group[:-1]) & (place[1:] > place[:-1])
        if not (rises | (group[1:] > group[:-1])).all():
            return False
    return True


def _coded_values(values: CodedTable, sensitive: CodedTable, attributes: Sequence[str]) -> Ints32:
    """Return the number of each entry's value among those of all attributes, −1 if unknown.

    The values of an attribute follow those of the one before it, by their codes in T^S.
    """
    texts = values[VALUE]
    code = np.full((len(attributes) + 1, texts.cardinality), -1, np.int32)  # the last: unknown
    before = 0
    for number, name in enumerate(attributes):
        column = sensitive[name]
        of_text = code_of_text(column.text, canonical_text(texts.text, column.type))
        code[number] = np.where(of_text < 0, -1, of_text + before)
        before += column.cardinality
    names = values[ATTRIBUTE].text.to_list()
    line = np.array([attributes.index(n) if n in attributes else -1 for n in names], np.int64)
    begin = line % len(code) * texts.cardinality
    coded = np.empty(len(texts.codes), np.int32)
    for first in range(0, len(coded), IN_CACHE):
        part = slice(first, first + IN_CACHE)
        place = begin.take(values[ATTRIBUTE].codes[part])
        place += texts.codes[part]
        code.take(place, out=coded[part], mode="clip")
    return coded


@derived_once
def _read_sets(
    values: CodedTable, people: CodedTable, sensitive: CodedTable, attributes: tuple[str, ...]
) -> Sets:
    groups = people[GROUP].cardinality
    sizes = [sensitive[name].cardinality for name in attributes]
    before = starts_of(np.array(sizes, np.int64))
    attribute_of_value = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    # The group and the value of each entry, in the codes of the other tables.
    code = code_of_text(people[GROUP].text, values[GROUP].text).astype(np.int32)
    group = taken(code, values[GROUP].codes)
    value = _coded_values(values, sensitive, attributes)
    unknown = 0
    if group.min(initial=0) < 0 or value.min(initial=0) < 0:
        good = (group >= 0) & (value >= 0)
        unknown = int((~good).sum())
        group, value = group[good], value[good]
    # The set of each entry, and its value within the attribute.
    which = group  # in the same memory: fresh memory costs more than the sums do
    first_set = attribute_of_value * np.int32(groups)
    for first in range(0, len(which), IN_CACHE):
        part = slice(first, first + IN_CACHE)
        which[part] += first_set.take(value[part])
    in_set = (np.arange(before[-1]) - np.repeat(before[:-1], sizes)).astype(np.int32)
    recode(value, in_set, value)
    # Entries by set, each set ascending.
    start = starts_of(np.bincount(which, minlength=len(attributes) * groups))
    ordered = taken(value, stable_order(which, len(attributes) * groups))
    rises = _rises_within(start, ordered)
    doubled = values.rows - values.entries  # of rows that were counted together
    if not rises.all():
        start, order = order_by_class(which, value, len(attributes) * groups, max(sizes))
        ordered = value[order]
        doubled += int(np.count_nonzero(~_rises_within(start, ordered)))
    return Sets(start, ordered, groups, unknown, doubled)


def _rises_within(start: Ints, value: Ints32) -> Bools:
    """Return for each entry but the first whether it is above the one before, or begins a set."""
    rises = value[1:] > value[:-1]
    rises[start[(start > 0) & (start < len(value))] - 1] = True
    return rises


def signatures_of(sensitive: CodedTable, attributes: Sequence[str]) -> SensitiveSignatures:
    """Return the distinct rows of T^S and their index, which are found once a table."""
    return sensitive.once(
        ("signatures", *attributes), lambda: index_signatures(sensitive, attributes)
    )


def index_signatures(sensitive: CodedTable, attributes: Sequence[str]) -> SensitiveSignatures:
    """Find the distinct rows of T^S and their index."""
    columns = [sensitive[name] for name in attributes]
    distinct = classes_of(columns, sensitive.entries, sensitive.weights)
    order = np.argsort(-distinct.size, kind="stable")
    number = np.empty(distinct.count, np.int32)
    number[order] = np.arange(distinct.count, dtype=np.int32)
    codes = np.stack([c.codes[distinct.first_row[order]] for c in columns], axis=1)
    offset = np.cumsum([0, *(c.cardinality for c in columns)]).astype(np.int64)
    return _indexed(taken(number, distinct.class_of_row), codes, distinct.size[order], offset)


class SignaturesPart(NamedTuple):
    """Some of the distinct rows of T^S."""

    rows: SensitiveSignatures
    chosen: Bools  # (all signatures,) which they are


def signatures_with(
    signatures: SensitiveSignatures, attribute: int, values: Bools
) -> SignaturesPart:
    """Return the distinct rows with some values of an attribute alone."""
    chosen = values[signatures.codes[:, attribute]]
    nobody = np.zeros(0, np.int32)
    codes, count = signatures.codes[chosen], signatures.count[chosen]
    return SignaturesPart(_indexed(nobody, codes, count, signatures.offset), chosen)


def _indexed(of_row: Ints32, codes: Ints32, count: Ints, offset: Ints) -> SensitiveSignatures:
    key = (codes + offset[:-1]).T.reshape(-1).astype(np.int32)
    rank = np.tile(np.arange(len(count), dtype=np.int32), codes.shape[1])
    start, by_value = order_by_class(key, rank, int(offset[-1]), max(len(count), 1))
    return SensitiveSignatures(
        of_row, np.ascontiguousarray(codes), count, offset, start, rank[by_value]
    )
