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
from importlib.resources import files
from typing import Any

import polars as pl
import yaml

from discreet.hierarchies.cells import SUPPRESSED
from discreet.job.identifying import identifying_values, words_of
from discreet.job.proposing.presets import OLDEST, SMALL_AREAS
from discreet.job.proposing.value_forms import is_free_text, meaning_of_values, shape_of
from discreet.job.proposing.vocabulary import Meaning, named_meanings
from discreet.table.coded_table import Column
from discreet.table.roles import Role

FOUND, LOOK_AT, NOT_FOUND = "found", "look at", "not found"
MOST = 0.8  # of the distinct cells, for forms that other values have by chance

_DATA: dict[str, Any] = yaml.safe_load(
    files("discreet.addons.evidence").joinpath("identifiers.yaml").read_text("utf-8")
)
_ORDER: str = _DATA.pop("order")  # in which words of a column's name are tried
IDENTIFIERS: dict[str, str] = {letter: known["name"] for letter, known in _DATA.items()}
_NUMBERED = [letter for letter, known in _DATA.items() if known.get("numbered")]
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
_NUMBER_WORDS = re.compile(
    r"\b(id|no|nr|nbr|num|number|nummer|code|key|ssn|mrn|vin|imei|npi|udi|plate|plates|serial"
    r"|social security|\w+nummer|kennzeichen|plaka)\b"
)

_COUNTED = re.compile(r"^(number|num|count|anzahl|nombre|numero) (of |de |der )?(?=\w)")

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
    for letter in _ORDER:
        if re.search(_DATA[letter]["words"], words) and (
            letter not in _NUMBERED or _NUMBER_WORDS.search(words)
        ):
            return letter
    meaning = next(named_meanings(words), None)
    if meaning is None:
        return None
    if meaning[0] in (Meaning.BIRTH, Meaning.EVENT_DATE, Meaning.AGE):
        return "C"
    if meaning[0] is Meaning.POSTCODE or (meaning[0] is Meaning.REGION and meaning[1] != "state"):
        return "B"
    return _MEANT.get(meaning[0])


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
    named_meaning = next(named_meanings(words_of(column.name)), None)
    meaning = None if named_meaning is None else named_meaning[0]
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
    for letter, what, count in _of_form("any_cell", cells):
        if count:
            yield letter, FOUND, f"{_some(count, cells)} are {what}".replace("are the", "have the")


def _of_form(key: str, cells: pl.Series) -> Iterator[tuple[str, str, int]]:
    """Yield how many cells have the form of each identifier that has one, and what they are."""
    for letter, known in _DATA.items():
        if key in known:
            form, what = known[key]
            yield letter, what, int(cells.str.contains(form).sum())


def _by_form(column: Column, cells: pl.Series) -> Iterator[_Judgement]:
    for letter, what, count in _of_form("most_cells", cells):
        if count >= MOST * len(cells):
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
        years = [
            min(map(int, years_shown)) for cell in cells.to_list() if (years_shown := _years(cell))
        ]
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
