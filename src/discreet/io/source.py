"""The source of a table: the ``source`` key of a job.

For ``-`` in place of a path, the table is on standard input. Reading takes several passes, and a
pipe has one, so its bytes are put into a temporary file that only its owner may read and that ends
with the process.
"""

from __future__ import annotations

import atexit
import codecs
import difflib
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from discreet.by_name import Validated
from discreet.errors import FILE_MISSING, InputError
from discreet.io.databases import dialect_of
from discreet.regular_files import open_regular

DASH = Path("-")
NAME = "standard-input"
_saved: list[Path] = []


@atexit.register
def remove_saved_input() -> None:
    """Remove the file with standard input, where there is one; for an end without ``atexit``."""
    for path in _saved:
        shutil.rmtree(path.parent, ignore_errors=True)


@cache
def saved_standard_input() -> Path:
    """Return a file with the bytes of standard input, which is read once in a process."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("'-' reads standard input, which is a terminal. Pipe a table into it.")
    path = Path(tempfile.mkdtemp(prefix="discreet-")) / NAME
    _saved.append(path)
    with path.open("xb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


Format = Literal["csv", "tsv", "parquet", "arrow", "spss", "stata", "sas", "xport", "excel", "ods"]

FORMAT_OF_ENDING: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".sav": "spss",
    ".zsav": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
    ".xpt": "xport",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "ods",
}
READER_OF_FORMAT: dict[Format, str] = {  # of an add-on; Parquet, Arrow and text need none
    "spss": "statistics",
    "stata": "statistics",
    "sas": "statistics",
    "xport": "statistics",
    "excel": "sheets",
    "ods": "sheets",
}
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
FIRST_BYTES: dict[bytes, Format] = {  # of formats that standard input may have
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"$FL": "spss",
    b"<stata_dta>": "stata",
    b"PK\x03\x04": "excel",
}
NO_PATH = Path()

Tell = Callable[[float], None]  # how much of a file is read or written, in [0, 1]


def ignore_progress(share: float) -> None:
    """Report no progress."""


class Source(Validated):
    """A table on disk and how to read it, or one in a database."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path = Field(
        default=NO_PATH,
        description="A file: CSV or TSV (also gzip, zstd, bzip2 or xz), Parquet, Arrow, SPSS, "
        "Stata, SAS, Excel or OpenDocument; a pattern of text, Parquet or Arrow files; a folder "
        "of Parquet or Arrow files; - for standard input.",
    )
    url: str | None = Field(
        default=None,
        description="A database instead of a file: sqlite:///…, duckdb:///… or postgresql://…, "
        "no password.",
    )
    table: str | None = Field(
        default=None, description="The table of a database; without a url, one that Spark knows."
    )
    query: str | None = Field(default=None, description="Or a query whose result is the table.")
    missing: tuple[str, ...] = Field(
        default=(), description="Tokens read as missing, besides the empty cell."
    )
    format: Format | None = Field(
        default=None, description="File format; by default that of the file name."
    )
    delimiter: str | None = Field(
        default=None, description="Delimiter of cells; detected among , ; tab | by default."
    )
    quote: str | None = Field(
        default='"', description="Quote character; null if cells are never quoted."
    )
    encoding: str = Field(default="utf-8", description="Encoding of a text file.")
    header: bool = Field(
        default=True,
        description="Whether the first row of a text file or sheet has the names of the columns; "
        "else they are column_1, column_2, and so on.",
    )
    decimal: Literal[".", ","] = Field(
        default=".", description="Decimal sign of integers and numbers in a text file."
    )
    sheet: str | None = Field(
        default=None, description="Sheet of a spreadsheet, by name; needed if it has several."
    )
    labels: bool = Field(
        default=False,
        description="Read the value labels of an SPSS, Stata or SAS file instead of its codes.",
    )
    user_missing: Literal["missing", "keep"] = Field(
        default="missing",
        description="What becomes of values that an SPSS, Stata or SAS file declares as missing: "
        "'missing' reads them as missing, 'keep' as values.",
    )

    if TYPE_CHECKING:  # as callers may write it

        def __init__(
            self,
            *,
            path: str | Path = ...,
            url: str | None = ...,
            table: str | None = ...,
            query: str | None = ...,
            missing: Sequence[str] = ...,
            format: Format | None = ...,
            delimiter: str | None = ...,
            quote: str | None = ...,
            encoding: str = ...,
            header: bool = ...,
            decimal: Literal[".", ","] = ...,
            sheet: str | None = ...,
            labels: bool = ...,
            user_missing: Literal["missing", "keep"] = ...,
        ) -> None: ...

    @field_validator("delimiter", "quote")
    @classmethod
    def _one_ascii_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or ord(value) > 127 or value in "\r\n\0"):
            raise ValueError(f"must be one ASCII character, found {value!r}")
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            known = codecs.lookup(value)
        except LookupError:
            raise ValueError(f"is not a known encoding: {value!r}; try utf-8 or latin-1") from None
        if not known._is_text_encoding:
            raise ValueError(f"is not an encoding of text: {value!r}; try utf-8 or latin-1")
        return value

    @model_validator(mode="after")
    def _one_place(self) -> Source:
        if self.in_catalog:
            return self
        if (self.url is None) == (self.path == NO_PATH):
            raise PydanticCustomError(
                "source_place", "give either the 'path' of a file or the 'url' of a database."
            )
        named = [self.table, self.query]
        if self.url is None and any(named):
            raise PydanticCustomError(
                "source_table", "'table' and 'query' are for a database. Give its 'url'."
            )
        if self.url is not None:
            if named.count(None) != 1:
                raise PydanticCustomError(
                    "source_table", "give either the 'table' of the database or a 'query'."
                )
            try:
                dialect_of(self.url, to_read=True)
            except InputError as error:
                raise PydanticCustomError(
                    "source_url", "{problem}", {"problem": str(error)}
                ) from None
        return self

    @classmethod
    def of_file(cls, path: Path, **options: Any) -> Source:
        """Return the source of a table in the file that a call names."""
        if path == NO_PATH:
            raise InputError(f"{path}: is a folder. Name one file in it.")
        try:
            return cls.model_validate({"path": path, **options}).placed(Path())
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
                for problem in error.errors()
            ]
            known = ", ".join(OPTIONS)
            raise InputError(
                f"{path}: how to read it is not clear: {'; '.join(wrong)}. Options: {known}."
            ) from None

    def placed(self, folder: Path) -> Source:
        """Return the source with its path from a folder, or a file with the standard input."""
        path = saved_standard_input() if self.path == DASH else folder / self.path
        return self.model_copy(update={"path": path})

    @property
    def in_catalog(self) -> bool:
        """Whether the source is a table or a query of the engine's own catalog."""
        named = (self.table is None) != (self.query is None)
        return named and self.url is None and self.path == NO_PATH

    @property
    def is_text(self) -> bool:
        """Whether the file holds delimited text."""
        return self.resolved_format in ("csv", "tsv")

    @property
    def resolved_format(self) -> Format:
        """The given format, or that of the path's suffix."""
        if self.format is not None:
            return self.format
        if self.path.name == NAME:
            return _format_of_bytes(self.path)
        endings = [ending.lower() for ending in self.path.suffixes]
        if endings and endings[-1] in COMPRESSED:
            endings.pop()
        format_ = FORMAT_OF_ENDING.get(endings[-1]) if endings else None
        if format_ is None and self.path.is_dir():
            held = {path.suffix for path in self.path.rglob("*") if path.is_file()}
            format_ = "parquet" if ".parquet" in held else "arrow" if ".arrow" in held else None
        if format_ is None:
            if not self.is_pattern:
                self.require_file()
                _refuse_database(self.path)
            known = ", ".join(FORMAT_OF_ENDING)
            formats = ", ".join(get_args(Format)[:-1])
            raise InputError(
                f"{self.path}: the format does not follow from the file name. Known endings: "
                f"{known} (text also with .gz, .zst, .bz2 or .xz). Set `format:` to {formats} "
                "or ods."
            )
        return format_

    @property
    def is_pattern(self) -> bool:
        """Whether the path is a pattern of several files, such as ``people/*.parquet``."""
        return not self.path.exists() and any(sign in str(self.path) for sign in "*?[")

    @property
    def root(self) -> Path:
        """The folder below which the names of folders may give columns."""
        if not self.is_pattern:
            return self.path if self.path.is_dir() else self.path.parent
        parts = self.path.parts
        magic = next(i for i, part in enumerate(parts) if any(sign in part for sign in "*?["))
        return Path(*parts[:magic])

    def matching(self) -> list[Path]:
        """Return the files that a pattern means; raise if there is none."""
        paths = self.root.glob(str(self.path.relative_to(self.root)))
        files = sorted(path for path in paths if path.is_file())
        if not files:
            raise InputError(f"{self.path}: no file matches the pattern. Check the path.")
        return files

    @property
    def files(self) -> list[Source]:
        """The source of each file of a table: its own, or those that a pattern means."""
        if not self.is_pattern:
            return [self]
        return [self.model_copy(update={"path": path}) for path in self.matching()]

    def require_file(self) -> None:
        """Raise, with the nearest names in the folder, unless the file exists."""
        if self.path.is_file():
            return
        if self.path.is_dir():
            raise InputError(f"{self.path}: is a folder. Name one file in it.")
        if self.is_pattern:
            raise InputError(
                f"{self.path}: a pattern is for text, Parquet and Arrow files. Name one file."
            )
        if self.path.exists():
            raise InputError(
                f"{self.path}: a pipe or device, not a file. Save the data to a file first."
            )
        folder = self.path.parent
        if not folder.is_dir():
            raise InputError(f"{self.path}: there is no folder {folder}. Check the path.")
        names = [entry.name for entry in folder.iterdir() if entry.is_file()]
        near = difflib.get_close_matches(self.path.name, names, n=3)
        advice = f"Did you mean {' or '.join(near)}?" if near else "Check the path."
        raise InputError(f"{self.path}: there is no such file. {advice}").with_code(FILE_MISSING)


PLACES = ("path", "url", "table", "query")
OPTIONS = tuple(name for name in Source.model_fields if name not in PLACES)  # how to read a file


def _refuse_database(path: Path) -> None:
    """Raise with the URL of a database where its file is named like a table."""
    try:
        with open_regular(path) as file:
            start = file.read(16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    kind = "sqlite" if start.startswith(b"SQLite format 3") else None
    kind = "duckdb" if start[8:12] == b"DUCK" else kind
    if kind is not None:
        raise InputError(
            f"{path}: a database, not a table. Give its URL, {kind}:///{path}, with a table or a "
            "query."
        )


def _format_of_bytes(path: Path) -> Format:
    """Return the format that the first bytes of a file show; text if none."""
    with open_regular(path) as file:
        start = file.read(16)
    return next((name for first, name in FIRST_BYTES.items() if start.startswith(first)), "csv")
