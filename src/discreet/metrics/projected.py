"""What a projected release is worth: each table by itself, and what the tables say together.

p2 of a projected release. A query whose sensitive attributes all stand in one table is answered by
that table; one without any, by the base b, the table with the least loss. Else

    p2(q, s) = p_b(q, s_b) · Π p_u(s_u | class of q in table u)

summed over the quasi-identifiers q that it asks for. A class of b lies evenly over the values that
its cells cover, so its part in a class of u is the share of its values that lie in it, attribute by
attribute. Where q lies in no class of some u (the base spreads over combinations that nobody has),
the others answer by their whole tables. Where the classes of u overlap (local recoding), q is split
evenly between those that cover it, on average over the class of b.

The lists of classes that meet are made once for each set of tables that some query needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.method import Task
from discreet.data.classes import classes_of, group_codes
from discreet.data.table import CodedTable, Codes
from discreet.hierarchies.coverage import Coverage
from discreet.kernels import kernel
from discreet.metrics.implied import Implied, QueryBatch
from discreet.metrics.measure import Measures, Parts, measure_parts
from discreet.metrics.queries import QueryErrors, QueryWorkload, query_errors
from discreet.models.information import association_loss
from discreet.releases.manifest import Manifest
from discreet.shown import Shown

Shares = NDArray[np.float64]

SLICE = 2**22  # meetings × queries that are weighed at once; bounds the memory


@dataclass(frozen=True)
class ProjectedMeasures(Shown):
    """The utility of a projected release."""

    tables: Mapping[str, Measures]
    association_loss: float  # Γα
    query_error: QueryErrors | None = None

    @property
    def loss(self) -> float:
        """The mean over all quasi-identifier cells of all tables."""
        return float(np.mean([table.loss for table in self.tables.values()]))

    def __str__(self) -> str:
        lines = [
            f"loss                 {self.loss:.4f}   mean share of its range a cell leaves open",
            f"association lost     {self.association_loss:.4f}   of what sensitive attributes tell "
            "of each other",
        ]
        for name, table in self.tables.items():
            lines.append(
                f"{name:20} loss {table.loss:.4f}, {table.structure.classes:,} classes, "
                f"discernibility {table.structure.discernibility:,}"
            )
        if self.query_error is not None:
            lines.append(self.query_error.line())
        return "\n".join(lines)

    def to_dict(self, *, private: bool = False) -> dict[str, Any]:
        """The manifest's ``utility``."""
        result: dict[str, Any] = {
            "loss": self.loss,
            "association": {"sensitive": self.association_loss},
            "tables": {name: table.to_dict() for name, table in self.tables.items()},
        }
        if self.query_error is not None:
            result["query_error"] = self.query_error.to_dict()
        return result


def measure_projected(
    tables: Mapping[str, CodedTable],
    task: Task,
    manifest: Manifest,
    queries: QueryWorkload | None = None,
    seed: int = 0,
) -> ProjectedMeasures:
    """Measure the tables of a projected release against the original."""
    levels = getattr(manifest.method, "levels", {})
    parts = {
        name: measure_parts(
            task.table,
            task.hierarchies,
            table,
            manifest.suppressed_rows,
            levels=levels.get(name),
            sensitive=[column.name for column in table.sensitive],
        )
        for name, table in tables.items()
    }
    information = task.information
    number = {name: i for i, name in enumerate(information.names)}
    plan = [[number[column.name] for column in table.sensitive] for table in tables.values()]
    implied = ImpliedProjected(list(parts.values()), list(tables.values()))
    return ProjectedMeasures(
        tables={name: part.measures for name, part in parts.items()},
        association_loss=association_loss(information, plan),
        query_error=None if queries is None else query_errors(task.table, implied, queries, seed),
    )


