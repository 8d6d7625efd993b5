"""The 18 identifiers of HIPAA Safe Harbor, looked for in the columns of a published table.

45 CFR 164.514(b)(2)(i)(A) to (R). A column is judged by its name (`named_meanings`, six languages)
and by the form of its cells. Cells that show an identifier count as *found*; a name alone, or cells
that only a person can judge, as *look at*. No cell is repeated, and *not found* means what it says:
neither a name nor a form was recognized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl

from discreet.hierarchies.cells import SUPPRESSED
from discreet.job.identifying import identifying_values, words_of
from discreet.job.proposing.presets import OLDEST, SMALL_AREAS
from discreet.job.proposing.value_forms import is_free_text, meaning_of_values, shape_of
from discreet.job.proposing.vocabulary import Meaning, named_meanings
from discreet.table.coded_table import Column
from discreet.table.roles import Role

FOUND, LOOK_AT, NOT_FOUND = "found", "look at", "not found"
MOST = 0.8  # of the distinct cells, for forms that other values have by chance

IDENTIFIERS: dict[str, str] = {
    "A": "Names",
    "B": "Geographic subdivisions smaller than a state; of ZIP codes more than three digits",
    "C": "Elements of dates except the year; ages over 89",
    "D": "Telephone numbers",
    "E": "Fax numbers",
    "F": "E-mail addresses",
    "G": "Social security numbers",
    "H": "Medical record numbers",
    "I": "Health plan beneficiary numbers",
    "J": "Account numbers",
    "K": "Certificate and license numbers",
    "L": "Vehicle identifiers and serial numbers, license plates",
    "M": "Device identifiers and serial numbers",
    "N": "Web addresses (URLs)",
    "O": "IP addresses",
    "P": "Biometric identifiers",
    "Q": "Full-face photographs and comparable images",
    "R": "Any other unique identifying number, characteristic or code",
}

# Words of a column's name that say more than its meaning: the first that fits counts.
_NAMED: dict[str, str] = {
    "E": r"\bfax\b",
    "Q": r"\b(photo|photos|foto|image|images|picture|portrait|face|bild|lichtbild|resim)\b",
    "P": r"\b(biometric\w*|fingerprint\w*|retina\w*|iris|voice\w*|dna|genom\w*|gait)\b",
    "O": r"\bip\b",
    "N": r"\b(url|urls|website|homepage|web)\b",
    "L": r"\b(vin|plate|plates|kennzeichen|immatriculation|plaka|vehicle (id|no|number|serial))\b",
    "M": r"\b(device|imei|serial|udi|implant|mac)\b",
    "K": r"\b(licen[cs]e|licen[cs]es|certificate|permis|fuhrerschein\w*|ehliyet|npi)\b",
    "I": r"\b(beneficiary|medicare|medicaid|insurance|policy|subscriber|member|versicherten\w*"
    r"|krankenversicherten\w*|plan)\b",
    "G": r"\b(ssn|social security|securite sociale|seguridad social|sozialversicherungsnummer)\b",
    "H": r"\b(mrn|medical record|chart|patient|patientid|patientennummer|patnr|encounter|hasta)\b",
}
_MEANT: dict[Meaning, str] = {
    Meaning.NAME: "A",
    Meaning.ADDRESS: "B",
    Meaning.PLACE: "B",
    Meaning.TELEPHONE: "D",
    Meaning.E_MAIL: "F",
    Meaning.ACCOUNT: "J",
    Meaning.NATIONAL_NUMBER: "R",
    Meaning.PERSON_KEY: "R",
    Meaning.HOUSEHOLD: "R",
    Meaning.LOGIN: "R",
}
# Only these make a name of the words above an identifier: "insurance" alone may be a kind of it.
_NUMBERED = ("G", "H", "I", "K", "L", "M")
_NUMBER_WORDS = re.compile(
    r"\b(id|no|nr|nbr|num|number|nummer|code|key|ssn|mrn|vin|imei|npi|udi|plate|plates|serial"
    r"|social security|\w+nummer|kennzeichen|plaka)\b"
)

_COUNTED = re.compile(r"^(number|num|count|anzahl|nombre|numero) (of |de |der )?(?=\w)")

_ANY_CELL: dict[str, tuple[str, str]] = {  # one cell of this form is enough
    "F": (r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", "e-mail addresses"),
    "G": (r"(^|[^\w-])\d{3}-\d{2}-\d{4}($|[^\w-])", "the form of social security numbers"),
    "N": (r"(?i)\b(https?://|www\.)\S", "web addresses"),
    "O": (
        r"(^|[^\w.])((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)($|[^\w.])"
        r"|(^|[^\w:])([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}($|[^\w:])",
        "IP addresses",
    ),
    "Q": (r"(?i)(\.(jpe?g|png|gif|tiff?|bmp|heic|dcm)$|^data:image/)", "files of images"),
}
_MOST_CELLS: dict[str, tuple[str, str]] = {
    "E": (r"(?i)\bfax\b", "fax numbers"),
    "L": (r"^[A-HJ-NPR-Z\d]{11}[A-HJ-NPR-Z\d]{2}\d{4}$", "the form of vehicle numbers (VIN)"),
    "M": (r"(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$", "addresses of devices (MAC)"),
}
_FINER_THAN_YEAR = (
    r"\b(1[89]|20)\d{2}[-/.](0?[1-9]|1[0-2])\b"
    r"|(^|[^\d.])(0?[1-9]|[12]\d|3[01])[./-](0?[1-9]|[12]\d|3[01])[./-](\d{4}|\d{2})($|[^\d.])"
    r"|(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,4}\b"
)
_OPEN_ENDED = re.compile(r"older|over|above|plus|\+|>|≥|inf|∞", re.IGNORECASE)


@dataclass(frozen=True)
class IdentifierFinding:
    """Whether one of the 18 identifiers was found in published columns, and why."""

    letter: str
    found: dict[str, str] = field(default_factory=dict)  # by column: what its cells show
    look_at: dict[str, str] = field(default_factory=dict)  # by column: why a person must judge

    @property
    def name(self) -> str:
        """The identifier."""
        return IDENTIFIERS[self.letter]

    @property
    def status(self) -> str:
        """Whether it was found, is to be looked at, or was not found."""
        return FOUND if self.found else LOOK_AT if self.look_at else NOT_FOUND

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "identifier": f"164.514(b)(2)(i)({self.letter})",
            "name": self.name,
            "status": self.status,
            "found": dict(self.found),
            "look_at": dict(self.look_at),
        }


def safe_harbor(columns: Sequence[Column]) -> list[IdentifierFinding]:
    """Return for each of the 18 identifiers which published columns may hold it."""
    findings = {letter: IdentifierFinding(letter) for letter in IDENTIFIERS}
    for column in columns:
        for letter, status, reason in _judge(column):
            finding = findings[letter]
            (finding.found if status == FOUND else finding.look_at).setdefault(column.name, reason)
    return list(findings.values())


def named_identifier(name: str) -> str | None:
    """Return the letter of the identifier that a column's name means; None for none."""
    words = _COUNTED.sub("", words_of(name))  # "number of visits" counts, "visit number" names
    for letter, form in _NAMED.items():
        if re.search(form, words) and (letter not in _NUMBERED or _NUMBER_WORDS.search(words)):
            return letter
    said = next(named_meanings(words), None)
    if said is None:
        return None
    if said[0] in (Meaning.BIRTH, Meaning.EVENT_DATE, Meaning.AGE):
        return "C"
    if said[0] is Meaning.POSTCODE or (said[0] is Meaning.REGION and said[1] != "state"):
        return "B"
    return _MEANT.get(said[0])


