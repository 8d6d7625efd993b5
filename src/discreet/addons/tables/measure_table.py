"""Measure the utility of a table that any tool made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.addons.tables.other_table import OtherTable, holdout_of, open_table
from discreet.addons.tables.table_measures import TableMeasures, TableReading
from discreet.errors import InputError
from discreet.job.model import Job
from discreet.methods.base import Progress, no_progress
from discreet.table.code_maps import code_of_text
from discreet.table.coded_table import CodedTable
from discreet.typing import Codes
from discreet.utility.learning import Learning, Split, Teacher, targets_of
from discreet.utility.queries import QueryWorkload


def measure_table(
    table: Any,
    *,
    original: Any,
    job: Job | Mapping[str, Any] | str | Path | None = None,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    control: Any = None,
    suppressed: Sequence[str] = (),
    queries: int = 1000,
    learning: bool = False,
    seed: int = 0,
    source: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> TableMeasures:
    """Measure a table of any tool, a file or a frame, beside the original it was made from.

    Random COUNT queries, shares and means by quasi-identifier, associations of all pairs of
    columns, and each column before and after. Roles are those of ``attack_table``. ``learning``
    trains models on the table and tests them on ``control``, rows that it was not made from.
    """
    opened = open_table(
        table, original, job=job, quasi=quasi, sensitive=sensitive, suppressed=suppressed,
        source=source, progress=progress,
    )  # fmt: skip
    progress("measures", 0.0)
    reading = read_opened(opened)
    measures = reading.measured(QueryWorkload(queries=queries) if queries else None, seed)
    if not learning:
        return measures
    if control is None:
        raise InputError(
            "Models are tested on rows that the table was not made from. Name them with --control."
        )
    progress("learning", 0.0)
    held = holdout_of(control, opened, source)
    return replace(measures, learning=_learning(reading, held, seed))


def read_opened(opened: OtherTable) -> TableReading:
    """Read an opened table and its original on common domains."""
    return TableReading.of(
        opened.published, opened.original, opened.covered, opened.task.hierarchies,
        is_true=opened.is_true,
    )  # fmt: skip


def _learning(reading: TableReading, control: CodedTable, seed: int) -> Learning:
    """Train on the table, and on the original for comparison; test on the holdout."""
    rng = np.random.default_rng(seed)
    original = reading.original
    both = {}
    for column in original:
        # The holdout in the codes of the original, with the values that only the holdout has.
        source = control[column.name]
        wide = column.with_domain(source.text.to_list())
        place = code_of_text(wide.text, source.text).astype(np.int32)[source.codes]
        both[column.name] = replace(wide, codes=np.concatenate([wide.codes, place]))
    table = CodedTable(both, original.rows + control.rows)
    split = Split(np.arange(original.rows), np.arange(original.rows, table.rows))
    teacher = Teacher(table, split, targets_of(table), rng)

    def draws() -> Iterator[Mapping[str, Codes]]:
        drawn = reading.implied.draw(rng)
        yield {
            name: code_of_text(table[name].text, original[name].text).astype(np.int32)[codes]
            for name, codes in drawn.items()
        }

    return teacher.teach(draws())
