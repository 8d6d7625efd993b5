"""The draft for JOSS keeps the journal's form: short, its pictures exist, its citations too."""

from __future__ import annotations

import re

import yaml
from tests.docs.notebooks import ROOT

_, HEAD, TEXT = (ROOT / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
SECTIONS = re.findall(r"^# (.*)$", TEXT, re.MULTILINE)


def test_the_head_has_what_the_journal_asks_for():
    head = yaml.safe_load(HEAD)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(head)
    assert (ROOT / head["bibliography"]).is_file()
    assert "Python" in head["tags"]


def test_it_has_fewer_than_1000_words_and_the_sections():
    words = re.sub(r"!\[.*?\]\(.*?\)", "", TEXT, flags=re.DOTALL).split()
    assert 250 <= len(words) < 1000
    assert {"Summary", "Statement of need", "State of the field", "References"} <= set(SECTIONS)


def test_citations_and_pictures_exist():
    entries = (ROOT / "paper.bib").read_text(encoding="utf-8")
    cited = set(re.findall(r"@([\w-]+)", TEXT))
    assert cited == set(re.findall(r"^@\w+\{([\w-]+),", entries, re.MULTILINE))
    pictures = re.findall(r"\]\((docs/[^)]+)\)", TEXT)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)
