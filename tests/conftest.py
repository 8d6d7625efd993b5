"""How generated examples are drawn, a browser, and a PostgreSQL on loopback for the tests alone."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import experiments.rivals  # noqa: F401 (methods of comparisons, which tests of papers name)
import pytest
from hypothesis import settings
from tests.report.browser import Browser, installed, running

from discreet.attacks.registry import ATTACKS
from discreet.methods.registry import METHODS

# A verdict on a commit must not depend on the draw: the same commit sees the same examples.
# `make explore` draws new ones, to find what these miss.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("exploring", print_blob=True)
settings.load_profile("repeatable")

# Tests of exact files need the same order each time; the tests of the order itself unset it.
os.environ["DISCREET_INSECURE_FIXED_ORDER"] = "1"

# A shell's background jobs ignore Ctrl-C, and so would the tests that interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

USER = "discreet"
# Workers of pytest-xdist take whole files. One that began the longest last would be waited for.
LONGEST = (
    "engines/test_both.py",
    "engines/test_cluster.py",
    "worlds/test_worlds.py",
    "engines/test_recorded.py",
    "engines/test_matrix.py",
    "docs/test_notebooks.py",
    "studio/test_pages_flow.py",
    "studio/test_pages_access.py",
    "studio/test_walks.py",
    "docs/test_walk.py",
)
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files; ``make test`` keeps this order."""
    places = {TESTS / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(autouse=True)
def _registered_for_one_test() -> Iterator[None]:
    """What a test registers, such as an experiment's methods, is known to that test alone."""
    methods, attacks = dict(METHODS._registered), dict(ATTACKS._registered)
    yield
    METHODS._registered, ATTACKS._registered = methods, attacks


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; every test opens pages or tabs of its own in it."""
    program = installed()
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with running(program) as started:
        yield started


def _programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def _as_other(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root; the user 'postgres' runs it then."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Make a new database; returns its URL. The password is in PGPASSWORD alone."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'discreet[postgres]'")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("root cannot run PostgreSQL, and there is no user 'postgres'")
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    password = secrets.token_hex(8)
    (folder / "password").write_text(password)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        shutil.chown(folder / "password", "postgres")
    data = folder / "data"
    subprocess.run(
        _as_other(
            [str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "scram-sha-256",
             "--pwfile", str(folder / "password"), "-E", "UTF8", "--no-sync"]
        ),
        check=True, capture_output=True,
    )  # fmt: skip
    port = _free_port()
    server = subprocess.Popen(
        _as_other(
            [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder),
             "-c", "listen_addresses=127.0.0.1"]
        ),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    before = os.environ.get("PGPASSWORD")
    os.environ["PGPASSWORD"] = password
    import psycopg

    def make() -> str:
        name = f"ledger_{secrets.token_hex(4)}"
        address = f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://{USER}@127.0.0.1:{port}/{name}"

    for _ in range(100):
        try:
            make()
            break
        except psycopg.OperationalError:
            time.sleep(0.1)
    yield make
    server.terminate()
    server.wait(30)
    shutil.rmtree(folder, ignore_errors=True)
    if before is None:
        del os.environ["PGPASSWORD"]
