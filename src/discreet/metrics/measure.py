"""All measures of a release, in the form in which the manifest holds them."""

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
from discreet.hierarchies.coverage import Coverage, cover, identity
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.metrics.divergence import PairDivergence, pair_divergence
from discreet.metrics.implied import ImpliedGeneralized
from discreet.metrics.loss import entropy, loss_of_cells, mean_loss
from discreet.metrics.measure_groups import (
    check_people,
    classes_of_groups,
    implied_buckets,
    loss_of_buckets,
    source_counts,
    with_published_values,
)
from discreet.metrics.queries import QueryErrors, QueryWorkload, query_errors
from discreet.metrics.structure import Structure, structure
from discreet.releases.bucketized import PEOPLE, SENSITIVE, BucketizedKind
from discreet.releases.generalized import RECORDS
from discreet.releases.manifest import Manifest

DIVERGENCE_ROWS = 100_000


@dataclass(frozen=True)
class Measures:
    """The utility of a release."""

    structure: Structure
    loss_by_attribute: Mapping[str, float]  # quasi-identifiers
    loss_by_sensitive: Mapping[str, float]  # above 0 where sensitive cells are masked
    entropy: float  # non-uniform, bits, Σ over all quasi-identifier cells
    query_error: QueryErrors | None = None
    kl_divergence: float | None = None  # nats, of the joint distribution of all attributes
    pairs: PairDivergence | None = None
    further: Mapping[str, Any] = field(default_factory=dict)  # what only one kind of release has

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
            found, base = self.query_error.release.median, self.query_error.unlinked.median
            shown = "none had an answer" if found is None else f"{found:.4f}"
            beside = "" if base is None else f"   beside {base:.4f} with no link at all"
            lines.append(f"median query error   {shown}{beside}")
        return "\n".join(lines)

    def _shown(self) -> list[tuple[str, str]]:
        return [
            (name, f"{figure:.4f}" if isinstance(figure, float) else f"{figure:,}")
            for name, figure in self.further.items()
            if isinstance(figure, int | float)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The manifest's ``utility``; what does not apply is left out."""
        result: dict[str, Any] = {
            "discernibility": self.structure.discernibility,
            "loss": self.loss,
            "entropy": self.entropy,
            "class_size": self.structure.class_size,
            "height": self.structure.height,
            "classes": self.structure.classes,
            "loss_by_attribute": dict(self.loss_by_attribute),
            "loss_sensitive": _mean(self.loss_by_sensitive) if self.loss_by_sensitive else None,
            "query_error": None if self.query_error is None else self.query_error.to_dict(),
            "kl_divergence": self.kl_divergence,
            "divergence": None if self.pairs is None else self.pairs.to_dict(),
            **self.further,
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
    """Measure a release of any kind against the original; no queries where none are asked for.

    Divergences take as long as a method on large tables, so without queries they are left out
    above ``DIVERGENCE_ROWS`` rows.
    """
    workload = QueryWorkload(queries=queries) if queries else None
    if manifest.kind == BucketizedKind.name:
        return measure_bucketized(task.table, tables, manifest.suppressed_rows, workload, seed)
    return measure_generalized(
        task.table,
        task.hierarchies,
        tables[RECORDS],
        manifest.suppressed_rows,
        levels=getattr(manifest.method, "levels", None),
        queries=workload,
        seed=seed,
    )


def measure_bucketized(
    original: CodedTable,
    tables: Mapping[str, CodedTable],
    suppressed_rows: int,
    queries: QueryWorkload | None = None,
    seed: int = 0,
) -> Measures:
    """Measure a bucketized release against the original."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    check_people(original, people, suppressed_rows)
    original = with_published_values(original, sensitive)
    measures = Measures(
        structure=structure(classes_of_groups(people), suppressed_rows),
        loss_by_attribute=_exact_loss(original, suppressed_rows),
        loss_by_sensitive=loss_of_buckets(original, sensitive, suppressed_rows),
        entropy=sum(
            entropy(c, identity(c), source_counts(people, c), suppressed_rows)
            for c in original.quasi_identifiers
        ),
    )
    if queries is None and original.rows > DIVERGENCE_ROWS:
        return measures
    implied = implied_buckets(original, people, sensitive, suppressed_rows)
    return replace(
        measures,
        kl_divergence=implied.kl_divergence(),
        pairs=pair_divergence(original, implied),
        query_error=None if queries is None else query_errors(original, implied, queries, seed),
    )


def _exact_loss(original: CodedTable, suppressed_rows: int) -> dict[str, float]:
    """Quasi-identifiers that are published as they are lose only what is suppressed."""
    share = suppressed_rows / max(original.rows, 1)
    return {column.name: share for column in original.quasi_identifiers}


def measure_generalized(
    original: CodedTable,
    hierarchies: Mapping[str, Hierarchy],
    published: CodedTable,
    suppressed_rows: int,
    levels: Mapping[str, int] | None = None,
    queries: QueryWorkload | None = None,
    seed: int = 0,
) -> Measures:
    """Measure the published rows of a generalized release against the original.

    ``levels`` are those of a full-domain recoding; with them a label that a hierarchy has on
    several levels is read on the one that was used. ``queries`` None leaves the queries out.
    Every value in the original's dictionaries must occur: they are the domain of each attribute.
    """
    _check_same_people(original, published, suppressed_rows)
    records = {column.name: _occurring(published[column.name]) for column in _measured(original)}
    quasi_identifiers, sensitive = original.quasi_identifiers, original.sensitive
    coverages: dict[str, Coverage] = {}
    loss: dict[str, float] = {}
    for column in _measured(original):
        # a sensitive cell is exact, a set or masked: never a label, even if it reads like one
        is_generalized = column.role is Role.QUASI_IDENTIFIER
        hierarchy = hierarchies.get(column.name) if is_generalized else None
        level = (levels or {}).get(column.name)
        cells = records[column.name]
        coverages[column.name] = cover(column, cells.text.to_list(), hierarchy, level)
        lost = loss_of_cells(column, cells, coverages[column.name], hierarchy, level)
        loss[column.name] = mean_loss(lost, cells.counts, suppressed_rows)
    classes = classes_of([records[c.name] for c in quasi_identifiers], published.rows)
    implied = ImpliedGeneralized(list(records.values()), coverages, published.rows, suppressed_rows)
    return Measures(
        structure=structure(classes, suppressed_rows, levels),
        loss_by_attribute={column.name: loss[column.name] for column in quasi_identifiers},
        loss_by_sensitive={column.name: loss[column.name] for column in sensitive},
        entropy=sum(
            entropy(column, coverages[column.name], records[column.name].counts, suppressed_rows)
            for column in quasi_identifiers
        ),
        query_error=None if queries is None else query_errors(original, implied, queries, seed),
    )


def _check_same_people(original: CodedTable, published: CodedTable, suppressed_rows: int) -> None:
    lacking = [c.name for c in _measured(original) if c.name not in published.columns]
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
