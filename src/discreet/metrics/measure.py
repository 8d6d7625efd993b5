"""All measures of a generalized release, in the form in which the manifest holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.algorithms.method import Task
from discreet.data.classes import classes_of
from discreet.data.roles import Role
from discreet.data.table import CodedTable, Column
from discreet.errors import InputError
from discreet.hierarchies.coverage import Coverage, cover
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.knowledge.links import Links
from discreet.metrics.implied import ImpliedGeneralized
from discreet.metrics.loss import entropy, loss_of_cells, mean_loss
from discreet.metrics.queries import QueryErrors, QueryWorkload, query_errors
from discreet.metrics.structure import Structure, structure
from discreet.metrics.terms import TermCoverage, TermMeasures, measure_terms, term_coverage
from discreet.releases.generalized import RECORDS
from discreet.releases.manifest import Manifest


@dataclass(frozen=True)
class Measures:
    """The utility of a release."""

    structure: Structure
    loss_by_attribute: Mapping[str, float]  # quasi-identifiers
    loss_by_sensitive: Mapping[str, float]  # above 0 where sensitive cells are masked
    entropy: float  # non-uniform, bits, Σ over all quasi-identifier cells
    query_error: QueryErrors | None = None
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
        if self.query_error is not None:
            found, base = self.query_error.release.median, self.query_error.unlinked.median
            shown = "none had an answer" if found is None else f"{found:.4f}"
            beside = "" if base is None else f"   beside {base:.4f} with no link at all"
            lines.append(f"median query error   {shown}{beside}")
        for name, terms in self.terms.items():
            lines.append(
                f"terms of {name}: {terms.suppressed_terms:,} removed "
                f"({terms.suppressed_share:.1%}), cost {terms.cost:.4f}"
            )
            if terms.belief_change is not None:
                change = terms.belief_change
                lines.append(
                    f"belief in its labels   moves by {change.mean:.6f} on average, by "
                    f"{change.greatest:.4f} at most"
                )
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
            "loss_sensitive": _mean(self.loss_by_sensitive) if self.loss_by_sensitive else None,
            "terms": {name: found.to_dict(private=private) for name, found in self.terms.items()}
            or None,
            "query_error": None if self.query_error is None else self.query_error.to_dict(),
        }
        return {key: value for key, value in result.items() if value is not None}


def _mean(loss_of_attribute: Mapping[str, float]) -> float:
    return float(np.mean(list(loss_of_attribute.values()))) if loss_of_attribute else 0.0


def measure_release(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    *,
    queries: int = 0,
    seed: int = 0,
) -> Measures:
    """Measure a release of any kind against the original; no queries where none are asked for."""
    return measure_generalized(
        task.table,
        task.hierarchies,
        tables[RECORDS],
        manifest.suppressed_rows,
        levels=getattr(manifest.method, "levels", None),
        queries=QueryWorkload(queries=queries) if queries else None,
        seed=seed,
        links=task.links,
    )


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
    _check_same_people(original, published, suppressed_rows)
    records = {column.name: _occurring(published[column.name]) for column in _measured(original)}
    quasi_identifiers, sensitive = original.quasi_identifiers, original.sensitive
    covered: dict[str, Coverage] = {}
    loss: dict[str, float] = {}
    for column in _measured(original):
        # a sensitive cell is exact, a set or masked: never a label, even if it reads like one
        is_generalized = column.role is Role.QUASI_IDENTIFIER
        hierarchy = hierarchies.get(column.name) if is_generalized else None
        level = (levels or {}).get(column.name)
        cells = records[column.name]
        covered[column.name] = cover(column, cells.text.to_list(), hierarchy, level)
        lost = loss_of_cells(column, cells, covered[column.name], hierarchy, level)
        loss[column.name] = mean_loss(lost, cells.counts, suppressed_rows)
    classes = classes_of([records[c.name] for c in quasi_identifiers], published.rows)
    coverages: dict[str, Coverage | TermCoverage] = {**covered}
    terms = {}
    for column in original.quasi_sensitive:
        cells = records[column.name] = _occurring(published[column.name])
        coverages[column.name] = term_coverage(column, cells)
        terms[column.name] = measure_terms(column, cells, classes, (links or {}).get(column.name))
    implied = ImpliedGeneralized(list(records.values()), coverages, published.rows, suppressed_rows)
    return Measures(
        structure=structure(classes, suppressed_rows, levels),
        loss_by_attribute={column.name: loss[column.name] for column in quasi_identifiers},
        loss_by_sensitive={column.name: loss[column.name] for column in sensitive},
        entropy=sum(
            entropy(column, covered[column.name], records[column.name].counts, suppressed_rows)
            for column in quasi_identifiers
        ),
        query_error=None if queries is None else query_errors(original, implied, queries, seed),
        terms=terms,
    )


def _check_same_people(original: CodedTable, published: CodedTable, suppressed_rows: int) -> None:
    wanted = [*_measured(original), *original.quasi_sensitive]
    lacking = [c.name for c in wanted if c.name not in published.columns]
    if lacking:
        raise InputError(
            f"The release lacks {len(lacking)} columns of the original: {', '.join(lacking)}. "
            "Name the job that made the release."
        )
    if published.rows + suppressed_rows != original.rows:
        raise InputError(
            f"The release has {published.rows} rows and {suppressed_rows} suppressed, the original "
            f"{original.rows}. Name the job that made the release, with its own table."
        )


def _occurring(column: Column) -> Column:
    """The column with a dictionary of the cells that do occur."""
    occurs = column.counts > 0
    code = np.cumsum(occurs, dtype=np.int32) - 1
    return replace(
        column,
        codes=code[column.codes],
        text=column.text.filter(occurs),
        values=column.values.filter(occurs),
        numbers=None if column.numbers is None else column.numbers[occurs],
    )


def _measured(table: CodedTable) -> list[Column]:
    return [*table.quasi_identifiers, *table.sensitive]
