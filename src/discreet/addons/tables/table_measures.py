"""What a table of any tool is still worth beside its original: counts, means, associations, shape.

The table implies a distribution as our own generalized releases do (``utility/implied.py``): a
cell lies evenly over the values that it covers. The values that only the table has, such as
numbers with noise, join the domain of their attribute. A table with changed values stands for as
many persons as the original has; the rows that a generalized one lacks lie over the whole domain.

Associations and shapes (``releases/column_shapes.py``) compare the original with a table drawn from
that distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from discreet.addons.tables.pages import table_measures_page
from discreet.hierarchies.coverage import Coverage, cover
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.releases.analyst_errors import AnalystErrors, analyst_errors
from discreet.releases.column_shapes import associations_of, bins_of
from discreet.report.charts.chart import Chart
from discreet.report.pieces import Page
from discreet.result import Result
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ValueType
from discreet.typing import Codes, Ints
from discreet.utility.implied import ImpliedGeneralized
from discreet.utility.learning import Learning
from discreet.utility.queries import QueryErrors, QueryWorkload, query_errors


@dataclass(frozen=True)
class ColumnShape:
    """One column before and after."""

    name: str
    distance: float  # total variation: the share of persons who would have to be moved
    loss: float  # mean share of the column's values that a cell leaves open
    values: tuple[int, int]  # that occur, in the original and in the table
    mean: tuple[float, float] | None = None  # of numbers
    spread: tuple[float, float] | None = None  # standard deviation


@dataclass(frozen=True)
class TableMeasures(Result):
    """The utility of a table of any tool, beside its original."""

    rows: int
    original_rows: int
    columns: tuple[ColumnShape, ...]
    names: tuple[str, ...]  # of the associated columns
    before: tuple[tuple[float, ...], ...]  # (columns, columns) associations in the original
    after: tuple[tuple[float, ...], ...]
    errors: AnalystErrors
    query_error: QueryErrors | None = None
    learning: Learning | None = None

    @property
    def association_error(self) -> float:
        """The mean change of the association of two columns."""
        pairs = np.triu_indices(len(self.names), 1)
        if not len(pairs[0]):
            return 0.0
        return float(np.abs(np.array(self.after)[pairs] - np.array(self.before)[pairs]).mean())

    @property
    def distance(self) -> float:
        """The mean distance of a column from its shape in the original."""
        return float(np.mean([column.distance for column in self.columns]))

    @property
    def loss(self) -> float:
        """The mean share of a column's values that a cell leaves open."""
        return float(np.mean([column.loss for column in self.columns]))

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "rows": self.rows,
            "original_rows": self.original_rows,
            "loss": self.loss,
            "shape_distance": self.distance,
            "association_error": self.association_error,
            "columns": [asdict(column) for column in self.columns],
            "associations": {
                "columns": list(self.names),
                "original": [list(row) for row in self.before],
                "table": [list(row) for row in self.after],
            },
            "errors": self.errors.to_dict(),
            **({} if self.query_error is None else {"query_error": self.query_error.to_dict()}),
            **({} if self.learning is None else {"learning": self.learning.to_dict()}),
        }

    def lines(self) -> list[str]:
        """The figures that matter most, then a line for each column."""
        lines = [
            f"information loss     {self.loss:.4f}   mean share of its column that a cell leaves "
            "open",
            f"shape of columns     {self.distance:.4f}   mean distance from the original; 0: equal",
            f"associations         {self.association_error:.4f}   mean change of the association "
            "of two columns",
        ]
        if self.query_error is not None:
            lines.append(self.query_error.line())
        # What analysts lose, each figure beside that without any link.
        for name in ("counts", "means", "shares"):
            error = getattr(self.errors, name)
            if error is not None:
                lines.append(
                    f"{'error of ' + name:20} {error.release:.4f}   unlinked baseline: "
                    f"{error.unlinked:.4f}"
                )
        if self.learning is not None:
            lines += self.learning.lines()
        # A line for each column, below a head.
        wide = max(6, *(len(column.name) for column in self.columns))
        lines += ["", f"{'column':{wide}}  {'distance':>8}  {'loss':>6}  mean before, after"]
        for column in self.columns:
            means = ""
            if column.mean is not None:
                means = f"{column.mean[0]:.6g}, {column.mean[1]:.6g}"
            figures = f"{column.distance:>8.4f}  {column.loss:>6.4f}  {means}"
            lines.append(f"{column.name:{wide}}  {figures}".rstrip())
        return lines

    def _page(self) -> Page:
        return table_measures_page(self)

    def _charts(self) -> Sequence[Chart]:
        return ()

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, eq=False)
class TableReading:
    """A table and its original on common domains."""

    original: CodedTable
    implied: ImpliedGeneralized
    coverages: Mapping[str, Coverage]
    published: CodedTable

    @classmethod
    def of(
        cls,
        published: CodedTable,
        original: CodedTable,
        covered: Mapping[str, Ints],
        hierarchies: Mapping[str, Hierarchy],
        *,
        is_true: bool,
    ) -> TableReading:
        """Read a table; of a true one each row is a row of the original, which may have more."""
        columns: dict[str, Column] = {}
        coverages = {}
        for column in original:
            cells, hierarchy = published[column.name], hierarchies.get(column.name)
            # A number that the original lacks is a value of its own; so is any other such cell.
            new = np.flatnonzero((covered[column.name] == 0) & (cells.counts > 0))
            if len(new):
                kind = ValueType.NUMBER if column.type is ValueType.INTEGER else column.type
                texts = cells.text.gather(new).to_list()
                column = replace(column, type=kind).with_domain(texts)
                hierarchy = None
            columns[column.name] = column
            coverages[column.name] = cover(column, cells.text, hierarchy)
        extended = CodedTable(columns, original.rows)
        suppressed = original.rows - published.rows if is_true else 0
        mass = None
        if not is_true and published.rows != original.rows:
            mass = np.full(published.rows, original.rows / published.rows)
        implied = ImpliedGeneralized(list(published), coverages, published.rows, suppressed, mass)
        return cls(extended, implied, coverages, published)

    def measured(self, workload: QueryWorkload | None, seed: int) -> TableMeasures:
        """Measure the table."""
        drawn = self.implied.draw(np.random.default_rng(seed))
        bins = {column.name: bins_of(column) for column in self.original}
        of_original = {c.name: bins[c.name][c.codes] for c in self.original}
        of_table = {c.name: bins[c.name][drawn[c.name]] for c in self.original}
        names = tuple(of_original)
        return TableMeasures(
            self.published.rows,
            self.original.rows,
            tuple(self._shape(c, of_original[c.name], of_table[c.name], drawn[c.name])
                  for c in self.original),
            names,
            associations_of(of_original, names),
            associations_of(of_table, names),
            analyst_errors(self.original, self.implied),
            None if workload is None
            else query_errors(self.original, self.implied, workload, seed),
        )  # fmt: skip

    def _shape(self, column: Column, before: Codes, after: Codes, drawn: Codes) -> ColumnShape:
        size = int(max(before.max(initial=0), after.max(initial=0))) + 1
        shares = [np.bincount(codes, minlength=size) / max(len(codes), 1)
                  for codes in (before, after)]  # fmt: skip
        coverage, cells = self.coverages[column.name], self.published[column.name]
        open_values = (coverage.size - 1) / max(column.cardinality - 1, 1)
        loss = float(open_values @ cells.counts) / max(self.published.rows, 1)
        mean = spread = None
        if column.numbers is not None:
            numbers = [column.numbers[codes] for codes in (column.codes, drawn)]
            numbers = [values[~np.isnan(values)] for values in numbers]
            if all(len(values) for values in numbers):
                mean = float(numbers[0].mean()), float(numbers[1].mean())
                spread = float(numbers[0].std()), float(numbers[1].std())
        return ColumnShape(
            column.name,
            float(np.abs(shares[0] - shares[1]).sum() / 2),
            loss,
            (int(np.count_nonzero(column.counts)), int(np.count_nonzero(cells.counts))),
            mean,
            spread,
        )
