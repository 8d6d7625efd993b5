"""Guarantees about the labels that the terms of persons with several rows link to.

A label must fit all terms of a person, in whichever rows they are. The rows by themselves were
judged like those of any release; here the terms of each person are joined, and both must hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.hierarchies.cells import SUPPRESSED
from discreet.knowledge.table import Knowledge
from discreet.methods.base import Task
from discreet.releases.audit.linked_labels import linked_domains
from discreet.releases.manifest import Manifest, Promise
from discreet.table.classes import Classes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.counts import count_classes
from discreet.typing import Ints

BETWEEN = "\x1f"  # terms of a person, where each cell of the column has one


def promise_on_terms(
    of_rows: Promise,
    table: CodedTable,
    person: Ints,  # (rows,)
    of_class: Ints,  # (rows,)
    manifest: Manifest,
    original: Task | None,
    knowledge: Mapping[str, Knowledge],
) -> Promise:
    """Derive a guarantee about the joined terms of persons, beside the one about rows."""
    numbers, first, place = np.unique(person, return_index=True, return_inverse=True)
    columns = {c.name: _joined(c, place, len(numbers)) for c in table.quasi_sensitive}
    joined = CodedTable(columns, len(numbers))
    domains = linked_domains({"persons": joined}, manifest, original, knowledge)
    classes = Classes.of_numbers(of_class[first].astype(np.int32))
    counts = count_classes(classes, [], quasi_sensitive=list(columns.values()))
    requirement = of_rows.to_requirement()
    found = Promise.of(requirement, requirement.full_check(counts, domains))
    return found.model_copy(
        update={
            "holds": found.holds and of_rows.holds,
            "achieved": _worse(found.achieved, of_rows.achieved, requirement.smaller_is_better),
            "by_attribute": _worse(
                found.by_attribute, of_rows.by_attribute, requirement.smaller_is_better
            ),
        }
    )


def _worse(
    some: Mapping[str, float | None], others: Mapping[str, float | None], smaller_is_better: bool
) -> dict[str, float | None]:
    """The worse of two figures of each name; None is unbounded."""
    pick = max if smaller_is_better else min
    worse: dict[str, float | None] = {}
    for name in dict.fromkeys([*some, *others]):
        found = [side[name] for side in (some, others) if name in side]
        known = [figure for figure in found if figure is not None]
        worse[name] = None if len(known) < len(found) else pick(known)
    return worse


def _joined(column: Column, person: NDArray[np.intp], persons: int) -> Column:
    """A cell for each person: all terms, ``*`` if rows have lost theirs, else empty."""
    separator = column.separator or BETWEEN
    cells = pl.DataFrame({"person": person, "cell": column.text.gather(pl.Series(column.codes))})
    shown = cells.filter(pl.col("cell").is_not_null())
    split = pl.col("cell").str.split(column.separator) if column.separator else pl.col("cell")
    terms = shown.filter(pl.col("cell") != SUPPRESSED).with_columns(split)
    terms = terms.explode("cell") if column.separator else terms
    of_person = terms.unique().group_by("person").agg(pl.col("cell").sort().str.join(separator))
    emptied = shown.filter(pl.col("cell") == SUPPRESSED).unique()
    emptied = emptied.join(of_person, on="person", how="anti")
    every = pl.DataFrame({"person": np.arange(persons)}).join(
        pl.concat([of_person, emptied.select("person", "cell")]), on="person", how="left"
    )
    text = every.sort("person")["cell"]
    distinct = text.unique().sort(nulls_last=True)
    code = {cell: number for number, cell in enumerate(distinct.to_list())}
    codes = np.array([code[cell] for cell in text.to_list()], np.int32)
    return replace(column, codes=codes, text=distinct, values=distinct, separator=separator)
