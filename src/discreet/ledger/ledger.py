"""The ledger: the record of earlier releases, and the step in which a release is added to it.

A release is recorded in four moves, while its writer holds the ledger's lock:

1. its folder is written whole beside its place,
2. the ledger announces it: a pending row with the hash of that folder is committed,
3. the folder is renamed to its place,
4. the row is settled.

The next process that takes the lock resolves a row that a crash left pending: if its folder is in
place with the recorded hash, the release was published and is settled; otherwise it never appeared
and is removed. So folders and ledger agree whenever a crash happened.

Every entry is sealed with the ledger's key (see ``record``), and so is the head, the number of
releases: ``verify`` finds a changed row and an inserted, exchanged or removed release. It cannot
find that an older copy of the whole database was restored; keep backups of it as safe as the key.

The database of a ledger: its tables, their migrations, and the lock of its one writer.

Two tables: ``discreet_ledger`` holds names and values (the schema's version, the check value of
the key, the head), ``discreet_release`` a row for each release. The same SQL runs on SQLite and
PostgreSQL.
"""

from __future__ import annotations

import datetime
import hmac
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from discreet.errors import InputError, ReleaseError
from discreet.io.atomic import hash_of_folder
from discreet.io.databases import Database, DatabaseError, connect
from discreet.ledger.record import (
    FIRST_SEAL,
    Contents,
    DamagedLedgerError,
    Entry,
    hash_of_contents,
)
from discreet.ledger.settings import LedgerSettings, authenticate, check_value, create_key, load_key

