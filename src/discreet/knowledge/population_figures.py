"""The risk that the rows of a table are linked to their persons in the population.

The risk that a row is re-identified, from the size of its class in the sample and population.

With f rows in a class of the published sample and F persons of the population who look alike, an
attacker who picks one of them is right with 1/F. Where F is not known, a row's sampling weight is
the number of persons that it represents, and the sum of a class's weights estimates F. Benedetti
and Franconi (1998, "Statistical and technological solutions for controlled data dissemination")
take the F − f persons of the class who are not in the sample as negative binomial with p = f / Σw
and use the expectation of 1/F given f. Its integral form is

    r(f, p) = ∫₀¹ y^(f−1) / (1 + a y) dy,   a = (1 − p) / p,

which falls in f and in a. So a union of classes has no greater risk than the riskier one, and
f · r = E[1 / (1 + a Y)] with Y ~ Beta(f, 1) falls in f too, so the expected number of
re-identifications never rises when classes are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.knowledge.population import Population
from discreet.knowledge.uniqueness import (
    UniquenessEstimate,
    counted_uniqueness,
    estimate_uniqueness,
)
from discreet.statements import Statement
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable
from discreet.table.counts import summed_weights
from discreet.typing import AnyInts, Floats, Ints, Ints32

TERMS = 90  # of the series, whose terms fall faster than 2^-j
LARGE = 20  # from here on the series converges whatever a is


def risk_from_weights(rows: Ints, weight: Floats) -> Floats:
    """(classes,) The expectation of 1/F given the rows and the sum of weights of each class."""
    size = np.asarray(rows, np.float64)
    a = np.maximum(weight / np.maximum(size, 1.0) - 1.0, 0.0)
    risk = np.empty(len(size))
    series = (a < 1) | (size >= LARGE)
    risk[series] = _by_series(size[series], a[series])
    risk[~series] = _by_recurrence(size[~series], a[~series])
    return risk


def _by_series(f: Floats, a: Floats) -> Floats:
    """Sum p/f · Σ j! q^j / ((f + 1) … (f + j)), all of whose terms are positive."""
    q = a / (1 + a)
    term = 1 / (f * (1 + a))
    total = term.copy()
    for j in range(1, TERMS):
        term = term * (j * q / (f + j))
        total += term
    return total


def _by_recurrence(f: Floats, a: Floats) -> Floats:
    """Start from r(1) = ln(1 + a) / a and use r(f + 1) = (1/f − r(f)) / a, stable for a ≥ 1."""
    term = np.log1p(a) / np.maximum(a, 1.0)
    risk = term.copy()
    for size in range(2, LARGE):
        term = (1 / (size - 1) - term) / np.maximum(a, 1.0)
        risk = np.where(f == size, term, risk)
    return risk


def household_risks(risk: Floats, household: AnyInts) -> Floats:
    """(households,) The risk that at least one member is re-identified: 1 − Π (1 − r).

    ``risk`` and ``household`` have an entry a row; members are taken as independent.
    """
    with np.errstate(divide="ignore"):
        log_safe = np.log1p(-np.minimum(risk, 1.0))
    return -np.expm1(np.bincount(household, log_safe))


THRESHOLD = 0.09  # EMA policy 0070 and Health Canada
SOURCES = {
    source: Statement(f"population.source.{source}") for source in ("table", "weights", "size")
}


@dataclass(frozen=True)
class HouseholdRisk:
    """The risk that at least one member of a household is linked."""

    households: int
    average: float
    maximum: float


@dataclass(frozen=True)
class PopulationFigures:
    """Risks of the rows of a table, by the persons of the population in their classes."""

    source: str  # a key of ``SOURCES``
    persons: float  # of the population
    smallest: float  # the persons of the population in the smallest class: k of k-map
    average: float  # risk
    maximum: float
    rows_above: int  # with a risk above the threshold
    threshold: float = THRESHOLD
    households: HouseholdRisk | None = None
    uniqueness: UniquenessEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data, without those that are not known."""
        figures = {name: value for name, value in asdict(self).items() if value is not None}
        if self.uniqueness is not None:
            figures["uniqueness"] = self.uniqueness.to_dict()
        return figures

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> PopulationFigures:
        """Read the figures that ``to_dict`` wrote."""
        households = known.get("households")
        household_risk = None if households is None else HouseholdRisk(**households)
        unique = known.get("uniqueness")
        estimate = None if unique is None else UniquenessEstimate.of(unique)
        return cls(**{**known, "households": household_risk, "uniqueness": estimate})

    def sentences(self) -> Iterator[str]:
        """Return the figures in sentences, for a terminal and for pages."""
        yield Statement(
            "population.risk",
            persons=self.persons,
            source=SOURCES[self.source],
            average=self.average,
            maximum=self.maximum,
            rows=self.rows_above,
            threshold=self.threshold,
            smallest=self.smallest,
        )
        if self.households is not None:
            yield Statement("population.households", **asdict(self.households))
        if self.uniqueness is None:
            return
        yield from self.uniqueness.sentences()
        if self.uniqueness.reason is not None:
            yield (
                "Weights alone rate the risk of unique rows too low: take the figures above as a "
                "lower bound."
            )


