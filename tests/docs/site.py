"""Check the built site: its HTML, its links and anchors, and that it asks no other host.

``python -m tests.docs.site site`` prints every problem and ends with 1 where there is one.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import html5lib

# Attributes by which a browser fetches something without being asked.
FETCHED = {"src", "srcset", "data", "poster", "action", "background"}
FETCHING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch"}
# html5lib knows no elements and attributes after 2012; these errors are of the form, not of tags.
HARMLESS = {"expected-doctype-but-got-chars"}


def problems(site: Path) -> list[str]:
    """Return what is wrong with a site, a line each."""
    found: list[str] = []
    pages = {path: page_of(path, found) for path in sorted(site.resolve().rglob("*.html"))}
    anchors = {path: {one.get("id") for one in page.iter()} for path, page in pages.items()}
    for path, page in pages.items():
        if path.name == "404.html":  # served at any address
            continue
        for element in page.iter():
            found += [
                f"{path}: asks another host: {link}"
                for link in fetched_by(element)
                if urlsplit(link).netloc
            ]
            for name in ("href", "src"):
                target = element.get(name)
                if target is not None:
                    found += broken(path, target, anchors)
        ids = Counter(element.get("id") for element in page.iter() if element.get("id"))
        found += [f"{path}: the id {name} twice" for name, count in ids.items() if count > 1]
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        if "url(http" in text or "@import" in text:
            found.append(f"{path}: asks another host")
    for path in site.rglob("*.ipynb"):
        json.loads(path.read_text(encoding="utf-8"))
    return found


def page_of(path: Path, found: list[str]) -> Element:
    """Parse a page as a browser does, and collect the errors that a browser would repair."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    page: Element = parser.parse(path.read_text(encoding="utf-8"))
    for (line, _), code, _ in parser.errors:
        if code not in HARMLESS:
            found.append(f"{path}:{line}: {code}")
    return page


def fetched_by(element: Element) -> list[str]:
    """Return what a browser fetches because of an element."""
    links = [element.get(name, "") for name in FETCHED]
    if element.tag == "link" and set(element.get("rel", "").split()) & FETCHING_LINKS:
        links.append(element.get("href", ""))
    return [link for link in links if link]


def broken(page: Path, target: str, anchors: dict[Path, set[str | None]]) -> list[str]:
    """Return why a link of a page leads nowhere, if it does."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return []
    path = Path(os.path.normpath(page.parent / unquote(parts.path))) if parts.path else page
    if path not in anchors:
        path = path / "index.html" if path.is_dir() else path
        if not path.exists():
            return [f"{page}: leads nowhere: {target}"]
    known = anchors.get(path)
    if parts.fragment and known is not None and unquote(parts.fragment) not in known:
        return [f"{page}: no such anchor: {target}"]
    return []


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.exit(bool(wrong))