# Each step brings a ledger from the version before it to its own; none is ever changed.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE discreet_ledger (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE discreet_release (
            number INTEGER PRIMARY KEY,
            folder TEXT NOT NULL,
            folder_hash TEXT NOT NULL,
            recorded TEXT NOT NULL,
            method TEXT NOT NULL,
            parameters TEXT NOT NULL,
            published_rows BIGINT NOT NULL,
            held_back BIGINT NOT NULL,
            counterfeits BIGINT NOT NULL,
            groups BIGINT NOT NULL,
            contents_hash TEXT NOT NULL,
            seal TEXT NOT NULL,
            pending INTEGER NOT NULL,
            contents {bytes} NOT NULL)""",
    ),
)
VERSION = "version"
COLUMNS = tuple(field.name for field in fields(Entry))
ADVISORY_LOCK = int.from_bytes(b"discreet")
POLL = 0.05  # seconds


class Store:
    """The rows of a ledger."""

    def __init__(self, database: Database, lock_file: Path | None) -> None:
        self._database = database
        self._lock_file = lock_file  # of SQLite; PostgreSQL has locks of its own

    @classmethod
    def open(cls, path: Path | None, url: str | None, *, create: bool = False) -> Store:
        """Open the database of a ledger, or begin one."""
        if path is None:
            store = cls(connect(str(url), Path()), None)
        else:
            if create:
                _create_file(path)
            elif not path.is_file():
                raise InputError(
                    f"Ledger {path}: no such file. Create it with 'discreet ledger init'."
                )
            address = f"sqlite:///{path.absolute()}"
            with _sound(path.name, "its file"):
                database = connect(address, Path("/"))
                database.run("PRAGMA synchronous = FULL")
            store = cls(database, path.with_name(f"{path.name}.lock"))
        try:
            store._migrate(create)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def name(self) -> str:
        return self._database.name

    def close(self) -> None:
        self._database.close()

    def _migrate(self, create: bool) -> None:
        database = self._database
        with self._sound("its tables"):
            known = database.has_table("discreet_ledger")
            releases = database.has_table("discreet_release")
        # Refuse what is no ledger, and what is one already.
        if releases and not known:
            raise DamagedLedgerError(self.name, "its table of named values is missing")
        if not known and not create:
            raise InputError(
                f"Database '{self.name}' contains no ledger. Create one with 'discreet "
                "ledger init'."
            )
        if known and create:
            raise InputError(f"Database '{self.name}' already contains a ledger.")
        # Bring an older ledger to this version, step by step.
        with self._sound("its version"):
            version = int(self.get(VERSION) or 0) if known else 0
        if version > len(MIGRATIONS):
            raise InputError(
                f"The ledger '{self.name}' has version {version}; this discreet knows up to "
                f"{len(MIGRATIONS)}. Use a newer discreet."
            )
        if version == len(MIGRATIONS):
            return
        kind = "BLOB" if database.dialect == "sqlite" else "BYTEA"
        with self._sound("its tables"), database.transaction():
            for step in MIGRATIONS[version:]:
                for statement in step:
                    database.run(statement.format(bytes=kind))
            self.put(VERSION, str(len(MIGRATIONS)))

    def get(self, name: str) -> str | None:
        """A named value."""
        with self._sound("its named values"):
            rows = self._database.run("SELECT value FROM discreet_ledger WHERE name = ?", (name,))
            return str(rows[0][0]) if rows else None

    def _sound(self, place: str) -> AbstractContextManager[None]:
        return _sound(self.name, place)

    def put(self, name: str, value: str) -> None:
        """Set a named value."""
        self._database.run("DELETE FROM discreet_ledger WHERE name = ?", (name,))
        self._database.run("INSERT INTO discreet_ledger VALUES (?, ?)", (name, value))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._database.transaction():
            yield

    def entries(self) -> list[Entry]:
        """All releases, in order."""
        listed = ", ".join(COLUMNS)
        with self._sound("its table of releases"):
            rows = self._database.run(f"SELECT {listed} FROM discreet_release ORDER BY number")
        entries = []
        for place, row in enumerate(rows, 1):
            with self._sound(f"release {place}: its row"):
                entries.append(_entry(dict(zip(COLUMNS, row, strict=True))))
        return entries

    def contents(self, number: int) -> bytes:
        """The packed contents of a release."""
        with self._sound(f"release {number}: its contents"):
            rows = self._database.run(
                "SELECT contents FROM discreet_release WHERE number = ?", (number,)
            )
            contents = rows[0][0]
            if not isinstance(contents, bytes | bytearray | memoryview):
                raise TypeError
            return bytes(contents)

    def add(self, entry: Entry, contents: bytes) -> None:
        """Add a release."""
        values = [getattr(entry, name) for name in COLUMNS]
        values[COLUMNS.index("parameters")] = json.dumps(entry.parameters, ensure_ascii=False)
        values[COLUMNS.index("pending")] = int(entry.pending)
        names = ", ".join([*COLUMNS, "contents"])
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._database.run(
            f"INSERT INTO discreet_release ({names}) VALUES ({marks})", [*values, contents]
        )

    def settle(self, number: int) -> None:
        """Settle a release: its folder is in place."""
        self._database.run("UPDATE discreet_release SET pending = 0 WHERE number = ?", (number,))

    def remove(self, number: int) -> None:
        """Remove a release that was announced and never appeared."""
        self._database.run(
            "DELETE FROM discreet_release WHERE number = ? AND pending = 1", (number,)
        )

    @contextmanager
    def lock(self, wait: float) -> Iterator[None]:
        """Be the only writer; the lock is released when the process ends, however it ends."""
        if self._lock_file is None:
            self._wait_for_advisory_lock(wait)
            try:
                yield
            finally:
                self._database.run("SELECT pg_advisory_unlock(?)", (ADVISORY_LOCK,))
            return
        _create_file(self._lock_file, may_exist=True)
        side = sqlite3.connect(self._lock_file, timeout=wait, isolation_level=None)
        try:
            try:
                side.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                raise _busy(self.name, wait) from None
            except sqlite3.Error:
                raise InputError(
                    f"{self._lock_file}: not the lock of a ledger. Remove this file; it holds "
                    "nothing."
                ) from None
            yield
        finally:
            side.close()

    def _wait_for_advisory_lock(self, wait: float) -> None:
        end = time.monotonic() + wait
        while not self._database.run("SELECT pg_try_advisory_lock(?)", (ADVISORY_LOCK,))[0][0]:
            if time.monotonic() >= end:
                raise _busy(self.name, wait)
            time.sleep(POLL)


@contextmanager
def _sound(name: str, place: str) -> Iterator[None]:
    """Raise a DamagedLedgerError where a part of a ledger does not have its form."""
    try:
        yield
    except DatabaseError as error:
        if not error.damaged:
            raise
        raise DamagedLedgerError(name, f"{place} cannot be read: {error.reason}") from None
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
        raise DamagedLedgerError(name, f"{place} cannot be read") from None


def _busy(name: str, wait: float) -> InputError:
    return InputError(
        f"Another run is publishing to the ledger '{name}' and did not end within {wait:g} "
        "seconds. Try again, or wait longer with 'ledger: {wait: …}'."
    )


def _create_file(path: Path, *, may_exist: bool = False) -> None:
    """An empty file that only its owner may read."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not may_exist:
            raise InputError(
                f"Ledger {path} already exists. Use it, or choose another path."
            ) from None
    except OSError as error:
        raise InputError(f"Ledger {path}: {error.strerror}. Check the path.") from None


def _entry(row: dict[str, object]) -> Entry:
    row["parameters"] = json.loads(str(row["parameters"]))
    row["pending"] = bool(row["pending"])
    for name, kind in _KIND_OF_COLUMN.items():
        if type(row[name]) is not kind:
            raise TypeError
    return Entry(**row)  # type: ignore[arg-type]


