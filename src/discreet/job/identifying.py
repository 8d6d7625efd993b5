"""Values that identify a person directly: e-mail addresses, telephone and record numbers, keys.

Account, card and national numbers are recognized by their check digits: of arbitrary numbers one in
ten to one in ninety-seven passes. The values decide, and a column's name only supports them. Postal
codes, dates, ages, amounts and codes of diagnoses are shorter, of varying length, or shared by many
rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from discreet.statements import Statement
from discreet.table.coded_table import Column
from discreet.table.roles import ValueType

MOST = 0.8  # of the distinct values
ONE_ROW = (
    "Use 'rows: collapse' to reduce the rows of a person to one; or 'unit: rows' without "
    "`person:`, and the guarantees count rows."
)
SEVERAL_ROWS = (
    "Groups of rows do not protect a person with several rows. Name the column that identifies a "
    "person, 'person: {column: NAME, rows: collapse}', which reduces the rows of a person to one; "
    "or state 'unit: rows' in the job: the guarantees then count rows. Give an identifier that "
    "different persons share, such as a name, the role 'drop'."
)
FEWEST_KEYS = 10  # distinct values; fewer are no keys of a table
ROWS_OF_KEY = 20  # more rows of a value on average: a category
LOOKED_AT = 300  # numbers of a column whose check digits are tried
PASSING = 0.9  # of them
FEWEST_NUMBERS = 5
SHORTEST = 9  # signs of a number with check digits

_FORMS = {
    "e-mail": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "uuid": r"(?i)^\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?$",
    "bank": r"^[A-Z]{2}\d{2}[ ]?([A-Z0-9]{4}[ ]?){2,7}[A-Z0-9]{1,4}$",
    "ip": r"^(\d{1,3}\.){3}\d{1,3}$",
}
# nine to fifteen digits with a leading + or at least two separators
_TELEPHONE = r"^(\+[\d\s().\-/]{8,24}|\(?\d+\)?[\s.\-/]+\(?\d+\)?[\s.\-/]+[\d\s.\-/]*\d)$"
_DATE = r"^(\d{4}[-/. ]\d{1,2}[-/. ]\d{1,2}|\d{1,2}[-/. ]\d{1,2}[-/. ]\d{4})\b"
_DAY = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
_KEY_NAME = re.compile(
    r"\b(id|no|nr|nbr|num|number|key|record|mrn|patient|person|subject|member|customer|client"
    r"|account|case|encounter|visit|ssn)\b"
)


class Uses(NamedTuple):
    """The number of rows and values of an identifier."""

    rows: int  # with a value
    values: int
    most: int  # rows of one value

    def sentence(self, name: str) -> str:
        """Return the counts, which name no value."""
        return (
            f"The identifier '{name}' has {self.values:,} distinct values in {self.rows:,} rows; "
            f"one value has {self.most:,} rows."
        )


def count_uses(column: Column) -> Uses:
    """Count how often the values of an identifier are used."""
    counts = column.counts[: column.cardinality - column.has_null]
    return Uses(int(counts.sum()), int((counts > 0).sum()), int(counts.max(initial=0)))


def words_of(name: str) -> str:
    """The words of a column's name, in small letters without accents, apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", without_accents(name))
    return " ".join(re.findall(r"[a-z]+", apart.lower()))


