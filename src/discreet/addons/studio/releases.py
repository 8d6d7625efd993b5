"""Release folders that a page opens, ledgers, and the places of this machine to choose from."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from discreet import DiscreetError, InputError, Ledger, LedgerSettings
from discreet.addons.studio.answers import RefusedError
from discreet.addons.studio.release_summary import summarize_release

MANIFEST = "manifest.json"
REPORT = "report.html"
TABLE_ENDINGS = (
    ".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".sav",
    ".zsav", ".dta", ".sas7bdat", ".xpt", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".gz", ".zst",
)  # fmt: skip
JOB_ENDINGS = (".yaml", ".yml")
MOST_PLACES = 2000


class StudioReleases:
    """The release folders that were opened, by number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made = 0
        self._places: dict[str, Path] = {}

    def __getitem__(self, number: str) -> Path:
        found = self._places.get(number)
        if found is None:
            raise RefusedError(404, "There is no such release; it may have been closed.")
        return found

    def open(self, path: str) -> dict[str, Any]:
        """Open a release folder, and return its summary."""
        place = absolute(path)
        if not (place / MANIFEST).is_file():
            raise InputError(f"{place}: not a release folder; it has no {MANIFEST}.")
        said = summarize_release(place)
        with self._lock:
            self._made += 1
            number = f"r{self._made}"
            self._places[number] = place
        return {"release": number, "path": str(place), "name": place.name, **said}

    def describe(self, number: str) -> dict[str, Any]:
        """Return the summary of a release."""
        place = self[number]
        return {
            "release": number, "path": str(place), "name": place.name, **summarize_release(place)
        }  # fmt: skip

    def listed(self) -> list[dict[str, str]]:
        """Return the releases that are open."""
        return [
            {"release": number, "path": str(place), "name": place.name}
            for number, place in self._places.items()
        ]

    def close(self, number: str) -> None:
        """Forget a release; its folder stays."""
        _ = self[number]
        del self._places[number]


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
        entries = [{**one.facts(), "time": one.recorded} for one in ledger.entries()]
        try:
            problems = ledger.verify()
        except DiscreetError as error:
            problems = [str(error)]
    return {"path": str(path), "entries": entries, "problems": problems}


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
