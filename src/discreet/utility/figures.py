"""The utility of a release, in the form in which a terminal, the manifest and JSON hold it.

A release as measures read it, and the figures that follow for every kind alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from discreet.result import Result
from discreet.table.budgets import FIGURE_ROWS
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.typing import Floats
from discreet.utility.implied import Implied

if TYPE_CHECKING:
    from discreet.knowledge.population_figures import PopulationFigures
    from discreet.utility.divergence import Divergence
    from discreet.utility.learning import Learning
    from discreet.utility.queries import QueryErrors, QueryWorkload
    from discreet.utility.terms import TermMeasures


@dataclass(frozen=True)
class Structure:
    """How a release is cut into classes."""

    classes: int
    class_size: float | None  # C_avg: source rows over classes; None where nothing is published
    discernibility: int  # Σ |class|² + suppressed × source rows
    height: int | None  # Σ of the levels of a full-domain recoding; None for any other


@dataclass(frozen=True, kw_only=True)
class Figures(Result, ABC):
    """What every kind of release has in common: the figures that are read from p2."""

    divergence: Divergence | None = None
    query_error: QueryErrors | None = None
    learning: Learning | None = None
    uniform: Mapping[str, float] = field(default_factory=dict)  # as a decomposition's paper reads
    population: PopulationFigures | None = None  # the risk of links, where sizes are known

    @property
    @abstractmethod
    def loss(self) -> float:
        """The mean over all quasi-identifier cells."""

    @property
    def kl_divergence(self) -> float | None:
        """Σ p1 ln(p1/p2) in nats."""
        return None if self.divergence is None else self.divergence.release.kl_divergence

    @property
    def divergence_ratio(self) -> float | None:
        """D: 0 = the original, 1 = all attributes independent."""
        return None if self.divergence is None else self.divergence.release.ratio

    def with_divergence(self, divergence: Divergence) -> Self:
        """The same with what was measured of the whole distribution."""
        return replace(self, divergence=divergence)

    def lines(self) -> list[str]:
        """For a terminal."""
        lines = [] if self.divergence is None else self.divergence.lines()
        if self.query_error is not None:
            lines.append(self.query_error.line())
        lines += [_line(name, figure) for name, figure in self.uniform.items()]
        if self.learning is not None:
            lines += self.learning.lines()
        if self.population is not None:
            lines += [
                f"population risk      {self.population.average:.4f}   mean over rows; at most "
                f"{self.population.maximum:.4f}"
            ]
        return lines

    def written(self) -> dict[str, Any]:
        """For the manifest and JSON; what was not measured is left out."""
        result: dict[str, Any] = dict(self.uniform)
        if self.query_error is not None:
            result["query_error"] = self.query_error.to_dict()
        if self.divergence is not None:
            result |= self.divergence.to_dict()
        if self.learning is not None:
            result["learning"] = self.learning.to_dict()
        if self.population is not None:
            result["population"] = self.population.to_dict()
        return result


@dataclass(frozen=True, kw_only=True)
class Measures(Figures):
    """The utility of a release with one set of classes or groups."""

    structure: Structure
    loss_by_attribute: Mapping[str, float]  # quasi-identifiers
    loss_by_sensitive: Mapping[str, float]  # above 0 where sensitive values are left open
    entropy: float  # non-uniform, bits, Σ over all quasi-identifier cells
    importance: Mapping[str, float] = field(default_factory=dict)  # of quasi-identifiers; else 1
    counts: Mapping[str, int | float] = field(default_factory=dict)  # counterfeits, masked cells, …
    further: Mapping[str, Any] = field(default_factory=dict)  # what only one kind of release has
    terms: Mapping[str, TermMeasures] = field(default_factory=dict)  # quasi-sensitive attributes

    @property
    def loss(self) -> float:
        weights = [self.importance.get(name, 1.0) for name in self.loss_by_attribute]
        if not weights:
            return 0.0
        return float(np.average(list(self.loss_by_attribute.values()), weights=weights))

    @property
    def loss_sensitive(self) -> float | None:
        """The mean over sensitive attributes of what each row's value may still be."""
        return _mean(self.loss_by_sensitive) if self.loss_by_sensitive else None

    def __str__(self) -> str:
        lines = [
            f"information loss     {self.loss:.4f}   quasi-identifiers: 0 = exact, 1 = suppressed",
            _classes(self.structure),
            f"discernibility       {self.structure.discernibility:,}",
            f"entropy loss         {self.entropy:,.1f} bits",
        ]
        if self.loss_sensitive:
            lines.append(
                f"possible values      {self.loss_sensitive:.4f}   mean share of sensitive values "
                "that remain possible"
            )
        if self.structure.height is not None:
            lines.append(
                f"height               {self.structure.height}   sum of generalization levels"
            )
        lines += [_line(name, figure) for name, figure in self.counts.items()]
        lines += [
            _line(name, figure)
            for name, figure in self.further.items()
            if isinstance(figure, int | float)
        ]
        lines += self.lines()
        lines += [str(measures) for measures in self.terms.values()]
        return "\n".join(lines)

    def to_dict(self, *, private: bool = False) -> dict[str, Any]:
        """The manifest's ``utility``; what does not apply is left out.

        ``private`` adds what the publisher may see and a release must not hold.
        """
        result: dict[str, Any] = {
            "discernibility": self.structure.discernibility,
            "loss": self.loss,
            "entropy": self.entropy,
            "class_size": self.structure.class_size,
            "height": self.structure.height,
            "classes": self.structure.classes,
            "loss_by_attribute": dict(self.loss_by_attribute),
            "loss_sensitive": self.loss_sensitive,
            "terms": {
                name: measures.to_dict(private=private) for name, measures in self.terms.items()
            }
            or None,
            **self.counts,
            **self.further,
            **self.written(),
        }
        return {key: value for key, value in result.items() if value is not None}