_Judgement = tuple[str, str, str]  # letter, status, reason


def _judge(column: Column) -> Iterator[_Judgement]:
    """Judge one column; fully masked cells say nothing."""
    shape = shape_of(column)
    occurs = column.counts[: column.cardinality - column.has_null] > 0
    texts = column.text.head(len(occurs)).filter(pl.Series(occurs))
    cells = texts.filter(~texts.is_in([SUPPRESSED, ""]))
    if not len(cells):
        return
    yield from _by_any_cell(cells)
    if column.role is Role.STRUCTURE:  # made by the release: numbers of groups, names of columns
        return
    yield from _by_form(column, cells)
    letter = named_identifier(column.name)
    said = next(named_meanings(words_of(column.name)), None)
    meaning = None if said is None else said[0]
    if letter == "C":
        yield from _dates_and_ages(meaning, cells)
    elif letter == "B" and meaning is Meaning.POSTCODE:
        yield from _postcodes(cells)
    elif letter is not None:
        yield letter, LOOK_AT, "its name says so"
    if is_free_text(shape, 0.0):
        yield "R", LOOK_AT, "free text, which may hold any of the 18"
    elif shape.unique and column.role is not Role.QUASI_IDENTIFIER and column.numbers is None:
        yield "R", LOOK_AT, "nearly every row has a value of its own"


