"""Whether groups are those that quasi-identifiers alone give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from pydantic import ValidationError

from discreet.errors import InfeasibleError, InputError
from discreet.methods.base import Generalized, Task
from discreet.methods.registry import METHODS
from discreet.releases.manifest import Manifest
from discreet.requirements.base import SizeRequirement
from discreet.table.coded_table import CodedTable


def formed_blindly(tables: Mapping[str, CodedTable], manifest: Manifest, original: Task) -> bool:
    """Return whether the manifest's method forms these groups without any sensitive value.

    It runs on the original with the requirements on sizes, by which it may form groups.
    """
    task = original.for_grouping
    kind = METHODS.get(manifest.method.name)
    try:
        method = None if kind is None else kind.model_validate(manifest.method.parameters)
    except ValidationError:
        return False
    sizes = all(isinstance(one, SizeRequirement) for one in task.requirements)
    if method is None or not method.groups_blindly or not sizes or len(tables) != 1:
        return False
    try:
        outcome = method.run(replace(task, rng=np.random.default_rng(0)))
    except (InfeasibleError, InputError):
        return False
    (table,) = tables.values()
    return isinstance(outcome, Generalized) and _formed(outcome) == _published(table)


def _formed(outcome: Generalized) -> Counter[tuple[str | None, ...]]:
    """The rows of each class by its cells, those of suppressed rows left out."""
    size = np.bincount(outcome.class_of_row[outcome.class_of_row >= 0])
    cells = [
        [column.labels[cell] for cell in column.cell_of_class.tolist()]
        for _, column in sorted(outcome.cells.items())
    ]
    found: Counter[tuple[str | None, ...]] = Counter()
    for rows, *own in zip(size.tolist(), *cells, strict=True):
        found[tuple(own)] += rows
    return found


def _published(table: CodedTable) -> Counter[tuple[str | None, ...]]:
    columns = sorted(table.quasi_identifiers, key=lambda column: column.name)
    texts = [column.text.to_list() for column in columns]
    classes = table.classes
    return Counter(
        {
            tuple(
                text[column.codes[row]] for column, text in zip(columns, texts, strict=True)
            ): rows
            for row, rows in zip(classes.first_row.tolist(), classes.size.tolist(), strict=True)
        }
    )
