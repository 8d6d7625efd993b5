"""The part of each row, from its codes, and whether parts can keep their guarantees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.addons.spark.parts import PartPlan
from discreet.methods.base import Task
from discreet.methods.mondrian.cuts_from_sample import CutTree
from discreet.methods.shared.hilbert import task_keys
from discreet.table.classes import Classes
from discreet.table.counts import count_classes
from discreet.typing import Codes, Ints

Assign = Callable[[Mapping[str, Any]], NDArray[np.integer]]  # from columns to the parts of rows


def all_together(columns: Mapping[str, Any]) -> NDArray[np.int32]:
    """All rows in one part."""
    return np.zeros(len(columns["row"]), np.int32)


class ByCuts:
    """The part of a row by the first cuts."""

    def __init__(self, tree: CutTree, columns: Sequence[str]) -> None:
        self.tree, self.columns = tree, list(columns)

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.int32]:
        codes = [np.ascontiguousarray(columns[name], np.int32) for name in self.columns]
        return self.tree.parts_of(codes, len(next(iter(columns.values()))))


class ByStretches:
    """The part of a row by the stretch of the curve that it lies on."""

    def __init__(
        self, plan: PartPlan, place_of: Mapping[str, str], bounds: NDArray[np.uint64], parts: int
    ) -> None:
        self.plan, self.place_of, self.bounds, self.parts = plan, dict(place_of), bounds, parts

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.int64]:
        codes = {name: columns[self.place_of[name]] for name in self.plan.coded}
        task = self.plan.task_of(codes, {}, self.plan.task.rng)
        return np.searchsorted(self.bounds, task_keys(task), side="right") % self.parts


class ByDealing:
    """The shard of a row by how many rows of its value, and of values before it, come before."""

    def __init__(self, column: str, number_of_code: Codes, counts: Ints, shards: int) -> None:
        self.column, self.number_of_code, self.shards = column, number_of_code, shards
        ends = np.cumsum(counts.T).reshape(counts.T.shape).T
        self.before = ends - counts  # (splits, numbers), as are the counts

    def of_split(self, split: int) -> Assign:
        """The shards of a split's rows, which are given one after the other."""
        seen = self.before[split].copy()

        def deal(columns: Mapping[str, Any]) -> NDArray[np.integer]:
            place = _ranks(self.number_of_code[columns[self.column]], seen) % self.shards
            return np.asarray(place)

        return deal

    def __call__(self, columns: Mapping[str, Any]) -> NDArray[np.integer]:
        return self.of_split(0)(columns)


def _ranks(numbers: Codes, seen: Ints) -> Ints:
    """Count the earlier rows with the same number, for each row; ``seen`` counts on."""
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    ranks = np.empty(len(numbers), np.int64)
    ranks[order] = seen[ascending] + np.arange(len(numbers)) - np.searchsorted(ascending, ascending)
    seen += np.bincount(numbers, minlength=len(seen))
    return ranks


def passing_parts(task: Task, counted: pl.DataFrame) -> NDArray[np.bool_]:
    """Return which parts can keep every guarantee, each as one class beside the others."""
    parts = int(counted["part"].max()) + 1  # type: ignore[arg-type]
    weights = counted["count"].to_numpy().astype(np.int64)
    columns = []
    for column in task.table.sensitive:
        source = column.name if column.name in counted.columns else None
        name = source or next(a for a, b in task.bitmaps.items() if column.name in b.bits)
        raw = counted[name].to_numpy()
        codes = raw if source else column.codes[raw]
        columns.append(replace(column, codes=codes, weights=weights, total=column.counts))
    of_row = counted["part"].to_numpy().astype(np.int32)
    size = np.bincount(of_row, weights, parts).astype(np.int64)
    first = np.zeros(parts, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    refined = any(r.needs_refined_counts for r in task.requirements)
    counts = count_classes(Classes(of_row, first, size), columns, refined=refined)
    passes = np.ones(parts, bool)
    for requirement in task.requirements:
        passes &= requirement.passes(counts, task.domains)
    return passes
