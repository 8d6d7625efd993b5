"""Long work in processes of their own: started, followed, cancelled, and forgotten.

A worker is a new Python (not a fork, which hangs where Polars has threads). It gets one line of
JSON, writes lines about its progress, and leaves its results as files in the folder of the run. It
ends by itself when its input closes, so that a killed server leaves no worker behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import discreet
from discreet.addons.studio.answers import RefusedError
from discreet.addons.studio.private_folder import PrivateFolder
from discreet.io.atomic import clear_abandoned

AT_ONCE = 2  # workers; more would only slow each other down
PATIENCE = 1.2  # seconds between asking a worker to end and ending it
RESULT = "result.json"
ENDED = ("done", "failed", "refused", "cancelled")


class StudioRun:
    """One run: what it does, how far it is, and how it ended."""

    def __init__(self, number: str, kind: str, folder: Path, request: Mapping[str, Any]) -> None:
        self.number, self.kind, self.folder = number, kind, folder
        self.table: str | None = None
        self.release: str | None = None
        self.request = dict(request)
        self.mapping: dict[str, Any] | None = None  # the job as the page has it
        self.version = 0  # counts changes, for pages that follow
        self._state, self._phase, self._share = "waiting", "starting", 0.0
        self._error: dict[str, Any] | None = None
        self._begun = time.monotonic()
        self._seconds: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def state(self) -> str:
        return self._state

    @property
    def ended(self) -> bool:
        return self._state in ENDED

    def describe(self, *, with_result: bool = True) -> dict[str, Any]:
        """Return the state of the run, with its result once it has ended."""
        seconds = time.monotonic() - self._begun if self._seconds is None else self._seconds
        phase = self._phase
        return {
            "run": self.number,
            "table": self.table,
            "release": self.release,
            "kind": self.kind,
            "state": self._state,
            "phase": phase,
            "text": phase[:1].upper() + phase[1:],
            "share": self._share,
            "seconds": round(seconds, 1),
            "budget": self.request.get("budget"),
            "error": self._error,
            "result": self.result() if with_result and self._state == "done" else None,
        }

    def result(self) -> Any:
        """Return what the worker found."""
        return self.read(RESULT)

    def read(self, name: str) -> Any:
        """Return a file of results; refuse where the run has none."""
        self.require_done()
        place = self.folder / name
        if not place.is_file():
            raise RefusedError(404, f"A run of kind '{self.kind}' has no such result.")
        return json.loads(place.read_text(encoding="utf-8"))

    def file(self, name: str) -> Path:
        """Return the place of a file or folder of results."""
        self.require_done()
        place = self.folder / name
        if not place.exists():
            raise RefusedError(404, f"A run of kind '{self.kind}' has no such result.")
        return place

    def require_done(self) -> None:
        """Refuse a run that has not ended well."""
        if not self.ended:
            raise RefusedError(409, "The run has not ended yet.")
        if self._state != "done":
            raise RefusedError(409, "The run has no result: it failed or was cancelled.")

    def follow(self, places: threading.Semaphore) -> None:
        """Start the worker when a place is free, and follow it to its end."""
        with places:
            with self._lock:
                if self.ended:
                    return
                self._process = _worker(self.folder)
                self._state, self.version = "running", self.version + 1
            process = self._process
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(json.dumps(self.request).encode() + b"\n")
                process.stdin.flush()
            except OSError:
                pass  # it ended at once; its end is reported below
            for line in process.stdout:
                self._hear(line)
            process.wait()
            process.stdin.close()
            process.stdout.close()
            if not self.ended:
                defect = "The worker ended unexpectedly; the machine may lack memory."
                self._end("failed", {"error": f"{defect} Nothing was published.", "kind": "defect"})

    def _hear(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if "end" in message:
            self._end(message["end"], message.get("error"))
        elif not self.ended:
            self._phase, self._share = str(message["phase"]), float(message["share"])
            self.version += 1

    def _end(self, state: str, error: dict[str, Any] | None = None) -> None:
        with self._lock:
            if self.ended:
                return
            self._seconds = time.monotonic() - self._begun
            self._error, self._state = error, state
            self._share = 1.0 if state == "done" else self._share
            self.version += 1
        self._forget_entry()

    def cancel(self) -> None:
        """End the worker within two seconds, and remove what it has written."""
        self._end("cancelled")
        process = self._process
        if process is not None and process.poll() is None:
            _ask_to_end(process)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.wait()
                output = self.request.get("output")
                if output is not None:
                    clear_abandoned(Path(output))
        if self._state == "cancelled":
            shutil.rmtree(self.folder, ignore_errors=True)
            self._forget_entry()

    def _forget_entry(self) -> None:
        """Leave nothing in the library of a release that did not come about."""
        entry = self.request.get("entry")
        if entry is not None and self._state != "done":
            shutil.rmtree(entry, ignore_errors=True)


def _worker(folder: Path) -> subprocess.Popen[bytes]:
    source = str(Path(discreet.__file__).resolve().parents[1])
    others = [
        str(Path(one).resolve())
        for one in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if one
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([source, *others]))}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "discreet.addons.studio.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it may quote cells
        cwd=folder,
        env=environment,
        start_new_session=True,  # Ctrl-C is for the server, which ends its workers
    )


def _ask_to_end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a worker and all that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


class StudioRuns:
    """All runs of a server, by number."""

    def __init__(self, private: PrivateFolder, unpacked_limit: int) -> None:
        self._private = private
        self._unpacked_limit = unpacked_limit  # bytes that a worker unpacks a file to
        self._places = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._made = 0
        self._runs: dict[str, StudioRun] = {}

    def __getitem__(self, number: str) -> StudioRun:
        run = self._runs.get(number)
        if run is None:
            raise RefusedError(404, "There is no such run; it may have been removed.")
        return run

    def __iter__(self) -> Any:
        return iter(list(self._runs.values()))

    @property
    def active(self) -> bool:
        """Whether some run has not ended."""
        return any(not run.ended for run in self)

    def start(
        self,
        kind: str,
        request: Mapping[str, Any],
        *,
        table: str | None = None,
        release: str | None = None,
    ) -> StudioRun:
        """Start a run."""
        with self._lock:
            self._made += 1
            number = f"u{self._made}"
        folder = self._private.new(number)
        run = StudioRun(
            number, kind, folder, {"kind": kind, **request, "unpacked_limit": self._unpacked_limit}
        )
        run.table, run.release = table, release
        self._runs[number] = run
        threading.Thread(
            target=run.follow, args=(self._places,), name=f"run {number}", daemon=True
        ).start()
        return run

    def remove(self, number: str) -> None:
        """Cancel a run, and remove its results."""
        run = self[number]
        run.cancel()
        del self._runs[number]
        shutil.rmtree(run.folder, ignore_errors=True)

    def of(self, table: str | None = None, release: str | None = None) -> list[StudioRun]:
        """Return the runs of a table or release; all without either."""
        return [
            run for run in self if table in (None, run.table) and release in (None, run.release)
        ]

    def close(self) -> None:
        """End all workers."""
        for run in self:
            run.cancel()
