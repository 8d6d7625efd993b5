"""The knowledge table E: sensitive labels and the set of terms that each is known by.

The terms of multi-valued cells, as codes.

A missing cell has no terms, and neither has ``*``, the cell of which all terms were removed.
A person with several rows has the union of the terms of their rows.

Which labels each cell links to: K(tp), the labels whose set holds every term of the cell.

A cell without terms links to all labels; a cell with a term that no label has, or with terms that
no label has together, links to nothing. K is an intersection of bit rows; cells with the same K
share one label set, so that a million cells need a few thousand sets.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from discreet.hierarchies.cells import SUPPRESSED
from discreet.table.coded_table import Column
from discreet.table.kernels.lists import starts_of, stretches
from discreet.table.persons import Persons
from discreet.typing import Floats, Ints, Ints32, Words

WORD = 64  # labels in a word of a bit row


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Labels with their sets of terms; labels and terms are sorted, and codes are places there."""

    labels: tuple[str, ...]
    terms: tuple[str, ...]
    term_start: Ints  # (labels + 1,)
    term: Ints32  # (pairs,) the terms of each label, ascending
    weight: Floats | None = None  # (labels,) the prior if the table gives one; Σ = 1
    doubled: tuple[str, ...] = ()  # labels on several lines, whose sets were joined

    @cached_property
    def labels_of_term(self) -> Words:
        """For each term a bit row of the labels whose set holds it. (terms, words)"""
        bits = np.zeros((len(self.terms), words_for(len(self.labels))), np.uint64)
        label = np.repeat(np.arange(len(self.labels)), np.diff(self.term_start))
        bit = np.left_shift(np.uint64(1), (label % WORD).astype(np.uint64))
        np.bitwise_or.at(bits, (self.term, label // WORD), bit)
        return bits

    @property
    def without_terms(self) -> tuple[str, ...]:
        """The labels without terms: only a row without terms links to them."""
        empty = np.flatnonzero(np.diff(self.term_start) == 0)
        return tuple(self.labels[label] for label in empty)

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of what the table says, whatever its file looked like."""
        weights = None if self.weight is None else [f"{share:.12g}" for share in self.weight]
        names = [self.terms[code] for code in self.term]
        content = [self.labels, self.term_start.tolist(), names, weights]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def words_for(labels: int) -> int:
    """Return how many words a bit row over so many labels has."""
    return max(1, -(-labels // WORD))


def every_label(labels: int) -> Words:
    """The bit row of all labels."""
    row = np.zeros(words_for(labels), np.uint64)
    row[: labels // WORD] = ~np.uint64(0)
    if labels % WORD:
        row[labels // WORD] = (1 << labels % WORD) - 1
    return row


def knowledge_from_sets(
    sets: Sequence[tuple[str, Sequence[str]]],
    weight_of_label: dict[str, float] | None = None,
    doubled: Sequence[str] = (),
) -> Knowledge:
    """A knowledge table from labels with their terms; a label that occurs twice gets both sets."""
    joined: dict[str, set[str]] = {}
    for label, terms in sets:
        joined.setdefault(label, set()).update(terms)
    labels = tuple(sorted(joined))
    terms = tuple(sorted({term for set_ in joined.values() for term in set_}))
    code = {term: number for number, term in enumerate(terms)}
    coded = [sorted(code[term] for term in joined[label]) for label in labels]
    start = np.concatenate(([0], np.cumsum([len(set_) for set_ in coded]))).astype(np.int64)
    flat = np.array([number for set_ in coded for number in set_], np.int32)
    weight = None
    if weight_of_label is not None:
        weight = np.array([weight_of_label[label] for label in labels], np.float64)
        weight /= weight.sum()
    return Knowledge(labels, terms, start, flat, weight, tuple(doubled))


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of every value of a column: those of value v are ``term[start[v]:start[v + 1]]``.

    They ascend within a value, so that values with the same terms have the same codes.
    """

    start: Ints  # (values + 1,)
    term: Ints32  # (occurrences in the dictionary,) codes of ``names``
    names: pl.Series  # (terms,) sorted

    @property
    def length(self) -> Ints:
        """The number of terms of every value."""
        return np.diff(self.start)

    def counts(self, count_of_value: Ints) -> Ints:
        """In how many rows each term occurs, from the number of rows with each value."""
        rows = np.repeat(count_of_value, self.length)
        return np.bincount(self.term, rows, len(self.names)).astype(np.int64)

    def codes_in(self, dictionary: Sequence[str]) -> Ints32:
        """For each occurrence the place of its term in another dictionary, −1 where absent."""
        place = {name: number for number, name in enumerate(dictionary)}
        code_of_name = np.array([place.get(name, -1) for name in self.names.to_list()], np.int32)
        return code_of_name[self.term] if len(self.term) else np.zeros(0, np.int32)


def terms_of(column: Column) -> Terms:
    """The values of a column split at its separator; once for the same column."""
    known = _split.get(column)
    if known is None:
        known = _split[column] = _split_cells(column)
    return known


_split: WeakKeyDictionary[Column, Terms] = WeakKeyDictionary()


def _split_cells(column: Column) -> Terms:
    """A column without a separator has a term a cell."""
    text = column.text
    has_terms = (text.is_not_null() & (text != SUPPRESSED)).fill_null(False)
    cells = text.filter(has_terms)
    length = np.zeros(len(text), np.int64)
    if column.separator is None:
        length[has_terms.to_numpy()] = 1
        flat = cells
    else:
        lists = cells.str.split(column.separator)
        length[has_terms.to_numpy()] = lists.list.len().to_numpy()
        flat = lists.explode() if len(lists) else cells
    names = flat.unique().sort()
    codes = flat.cast(pl.Enum(names)).to_physical().cast(pl.Int32).to_numpy()
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    return Terms(start, np.ascontiguousarray(codes), names)


BETWEEN = "\x1f"  # terms of a person, where each cell of the column has one


def term_rows(column: Column) -> pl.DataFrame:
    """The row and the term of each occurrence of a term."""
    listed = terms_of(column)
    length = listed.length[column.codes]
    start = np.repeat(listed.start[column.codes], length)
    within = np.arange(len(start)) - np.repeat(np.cumsum(length) - length, length)
    term = listed.names.gather(pl.Series(listed.term[start + within], dtype=pl.Int64))
    return pl.DataFrame({"row": np.repeat(np.arange(len(column.codes)), length), "term": term})


def union_of_rows(column: Column, persons: Persons) -> Column:
    """A cell for each person with the terms of all their rows.

    It is ``*`` where rows lost all their terms, and empty where no row ever had any.
    """
    separator = column.separator or BETWEEN
    occurring = term_rows(column)
    person = pl.Series("person", persons.number[occurring["row"].to_numpy()])
    joined = _joined(occurring.select(person.alias("row"), "term").unique(), separator)
    emptied = (column.text == SUPPRESSED).fill_null(False).to_numpy()[column.codes]
    cells: list[str | None] = [None] * persons.count
    for of_person in np.unique(persons.number[emptied]):
        cells[of_person] = SUPPRESSED
    for of_person, text in joined.iter_rows():
        cells[of_person] = text
    return _coded(replace(column, separator=separator), pl.Series(column.name, cells, pl.String))


def rows_within(column: Column, persons: Persons, union: Column) -> Column:
    """The cells of rows, with the terms that the cell of their person still has."""
    occurring = term_rows(column).with_columns(
        pl.Series("person", persons.number[term_rows(column)["row"].to_numpy()])
    )
    left = term_rows(union).rename({"row": "person"})
    remaining = occurring.join(left, on=["person", "term"], how="semi")
    if remaining.height == occurring.height:
        return column
    cells = column.text.gather(pl.Series(column.codes)).to_list()
    for row in occurring["row"].unique().to_list():
        cells[row] = SUPPRESSED
    for row, text in _joined(
        remaining.select("row", "term"), column.separator or BETWEEN
    ).iter_rows():
        cells[row] = text
    return _coded(column, pl.Series(column.name, cells, pl.String))


def _joined(terms: pl.DataFrame, separator: str) -> pl.DataFrame:
    """The cell of each row that has terms."""
    ordered = terms.sort("row", "term")
    return ordered.group_by("row", maintain_order=True).agg(pl.col("term").str.join(separator))


def _coded(column: Column, cells: pl.Series) -> Column:
    """A column of the same name and role with other cells."""
    distinct = cells.unique().sort(nulls_last=True)
    place = {cell: code for code, cell in enumerate(distinct.to_list())}
    codes = np.array([place[cell] for cell in cells.to_list()], np.int32)
    return replace(column, codes=codes, text=distinct, values=distinct, weights=None, total=None)


UNLINKED = -1


@dataclass(frozen=True, eq=False)
class Links:
    """The label set of every value of a quasi-sensitive column, and the prior over the labels."""

    knowledge: Knowledge
    set_of_value: Ints32  # (values,) UNLINKED where a value links to nothing
    start: Ints  # (sets + 1,)
    label: Ints32  # (Σ sizes,) the labels of each set, ascending
    prior: Floats | None = None  # (labels,) α, where it is known

    @property
    def size(self) -> Ints:
        """The number of labels in each set."""
        return np.diff(self.start)

    def rows_of_set(self, count_of_value: Ints) -> Ints:
        """Return how many rows link to each set, from the number of rows with each value."""
        linked = self.set_of_value >= 0
        return np.bincount(
            self.set_of_value[linked], count_of_value[linked], len(self.start) - 1
        ).astype(np.int64)

    def unlinked_rows(self, count_of_value: Ints) -> int:
        """Return how many rows link to nothing."""
        return int(count_of_value[self.set_of_value < 0].sum())

    def with_prior(self, prior: Floats | None) -> Links:
        """The same links with a prior that was found elsewhere."""
        return replace(self, prior=prior)


def link(column: Column, knowledge: Knowledge) -> Links:
    """Link the values of a column; the prior is the table's own, if it has one."""
    return link_terms(terms_of(column), knowledge)


def link_terms(terms: Terms, knowledge: Knowledge) -> Links:
    """The same from the terms of the values."""
    set_of_value, bits = _label_sets(
        terms.start,
        terms.codes_in(knowledge.terms),
        knowledge.labels_of_term,
        every_label(len(knowledge.labels)),
    )
    start, label = _members(bits)
    return Links(knowledge, set_of_value, start, label, knowledge.weight)


def estimated_prior(links: Links, count_of_value: Ints) -> Floats:
    """α(L): the mean over the linked rows of 1/|K| for the labels of K (the paper's α̂).

    Where no row is linked nothing is known, and all labels are as likely.
    """
    rows = links.rows_of_set(count_of_value)
    labels = len(links.knowledge.labels)
    linked = int(rows.sum())
    if not linked:
        return np.full(labels, 1 / max(labels, 1))
    share = np.repeat(rows / links.size, links.size)
    return np.asarray(np.bincount(links.label, share, labels) / linked, np.float64)


def _label_sets(
    start: Ints,
    term: Ints32,  # codes in the knowledge table, −1 for a term that it lacks
    labels_of_term: Words,
    everything: Words,
) -> tuple[Ints32, Words]:
    """The number of each value's label set, and the distinct sets as bit rows."""
    nothing = np.zeros((1, len(everything)), np.uint64)
    labels_of_term = np.concatenate((labels_of_term, nothing))  # the last for the code −1
    set_of_value = np.empty(len(start) - 1, np.int32)
    number_of_row: dict[bytes, int] = {nothing.tobytes(): UNLINKED}
    for part in stretches(np.diff(start) * len(everything)):
        within = term[start[part.start] : start[part.stop]]
        bits = np.tile(everything, (part.stop - part.start, 1))
        filled = np.flatnonzero(np.diff(start)[part])
        if len(filled):
            first = start[part.start + filled] - start[part.start]
            bits[filled] = np.bitwise_and.reduceat(labels_of_term[within], first, axis=0)
        packed, width = bits.tobytes(), bits.itemsize * bits.shape[1]
        rows = (packed[at : at + width] for at in range(0, len(packed), width))
        set_of_value[part] = [number_of_row.setdefault(row, len(number_of_row) - 1) for row in rows]
    sets = np.frombuffer(b"".join(list(number_of_row)[1:]), np.uint64)
    return set_of_value, sets.reshape(-1, len(everything))


def _members(bits: Words) -> tuple[Ints, Ints32]:
    """Bit rows as lists of the places that are set."""
    by_byte = bits.astype("<u8").view(np.uint8)  # the first bit of a row is the first of a byte
    row, member = np.nonzero(np.unpackbits(by_byte, axis=1, bitorder="little"))
    return starts_of(np.bincount(row, minlength=len(bits))), member.astype(np.int32)
