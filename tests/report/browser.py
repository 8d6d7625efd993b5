"""A headless Chromium that is spoken to by the DevTools protocol through two pipes.

No driver, no port and no package: the browser reads its orders from one pipe and answers into the
other. It has a folder of its own and goes nowhere by itself.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--no-default-browser-check", "--remote-debugging-pipe", "about:blank",
)  # fmt: skip
PATIENCE = 60.0  # seconds for an answer on a busy machine


def installed() -> str | None:
    """The browser's program, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Opened:
    """A page that was opened: what it asked for, and what went wrong in it."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression on the page."""
        found = self.browser.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True},
            self.session,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def resize(self, width: int) -> None:
        """Give the window another width: the page is laid out anew, and not loaded again."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.call("Emulation.setDeviceMetricsOverride", size, self.session)

    def print_layout(self, width: int = 680) -> None:
        """Lay the page out for paper; 680 pixels are those of A4 without its margins."""
        self.resize(width)
        self.browser.call("Emulation.setEmulatedMedia", {"media": "print"}, self.session)

    def figures(self) -> dict[str, str]:
        """The headline figures that the page states, by their keys."""
        return dict(
            self.evaluate(
                "Array.from(document.querySelectorAll('[data-figure]'),"
                "card => [card.dataset.figure, card.dataset.value])"
            )
        )

    def shown(self, key: str) -> str:
        """A headline figure as a person reads it."""
        return str(self.evaluate(f"document.querySelector('[data-figure={key}] .value').innerText"))

    def picture(self, path: Path, height: int | None = None) -> None:
        """A PNG of the page from its top, whole if no height is given."""
        width = self.evaluate("document.documentElement.clientWidth")
        whole = self.evaluate("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": height or whole, "scale": 1}
        options = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        made = self.browser.call("Page.captureScreenshot", options, self.session)
        path.write_bytes(base64.b64decode(made["data"]))


class Browser:
    """A running browser."""

    def __init__(self, orders: int, answers: int) -> None:
        self._orders, self._answers = orders, answers
        self._number = 0
        self._rest = b""
        self._pages: dict[str, Opened] = {}

    def open(self, page: Path, *, width: int = 1100, dark: bool = False) -> Opened:
        """Open a file and wait until it is there."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        opened = Opened(self, session["sessionId"])
        self._pages[opened.session] = opened
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable", {}, opened.session)
        opened.resize(width)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", {"features": scheme}, opened.session)
        self.call("Page.navigate", {"url": page.resolve().as_uri()}, opened.session)
        for _ in range(1500):
            if opened.evaluate("location.protocol + document.readyState") == "file:complete":
                return opened
            time.sleep(0.02)
        raise TimeoutError(f"{page} did not load.")

    def call(self, method: str, options: dict[str, Any], session: str | None = None) -> Any:
        """Send one order and wait for its answer; note down what happens meanwhile."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": options}
        if session is not None:
            order["sessionId"] = session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._happened(message)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], PATIENCE)
            read = os.read(self._answers, 2**16) if ready else b""
            if not read:
                raise TimeoutError("The browser does not answer.")
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _happened(self, event: dict[str, Any]) -> None:
        page = self._pages.get(event.get("sessionId", ""))
        if page is None:
            return
        facts = event["params"]
        match event["method"]:
            case "Network.requestWillBeSent":
                page.requests.append(facts["request"]["url"])
            case "Runtime.exceptionThrown":
                page.errors.append(facts["exceptionDetails"]["text"])
            case "Runtime.consoleAPICalled" if facts["type"] in ("error", "warning", "assert"):
                page.errors.append(str(facts["args"]))
            case "Log.entryAdded" if facts["entry"]["level"] in ("error", "warning"):
                page.errors.append(facts["entry"]["text"])


@contextmanager
def running(program: str) -> Iterator[Browser]:
    """Start a browser with a fresh profile; it ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-browser-"))
    (order_end, orders), (answers, answer_end) = os.pipe(), os.pipe()
    # The browser wants its pipes as 3 and 4, which may be taken here: move them out of the way.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (order_end, answer_end)]
    moves: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, ends[0], 3),
        (os.POSIX_SPAWN_DUP2, ends[1], 4),
    ]
    command = [program, f"--user-data-dir={folder}", *FLAGS]
    process = os.posix_spawn(program, command, dict(os.environ), file_actions=moves)
    for end in (order_end, answer_end, *ends):
        os.close(end)
    try:
        yield Browser(orders, answers)
    finally:
        os.close(orders)  # it ends when nobody speaks to it any more
        _end(process)
        os.close(answers)
        shutil.rmtree(folder, ignore_errors=True)


def _end(process: int) -> None:
    for _ in range(100):
        if os.waitpid(process, os.WNOHANG)[0]:
            return
        time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
