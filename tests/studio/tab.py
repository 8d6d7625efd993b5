"""A tab of the project's headless Chromium that a test drives as a person would.

Clicks and keys go through the browser's own input, so that what is covered or cannot be focused
fails a test.
"""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

from tests.report.browser import Browser, Opened

KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40, "ArrowRight": 39, "s": 83,
    "x": 88, "c": 67,
}  # fmt: skip


class Tab(Opened):
    """A tab with Studio."""

    @classmethod
    def new(cls, browser: Browser, address: str, *, width: int = 1200, dark: bool = False) -> Tab:
        """Open an address in a new tab."""
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = cls(browser, session["sessionId"])
        tab.target = target
        browser._pages[tab.session] = tab
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            tab.call(f"{domain}.enable")
        tab.resize(width)
        tab.shade(dark)
        tab.call("Page.navigate", url=address)
        return tab

    target: str = ""

    def call(self, method: str, **options: Any) -> Any:
        """Give the tab an order."""
        return self.browser.call(method, options, self.session)

    def close(self) -> None:
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def resize(self, width: int, height: int = 900) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip

    def shade(self, dark: bool, media: str = "") -> None:
        """Prefer light or dark, on screen or in print."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme, media=media)

    def run(self, expression: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str, seconds: float = 60) -> Any:
        """Wait until an expression is true, and return it."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            found = self.run(
                f"(() => {{ try {{ const found = {condition}; return typeof found === 'object' "
                "? found !== null : found } catch { return null } })()"
            )
            if found:
                return found
            time.sleep(0.05)
        shown = self.run("document.body.innerText")[:2000]
        raise AssertionError(f"Not within {seconds} s: {condition}\n{shown}\n{self.errors}")

    def see(self, selector: str, seconds: float = 60) -> None:
        """Wait until an element is shown."""
        self.wait(f"document.querySelector({json.dumps(selector)})?.checkVisibility()", seconds)

    def ready(self, screen: str, language: str = "en") -> None:
        """Wait until a screen is drawn."""
        self.wait(f"document.getElementById('main').dataset.ready === '{screen} {language}'")

    def text(self, selector: str = "body") -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def go(self, screen: str, table: str = "", query: str = "") -> None:
        """Open a screen by its address, and wait for it."""
        path = "/".join(part for part in (screen, table) if part)
        if self.run("location.hash") == f"#/{path}{query}":
            self.reload()
            return
        self.run("delete document.getElementById('main').dataset.ready")
        self.run(f"location.hash = '#/{path}{query}'")
        self.wait(f"(document.getElementById('main').dataset.ready ?? '').startsWith('{screen}')")

    def part(self, key: str) -> str:
        """Return a part of the address: the table, or a value behind the question mark."""
        address = str(self.run("location.hash"))
        path, _, query = address.removeprefix("#/").partition("?")
        if key == "table":
            return path.split("/")[1]
        return dict(one.split("=", 1) for one in query.split("&") if one).get(key, "")

    def click(self, selector: str) -> None:
        """Click in the middle of an element, which nothing may cover."""
        self.see(selector)
        place = self.run(
            f"""(() => {{
              const e = document.querySelector({json.dumps(selector)});
              e.scrollIntoView({{block: 'center', inline: 'center'}});
              const box = e.getBoundingClientRect();
              const at = [box.x + box.width / 2, box.y + box.height / 2];
              const top = document.elementFromPoint(...at);
              return [...at, e.contains(top)];
            }})()"""
        )
        assert place[2], f"{selector} is covered"
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                clickCount=1,
            )  # fmt: skip

    def fill(self, selector: str, text: str) -> None:
        """Type text into a field, in the place of what it has."""
        self.see(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.call("Input.insertText", text=text)
        self.run(
            f"document.querySelector({json.dumps(selector)})"
            ".dispatchEvent(new Event('change', {bubbles: true}))"
        )

    def choose(self, selector: str, value: str) -> None:
        """Choose an option."""
        self.see(selector)
        self.run(
            f"(e => {{ e.value = {json.dumps(value)}; "
            "e.dispatchEvent(new Event('change', {bubbles: true})) })"
            f"(document.querySelector({json.dumps(selector)}))"
        )

    def role(self, column: str, role: str) -> None:
        """Give a column a role by its segment, and wait until the server has it."""
        line = f"tr[data-column={json.dumps(column)}]"
        before = int(self.run("document.querySelector('.body').dataset.revision ?? 0"))
        if self.run(f"document.querySelector({json.dumps(line)}).dataset.now") == role:
            return
        self.click(f'{line} label[data-role="{role}"]')
        self.wait(f"Number(document.querySelector('.body').dataset.revision) > {before}")
        assert self.run(f"document.querySelector({json.dumps(line)}).dataset.now") == role

    def press(self, key: str) -> None:
        """Press a key."""
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        down = {"type": "keyDown" if text else "rawKeyDown", **code}
        self.call("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def upload(self, selector: str, path: Path) -> None:
        """Choose a file in a field for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def reload(self) -> None:
        """Load the page again, and wait for its screen."""
        screen = self.run("document.querySelector('.body').dataset.screen")
        self.run("delete document.getElementById('main').dataset.ready")
        self.call("Page.reload")
        self.wait(f"document.getElementById('main')?.dataset.ready?.startsWith('{screen}')")

    def picture(self, path: Path, height: int | None = None) -> None:
        """Save a PNG of the page in a window of a height; of all of it if none is given."""
        self.run("scrollTo(0, 0)")
        width, before = self.run("[innerWidth, innerHeight]")
        self.resize(width, height or self.run("document.documentElement.scrollHeight"))
        self.run("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        made = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(made["data"]))
        self.resize(width, before)


def signed_in(browser: Browser, address: str) -> str:
    """Use the address of a server in a tab; return the address for further tabs."""
    tab = Tab.new(browser, address)
    tab.wait("document.getElementById('main')?.dataset.ready?.startsWith('table')")
    tab.close()
    return address.partition("?")[0]
