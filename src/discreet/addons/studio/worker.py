"""The process of one piece of long work: ``python -m discreet.addons.studio.worker``.

One line of JSON on standard input says what to do; lines on standard output say how far it is and
how it ended. Nothing else is written there, and nothing to standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

BETWEEN = 0.1  # seconds between two lines about progress


class Teller:
    """Lines to the server."""

    def __init__(self) -> None:
        self._file = os.dup(1)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        self._told = 0.0
        self._phase = ""
        self._lock = threading.Lock()

    def say(self, said: dict[str, Any]) -> None:
        """Write one line."""
        line = json.dumps(said, default=str).encode() + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._file, line) :]

    def progress(self, phase: str, share: float) -> None:
        """Tell the phase and how much of it is done, a few times a second."""
        now = time.monotonic()
        if phase == self._phase and now - self._told < BETWEEN:
            return
        self._phase, self._told = phase, now
        self.say({"phase": phase, "share": max(0.0, min(1.0, float(share)))})


def _end_with_server() -> None:
    """End this process when the server closes its input, or is gone."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(2)
    os._exit(1)


def _stop(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _first_line() -> str:
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 65536)
        if not byte:
            break
        line += byte
    return line.decode()


def main() -> None:
    """Do the work of one request."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    teller = Teller()
    status = 0
    try:
        request = json.loads(_first_line())
        threading.Thread(target=_end_with_server, daemon=True).start()
        from discreet.addons.studio.work import WORK
        from discreet.regular_files import unpacking_at_most
        from discreet.statements import speaking

        with unpacking_at_most(request["unpacked_limit"]), speaking(request["language"]):
            result = WORK[request["kind"]](request, Path.cwd(), teller.progress)
            (Path.cwd() / "result.json").write_text(_json(result), encoding="utf-8")
        teller.say({"end": "done"})
    except KeyboardInterrupt:
        teller.say({"end": "cancelled"})
    except BaseException as error:
        from discreet.addons.studio.answers import described

        _, described_error = described(error)
        refused = described_error["kind"] in ("promise", "infeasible", "risk")
        teller.say({"end": "refused" if refused else "failed", "error": described_error})
        status = 1
    sys.stdout.flush()
    os._exit(status)  # interrupted work may still run in a thread


def _json(data: Any) -> str:
    from discreet.addons.studio.answers import as_json

    return bytes(as_json(data).body).decode()


if __name__ == "__main__":
    main()
