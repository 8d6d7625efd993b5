"""The source of a table: the ``source`` key of a job, and the bytes behind it."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from discreet.errors import InputError
from discreet.io.databases import dialect_of

Format = Literal["csv", "tsv", "parquet", "arrow"]

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
}
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
TRANSCODED_AT_ONCE = 1 << 20
NO_PATH = Path()

Tell = Callable[[float], None]  # how much of a file is read or written, in [0, 1]


def ignore_progress(share: float) -> None:
    """Report no progress."""


class Source(BaseModel):
    """A table on disk and how to read it, or one in a database."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path = Field(
        default=NO_PATH, description="A CSV, TSV, Parquet or Arrow file; text may be gzipped."
    )
    url: str | None = Field(
        default=None,
        description="A database instead of a file: sqlite:///… or postgresql://…, no password.",
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
                dialect_of(self.url)
            except InputError as error:
                raise PydanticCustomError(
                    "source_url", "{problem}", {"problem": str(error)}
                ) from None
        return self

    @classmethod
    def of_file(cls, path: Path, **given: Any) -> Source:
        """Return the source of a table in the file that a call names."""
        if path == NO_PATH:
            raise InputError(f"{path}: is a folder. Name one file in it.")
        return cls(path=path, **given)

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
        endings = [ending.lower() for ending in self.path.suffixes if ending.lower() != ".gz"]
        found = FORMAT_OF_ENDING.get(endings[-1]) if endings else None
        if found is None:
            self.require_file()
            known = ", ".join(FORMAT_OF_ENDING)
            raise InputError(
                f"{self.path}: the format does not follow from the file name. Known endings: "
                f"{known} (text also with .gz). Set `format:` to csv, tsv, parquet or arrow."
            )
        return found

    def require_file(self) -> None:
        """Raise, with the nearest names in the folder, unless the file exists."""
        if self.path.is_file():
            return
        if self.path.is_dir():
            raise InputError(f"{self.path}: is a folder. Name one file in it.")
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
        raise InputError(f"{self.path}: there is no such file. {advice}")


@contextmanager
def open_utf8(source: Source) -> Iterator[IO[bytes]]:
    """The bytes of a text file in UTF-8: unzipped, decoded and without a byte order mark."""
    source.require_file()
    try:
        with source.path.open("rb") as file:
            stream: Any = _unzipped(file)
            if codecs.lookup(source.encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
                stream = io.BufferedReader(_Transcoder(stream, source))
            _pass_byte_order_mark(stream, source)
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            f"{source.path}: the gzip file is damaged or truncated. Get it again."
        ) from None
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read ({error.strerror or error}).") from None


def _unzipped(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=file)), 1 << 20)


def wrong_encoding(source: Source) -> InputError:
    """The error that names the first byte of a file that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    line, offset = 1, 0
    with source.path.open("rb") as file:
        stream = _unzipped(file)
        while raw := stream.read(TRANSCODED_AT_ONCE):
            try:
                line += decoder.decode(raw).count("\n")
            except UnicodeDecodeError as error:
                return _undecodable(source, error, line, offset + len(raw))
            offset += len(raw)
    return InputError(
        f"{source.path}: the last character is truncated. Get the file again, or set its "
        "`encoding:`."
    )


def _undecodable(source: Source, error: UnicodeDecodeError, line: int, read: int) -> InputError:
    # The decoder may have buffered bytes of the last read, which the error's object includes.
    line += error.object[: error.start].count(b"\n")
    offset = read - len(error.object) + error.start
    byte = error.object[error.start]
    likely = "windows-1252" if 0x80 <= byte < 0xA0 else "latin-1"
    if source.encoding in ("latin-1", "windows-1252"):
        likely = "utf-8"
    return InputError(
        f"{source.path}, line {line}: byte {offset} (0x{byte:02x}) is not {source.encoding}. "
        f"Set the file's encoding, for example `encoding: {likely}`."
    )


def _pass_byte_order_mark(stream: Any, source: Source) -> None:
    start = stream.peek(4)[:4]
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            if encoding != "utf-8":
                raise InputError(
                    f"{source.path}: the file is {encoding}, not {source.encoding}. "
                    f"Set `encoding: {encoding}`."
                )
            stream.read(len(mark))
            return


class _Transcoder(io.RawIOBase):
    """A stream in another encoding, read as UTF-8."""

    def __init__(self, stream: IO[bytes], source: Source) -> None:
        self._stream = stream
        self._source = source
        self._decoder = codecs.getincrementaldecoder(source.encoding)("strict")
        self._ready = b""
        self._line = 1
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            raw = self._stream.read(TRANSCODED_AT_ONCE)
            self._ready = self._decode(raw).encode()
            if not raw:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decode(self, raw: bytes) -> str:
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            raise _undecodable(self._source, error, self._line, self._read + len(raw)) from None
        self._line += text.count("\n")
        self._read += len(raw)
        return text