class ImpliedProjected(Implied):
    """p2 of a projected release."""

    def __init__(self, parts: Sequence[Parts], tables: Sequence[CodedTable]) -> None:
        self._parts = parts
        self._classes = [_Table(part, table) for part, table in zip(parts, tables, strict=True)]
        self._home = {
            column.name: number for number, table in enumerate(tables) for column in table.sensitive
        }
        losses = [part.measures.loss for part in parts]
        self._base = int(np.argmin(losses))
        self._rows = tables[0].rows
        self._meetings: dict[tuple[int, ...], _Meeting] = {}

    def estimate(self, batch: QueryBatch) -> Shares:
        homes = {self._home[name] for name in batch.members if name in self._home}
        if len(homes) <= 1:
            number = next(iter(homes), self._base)
            return self._parts[number].implied.estimate(batch)
        others = tuple(sorted(homes - {self._base}))
        if others not in self._meetings:
            base = self._classes[self._base]
            self._meetings[others] = _Meeting(base, [self._classes[u] for u in others])
        return self._meetings[others].estimate(batch)


class _Table:
    """One table: the cells of its classes, and how many rows of each answer a predicate."""

    def __init__(self, part: Parts, table: CodedTable) -> None:
        self.names = [column.name for column in part.quasi_identifiers]
        classes = classes_of(part.quasi_identifiers, table.rows)
        self.size = classes.size.astype(np.float64)  # (classes,)
        self.cells = np.array(  # (attributes, classes)
            [column.codes[classes.first_row] for column in part.quasi_identifiers], np.int64
        ).reshape(len(self.names), classes.count)
        self.coverages: list[Coverage] = [part.coverages[name] for name in self.names]
        self._class_of_row = classes.class_of_row
        self._sensitive = {column.name: column for column in part.sensitive}
        self._sensitive_coverages = part.coverages
        self._combinations: dict[tuple[str, ...], tuple[Codes, list[Codes], Shares]] = {}

    def answering(self, batch: QueryBatch) -> Shares:
        """(classes, queries) The rows of each class that answer the sensitive part of queries."""
        names = tuple(name for name in batch.members if name in self._sensitive)
        if not names:
            return np.repeat(self.size[:, None], len(batch.number), axis=1)
        of_class, cells, count = self._combined(names)
        share = np.repeat(count[:, None], len(batch.number), axis=1)
        for name, cell in zip(names, cells, strict=True):
            share *= self._sensitive_coverages[name].shares(batch.members[name])[cell]
        return _sum_by_class(of_class, share, len(self.size))

    def _combined(self, names: tuple[str, ...]) -> tuple[Codes, list[Codes], Shares]:
        """The distinct combinations of class and some sensitive cells, and the rows with each."""
        if names not in self._combinations:
            columns = [self._sensitive[name] for name in names]
            grouped = group_codes(
                [self._class_of_row, *(column.codes for column in columns)],
                [len(self.size), *(column.cardinality for column in columns)],
                len(self._class_of_row),
            )
            first = grouped.first_row
            cells = [column.codes[first] for column in columns]
            self._combinations[names] = (
                self._class_of_row[first],
                cells,
                grouped.size.astype(np.float64),
            )
        return self._combinations[names]

    @cached_property
    def matrices(self) -> list[NDArray[np.bool_]]:
        """For each quasi-identifier (cells, values): what each cell covers."""
        return [coverage.matrix() for coverage in self.coverages]


