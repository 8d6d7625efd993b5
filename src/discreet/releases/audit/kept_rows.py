"""Guarantees about persons with several published rows.

The files do not say which rows belong to the same person. Only the publisher, who knows the source
row behind each published row, can derive these guarantees: when the release is made, and later with
the original and the private file beside the release, which keeps the source rows.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.methods.base import Task
from discreet.releases.manifest import Manifest, Promise
from discreet.requirements.base import Domains, Requirement
from discreet.requirements.on_persons import verdict_on_persons
from discreet.table.coded_table import CodedTable
from discreet.table.persons import Persons

NOT_IN_THE_FILES = (
    "it counts persons, and the files do not say which rows belong to the same person. The "
    "publisher can prove it with --original JOB and the private file beside the release"
)


def packed_rows(source_rows: NDArray[np.int32]) -> str:
    """The source row of each published row as text, for the private file."""
    return base64.b85encode(zlib.compress(source_rows.astype("<i4").tobytes())).decode()


def unpacked_rows(text: str, rows: int) -> NDArray[np.int32] | None:
    """Read the source rows back; None where the text is damaged."""
    try:
        found = np.frombuffer(zlib.decompress(base64.b85decode(text)), "<i4").astype(np.int32)
    except (ValueError, TypeError, zlib.error):
        return None
    return found if len(found) == rows else None


def source_rows_beside(folder: Path) -> dict[str, NDArray[np.int32]] | None:
    """The source row of each published row, if the private file is beside the release."""
    place = folder.resolve().with_name(f"{folder.resolve().name}.private.json")
    try:
        packed = dict(json.loads(place.read_text(encoding="utf-8"))["source_rows"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    entries = Manifest.load(folder).tables
    found = {
        name: unpacked_rows(text, entries[name].rows)
        for name, text in packed.items()
        if name in entries
    }
    known = {name: rows for name, rows in found.items() if rows is not None}
    return known if known.keys() == entries.keys() else None


def persons_of_rows(
    tables: Mapping[str, CodedTable],
    original: Task | None,
    source_rows: Mapping[str, NDArray[np.int32]] | None,
) -> Persons | None:
    """The person of each published row; None where only the publisher has it."""
    if original is None or original.kept is None or source_rows is None or len(tables) != 1:
        return None
    (name,) = tables
    rows, known = source_rows[name], len(original.kept.number)
    if len(rows) != tables[name].rows or not ((rows >= 0) & (rows < known)).all():
        return None  # the rows of another source
    return original.kept.take(rows)


def promise_on_persons(
    requirement: Requirement, tables: Mapping[str, CodedTable], persons: Persons, domains: Domains
) -> Promise:
    """Derive a guarantee about the persons of every class."""
    (table,) = tables.values()
    verdict = verdict_on_persons(requirement, table.classes, persons, table.sensitive, domains)
    return Promise.of(requirement, verdict)


def scattered_persons(tables: Mapping[str, CodedTable], persons: Persons) -> list[str]:
    """Return where rows of one person have different cells, which distinguish members."""
    (table,) = tables.values()
    pair = np.unique(table.classes.class_of_row.astype(np.int64) * persons.count + persons.number)
    scattered = len(pair) - len(np.unique(persons.number))
    return [f"rows of {scattered} persons are in several groups"] if scattered else []
