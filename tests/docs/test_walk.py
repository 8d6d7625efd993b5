"""A new user who follows the README or the quick start sees what these pages show."""

from __future__ import annotations

import pytest
from tests.docs.notebooks import ROOT
from tests.docs.walk import walk


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_a_walk_prints_what_the_page_shows(page, tmp_path):
    outputs = walk(ROOT / page, tmp_path)
    assert len(outputs) >= 2
    for output in outputs:
        assert output.agrees, f"{page} shows:\n{output.shown}\nprinted:\n{output.printed}"
