"""Shards of a release that no machine holds whole: distinct rows of its files with their numbers.

Equal rows are counted first. A shard has whole classes or groups (``Kind.class_columns``)
and the tables that every shard needs; audit and measures judge it as they judge a whole release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.io.frames import code_frame
from discreet.methods.base import Task
from discreet.releases.audit.audit import specs_of
from discreet.releases.audit.shards import ShardFindings, bare, judge_shard
from discreet.releases.kinds.base import absent_tables
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.table.coded_table import CodedTable
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums

WEIGHT = "\0rows"  # a name that no column of a file has
Totals = Mapping[str, Mapping[str | None, int]]  # by sensitive column: how often each value occurs


@dataclass(frozen=True, eq=False)
class ShardResult:
    """The findings of one shard, and sums over its cells, by table, or under "" for the release."""

    findings: ShardFindings
    sums: Mapping[str, CellSums]


def counted_columns(manifest: Manifest, table: str) -> list[str]:
    """The columns that an audit reads: all but the insensitive ones."""
    return [n for n, r in manifest.tables[table].columns.items() if r is not Role.INSENSITIVE]


def coded_shard(frame: pl.DataFrame, manifest: Manifest, table: str, totals: Totals) -> CodedTable:
    """Distinct rows of a table, as text, with their numbers, as a coded table."""
    weights = frame[WEIGHT].to_numpy().astype(np.int64)
    specs = specs_of(manifest, table)
    coded = code_frame(
        frame.drop(WEIGHT), {name: specs[name] for name in frame.columns if name != WEIGHT}
    ).counted(weights)
    columns = dict(coded.columns)
    for column in coded.sensitive:
        whole = column.with_domain(list(totals[column.name]))
        count = [totals[column.name].get(value, 0) for value in whole.text.to_list()]
        columns[column.name] = replace(whole, total=np.array(count, np.int64))
    return replace(coded, columns=columns)


def judge_and_sum(tables: Mapping[str, CodedTable], manifest: Manifest, task: Task) -> ShardResult:
    """Judge every guarantee on the classes of a shard, and sum up its measures."""
    findings = bare(judge_shard(tables, manifest, task, {}))
    kind = kind_of(manifest.kind)
    whole = not absent_tables(kind, tables, manifest)
    return ShardResult(findings, kind.sums(tables, task, manifest) if whole else {})


def joined_sums(results: Sequence[ShardResult]) -> dict[str, CellSums]:
    """The sums over all shards, by table."""
    joined: dict[str, CellSums] = {}
    for result in results:
        for name, sums in result.sums.items():
            joined[name] = joined.get(name, CellSums()) + sums
    return joined
