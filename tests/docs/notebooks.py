"""Pages with Python as notebooks, made from their Markdown, so that they cannot differ from it.

``make notebooks`` writes all of them, with copies of the examples and experiments beside them. A
``sh`` block is a cell of the shell, a block that begins with the name of a file writes that file,
and what a page shows as printed is the output of the cell.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w/-]+\.(?:ya?ml|csv|txt))\n")


PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\.(svg|png)\)")
TYPES = {"svg": "svg+xml", "png": "png"}


def notebook_pages() -> list[Path]:
    """Return the pages whose Python blocks are a tutorial of a method, or of comparing."""
    return [DOCS / "compare.md", *sorted((DOCS / "methods").glob("*.md"))]


def run_pages() -> list[Path]:
    """Return all pages whose blocks print what they show: notebooks, and pages of commands."""
    names = ("first-release", "persons", "series", "python", "check", "trust")
    pages = [*(DOCS / f"{name}.md" for name in names), *notebook_pages()]
    return [page for page in pages if "\n```text\n" in page.read_text(encoding="utf-8")]


def cell_source(language: str, text: str) -> str | None:
    """Return a block as the source of a cell that runs, or None if it only shows something."""
    named = FILE.match(text)
    if named:
        return f"%%writefile {named[1]}\n{text[named.end() :]}"
    return {"python": text, "sh": f"%%sh -e\n{text}"}.get(language)


def notebook(page: Path) -> dict[str, Any]:
    """Return a page as a notebook of format 4.5, its pictures in it."""
    cells: list[dict[str, Any]] = []
    text, end = with_pictures(page), 0
    for block in BLOCK.finditer(text):
        language, inside = block.groups()
        source = cell_source(language, inside)
        shows = language == "text" and cells and cells[-1]["cell_type"] == "code"
        said = text[end : block.start()] + ("" if source or shows else block[0])
        if said.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": said.strip()})
        if source:
            cells.append(
                {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
                 "source": source.rstrip("\n")}
            )  # fmt: skip
        elif shows:
            code = next(cell for cell in reversed(cells) if cell["cell_type"] == "code")
            code["outputs"] = [{"name": "stdout", "output_type": "stream", "text": inside}]
        end = block.end()
    if text[end:].strip():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": text[end:].strip()})
    for number, cell in enumerate(cells):
        cell["id"] = f"{page.stem[:20]}-{number:03}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def with_pictures(page: Path) -> str:
    """Return the text of a page with each picture as data in its place."""

    def as_data(found: re.Match[str]) -> str:
        content = (page.parent / f"{found[2]}.{found[3]}").read_bytes()
        data = base64.b64encode(content).decode("ascii")
        return f"![{found[1]}](data:image/{TYPES[found[3]]};base64,{data})"

    return PICTURE.sub(as_data, page.read_text(encoding="utf-8"))


def notebook_text(page: Path) -> str:
    """Return a page as the text of an ``.ipynb`` file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


def write_all(folder: Path) -> None:
    """Write every notebook, beside what they use."""
    for name in ("examples", "experiments"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    for page in notebook_pages():
        (folder / f"{page.stem}.ipynb").write_text(notebook_text(page), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
