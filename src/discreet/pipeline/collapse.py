"""Several cells as one: columns that are joined to a set, and the rows of a person.

A table may be collapsed in parts, each with all rows of its persons; the facts that the parts must
agree in are found first, and joined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.errors import InputError, JobError
from discreet.io.column_dictionary import canonical_text
from discreet.io.frames import code_series
from discreet.job.model import Job
from discreet.job.parts import Attribute
from discreet.table.coded_table import CodedTable, Column
from discreet.table.persons import CollapseRule, Persons, chosen_codes, varying_persons
from discreet.table.roles import ColumnSpec, ValueType

PLACE = "the collapsed table"  # of an error
SEPARATORS = (";", "|", "¦", "\x1f")  # of the members of a set: the first that no value contains
SIGNIFICANT = 12  # digits of a sum or a mean


@dataclass(frozen=True)
class CollapseFacts:
    """What must be known of all persons before the rows of some are collapsed."""

    persons: int
    varying: Mapping[str, int]  # by attribute that must be constant: persons with several values
    contained: Mapping[str, frozenset[str]]  # by attribute that becomes a set: separators in values
    whole: Mapping[str, bool]  # by aggregated attribute: whether all numbers are whole

    @classmethod
    def of(cls, job: Job, table: CodedTable, persons: Persons) -> CollapseFacts:
        """The facts of a table, or of a part with all rows of its persons."""
        rule = {column.name: job.attributes[column.name].collapse_rule for column in table}
        return cls(
            persons.count,
            {
                column.name: varying_persons(column, persons)
                for column in table
                if rule[column.name] is CollapseRule.CONSTANT
            },
            {
                column.name: _contained(column)
                for column in table
                if rule[column.name] is CollapseRule.SET and column.separator is None
            },
            {
                column.name: _all_whole(_aggregated(column, persons, rule[column.name]))
                for column in table
                if rule[column.name].numeric and column.numbers is not None
            },
        )

    @classmethod
    def joined(cls, parts: Sequence[CollapseFacts]) -> CollapseFacts:
        """The facts of all parts together."""
        first = parts[0]
        return cls(
            sum(part.persons for part in parts),
            {name: sum(part.varying[name] for part in parts) for name in first.varying},
            {
                name: frozenset().union(*(part.contained[name] for part in parts))
                for name in first.contained
            },
            {name: all(part.whole[name] for part in parts) for name in first.whole},
        )

    def separator(self, name: str) -> str:
        """Return the separator of the members of a person's set: no value contains it."""
        return _separator(
            f"Column '{name}'", self.contained[name], "Name another rule with 'collapse:'."
        )


def collapse(
    job: Job,
    table: CodedTable,
    persons: Persons,
    named: Mapping[str, Column],
    facts: CollapseFacts | None = None,
) -> CodedTable:
    """Reduce a table to one row for each person; ``named`` are columns that are not published.

    ``facts`` are those of the whole table, where this is a part of it.
    """
    facts = CollapseFacts.of(job, table, persons) if facts is None else facts
    require_rules(job, table, facts)
    # Each column by its rule.
    order = None if job.person is None else job.person.order
    by = None if order is None else (named.get(order) or table[order]).codes
    columns = {}
    for column in table:
        attribute = job.attributes[column.name]
        spec = ColumnSpec(column.role, attribute.type, attribute.distance, column.separator)
        rule = attribute.collapse_rule
        if rule is CollapseRule.SET:
            separator = column.separator or facts.separator(column.name)
            columns[column.name] = _sets(column, persons, separator)
        elif rule is CollapseRule.COUNT:
            columns[column.name] = _numbers(column, _counted(column, persons), spec, whole=True)
        elif rule.numeric:
            numbers, whole = _aggregated(column, persons, rule), facts.whole[column.name]
            columns[column.name] = _numbers(column, numbers, spec, whole=whole)
        else:
            codes = chosen_codes(column, persons, rule, by)
            columns[column.name] = replace(column, codes=codes).occurring()
    # How many rows a person has, as a column of its own.
    if job.person is not None and job.person.count is not None:
        name, attribute = job.person.count, job.attributes[job.person.count]
        spec = ColumnSpec(attribute.role, ValueType.INTEGER, attribute.distance)
        columns[name] = code_series(pl.Series(name, persons.rows_of), spec, (), PLACE)
    return replace(table, columns=columns, rows=persons.count)


def require_rules(job: Job, table: CodedTable, facts: CollapseFacts) -> None:
    """Refuse columns whose rule does not fit their values; all at once."""
    problems = []
    for column in table:
        rule = job.attributes[column.name].collapse_rule
        place = f"attributes.{column.name}"
        if rule is CollapseRule.CONSTANT:
            varying = facts.varying[column.name]
            if varying:
                problems.append(
                    f"{place}: {varying:,} of {facts.persons:,} persons have rows with different "
                    "values. Name a rule, such as 'collapse: last' or 'collapse: most-frequent'; "
                    "or give the column the role 'drop'."
                )
        elif rule.numeric and column.type not in (ValueType.INTEGER, ValueType.NUMBER):
            problems.append(
                f"{place}: 'collapse: {rule}' needs numbers. Add 'type: integer' or 'type: "
                "number', or use another rule."
            )
        elif rule.ordered and not column.type.ordered:
            problems.append(
                f"{place}: 'collapse: {rule}' needs numbers or dates. Add a 'type', or use "
                "another rule."
            )
    if problems:
        raise JobError(problems)


