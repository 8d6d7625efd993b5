"""All measures of a generalized table, in the form in which the manifest holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.errors import InputError
from discreet.hierarchies.coverage import Coverage, cover
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.links import Links
from discreet.metrics.divergence import PairDivergence
from discreet.metrics.implied import ImpliedGeneralized
from discreet.metrics.loss import entropy, loss_of_cells, mean_loss
from discreet.metrics.queries import QueryErrors, QueryWorkload, query_errors
from discreet.metrics.structure import Structure, structure
from discreet.metrics.terms import TermCoverage, TermMeasures, measure_terms, term_coverage
from discreet.shown import Shown


@dataclass(frozen=True)
class Measures(Shown):
    """The utility of a release."""

    structure: Structure
    loss_by_attribute: Mapping[str, float]  # quasi-identifiers
    loss_by_sensitive: Mapping[str, float]  # above 0 where sensitive cells are masked
    entropy: float  # non-uniform, bits, Σ over all quasi-identifier cells
    query_error: QueryErrors | None = None
    kl_divergence: float | None = None  # nats, of the joint distribution of all attributes
    pairs: PairDivergence | None = None
    further: Mapping[str, Any] = field(default_factory=dict)  # what only one kind of release has
    terms: Mapping[str, TermMeasures] = field(default_factory=dict)  # quasi-sensitive attributes

    @property
    def loss(self) -> float:
        """The mean over all quasi-identifier cells."""
        return _mean(self.loss_by_attribute)

    def __str__(self) -> str:
        lines = [
            f"loss                 {self.loss:.4f}   mean share of its range a cell leaves open",
            f"classes              {self.structure.classes:,}   with "
            f"{self.structure.class_size:.1f} source rows each on average",
            f"discernibility       {self.structure.discernibility:,}",
            f"entropy              {self.entropy:,.1f} bits given up",
        ]
        if self.structure.height is not None:
            lines.append(f"height               {self.structure.height}   levels climbed in all")
        if self.kl_divergence is not None:
            lines.append(f"KL divergence        {self.kl_divergence:.4f} nats")
        if self.pairs is not None and self.pairs.ratio is not None:
            lines.append(
                f"divergence ratio     {self.pairs.ratio:.4f}   0 the original, 1 no link at all"
            )
        lines += [f"{name.replace('_', ' '):20} {figure}" for name, figure in self._shown()]
        if self.query_error is not None:
            lines.append(self.query_error.line())
        lines += [str(found) for found in self.terms.values()]
        return "\n".join(lines)

    def _shown(self) -> list[tuple[str, str]]:
        return [
            (name, f"{figure:.4f}" if isinstance(figure, float) else f"{figure:,}")
            for name, figure in self.further.items()
            if isinstance(figure, int | float)
        ]

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
            "loss_sensitive": _mean(self.loss_by_sensitive) if self.loss_by_sensitive else None,
            "terms": {name: found.to_dict(private=private) for name, found in self.terms.items()}
            or None,
            "query_error": None if self.query_error is None else self.query_error.to_dict(),
            "kl_divergence": self.kl_divergence,
            "divergence": None if self.pairs is None else self.pairs.to_dict(),
            **self.further,
        }
        return {key: value for key, value in result.items() if value is not None}


def _mean(loss_of_attribute: Mapping[str, float]) -> float:
    return float(np.mean(list(loss_of_attribute.values()))) if loss_of_attribute else 0.0


def measure_generalized(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None = None,
    queries: QueryWorkload | None = None,
    seed: int = 0,
    links: Mapping[str, Links] | None = None,
) -> Measures:
    """Measure the published rows of a generalized release against the original.

    ``levels`` are those of a full-domain recoding; with them a label that a hierarchy has on
    several levels is read on the one that was used. ``queries`` None leaves the queries out.
    Every value in the original's dictionaries must occur: they are the domain of each attribute.
    """
    sensitive = [column.name for column in original.sensitive]
    parts = measure_parts(original, hierarchies, published, suppressed_rows, levels, sensitive)
    measures, implied = parts.measures, parts.implied
    if original.quasi_sensitive:
        measures, implied = _with_terms(parts, original, published, suppressed_rows, links or {})
    if queries is None:
        return measures
    return replace(measures, query_error=query_errors(original, implied, queries, seed))


def _with_terms(
    parts: Parts,
    original: CodedTable,
    published: CodedTable,
    suppressed_rows: int,
    links: Mapping[str, Links],
) -> tuple[Measures, ImpliedGeneralized]:
    """The same with what is left of the quasi-sensitive attributes."""
    _check_same_people(original.quasi_sensitive, original.rows, published, suppressed_rows)
    columns = [*parts.quasi_identifiers, *parts.sensitive]
    coverages: dict[str, Coverage | TermCoverage] = {**parts.coverages}
    terms = {}
    for column in original.quasi_sensitive:
        cells = _occurring(published[column.name])
        columns.append(cells)
        coverages[column.name] = term_coverage(column, cells)
        terms[column.name] = measure_terms(column, cells, published.classes, links.get(column.name))
    implied = ImpliedGeneralized(columns, coverages, published.rows, suppressed_rows)
    return replace(parts.measures, terms=terms), implied


@dataclass(frozen=True, eq=False)
class Parts:
    """The measures of one generalized table, and what they were made from."""

    measures: Measures
    implied: ImpliedGeneralized
    coverages: Mapping[str, Coverage]  # of all measured columns
    quasi_identifiers: Sequence[Column]  # as published, with dictionaries of what occurs
    sensitive: Sequence[Column]


def measure_parts(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None,
    sensitive: Sequence[str],
) -> Parts:
    """Measure a table with all quasi-identifiers and some sensitive attributes, but no queries."""
    measured = [*original.quasi_identifiers, *(original[name] for name in sensitive)]
    _check_same_people(measured, original.rows, published, suppressed_rows)
    records = {column.name: _occurring(published[column.name]) for column in measured}
    coverages: dict[str, Coverage] = {}
    loss: dict[str, float] = {}
    for column in measured:
        # a sensitive cell is exact, a set or masked: never a label, even if it reads like one
        is_generalized = column.role is Role.QUASI_IDENTIFIER
        hierarchy = hierarchies.get(column.name) if is_generalized else None
        level = (levels or {}).get(column.name)
        cells = records[column.name]
        coverages[column.name] = cover(column, cells.text.to_list(), hierarchy, level)
        lost = loss_of_cells(column, cells, coverages[column.name], hierarchy, level)
        loss[column.name] = mean_loss(lost, cells.counts, suppressed_rows)
    quasi_identifiers = [records[column.name] for column in original.quasi_identifiers]
    measures = Measures(
        structure=structure(published.classes, suppressed_rows, levels),
        loss_by_attribute={column.name: loss[column.name] for column in quasi_identifiers},
        loss_by_sensitive={name: loss[name] for name in sensitive},
        entropy=sum(
            entropy(column, coverages[column.name], records[column.name].counts, suppressed_rows)
            for column in original.quasi_identifiers
        ),
    )
    return Parts(
        measures,
        ImpliedGeneralized(list(records.values()), coverages, published.rows, suppressed_rows),
        coverages,
        quasi_identifiers,
        [records[name] for name in sensitive],
    )


def _check_same_people(
    measured: Sequence[Column], rows: int, published: CodedTable, suppressed_rows: int
) -> None:
    lacking = [column.name for column in measured if column.name not in published.columns]
    if lacking:
        raise InputError(
            f"The release lacks {len(lacking)} columns of the original: {', '.join(lacking)}. "
            "Name the job that made the release."
        )
    if published.rows + suppressed_rows != rows:
        raise InputError(
            f"The release has {published.rows} rows and {suppressed_rows} suppressed, the original "
            f"{rows}. Name the job that made the release, with its own table."
        )


def _occurring(column: Column) -> Column:
    """The column with a dictionary of the cells that do occur."""
    occurs = column.counts > 0
    if occurs.all():
        return column
    code = np.cumsum(occurs, dtype=np.int32) - 1
    return replace(
        column,
        codes=code[column.codes],
        text=column.text.filter(occurs),
        values=column.values.filter(occurs),
        numbers=None if column.numbers is None else column.numbers[occurs],
    )
