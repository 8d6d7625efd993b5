"""From a job's source to coded columns; identifiers are counted and go no further."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import COLUMN_MISSING, InputError, JobError
from discreet.io.frames import code_frame, frame_columns, plain_frame
from discreet.io.header import check_columns, renaming_notice, unnamed_notice
from discreet.io.kept_types import FrameTypes
from discreet.io.source import PLACES, Source, Tell, ignore_progress
from discreet.io.tables import column_names, read_table, suspect_names, written_names
from discreet.job.identifying import ONE_ROW, Uses, count_uses
from discreet.job.model import Job
from discreet.job.person import Person
from discreet.job.person_agreement import Agreement, may_be_constant, require_agreement
from discreet.pipeline.collapse import collapse, join_columns
from discreet.releases.manifest import sha256_of
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import OneRowEach, Persons, persons_of
from discreet.table.roles import ColumnSpec, Role, ValueType
from discreet.typing import PersonHashes

if TYPE_CHECKING:
    from discreet.io.in_place import Place
    from discreet.ledger.ledger import Ledger

UNIT_SEPARATOR = "\x1f"  # between identifiers that name a person together


@dataclass(frozen=True, eq=False)
class SourceRows:
    """A source that an engine has read."""

    table: CodedTable  # all rows, or an entry for each value of a column with its count
    uses: Mapping[str, Uses]  # by identifier: how often its values are used
    persons: OneRowEach | None = None  # where the job names persons with one row each
    row_persons: Persons | None = None  # where persons keep several rows: the person of each
    people: PersonHashes | None = None  # (rows, 2) keyed hashes, where there is a ledger
    sha256: str | None = None  # of the source file
    like: FrameTypes = field(default_factory=FrameTypes)  # of the frame that came in
    household: NDArray[np.int32] | None = None  # (rows,) the number of each row's household
    sample: CodedTable | None = None  # some rows, where the table has an entry for each value


def read_data(job: Job, data: Any = None, tell: Tell = ignore_progress) -> CodedTable:
    """The coded table of a job, from its source, from a path or from a frame."""
    return _read_columns(job, data, (), tell)


def read_source(
    job: Job, data: Any = None, ledger: Ledger | None = None, tell: Tell = ignore_progress
) -> SourceRows:
    """Read a job's source, a path or a frame; for a ledger with the hash of every row's person.

    Identifiers are coded to distinguish persons, and a column that is not published to order the
    rows of a person; they go no further. Where the job names persons, each has one row after it.
    """
    # Read what is published, and what tells persons apart or orders their rows.
    households = job.with_role(Role.HOUSEHOLD)
    names = [*job.with_role(Role.IDENTIFIER), *households]
    order = None if job.person is None else job.person.order
    if order is not None and job.attributes[order].role is Role.DROP:
        names.append(order)
    table = _read_columns(job, data, names, tell, constant=job.person is not None)
    # Put apart what is not published.
    columns = dict(table.columns)
    known = {name for name, a in job.attributes.items() if a.role.published}
    further = [name for name in columns if name not in known and name not in names]
    unpublished = {name: columns.pop(name) for name in (*names, *further)}
    table = replace(table, columns=columns, left_out=(*table.left_out, *unpublished))
    uses = {
        name: count_uses(column)
        for name, column in unpublished.items()
        if name not in households and name not in further
    }
    source = SourceRows(
        table, uses, household=unpublished[households[0]].codes if households else None
    )
    # Hash the persons for a ledger.
    people = None
    if ledger is not None:
        identifiers = [unpublished[name] for name in job.ledger_person]
        require_identifiers({column.name: rows_without(column) for column in identifiers})
        people = hashes_of(identifiers, ledger.key)
    if job.person is not None:
        persons = persons_of([unpublished[name] for name in job.person.column], table.rows)
        if job.person.rows != "one":
            compared = [*table, *unpublished.values()]
            require_agreement(job.person, Agreement.of(compared, job.person.column, persons))
        if job.collapses:
            people = None if people is None else people[persons.first_row]
            if source.household is not None:
                source = replace(source, household=source.household[persons.first_row])
        source = of_persons(job, job.person, source, persons, unpublished)
    if people is not None:
        from discreet.ledger.record import require_people

        require_people(people, " and ".join(job.ledger_person))
    return replace(source, people=people)


def of_persons(
    job: Job,
    person: Person,
    source: SourceRows,
    persons: Persons,
    unpublished: Mapping[str, Column] | None = None,
) -> SourceRows:
    """Give a source its persons: each has one row after it, unless the job keeps all rows."""
    if person.rows == "keep":
        return replace(source, row_persons=persons)
    if person.rows == "one" and persons.counts.most > 1:
        raise InputError(f"{persons.counts.sentence(person.place)} {ONE_ROW}")
    if job.collapses:
        source = replace(source, table=collapse(job, source.table, persons, unpublished or {}))
    stated = OneRowEach(persons.counts, job.person_rules, person.count, persons.number)
    return replace(source, persons=stated)


def shared_persons(job: Job, first: Any, second: Any) -> dict[tuple[str, ...], int]:
    """Count the persons, or the values of each identifier, that two tables of a job share."""
    identifiers = job.with_role(Role.IDENTIFIER)
    named = [job.person.column] if job.person else [(name,) for name in identifiers]
    shared = {}
    tables = [_read_columns(job, data, identifiers, ignore_progress) for data in (first, second)]
    for names in named:
        keys = [set(zip(*(_texts(table[name]) for name in names), strict=True)) for table in tables]
        shared[names] = sum(None not in key for key in keys[0] & keys[1])
    return shared


def _texts(column: Column) -> list[str | None]:
    """The cell of each row."""
    return column.text.gather(pl.Series(column.codes)).to_list()


def rows_without(identifier: Column) -> int:
    """Return how many rows have no identifier."""
    if not identifier.has_null:
        return 0
    return int((identifier.codes == identifier.cardinality - 1).sum())


def require_identifiers(lacking: Mapping[str, int]) -> None:
    """Refuse rows without an identifier; ``lacking`` counts them by column."""
    for name, rows in lacking.items():
        if rows:
            raise InputError(
                f"Column '{name}': {rows} rows have no identifier. A ledger recognizes "
                "records by it; fill the cells in, or leave the rows out."
            )


def hashes_of(identifiers: Sequence[Column], key: bytes) -> PersonHashes:
    """The keyed hash of every row's person, whom all these columns name together."""
    from discreet.ledger.settings import hash_people

    if len(identifiers) == 1:
        (named,) = identifiers
        return hash_people(named.text.to_list(), key)[named.codes]
    texts = [column.text.gather(pl.Series(column.codes)) for column in identifiers]
    joined = pl.select(pl.concat_str(texts, separator=UNIT_SEPARATOR)).to_series()
    return hash_people(joined.to_list(), key)


