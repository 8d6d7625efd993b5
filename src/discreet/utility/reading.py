"""A release as measures read it, and the figures that follow for every kind alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons
from discreet.typing import Floats
from discreet.utility.figures import Measures, ProjectedMeasures
from discreet.utility.implied import Implied

if TYPE_CHECKING:
    from discreet.knowledge.population_figures import PopulationFigures
    from discreet.utility.queries import QueryWorkload

# Divergences take as long as a method on large tables: without queries they are left out above it.
DIVERGENCE_ROWS = 100_000

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
            divergence = divergence and self.original.rows <= DIVERGENCE_ROWS
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
