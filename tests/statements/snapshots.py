"""Every statement in a language, with sample parameters, as one text file a language."""

from __future__ import annotations

from pathlib import Path
from string import Formatter
from typing import Any

from discreet.statements import Language, Statement, templates


def fields(template: str) -> set[str]:
    """Return the names of a template's parameters."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def snapshot(language: Language) -> str:
    """Return every statement with sample parameters, by id."""
    lines = []
    for id, template in templates("en").items():
        statement = Statement(id, **samples_of(template))
        lines.append(f"{id}: {statement.text(language)}\n")
    return "".join(lines)


def samples_of(template: str) -> dict[str, Any]:
    """Return a number where the template formats one, names where it lists them, else a name."""
    samples: dict[str, Any] = {}
    for _, name, form, _ in Formatter().parse(template):
        if name is None:
            continue
        if form in ("quoted", "and", "or", ";"):
            samples[name] = ("age", "zip")
        elif form.endswith("%") or form == "percent":
            samples[name] = 0.125
        elif form:
            samples[name] = 1234
        else:
            samples.setdefault(name, f"<{name}>")
    return samples


def place(language: Language) -> Path:
    """Return the file of a language's snapshot."""
    return Path(__file__).with_name(f"{language}.txt")
