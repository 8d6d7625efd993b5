"""The Bayes-optimal audit of a release: section 3 of the ℓ-diversity paper, on files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.api.opened_release import job_of_release, opened_release
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, Task, no_progress
from discreet.pipeline.prepare import prepare
from discreet.pipeline.release import Release
from discreet.releases.audit.against_original import as_published
from discreet.releases.registry import kind_of
from discreet.requirements.bayes_optimal import BayesFigures, bayes_figures, estimated_prior
from discreet.table.classes import Classes, group_codes
from discreet.table.code_maps import recoded
from discreet.table.coded_table import Column
from discreet.table.counts import ValueCounts, order_by_class
from discreet.typing import Codes

MOST_CELLS = 200_000_000  # combinations of quasi-identifiers × values


@dataclass(frozen=True)
class BayesAudit:
    """What an attacker who knows the distribution of a population believes after a release."""

    population: bool  # whether f comes from a population; else it is the table's own
    delta: float
    epsilon: float
    rho: tuple[float, float]
    figures: dict[str, BayesFigures]  # by sensitive attribute, with its table where several are

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The audit in sentences, for a terminal."""
        known = "the given population" if self.population else "the table itself, its own f"
        low, high = self.rho
        lines = [
            f"Bayes-optimal attacker: knows how quasi-identifiers and values are distributed in "
            f"{known}."
        ]
        for name, found in self.figures.items():
            lines += [
                f"  {name}: greatest belief in a true value {found.greatest_belief:.1%}, greatest "
                f"gain over the belief before the release {found.greatest_gain:.1%}",
                f"    positive disclosure (belief above {1 - self.delta:g}): {found.positive:.1%} "
                f"of rows; negative (below {self.epsilon:g}): {found.negative:.1%}; "
                f"({low:g}, {high:g})-breach: {found.breached:.1%}",
            ]
        return lines


def audit_bayes(
    release: Release | str | Path,
    *,
    original: Any,
    job: Job | None = None,
    population: Any = None,
    delta: float = 0.1,
    epsilon: float = 0.01,
    rho: tuple[float, float] = (0.2, 0.8),
    progress: Progress = no_progress,
) -> BayesAudit:
    """Return what an attacker who knows f(q, s) believes of the people of the original.

    ``population`` is a table with the same columns, from which f is estimated; without it f is the
    original's own, the strongest attacker of this sort. The figures are for the publisher: no
    requirement is judged, and a release is neither accepted nor refused by them.
    """
    if not (0 <= delta <= 1 and 0 <= epsilon <= 1 and 0 <= rho[0] < rho[1] <= 1):
        raise InputError("δ and ε are between 0 and 1, and ρ1 is less than ρ2.")
    tables, task, manifest = opened_release(release, original, job, progress)
    kind = kind_of(manifest.kind)
    # The table that f is estimated from.
    known = task
    if population is not None:
        job_of_rows = job_of_release(release, original, job)
        known = as_published(prepare(job_of_rows, population, progress=progress), manifest)
    # The figures of each attribute in each view of the release.
    figures = {}
    views = kind.adversary_views(tables, known, manifest, np.random.default_rng(0))
    if not views:
        raise InputError(
            "The Bayes-optimal audit needs groups with counts of sensitive values; a decomposed "
            "release has none. Use `discreet attack`."
        )
    for view in views:
        # The kinds of people, and the group that each fits.
        kinds = known.table.classes  # distinct combinations of exact quasi-identifiers
        group_of_kind = view.group_of_person[kinds.first_row]
        if (view.placement.start[1:] - view.placement.start[:-1] > 1).any():
            raise InputError(
                "Some rows fit several groups of this release; the Bayes-optimal audit is defined "
                "for releases in which every person fits one. Use `discreet attack`."
            )
        rows_kind, rows_group = _placed(task, known, kinds, group_of_kind)
        for attribute, column in view.sensitive.items():
            name = attribute if len(views) == 1 else f"{attribute} in {view.name}"
            figures[name] = _figures(
                column, task, known, kinds, group_of_kind, rows_kind, rows_group,
                view.counts.values[attribute], delta, epsilon, rho,
            )  # fmt: skip
    return BayesAudit(population is not None, delta, epsilon, rho, figures)


