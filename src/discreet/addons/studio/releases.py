"""Releases: a library that outlives the server, ledgers, and the places of this machine.

The library is a folder of this user's account (mode 0700). A release of the page lies in it with
its private files, its job, and what the page shows of it, until the user removes it; a release in a
folder of its own is listed with its path. What is listed of it is read from its manifest and its
private record, so it is true after a restart, and after another program has signed it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet import DiscreetError, InputError, Ledger, LedgerSettings
from discreet.addons.studio.answers import RefusedError
from discreet.addons.studio.release_summary import (
    declaration_of,
    private_facts,
    short_guarantees,
    summarize_release,
)
from discreet.io.atomic import write_private
from discreet.releases.manifest import Manifest

MANIFEST = "manifest.json"
REPORT = "report.html"
RECORD = "record.json"
RELEASE = "release"
JOB = "job.yaml"
RISK = "risk.json"
TABLE_ENDINGS = (
    ".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".sav",
    ".zsav", ".dta", ".sas7bdat", ".xpt", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".gz", ".zst",
    ".bz2", ".xz",
)  # fmt: skip
JOB_ENDINGS = (".yaml", ".yml")
MOST_PLACES = 2000
_NUMBER = re.compile(r"r[0-9a-f]{12}")


def usual_library() -> Path:
    """Return the folder of this account for releases of Studio."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "discreet" / "studio"


class StudioRelease:
    """One release: its place, and its entry in the library."""

    def __init__(self, number: str, entry: Path, record: Mapping[str, Any]) -> None:
        self.number, self.entry, self.record = number, entry, record

    @property
    def place(self) -> Path:
        """The folder of the release: its own, or that of the library."""
        named = self.record.get("place")
        return self.entry / RELEASE if named is None else Path(named)

    @property
    def name(self) -> str:
        """What the release is called: by its table, or its folder."""
        return str(self.record.get("table") or self.place.name)

    def file(self, name: str) -> Path:
        """Return a file that the page keeps of a release; refuse where there is none."""
        place = self.entry / name
        if not place.is_file():
            raise RefusedError(404, "The release has no such file; another program made it.")
        return place

    def original(self) -> dict[str, Any]:
        """Return the job that made it and the folder of its files; empty if it is not known."""
        if not (self.entry / JOB).is_file():
            return {}
        folder = Path(str(self.record.get("folder", "")))
        known = folder if folder.is_dir() else self.entry
        return {"job": self.file(JOB).read_text(encoding="utf-8"), "folder": str(known)}

    def beside(self) -> list[tuple[str, Path]]:
        """The job and its hierarchy files, by their names beside the release."""
        files = [self.entry / JOB, *sorted((self.entry / "hierarchies").glob("*"))]
        return [(str(file.relative_to(self.entry)), file) for file in files if file.is_file()]

    def describe(self) -> dict[str, Any]:
        """Return all that the page shows of it."""
        summary, facts = summarize_release(self.place), private_facts(self.place)
        facts["singling_out"] = facts["singling_out"] or summary["manifest"].get("singling_out")
        if (self.entry / RISK).is_file():  # its sentences are in the language of the page
            spoken = json.loads(self.file(RISK).read_text(encoding="utf-8"))["verdict"]
            if facts["verdict"] and spoken["verdict"] == facts["verdict"]["verdict"]:
                facts["verdict"] = spoken
        files = ("preview.json", RISK, JOB)
        return {
            **self.listed(),
            "folder": self.record.get("place"),
            "has": [name for name in files if (self.entry / name).is_file()],
            "declaration": declaration_of(facts["verdict"]),
            **facts,
            **summary,
        }

    def listed(self) -> dict[str, Any]:
        """Return a line of the list of releases."""
        summary = {
            "release": self.number,
            "name": self.name,
            "made": self.record.get("made"),
            "path": self.record.get("place"),
        }
        try:
            manifest, facts = Manifest.load(self.place), private_facts(self.place)
        except (DiscreetError, OSError, ValueError):
            return {**summary, "gone": True}
        verdict, signed = facts["verdict"] or {}, facts["signed"]
        return {
            **summary,
            "gone": False,
            "method": manifest.method.name,
            "verdict": verdict.get("verdict"),
            "guarantees": short_guarantees(manifest),
            "recipient": signed[-1].get("recipient", "") if signed else "",
            "signed": signed,
            "accepted_risk": facts["accepted_risk"],
        }