def _read_columns(
    job: Job, data: Any, identifiers: Sequence[str], tell: Tell, *, constant: bool = False
) -> CodedTable:
    """The coded table; ``identifiers`` names those that are to be coded too.

    With ``constant``, columns of what does not change in a person are coded too, whatever the job
    says of them.
    """
    # What becomes of each column that the job names.
    specs = specs_of_job(job)
    for name in identifiers:
        kind = specs[name].type if specs[name].role is Role.DROP else ValueType.TEXT
        specs[name] = ColumnSpec(Role.INSENSITIVE, kind)
    # A database, a file, or a frame; each must have all columns of the job.
    if data is None and job.source is not None and job.source.url is not None:
        from discreet.io.in_place import opened_table

        source = job.source
        with opened_table(str(source.url), job.folder, source.table, source.query) as remote:
            specs |= specs_of_others(job, remote.names, constant=constant)
            require_columns(remote.names, specs, "the database's table")
            table = remote.coded(specs, source.missing)
    elif data is None or isinstance(data, str | Path):
        source = source_of(job, data)
        specs |= specs_of_others(job, column_names(source), constant=constant)
        require_columns(column_names(source), specs, str(source.path), source)
        table = read_table(source, specs, tell)
    else:
        data = plain_frame(data)
        specs |= specs_of_others(job, frame_columns(data), constant=constant)
        require_columns(frame_columns(data), specs, "the table")
        table = code_frame(data, specs, job.source.missing if job.source else ())
    return join_columns(job, table)


