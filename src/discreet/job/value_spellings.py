"""Several spellings of one value, which would pass for several values.

Diversity counts values. An attacker reads 1.5, 1.50, 01.5 and 1.5e0 as one number, and "Yes" and
"yes " as one answer, so that a group of such cells is less diverse than its texts. Whether 007 and
7 are one number or two codes only the steward knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from discreet.io.column_dictionary import NUMBER_FORM, canonical_text
from discreet.job.model import Job
from discreet.table.coded_table import CodedTable, Column
from discreet.table.roles import Role, ValueType

NEARLY_ALL = 0.9  # of the cells are numbers, where spellings of a number are taken for one


class Spellings(NamedTuple):
    """Texts of a column that are fewer numbers."""

    texts: int
    numbers: int

    def __str__(self) -> str:
        return f"{self.texts:,} spellings are {self.numbers:,} number{'s'[: self.numbers > 1]}"


def number_spellings(column: Column, decimal: str = ".") -> Spellings | None:
    """Count the texts that are a number which another text is too; None where there are none.

    Only in a column of text whose cells are nearly all numbers.
    """
    if column.type is not ValueType.TEXT or column.values.dtype != pl.String:
        return None
    occurring = pl.Series(column.counts > 0) & column.text.is_not_null()
    text = _with_point(column.text.filter(occurring), decimal)
    cells = pl.Series(column.counts).filter(occurring)
    is_number = text.str.strip_chars().str.contains(NUMBER_FORM)
    numeric = int(cells.filter(is_number).sum())
    if not numeric or numeric < NEARLY_ALL * int(cells.sum()):
        return None
    numbers = canonical_text(text.filter(is_number), ValueType.NUMBER)
    repeated = numbers.filter(numbers.is_duplicated())
    return Spellings(len(repeated), repeated.n_unique()) if len(repeated) else None


def text_by_value(column: Column, decimal: str = ".") -> pl.Series:
    """Return a column's texts with all spellings of a number alike."""
    return canonical_text(_with_point(column.text, decimal), ValueType.NUMBER)


def spelled_numbers(job: Job, table: CodedTable) -> dict[str, Spellings]:
    """Return the sensitive attributes without a stated type that spell numbers in several ways."""
    decimal = "." if job.source is None else job.source.decimal
    untyped = {
        column.name: number_spellings(column, decimal)
        for column in table.with_role(Role.SENSITIVE)
        if column.name in job.attributes
        and job.attributes[column.name].type is None
        and job.attributes[column.name].multi_valued is None
    }
    return {name: spellings for name, spellings in untyped.items() if spellings is not None}


def spelling_problems(job: Job, table: CodedTable) -> list[str]:
    """Return the attributes for which a job must say whether their texts are numbers."""
    return [
        f"attributes.{name}: {spellings} (such as 1.5 and 1.50), and would count as different "
        "values. Add 'type: number' to compare them as numbers, or 'type: text' if they are codes "
        "that differ."
        for name, spellings in spelled_numbers(job, table).items()
    ]


def nearly_alike(column: Column) -> int:
    """Count the values of a text column that differ from another only in case, spaces or form."""
    if column.type.ordered:
        return 0
    text = column.text.filter(pl.Series(column.counts > 0)).drop_nulls()
    plain = text.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"\s+", " ")
    return int(plain.str.strip_chars().is_duplicated().sum())


def nearly_alike_sentence(name: str, values: int) -> str:
    """Return the warning about values that an attacker reads as one."""
    return (
        f"Column '{name}': {values:,} values differ from another only in case, blanks or Unicode "
        "form. They count as different values; an attacker reads them as one. Write them alike "
        "before publishing."
    )


def spelling_warnings(table: CodedTable) -> Iterator[str]:
    """Return a warning for each sensitive attribute with values that are nearly alike."""
    for column in table.sensitive:
        values = nearly_alike(column)
        if values:
            yield nearly_alike_sentence(column.name, values)


def _with_point(text: pl.Series, decimal: str) -> pl.Series:
    return text if decimal == "." else text.str.replace(decimal, ".", literal=True)
