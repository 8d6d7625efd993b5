"""The check of the built site finds what a visitor would stumble over, and nothing else."""

from __future__ import annotations

import pytest
from tests.docs.notebooks import ROOT
from tests.docs.site import problems
from tests.docs.site_hooks import changelog, llms, public_names

import discreet as dc

PAGE = """<!doctype html><html lang="en"><head><title>x</title>
<link rel="stylesheet" href="style.css"></head>
<body><h1 id="top">x</h1><a href="other.html#below">on</a> <a href="https://example.org">out</a>
{}</body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "style.css").write_text("h1 { color: teal }")
    (tmp_path / "other.html").write_text(PAGE.format('<p id="below">y</p>'))
    return tmp_path


def write(site, inside: str) -> list[str]:
    (site / "index.html").write_text(PAGE.format(inside))
    return [line.partition("index.html")[2] for line in problems(site)]


def test_a_sound_site_has_no_problem(site):
    assert write(site, '<a href="#top">up</a><img src="style.css" alt="">') == []


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<a href="nowhere.html">x</a>', "leads nowhere: nowhere.html"),
        ('<a href="other.html#above">x</a>', "no such anchor: other.html#above"),
        ('<script src="https://example.org/x.js"></script>', "asks another host"),
        ('<link rel="preconnect" href="https://example.org">', "asks another host"),
        ('<p id="top">x</p>', "the id top twice"),
        ("<p><b>x</p>", "end tag"),
    ],
)
def test_a_problem_is_found(site, inside, said):
    found = write(site, inside)
    assert any(said in line.replace("-", " ") or said in line for line in found), found


def test_a_style_sheet_that_asks_another_host_is_found(site):
    (site / "style.css").write_text("@import 'https://example.org/font.css';")
    assert len(write(site, "")) == 1


def test_the_api_has_every_public_name():
    text = public_names()
    for name in dc.__all__:
        assert name == "__version__" or f"::: discreet.{name}\n" in text, name


def test_the_changelog_of_the_site_leads_to_pages():
    assert "](docs/" not in changelog()


def test_llms_txt_lists_every_page_with_a_sentence():
    nav = [{"Start": ["index.md", {"More": [{"Quick start": "quick-start.md"}]}]}]
    listed = llms(nav, "Said in short.")
    assert listed.startswith("# discreet\n\n> Said in short.\n")
    assert "- [discreet](index.html): discreet publishes tables" in listed
    assert "- [Quick start](quick-start.html): Five minutes" in listed


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert str(page.relative_to(ROOT / "docs")) in nav, page
