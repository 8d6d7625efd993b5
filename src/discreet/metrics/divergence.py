"""How far p2 is from the original: divergence of pairs of attributes, and association kept.

*Divergence ratio* D: Σ KL(p1_ab‖p2_ab) / Σ I_ab over all pairs of a quasi-identifier and a
sensitive attribute and of two sensitive attributes. 0 is the original, 1 no link at all.
*Association*: Σ|I − I'| / Σ I, I' being the mutual information in p2, apart for both sorts of
pairs; 0 where everything is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.data.table import CodedTable, Column

Floats = NDArray[np.float64]

PAIR_CELLS = 2**24  # a two-way table with more cells is left out, and counted as such


class PairTables(Protocol):
    """A distribution that knows its two-way tables, as masses that add up to the rows."""

    def pair_table(self, quasi_identifier: Column, sensitive: Column) -> Floats: ...

    def sensitive_pair_table(self, first: Column, second: Column) -> Floats: ...


@dataclass(frozen=True)
class PairDivergence:
    """What is left of the links between pairs of attributes."""

    ratio: float | None  # D; None where nothing is linked in the original
    association: float | None  # quasi-identifier–sensitive: Σ|I − I'| / Σ I
    association_sensitive: float | None  # sensitive–sensitive
    pairs_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """For the manifest and JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def pair_divergence(original: CodedTable, release: PairTables) -> PairDivergence:
    """Compare all pairs of attributes."""
    figures: dict[bool, list[tuple[float, float, float]]] = {True: [], False: []}
    left_out = 0
    for first, second, mixed in _pairs(original):
        if first.cardinality * second.cardinality > PAIR_CELLS:
            left_out += 1
            continue
        table = release.pair_table if mixed else release.sensitive_pair_table
        figures[mixed].append(_compare(_counts(first, second), table(first, second)))
    every = [*figures[True], *figures[False]]
    linked = sum(information for information, _, _ in every)
    return PairDivergence(
        ratio=sum(away for _, _, away in every) / linked if linked > 0 else None,
        association=_lost(figures[True]),
        association_sensitive=_lost(figures[False]),
        pairs_left_out=left_out,
    )


def _pairs(table: CodedTable) -> Iterator[tuple[Column, Column, bool]]:
    for quasi_identifier in table.quasi_identifiers:
        for sensitive in table.sensitive:
            yield quasi_identifier, sensitive, True
    for first, second in combinations(table.sensitive, 2):
        yield first, second, False


def _counts(first: Column, second: Column) -> Floats:
    cell = first.codes.astype(np.int64) * second.cardinality + second.codes
    shape = first.cardinality, second.cardinality
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _compare(original: Floats, release: Floats) -> tuple[float, float, float]:
    """I in the original, I' in the release, and the divergence between them; nats."""
    total = original.sum()
    seen = original > 0
    with np.errstate(divide="ignore"):
        away = float(original[seen] @ np.log(original[seen] / release[seen]) / total)
    return _information(original), _information(release), max(away, 0.0)


def _information(table: Floats) -> float:
    total = table.sum()
    rows, columns = np.nonzero(table > 0)
    cell = table[rows, columns]
    expected = table.sum(axis=1)[rows] * table.sum(axis=0)[columns] / total
    return max(float(cell @ np.log(cell / expected) / total), 0.0)


def _lost(figures: list[tuple[float, float, float]]) -> float | None:
    linked = sum(information for information, _, _ in figures)
    if not linked:
        return None
    return sum(abs(before - after) for before, after, _ in figures) / linked
