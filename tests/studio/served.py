"""A server of Studio in a process of its own, and a browser's requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Client:
    """A browser: it keeps the cookie, and says which page its requests come from."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        given: Any = None,
        *,
        body: bytes | None = None,
        **headers: str,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        sent = {"Origin": f"http://127.0.0.1:{self.port}"} if method not in ("GET", "HEAD") else {}
        sent |= self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        if given is not None:
            body = json.dumps(given).encode()
        try:
            connection.request(method, path, body, {k: v for k, v in sent.items() if v is not None})
            found = connection.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        return self._sound("GET", path)

    def post(self, path: str, given: Any = None) -> Any:
        return self._sound("POST", path, {} if given is None else given)

    def delete(self, path: str) -> Any:
        return self._sound("DELETE", path)

    def upload(self, name: str, body: bytes, place: str = "/api/tables") -> Any:
        found = self.ask("POST", f"{place}?name={quote(name)}", body=body)
        assert found.status == 200, found.text
        return found.json

    def _sound(self, method: str, path: str, given: Any = None) -> Any:
        found = self.ask(method, path, given)
        assert found.status == 200, (method, path, found.status, found.text)
        return found.json

    def ended(self, run: str, within: float = 120) -> dict[str, Any]:
        """Wait for the end of a run."""
        limit = time.monotonic() + within
        while time.monotonic() < limit:
            found: dict[str, Any] = self.get(f"/api/runs/{run}")
            if found["state"] not in ("waiting", "running"):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{run} has not ended: {found}")

    def done(self, run: str) -> dict[str, Any]:
        """Wait for the end of a run that must succeed."""
        found = self.ended(run)
        assert found["state"] == "done", found
        return found

    def events(self, run: str) -> list[tuple[str, dict[str, Any]]]:
        """Follow a run to its end."""
        text = self.ask("GET", f"/api/runs/{run}/events").text
        blocks = [block for block in text.split("\n\n") if block.startswith("event: ")]
        found = []
        for block in blocks:
            event, data = block.split("\n", 1)
            found.append((event.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
        return found


@dataclass
class Served:
    """A running server."""

    process: subprocess.Popen[str]
    address: str  # with the one-time token
    logs: Path
    temporary: Path  # where its private folder is

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token_path(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.path}?{parts.query}"

    @property
    def private(self) -> Path:
        (found,) = self.temporary.glob("discreet-studio-*")
        return found

    def sign_in(self) -> Client:
        """Exchange the token for a cookie."""
        client = Client(self.port)
        found = client.ask("GET", self.token_path)
        assert found.status == 303 and found.headers["location"] == "/"
        client.headers["Cookie"] = found.headers["set-cookie"].partition(";")[0]
        return client

    def memory(self) -> int:
        """Return the bytes of memory that the server holds."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", text)
        return int(kilobytes) * 1024

    def processor_seconds(self) -> float:
        """Return the seconds of a processor that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(folder: Path, *arguments: str, killed: bool = False) -> Iterator[Served]:
    """Start ``discreet studio`` and stop it with Ctrl-C, which must leave nothing.

    ``killed`` says that the test kills it.
    """
    temporary = folder / "temporary"
    temporary.mkdir()
    logs = folder / "server.log"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(temporary)}
    environment["XDG_DATA_HOME"] = str(folder / "data")
    with logs.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "studio", "--no-browser", *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            stdin=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=folder,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("Studio: http://127.0.0.1:"), (line, logs.read_text())
            yield Served(process, line.split()[1], logs, temporary)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                status = process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            finally:
                process.stdout.close()
    if killed:
        assert status == -signal.SIGKILL
        return
    assert status == 0, logs.read_text()
    assert list(temporary.iterdir()) == []
