"""Ask the search of the built site what people ask, in a headless Chromium.

``python -m tests.docs.search site`` prints the first pages that it finds for every question, and
ends with 1 where the page with the answer is not among them: the first for the questions of
guides, one of three for those of ten kinds of people.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.report.browser import installed, running

FIRST, SHOWN = 1, 3
PATIENCE = 30.0  # seconds for an answer on a busy machine


@dataclass(frozen=True)
class Question:
    """What somebody asks, the words that are typed, and the page with the answer."""

    person: str
    asks: str
    words: str
    page: str
    within: int = SHOWN


QUESTIONS = (
    Question("anyone", "", "how to sign a release", "trust.html#sign-and-check", FIRST),
    Question("anyone", "", "what does do not publish mean", "repair.html", FIRST),
    Question("anyone", "", "differential privacy", "trust.html#not-covered", FIRST),
    Question("anyone", "", "memory for a large table", "spark.html", FIRST),
    Question("steward of a hospital", "The verdict is Do not publish. What do I change?",
             "do not publish what to change", "repair.html"),
    Question("auditor of a regulator", "Can I check a release without installing your software?",
             "verify without discreet", "trust.html#verify-without-discreet"),
    Question("engineer of pipelines", "It runs every night: which exit status means what?",
             "pipeline exit status", "python.html"),
    Question("researcher in privacy", "Where do you differ from the paper on ℓ-diversity?",
             "l-diversity paper errata", "papers/l-diversity.html"),
    Question("lawyer", "Is the output anonymous in law?", "anonymous GDPR", "for-boards.html"),
    Question("member of an ethics board", "What can an acquaintance of a participant still learn?",
             "what an attacker knows", "attacks.html#who-attacks"),
    Question("statistician of a survey", "Rows are a sample with weights: is k of the population?",
             "sampling weights population", "populations.html"),
    Question("manager of clinical data", "A patient has many rows. Who is protected?",
             "several rows of a patient", "persons.html"),
    Question("security officer", "Does anything leave the machine, and who can read the files?",
             "does anything leave the machine", "trust.html#does-anything-leave-the-machine"),
    Question("analyst who received a release", "What do counts of it cost me?",
             "error of counts", "measures.html"),
)  # fmt: skip


def served(site: Path) -> ThreadingHTTPServer:
    """Serve a folder on this machine, for the search works in no page that is opened as a file."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def listed_pages(site: Path, words: list[str]) -> dict[str, list[str]]:
    """Return the pages with their anchors that the search lists for each text, best first."""
    program = installed()
    assert program is not None, "no Chromium is installed"
    server = served(site)
    home = f"http://127.0.0.1:{server.server_port}/"
    listed: dict[str, list[str]] = {}
    try:
        with running(program) as browser:
            page = browser.open(site / "404.html")
            for text in words:
                url = f"{home}index.html?q={text.replace(' ', '+')}"
                browser.call("Page.navigate", {"url": url}, page.session)
                links = (
                    "Array.from(document.querySelectorAll('.md-search-result__item a'),a=>a.href)"
                )
                deadline = time.monotonic() + PATIENCE
                found: list[str] = []
                while not found and time.monotonic() < deadline:
                    time.sleep(0.3)
                    there = page.evaluate(f"location.href.includes({json.dumps(text.split()[0])})")
                    found = page.evaluate(links) if there else []
                time.sleep(0.3)
                found = page.evaluate(links)
                listed[text] = [link.removeprefix(home).replace("?h=", "\0") for link in found]
                listed[text] = [without_marks(link) for link in listed[text]]
    finally:
        server.shutdown()
    return listed


def without_marks(link: str) -> str:
    """Return a link without the words that the page is to mark."""
    page, _, rest = link.partition("\0")
    _, mark, anchor = rest.partition("#")
    return page + mark + anchor


def main() -> int:
    """Print what is found for every question; return 1 where an answer is not."""
    site = Path(sys.argv[1])
    if installed() is None:
        sys.stdout.write("No Chromium: the search was not tried.\n")
        return 0
    found = listed_pages(site, [question.words for question in QUESTIONS])
    status = 0
    for question in QUESTIONS:
        pages = list(dict.fromkeys(found[question.words]))
        near = pages[: question.within] if question.within > FIRST else pages[:FIRST]
        right = any(page.startswith(question.page.partition("#")[0]) for page in near)
        status |= not right
        mark = "yes" if right else "NO "
        sys.stdout.write(f"{mark} {question.words}: {', '.join(pages[:4])}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
