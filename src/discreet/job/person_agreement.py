"""Whether the rows that a key joins can be of one person: sex, birth date and names agree.

A key that joins rows of different persons merges strangers. Columns of what does not change in a
person are recognized by name and values, also where the job does not publish them. A missing value
agrees with every other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.job.direct_identifiers import names_of_persons
from discreet.job.identifying import words_of
from discreet.job.person import Person
from discreet.job.proposing.date_columns import is_birth
from discreet.job.proposing.value_forms import shape_of
from discreet.job.proposing.vocabulary import Meaning, named_meanings
from discreet.table.coded_table import Column
from discreet.table.persons import Persons

CONSTANT = (Meaning.SEX, Meaning.BIRTH, Meaning.NAME)
SEXES = 6  # values of a sex, at most; a genre of music has more


def may_be_constant(name: str) -> bool:
    """Return whether the name of a column says a sex, a birth date or a person's name."""
    meanings = [meaning for meaning, _ in named_meanings(words_of(name))]
    return bool(meanings) and meanings[0] in CONSTANT


def is_constant(column: Column) -> bool:
    """Return whether a column holds what does not change in a person."""
    meanings = [meaning for meaning, _ in named_meanings(words_of(column.name))]
    if not meanings or column.separator is not None:
        return False
    shape = shape_of(column)
    match meanings[0]:
        case Meaning.SEX:
            return shape.distinct <= SEXES
        case Meaning.BIRTH:
            return is_birth(shape)
        case Meaning.NAME:
            return names_of_persons(shape, meanings)
    return False


def disagreeing_persons(columns: Iterable[Column], persons: Persons) -> dict[str, int]:
    """Count, by constant column, the persons whose rows have different values."""
    persons_by_column = {}
    for column in columns:
        if is_constant(column):
            differing = _differing(column, persons)
            if differing:
                persons_by_column[column.name] = differing
    return persons_by_column


def _differing(column: Column, persons: Persons) -> int:
    codes, number = column.codes, persons.number
    if column.has_null:
        present = codes != column.cardinality - 1
        codes, number = codes[present], number[present]
    pairs = np.unique(number * column.cardinality + codes)
    return int((np.bincount(pairs // column.cardinality, minlength=persons.count) > 1).sum())


@dataclass(frozen=True)
class Agreement:
    """How many persons have several rows, and by constant column those whose rows differ."""

    several: int
    disagreeing: Mapping[str, int]

    @classmethod
    def of(cls, columns: Iterable[Column], key: Sequence[str], persons: Persons) -> Agreement:
        """Compare the rows of persons in all columns but those of their key."""
        others = [column for column in columns if column.name not in key]
        several = int((persons.rows_of > 1).sum())
        return cls(several, disagreeing_persons(others, persons) if several else {})

    @classmethod
    def joined(cls, parts: Sequence[Agreement]) -> Agreement:
        """Return the counts of all parts; a person is in one part."""
        disagreeing: Counter[str] = Counter()
        for part in parts:
            disagreeing.update(part.disagreeing)
        return cls(sum(part.several for part in parts), dict(disagreeing))

    @property
    def worst(self) -> int:
        """The persons who differ in the column by which most do."""
        return max(self.disagreeing.values(), default=0)


def require_agreement(person: Person, agreement: Agreement) -> None:
    """Raise where the rows that a key joins are of different persons, unless the job accepts it."""
    if agreement.worst <= person.disagreeing:
        return
    listed = "; ".join(f"'{name}': {count:,}" for name, count in agreement.disagreeing.items())
    raise InputError(
        f"person: {person.place} joins rows that disagree on what does not change in a person. Of "
        f"{agreement.several:,} persons with several rows, those whose rows differ are, by column: "
        f"{listed}. Name the column that identifies a person; or, where these are errors in the "
        f"data, accept them with 'person: {{…, disagreeing: {agreement.worst}}}'."
    )
