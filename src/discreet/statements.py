"""Statements as data: the id of a template and its parameters, written in a language at the edge.

A requirement, a method, an attack or a verdict states ``Statement("k-anonymity", k=5)``. The
templates of each language are in one file, ``languages/en.json`` and so on, and have
replacement fields of Python's format strings:

===================  ============================================================================
``{name}``           a text as it is (a column, a file, a cell), or another statement
``{rows:,}``         a number; ``{share:.1%}`` a percentage: in the form of the language
``{share:percent}``  a share as a percentage with all its digits
``{names}``          several parameters, separated by commas; ``{names:;}`` by semicolons
``{names:quoted}``   each in the quotation marks of the language; ``{name:quoted}`` likewise
``{names:and}``      quoted, with the word for "and" before the last; ``{names:or}`` likewise
===================  ============================================================================

Parameters are never translated or rewritten, so a column whose name is a word of a template stays
as it is. A statement is a string, its English text, wherever a plain string is expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, Literal, get_args

from discreet.errors import InputError

Language = Literal["en", "de", "tr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
ENGLISH: Language = "en"
Parameter = Any  # a string, a number, a Statement, or a sequence of these
_QUOTES = {"en": "'{}'", "de": "„{}“", "tr": "'{}'"}
_LAST = {
    "and": {"en": "and", "de": "und", "tr": "ve"},
    "or": {"en": "or", "de": "oder", "tr": "veya"},
}
_QUOTED = ("quoted", *_LAST)
_COMMA_AND_POINT = str.maketrans(",.", ".,")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?:[ \u00a0]?%)?")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})( \d{2}:\d{2})?")
_spoken: ContextVar[Language] = ContextVar("language", default=ENGLISH)


class Statement(str):
    """A sentence, or a part of one: the id of a template, and the parameters that fill it."""

    id: str
    parameters: dict[str, Parameter]
    __slots__ = ("id", "parameters")

    def __new__(cls, id: str, /, **parameters: Parameter) -> Statement:
        statement = super().__new__(cls, _write(id, parameters, ENGLISH))
        statement.id, statement.parameters = id, parameters
        return statement

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Parameter]]:
        return (self.id,), self.parameters

    def __repr__(self) -> str:
        listed = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"Statement({self.id!r}{listed})"

    def text(self, language: Language) -> str:
        """Return the statement in a language."""
        return str(self) if language == ENGLISH else _write(self.id, self.parameters, language)

    def to_dict(self) -> dict[str, Any]:
        """Return id, parameters and English text as plain data."""
        return {"id": self.id, "parameters": as_data(self.parameters), "text": str(self)}


def stating(id: str, part: str, /, **parameters: Parameter) -> str:
    """Return a statement around a sentence; plain English where that is, as a plugin may write it.

    The sentence is the parameter ``guarantee``.
    """
    around = Statement(id, guarantee=part, **parameters)
    return around if isinstance(part, Statement) else str(around)


def spoken() -> Language:
    """Return the language of the page that is being made."""
    return _spoken.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Make pages in a language."""
    token = _spoken.set(require_language(language))
    try:
        yield
    finally:
        _spoken.reset(token)


def in_language(text: str) -> str:
    """Return a statement in the language that is spoken; any other text as it is."""
    return text.text(spoken()) if isinstance(text, Statement) else text


def statement_data(said: str) -> dict[str, Any]:
    """Return id, parameters and English text; a plain sentence has no id and no parameters."""
    if isinstance(said, Statement):
        return said.to_dict()
    return {"id": None, "parameters": {}, "text": said}


def as_data(value: Any) -> Any:
    """Return plain data in which every statement has id, parameters and text."""
    if isinstance(value, Statement):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: as_data(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_data(part) for part in value]
    return value


@cache
def templates(language: Language) -> dict[str, str]:
    """Return the templates of a language, by id."""
    text = files("discreet.languages").joinpath(f"{language}.json").read_text(encoding="utf-8")
    loaded: dict[str, str] = json.loads(text)
    return loaded


def require_language(name: str) -> Language:
    """Return a language that has templates; raise for another one."""
    for language in LANGUAGES:
        if name == language:
            return language
    raise InputError(f"language: '{name}' is not supported. Use one of: {', '.join(LANGUAGES)}.")


def number_text(written: str, language: Language) -> str:
    """Return a number as German and Turkish write it: 1.234,5 and 12,5 % or %12,5."""
    if language == ENGLISH:
        return written
    written = written.translate(_COMMA_AND_POINT)
    if not written.endswith("%"):
        return written
    digits = written.removesuffix("%").rstrip()
    return f"%{digits}" if language == "tr" else f"{digits}\u00a0%"


def with_numbers(text: str) -> str:
    """Return figures with their names, such as ``alpha = 0.5``, in the form of the language."""
    if spoken() == ENGLISH:
        return text
    return _NUMBER.sub(lambda number: number_text(number[0], spoken()), text)


def day_text(text: str) -> str:
    """Return a date of the form 2026-11-17 in the form of the language that is spoken."""
    if spoken() == ENGLISH:
        return text
    return _DAY.sub(lambda day: f"{day[3]}.{day[2]}.{day[1]}{day[4] or ''}", text)


def _write(id: str, parameters: Mapping[str, Parameter], language: Language) -> str:
    """Fill the template of an id; every parameter must have a place, and every place one."""
    parts: list[str] = []
    unused = set(parameters)
    for literal, name, form, _ in Formatter().parse(templates(language)[id]):
        parts.append(literal)
        if name is not None:
            parts.append(_filled(parameters[name], form or "", language))
            unused.discard(name)
    if unused:
        raise KeyError(f"{id} has no place for {', '.join(sorted(unused))} in '{language}'")
    return "".join(parts)


def _filled(value: Parameter, form: str, language: Language) -> str:
    if isinstance(value, Statement):
        return value.text(language)
    if isinstance(value, str):
        return _QUOTES[language].format(value) if form in _QUOTED else value
    if isinstance(value, Sequence):
        return _listed([_filled(part, form, language) for part in value], form, language)
    written = f"{100 * value:.12g}%" if form == "percent" else format(value, form)
    return number_text(written, language)


def _listed(parts: Sequence[str], form: str, language: Language) -> str:
    if form in _LAST and len(parts) > 1:
        return f"{', '.join(parts[:-1])} {_LAST[form][language]} {parts[-1]}"
    return ("; " if form == ";" else ", ").join(parts)
