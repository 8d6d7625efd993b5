"""Run pages as notebooks, in a folder of their own, and compare the output that they show.

``tests/docs/notebooks.py`` says what the blocks of a page are. A ``text`` block is what the block
before it prints; a line ``…`` in it stands for any lines. The folders ``examples`` and
``experiments`` are there. ``python -m tests.docs.run_notebooks PAGE`` writes the output anew.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tests.docs.notebooks import BLOCK, ROOT, cell_source
from tests.docs.walk import Output, environment, plain, replace_outputs


def run(page: Path, folder: Path) -> list[Output]:
    """Run all blocks of a page in a folder; return the outputs that it shows."""
    for name in ("examples", "experiments"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    sources = [cell_source(*block.groups()) for block in blocks]
    cells = [nbformat.v4.new_code_cell(source) for source in sources if source]
    book = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment(folder / ".programs"))
    outputs, ran, printed = [], iter(book.cells), ""
    for block, source in zip(blocks, sources, strict=True):
        if source:
            printed = _printed(next(ran))
        elif block[1] == "text":
            outputs.append(Output(block[2], printed, block.span(2)))
    return outputs


def _printed(cell: nbformat.NotebookNode) -> str:
    streams = (out.text for out in cell.outputs if out.get("name") == "stdout")
    return plain("".join(streams))


def rewrite(page: Path) -> None:
    """Put what is printed into the page, where it shows something else."""
    with tempfile.TemporaryDirectory() as folder:
        replace_outputs(page, run(page, Path(folder)))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
