"""What the site adds to the pages in ``docs/`` while MkDocs builds it.

Rows of the map of the papers come from ``docs/papers/map.csv``; search ranks guides above research
and reference; pages with Python can be downloaded as notebooks; ``llms.txt`` lists all pages.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]  # MkDocs loads this file by its path

from tests.docs.notebooks import notebook_pages, notebook_text  # noqa: E402

MAP = ROOT / "docs" / "papers" / "map.csv"
PLACE = re.compile(r"^<!-- map: ([\w-]+)(?:, (.*))? -->$", re.MULTILINE)
SKIPPED = ("#", "!", "|", "<", "- ")  # headings, pictures, tables, lists
RANKS = {"Start": 3, "Guides": 3, "Methods": 1, "Reports and attacks": 2}
OF_PAGES = {"trust.md": 5}  # pages that answer questions of all tabs


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return the text of a page with what is kept elsewhere, and rank it for the search."""
    path = page.file.src_uri
    page.meta.setdefault("search", {})["boost"] = rank_of(path, config.nav)
    text = page_text(path, markdown)
    if ROOT / "docs" / path in notebook_pages():
        head, _, rest = text.partition("\n")
        link = f'<a href="{Path(path).stem}.ipynb" download>Download this page as a notebook</a>'
        return f"{head}\n\n{link}\n{rest}"
    return text


def on_post_build(*, config: Any) -> None:
    """Write the notebooks beside their pages, and ``llms.txt``."""
    site = Path(config.site_dir)
    for page in notebook_pages():
        place = (site / page.relative_to(ROOT / "docs")).with_suffix(".ipynb")
        place.write_text(notebook_text(page), "utf-8")
    (site / "llms.txt").write_text(llms(config.nav, config.site_description), "utf-8")


def page_text(path: str, markdown: str) -> str:
    """Return a page with the rows of the map of the papers in their place."""
    if not path.startswith("papers/"):
        return markdown
    return PLACE.sub(lambda place: map_table(place[1], place[2]), markdown)


def map_rows(paper: str) -> list[dict[str, str]]:
    """Return the rows of the map for a paper."""
    with MAP.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["paper"] == paper]


def map_table(paper: str, chapter: str | None) -> str:
    """Return the items of a paper, or of its chapters, with verdict and test."""
    rows = [row for row in map_rows(paper) if row["chapter"].startswith(chapter or "")]
    lines = [f"| {row['item']} | {row['verdict']} | {row['test']} |" for row in rows]
    return "\n".join(["| item | verdict | test |", "| --- | --- | --- |", *lines])


def rank_of(path: str, nav: list[Any]) -> float:
    """Return how much the search prefers a page, by its tab."""
    for tab in nav if path not in OF_PAGES else ():
        ((title, entries),) = tab.items()
        if path in str(entries):
            return RANKS.get(title, 0.5)
    return OF_PAGES.get(path, 0.5)


def llms(nav: list[Any], description: str) -> str:
    """Return the list of pages for language models, as https://llmstxt.org describes it."""
    lines = ["# discreet", "", f"> {description}", ""]
    lines += ["Every page is also Markdown, in the folder docs of the source distribution.", ""]
    for section in nav:
        ((title, pages),) = section.items()
        lines += [f"## {title}", "", *_entries(pages), ""]
    return "\n".join(lines)


def _entries(pages: list[Any]) -> list[str]:
    lines = []
    for entry in pages:
        title, page = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(page, list):
            lines += _entries(page)
            continue
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        head = re.search(r"^# (.*)$", text, re.MULTILINE)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).split("\n\n")
        paragraphs = (part.strip() for part in prose if not part.strip().startswith(SKIPPED))
        paragraphs = (part for part in paragraphs if part)
        sentence = " ".join(next(paragraphs, "").split()).partition(". ")[0].rstrip(".:")
        sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
        name = title or (head[1] if head else page)
        lines.append(f"- [{name}]({page.removesuffix('.md')}.html): {sentence}.")
    return lines
