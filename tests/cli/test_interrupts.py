"""Ctrl-C and budgets end searches that would not end by themselves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from benchmarks.first_release import JOB_OF_METHOD, write_job
from tests.saving import ACCEPTING, UNATTACKED

import discreet as dc
from discreet.attacks.registry import all_attacks
from discreet.table.interrupts import interruptible

SLOWDOWN = 3  # of a machine that runs other tests too

JOB = """
source: {path: patients.csv}
attributes:
  ward: {role: quasi-identifier}
  symptoms:
    role: quasi-sensitive
    multi_valued: "|"
    knowledge: {path: diseases.csv, label: disease, term: symptom}
requirements:
  - k-anonymity: {k: 10}
  - qs-t-closeness: {t: 0.03, attribute: symptoms, weights: prior}
method: {quasi-sensitive: {search: exact}}
"""
# Says when the search begins; no signal is sent while kernels are compiled or read from the cache.
COMMAND = """
import sys
from discreet.methods.quasi_sensitive import removal

search = removal._search_rows


def announced(batch, *given):
    search(batch[:0], *given)
    print("searching", file=sys.stderr, flush=True)
    search(batch, *given)


removal._search_rows = announced
from discreet.cli.app import main

sys.argv = ["discreet", "publish", "job.yaml"]
main()
"""
# Runs the method of a job again and again, and says when the first run begins.
REPEATING = """
import sys
from discreet.job.model import Job

method = type(Job.load("job.yaml").method)
run = method.run


def repeated(self, task):
    print("searching", file=sys.stderr, flush=True)
    while True:
        run(self, task)


method.run = repeated
from discreet.cli.app import main

sys.argv = ["discreet", "publish", "job.yaml"]
main()
"""


@pytest.fixture
def endless(tmp_path) -> Path:
    """A job whose exact search would run for years: 24 rows, dozens of outcomes for each."""
    rng = random.Random(1)
    terms = [f"s{number}" for number in range(24)]
    links = [f"d{d},{term}" for d in range(40) for term in terms if rng.random() < 0.85]
    rows = [f"{'ab'[row % 2]},{'|'.join(rng.sample(terms, 6))}" for row in range(24)]
    (tmp_path / "diseases.csv").write_text("\n".join(["disease,symptom", *links]) + "\n")
    (tmp_path / "patients.csv").write_text("\n".join(["ward,symptoms", *rows]) + "\n")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_exact_search_is_interrupted_inside_its_kernel(endless, number):
    interrupt(endless, COMMAND, number)


@pytest.mark.parametrize("method", JOB_OF_METHOD)
def test_every_method_is_interrupted(method, tmp_path):
    folder = write_job(tmp_path, method, 3000).parent
    if method in ("m-invariance", "rho-different"):
        with dc.Ledger.create(dc.LedgerSettings(path="people.ledger").located(folder)):
            pass
        (folder / "people.ledger.lock").touch()  # remains after every command
    interrupt(folder, REPEATING, signal.SIGINT)


def interrupt(folder: Path, code: str, number: signal.Signals) -> None:
    """Send a signal to a command while it searches; nothing may be left of it."""
    before = sorted(path.name for path in folder.iterdir())
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "searching\n" in iter(process.stderr.readline, "")
        time.sleep(0.2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was published" in errors
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("search", ["exact", "rows"])
def test_a_budget_of_seconds_ends_a_search(endless, search):
    job = dc.Job.load(endless / "job.yaml")
    method = dc.QuasiSensitive(search=search, seconds=1)
    release = dc.publish(None, job.model_copy(update={"method": method}), seed=1)
    assert release.audit.ok


def test_an_audit_judges_while_the_main_thread_waits_for_signals(monkeypatch):
    from discreet.releases.audit import audit

    judge, threads = audit.judge_shard, []

    def judged(*given):
        threads.append(threading.current_thread())
        return judge(*given)

    monkeypatch.setattr(audit, "judge_shard", judged)
    attributes = {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
    job = {"attributes": attributes, "requirements": [{"k-anonymity": {"k": 2}}]}
    dc.publish(
        pl.DataFrame({"age": ["1", "1"], "illness": ["a", "b"]}), {**job, "method": "mondrian"}
    )
    assert threads and threading.main_thread() not in threads


def test_limits_that_are_in_force_hold_for_interruptible_work(tmp_path):
    from discreet.regular_files import require_unpacked_size, unpacking_at_most

    with unpacking_at_most(10), pytest.raises(dc.InputError, match="unpacks to more"):
        interruptible(lambda: require_unpacked_size(tmp_path, 11))


def test_what_interruptible_work_returns_or_raises_comes_through():
    assert interruptible(lambda: 3) == 3
    with pytest.raises(TimeoutError, match="of its own"):
        interruptible(lambda: (_ for _ in ()).throw(TimeoutError("of its own")))


# Patches a function of each command so that it says when it begins and would then take a minute.
SLOW = """
import importlib, sys, time