def without_accents(text: str) -> str:
    """Return a text with plain Latin letters in the place of those with accents."""
    apart = unicodedata.normalize("NFKD", text.replace("ı", "i").replace("ß", "ss"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def identifying_values(column: Column) -> Statement | None:
    """Return the kind of direct identifier that a column holds; None for ordinary values."""
    if column.separator is not None or column.type in (ValueType.NUMBER, ValueType.DATE):
        return None
    occurs = pl.Series(column.counts > 0)
    text = column.text.filter(occurs).drop_nulls()
    if len(text) < 2:
        return None
    if column.type is ValueType.TEXT:
        for what, form in _FORMS.items():
            if _share(text, form) >= MOST:
                return Statement(f"holds.{what}")
        digits = text.str.count_matches(r"\d").is_between(9, 15)
        telephone = text.str.contains(_TELEPHONE) & digits & ~text.str.contains(_DATE)
        if int(telephone.sum()) >= MOST * len(text):
            return Statement("holds.telephone")
    sample = text.gather_every(max(len(text) // LOOKED_AT, 1)).to_list()
    return checked_numbers(sample) or _record_numbers(column, text)


def _record_numbers(column: Column, text: pl.Series) -> Statement | None:
    """Many values of one form with six digits or more, each of few rows."""
    present = int(column.counts[: column.cardinality - column.has_null].sum())
    if len(text) < FEWEST_KEYS or present > ROWS_OF_KEY * len(text):
        return None
    form = text.str.replace_all(r"\d", "9").str.replace_all(r"[A-Za-z]", "a").alias("form")
    usual = form.value_counts(sort=True)
    if int(usual["count"][0]) < 0.95 * len(text):
        return None
    shape = str(usual["form"][0])
    if not re.fullmatch(r"a*[-_/ ]?9+([-_/ ]9+)?", shape) or shape == "99999-9999":  # a ZIP+4
        return None
    digits = shape.count("9")
    bare = "a" not in shape
    if digits >= 8 and _share(text, _DAY) > MOST:
        return None
    enough = 8 if bare else 6
    if digits >= enough or (digits >= 6 and _KEY_NAME.search(words_of(column.name))):
        return Statement("holds.record")
    return None


def _share(text: pl.Series, form: str) -> float:
    return int(text.str.contains(form).sum()) / len(text)


def checked_numbers(values: Sequence[str]) -> Statement | None:
    """Return what the check digits of most values show a column to hold; None for none."""
    numbers = [re.sub(r"[\s./-]", "", value).upper() for value in values]
    most = PASSING * len(numbers)
    if len(numbers) < FEWEST_NUMBERS or sum(len(text) >= SHORTEST for text in numbers) < most:
        return None
    for what, check in _CHECKS.items():
        if sum(map(check, numbers)) >= most:
            return Statement("holds.checked", what=Statement(f"holds.{what}"))
    return None


def _is_iban(text: str) -> bool:
    """Check an international bank account number (ISO 13616: modulo 97)."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _is_luhn(text: str) -> bool:
    """Check a card number (ISO/IEC 7812: Luhn)."""
    if not re.fullmatch(r"\d{13,19}", text):
        return False
    digits = [int(sign) for sign in reversed(text)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_dni(text: str) -> bool:
    """Spain: DNI and NIE."""
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", text):
        return False
    number = int(text[:-1].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == text[-1]


def _is_nir(text: str) -> bool:
    """France: NIR."""
    if not re.fullmatch(r"[12]\d{4}(\d{2}|2A|2B)\d{8}", text):
        return False
    number = int(text[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(text[13:])


def _is_steuer_id(text: str) -> bool:
    """Germany: tax number (ISO 7064, modulo 11, 10)."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    product = 10
    for sign in text[:10]:
        product = ((int(sign) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(text[10])


def _is_tckn(text: str) -> bool:
    """Turkey: T.C. kimlik."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    digits = [int(sign) for sign in text]
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


def _is_cpf(text: str) -> bool:
    """Brazil: CPF."""
    if not re.fullmatch(r"\d{11}", text):
        return False
    digits = [int(sign) for sign in text]
    return all(
        sum(digit * (place + 1 - at) for at, digit in enumerate(digits[:place])) * 10 % 11 % 10
        == digits[place]
        for place in (9, 10)
    )


def _is_nif(text: str) -> bool:
    """Portugal: NIF."""
    if not re.fullmatch(r"[1-9]\d{8}", text):
        return False
    left = sum(int(digit) * (9 - at) for at, digit in enumerate(text[:8])) % 11
    return (0 if left < 2 else 11 - left) == int(text[8])


def _is_nhs(text: str) -> bool:
    """England: NHS number."""
    if not re.fullmatch(r"\d{10}", text):
        return False
    left = 11 - sum(int(digit) * (10 - at) for at, digit in enumerate(text[:9])) % 11
    return left % 11 == int(text[9]) and left != 10


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bank": _is_iban,
    "card": _is_luhn,
    "spanish": _is_dni,
    "french": _is_nir,
    "german": _is_steuer_id,
    "turkish": _is_tckn,
    "brazilian": _is_cpf,
    "portuguese": _is_nif,
    "nhs": _is_nhs,
}
