"""The knowledge table E: sensitive labels and the set of terms that each is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

WORD = 64  # labels in a word of a bit row


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Labels with their sets of terms; labels and terms are sorted, and codes are places there."""

    labels: tuple[str, ...]
    terms: tuple[str, ...]
    term_start: NDArray[np.int64]  # (labels + 1,)
    term: NDArray[np.int32]  # (pairs,) the terms of each label, ascending
    weight: NDArray[np.float64] | None = None  # (labels,) the prior if the table gives one; Σ = 1
    doubled: tuple[str, ...] = ()  # labels on several lines, whose sets were joined

    @cached_property
    def labels_of_term(self) -> NDArray[np.uint64]:
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


def every_label(labels: int) -> NDArray[np.uint64]:
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
