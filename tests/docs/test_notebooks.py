"""Pages of methods and commands run block by block as printed, and print what they show."""

from __future__ import annotations

import json

import pytest
from tests.docs.notebooks import notebook_pages, notebook_text, run_pages
from tests.docs.run_notebooks import run


@pytest.mark.parametrize("page", run_pages(), ids=lambda page: page.stem)
def test_a_page_runs_and_prints_what_it_shows(page, tmp_path):
    outputs = run(page, tmp_path)
    assert outputs
    for output in outputs:
        assert output.agrees, f"{page.name} shows:\n{output.shown}\nprinted:\n{output.printed}"


@pytest.mark.parametrize("page", notebook_pages(), ids=lambda page: page.stem)
def test_a_notebook_shows_its_pictures(page):
    cells = json.loads(notebook_text(page))["cells"]
    assert any("](data:image/" in "".join(cell["source"]) for cell in cells)
