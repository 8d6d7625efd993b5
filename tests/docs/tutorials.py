"""Tutorials run as notebooks, in a folder of their own, with the output that they show.

``tests/docs/notebooks.py`` says what the blocks of a page are. A ``text`` block is what the block
before it prints; a line ``…`` in it stands for any lines. The folder ``examples`` is there.
``python -m tests.docs.tutorials`` writes the output anew.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tests.docs.notebooks import BLOCK, FOLDER, ROOT, cell_source

ANY = "…"
SETTINGS = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "DISCREET_INSECURE_FIXED_ORDER": "1",  # some pages show rows, and groups by number
}


@dataclass(frozen=True)
class Output:
    """What a block prints, as the page has it and as it is."""

    shown: str
    printed: str
    place: tuple[int, int]  # in the page

    @property
    def agrees(self) -> bool:
        """Whether the page shows what is printed."""
        parts = [re.escape(part) for part in re.split(rf"(?m)^{ANY}\n", self.shown)]
        return re.fullmatch(r"(?:.*\n)*?".join(parts), self.printed) is not None


def pages() -> list[Path]:
    """The tutorials, in their order."""
    return sorted(FOLDER.glob("[0-9][0-9]-*.md"))


def run(page: Path, folder: Path) -> list[Output]:
    """Run all blocks of a page in a folder; the outputs that it shows."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
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


def environment(programs: Path) -> dict[str, str]:
    """Return the variables of a user whose ``python`` and ``discreet`` are those of the tests."""
    programs.mkdir(exist_ok=True)
    for name, call in (("python", ""), ("discreet", " -m discreet")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{call} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **SETTINGS, "PATH": path}


def _printed(cell: nbformat.NotebookNode) -> str:
    return _plain("".join(one.text for one in cell.outputs if one.get("name") == "stdout"))


def _plain(printed: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def rewrite(page: Path) -> None:
    """Put what is printed into the page, where it shows something else."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = run(page, Path(folder))
    text = page.read_text(encoding="utf-8")
    for output in reversed(outputs):
        if not output.agrees:
            begin, end = output.place
            text = text[:begin] + output.printed + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or [page.name for page in pages()]:
        rewrite(FOLDER / name)