def specs_of_job(job: Job) -> dict[str, ColumnSpec]:
    """Return the specification of each column of a job's table."""
    counted = None if job.person is None else job.person.count
    decimal = "." if job.source is None else job.source.decimal
    specs = {
        name: ColumnSpec(
            attribute.role,
            attribute.value_type,
            attribute.distance,
            attribute.multi_valued,
            attribute.format,
            decimal,
        )
        for name, attribute in job.attributes.items()
        if name != counted and attribute.columns is None
    }
    members = (name for attribute in job.attributes.values() for name in attribute.columns or ())
    return specs | {name: ColumnSpec(Role.INSENSITIVE, ValueType.TEXT) for name in members}


def specs_of_others(
    job: Job, present: Sequence[str], *, constant: bool = False
) -> dict[str, ColumnSpec]:
    """Return the specification of each column that a job does not name: none is published.

    With ``constant``, columns that may hold what does not change in a person are read all the same,
    also those that the job drops.
    """
    known = job.source_columns
    specs = {name: ColumnSpec(Role.DROP) for name in present if name not in known}
    if constant:
        dropped = [*specs, *(name for name in job.with_role(Role.DROP) if name in present)]
        read = ColumnSpec(Role.INSENSITIVE, ValueType.TEXT)
        order = None if job.person is None else job.person.order
        specs |= {name: read for name in dropped if may_be_constant(name) and name != order}
    return specs


def reading_notices(job: Job, data: Any, table: CodedTable) -> list[str]:
    """Return what a publisher must know of how the source was read.

    That is, columns that share a name in the file, and columns that the job does not name.
    """
    notices = []
    from_file = job.source is not None and job.source.url is None and not job.source.in_catalog
    suspect = False
    if (data is None and from_file) or isinstance(data, str | Path):
        source = source_of(job, data)
        if source.is_text or source.resolved_format in ("excel", "ods"):
            notices.append(renaming_notice(written_names(source), column_names(source)))
            suspect = suspect_names(source)
    unnamed = [name for name in table.left_out if name not in job.source_columns]
    notices.append(unnamed_notice(unnamed, suspect=suspect))
    return [notice for notice in notices if notice is not None]


def source_of(
    job: Job, path: str | Path | None = None, options: Mapping[str, Any] | None = None
) -> Source:
    """The source that a job reads; a given path replaces the job's own, and options its options."""
    if path is not None:
        settings: dict[str, Any] = {}
        if job.source is not None:
            settings = job.source.model_dump(exclude=set(PLACES), exclude_unset=True)
        return Source.of_file(Path(path), **{**settings, **(options or {})})
    if job.source is None:
        raise InputError("The job has no source and no data was given. Add 'source: {path: …}'.")
    if job.source.in_catalog:
        raise InputError("source: a table without a 'url' is Spark's. Use --engine spark.")
    return job.source.placed(job.folder)


def counting_place(job: Job, data: Any, table: str | None, query: str | None) -> Place | None:
    """The database that counts in place, the job's or a given one; None for a file or a frame."""
    from discreet.io.in_place import place_of

    if data is None and job.source is not None and job.source.url is not None:
        return place_of(job.source.url, job.folder, job.source.table, job.source.query)
    return place_of(data, Path.cwd(), table, query)


def require_columns(
    present: Sequence[str], named: Collection[str], place: str, source: Source | None = None
) -> None:
    """Raise unless a table, such as that of a source, has all columns that a job names."""
    if set(present) == set(named):
        return
    suspect = source is not None and suspect_names(source)
    error = JobError(check_columns(present, named, suspect=suspect), place)
    raise error if set(named) <= set(present) else error.with_code(COLUMN_MISSING)


def hash_of_source(job: Job, data: Any) -> str | None:
    """Return the hash of the source file; None for a frame, and where the file can't be read."""
    if data is not None and not isinstance(data, str | Path):
        return None
    try:
        source = source_of(job, data)
        return sha256_of(source.path) if source.path.is_file() else None  # a pipe would block
    except (InputError, OSError):
        return None  # reading the table reports the error
