"""The pictures of the methods are those of releases that are made today."""

from __future__ import annotations

import re

import pytest
from tests.docs.pictures import EXAMPLES, IMAGES, LEAD, PEOPLE, picture


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.method)
def test_a_picture_shows_the_release_that_is_made(example):
    drawn = picture(example)
    assert (IMAGES / f"method-{example.method}.svg").read_text(encoding="utf-8") == drawn
    published = drawn.split('class="arrow"')[1]
    assert not [name for name, *_ in PEOPLE if f">{name}<" in published]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.method)
def test_a_page_shows_its_picture(example):
    page = (IMAGES.parent / "methods" / f"{example.method}.md").read_text(encoding="utf-8")
    first_screen = page.split("\n## ")[0]
    assert re.search(rf"!\[[^]]+\]\(\.\./images/method-{example.method}\.svg\)", first_screen)


def test_the_lead_picture_is_ready_to_sign():
    drawn = picture(LEAD, judged=True)
    assert (IMAGES / "before-after.svg").read_text(encoding="utf-8") == drawn
    assert "Verdict about risk: Ready to sign" in drawn