def _by_any_cell(cells: pl.Series) -> Iterator[_Judgement]:
    for letter, (form, what) in _ANY_CELL.items():
        count = int(cells.str.contains(form).sum())
        if count:
            yield letter, FOUND, f"{_some(count, cells)} are {what}".replace("are the", "have the")


def _by_form(column: Column, cells: pl.Series) -> Iterator[_Judgement]:
    for letter, (form, what) in _MOST_CELLS.items():
        if int(cells.str.contains(form).sum()) >= MOST * len(cells):
            yield letter, FOUND, f"its cells are {what}".replace("are the", "have the")
    count = int(cells.str.contains(_FINER_THAN_YEAR).sum())
    if count:
        yield "C", FOUND, f"{_some(count, cells)} are dates finer than a year"
    numbers = identifying_values(column)
    if numbers is not None:
        yield _letter_of(numbers, column.name), FOUND, f"its cells are {numbers}"
    told = meaning_of_values(shape_of(column))
    if told is not None and told[0] in (Meaning.NAME, Meaning.ADDRESS):
        yield _MEANT[told[0]], FOUND, told[1]
    elif told is not None and told[0] is Meaning.POSTCODE:
        yield from _postcodes(cells)


def _letter_of(what: str, name: str) -> str:
    """The identifier of values whose form was recognized; the name says which numbers they are."""
    named = named_identifier(name)
    if "e-mail" in what:
        return "F"
    if "IP" in what:
        return "O"
    if "bank" in what or "card numbers" in what:
        return "J"
    if "telephone" in what:
        return named if named is not None and named in "DEG" else "D"
    return named if named in (*_NUMBERED, "J") else "R"


def _postcodes(cells: pl.Series) -> Iterator[_Judgement]:
    """Three digits are allowed where the area has more than 20,000 people."""
    digits = cells.str.extract(r"^(\d{3,})", 1)
    longer = int((~cells.str.contains(r"^\d{0,3}[*xX]*$")).sum())
    if longer:
        yield "B", FOUND, f"{_some(longer, cells)} tell more than three digits"
    small = int(digits.str.slice(0, 3).is_in(list(SMALL_AREAS)).sum())
    if small:
        yield "B", FOUND, f"{_some(small, cells)} are of areas with at most 20,000 people"


def _dates_and_ages(meaning: Meaning | None, cells: pl.Series) -> Iterator[_Judgement]:
    if meaning is Meaning.AGE:
        old = sum(map(_tells_old_age, cells.to_list()))
        if old:
            yield "C", FOUND, f"{_some(old, cells)} are ages over {OLDEST}"
    elif meaning is Meaning.BIRTH:
        first = date.today().year - OLDEST - 1
        years = [min(map(int, found)) for cell in cells.to_list() if (found := _years(cell))]
        early = sum(year <= first for year in years)
        if early:
            yield "C", LOOK_AT, f"{_some(early, cells)} begin in {first} or before: ages over 89"


def _years(cell: str) -> list[str]:
    return re.findall(r"\b(?:1[89]|20)\d{2}\b", cell)


def _tells_old_age(cell: str) -> bool:
    """Whether a cell tells an age over 89 finer than "90 or older"."""
    ages = [int(float(number)) for number in re.findall(r"\d+(?:\.\d+)?", cell)]
    if not ages or max(ages) <= OLDEST:
        return False
    if _OPEN_ENDED.search(cell) and min(ages) <= OLDEST + 1:
        return False
    return not (max(ages) == OLDEST + 1 and cell.endswith(")") and len(ages) > 1)


def _some(count: int, cells: pl.Series) -> str:
    return f"{count:,} of {len(cells):,} distinct cells"
