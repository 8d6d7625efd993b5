"""The audit and the measures of a release in shards: whole classes or groups, read from its files.

A promise holds if it holds in every shard, compared with the counts of the whole release; what is
measured is summed over the shards. Rows that are alike are counted first, so that a shard holds
distinct rows with their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.coverage import coverage_of_cells, identity
from discreet.io.frames import code_frame
from discreet.methods.base import Task
from discreet.releases.audit.audit import Audit, domains_of, specs_of
from discreet.releases.audit.figures import ReleaseTally, tally
from discreet.releases.audit.linked_labels import linked_domains
from discreet.releases.group_summary import Picture, picture_of
from discreet.releases.kinds.base import View
from discreet.releases.kinds.bucketized import tables as bucketized
from discreet.releases.kinds.bucketized.implied import loss_of_buckets
from discreet.releases.kinds.decomposed import sensitive_sets
from discreet.releases.kinds.decomposed.implied import mean_log_sets
from discreet.releases.kinds.decomposed.primary_counts import primary_counts_agree
from discreet.releases.kinds.decomposed.sensitive_sets import (
    count_unsupported,
    primary_of,
    read_sets,
    signatures_of,
)
from discreet.releases.kinds.exact_people import open_share
from discreet.releases.kinds.generalized.tables import RECORDS
from discreet.releases.manifest import Manifest, Promise
from discreet.releases.registry import kind_of
from discreet.releases.table_forms import form_problems
from discreet.requirements.base import Requirement, Verdict
from discreet.table.coded_table import CodedTable
from discreet.table.published import GROUP
from discreet.table.roles import Role
from discreet.utility.loss import bits_of_cells, bits_of_values, loss_of_cells

WEIGHT = "weight"
Totals = Mapping[str, Mapping[str | None, int]]  # by sensitive column: how often each value occurs


@dataclass
class CellSums:
    """Sums over the cells of some classes."""

    rows: int = 0
    classes: int = 0
    squares: int = 0  # Σ |class|²
    loss: dict[str, float] = field(default_factory=dict)  # by attribute: Σ over rows
    bits: float = 0.0
    further: dict[str, float] = field(default_factory=dict)

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(
            self.rows + other.rows,
            self.classes + other.classes,
            self.squares + other.squares,
            _summed(self.loss, other.loss),
            self.bits + other.bits,
            _summed(self.further, other.further),
        )


@dataclass
class ShardResult:
    """What one shard says."""

    verdicts: list[Verdict | None]  # one a promise; None where the shard has nothing it speaks of
    figures: dict[str, CellSums]  # by table, or "" for the release
    problems: list[str]
    picture: Picture
    tally: ReleaseTally
    listed: NDArray[np.int64] | None = None  # of a decomposed release: primary values of groups
    crowded: list[tuple[list[int], int]] = field(default_factory=list)  # values, people


def _summed(some: Mapping[str, float], others: Mapping[str, float]) -> dict[str, float]:
    return {n: some.get(n, 0.0) + others.get(n, 0.0) for n in dict.fromkeys([*some, *others])}


def class_columns(manifest: Manifest, table: str) -> list[str] | None:
    """The columns that say which rows belong together; None where the whole table does."""
    columns = manifest.tables[table].columns
    if not kind_of(manifest.kind).makes_alike:
        return [GROUP] if GROUP in columns else None
    return [name for name, role in columns.items() if role is Role.QUASI_IDENTIFIER]


def counted_columns(manifest: Manifest, table: str) -> list[str]:
    """The columns that an audit reads: all but the insensitive ones."""
    return [n for n, r in manifest.tables[table].columns.items() if r is not Role.INSENSITIVE]


def coded_shard(
    frame: pl.DataFrame, manifest: Manifest, table: str, totals: Totals, *, counted: bool = True
) -> CodedTable:
    """Distinct rows of a table, as text, with their numbers, as a coded table."""
    weights = frame[WEIGHT].to_numpy().astype(np.int64)
    specs = specs_of(manifest, table)
    coded = code_frame(
        frame.drop(WEIGHT), {name: specs[name] for name in frame.columns if name != WEIGHT}
    )
    coded = coded.counted(weights) if counted else coded
    columns = dict(coded.columns)
    for column in coded.sensitive:
        whole = column.with_domain(list(totals[column.name]))
        count = [totals[column.name].get(value, 0) for value in whole.text.to_list()]
        columns[column.name] = replace(whole, total=np.array(count, np.int64))
    return replace(coded, columns=columns)


def audit_shard(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
) -> ShardResult:
    """Judge every promise on the classes of a shard, and measure them."""
    kind = kind_of(manifest.kind)
    requirements = [promise.to_requirement() for promise in manifest.promises]
    refined = any(requirement.needs_refined_counts for requirement in requirements)
    linked = linked_domains(tables, manifest, task, {})
    views = kind.views(tables, domains_of(tables, manifest) | linked, refined=refined)
    picture = picture_of(dict(zip(tables, views, strict=False)), kind)
    counted = tally(tables, manifest, kind, views)
    if kind.spreads_sensitive:
        verdicts = [_of_tables(requirement, views) for requirement in requirements]
        figures = {
            n: _generalized(t, task, manifest.method.levels_of(n) or {}) for n, t in tables.items()
        }
        return ShardResult(verdicts, figures, [], picture, counted)
    verdicts = [_bare(kind.verdict(requirement, views)) for requirement in requirements]
    if kind.has_sensitive_table:
        return _decomposed(tables, manifest, task, verdicts, picture, counted)
    if not kind.makes_alike:
        own = replace_rows(manifest, tables[bucketized.PEOPLE].rows)
        problems = kind.inconsistencies(tables, own)
        return ShardResult(verdicts, {"": _buckets(tables, task)}, problems, picture, counted)
    levels = manifest.method.levels_of(RECORDS) or {}
    figures = {"": _generalized(tables[RECORDS], task, levels)}
    return ShardResult(verdicts, figures, [], picture, counted)


def _bare(verdict: Verdict) -> Verdict | None:
    """A verdict without what it says of each class."""
    return replace(verdict, passes=np.zeros(0, bool))


def _of_tables(requirement: Requirement, views: Sequence[View]) -> Verdict | None:
    """What a requirement says of the tables that a shard has: it need not have every one."""
    parts = [(requirement.within(tuple(view.counts.values)), view) for view in views]
    found = [part.full_check(view.counts, view.domains) for part, view in parts if part is not None]
    _, smaller = requirement.figure
    return _bare(Verdict.worst(found, smaller_is_better=smaller)) if found else None


def replace_rows(manifest: Manifest, rows: int) -> Manifest:
    """The manifest as if the release had these rows alone."""
    return manifest.model_copy(
        update={"source_rows": rows, "published_rows": rows, "suppressed_rows": 0}
    )


def _structure(size: NDArray[np.int64]) -> CellSums:
    return CellSums(int(size.sum()), len(size), int((size**2).sum()))


def _generalized(table: CodedTable, task: Task, levels: Mapping[str, int]) -> CellSums:
    figures = _structure(table.classes.size)
    for published in [*table.quasi_identifiers, *table.sensitive]:
        column = task.table[published.name]
        quasi = column.role is Role.QUASI_IDENTIFIER
        hierarchy = task.hierarchies.get(column.name) if quasi else None
        level = levels.get(column.name) if quasi else None
        coverage = coverage_of_cells(published, column, hierarchy, level)
        lost = loss_of_cells(column, published, coverage, hierarchy, level)
        figures.loss[column.name] = float(lost @ published.counts)
        if quasi:
            figures.bits += bits_of_cells(column, coverage, published.counts)
    return figures


def _exact_figures(people: CodedTable, task: Task) -> CellSums:
    figures = _structure(people[GROUP].counts)
    for column in task.table.quasi_identifiers:
        published = people[column.name]
        code = {text: place for place, text in enumerate(column.text.to_list())}
        counts = np.zeros(column.cardinality, np.int64)
        for text, count in zip(published.text.to_list(), published.counts.tolist(), strict=True):
            counts[code[text]] += count
        figures.loss[column.name] = 0.0
        figures.bits += bits_of_cells(column, identity(column), counts)
    return figures


def _buckets(tables: Mapping[str, CodedTable], task: Task) -> CellSums:
    people, sensitive = tables[bucketized.PEOPLE], tables[bucketized.SENSITIVE]
    figures = _exact_figures(people, task)
    for name, share in loss_of_buckets(task.table, sensitive, 0).items():
        figures.loss[name] = share * people.rows
    return figures


def _decomposed(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    task: Task,
    verdicts: list[Verdict | None],
    picture: Picture,
    counted: ReleaseTally,
) -> ShardResult:
    people, sensitive = tables[sensitive_sets.PEOPLE], tables[sensitive_sets.SENSITIVE]
    names = [column.name for column in sensitive.sensitive]
    sets = read_sets(tables, names)
    problems = []
    lacking = count_unsupported(sets, signatures_of(sensitive, names))
    if sets.unknown or sets.doubled or lacking.any():
        problems.append("values of groups are unknown, doubled, or supported by no sensitive row")
    figures = _exact_figures(people, task)
    size = people[GROUP].counts
    for place, column in enumerate(task.table.sensitive):
        start, _ = sets.of(place)
        figures.loss[column.name] = open_share(start, size, column.cardinality) * people.rows
    figures.further["mean_log_sets"] = mean_log_sets(sets, people) * people.rows
    primary = names.index(primary_of(manifest))
    start, value = sets.of(primary)
    crowded = np.flatnonzero(size > np.diff(start))
    listed = np.bincount(value, minlength=sensitive[names[primary]].cardinality)
    held = [(value[start[g] : start[g + 1]].tolist(), int(size[g])) for g in crowded]
    if (size < np.diff(start)).any():
        problems.append(f"groups have fewer rows than values of '{names[primary]}'")
    return ShardResult(
        verdicts, {"": figures}, problems, picture, counted, listed.astype(np.int64), held
    )


def joined_audit(
    results: Sequence[ShardResult],
    manifest: Manifest,
    problems: Sequence[str],
    primary_counts: NDArray[np.int64] | None,
) -> Audit:
    """The audit of the whole release from its shards; ``problems`` are what else was found."""
    promises = []
    for number, promise in enumerate(manifest.promises):
        requirement = promise.to_requirement()
        verdicts = [v for r in results if (v := r.verdicts[number]) is not None]
        _, smaller = requirement.figure
        promises.append(Promise.of(requirement, Verdict.worst(verdicts, smaller_is_better=smaller)))
    found = form_problems(kind_of(manifest.kind).forms(len(manifest.tables)), manifest)
    found += [*problems, *dict.fromkeys(line for result in results for line in result.problems)]
    if primary_counts is not None:
        crowded = [held for result in results for held in result.crowded]
        listed = sum(
            (r.listed for r in results if r.listed is not None), np.zeros_like(primary_counts)
        )
        single = listed - np.bincount(
            np.array([v for values, _ in crowded for v in values], np.int64),
            minlength=len(primary_counts),
        )
        start = np.cumsum([0, *(len(values) for values, _ in crowded)])
        value = np.array([v for values, _ in crowded for v in values], np.int32)
        size = np.array([people for _, people in crowded], np.int64)
        if not primary_counts_agree(start, value, size, primary_counts - single):
            found.append("groups and 'sensitive' disagree on how often primary values occur")
    if manifest.published_rows + manifest.suppressed_rows != manifest.source_rows:
        found.append("published and suppressed rows are not the source rows")
    ceiling = manifest.method.parameters.get("dm")
    for name, figures in joined_figures(results).items():
        if ceiling is not None and figures.squares > ceiling:
            found.append(f"the discernibility of '{name}' is {figures.squares}, above dm")
    picture = Picture.joined([result.picture for result in results])
    counted = sum((result.tally for result in results), ReleaseTally())
    return Audit(tuple(promises), tuple(found), True, manifest.unit, picture=picture, tally=counted)


def joined_figures(results: Sequence[ShardResult]) -> dict[str, CellSums]:
    """The sums over all shards, by table."""
    joined: dict[str, CellSums] = {}
    for result in results:
        for name, figures in result.figures.items():
            joined[name] = joined.get(name, CellSums()) + figures
    return joined


def utility_of(
    figures: Mapping[str, CellSums], task: Task, manifest: Manifest, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The publisher's ``utility``, as the measures of a whole release have it."""
    if not kind_of(manifest.kind).spreads_sensitive:
        levels = manifest.method.levels_of("")
        return _measures(figures[""], task, manifest, levels, facts)
    tables = {
        n: _measures(f, task, manifest, manifest.method.levels_of(n), facts)
        for n, f in figures.items()
    }
    return {
        "loss": float(np.mean([table["loss"] for table in tables.values()])),
        "association": {"sensitive": facts.get("association_loss", 0.0)},
        "tables": tables,
    }


