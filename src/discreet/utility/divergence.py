"""How far p2 is from the original: divergence of pairs of attributes, and association kept.

*KL divergence*: Σ p1 ln(p1/p2) over the joint distribution of all attributes, in nats; the mean
over people of ln(people alike / mass at their values).

*Divergence ratio* D: Σ KL(p1_ab‖p2_ab) / Σ I_ab over all pairs of a quasi-identifier and a
sensitive attribute and of two sensitive attributes. 0 is the original, 1 are independent
attributes.
*Association*: Σ|I − I'| / Σ I, I' being the mutual information in p2, apart for both sorts of
pairs; 0 where everything is kept.

Pairs are counted in a random order. Where all would take longer than ``PAIR_SECONDS``, those that
were counted are a sample, and D is an estimate with an interval of 95 %: that of a ratio of two
means (delta method).

One attacker for all kinds of release, so that they can be compared on one plot.

The attacker knows every person's quasi-identifiers q and believes p2(s | q), what the release
implies of a sensitive value given them (of a decomposed release the raked p2). What counts is the
belief in the true value: its 99th percentile over people, since the greatest alone is 1 for many a
release that is sound, and the mean is utility in disguise. Of a person with several rows the row
counts whose value the attacker believes in most. Only sensitive values count: to believe in one
that may be disclosed harms no person.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from discreet.requirements.mutual_information import NEGLIGIBLE
from discreet.table.budgets import SAMPLE, TABLE_CELLS
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons
from discreet.table.roles import Role
from discreet.typing import Bools, Floats, Ints
from discreet.utility.implied import Implied, ImpliedUnlinked, exact

Pair = tuple[Column, Column]
PAIR_SECONDS = 3.0  # of processor time, after which the pairs that were counted are a sample
FEWEST_PAIRS = 10  # that are counted in any case


@dataclass(frozen=True)
class DistributionDistance:
    """How far one distribution is from the original."""

    kl_divergence: float | None  # nats, of the joint distribution of all attributes
    ratio: float | None  # D; None where nothing is linked in the original
    association: float | None  # quasi-identifier–sensitive: Σ|I − I'| / Σ I
    association_sensitive: float | None  # sensitive–sensitive
    ratio_interval: tuple[float, float] | None = None  # where pairs are drawn


@dataclass(frozen=True)
class Divergence:
    """The distance of a release beside that of the unlinked baseline."""

    release: DistributionDistance
    unlinked: DistributionDistance
    pairs_left_out: int  # two-way tables that are too large
    pairs_drawn: int | None = None  # of which figures are estimated; None where all are counted

    def lines(self) -> list[str]:
        """For a terminal."""
        # A line for each figure, beside that of the baseline.
        shown = (
            ("divergence ratio", self.release.ratio, self.unlinked.ratio, ""),
            ("KL divergence", self.release.kl_divergence, self.unlinked.kl_divergence, " nats"),
            ("association lost", self.release.association, self.unlinked.association, ""),
            (
                "between sensitive",
                self.release.association_sensitive,
                self.unlinked.association_sensitive,
                "",
            ),
        )
        lines = [
            f"{name:20} {figure:.4f}{unit}   unlinked baseline: {base:.4f}"
            for name, figure, base, unit in shown
            if figure is not None and base is not None
        ]
        interval = self.release.ratio_interval
        if interval is not None:
            low, high = interval
            lines.append(
                f"  estimated from {self.pairs_drawn:,} pairs of columns drawn at random: the "
                f"ratio is {low:.4f} to {high:.4f}"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """For the manifest and JSON: ``kl_divergence`` and ``divergence``."""
        release, unlinked = (
            {name: value for name, value in asdict(part).items() if value is not None}
            for part in (self.release, self.unlinked)
        )
        whole = {"kl_divergence": release.pop("kl_divergence", None)}
        return {
            **{name: value for name, value in whole.items() if value is not None},
            "divergence": {
                **release,
                "pairs_left_out": self.pairs_left_out,
                **({} if self.pairs_drawn is None else {"pairs_drawn": self.pairs_drawn}),
                "unlinked": unlinked,
            },
        }


def diverge(original: CodedTable, release: Implied) -> Divergence:
    """Return how far a release is from the original, and the baseline."""
    sides = original.quasi_identifiers, original.sensitive
    (published, unlinked), counted = _distances(
        original, [release, ImpliedUnlinked(sides, original.rows)]
    )
    countable = len(_countable_pairs(original))
    return Divergence(
        published,
        unlinked,
        pairs_left_out=len(_pairs(original)) - countable,
        pairs_drawn=counted if counted < countable else None,
    )


def distance(original: CodedTable, release: Implied) -> DistributionDistance:
    """Return how far one distribution is from the original."""
    (away,), _ = _distances(original, [release])
    return away


def _distances(
    original: CodedTable, releases: Sequence[Implied]
) -> tuple[list[DistributionDistance], int]:
    """Return how far some distributions are from the original, and by how many pairs of columns."""
    truth = exact([*original.quasi_identifiers, *original.sensitive], original.rows)
    pairs = _countable_pairs(original)
    figures = np.zeros((len(releases), len(pairs), 3))  # I, I', and the divergence, of each pair
    # Count pairs in a random order, as many as the time allows.
    counted = np.zeros(len(pairs), bool)
    ends = time.thread_time() + PAIR_SECONDS
    for place in np.random.default_rng(0).permutation(len(pairs)).tolist():
        if time.thread_time() > ends and counted.sum() >= FEWEST_PAIRS:
            break
        first, second = pairs[place]
        table = truth.pair_table(first, second)
        for number, release in enumerate(releases):
            figures[number, place] = _compare(table, release.pair_table(first, second))
        counted[place] = True
    # The figures of both sorts of pairs, with an interval where not all were counted.
    of_quasi = np.array([first.role is Role.QUASI_IDENTIFIER for first, _ in pairs], bool)
    distances = [
        DistributionDistance(
            kl_divergence=kl_divergence(original, release),
            ratio=_ratio(of_release[counted]),
            association=_lost(of_release[counted & of_quasi]),
            association_sensitive=_lost(of_release[counted & ~of_quasi]),
            ratio_interval=None if counted.all() else _ratio_interval(of_release[counted]),
        )
        for release, of_release in zip(releases, figures, strict=True)
    ]
    return distances, int(counted.sum())


def kl_divergence(original: CodedTable, release: Implied) -> float | None:
    """The divergence of the whole distribution; of a sample of people where it takes too long."""
    names = [column.name for column in original.sensitive]
    everybody = group_codes(
        [c.codes for c in (*original.quasi_identifiers, *original.sensitive)],
        [c.cardinality for c in (*original.quasi_identifiers, *original.sensitive)],
        original.rows,
    )
    first, size = everybody.first_row, everybody.size
    mass = release.mass_of_people(original.take(first), names)
    if mass is None:
        sample = sample_of(original.rows)
        first, size = sample, np.ones(len(sample), np.int64)
        mass = release.mass_of_people(original.take(sample), names)
    if mass is None or not len(mass):
        return None
    alike = everybody.size[everybody.class_of_row[first]]
    with np.errstate(divide="ignore"):
        return float(size @ np.log(alike / mass)) / float(size.sum())


def sample_of(rows: int) -> Ints:
    """Return a fixed sample of rows, used where all rows would take too long."""
    return np.sort(np.random.default_rng(0).choice(rows, min(rows, SAMPLE), replace=False))


def _pairs(table: CodedTable) -> list[Pair]:
    return [*product(table.quasi_identifiers, table.sensitive), *combinations(table.sensitive, 2)]


def _countable_pairs(table: CodedTable) -> list[Pair]:
    """Return the pairs whose two-way tables are not too large."""
    pairs = _pairs(table)
    return [pair for pair in pairs if pair[0].cardinality * pair[1].cardinality <= TABLE_CELLS]


def _ratio(figures: Floats) -> float | None:
    linked = float(figures[:, 0].sum())
    return float(figures[:, 2].sum()) / linked if linked > NEGLIGIBLE else None


def _ratio_interval(figures: Floats) -> tuple[float, float] | None:
    """Return the interval of a ratio of two means over drawn pairs."""
    ratio = _ratio(figures)
    if ratio is None:
        return None
    residual = figures[:, 2] - ratio * figures[:, 0]
    error = float(np.sqrt(residual.var(ddof=1) / len(residual)) / figures[:, 0].mean())
    return max(ratio - 1.96 * error, 0.0), ratio + 1.96 * error


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


def _lost(figures: Floats) -> float | None:
    linked = float(figures[:, 0].sum())
    if linked <= NEGLIGIBLE:
        return None
    return float(np.abs(figures[:, 0] - figures[:, 1]).sum()) / linked


@dataclass(frozen=True)
class WorstBelief:
    """The beliefs in the truth of the worst sensitive attribute."""

    percentile_99: float
    greatest: float


def fixed_reader(
    original: CodedTable,
    release: Implied,
    persons: Persons | None = None,
    sensitive_values: Mapping[str, Bools] | None = None,  # by attribute: (values,) which are
) -> WorstBelief | None:
    """What the attacker believes; None where nothing is sensitive or cells overlap too much."""
    marks = sensitive_values or {}
    by_attribute = [
        beliefs_in(original, release, column.name, persons, marks.get(column.name))
        for column in original.sensitive
    ]
    beliefs = [belief for belief in by_attribute if belief is not None and len(belief)]
    if not beliefs:
        return None
    return WorstBelief(
        max(float(np.percentile(belief, 99)) for belief in beliefs),
        max(float(belief.max()) for belief in beliefs),
    )


def beliefs_in(
    original: CodedTable,
    release: Implied,
    attribute: str,
    persons: Persons | None = None,
    sensitive: Bools | None = None,  # (values,) None where all are
) -> Floats | None:
    """(people,) The belief in the value of each person who has a sensitive one.

    Of a sample, where all would take too long.
    """
    # All people, or a sample where all would take too long.
    people = original
    known = release.mass_of_people(people, ())
    if known is None:
        sample = sample_of(original.rows)
        people, persons = original.take(sample), None if persons is None else persons.take(sample)
        known = release.mass_of_people(people, ())
    both = release.mass_of_people(people, [attribute])
    if known is None or both is None:
        return None
    # The belief in the true value, given the quasi-identifiers.
    belief = np.minimum(both / np.maximum(known, np.finfo(float).tiny), 1.0)
    targets = (
        np.ones(len(belief), bool) if sensitive is None else sensitive[people[attribute].codes]
    )
    # Of a person with several rows the greatest.
    if persons is None:
        return belief[targets]
    greatest = np.full(persons.count, -1.0)
    np.maximum.at(greatest, persons.number[targets], belief[targets])
    return greatest[greatest >= 0]