def population_figures(
    table: CodedTable,
    *,
    people: Ints | None = None,
    size: float | None = None,
    household: Ints32 | None = None,
) -> PopulationFigures | None:
    """Measure the risks of a table's rows; None where nothing is known of a population.

    ``people`` has the persons whom each class fits, and last those whom none does. Else sampling
    weights of the table are summed up, and else rows represent the population of a size equally.
    ``household`` has the number of each row's household.
    """
    classes = table.classes
    if not table.rows or not table.quasi_identifiers or table.weights is not None:
        return None
    # The size of each class in the population: counted, from weights, or in proportion.
    weight = summed_weights(table, classes)
    if people is not None:
        source, persons, known = "table", float(people.sum()), people[:-1].astype(np.float64)
        risk = 1 / np.maximum(known, 1.0)
        unique = counted_uniqueness(classes.size, people[:-1])
    elif weight is not None:
        source, persons, known = "weights", float(weight.sum()), weight
        unique = estimate_uniqueness(classes.size, persons, table.sampling_weights)
        risk = _estimated(classes.size, known, unique)
    elif size is not None:
        source, persons = "size", max(size, float(table.rows))
        known = (classes.size * (persons / table.rows)).astype(np.float64)
        unique = estimate_uniqueness(classes.size, persons)
        risk = _estimated(classes.size, known, unique)
    else:
        return None
    # Every row has the risk of its class.
    return PopulationFigures(
        source,
        persons,
        float(known.min()),
        float(risk @ classes.size) / table.rows,
        float(risk.max()),
        int(classes.size[risk > THRESHOLD].sum()),
        households=None if household is None else _households(risk, classes, household),
        uniqueness=unique,
    )


def _estimated(rows: Ints, weight: Floats, unique: UniquenessEstimate) -> Floats:
    """The risk of each class: by the fitted mixture for small classes, else by weights.

    Where many rows are unique, weights alone rate their risk far too low (Rinott, 2003): they take
    no account of how many classes of the population have a single person.
    """
    risk = risk_from_weights(rows, weight)
    known = len(unique.risk_of_size)
    small = rows <= known
    if known:
        risk[small] = np.array(unique.risk_of_size)[rows[small] - 1]
    return risk


def _households(risk: Floats, classes: Classes, household: Ints32) -> HouseholdRisk:
    number = np.unique(household, return_inverse=True)[1]
    risks = household_risks(risk[classes.class_of_row], number)
    return HouseholdRisk(len(risks), float(risks.mean()), float(risks.max()))


def persons_of_classes(table: CodedTable, population: Population | None) -> Ints | None:
    """(classes + 1,) The persons with the values of each class of an original, and all others."""
    if population is None:
        return None
    recoded = population.recoded(table)
    kind = population.kind_of_row(recoded)[table.classes.first_row]
    known = population.kinds.size[kind]
    return np.append(known, population.rows - int(known.sum()))
