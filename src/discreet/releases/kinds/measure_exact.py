"""Reading releases that keep quasi-identifiers exact: bucketized and decomposed ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from discreet.hierarchies.coverage import identity
from discreet.releases.kinds.bucketized.tables import (
    COUNTERFEITS,
    PEOPLE,
    SENSITIVE,
    count_counterfeits,
)
from discreet.releases.kinds.decomposed import sensitive_sets
from discreet.releases.kinds.decomposed.sensitive_sets import primary_of, read_sets
from discreet.releases.kinds.implied_groups_reading import (
    DecomposedReadings,
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
from discreet.releases.manifest import Manifest
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.utility.figures import Measures, counted_rows
from discreet.utility.implied import Implied
from discreet.utility.loss import entropy
from discreet.utility.reading import ImpliedReading
from discreet.utility.structure import structure


def read_bucketized(
    original: CodedTable, tables: Mapping[str, CodedTable], manifest: Manifest
) -> ImpliedReading[Measures]:
    """Read a bucketized release against the original."""
    people, sensitive = tables[PEOPLE], tables[SENSITIVE]
    suppressed_rows = manifest.suppressed_rows
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
        counts=_counterfeits(tables) | counted_rows(suppressed_rows, original.rows),
    )
    return ImpliedReading(
        original, measures, lambda: implied_buckets(original, people, sensitive, suppressed_rows)
    )


def read_decomposition(
    original: CodedTable, tables: Mapping[str, CodedTable], manifest: Manifest
) -> ImpliedReading[Measures]:
    """Read a decomposed release against the original: raked, and as its paper does."""
    people = tables[sensitive_sets.PEOPLE]
    check_people(original, people, 0)
    values = tables[sensitive_sets.VALUES].rows
    noise = int(getattr(manifest.method, "noise_values", 0))
    names = [column.name for column in original.sensitive]
    sets = read_sets(tables, names)
    measures = Measures(
        structure=structure(classes_of_groups(people), 0),
        loss_by_attribute=_exact_loss(original, 0),
        loss_by_sensitive={
            column.name: open_share(sets.of(place)[0], people[GROUP].counts, column.cardinality)
            for place, column in enumerate(original.sensitive)
        },
        entropy=0.0,
        counts={"noise_values": noise, "noise_share": noise / max(values, 1)},
        further={"mean_log_sets": mean_log_sets(sets, people)},
    )

    @cache
    def readings() -> DecomposedReadings:
        return read_decomposed(original, tables, primary_of(manifest))

    def raked() -> Implied:
        return readings().raked or readings().uniform

    return ImpliedReading(original, measures, raked, lambda: readings().uniform)


def _counterfeits(tables: Mapping[str, CodedTable]) -> dict[str, int | float]:
    """The sensitive rows that are nobody's, where a release may have some."""
    if COUNTERFEITS not in tables:
        return {}
    fakes = count_counterfeits(tables)
    return {"counterfeits": fakes, "counterfeit_share": fakes / tables[SENSITIVE].rows}


def _exact_loss(original: CodedTable, suppressed_rows: int) -> dict[str, float]:
    """Quasi-identifiers that are published as they are lose only what is suppressed."""
    share = suppressed_rows / max(original.rows, 1)
    return {column.name: share for column in original.quasi_identifiers}
