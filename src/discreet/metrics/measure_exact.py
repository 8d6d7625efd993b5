"""All measures of releases that keep quasi-identifiers exact: bucketized and decomposed ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from discreet.data.published import GROUP
from discreet.data.table import CodedTable
from discreet.hierarchies.coverage import identity
from discreet.metrics.divergence import pair_divergence
from discreet.metrics.loss import entropy
from discreet.metrics.measure import Measures
from discreet.metrics.queries import QueryWorkload, query_errors
from discreet.metrics.reading_groups import (
    check_people,
    classes_of_groups,
    implied_buckets,
    loss_of_buckets,
    mean_log_sets,
    open_share,
    read_decomposed,
    source_counts,
    with_published_values,
)
from discreet.metrics.structure import structure
from discreet.releases import sensitive_sets
from discreet.releases.bucketized import PEOPLE, SENSITIVE
from discreet.releases.manifest import Manifest
from discreet.releases.sensitive_sets import read_sets

# Divergences take as long as a method on large tables: without queries they are left out above it.
DIVERGENCE_ROWS = 100_000


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


def measure_decomposed(
    original: CodedTable,
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    queries: QueryWorkload | None = None,
    seed: int = 0,
) -> Measures:
    """Measure a decomposed release against the original: raked, the uniform reading beside it."""
    people = tables[sensitive_sets.PEOPLE]
    check_people(original, people, 0)
    values = tables[sensitive_sets.VALUES].rows
    noise = int(getattr(manifest.method, "noise_values", 0))
    names = [column.name for column in original.sensitive]
    sets = read_sets(tables, names)
    further: dict[str, Any] = {
        "noise_values": noise,
        "noise_share": noise / values if values else 0.0,
        "mean_log_sets": mean_log_sets(sets, people),
    }
    measures = Measures(
        structure=structure(classes_of_groups(people), 0),
        loss_by_attribute=_exact_loss(original, 0),
        loss_by_sensitive={
            column.name: open_share(sets.of(place)[0], people[GROUP].counts, column.cardinality)
            for place, column in enumerate(original.sensitive)
        },
        entropy=0.0,
        further=further,
    )
    if queries is None and original.rows > DIVERGENCE_ROWS:
        return measures
    readings = read_decomposed(original, tables, str(getattr(manifest.method, "primary", names[0])))
    uniform, raked = readings.uniform, readings.raked
    further["kl_uniform"] = uniform.kl_divergence()
    errors = None
    if queries is not None:
        by_uniform = query_errors(original, uniform, queries, seed)
        errors = by_uniform if raked is None else query_errors(original, raked, queries, seed)
        if by_uniform is not None:
            further["query_error_uniform"] = by_uniform.release.median
    if raked is None:
        return replace(measures, query_error=errors, kl_divergence=further["kl_uniform"])
    return replace(
        measures,
        query_error=errors,
        kl_divergence=raked.kl_divergence(),
        pairs=pair_divergence(original, raked),
    )


def _exact_loss(original: CodedTable, suppressed_rows: int) -> dict[str, float]:
    """Quasi-identifiers that are published as they are lose only what is suppressed."""
    share = suppressed_rows / max(original.rows, 1)
    return {column.name: share for column in original.quasi_identifiers}
