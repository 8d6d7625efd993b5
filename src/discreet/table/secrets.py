"""Columns that reveal each other: one secret in several columns.

A column A determines B where each value of A occurs with one value of B, and nearly determines it
where H(B|A) ≤ 0.05·H(B). Columns that are connected by such dependencies are one *secret*; an
attacker who knows one of them knows (nearly) the others without any release.

A value that a single row has is no evidence: rows with such a value of A count as if A revealed
nothing. So a column of nearly distinct values determines nothing, and a near dependency needs that
at most 5 % of the rows have a value of A for themselves.

Cost: a count of each pair of columns, after a look at some rows leaves few pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.statements import Statement
from discreet.table.budgets import LOOKED_AT
from discreet.table.coded_table import Column, Itself
from discreet.typing import AnyInts, Floats

NEARLY = 0.05  # the greatest H(B|A) / H(B)
UNLIKELY = 0.25  # H(B|A) / H(B) on these rows from which a pair is not counted
SAME_ORDER = 0.99  # the least correlation of the ranks of two versions of one column
LEAST_RANKS = 20  # distinct values of each
LEAST_ROWS = 30  # below which any two columns may seem to depend on each other


@dataclass(frozen=True)
class Dependency:
    """One column that determines another, or nearly."""

    first: str
    second: str
    remaining: float  # H(second | first) / H(second); 0 where each value of first has one value

    @property
    def exact(self) -> bool:
        """Whether each value of the first occurs with one value of the second."""
        return self.remaining == 0


@dataclass(frozen=True)
class Secret:
    """Columns that are one secret, the finest first."""

    columns: tuple[str, ...]
    dependencies: tuple[Dependency, ...]

    @property
    def finest(self) -> str:
        """The column that says most of the secret."""
        return self.columns[0]

    @property
    def sentence(self) -> Statement:
        """Why the columns are one secret."""
        follows = [
            Statement(
                "secret.follows" if dependency.exact else "secret.nearly-follows",
                first=dependency.first,
                second=dependency.second,
            )
            for dependency in self.dependencies
        ]
        return Statement("secret.found", columns=len(self.columns), reasons=follows)


def find_secrets(
    columns: Sequence[Column], dependencies: Sequence[Dependency] | None = None
) -> list[Secret]:
    """Return the secrets of several columns, in the order of the columns.

    ``dependencies`` are those among the columns, where they are known.
    """
    if dependencies is None:
        dependencies = find_dependencies(columns)
    names = [column.name for column in columns]
    entropy = {column.name: _entropy(column.counts) for column in columns}
    secrets = []
    for group in connected(
        names, ((dependency.first, dependency.second) for dependency in dependencies)
    ):
        ordered = sorted(group, key=lambda name: (-entropy[name], names.index(name)))
        inner = tuple(dependency for dependency in dependencies if dependency.first in group)
        secrets.append(Secret(tuple(ordered), inner))
    return secrets


def find_dependencies(columns: Sequence[Column]) -> list[Dependency]:
    """Return every ordered pair of columns of which the first determines the second, or nearly."""
    rows = len(columns[0].codes) if columns else 0
    varying = [column for column in columns if np.count_nonzero(column.counts) > 1]
    if rows < LEAST_ROWS:
        return []
    # a column whose rows have a value for themselves determines nothing
    known = [c for c in varying if c.counts[c.counts == 1].sum() <= NEARLY * rows]
    weights = columns[0].weights
    step = 1 if weights is not None else -(-rows // LOOKED_AT)
    entropy = {column.name: _entropy(column.counts) for column in varying}
    dependencies = []
    for first in known:
        for second in varying:
            # H(B|A) ≥ H(B) − H(A)
            least = 1 - entropy[first.name] / entropy[second.name]
            if second is first or least > NEARLY + 1e-9:
                continue
            key = ("dependency", Itself(second))  # several rooms ask about the same pairs
            found = first.once(key, partial(_dependency, first, second, step))
            if found is not None:
                dependencies.append(found)
    return dependencies


def _dependency(first: Column, second: Column, step: int) -> Dependency | None:
    """Return how the first column determines the second, or nearly; None where it does not."""
    if step > 1 and _remaining(first, second, step) > UNLIKELY:
        return None
    remaining = _remaining(first, second)
    if remaining > NEARLY:
        return None
    pairs = np.unique(first.codes.astype(np.int64) * second.cardinality + second.codes)
    exact = len(pairs) == np.count_nonzero(first.counts)
    return Dependency(first.name, second.name, 0.0 if exact else remaining)


def are_versions(first: Column, second: Column) -> bool:
    """Whether two ordered columns order the rows alike, as a birth date and an age do."""
    if first.numbers is None or second.numbers is None or len(first.codes) < LEAST_ROWS:
        return False
    step = -(-len(first.codes) // LOOKED_AT)
    pair = first.numbers[first.codes[::step]], second.numbers[second.codes[::step]]
    known = ~(np.isnan(pair[0]) | np.isnan(pair[1]))
    if known.sum() < LEAST_ROWS or known.mean() < 1 - NEARLY:
        return False
    ranks = [_ranks(numbers[known]) for numbers in pair]
    if min(len(np.unique(rank)) for rank in ranks) < LEAST_RANKS:
        return False  # few values have ties for ranks
    correlation = np.asarray(np.corrcoef(ranks))
    return bool(abs(correlation[0, 1]) >= SAME_ORDER)


def _ranks(numbers: Floats) -> Floats:
    """(rows,) The rank of each number, the mean of its ranks where it occurs several times."""
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    mean: Floats = np.cumsum(count) - (count - 1) / 2
    return mean[place]


def connected(names: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of at least two names that pairs connect, in the order of the names."""
    group_of = {name: {name} for name in names}
    for first, second in pairs:
        if group_of[first] is not group_of[second]:
            joined = group_of[first] | group_of[second]
            group_of |= dict.fromkeys(joined, joined)
    groups = {id(group): group for group in group_of.values() if len(group) > 1}
    return [[name for name in names if name in group] for group in groups.values()]


