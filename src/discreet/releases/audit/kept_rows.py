"""Guarantees about persons with several published rows.

Under ``link: pseudonym`` the files say which rows belong to the same person, and prove the
guarantees; as an attacker sees the number of a person's rows too, a class consists of persons with
equal cells and equally many rows. Otherwise only the publisher, who knows the source row behind
each published row, can derive them: when the release is made, and later with the original and the
private file beside the release, which keeps the source rows.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.methods.base import Method, Task
from discreet.releases.audit.person_tally import judge_persons
from discreet.releases.audit.row_order import beyond_chance
from discreet.releases.audit.shards import domains_of
from discreet.releases.manifest import Manifest, Promise
from discreet.releases.registry import kind_of
from discreet.requirements.base import Domains, Requirement, Verdict
from discreet.table.classes import group_codes
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import Persons, Scope
from discreet.table.published import PERSON
from discreet.table.roles import Role
from discreet.typing import Ints

NOT_IN_THE_FILES = (
    "it counts persons, and the files do not say which rows belong to the same person. The "
    "publisher can prove it with --original JOB and the private file beside the release"
)


def packed_rows(source_rows: NDArray[np.int32]) -> str:
    """The source row of each published row as text, for the private file."""
    return base64.b64encode(zlib.compress(source_rows.astype("<i4").tobytes(), 1)).decode()


def unpacked_rows(text: str, rows: int) -> NDArray[np.int32] | None:
    """Read the source rows back; None where the text is damaged."""
    try:
        found = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i4").astype(np.int32)
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


@dataclass(frozen=True, eq=False)
class TablePersons:
    """The person of each row of a published table."""

    number: Ints  # (rows,)
    of_class: Ints  # (rows,) the class in which an attacker sees the person
    sensitive: Sequence[Column]  # (rows,) the values, under the codes of ``domains``
    domains: Domains


SourceRows = Mapping[str, NDArray[np.int32]]


def _rows_of_source(
    table: CodedTable, persons: Persons, rows: NDArray[np.int32]
) -> NDArray[np.int32] | None:
    """The source rows of a table; None for those of another source."""
    known = len(persons.number)
    return rows if len(rows) == table.rows and ((rows >= 0) & (rows < known)).all() else None


def persons_of_tables(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    original: Task | None,
    source_rows: SourceRows | None,
) -> dict[str, TablePersons] | None:
    """The persons of the rows of each table; None where only the publisher has them."""
    kind = kind_of(manifest.kind)
    names = kind.tables_of_rows(manifest)
    domains = domains_of(tables, manifest)
    if manifest.keeping.numbered:
        return {name: _numbered(tables[name], domains) for name in names}
    if original is None or original.kept is None or source_rows is None:
        return None
    found = {}
    for name in names:
        rows = _rows_of_source(tables[name], original.kept, source_rows[name])
        if rows is None:
            return None
        table = tables[name]
        values = kind.person_values(table, original, rows)
        own = domains if values == table.sensitive else original.domains
        number, classes = original.kept.number[rows], kind.person_classes(table)
        found[name] = TablePersons(number, classes, values, own)
    return found


def _numbered(table: CodedTable, domains: Domains) -> TablePersons:
    """The persons by their numbers; those of a class have equally many rows with equal cells."""
    person = table[PERSON]
    rows = person.counts[person.codes]
    seen = group_codes(
        [table.classes.class_of_row, rows.astype(np.int32)],
        [table.classes.count, table.rows + 1],
        table.rows,
    )
    number, of_class = person.codes.astype(np.int64), seen.class_of_row.astype(np.int64)
    return TablePersons(number, of_class, table.sensitive, domains)


def promise_on_persons(requirement: Requirement, persons: Mapping[str, TablePersons]) -> Promise:
    """Derive a guarantee about the persons of every class, in each table that it covers."""
    verdicts = []
    for own in persons.values():
        names = {column.name for column in own.sensitive}
        part = requirement if len(persons) == 1 else requirement.within(names)
        if part is not None:
            found = judge_persons(part, own.of_class, own.number, own.sensitive, own.domains)
            verdicts.append(found)
    _, smaller_is_better = requirement.figure
    verdict = Verdict.worst(verdicts, smaller_is_better=smaller_is_better)
    return Promise.of(requirement, verdict)


def number_form_problems(manifest: Manifest) -> list[str]:
    """Return where tables lack the numbers of persons, or have some that nothing is said of."""
    named = [name for name, entry in manifest.tables.items() if PERSON in _made(entry.columns)]
    if not manifest.keeping.numbered:
        return [f"'{name}' numbers persons, and the manifest says nothing of it" for name in named]
    wanted = kind_of(manifest.kind).tables_of_rows(manifest)
    return [f"'{name}' lacks its column '{PERSON}'" for name in wanted if name not in named]


def _made(columns: Mapping[str, Role]) -> list[str]:
    return [name for name, role in columns.items() if role is Role.STRUCTURE]


def person_problems(
    tables: Mapping[str, CodedTable], manifest: Manifest, persons: Mapping[str, TablePersons]
) -> list[str]:
    """Return what the rows of persons show that the manifest excludes."""
    problems = []
    keeping = manifest.keeping
    for name, own in persons.items():
        table = tables[name]
        if keeping.scope is Scope.PERSONS:
            pairs = pl.DataFrame({"person": own.number, "class": own.of_class})
            groups = pairs.group_by("person").agg(pl.col("class").n_unique())
            scattered = int((groups["class"] > 1).sum())
            if scattered:
                problems.append(f"rows of {scattered} persons are in several groups of '{name}'")
        if keeping.numbered:
            problems += _number_problems(table, name)
        most = int(np.bincount(own.number).max(initial=0))
        if keeping.at_most is not None and most > keeping.at_most:
            problems.append(
                f"a person has {most} rows in '{name}'; the manifest allows {keeping.at_most}"
            )
    return problems


def _number_problems(table: CodedTable, name: str) -> list[str]:
    """Return where persons are not numbered from 1 to their number: others could carry values."""
    text = table[PERSON].text
    plain = set(text.to_list()) == {str(n) for n in range(1, len(text) + 1)}
    return [] if plain else [f"the persons of '{name}' are not numbered from 1 to {len(text)}"]


def changed_persons(
    tables: Mapping[str, CodedTable],
    manifest: Manifest,
    original: Task,
    source_rows: SourceRows | None,
) -> list[str]:
    """Return where the numbers of persons are not those of the original's persons."""
    if original.kept is None or not manifest.keeping.numbered:
        return []
    problems = []
    for name in kind_of(manifest.kind).tables_of_rows(manifest):
        number = tables[name][PERSON]
        rows_of = np.sort(original.kept.rows_of)[::-1]
        seen = np.sort(number.counts)[::-1]
        if len(seen) > len(rows_of) or (seen > rows_of[: len(seen)]).any():
            problems.append(f"'{name}' numbers more persons, or more rows of one, than there are")
        elif source_rows is not None and len(source_rows[name]) == tables[name].rows:
            own = original.kept.number[np.clip(source_rows[name], 0, original.table.rows - 1)]
            pairs = np.unique(np.stack([number.codes.astype(np.int64), own]), axis=1)
            sides = [len(np.unique(side)) for side in pairs]
            if pairs.shape[1] != sides[0] or pairs.shape[1] != sides[1]:
                problems.append(f"the numbers of '{name}' are not one for each person")
            problems += _in_source_order(number.text.cast(pl.Int64).to_numpy(), pairs, name)
    return problems


def _in_source_order(number: Ints, pairs: NDArray[np.int64], name: str) -> list[str]:
    """Return whether persons are numbered in the order of the original, more than by chance."""
    place = np.unique(pairs[1], return_inverse=True)[1]
    agreeing = int((number[pairs[0]] - 1 == place).sum())
    said = f"the numbers of persons in '{name}' are related to the order of the original"
    return [said] if beyond_chance(agreeing, 1.0) else []


def suppressed_persons(
    persons: Mapping[str, TablePersons], manifest: Manifest, original: Task, method: Method
) -> list[str]:
    """Return where more persons are missing than the job allows, or some rows of a person."""
    if original.kept is None or manifest.keeping.scope is Scope.ROWS:
        return []
    problems = []
    most = method.most_suppressed(original.kept.count)
    for name, own in persons.items():
        shown, rows = np.unique(own.number, return_counts=True)
        gone = original.kept.count - len(shown)
        if most is not None and gone > most:
            problems.append(f"{gone} persons are missing in '{name}'; the job allows {most}")
        if not manifest.keeping.numbered and (rows != original.kept.rows_of[shown]).any():
            problems.append(f"some rows of a person are in '{name}', and others are suppressed")
    return problems
