"""Every tutorial runs, and prints what it says."""

from __future__ import annotations

import pytest
from tests.docs.tutorials import pages, run

from discreet.methods.registry import METHODS


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_a_tutorial_runs_and_prints_what_it_shows(page, tmp_path):
    outputs = run(page, tmp_path)
    assert outputs
    for output in outputs:
        assert output.agrees, f"{page.name} shows:\n{output.shown}\nprinted:\n{output.printed}"


def test_tutorials_are_numbered_without_a_gap_and_have_every_method():
    assert [int(page.name[:2]) for page in pages()] == list(range(len(pages())))
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    for method in METHODS.values():
        assert method.name in text, method.name
