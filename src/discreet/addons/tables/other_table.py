"""A table that any tool made, opened beside its original for the verbs that judge it.

The original is a job (its source, roles and hierarchies), or a table with the roles of a call or
those that ``init`` would propose. Cells of the table are rewritten in our notation
(``cells.py``), so that what reads our own releases reads it too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.addons.tables.cells import read_cells
from discreet.api.opened_release import names_job
from discreet.errors import InputError
from discreet.hierarchies.cells import SUPPRESSED
from discreet.io.frames import code_frame, code_series, frame_columns, plain_frame, unwrapped_frame
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.job.model import Job
from discreet.job.proposing.job_text import propose_for
from discreet.job.proposing.untyped_table import MISSING_TOKENS, UntypedTable, read_untyped
from discreet.methods.base import Progress, Task, no_progress
from discreet.pipeline.prepare import prepare
from discreet.releases.kinds.generalized import RECORDS, manifest_of_cells
from discreet.releases.manifest import Manifest
from discreet.releases.registry import kind_of
from discreet.statements import Statement
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType
from discreet.typing import Codes, Floats, Ints

_ROLES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)
UNREAD_ROWS = (
    0.01  # share of rows with labels that nothing explains, above which a table is refused
)


class TableShape(StrEnum):
    """What a table is made of, seen beside its original."""

    ORIGINAL = "original"  # each row is a row of the original, unchanged
    GENERALIZED = "recoded"  # each row covers a row of the original of its own
    PERTURBED = "perturbed"  # changed values; row i is about the person of row i
    SYNTHETIC = "synthetic"  # changed values; no row is about a known person


@dataclass(frozen=True, eq=False)
class OtherTable:
    """A published table of any tool, and the original it was made from."""

    task: Task  # the original: roles and hierarchies of the columns that both tables have
    published: CodedTable  # in our notation
    covered: Mapping[str, Ints]  # by column: values of the original that each distinct cell covers
    remarks: tuple[str, ...] = ()

    @property
    def original(self) -> CodedTable:
        """The original, with the columns that both tables have."""
        return self.task.table

    @cached_property
    def manifest(self) -> Manifest:
        """What a release of ours would say of the table; it guarantees nothing."""
        return manifest_of_cells(self.published, self.original)

    @property
    def tables(self) -> dict[str, CodedTable]:
        """The table under the name that it would have in a release."""
        return {RECORDS: self.published}

    @cached_property
    def is_exact(self) -> bool:
        """Whether no cell covers several values."""
        return all(bool((size <= 1).all()) for size in self.covered.values())

    @cached_property
    def is_true(self) -> bool:
        """Whether each row covers a row of the original of its own, so that none was changed."""
        if self.published.rows > self.original.rows:
            return False
        if any(bool((size == 0).any()) for size in self.covered.values()):
            return False
        changes = kind_of(self.manifest.kind).changes(self.tables, self.task, self.manifest)
        return not changes

    @cached_property
    def shape(self) -> TableShape:
        """What the table is made of."""
        if self.is_true:
            return TableShape.ORIGINAL if self.is_exact else TableShape.GENERALIZED
        return TableShape.PERTURBED if self.is_aligned else TableShape.SYNTHETIC

    @cached_property
    def is_aligned(self) -> bool:
        """Whether row i is about the person of row i of the original, as far as rows agree.

        Rows agree in more columns at their own place than at others by more than ten standard
        errors: a tool that keeps the order of rows is far above, one that draws rows is not.
        """
        rows = self.published.rows
        if rows != self.original.rows or rows < 10:
            return False
        same_place = self._agreement(np.arange(rows))
        others = self._agreement(np.roll(np.arange(rows), rows // 2))
        spread = float(np.sqrt((same_place.var() + others.var()) / rows))
        return float(same_place.mean() - others.mean()) > 10 * max(spread, 1e-12)

    def _agreement(self, row_of_original: Ints) -> Floats:
        """(rows,) In how many columns each published row agrees with a row of the original."""
        total = np.zeros(self.published.rows)
        for column in self.published:
            source = self.original[column.name]
            published, original = numbers_of(column), numbers_of(source)
            if published is not None and original is not None:
                spread = max(float(np.nanstd(original[source.codes])), 1e-12)
                gap = published[column.codes] - original[source.codes[row_of_original]]
                total += np.nan_to_num(np.exp(-np.abs(gap) / (0.25 * spread)))
            else:
                code = {text: code for code, text in enumerate(source.text.to_list())}
                same = np.array([code.get(text, -1) for text in column.text.to_list()])
                total += same[column.codes] == source.codes[row_of_original]
        return total


def numbers_of(column: Column) -> Floats | None:
    """Return the numbers of a column's distinct cells, NaN for others; None of text."""
    if column.numbers is not None:
        return column.numbers
    numbers = column.text.cast(pl.Float64, strict=False)
    if numbers.null_count() > max(1, len(numbers) // 2):
        return None
    return numbers.fill_null(float("nan")).to_numpy()


def open_table(
    table: Any,
    original: Any,
    *,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    suppressed: Sequence[str] = (SUPPRESSED,),
    source: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> OtherTable:
    """Open a table beside its original, with the roles of a job, of a call or of a proposal."""
    progress("reading", 0.0)
    cells = _cells_of(table, "The table", source)
    task, missing, remarks = _original_task(
        original, job, quasi, sensitive, list(cells.columns), progress
    )
    if not len(task.table.columns):
        raise InputError(
            "The table has no column of the original that may be compared. Name a table that was "
            "made from this original, with the same column names."
        )
    published: dict[str, Column] = {}
    covered: dict[str, Ints] = {}
    suppressed = tuple(suppressed) or (SUPPRESSED,)
    for name, column in task.table.columns.items():
        progress("reading", len(published) / len(task.table.columns))
        published[name], covered[name] = _column(cells[name], column, task, suppressed, missing)
    _require_overlap(task, published, covered)
    for name in sorted({*cells.columns} - published.keys()):
        remarks.append(Statement("tables.not-compared", column=name))
    return OtherTable(task, CodedTable(published, cells.rows), covered, tuple(remarks))


def holdout_of(control: Any, opened: OtherTable, source: Mapping[str, Any] | None) -> CodedTable:
    """Read a holdout: rows of the original's columns that the table was not made from."""
    cells = _cells_of(control, "The holdout (--control)", source)
    lacking = [name for name in opened.original.columns if name not in cells.columns]
    if lacking:
        raise InputError(
            f"The holdout (--control) lacks {len(lacking)} column{'s'[: len(lacking) > 1]} of the "
            f"original, such as '{lacking[0]}'. Give rows with the same columns."
        )
    columns = {
        name: _column(cells[name], column, opened.task, (), ())[0]
        for name, column in opened.original.columns.items()
    }
    return CodedTable(columns, cells.rows)


def _original_task(
    original: Any,
    job: Job | Mapping[str, Any] | str | Path | None,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    present: Sequence[str],
    progress: Progress,
) -> tuple[Task, tuple[str, ...], list[str]]:
    """Return the original with roles, the tokens that mean a missing value, and remarks."""
    if job is None and names_job(original):
        job, original = original, None
    if job is not None:
        if quasi or sensitive:
            raise InputError(
                "A job already names the roles. Give either a job or --quasi and --sensitive."
            )
        described = Job.of(job)
        task = prepare(
            described.model_copy(update={"requirements": [], "population": None}),
            original, progress=progress,
        )  # fmt: skip
        shared = {
            name: column
            for name, column in task.table.columns.items()
            if name in present and column.role in _ROLES
        }
        missing = () if described.source is None else described.source.missing
        return replace(task, table=replace(task.table, columns=shared)), missing, []
    untyped = read_untyped(original)
    roles, remarks = _roles(untyped, quasi, sensitive, present)
    columns = {
        name: replace(
            untyped.table[name],
            role=role,
            distance=Distance.ORDERED
            if role is Role.SENSITIVE and untyped.table[name].type.ordered
            else Distance.EQUAL,
        )
        for name, role in roles.items()
    }
    table = CodedTable(columns, untyped.table.rows)
    return Task(table, {}, [], np.random.default_rng(0)), untyped.missing, remarks


def _roles(
    untyped: UntypedTable, quasi: Sequence[str], sensitive: Sequence[str], present: Sequence[str]
) -> tuple[dict[str, Role], list[str]]:
    """Return the role of each column that both tables have, named or proposed."""
    known = untyped.table.columns
    unknown = [name for name in (*quasi, *sensitive) if name not in known or name not in present]
    if unknown:
        raise InputError(
            f"Column '{unknown[0]}' is not in both the table and the original. Name columns that "
            "both have."
        )
    if both := set(quasi) & set(sensitive):
        raise InputError(f"Column '{min(both)}' is named with --quasi and with --sensitive.")
    if quasi or sensitive:
        named = dict.fromkeys(quasi, Role.QUASI_IDENTIFIER)
        named |= dict.fromkeys(sensitive, Role.SENSITIVE)
        others = {n: Role.INSENSITIVE for n in known if n in present and n not in named}
        return {name: (named | others)[name] for name in known if name in named | others}, []
    proposed = propose_for(untyped, Path.cwd()).roles
    roles = {
        name: proposed[name].role if proposed[name].role in _ROLES else Role.INSENSITIVE
        for name in known
        if name in present and name in proposed and proposed[name].role is not Role.IDENTIFIER
    }
    return roles, [
        Statement(
            "tables.proposed-roles",
            quasi=[name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER],
            sensitive=[name for name, role in roles.items() if role is Role.SENSITIVE],
        )
    ]


def _cells_of(data: Any, place: str, options: Mapping[str, Any] | None) -> CodedTable:
    """Read every column of a file or a frame as text, as it is written."""
    spec = ColumnSpec(Role.INSENSITIVE, ValueType.TEXT)
    if isinstance(data, str | Path):
        source = Source.of_file(Path(data), **(options or {}))
        return read_table(source, dict.fromkeys(column_names(source), spec))
    frame = plain_frame(unwrapped_frame(data))
    names = frame_columns(frame)
    if not names:
        raise InputError(f"{place} has no column.")
    plain = ColumnSpec(Role.INSENSITIVE)
    return code_frame(frame, dict.fromkeys(names, plain))


def _column(
    cells: Column,
    original: Column,
    task: Task,
    suppressed: Collection[str],
    missing: Collection[str],
) -> tuple[Column, Ints]:
    """Return a published column in our notation, and how many values each distinct cell covers."""
    text = cells.text.cast(pl.String)
    # Words for a missing cell, such as R's NA, where they are no values of the original.
    known = set(original.text.to_list())
    missing = {*missing, *(token for token in MISSING_TOKENS if token not in known)}
    if text.is_in(list(missing)).any():
        text = pl.Series([None if t in missing else t for t in text.to_list()], dtype=pl.String)
    read = read_cells(text, original, task.hierarchies.get(original.name), suppressed)
    rows = cells.counts
    unread = read.covered == 0
    is_number = pl.Series(read.labels, dtype=pl.String).cast(pl.Float64, strict=False).is_not_null()
    numeric = original.numbers is not None
    labels = unread & ~(is_number.to_numpy() & numeric)
    if original.role is Role.QUASI_IDENTIFIER and rows[labels].sum() > UNREAD_ROWS * rows.sum():
        shown = [text[int(place)] for place in np.flatnonzero(labels)[:3]]
        raise InputError(
            f"Column '{original.name}': {int(labels.sum())} of {len(text)} distinct cells are no "
            f"value of the original and no notation that is known: "
            f"{', '.join('(missing)' if cell is None else cell for cell in shown)}. If they are "
            "labels of a hierarchy, give a job with the column's 'hierarchy' (--job)."
        )
    quasi = original.role is Role.QUASI_IDENTIFIER
    typed = numeric and not quasi and not labels.any() and bool((read.covered <= 1).all())
    spec = ColumnSpec(
        original.role,
        original.type if typed else ValueType.TEXT,
        original.distance if typed else None,
    )
    if typed and original.type is ValueType.INTEGER and unread.any():
        spec = replace(spec, type=ValueType.NUMBER)  # integers with noise
    series = pl.Series(original.name, read.labels, dtype=pl.String)
    coded = code_series(series, spec, (), f"Column '{original.name}'")
    codes: Codes = coded.codes[cells.codes]
    size = np.zeros(coded.cardinality, np.int64)
    size[coded.codes] = read.covered
    return replace(coded, codes=codes), size


def _require_overlap(
    task: Task, published: Mapping[str, Column], covered: Mapping[str, Ints]
) -> None:
    """Raise where no column has a value of the original: the tables are about other things."""
    known = [int(column.counts[covered[name] > 0].sum()) for name, column in published.items()]
    numeric = [task.table[name].numbers is not None for name in published]
    if not any(known) and not any(numeric):
        raise InputError(
            "No cell of the table is a value of the original, or covers one. Name the original "
            "that the table was made from."
        )