class _Meeting:
    """The classes of some tables that meet: for each list of them, one of each table."""

    def __init__(self, base: _Table, others: Sequence[_Table]) -> None:
        self._base, self._others = base, others
        attributes = len(base.names)
        self._cells = base.matrices  # by attribute: (distinct cells, values)
        cell = base.cells  # (attributes, meetings)
        of_table = [np.arange(len(base.size))]
        for other in others:
            overlap = [
                (mine.astype(np.float32) @ theirs.T.astype(np.float32)) > 0
                for mine, theirs in zip(self._cells, other.matrices, strict=True)
            ]
            left, right = _meet(cell, other.cells, overlap)
            of_table = [numbers[left] for numbers in of_table] + [right]
            meeting, cells = [], []
            for a in range(attributes):
                pair = cell[a, left] * len(other.matrices[a]) + other.cells[a, right]
                distinct, where = np.unique(pair, return_inverse=True)
                mine, theirs = np.divmod(distinct, len(other.matrices[a]))
                cells.append(self._cells[a][mine] & other.matrices[a][theirs])
                meeting.append(where)
            self._cells = cells
            cell = np.array(meeting, np.int64).reshape(attributes, len(left))
        self._cell = cell
        self._of_table = of_table
        volume = np.ones(len(base.size))  # of each base class, in combinations of values
        spread = np.ones(cell.shape[1])  # of the part of it in each meeting
        for a in range(attributes):
            volume *= base.coverages[a].size[base.cells[a]]
            spread *= self._cells[a].sum(axis=1)[cell[a]]
        covered = np.bincount(of_table[0], spread, len(base.size)) / volume
        # what a combination weighs: less where classes of the others overlap
        self._scale = (1.0 / (volume * np.maximum(covered, 1.0)))[of_table[0]]

    def estimate(self, batch: QueryBatch) -> Shares:
        """n · p2 of queries that ask for sensitive attributes of these tables."""
        queries = len(batch.number)
        counted = self._base.answering(batch)  # (classes of the base, queries)
        answering = [other.answering(batch) for other in self._others]
        given_class = [a / o.size[:, None] for a, o in zip(answering, self._others, strict=True)]
        inside = self._inside(batch)
        estimate, met = np.zeros(queries), np.zeros(queries)
        step = max(1, SLICE // max(queries, 1))
        for start in range(0, self._cell.shape[1], step):
            part = slice(start, start + step)
            mass = counted[self._of_table[0][part]] * self._scale[part, None]
            for a, of_cell in enumerate(inside):
                mass *= of_cell[self._cell[a, part]]
            met += mass.sum(axis=0)
            for number, share in enumerate(given_class, start=1):
                mass *= share[self._of_table[number][part]]
            estimate += mass.sum(axis=0)
        for a, name in enumerate(self._base.names):
            if name in batch.members:
                share = self._base.coverages[a].shares(batch.members[name])
                counted = counted * share[self._base.cells[a]]
        apart = np.ones(queries)  # by the whole tables of the others
        for rows in answering:
            apart *= rows.sum(axis=0) / self._base.size.sum()
        result: Shares = estimate + np.maximum(counted.sum(axis=0) - met, 0.0) * apart
        return result

    def _inside(self, batch: QueryBatch) -> list[Shares]:
        """By attribute (distinct cells, queries): the values of each cell that queries ask for."""
        found = []
        for a, name in enumerate(self._base.names):
            member = batch.members.get(name)
            if member is None:
                found.append(self._cells[a].sum(axis=1).astype(np.float64)[:, None])
            else:
                found.append((self._cells[a].astype(np.float32) @ member).astype(np.float64))
        return found


@kernel
def _sum_by_class(class_of_row: NDArray[np.int32], share: Shares, classes: int) -> Shares:
    total = np.zeros((classes, share.shape[1]))
    for row in range(len(class_of_row)):
        total[class_of_row[row]] += share[row]
    return total


def _meet(
    mine: NDArray[np.int64], theirs: NDArray[np.int64], overlap: Sequence[NDArray[np.bool_]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of classes whose cells overlap in every attribute."""
    left, right = [], []
    for other in range(theirs.shape[1]):
        meets = np.ones(mine.shape[1], bool)
        for a, matrix in enumerate(overlap):
            meets &= matrix[:, theirs[a, other]][mine[a]]
        found = np.flatnonzero(meets)
        left.append(found)
        right.append(np.full(len(found), other))
    return np.concatenate(left).astype(np.int64), np.concatenate(right).astype(np.int64)
