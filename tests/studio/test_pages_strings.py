"""The strings of Studio: complete in every language, with the same gaps, and all of them used."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.methods.registry import METHODS
from discreet.requirements.registry import REQUIREMENTS
from discreet.table.roles import Role, ValueType

STUDIO = Path(str(files("discreet.addons.studio")))
LANGUAGES = ("en", "de", "tr")


def strings(language: str) -> dict[str, str | dict[str, str]]:
    return json.loads((STUDIO / "strings" / f"{language}.json").read_text(encoding="utf-8"))


def sources() -> dict[str, str]:
    return {
        str(path.relative_to(STUDIO)): path.read_text(encoding="utf-8")
        for path in sorted((STUDIO / "static").rglob("*.js"))
    }


def forms(written: str | dict[str, str]) -> list[str]:
    return list(written.values()) if isinstance(written, dict) else [written]


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_language_has_every_string_with_the_same_gaps(language):
    english, other = strings("en"), strings(language)
    assert list(english) == list(other)
    for key, written in english.items():
        gaps = {gap for form in forms(written) for gap in re.findall(r"\{(\w+)\}", form)}
        for form in forms(other[key]):
            assert form.strip(), key
            assert set(re.findall(r"\{(\w+)\}", form)) == gaps, key


def test_translations_differ_from_english():
    english = strings("en")
    for language in LANGUAGES[1:]:
        other = strings(language)
        same = [key for key in english if english[key] == other[key]]
        assert len(same) < len(english) / 12, same  # names, numbers, and words that are alike


def test_every_string_is_used_and_every_key_exists():
    known = set(strings("en"))
    whole = "\n".join(sources().values())
    plain = set(re.findall(r'"([a-z0-9-]+(?:\.[a-z0-9_ -]+)*)"', whole))
    asked = set(re.findall(r'\bt\(\s*"([^"]+)"', whole))
    assert asked <= known, asked - known
    parts = [re.split(r"\$\{[^}]*\}", one) for one in re.findall(r"`([^`]*)`", whole)]
    keys = [one for one in parts if re.fullmatch(r"[a-z]+\..*|.*\.[a-z]+", "".join(one))]
    patterns = [re.compile(".+".join(map(re.escape, one))) for one in keys]
    unused = {key for key in known - plain if not any(p.fullmatch(key) for p in patterns)}
    assert not unused


def test_roles_types_methods_and_requirements_have_words():
    known = strings("en")
    for role in set(Role) - {Role.STRUCTURE}:
        assert f"role.{role}" in known
        assert f"role.{role}.text" in known
    for kind in ValueType:
        assert f"type.{kind}" in known
    for method in METHODS.built_in:
        assert f"method.{method}" in known
    for requirement in REQUIREMENTS.built_in:
        by_method = requirement in METHODS.built_in or requirement.endswith("in-series")
        assert by_method or f"requirement.{requirement}" in known


def test_no_text_stands_in_the_code():
    """Texts that people read are strings: nothing with a blank and letters is appended as it is."""
    for name, source in sources().items():
        for line in source.splitlines():
            if line.lstrip().startswith(("//", "*", "/*")):
                continue
            found = re.findall(r'h\("\w+", \{[^}]*\}, "([^"]*[a-zA-Z]{3,} [^"]*)"\)', line)
            assert found in ([], ["discreet studio"]), (name, found)


def test_the_page_sets_no_markup_and_no_inline_style():
    for name, source in sources().items():
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function"):
            assert forbidden not in source, (name, forbidden)
        assert not re.search(r'[{,]\s*style: (?!"percent|"unit)|setAttribute\("style', source), name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", source), name
    page = (STUDIO / "static" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"""\sstyle=|\son\w+=|<script(?![^>]*src=)|<style""", page)
