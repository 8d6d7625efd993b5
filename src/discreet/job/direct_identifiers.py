"""The guard against direct identifiers in clear: one for all roles of a published column.

A column holds direct identifiers where its values have the form of one (``identifying_values``),
where they are names of persons, street addresses, times to the second, or the numbers that its name
says; and, if it is published unchanged, where more than 5 % of the persons are unique by it. Dates
of birth, postcodes, ages, diagnoses and occupations are none of these: as quasi-identifiers they
are made coarser, as sensitive attributes they are protected. Findings have counts, never a value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.job.identifying import identifying_values, without_accents, words_of
from discreet.job.proposing.familiar_values import FAMILY_NAMES, GIVEN_NAMES
from discreet.job.proposing.value_forms import (
    FEW_ROWS,
    MANY,
    MOST,
    NAMES_KNOWN,
    NEARLY_UNIQUE,
    Shape,
    address_words,
    shape_of,
)
from discreet.job.proposing.vocabulary import Meaning, named_meanings
from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.persons import Persons
from discreet.table.roles import Role, ValueType

TIMES = Statement("holds.times")
UNIQUE_AT_MOST = 0.05  # of the persons, by an unchanged column
NAMES_DISTINCT = 0.2  # of the rows, where a column is called 'name' and no listed name occurs


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LETTERS = r"^\p{L}[\p{L}\p{M}'’.\-]*(,? [\p{L}\p{M}'’.\-]+){0,4}$"
_TIME = r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[T ]\d{1,2}:\d{2}:\d{2}"
_KEY = r"^\p{L}{1,5}[-_/ ]?\d{4,}$"
_MIDNIGHT = r"[T ]0{1,2}:00:00"
# Words of a column that holds names, and nothing but names of persons.
_SURE = _listed(
    "surname surnames lastname firstname forename fullname givenname middlename familyname fname "
    "lname vorname vornamen nachname familienname zuname prenom prenoms apellido apellidos "
    "sobrenome apelido cognome nominativo soyad soyadi soyisim"
)
_LIKELY = _listed("name names first last nom nombre nome ad adi isim")
# Words beside these: whose name it is, or which part of it.
_WHOSE = _listed(
    "full first last middle given family maiden birth legal known patient person customer client "
    "employee student member user contact holder subject respondent participant defendant victim "
    "author owner applicant father mother spouse guardian emergency de la del di du famille "
    "completo paciente cliente paziente hasta musteri ogrenci kisi der des und patienten kunden "
    "mitarbeiter a b c"
)
# With 'name' beside one of these, a column holds names, whatever else its own name says.
_PARTS = _listed("first last middle given family maiden full")
_COUNTED = _listed("number nummer numero numara key")  # also of things that are counted
_NUMBERS = (
    Meaning.PERSON_KEY, Meaning.NATIONAL_NUMBER, Meaning.ACCOUNT,
)  # fmt: skip


class DirectIdentifiers(NamedTuple):
    """What identifies persons in a column, and how many values or persons are concerned."""

    what: Statement
    values: int
    rows: int

    def sentence(self) -> str:
        """Return the finding; no value is named."""
        return (
            f"the column seems to hold {self.what} ({self.values:,} distinct values in "
            f"{self.rows:,} rows), which are direct identifiers"
        )


def direct_identifiers(column: Column) -> DirectIdentifiers | None:
    """Return the direct identifiers that a column holds, whatever its role."""
    if column.separator is not None or not len(column.counts):
        return None
    shape = shape_of(column)
    if shape.distinct < 2:
        return None
    what = identifying_values(column) or _by_form(shape)
    return None if what is None else DirectIdentifiers(what, shape.distinct, shape.rows)


def _by_form(shape: Shape) -> Statement | None:
    named = list(named_meanings(words_of(shape.column.name)))
    meanings = [meaning for meaning, _ in named]
    if shape.column.type is ValueType.TEXT:
        if is_times(shape):
            return TIMES
        if address_words(shape):
            return Statement("holds.addresses")
        if names_of_persons(shape, meanings):
            return Statement("holds.names")
        if not named and _keyed(shape):
            return Statement("holds.record")
    numbered = named and _numbered(shape, *named[0])
    return Statement("holds.record") if numbered else None


def is_times(shape: Shape) -> bool:
    """Return whether values are times to the second, of which most rows have one of their own."""
    if shape.share(_TIME) < MOST or shape.share(_MIDNIGHT) > 1 - MOST:
        return False
    return shape.distinct > UNIQUE_AT_MOST * shape.rows


def names_of_persons(shape: Shape, meanings: list[Meaning]) -> bool:
    """Return whether a column holds names of persons.

    By its own name, if the values are words of letters; by the values alone, if listed names are
    frequent among them and the column's name says nothing else.
    """
    if shape.column.type is not ValueType.TEXT or shape.share(_LETTERS) < MOST:
        return False
    words = words_of(shape.column.name).split()
    if not words or shape.distinct < 5:
        return False
    if set(words) & _SURE or (set(words) & {"name", "names"} and set(words) & _PARTS):
        return True
    says_name = set(words) <= _SURE | _LIKELY | _WHOSE
    if shape.distinct < MANY:
        return False
    known = _known_share(shape)
    if says_name and set(words) & _LIKELY:
        return known >= NAMES_KNOWN or shape.distinct > NAMES_DISTINCT * shape.rows
    if any(
        meaning is not Meaning.NAME and meaning is not Meaning.PERSON_KEY for meaning in meanings
    ):
        return False
    return known >= NAMES_KNOWN


def _known_share(shape: Shape) -> float:
    """Return the share of the values that contain a listed name, as one of at most four words."""
    listed = GIVEN_NAMES | FAMILY_NAMES
    plain = [without_accents(value).lower() for value in shape.texts.to_list()]
    split = [value.replace(",", " ").split() for value in plain]
    return sum(not listed.isdisjoint(words) for words in split) / max(len(split), 1)


def _keyed(shape: Shape) -> bool:
    """Return whether nearly every row has a key of its own, such as C00017 or MRN-20418."""
    many = shape.distinct >= FEW_ROWS and shape.distinct > NEARLY_UNIQUE * shape.rows
    return many and shape.share(_KEY) >= MOST


def _numbered(shape: Shape, meaning: Meaning, word: str) -> bool:
    """Return whether a column is called a number of persons or records, and its values are keys."""
    if shape.column.type in (ValueType.NUMBER, ValueType.DATE) or meaning not in _NUMBERS:
        return False
    counted = word in _COUNTED
    if counted and not words_of(shape.column.name).endswith(word):
        return False  # a number of something
    keys = NEARLY_UNIQUE if counted else 0.5  # of the rows
    many = shape.distinct >= FEW_ROWS and shape.distinct > keys * shape.rows
    return many and shape.share(r"\d") >= MOST


def unique_by(column: Column, persons: Persons | None = None) -> int:
    """Return how many persons have a value of a column that no other person has."""
    if persons is None:
        return int((column.counts[: column.cardinality - column.has_null] == 1).sum())
    pairs = np.unique(persons.number * column.cardinality + column.codes)
    person, code = np.divmod(pairs, column.cardinality)
    alone = np.bincount(code, minlength=column.cardinality)[code] == 1
    if column.has_null:
        alone &= code != column.cardinality - 1
    return len(np.unique(person[alone]))


def refusal(
    column: Column,
    rows: int,
    persons: Persons | None = None,
    alone: tuple[int, int, str] | None = None,
) -> str | None:
    """Return why a column may not be published in its role; None if it may.

    ``alone`` states how many of which unit are unique by it, where an engine counted them.
    """
    direct = direct_identifiers(column)
    if direct is not None:
        return (
            f"{direct.sentence()}. Give it the role 'identifier' or 'drop'; if its values identify "
            "no person, add 'allow_identifying: true'."
        )
    if column.role is not Role.INSENSITIVE:
        return None
    if alone is not None:
        return too_unique(*alone)
    count = rows if persons is None else persons.count
    unique = unique_by(column, persons)
    return too_unique(unique, count, "rows" if persons is None else "persons")


def too_unique(unique: int, count: int, unit: str) -> str | None:
    """Return why an unchanged column by which so many are unique may not be published."""
    if unique <= UNIQUE_AT_MOST * count:
        return None
    return (
        f"{unique:,} of {count:,} {unit} are unique by this column, which would be published "
        f"unchanged (at most {UNIQUE_AT_MOST:.0%} may be). Give it the role 'quasi-identifier', "
        "'sensitive' or 'drop'; if its values identify no person, add 'allow_identifying: true'."
    )
