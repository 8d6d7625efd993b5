"""Count the words and pages of the site, as a visitor reads them.

``python -m tests.docs.words`` prints both for every page. A word is a token with a letter or a
digit, code and tables included; targets of links and pictures are left out.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import yaml
from tests.docs.site_hooks import ROOT, page_text

MOST_WORDS, MOST_PAGES, MOST_TABS = 55_000, 45, 6
TARGET = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*\)")


def navigation() -> list[dict[str, list[Any]]]:
    """Return the tabs of the site with their pages."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    tabs: list[dict[str, list[Any]]] = yaml.safe_load(text.partition("\nnav:\n")[2])
    return tabs


def pages_below(entries: list[Any]) -> list[str]:
    """Return the paths of all pages below entries of the navigation."""
    paths: list[str] = []
    for entry in entries:
        page = next(iter(entry.values())) if isinstance(entry, dict) else entry
        paths += pages_below(page) if isinstance(page, list) else [page]
    return paths


def words_of(path: str) -> int:
    """Return the number of words of a page, with what the site adds to it."""
    text = page_text(path, (ROOT / "docs" / path).read_text(encoding="utf-8"))
    seen = TARGET.sub(lambda link: "" if link[1] else link[2], text)
    return len(re.findall(r"\S*\w\S*", seen))


def count() -> dict[str, int]:
    """Return the number of words of every page in the navigation."""
    return {path: words_of(path) for path in pages_below(navigation())}


def main() -> None:
    """Print the words of every page, and both sums beside their limits."""
    counts = count()
    lines = [f"{words:7,} {path}" for path, words in counts.items()]
    lines.append(
        f"{sum(counts.values()):7,} of {MOST_WORDS:,} words on {len(counts)} of {MOST_PAGES} pages"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