def _sets(column: Column, persons: Persons, separator: str) -> Column:
    """The set of all values of a person's rows; missing where none has a value."""
    cells = pl.DataFrame({"person": persons.number, "code": column.codes}).unique()
    of_code = column.text.str.split(separator) if column.separator else column.text.reshape((-1, 1))
    lists = pl.DataFrame(
        {
            "code": np.arange(column.cardinality, dtype=np.int32),
            "members": of_code.cast(pl.List(pl.String)),
        }
    ).filter(column.text.is_not_null())
    sets = (
        cells.join(lists, on="code")
        .explode("members")
        .group_by("person")
        .agg(pl.col("members").unique().sort())
        .with_columns(pl.col("members").list.join(separator))
    )
    every = pl.DataFrame({"person": np.arange(persons.count)}).join(
        sets, on="person", how="left", maintain_order="left"
    )
    spec = ColumnSpec(column.role, ValueType.TEXT, None, separator)
    return code_series(every["members"].alias(column.name), spec, (), PLACE)


def _contained(column: Column) -> frozenset[str]:
    """The separators that some value contains."""
    text = column.text.drop_nulls()
    return frozenset(sep for sep in SEPARATORS if text.str.contains(sep, literal=True).any())


def _all_whole(numbers: pl.Series) -> bool:
    return bool((numbers.drop_nulls() % 1 == 0).all())


def _counted(column: Column, persons: Persons) -> pl.Series:
    """The number of a person's rows with a value."""
    missing = column.cardinality - 1 if column.has_null else -1
    present = column.codes != missing
    return pl.Series(np.bincount(persons.number[present], minlength=persons.count))


def _aggregated(column: Column, persons: Persons, rule: CollapseRule) -> pl.Series:
    """The sum or the mean of a person's values; missing for a person without values."""
    if column.numbers is None:
        raise ValueError(f"'{column.name}' has no numbers")
    numbers = column.numbers[column.codes]
    present = ~np.isnan(numbers)
    of = persons.number[present]
    count = np.bincount(of, minlength=persons.count)
    total = np.bincount(of, numbers[present], persons.count).astype(np.float64)
    if rule is CollapseRule.MEAN:
        total /= np.maximum(count, 1)
    rounded = np.array([float(f"{number:.{SIGNIFICANT}g}") for number in total.tolist()])
    return pl.Series(rounded).set(pl.Series(count == 0), None)


def _numbers(column: Column, numbers: pl.Series, spec: ColumnSpec, *, whole: bool) -> Column:
    """A column of new numbers, written as the source writes its own."""
    kind = ValueType.INTEGER if numbers.dtype.is_integer() else column.type
    if kind is ValueType.INTEGER and not whole:
        kind = ValueType.NUMBER
    if kind is ValueType.INTEGER:
        numbers = numbers.cast(pl.Int64)
    if column.values.dtype == pl.String:
        numbers = canonical_text(numbers.cast(pl.String), kind)
    return code_series(
        numbers.alias(column.name),
        replace(spec, type=kind, separator=None),
        (),
        PLACE,
    )


def join_columns(job: Job, table: CodedTable) -> CodedTable:
    """Put each set-valued attribute in the place of the first of its columns."""
    sets = {name: attribute for name, attribute in job.attributes.items() if attribute.columns}
    if not sets:
        return table
    first = {attribute.columns[0]: name for name, attribute in sets.items() if attribute.columns}
    members = {name for attribute in sets.values() for name in attribute.columns or ()}
    columns: dict[str, Column] = {}
    for column in table:
        if column.name in first:
            name = first[column.name]
            columns[name] = _joined(name, sets[name], table)
        elif column.name not in members:
            columns[column.name] = column
    return replace(table, columns=columns)


def _joined(name: str, attribute: Attribute, table: CodedTable) -> Column:
    """The set of the values that a row has in some columns; missing where it has none."""
    parts = [table[member] for member in attribute.columns or ()]
    contained = frozenset[str]().union(*map(_contained, parts))
    separator = attribute.multi_valued or _separator(
        f"Attribute '{name}'", contained, "Set `multi_valued:` to another one."
    )
    for part in parts:
        if part.text.str.contains(separator, literal=True).any():
            raise InputError(
                f"Column '{part.name}': some values contain '{separator}', which separates the "
                f"members of '{name}'. Set another `multi_valued:`."
            )
    cells = [
        part.text.gather(pl.Series(part.codes)).alias(str(number))
        for number, part in enumerate(parts)
    ]
    lists = pl.DataFrame(cells).select(pl.concat_list(pl.all()).alias(name)).to_series()
    members = lists.list.drop_nulls().list.unique().list.sort()
    text = members.list.join(separator).set(members.list.len() == 0, None)
    spec = ColumnSpec(attribute.role, ValueType.TEXT, None, separator)
    return code_series(text, spec, (), "the joined columns")


def _separator(place: str, contained: frozenset[str], remedy: str) -> str:
    """Return the first separator that no value contains."""
    for separator in SEPARATORS:
        if separator not in contained:
            return separator
    raise InputError(
        f"{place}: its values contain all of ; | ¦ and the unit separator, so that they cannot be "
        f"written as a set. {remedy}"
    )