def _measures(
    figures: CellSums,
    task: Task,
    manifest: Manifest,
    levels: Mapping[str, int] | None,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    gone, rows = manifest.suppressed_rows, manifest.source_rows
    mean = {name: (lost + gone) / rows for name, lost in figures.loss.items()}
    quasi = [column.name for column in task.table.quasi_identifiers]
    sensitive = [mean[name] for name in mean if name not in quasi]
    exact = sum(bits_of_values(column) for column in task.table.quasi_identifiers)
    whole = gone * float(np.log2(max(rows, 1))) * len(quasi)
    result = {
        "discernibility": figures.squares + gone * rows,
        "loss": float(np.mean([mean[name] for name in quasi])) if quasi else 0.0,
        "entropy": figures.bits + whole - exact,
        "class_size": rows / figures.classes if figures.classes else None,
        "height": None if levels is None else sum(levels.values()),
        "classes": figures.classes,
        "loss_by_attribute": {name: mean[name] for name in quasi},
        "loss_sensitive": float(np.mean(sensitive)) if sensitive else None,
    }
    if kind_of(manifest.kind).has_sensitive_table:
        result["mean_log_sets"] = figures.further["mean_log_sets"] / max(figures.rows, 1)
    return {key: value for key, value in result.items() if value is not None}