def _remaining(first: Column, second: Column, step: int = 1) -> float:
    """H(second | first) / H(second), where rows with a value of their own reveal nothing.

    With a ``step``, on every so many rows, where a value that occurs once is left out instead.
    """
    pair = _sampled(first, step) * second.cardinality + _sampled(second, step)
    if first.weights is None and first.cardinality * second.cardinality <= len(pair):
        every = np.bincount(pair)
        pairs = np.flatnonzero(every)
        count = every[pairs]
    elif first.weights is None:
        pairs, count = np.unique(pair, return_counts=True)
    else:
        pairs, at = np.unique(pair, return_inverse=True)
        count = np.bincount(at, first.weights[::step], len(pairs)).astype(np.float64)
    of_first = (pairs // second.cardinality).astype(np.int64)
    total = np.bincount(of_first, count, first.cardinality)
    whole = _entropy(np.bincount((pairs % second.cardinality).astype(np.int64), count))
    if whole <= 0:
        return 1.0
    evident = total[of_first] > 1
    rows = float(count.sum())
    alone = float(count[~evident].sum())
    counts, size = count[evident], total[of_first][evident]
    inner = float(-(counts * np.log(counts / size)).sum())
    if step > 1:
        return inner / max(rows - alone, 1.0) / whole
    return (inner + alone * whole) / rows / whole


def _sampled(column: Column, step: int) -> NDArray[np.int64]:
    """Return the codes of every so many rows, side by side in memory where they are few."""
    if step == 1:
        return column.codes.astype(np.int64)
    return column.once(("sampled", step), lambda: column.codes[::step].astype(np.int64))


def _entropy(counts: AnyInts | Floats) -> float:
    """H of a distribution, in nats."""
    occurring = counts[counts > 0]
    share = occurring / max(occurring.sum(), 1)
    return float(-(share * np.log(share)).sum())