_KIND_OF_COLUMN = {
    field.name: {"int": int, "str": str, "bool": bool}.get(str(field.type), dict)
    for field in fields(Entry)
}


CHECK = "key_check"
HEAD = "head"


class Ledger:
    """An open ledger."""

    def __init__(self, store: Store, key: bytes, wait: float) -> None:
        self._store = store
        self._wait = wait
        self._writing = False
        self._reading = False
        self._known: list[Entry] | None = None  # the rows, while writing or reading
        self._known_head: str | None = None  # the store's head, read together with them
        self.key = key

    @classmethod
    def create(cls, settings: LedgerSettings) -> Ledger:
        """Create a ledger with a new key, or with the key in an existing file."""
        assert settings.key is not None
        fresh = not settings.key.exists()
        store = Store.open(settings.path, settings.url, create=True)
        try:
            key = create_key(settings.key) if fresh else load_key(settings.key)
        except InputError:
            store.close()
            if settings.path is not None:
                settings.path.unlink()
            raise
        ledger = cls(store, key, settings.wait)
        with store.transaction():
            store.put(CHECK, check_value(key))
            store.put(HEAD, ledger._head_seal(0, FIRST_SEAL))
        return ledger

    @classmethod
    def open(cls, settings: LedgerSettings) -> Ledger:
        """Open a ledger with its key; any other key is refused."""
        assert settings.key is not None
        store = Store.open(settings.path, settings.url)
        try:
            key = load_key(settings.key)
            if not _same(store.get(CHECK) or "", check_value(key)):
                raise InputError(
                    f"Key file {settings.key}: is not the key of the ledger '{store.name}'. "
                    "No record would match its earlier ones. Name the right file with 'key:' or "
                    "--key."
                )
        except BaseException:
            store.close()
            raise
        return cls(store, key, settings.wait)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    @property
    def name(self) -> str:
        return self._store.name

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer; pending rows of a crash are resolved first. May be nested."""
        if self._writing:
            yield
            return
        with self._store.lock(self._wait):
            self._writing = True
            try:
                self._recover()
                yield
            finally:
                self._writing = False
                self._known = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the ledger, once; pending rows of a crash are resolved first.

        Another run may add a release in the meantime; recording a release detects that by the head.
        """
        self._reading, self._known = True, None
        try:
            self.settled()
            yield
        finally:
            self._reading, self._known = False, None

    def settled(self) -> None:
        """Resolve pending rows of a crash, unless another run holds the lock."""
        if any(entry.pending for entry in self._rows()):
            with self._store.lock(self._wait):
                self._known = None
                self._recover()

    def entries(self) -> list[Entry]:
        """The releases that were published."""
        return [entry for entry in self._rows() if not entry.pending]

    def _rows(self) -> list[Entry]:
        """Return all rows of the store; a writer reads them once, because only it changes them."""
        if not self._writing and not self._reading:
            return self._store.entries()
        if self._known is None:
            self._known, self._known_head = self._store.entries(), self._store.get(HEAD)
        return self._known

    def _stated_head(self) -> str | None:
        """Return the store's head, of the same state as its rows."""
        return self._store.get(HEAD) if self._known is None else self._known_head

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the store in one transaction."""
        self._known = None
        with self._store.transaction():
            yield

    def entry(self, number: int) -> Entry:
        """One release."""
        matching = [entry for entry in self.entries() if entry.number == number]
        if not matching:
            count = len(self.entries())
            raise InputError(f"The ledger '{self.name}' has no release {number}; it has {count}.")
        return matching[0]

    def contents(self, entry: Entry) -> Contents:
        """Return each person's group in a release."""
        data = self._store.contents(entry.number)
        if hash_of_contents(data) != entry.contents_hash:
            raise DamagedLedgerError(
                self.name, f"release {entry.number}: its contents were changed"
            )
        try:
            return Contents.unpack(data)
        except Exception:  # of many types; only a changed row brings such contents here
            raise DamagedLedgerError(
                self.name, f"release {entry.number}: its contents cannot be read"
            ) from None

    @property
    def head(self) -> str:
        """The seal of the last release; it changes with every one."""
        entries = self.entries()
        return entries[-1].seal if entries else FIRST_SEAL

    def require_sound(self) -> None:
        """Refuse to build on a ledger that was tampered with."""
        problems = self._seal_problems()
        if problems:
            raise DamagedLedgerError(self.name, problems[0])

    def announce(self, entry: Entry, contents: Contents) -> Entry:
        """Record a release that is about to take its place; only a writer may."""
        assert self._writing
        data = contents.pack()
        entries = self._rows()
        before = entries[-1].seal if entries else FIRST_SEAL
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        entry = replace(
            entry,
            number=len(entries) + 1,
            recorded=now,
            contents_hash=hash_of_contents(data),
            pending=True,
        )
        entry = replace(entry, seal=entry.sealed_by(self.key, before))
        with self._changing():
            self._store.add(entry, data)
        return entry

    def settle(self, entry: Entry) -> None:
        """Settle the announced release: its folder is in place."""
        with self._changing():
            self._store.settle(entry.number)
            self._store.put(HEAD, self._head_seal(entry.number, entry.seal))

    def withdraw(self, entry: Entry) -> None:
        """Remove the announced release: its folder did not take its place."""
        with self._changing():
            self._store.remove(entry.number)

    def require_new_place(self, folder: Path) -> None:
        """Refuse to replace a folder that the ledger knows as published."""
        place = str(folder.absolute())
        for entry in self.entries():
            if entry.folder == place:
                raise ReleaseError(
                    f"{folder}: is release {entry.number} of the ledger '{self.name}'. A "
                    "published release cannot be withdrawn. Choose another `output:`."
                )

    def verify(self) -> list[str]:
        """Return the problems of the ledger and of the folders that it covers."""
        problems, changed = self._seal_problems(), self._changed_rows()
        for entry in self.entries():
            if entry.number in changed:  # its folder and hashes are not those that were recorded
                continue
            data = self._store.contents(entry.number)
            if hash_of_contents(data) != entry.contents_hash:
                problems.append(f"release {entry.number}: its contents in the ledger were changed")
            folder = Path(entry.folder)
            if not folder.is_dir():
                problems.append(f"release {entry.number}: there is no folder {folder}")
            elif hash_of_folder(folder) != entry.folder_hash:
                problems.append(
                    f"release {entry.number}: the files in {folder} are not those that were "
                    "published"
                )
        return problems

    def export(self) -> dict[str, Any]:
        """The whole ledger but for its key, as plain data."""
        from discreet.ledger.settings import hex_of

        releases = []
        for entry in self.entries():
            contents = self.contents(entry)
            signatures = {
                name: [
                    {
                        "value": s.values[s.value[at]],
                        "count": int(s.count[at]),
                        "group": group + 1,
                    }
                    for group in range(contents.groups)
                    for at in range(s.start[group], s.start[group + 1])
                ]
                for name, s in contents.signatures.items()
            }
            people = [
                {"person": person, "group": None if group < 0 else int(group) + 1}
                for person, group in zip(hex_of(contents.people), contents.group, strict=True)
            ]
            releases.append({**entry.facts(), "people": people, "signatures": signatures})
        return {"ledger": self.name, "releases": releases}

    def _recover(self) -> None:
        """Resolve the pending row of a killed writer. Only the holder of the lock may.

        A row that no writer left, because the head does not end right before it, stays: settling it
        would seal a ledger that was tampered with.
        """
        for entry in self._rows():
            settled = self.entries()
            before = settled[-1].seal if settled else FIRST_SEAL
            if not entry.pending or self._stated_head() != self._head_seal(len(settled), before):
                continue
            if not _same(entry.sealed_by(self.key, before), entry.seal):
                continue
            folder = Path(entry.folder)
            if folder.is_dir() and hash_of_folder(folder) == entry.folder_hash:
                self.settle(entry)
            else:
                self.withdraw(entry)

    def _head_seal(self, number: int, seal: str) -> str:
        return f"{number}:{authenticate(self.key, f'head {number} {seal}'.encode())}"

    def _changed_rows(self) -> set[int]:
        """Return the releases whose seal does not fit their row and the one before."""
        before, changed = FIRST_SEAL, set()
        for entry in self.entries():
            if not _same(entry.sealed_by(self.key, before), entry.seal):
                changed.add(entry.number)
            before = entry.seal
        return changed

    def _seal_problems(self) -> list[str]:
        before = FIRST_SEAL
        problems: list[str] = []
        entries, changed = self.entries(), self._changed_rows()
        for number, entry in enumerate(entries, 1):
            if entry.number != number:
                return [*problems, f"release {number} is missing"]
            if number in changed:
                problems.append(f"release {number}: its row was changed, or one before it")
            before = entry.seal
        problems += [
            f"release {entry.number}: announced by no run of discreet"
            for entry in self._rows()
            if entry.pending and not _same(entry.sealed_by(self.key, before), entry.seal)
        ]
        if self._stated_head() != self._head_seal(len(entries), before):
            problems.append("the last releases were removed, added or changed outside discreet")
        return problems


def _same(first: str, second: str) -> bool:
    """Compare two texts of any characters in constant time."""
    return hmac.compare_digest(*(text.encode(errors="surrogatepass") for text in (first, second)))
