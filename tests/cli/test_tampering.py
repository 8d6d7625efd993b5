"""Tampering is a finding: damaged ledgers, release folders and private files, never a defect."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.commands import invoke
from tests.saving import UNATTACKED

import discreet as dc
from discreet.ledger.ledger import Ledger

TRIALS = 45


def run(*arguments: str) -> tuple[int, str]:
    done = invoke(*arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout + done.stderr


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A ledger with two releases."""
    folder = tmp_path_factory.mktemp("recorded")
    settings = dc.LedgerSettings(path=folder / "people.ledger")
    with Ledger.create(settings.located(folder)):
        pass
    for number in (1, 2):
        rows = "".join(f"P{n},{20 + n},{'abcd'[n % 4]}\n" for n in range(number, 24))
        (folder / "table.csv").write_text("name,age,illness\n" + rows)
        job = {
            "source": {"path": str(folder / "table.csv")},
            "attributes": {
                "name": {"role": "identifier"},
                "age": {"role": "quasi-identifier", "type": "integer"},
                "illness": {"role": "sensitive"},
            },
            "method": {"m-invariance": {"m": 2}},
            "ledger": {"path": str(folder / "people.ledger")},
        }
        dc.publish(None, job).save(folder / f"r{number}", **UNATTACKED)
    return folder


@pytest.fixture
def ledger(recorded, tmp_path) -> Path:
    for name in ("people.ledger", "people.ledger.key"):
        shutil.copy(recorded / name, tmp_path / name)
    return tmp_path / "people.ledger"


def verified(ledger: Path) -> tuple[int, str]:
    status, said = run("ledger", "verify", str(ledger))
    assert "Internal error" not in said and "Traceback" not in said, said
    for command in ("list", "export"):
        _, others = run("ledger", command, str(ledger))
        assert "Internal error" not in others, others
    assert "Internal error" not in run("ledger", "show", str(ledger), "1")[1]
    return status, said


def test_an_intact_ledger(ledger):
    assert verified(ledger)[0] == 0


CELLS = ["é", "", "\x00", "-1", 5, -1, 2**62, 1.5, None, b"\xff\xfe", "[]", "{}",
         '{"a": "\\ud800"}', "[" * 50_000, "1e999", "9" * 5000]  # fmt: skip
COLUMNS = ["number", "folder", "folder_hash", "recorded", "method", "parameters", "published_rows",
           "held_back", "counterfeits", "groups", "contents_hash", "seal", "pending",
           "contents"]  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_cell_is_a_finding(ledger, column):
    intact = ledger.read_bytes()
    for cell in CELLS:
        ledger.write_bytes(intact)
        with sqlite3.connect(ledger) as database:
            try:
                edit = f"UPDATE discreet_release SET {column} = ? WHERE number = 2"
                database.execute(edit, (cell,))
            except sqlite3.Error:  # the table itself refuses such a cell
                continue
            changed = database.total_changes
        database.close()
        status, said = verified(ledger)
        harmless = column == "pending" and cell in ("", 0, "0")
        assert status == 1 or harmless or not changed, (cell, said)
        assert "Problem: " in said or harmless


@pytest.mark.parametrize(
    "edit",
    [
        "DROP TABLE discreet_release",
        "DROP TABLE discreet_ledger",
        "DELETE FROM discreet_ledger WHERE name = 'head'",
        "DELETE FROM discreet_release",
        "UPDATE discreet_ledger SET value = 'é' WHERE name = 'head'",
        "UPDATE discreet_ledger SET value = 'x' WHERE name = 'version'",
        "UPDATE discreet_ledger SET value = '0' WHERE name = 'version'",
        "ALTER TABLE discreet_release RENAME COLUMN seal TO sealed",
        "INSERT INTO discreet_release SELECT 3, folder, folder_hash, recorded, method, parameters, "
        "published_rows, held_back, counterfeits, groups, contents_hash, seal, 1, contents "
        "FROM discreet_release WHERE number = 1",
        # a removed release, hidden behind a row that looks like that of a killed writer
        "DELETE FROM discreet_release WHERE number = 2; UPDATE discreet_release SET pending = 1",
    ],
)
def test_an_edited_ledger_is_a_finding(ledger, edit):
    with sqlite3.connect(ledger) as database:
        database.executescript(edit)
    database.close()
    status, said = verified(ledger)
    assert status == 1, said
    assert "Problem: " in said


def test_random_damage_of_the_file(ledger):
    draw, intact = random.Random(1), ledger.read_bytes()
    findings = 0
    for _ in range(TRIALS):
        data = bytearray(intact)
        match draw.randrange(3):
            case 0:
                for _ in range(draw.randrange(1, 200)):
                    data[draw.randrange(len(data))] = draw.randrange(256)
            case 1:
                del data[draw.randrange(len(data)) :]
            case 2:
                start = draw.randrange(len(data))
                data[start : start + 4096] = draw.randbytes(4096)
        ledger.write_bytes(bytes(data))
        findings += verified(ledger)[0] == 1
    assert findings > TRIALS / 2


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """A release with a private file, of persons who keep their rows."""
    folder = tmp_path_factory.mktemp("published")
    rows = "".join(f"P{n // 2},{20 + n // 4},{'abcd'[n % 4]}\n" for n in range(48))
    (folder / "table.csv").write_text("name,age,illness\n" + rows)
    (folder / "job.yaml").write_text(
        "source: {path: table.csv}\n"
        "attributes:\n"
        "  name: {role: identifier}\n"
        "  age: {role: quasi-identifier, type: integer, hierarchy: {intervals: [10, '*']}}\n"
        "  illness: {role: sensitive}\n"
        "person: {column: name, rows: keep}\n"
        "requirements: [{k-anonymity: {k: 2}}]\n"
        "method: mondrian\n"
    )
    dc.publish(None, str(folder / "job.yaml")).save(folder / "release", **UNATTACKED)
    return folder


def damaged(text: bytes, draw: random.Random) -> bytes:
    """Damage a file: bytes, its end, or a value of its JSON."""
    kind = draw.randrange(4)
    if kind == 0:
        return text[: draw.randrange(len(text))]
    if kind == 1:
        data = bytearray(text)
        for _ in range(draw.randrange(1, 20)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data)
    try:
        data = json.loads(text)
    except ValueError:
        return text[::-1]
    places = []

    def walk(value):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, below in list(pairs):
            places.append((value, key))
            if isinstance(below, dict | list):
                walk(below)

    walk(data)
    owner, key = draw.choice(places)
    if kind == 2:
        owner[key] = draw.choice(
            [None, -1, 0, 2**70, 1e300, "", "é", "\ud800x", [], {}, [[]], {"a": 1}, True, "a/b"]
        )
    else:
        del owner[key]
    return json.dumps(data, indent=1).encode(errors="surrogatepass")


@pytest.mark.parametrize("name", ["release/manifest.json", "release.private.json",
                                  "release/records.csv", "release/report.html"])  # fmt: skip
def test_random_damage_of_a_release(published, tmp_path, name):
    draw = random.Random(name)
    folder = tmp_path / "copy"
    shutil.copytree(published, folder)
    intact = (folder / name).read_bytes()
    for _ in range(TRIALS // 3):
        (folder / name).write_bytes(damaged(intact, draw))
        for extra in ((), ("--original", str(folder / "job.yaml"))):
            status, said = run("audit", str(folder / "release"), *extra)
            assert "Internal error" not in said and "Traceback" not in said, said
            assert status in (0, 1, 2)
            if name in ("release/records.csv", "release/report.html"):
                changed = (folder / name).read_bytes() != intact
                assert status == 1 or not changed, said