module, _, name = sys.argv[1].rpartition(".")
if module.rsplit(".", 1)[-1][:1].isupper():
    module, _, owner = module.rpartition(".")
    home = getattr(importlib.import_module(module), owner)
else:
    home = importlib.import_module(module)


def slow(*given, **named):
    print("working", file=sys.stderr, flush=True)
    time.sleep(60)


setattr(home, name, slow)
from discreet.cli.app import main

sys.argv = ["discreet", *sys.argv[2:]]
main()
"""
COMMANDS = {
    "publish": (
        "discreet.attacks.class_attacks.Homogeneity.run",
        ["publish", "job.yaml", *ACCEPTING],
    ),
    "attack": (
        "discreet.attacks.class_attacks.Homogeneity.run",
        ["attack", "made", "--original", "job.yaml"],
    ),
    "measure": (
        "discreet.utility.queries.query_errors",
        ["measure", "made", "--original", "job.yaml"],
    ),
    "compare": (
        "discreet.methods.mondrian.mondrian.Mondrian.run",
        ["compare", "job.yaml", "--output", "comparison"],
    ),
    "audit": ("discreet.releases.audit.audit.audit_tables", ["audit", "made"]),
    "profile": ("discreet.job.table_profile.profile_table", ["profile", "job.yaml"]),
    "check": (
        "discreet.job.table_check.check_table",
        ["check", "table.csv", "--quasi", "age", "--k", "2"],
    ),
    "init": (
        "discreet.job.proposing.job_text.propose_job",
        ["init", "table.csv", "--output", "new.yaml"],
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_back_within_two_seconds_and_leaves_nothing(command, tmp_path):
    rows = [f"{20 + n % 7},{'abc'[n % 3]}" for n in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    (tmp_path / "job.yaml").write_text(
        "source: {path: table.csv}\n"
        "attributes: {age: {role: quasi-identifier, type: integer}, ill: {role: sensitive}}\n"
        "requirements: [k-anonymity: {k: 3}]\nmethod: mondrian\n"
    )
    dc.publish(None, dc.Job.load(tmp_path / "job.yaml"), seed=1).save(
        tmp_path / "made", **UNATTACKED
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    patched, arguments = COMMANDS[command]
    call = [sys.executable, "-c", SLOW, patched, *arguments]
    with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "working\n" in iter(process.stderr.readline, "")
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - started < 2 * SLOWDOWN
    assert process.returncode == 130, errors
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_every_attack_is_interrupted_and_ends_within_its_time(monkeypatch):
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "s": list("abab")})
    roles = {"q": "quasi-identifier", "s": "sensitive"}
    job = dc.Job(
        attributes={name: {"role": role} for name, role in roles.items()},
        requirements=[dc.KAnonymity(k=2)],
        method=dc.Mondrian(),
    )
    release = dc.publish(frame, job, seed=1)
    begun, ended = threading.Event(), threading.Event()

    def endless(self, scene):
        begun.set()
        return iter(ended.wait, True)

    def interrupt() -> None:  # once the main thread waits for the attack
        begun.wait()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    for attack in all_attacks():
        kind = type(attack)
        monkeypatch.setattr(kind, "run", endless)
        monkeypatch.setattr(kind, "inapplicable", lambda self, scene: None)
        monkeypatch.setattr(kind, "expected", lambda self, scene: 1)
        started = time.monotonic()
        found = dc.attack(release, original=None, attacks=[attack], seconds=0.2)
        assert found.omitted[attack.name] == "the time limit of 0.2 s was reached"
        begun.clear()
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            dc.attack(release, original=None, attacks=[attack])
        assert time.monotonic() - started < 2 * SLOWDOWN, attack.name
    ended.set()
