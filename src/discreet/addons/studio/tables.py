"""The tables that pages work on: read in place or uploaded, and in memory while they are used."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet import InputError, Job, JobError
from discreet.addons.studio.answers import RefusedError
from discreet.addons.studio.feasible_guarantees import compared_settings, feasible_guarantees
from discreet.addons.studio.hierarchy_levels import (
    declared_column,
    describe_hierarchy,
    edit_hierarchy,
)
from discreet.addons.studio.job_draft import JobDraft
from discreet.addons.studio.job_mapping import read_mapping, with_absolute_paths, write_mapping
from discreet.addons.studio.opened_table import OpenedTable
from discreet.addons.studio.private_folder import PrivateFolder
from discreet.api.demonstrate import make_patients
from discreet.api.settings_grid import Setting
from discreet.regular_files import read_text

UNUSED = 600.0  # seconds after which a table leaves the memory until it is asked for again
HIERARCHIES = "hierarchies"
JOB_ENDINGS = (".yaml", ".yml")


class StudioTable:
    """One table: where it is, and how a job reads it."""

    def __init__(
        self, number: str, folder: Path, path: Path | None, options: Mapping[str, Any], name: str
    ) -> None:
        self.number, self.folder, self.path, self.name = number, folder, path, name
        self.uploaded = path is not None and path.parent == folder
        self.job: dict[str, Any] | None = None  # of a job file that was opened
        foreign = set(options) & {"path", "url", "table", "query"}
        if foreign:
            raise RefusedError(422, "The options of a file say how it is read, not where it is.")
        self._options = dict(options)
        self._given: Job | None = None
        self._lock = threading.Lock()
        self._opened: OpenedTable | None = None
        self._used = time.monotonic()
        self._draft: JobDraft | None = None

    @classmethod
    def of_job(cls, number: str, folder: Path, file: Path) -> StudioTable:
        """Open the table of a job file."""
        job = Job.load(file)
        table = cls(number, folder, None, {}, file.name)
        table._given = job
        text = read_text(file, "Job file")
        table.job = with_absolute_paths(read_mapping(text, file.name), job.folder)
        if job.source is not None and job.source.path is not None:
            table.path = (job.folder / job.source.path).resolve()
        table.name = file.name if table.path is None else table.path.name
        return table

    @property
    def opened(self) -> OpenedTable:
        """The table in memory; it is read where it is not."""
        with self._lock:
            self._used = time.monotonic()
            if self._opened is None:
                if self._given is not None:
                    self._opened = OpenedTable.of_job(self._given)
                else:
                    assert self.path is not None
                    self._opened = OpenedTable.of_file(self.path, self._options)
            return self._opened

    def forget_if_unused(self) -> bool:
        """Free the memory of a table that nobody has asked for lately."""
        if self._opened is None or time.monotonic() - self._used < UNUSED:
            return False
        self.forget()
        return True

    def forget(self) -> None:
        """Free the memory of the table."""
        with self._lock:
            self._opened = None

    @property
    def source(self) -> dict[str, Any]:
        """The ``source`` of a job that reads the table: beside the job, or anywhere."""
        if self.job is not None:
            return dict(self.job.get("source") or {})
        source = self.opened.source_from(self.folder)
        return source if self.uploaded else {**source, "path": str(self.path)}

    def describe(self) -> dict[str, Any]:
        """Return what the page shows of the table."""
        return {
            "table": self.number,
            "name": self.name,
            "uploaded": self.uploaded,
            "path": None if self.uploaded or self.path is None else str(self.path),
            "job": None if self.job is None else _without_source(self.job),
            **self.opened.describe(),
        }

    def proposal(self, preset: str | None) -> dict[str, Any]:
        """Return proposed roles, and the job that they make."""
        proposed = self.opened.propose(preset or None, self.folder)
        return {**proposed.to_dict(), "job": _without_source(read_mapping(proposed.text))}

    @property
    def draft(self) -> JobDraft:
        """The job that pages edit: at first that of the job file, else the proposal."""
        opened = self.opened
        with self._lock:
            if self._draft is None:
                proposed = read_mapping(opened.propose(None, self.folder).text)
                self._draft = JobDraft(opened.types(), proposed, self.job)
            return self._draft

    def describe_draft(self) -> dict[str, Any]:
        """Return the job with what controls show of it, all of one revision."""
        draft, opened = self.draft, self.opened
        revision, job, also = draft.revision, draft.job, draft.also
        attributes = job["attributes"]
        types = {
            name: attributes.get(name, {}).get("type") or usual
            for name, usual in opened.usual_types.items()
        }
        return {"revision": revision, "job": job, "types": types, "also": also}

    def standing(self, unknown: Sequence[str]) -> dict[str, Any]:
        """Return what the roles of the draft mean for the table as it would be published."""
        revision, job, opened = self.draft.revision, self.draft.job, self.opened
        names = {
            role: [
                name
                for name in opened.table.columns
                if job["attributes"].get(name, {}).get("role") == role
            ]
            for role in ("identifier", "quasi-identifier", "sensitive", "unchanged")
        }
        key = [
            name for name in (job.get("person") or {}).get("column", ()) if name in opened.types()
        ]
        quasi = [name for name in names["quasi-identifier"] if name not in unknown]
        return {
            "revision": revision,
            "risk": opened.risk(quasi, key) if quasi else None,
            "unchanged": opened.unchanged_risk(names["unchanged"], key),
            "alone": opened.alone(key),
            "secrets": opened.secrets(names["sensitive"]),
            "harmless": opened.harmless(names["sensitive"]),
            "persons": opened.person_facts(key, names["identifier"]),
            "problems": self.problems(job),
        }

    def problems(self, job: Mapping[str, Any]) -> list[str]:
        """Return what keeps a job from being run; nothing where it is sound."""
        try:
            self.parsed(job)
        except JobError as error:
            return list(error.problems)
        except InputError as error:
            return [str(error)]
        return []

    def text_of(self, job: Mapping[str, Any]) -> str:
        """Return the job file of a job that the page has."""
        return write_mapping({"source": self.source, **_without_source(job)})

    def parsed(self, job: Mapping[str, Any]) -> Job:
        """Return a job that the page has; raise all its problems."""
        try:
            return Job.of({"source": self.source, **_without_source(job)}, folder=self.folder)
        except JobError:  # again as text, for the lines of its problems
            return Job.parse(self.text_of(job), folder=self.folder)

    def files_of(self, job: Mapping[str, Any]) -> list[str]:
        """Return the hierarchy files that belong to a job, from its folder."""
        attributes = job.get("attributes")
        written = [
            one.get("hierarchy")
            for one in (attributes.values() if isinstance(attributes, dict) else ())
            if isinstance(one, dict)
        ]
        named = [one.get("path") if isinstance(one, dict) else one for one in written]
        places = {f"{HIERARCHIES}/{path.name}" for path in (self.folder / HIERARCHIES).glob("*")}
        return sorted(places & {name for name in named if isinstance(name, str)})

    def _column(self, question: Mapping[str, Any]) -> Any:
        """Return the column that a question about a hierarchy names, as the page declares it."""
        column = self.opened.column(str(question.get("attribute", "")))
        return declared_column(column, question.get("type"), question.get("role"))

    def hierarchy(self, question: Mapping[str, Any], at_most: int) -> dict[str, Any]:
        """Return the levels and the tree of a hierarchy."""
        column = self._column(question)
        return describe_hierarchy(column, question.get("hierarchy"), self.folder, at_most=at_most)

    def edited(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hierarchy after some edits, with its levels and tree."""
        column = self._column(question)
        hierarchy = edit_hierarchy(
            column, question.get("hierarchy"), self.folder, question["edits"]
        )
        return describe_hierarchy(column, hierarchy, self.folder)

    def feasibility(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Return what can be guaranteed at best."""
        return feasible_guarantees(self.opened, self.parsed(job))

    def settings(
        self, job: Mapping[str, Any], larger: Sequence[int]
    ) -> list[tuple[Setting, str | None]]:
        """Return what a comparison of a job may run, each with why it cannot hold."""
        return compared_settings(self.opened, self.parsed(job), larger)


def _without_source(job: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in job.items() if key != "source"}


class StudioTables:
    """All tables of a server, by number."""

    def __init__(self, private: PrivateFolder) -> None:
        self._private = private
        self._lock = threading.Lock()
        self._made = 0
        self._tables: dict[str, StudioTable] = {}

    def __getitem__(self, number: str) -> StudioTable:
        table = self._tables.get(number)
        if table is None:
            raise RefusedError(404, "There is no such table; it may have been closed.")
        return table

    def __iter__(self) -> Any:
        return iter(list(self._tables.values()))

    def new_folder(self) -> tuple[str, Path]:
        """Make the folder of a new table; returns its number and the folder."""
        with self._lock:
            self._made += 1
            number = f"t{self._made}"
        return number, self._private.new(number)

    def open_path(self, path: Path, options: Mapping[str, Any]) -> StudioTable:
        """Open a table that is read in place, or the table of a job file."""
        path = path.expanduser()
        if not path.is_absolute():
            raise InputError(f"{path}: give the whole path, from the root of the disk.")
        if not path.is_file():
            raise InputError(f"{path}: there is no such file.")
        number, folder = self.new_folder()
        if path.suffix.lower() in JOB_ENDINGS:
            return self._kept(folder, lambda: StudioTable.of_job(number, folder, path))
        return self._kept(folder, lambda: StudioTable(number, folder, path, options, path.name))

    def open_upload(
        self, number: str, folder: Path, name: str, options: Mapping[str, Any]
    ) -> StudioTable:
        """Open a file that was uploaded into the folder of a table."""
        return self._kept(folder, lambda: StudioTable(number, folder, folder / name, options, name))

    def open_demo(self) -> StudioTable:
        """Open a synthetic table of patients."""
        number, folder = self.new_folder()
        make_patients(folder / "patients.csv")
        return self.open_upload(number, folder, "patients.csv", {})

    def _kept(self, folder: Path, make: Any) -> StudioTable:
        """Read a table; nothing is left of one that cannot be read."""
        try:
            table: StudioTable = make()
            _ = table.opened.roles
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._tables[table.number] = table
        return table

    def close(self, number: str) -> None:
        """Forget a table, and remove it if it was uploaded."""
        table = self[number]
        del self._tables[number]
        table.forget()
        shutil.rmtree(table.folder, ignore_errors=True)
        return_memory()

    def forget_unused(self) -> None:
        """Free the memory of tables that nobody has asked for lately."""
        forgotten = [table.forget_if_unused() for table in self]
        if any(forgotten):
            return_memory()


def return_memory() -> None:
    """Give freed memory back to the machine, where the C library can."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def file_name(name: str) -> str:
    """Return the name of an uploaded file; refuse one that is a path or hidden."""
    unsafe = not name or name.startswith(".") or len(name) > 200
    if unsafe or any(sign in name for sign in "/\\:\0") or not name.isprintable():
        raise RefusedError(422, "The name of the file is not a plain file name.")
    return name
