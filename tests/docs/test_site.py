"""The check of the built site finds what a visitor would stumble over, and nothing else."""

from __future__ import annotations

import pytest
from tests.docs.notebooks import ROOT
from tests.docs.site import problems
from tests.docs.site_hooks import llms, rank_of
from tests.docs.words import MOST_PAGES, MOST_TABS, MOST_WORDS, count, main, navigation, words_of

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


def test_llms_txt_lists_every_page_with_a_sentence():
    nav = [{"Start": ["index.md", {"More": [{"Quick start": "quick-start.md"}]}]}]
    listed = llms(nav, "Said in short.")
    assert listed.startswith("# discreet\n\n> Said in short.\n")
    assert "- [discreet](index.html): " in listed
    assert "- [Quick start](quick-start.html): Python 3.11" in listed


def test_every_page_is_in_the_navigation_once():
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(count()) == sorted(pages)


def test_the_site_is_small(capsys):
    main()
    printed = capsys.readouterr().out
    counts = count()
    assert sum(counts.values()) <= MOST_WORDS, printed
    assert len(counts) <= MOST_PAGES, printed
    assert len(navigation()) <= MOST_TABS, printed


def test_a_word_is_what_a_visitor_reads(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    page = "# Two words\n\n| a | `b c` |\n|---|---|\n\n![picture](x.svg) [a link](y.md#z) – 3 %\n"
    (tmp_path / "docs" / "page.md").write_text(page, encoding="utf-8")
    monkeypatch.setattr("tests.docs.words.ROOT", tmp_path)
    assert words_of("page.md") == 8  # two, a, b, c, a link, 3


def test_search_finds_guides_first():
    nav = navigation()
    assert (
        rank_of("check.md", nav)
        > rank_of("methods/mondrian.md", nav)
        > rank_of("theory/class-models.md", nav)
    )
