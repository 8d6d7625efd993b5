"""The database of a ledger: its tables, their migrations, and the lock of its one writer.

Two tables: ``discreet_ledger`` holds names and values (the schema's version, the check value of
the key, the head), ``discreet_release`` a row for each release. The same SQL runs on SQLite and
PostgreSQL.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path

from discreet.errors import InputError
from discreet.io.databases import Database, DatabaseError, connect
from discreet.ledger.record import DamagedLedgerError, Entry

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
ADVISORY_LOCK = 0x6469_7363_7265_6574  # "discreet"
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
        if releases and not known:
            raise DamagedLedgerError(self.name, "its table of named values is missing")
        if not known and not create:
            raise InputError(
                f"Database '{self.name}' contains no ledger. Create one with 'discreet "
                "ledger init'."
            )
        if known and create:
            raise InputError(f"Database '{self.name}' already contains a ledger.")
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