class StudioReleases:
    """All releases of a library, by number."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._lock = threading.Lock()

    def __getitem__(self, number: str) -> StudioRelease:
        entry = self._library / number
        if not _NUMBER.fullmatch(number) or not (entry / RECORD).is_file():
            raise RefusedError(404, "There is no such release; it may have been removed.")
        record = json.loads((entry / RECORD).read_text(encoding="utf-8"))
        return StudioRelease(number, entry, record)

    def new(self) -> tuple[str, Path]:
        """Make the folder of a new release, which is listed once it has a record."""
        self._library.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = f"r{secrets.token_hex(6)}"
        entry = self._library / number
        entry.mkdir(mode=0o700)
        return number, entry

    def open(self, path: str) -> dict[str, Any]:
        """List a release folder of this machine, and return what the page shows of it."""
        place = absolute(path).resolve()
        if not (place / MANIFEST).is_file():
            raise InputError(f"{place}: not a release folder; it has no {MANIFEST}.")
        summarize_release(place)
        with self._lock:
            for known in self:
                if known.place == place:
                    shown: dict[str, Any] = known.describe()
                    return shown
            number, entry = self.new()
            write_record(entry, place=str(place))
        return self[number].describe()

    def __iter__(self) -> Any:
        entries = self._library.glob(f"r*/{RECORD}")
        return iter([self[entry.parent.name] for entry in entries])

    def listed(self) -> list[dict[str, Any]]:
        """Return a line for each release, the latest first."""
        lines = [release.listed() for release in self]
        return sorted(lines, key=lambda line: str(line["made"]), reverse=True)

    def close(self, number: str) -> None:
        """Remove a release from the library; a folder of its own stays."""
        shutil.rmtree(self[number].entry, ignore_errors=True)


def write_record(entry: Path, **facts: Any) -> None:
    """Write the record by which a release is listed."""
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    write_private(entry / RECORD, json.dumps({"made": created, **facts}) + "\n")


def absolute(path: str) -> Path:
    """Return a path of this machine; refuse one that depends on where the server was started."""
    place = Path(path).expanduser()
    if not place.is_absolute():
        raise InputError(f"{path}: give the whole path, from the root of the disk.")
    return place


def describe_ledger(path: str, key: str | None) -> dict[str, Any]:
    """Return the releases that a ledger records, and what is wrong with its seals."""
    settings = LedgerSettings.at(str(path), key=None if key is None else Path(key))
    with Ledger.open(settings.located(Path.cwd())) as ledger:
        ledger.settled()
        entries = [
            {**one.facts(), "time": one.recorded, "verdict": _verdict_beside(Path(one.folder))}
            for one in ledger.entries()
        ]
        try:
            problems = ledger.verify()
        except DiscreetError as error:
            problems = [str(error)]
    return {"path": str(path), "entries": entries, "problems": problems}


def _verdict_beside(release: Path) -> dict[str, Any] | None:
    """Return the verdict of a recorded release, where its private record is still beside it."""
    try:
        verdict: dict[str, Any] | None = private_facts(release)["verdict"]
    except DiscreetError:
        return None
    return verdict


def list_places(path: str | None) -> dict[str, Any]:
    """Return the folders, tables, jobs and releases of a folder of this machine."""
    folder = Path.home() if not path else absolute(path).resolve()
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.")
    places = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name.lower())[:MOST_PLACES]:
        kind = None if entry.name.startswith(".") else _kind(entry)
        if kind is not None:
            places.append({"name": entry.name, "path": str(entry), "kind": kind})
    return {"path": str(folder), "parent": str(folder.parent), "places": places}


def _kind(entry: Path) -> str | None:
    try:
        if entry.is_dir():
            return "release" if (entry / MANIFEST).is_file() else "folder"
    except OSError:
        return None
    ending = entry.suffix.lower()
    return "job" if ending in JOB_ENDINGS else "table" if ending in TABLE_ENDINGS else None
