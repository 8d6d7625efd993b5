"""One row for each person: the rows of a person are brought together and collapsed on a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from discreet.addons.spark.encoded import ROW
from discreet.addons.spark.session import ROWS_OF_PART, Workers, stream
from discreet.errors import InputError
from discreet.io.frames import code_frame
from discreet.job.identifying import ONE_ROW
from discreet.job.model import Job
from discreet.job.person_agreement import Agreement, may_be_constant, require_agreement
from discreet.pipeline.collapse import CollapseFacts, collapse, require_rules
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import CollapseRule, OneRowEach, PersonCounts, Persons, persons_of
from discreet.table.roles import ColumnSpec, Role, ValueType

Specs = Mapping[str, ColumnSpec]
Part = tuple[CodedTable, Persons, dict[str, Column]]  # and its columns that are not published


def one_row_each(
    workers: Workers,
    frame: DataFrame,
    job: Job,
    specs: Specs,
    missing: tuple[str, ...],
    folder: Path,
) -> tuple[DataFrame | None, Specs, OneRowEach]:
    """Write the table with one row for each person to a folder; None if it is such a table.

    The columns of the result are those that are published, under their plain names, and after them
    the identifiers that a ledger needs.
    """
    person = job.person
    assert person is not None
    identifiers = job.ledger_person if job.ledger is not None else ()
    names = list(specs)
    # All rows of a person go to one worker; count them and what rules need to know.
    placed = together(workers, frame, job, specs)
    counts, collapsible = counted_persons(workers, placed, job, specs, missing)
    stated = OneRowEach(counts, job.person_rules, person.count)
    if collapsible is None:
        if counts.most > 1:
            raise InputError(f"{counts.sentence(person.place)} {ONE_ROW}")
        return None, specs, stated
    # Check the rules, and derive the columns that the collapsed table has.
    facts, head = collapsible
    shared = workers.share((job, dict(specs), missing))
    require_rules(job, head, facts)
    collapsed_specs = _specs_of(job, head, specs, facts)
    types = {n: frame.schema.fields[names.index(n)].dataType.simpleString() for n in names}
    schema = _schema(job, head, collapsed_specs, types)

    def collapsed(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        held = list(tables)
        if held:
            job, specs, missing = shared.value
            table, persons, named = coded_persons(pa.concat_tables(held), job, specs, missing)
            result = collapse(job, table, persons, named, facts)
            cells = [result[n].values.gather(result[n].codes).to_arrow() for n in schema]
            types = [_ARROW.get(kind) for kind in schema.values()]
            cells = [c if t is None else c.cast(t) for c, t in zip(cells, types, strict=True)]
            for column in (named[name] for name in identifiers):
                text = column.text.gather(column.codes[persons.first_row])
                cells.append(text.to_arrow().cast(pa.string()))
            yield pa.table(cells, [f"c{place}" for place in range(len(cells))])

    # Write the collapsed rows of all workers as one table.
    kinds = [*schema.values(), *("string" for _ in identifiers)]
    listed = ", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds))
    stream(placed, collapsed, listed).write.parquet(folder.as_uri())
    return workers.session.read.parquet(folder.as_uri()), collapsed_specs, stated


def together(workers: Workers, frame: DataFrame, job: Job, specs: Specs) -> DataFrame:
    """The columns c0, c1, … and the number of each row, all rows of a person in one partition."""
    assert job.person is not None
    names = list(specs)
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))
    numbered = numbered.withColumn(ROW, f.monotonically_increasing_id())
    parts = max(1, -(-frame.count() // workers.setting(ROWS_OF_PART)))
    return numbered.repartition(parts, *(f"c{names.index(name)}" for name in job.person.column))


def counted_persons(
    workers: Workers, placed: DataFrame, job: Job, specs: Specs, missing: tuple[str, ...]
) -> tuple[PersonCounts, tuple[CollapseFacts, CodedTable] | None]:
    """Count the persons of a table; to collapse it, also the facts for it and its bare columns."""
    shared = workers.share((job, dict(specs), missing))

    def look(
        tables: Iterator[pa.Table],
    ) -> tuple[PersonCounts, CollapseFacts | None, CodedTable, Agreement] | None:
        held = list(tables)
        if not held:
            return None
        job, specs, missing = shared.value
        table, persons, named = coded_persons(pa.concat_tables(held), job, specs, missing)
        facts = CollapseFacts.of(job, table, persons) if job.collapses else None
        assert job.person is not None
        agreement = Agreement.of([*table, *named.values()], job.person.column, persons)
        return persons.counts, facts, _bare(table), agreement

    results = [result for result in workers.each(placed, look) if result is not None]
    if not results:
        raise InputError("The table has columns but no rows. Nothing can be published.")
    if job.person is not None and job.person.rows != "one":
        require_agreement(job.person, Agreement.joined([agreement for *_, agreement in results]))
    counts = joined_counts([counts for counts, *_ in results])
    facts = [facts for _, facts, _, _ in results if facts is not None]
    return counts, (CollapseFacts.joined(facts), results[0][2]) if facts else None


def coded_persons(rows: pa.Table, job: Job, specs: Specs, missing: tuple[str, ...]) -> Part:
    """Code the rows of some persons, in the order of the table."""
    assert job.person is not None
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    frame = frame.sort(ROW).drop(ROW).rename({f"c{i}": name for i, name in enumerate(specs)})
    further = job.ledger_person if job.ledger is not None else ()
    unpublished = list(dict.fromkeys([*job.person.column, *further]))
    order = job.person.order
    if order is not None and job.attributes[order].role is Role.DROP:
        unpublished.append(order)
    read = dict(specs)
    dropped = [n for n, spec in specs.items() if not spec.role.published and n not in unpublished]
    unpublished += [name for name in dropped if may_be_constant(name)]  # to judge the key
    for name in unpublished:
        kind = specs[name].type if specs[name].role is Role.DROP else ValueType.TEXT
        read[name] = ColumnSpec(Role.INSENSITIVE, kind)
    table = code_frame(frame, read, missing)
    columns = dict(table.columns)
    named = {name: columns.pop(name) for name in unpublished}
    persons = persons_of([named[name] for name in job.person.column], table.rows)
    return replace(table, columns=columns), persons, named


def _bare(table: CodedTable) -> CodedTable:
    """The columns without their cells."""
    none = pl.Series([], dtype=pl.String)
    columns = {
        column.name: replace(
            column, codes=column.codes[:0], text=none, values=column.values.head(0), numbers=None
        )
        for column in table
    }
    return CodedTable(columns, 0)


def joined_counts(parts: list[PersonCounts]) -> PersonCounts:
    """The counts of all parts together; a person is in one part."""
    longest = max(parts, key=lambda part: len(part.persons_by_rows)).persons_by_rows
    return PersonCounts(
        sum(part.rows for part in parts),
        sum(part.persons for part in parts),
        max(part.most for part in parts),
        sum(part.unnamed for part in parts),
        {rows: sum(part.persons_by_rows.get(rows, 0) for part in parts) for rows in longest},
    )


def _specs_of(job: Job, head: CodedTable, specs: Specs, facts: CollapseFacts) -> Specs:
    """The specifications of the collapsed columns, in the order in which they are written."""
    collapsed: dict[str, ColumnSpec] = {}
    for column in head:
        attribute, rule = job.attributes[column.name], job.attributes[column.name].collapse_rule
        spec = ColumnSpec(column.role, attribute.type, attribute.distance)
        if rule is CollapseRule.SET:
            separator = column.separator or facts.separator(column.name)
            collapsed[column.name] = ColumnSpec(column.role, ValueType.TEXT, None, separator)
        elif rule is CollapseRule.COUNT:
            collapsed[column.name] = replace(spec, type=ValueType.INTEGER)
        elif rule.numeric:
            whole = column.type is ValueType.INTEGER and facts.whole[column.name]
            kind = ValueType.INTEGER if whole else ValueType.NUMBER
            collapsed[column.name] = replace(spec, type=kind)
        else:
            collapsed[column.name] = specs[column.name]
    count = None if job.person is None else job.person.count
    if count is not None:
        attribute = job.attributes[count]
        collapsed[count] = ColumnSpec(attribute.role, ValueType.INTEGER, attribute.distance)
    return collapsed


def _schema(
    job: Job, head: CodedTable, collapsed: Specs, types: Mapping[str, str]
) -> dict[str, str]:
    """The type of each collapsed column to Spark; text where the source has text."""
    schema = {}
    for name, spec in collapsed.items():
        if name not in head.columns:
            schema[name] = "long"  # the number of a person's rows
            continue
        rule = job.attributes[name].collapse_rule
        numeric = rule.numeric or rule is CollapseRule.COUNT
        if rule is CollapseRule.SET or (numeric and head[name].values.dtype == pl.String):
            schema[name] = "string"
        elif numeric:
            schema[name] = "long" if spec.type is ValueType.INTEGER else "double"
        else:
            schema[name] = types[name]
    return schema


_ARROW: dict[str, Any] = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
