"""The seam of an engine: where the steps of a job run.

``pipeline/run.py`` is the same for every engine. An engine reads a source, runs a method and forms
tables, which can be written to a folder and read again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.io.kept_types import ColumnSchema, FrameTypes, schema_of
from discreet.io.writing import OutputFormat
from discreet.job.model import Job
from discreet.methods.base import Progress, Task
from discreet.pipeline.read import SourceRows
from discreet.pipeline.record import Draft
from discreet.plugins import Registry
from discreet.releases.audit.audit import Audit
from discreet.releases.manifest import Manifest, TableEntry
from discreet.requirements.base import PublishedValues, Requirement
from discreet.table.coded_table import CodedTable
from discreet.utility.settings import MeasureSettings

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class Reading(ABC):
    """Published tables as they were read, from memory or from files."""

    compared = True  # whether an audit also compares rows and orders with the original

    @property
    @abstractmethod
    def values(self) -> PublishedValues:
        """The values of each sensitive attribute that some published row has."""

    @property
    @abstractmethod
    def tables(self) -> Mapping[str, CodedTable]:
        """The tables, coded as a reader of files has them, on this machine."""

    @abstractmethod
    def audit(self, manifest: Manifest) -> Audit:
        """Derive every guarantee of a manifest from these tables."""

    @abstractmethod
    def measure(self, manifest: Manifest, settings: MeasureSettings) -> dict[str, Any]:
        """Return the utility of the tables against the original, for the publisher."""

    def moved_to(self, folder: Path) -> None:
        """Record that the files, if any, are now in another folder."""
        return

    @abstractmethod
    def same(self, other: Reading) -> bool:
        """Return whether the other tables have the same cells in the same order."""


@dataclass(eq=False, kw_only=True)
class FormedTables(ABC):
    """The tables of a release as an engine holds them, and its method's statements about them."""

    usual_format: ClassVar[OutputFormat] = "csv"
    in_parts: ClassVar[bool] = False  # whether no machine holds all rows
    task: Task  # without the bits that are not published
    kind: str
    entries: dict[str, TableEntry]
    suppressed: int
    facts: Mapping[str, Any]
    promises: Sequence[Requirement]
    private: dict[str, Any]  # facts for the publisher alone
    gone: Collection[str] = field(default=())  # bits that no published row has
    masked: Collection[str] = field(default=())  # sensitive attributes with cells '*'

    @abstractmethod
    def frames(self) -> dict[str, Any]:
        """Return the tables as frames, for Python."""

    def schema(self, frames: Mapping[str, Any]) -> dict[str, dict[str, ColumnSchema]]:
        """Return the type of each column of the frames, beside that of the source if known."""
        return {
            name: schema_of(frame, self.entries[name].columns, FrameTypes())
            for name, frame in frames.items()
        }

    @abstractmethod
    def read(self, manifest: Manifest) -> Reading:
        """Read the tables as they would be published."""

    @abstractmethod
    def write(
        self, folder: Path, format_: OutputFormat, manifest: Manifest, progress: Progress
    ) -> None:
        """Write the tables to a folder, and the names of their files into the manifest."""

    def forget_cells(self) -> None:
        """Free the memory of the tables, which are not read or written again."""
        return

    @abstractmethod
    def read_back(self, folder: Path, manifest: Manifest, progress: Progress) -> Reading:
        """Read the tables from the files that were written."""

    @property
    @abstractmethod
    def original(self) -> Task:
        """The whole original table, on this machine, as it was published."""

    def source_rows(self) -> Mapping[str, NDArray[np.int32]] | None:
        """Return the source row of each published row; None where the engine does not know it."""
        return None

    def writing_by_url(
        self, job: Job, manifest: Manifest, force: bool
    ) -> AbstractContextManager[None]:
        """Write the tables to the job's database too, committed when the block ends."""
        return nullcontext()


Rows = TypeVar("Rows", bound=SourceRows)  # a source as the engine has it
Formable = TypeVar("Formable")  # the result of its methods


class Engine(ABC, Generic[Rows, Formable]):
    """The place where a job runs."""

    name: ClassVar[str]

    def require_supported(self, job: Job) -> None:
        """Refuse a job that this engine cannot run."""
        return

    @abstractmethod
    def read(self, job: Job, data: Any, ledger: Ledger | None, progress: Progress) -> Rows:
        """Read a job's source, a path or a frame."""

    @abstractmethod
    def run(self, job: Job, task: Task, source: Rows, seed: int) -> Formable:
        """Run the job's method."""

    @abstractmethod
    def form(self, job: Job, task: Task, source: Rows, outcome: Formable) -> FormedTables:
        """Form the tables to publish."""

    def draft(
        self, job: Job, ledger: Ledger | None, tables: FormedTables, outcome: Formable
    ) -> Draft | None:
        """Return the draft that a ledger, if there is one, records of the release."""
        return None


class AddedEngine(Engine[Rows, Formable]):
    """An engine of an add-on, reached by its name or by a frame of its library."""

    @classmethod
    @abstractmethod
    def opened(cls, place: Path, address: str | None) -> AbstractContextManager[Self]:
        """Open the engine, at its cluster's address, for a release that is written to a place."""

    @classmethod
    @abstractmethod
    def of_frame(cls, frame: Any) -> Self:
        """Return an engine for a frame of its own library, which the release outlives."""

    @classmethod
    def audited(cls, folder: Path, url: str) -> Audit:
        """Audit a release whose tables are at a URL, where the engine left them."""
        raise InputError(f"The engine '{cls.name}' leaves tables in files. Audit the folder alone.")


ENGINES: Registry[AddedEngine[Any, Any]] = Registry(
    "engine", "discreet.engines", AddedEngine, {}, ["local"]
)


def engine_named(name: str) -> type[AddedEngine[Any, Any]]:
    """Return the engine of an add-on; raise for an unknown one."""
    if name not in ENGINES:
        raise InputError(f"There is no engine '{name}'. Engines: {', '.join(['local', *ENGINES])}.")
    return ENGINES[name]
