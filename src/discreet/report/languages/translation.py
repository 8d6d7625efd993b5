"""Sentences of pages in another language, by catalogues that are keyed by the English template.

Sentences are made in English, wherever a result is described, and translated when a page is
written. A template has typed places; digits tell places of one type apart:

=======  =========================================================================================
``{n}``  a number, and ``{p}`` a percentage: they get the form of the language
``{w}``  a word or code that stays as it is, and ``{q}`` any name or list of names
``{t}``  a part with a template of its own, and ``{l}`` several such parts between marks
=======  =========================================================================================

A part that makes sense within a sentence only has a kind: ``{t=kind}`` takes templates whose key
begins with ``kind=``, and nothing else does. A sentence is translated as a whole or not at all: one
that no template fits, or with a part that none fits, stays English, and the page marks it with
``lang='en'``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from discreet.errors import InputError

Language = Literal["en", "de", "tr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
ENGLISH: Language = "en"

_spoken: ContextVar[Language] = ContextVar("language", default=ENGLISH)
_PLACE = re.compile(r"\{([npwqtl]\d*)(?:=(\w+))?\}")
_KIND = re.compile(r"([a-z]+)=(?=\S)")
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_FORMS = {
    "n": _NUMBER, "p": rf"{_NUMBER}[ \u00a0]?%", "w": r"\S+", "q": ".+?", "t": ".+?", "l": ".+?",
}  # fmt: skip
_WRITTEN = re.compile(rf"({_NUMBER})([ \u00a0]?%)?")
_LETTER = re.compile(r"[^\W\d_]{2}")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})( \d{2}:\d{2})?")


class _Template(NamedTuple):
    pattern: re.Pattern[str]
    start: str  # the text before the first place
    literal: int  # the number of characters outside places
    target: str
    kinds: dict[str, str]  # of its parts, by place


def spoken() -> Language:
    """The language of the page that is being made."""
    return _spoken.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Make pages in a language."""
    token = _spoken.set(require_language(language))
    try:
        yield
    finally:
        _spoken.reset(token)


def require_language(name: str) -> Language:
    """Return a language that has a catalogue; raise for another one."""
    for language in LANGUAGES:
        if name == language:
            return language
    raise InputError(f"language: '{name}' is not supported. Use one of: {', '.join(LANGUAGES)}.")


def language_of_page(page: str) -> Language:
    """Return the language that a page names; English where it names none that is supported."""
    found = re.match(r"<!doctype html>\n<html lang='(\w+)'>", page)
    return next((one for one in LANGUAGES if found and one == found[1]), ENGLISH)


def translated(said: str, kind: str = "") -> str | None:
    """Return a sentence in the language that is spoken; None where it has no translation.

    Parts of a sentence have a kind.
    """
    language = spoken()
    if language == ENGLISH:
        return said
    return _translated(said, kind, language)


@cache
def catalogue(language: Language) -> dict[str, str]:
    """The templates of a language, by the English one."""
    text = files("discreet.report.languages").joinpath(f"{language}.json")
    found: dict[str, str] = json.loads(text.read_text(encoding="utf-8"))
    return found


@cache
def _templates(language: Language) -> dict[str, list[_Template]]:
    """The templates of each kind; the one with most text of its own comes first."""
    made: dict[str, list[_Template]] = {}
    for key, target in catalogue(language).items():
        kind = _KIND.match(key)
        pieces = _PLACE.split(key[kind.end() :] if kind else key)
        texts, places, kinds = pieces[::3], pieces[1::3], pieces[2::3]
        pattern = re.escape(texts[0]) + "".join(
            f"(?P<{place}>{_FORMS[place[0]]}){re.escape(text)}"
            for place, text in zip(places, texts[1:], strict=True)
        )
        of_place = {place: named or "" for place, named in zip(places, kinds, strict=True)}
        made.setdefault(kind[1] if kind else "", []).append(
            _Template(
                re.compile(pattern, re.DOTALL), texts[0], sum(map(len, texts)), target, of_place
            )
        )
    return {kind: sorted(some, key=lambda one: -one.literal) for kind, some in made.items()}


@cache
def _translated(said: str, kind: str, language: Language) -> str | None:
    if not _LETTER.search(said) and not kind:
        return _in_form(said, language)
    return next(fitting(said, language, kind), None)


def fitting(said: str, language: Language, kind: str = "") -> Iterator[str]:
    """Yield what each template that fits makes of a sentence, the most specific one first.

    A template without places is the sentence itself, and no other is tried.
    """
    whole = catalogue(language).get(f"{kind}={said}" if kind else said)
    if whole is not None and not _PLACE.search(said):
        yield whole
        return
    for template in _templates(language).get(kind, ()):
        if said.startswith(template.start) and (found := template.pattern.fullmatch(said)):
            filled = _filled(template, found.groupdict(), language)
            if filled is not None:
                yield filled


def _filled(template: _Template, parts: dict[str, str], language: Language) -> str | None:
    """Fill the places of a template; None where a part has no translation."""
    written: dict[str, str] = {}
    for place, part in parts.items():
        if place[0] in "wq":
            written[place] = part
        elif place[0] in "np":
            written[place] = _in_form(part, language)
        else:
            kept = _parts(part, template.kinds[place], language, several=place[0] == "l")
            if kept is None:
                return None
            written[place] = kept
    return _PLACE.sub(lambda place: written[place[1]], template.target)


def _parts(part: str, kind: str, language: Language, *, several: bool) -> str | None:
    """Translate a part of a sentence, or each of several parts."""
    if several:
        mark = "; " if "; " in part else ", "
        found = [_translated(piece, kind, language) for piece in part.split(mark)]
        kept = [piece for piece in found if piece is not None]
        if len(kept) == len(found):
            return mark.join(kept)
    return _translated(part, kind, language)


def numbers(said: str) -> str:
    """Return a text without sentences, its numbers in the form of the language that is spoken."""
    return said if spoken() == ENGLISH else _in_form(said, spoken())


def day(said: str) -> str:
    """Return a date of the form 2026-11-17 in the form of the language that is spoken."""
    if spoken() == ENGLISH:
        return said
    return _DAY.sub(lambda found: f"{found[3]}.{found[2]}.{found[1]}{found[4] or ''}", said)


def _in_form(said: str, language: Language) -> str:
    """Numbers as German and Turkish write them: 1.234,5 and 12,5 % or %12,5."""

    def written(found: re.Match[str]) -> str:
        number = found[1].translate(str.maketrans(",.", ".,"))
        if found[2] is None:
            return number
        return f"%{number}" if language == "tr" else f"{number}\u00a0%"

    return _WRITTEN.sub(written, said)


def needs_translation(said: str) -> bool:
    """Whether a text has words."""
    return bool(_LETTER.search(said))