def counted_rows(suppressed_rows: int, rows: int) -> dict[str, int | float]:
    """Return how many rows were suppressed; nothing where none were."""
    if not suppressed_rows:
        return {}
    return {"suppressed_rows": suppressed_rows, "suppressed_share": suppressed_rows / rows}


def _classes(structure: Structure) -> str:
    line = f"classes              {structure.classes:,}"
    if structure.class_size is None:
        return line
    return f"{line}   {structure.class_size:.1f} source rows on average"


def _line(name: str, figure: int | float) -> str:
    shown = f"{figure:.4f}" if isinstance(figure, float) else f"{figure:,}"
    return f"{name.replace('_', ' '):20} {shown}"


@dataclass(frozen=True, kw_only=True)
class ProjectedMeasures(Figures):
    """The utility of a release of several tables with classes of their own."""

    tables: Mapping[str, Measures]
    association_loss: float  # Γα

    @property
    def loss(self) -> float:
        """The mean over all quasi-identifier cells of all tables."""
        return float(np.mean([table.loss for table in self.tables.values()]))

    @property
    def loss_sensitive(self) -> float | None:
        """The mean over sensitive attributes, each in its own table."""
        losses = {n: loss for t in self.tables.values() for n, loss in t.loss_by_sensitive.items()}
        return _mean(losses) if losses else None

    def with_divergence(self, divergence: Divergence) -> Self:
        """The association lost between sensitive attributes is Γα, what is in one table."""
        release = replace(divergence.release, association_sensitive=self.association_loss)
        return replace(self, divergence=replace(divergence, release=release))

    def __str__(self) -> str:
        lines = [
            f"information loss     {self.loss:.4f}   quasi-identifiers: 0 = exact, 1 = suppressed",
            f"association loss     {self.association_loss:.4f}   between sensitive attributes",
        ]
        for name, table in self.tables.items():
            lines.append(
                f"{name:20} loss {table.loss:.4f}, {table.structure.classes:,} classes, "
                f"discernibility {table.structure.discernibility:,}"
            )
        return "\n".join([*lines, *self.lines()])

    def to_dict(self, *, private: bool = False) -> dict[str, Any]:
        """The manifest's ``utility``."""
        return {
            "loss": self.loss,
            "association": {"sensitive": self.association_loss},
            "tables": {name: table.to_dict() for name, table in self.tables.items()},
            **self.written(),
        }


def _mean(loss_of_attribute: Mapping[str, float]) -> float:
    return float(np.mean(list(loss_of_attribute.values()))) if loss_of_attribute else 0.0


Found = TypeVar("Found", Measures, ProjectedMeasures)


@dataclass(frozen=True, eq=False)
class ImpliedReading(Generic[Found]):
    """Figures of a release's shape, and the distribution p2 that it implies."""

    original: CodedTable  # with the domains that the release shows
    measures: Found
    imply: Callable[[], Implied]
    # of a decomposed release: p2 as its paper reads it
    imply_uniform: Callable[[], Implied] | None = None
    # where rows have sampling weights: p2 in which each row has its weight
    imply_weighted: Callable[[], Implied] | None = None
    persons: Persons | None = None  # of the original's rows, where one may have several
    population: PopulationFigures | None = None  # the risk of links to a population

    @cached_property
    def implied(self) -> Implied:
        """p2, made when it is first needed."""
        return self.imply()

    @property
    def weights(self) -> Floats | None:
        """(rows,) Of the original, where p2 can be read with weights and rows are counted."""
        counted = self.imply_weighted is None or self.persons is not None
        return None if counted else self.original.analysis_weights

    @cached_property
    def for_analysts(self) -> Implied:
        """p2 as analysts read it: with weights, where there are any."""
        if self.weights is None or self.imply_weighted is None:
            return self.implied
        return self.imply_weighted()

    def measured(
        self, queries: QueryWorkload | None = None, seed: int = 0, *, divergence: bool = True
    ) -> Found:
        """The figures of p2 too; without queries, of small tables alone."""
        return replace(self._measured(queries, seed, divergence), population=self.population)

    def _measured(self, queries: QueryWorkload | None, seed: int, divergence: bool) -> Found:
        from discreet.utility.divergence import diverge  # an audit measures nothing

        if queries is None:
            divergence = divergence and self.original.rows <= FIGURE_ROWS
        if not self.original.rows or (queries is None and not divergence):
            return self.measures
        measures = self.measures
        if divergence:
            measures = measures.with_divergence(diverge(self.original, self.implied))
        if queries is not None:
            from discreet.utility.queries import query_errors

            weights = self.weights
            errors = query_errors(
                self.original, self.for_analysts, queries, seed, self.persons, weights
            )
            measures = replace(measures, query_error=errors)
        if self.imply_uniform is not None and divergence:
            uniform = self._uniform(self.imply_uniform(), queries, seed)
            measures = replace(measures, uniform=uniform)
        return measures

    def _uniform(
        self, implied: Implied, queries: QueryWorkload | None, seed: int
    ) -> dict[str, float]:
        """The headlines of the paper's reading."""
        from discreet.utility.divergence import distance

        away = distance(self.original, implied)
        headlines = {"kl_uniform": away.kl_divergence, "divergence_ratio_uniform": away.ratio}
        if queries is not None:
            from discreet.utility.queries import query_errors

            errors = query_errors(self.original, implied, queries, seed)
            headlines["query_error_uniform"] = None if errors is None else errors.release.median
        return {name: figure for name, figure in headlines.items() if figure is not None}
