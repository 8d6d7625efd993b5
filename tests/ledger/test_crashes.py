"""Killed at any instant, or two at once: the ledger and the folders always agree."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.ledger.publisher import job_of, publish_next
from tests.saving import UNATTACKED

from discreet.api.publish import publish
from discreet.errors import ReleaseError
from discreet.ledger.ledger import Ledger

KILLS = int(os.environ.get("DISCREET_KILLS", "40"))
PUBLISHER = Path(__file__).with_name("publisher.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def server():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, str(PUBLISHER)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    yield process
    process.stdin.close()
    process.wait(60)
    process.stdout.close()


def start(server, folder: Path, settings, releases: int = 1000) -> int:
    order = {
        "folder": str(folder),
        "ledger": settings.model_dump(mode="json", exclude_none=True),
        "releases": releases,
    }
    server.stdin.write(json.dumps(order) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


def require_agreement(settings, folder: Path) -> int:
    """The folders that stand are exactly those that the ledger knows."""
    with Ledger.open(settings) as ledger:
        ledger.settled()
        assert ledger.verify() == []
        known = {Path(entry.folder).name for entry in ledger.entries()}
    assert {path.name for path in folder.glob("r*") if path.is_dir()} == known
    return len(known)


def test_killed_at_random_instants(settings, tmp_path, server):
    draw = random.Random(7)
    count = 0
    for _ in range(KILLS):
        (tmp_path / "at-work").unlink(missing_ok=True)
        child = start(server, tmp_path, settings)
        end = time.monotonic() + 60
        while not (tmp_path / "at-work").exists() and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(draw.random() * 0.4)
        os.kill(child, signal.SIGKILL)
        assert server.stdout.readline() == "ended\n"
        after = require_agreement(settings, tmp_path)
        assert after > count
        count = after
    job = job_of(settings.model_dump(exclude_none=True))
    assert publish_next(job, tmp_path) == count + 1
    assert require_agreement(settings, tmp_path) == count + 1


@pytest.mark.parametrize("moment", ["announced", "moved"])
def test_killed_between_two_moves(settings, tmp_path, moment, monkeypatch):
    """The two instants that matter: announced and not moved; moved and not settled."""
    job = job_of(settings.model_dump(exclude_none=True))
    publish_next(job, tmp_path)

    class PowerCut(BaseException):
        pass

    def cut(*_: object) -> None:
        raise PowerCut

    if moment == "announced":
        monkeypatch.setattr("discreet.io.atomic._put_in_place", cut)
    else:
        monkeypatch.setattr(Ledger, "settle", cut)
    monkeypatch.setattr(Ledger, "withdraw", lambda *_: None)  # a dead process withdraws nothing
    with pytest.raises(PowerCut):
        publish_next(job, tmp_path)
    monkeypatch.undo()
    assert require_agreement(settings, tmp_path) == (1 if moment == "announced" else 2)
    publish_next(job, tmp_path)
    assert require_agreement(settings, tmp_path) == (2 if moment == "announced" else 3)


def test_two_publishers_at_once_lose_nothing(settings, tmp_path):
    code = (
        "import sys, json; from pathlib import Path\n"
        "from tests.ledger.publisher import job_of, table\n"
        "from discreet.pipeline.run import make_release\n"
        "from discreet.pipeline.record import open_ledger\n"
        "job, folder, who = job_of(json.loads(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]\n"
        "for turn in range(4):\n"
        "    with open_ledger(job) as ledger, ledger.writing():\n"
        "        number = len(ledger.entries()) + 1\n"
        "        release = make_release(table(number), job, ledger=ledger)\n"
        "        release.save(folder / f'r{number}', report=False, ledger=ledger)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    written = json.dumps(settings.model_dump(mode="json", exclude_none=True))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, written, str(tmp_path), who],
            env=environment, stderr=subprocess.PIPE, text=True,
        )
        for who in "ab"
    ]  # fmt: skip
    for run in runs:
        _, message = run.communicate(timeout=120)
        assert run.returncode == 0, message
    assert require_agreement(settings, tmp_path) == 8


def test_a_release_that_does_not_know_the_last_one_is_refused(settings, tmp_path):
    job = job_of(settings.model_dump(exclude_none=True))
    from tests.ledger.publisher import table

    late = publish(table(1), job)
    publish_next(job, tmp_path)
    with pytest.raises(ReleaseError, match="in the meantime"):
        late.save(tmp_path / "late", **UNATTACKED)
    assert require_agreement(settings, tmp_path) == 1
    assert not (tmp_path / "late").exists()
