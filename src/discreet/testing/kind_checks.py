"""The conformance of a kind of release, checked on small releases and on forgeries of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from discreet.methods.base import Method
from discreet.pipeline.release import Release
from discreet.pipeline.run import make_release, prove_release
from discreet.releases.audit.audit import audit_tables
from discreet.releases.audit.shards import domains_of, join_shards, judge_shard
from discreet.releases.kinds.base import Kind, class_sizes, form_problems, number_problems
from discreet.releases.manifest import Manifest, TableEntry
from discreet.requirements.base import Requirement
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role
from discreet.testing.sample_tables import ATTRIBUTES, expect, sample_job, sample_table

Tables = Mapping[str, CodedTable]


def check_kind(
    kind: Kind,
    method: Method,
    *,
    requirements: Sequence[Requirement] = (),
    attributes: Mapping[str, Mapping[str, Any]] = ATTRIBUTES,
    make_table: Callable[[int], pl.DataFrame] = sample_table,
    tables: int = 3,
) -> None:
    """Check a kind of release on what a method publishes, and on forgeries of it."""
    expect(kind.name, "The kind has no name.")
    for seed in range(tables):
        job = sample_job(method, requirements, attributes)
        release = make_release(make_table(seed), job, seed=seed)
        expect(
            release.manifest.kind == kind.name,
            f"{method.name} publishes releases of the kind {release.manifest.kind}.",
        )
        coded = prove_release(release, measured=False).coded_tables()
        _check_release(kind, release, coded)
        _check_forms(kind, release.manifest)
        for what, forged in _forgeries(coded):
            verdict = audit_tables(forged, release.manifest, release.task)
            expect(verdict.problems, f"{kind.name}: the audit does not notice {what}.")


def _check_release(kind: Kind, release: Release, tables: Tables) -> None:
    manifest = release.manifest
    problems = [
        *form_problems(kind.forms(len(tables)), manifest),
        *join_shards([judge_shard(tables, manifest, release.task, {})], manifest).problems,
        *kind.worlds(tables, manifest).problems(),
        *number_problems(kind, tables),
        *kind.order_problems(tables),
        *kind.changes(tables, release.task, manifest),
    ]
    expect(not problems, f"{kind.name}: a release contradicts itself: {problems}.")
    sizes = class_sizes(kind, tables)
    expect(sizes, f"{kind.name} has no groups.")
    for size in sizes.values():
        expect(
            (size > 0).all() and size.sum() == manifest.published_rows,
            f"{kind.name}: groups of {size.sum()} rows, {manifest.published_rows} published ones.",
        )
    views = kind.views(tables, domains_of(tables, manifest), refined=False)
    expect(views, f"{kind.name} has no view of its counts.")
    published = {column.name for table in tables.values() for column in table.sensitive}
    for view in views:
        expect(
            view.counts.rows >= manifest.published_rows
            and set(view.counts.values) <= set(view.domains),
            f"{kind.name}: a view counts {view.counts.rows} of {manifest.published_rows} rows.",
        )
    counted = {name for view in views for name in view.counts.values}
    expect(published <= counted, f"{kind.name}: no view counts {published - counted}.")


def _check_forms(kind: Kind, manifest: Manifest) -> None:
    """Each table and column beside the form is refused, and each that it demands is missed."""
    forms = kind.forms(len(manifest.tables))
    expect(set(manifest.tables) <= set(forms), f"{kind.name}: tables beside its form.")

    def refused(tables: dict[str, TableEntry]) -> bool:
        return bool(form_problems(forms, manifest.model_copy(update={"tables": tables})))

    form = next(iter(manifest.tables.values()))
    expect(refused({**manifest.tables, "unknown": form}), f"{kind.name}: any table is allowed.")
    for name, entry in manifest.tables.items():
        extra = entry.model_copy(update={"columns": {**entry.columns, "unknown": Role.STRUCTURE}})
        expect(
            refused({**manifest.tables, name: extra}), f"{kind.name}: '{name}' takes any column."
        )
        for column in forms[name].structure:
            columns = {key: role for key, role in entry.columns.items() if key != column}
            less = entry.model_copy(update={"columns": columns})
            expect(refused({**manifest.tables, name: less}), f"{kind.name}: '{column}' may miss.")


def _forgeries(tables: Tables) -> Iterator[tuple[str, Tables]]:
    """Tables that no release of the original has, each with what was done to them."""
    for name, table in tables.items():
        rows = np.arange(table.rows)
        yield f"a row of '{name}' that is missing", {**tables, name: table.take(rows[1:])}
        twice = np.append(rows, 0)
        yield f"a row of '{name}' twice", {**tables, name: table.take(twice)}
        for column in table:
            if column.role is Role.SENSITIVE:
                text = pl.concat([column.text, pl.Series([UNKNOWN])])
                codes = np.append(column.codes[:-1], len(text) - 1).astype(np.int32)
                forged = replace(column, codes=codes, text=text, values=text, numbers=None)
                columns = {**table.columns, column.name: forged}
                yield (
                    f"an invented value of '{column.name}' in '{name}'",
                    {**tables, name: replace(table, columns=columns)},
                )


UNKNOWN = "a value that the original does not have"
