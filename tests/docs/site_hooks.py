"""What the site adds to the pages in ``docs/`` while MkDocs builds it.

The changelog, the results of the benchmarks and the documentation of public names are kept once,
where they belong; tutorials can be downloaded as notebooks; ``llms.txt`` lists all pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # MkDocs loads this file by its path

from tests.docs.notebooks import notebook_text  # noqa: E402

TUTORIAL = re.compile(r"tutorials/(\d\d-[\w-]+)\.md")
SKIPPED = ("#", "!", "|", "<")  # headings, pictures, tables
PUBLIC = ROOT / "src" / "discreet" / "__init__.py"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page with what is kept elsewhere."""
    path = page.file.src_uri
    tutorial = TUTORIAL.fullmatch(path)
    if path == "changelog.md":
        return changelog()
    if path == "benchmarks.md":
        return markdown + "\n" + without_title(ROOT / "benchmarks" / "RESULTS.md")
    if path == "api.md":
        return markdown + "\n" + public_names()
    if tutorial:
        head, _, rest = markdown.partition("\n")
        link = f'<a href="{tutorial[1]}.ipynb" download>Download this page as a notebook</a>'
        return f"{head}\n\n{link}\n{rest}"
    return markdown


def on_post_build(*, config: Any) -> None:
    """Write the notebooks beside their pages, and ``llms.txt``."""
    site = Path(config.site_dir)
    for page in sorted((ROOT / "docs" / "tutorials").glob("[0-9]*.md")):
        (site / "tutorials" / f"{page.stem}.ipynb").write_text(notebook_text(page), "utf-8")
    (site / "llms.txt").write_text(llms(config.nav, config.site_description), "utf-8")


def without_title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[2]


def changelog() -> str:
    """Return the changelog with links that start from ``docs/``."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.replace("](docs/", "](").replace("](benchmarks/RESULTS.md)", "](benchmarks.md)")


def public_names() -> str:
    """Return a directive for every public name, under the headings that the package gives them."""
    inside = PUBLIC.read_text(encoding="utf-8").partition("_HOME_OF_NAME = {")[2].partition("}")[0]
    lines = []
    for heading, name in re.findall(r'^    (?:# (.*)|"(\w+)": .*)$', inside, re.MULTILINE):
        lines.append(f"## {heading}\n" if heading else f"::: discreet.{name}\n")
    return "\n".join(lines)


def llms(nav: list[Any], description: str) -> str:
    """Return the list of pages for language models, as https://llmstxt.org describes it."""
    lines = ["# discreet", "", f"> {description}", ""]
    lines += ["Every page is also Markdown, in the folder docs of the source distribution.", ""]
    for section in nav:
        ((title, pages),) = section.items()
        lines += [f"## {title}", "", *_entries(pages), ""]
    return "\n".join(lines)


def _entries(pages: list[Any]) -> list[str]:
    found = []
    for entry in pages:
        title, page = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(page, list):
            found += _entries(page)
            continue
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        head = re.search(r"^# (.*)$", text, re.MULTILINE)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).split("\n\n")
        paragraphs = (part.strip() for part in prose if not part.strip().startswith(SKIPPED))
        paragraphs = (part for part in paragraphs if part)
        said = " ".join(next(paragraphs, "").split()).partition(". ")[0].rstrip(".:")
        said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", said)
        name = title or (head[1] if head else page)
        found.append(f"- [{name}]({page.removesuffix('.md')}.html): {said}.")
    return found