def _placed(
    task: Task, known: Task, kinds: Classes, group_of_kind: NDArray[np.int32]
) -> tuple[Codes, NDArray[np.bool_]]:
    """The kind of each row of the original, and whether a group fits it."""
    if known is task:
        kind_of_row = kinds.class_of_row
    else:
        kind_of_row = _matched(task.table.quasi_identifiers, known.table.quasi_identifiers, kinds)
    absent = int((kind_of_row < 0).sum())
    if absent:
        raise InputError(
            f"{absent:,} rows of the original have quasi-identifiers that no row of the population "
            "has. A population contains the table; add its rows."
        )
    return kind_of_row, group_of_kind[kind_of_row] >= 0


def _matched(columns: Sequence[Column], known: Sequence[Column], kinds: Classes) -> Codes:
    """The kind of each row by its quasi-identifiers, −1 where no kind has them."""
    rows = len(columns[0].codes) if columns else 0
    row_codes = [recoded(of_known, column) for of_known, column in zip(known, columns, strict=True)]
    both = [
        np.concatenate((of_known.codes[kinds.first_row], codes))
        for of_known, codes in zip(known, row_codes, strict=True)
    ]
    together = group_codes(both, [column.cardinality + 1 for column in known], kinds.count + rows)
    kind_of_class = np.full(together.count, -1, np.int32)
    kind_of_class[together.class_of_row[: kinds.count]] = np.arange(kinds.count)
    return kind_of_class[together.class_of_row[kinds.count :]]


def _figures(
    column: Column,
    task: Task,
    known: Task,
    kinds: Classes,
    group_of_kind: NDArray[np.int32],
    kind_of_row: Codes,
    placed: NDArray[np.bool_],
    published: ValueCounts,
    delta: float,
    epsilon: float,
    rho: tuple[float, float],
) -> BayesFigures:
    """The figures of one attribute; a value that no published row has gets one code beyond."""
    # Refuse what would not fit the memory.
    cardinality = column.cardinality + 1
    if len(group_of_kind) * cardinality > MOST_CELLS:
        raise InputError(
            f"'{column.name}': {len(group_of_kind):,} combinations of quasi-identifiers by "
            f"{column.cardinality:,} values are more than {MOST_CELLS:,}. Audit a sample."
        )
    by_class = ValueCounts(published.start, published.value, published.count, cardinality)
    in_groups = np.flatnonzero(group_of_kind >= 0)  # of the kinds
    number = np.full(len(group_of_kind), -1, np.int32)
    number[in_groups] = np.arange(len(in_groups))
    f_of = _counted(
        number[kinds.class_of_row],
        recoded(column, known.table[column.name]),
        len(in_groups),
        cardinality,
    )
    value_of_row = recoded(column, task.table[column.name])
    rows = _counted(number[kind_of_row[placed]], value_of_row[placed], len(in_groups), cardinality)
    return bayes_figures(
        by_class,
        rows,
        group_of_kind[in_groups],
        prior=estimated_prior(f_of),
        weight=np.bincount(f_of.class_of_entry, f_of.count, len(in_groups)).astype(np.float64),
        delta=delta,
        epsilon=epsilon,
        rho=rho,
    )


def _counted(kind: Codes, value: Codes, kinds: int, cardinality: int) -> ValueCounts:
    """How often each value occurs in each kind; rows of no kind (−1) are left out."""
    inside = np.flatnonzero(kind >= 0)
    pairs = group_codes([kind[inside], value[inside]], [kinds, cardinality], len(inside))
    of_kind, values = kind[inside][pairs.first_row], value[inside][pairs.first_row]
    start, order = order_by_class(of_kind, values, kinds, cardinality)
    return ValueCounts(start, values[order], pairs.size[order], cardinality)
