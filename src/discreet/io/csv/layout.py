"""How a text file is written: its delimiter, its quote and the names in its header.

The bytes of a text file in UTF-8, whatever its compression and encoding.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, cast

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.header import distinct_names, numbered_names
from discreet.io.source import Source
from discreet.listing import listed_columns, looks_like_cell
from discreet.regular_files import Unpacking, open_regular

GZIP, ZSTD, XZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"
BZIP2 = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")  # a header alone could be a column's name
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
LONGEST_MARK = 10  # bytes
READ_AT_ONCE = 1 << 20  # bytes; also the longest header
PACKED_AT_ONCE = 1 << 16  # little, for it may unpack to much


@contextmanager
def open_utf8(source: Source) -> Iterator[IO[bytes]]:
    """The bytes of a text file in UTF-8: unzipped, decoded and without a byte order mark."""
    source.require_file()
    try:
        with open_regular(source.path) as file:
            stream: Any = _unzipped(file, source)
            if codecs.lookup(source.encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
                stream = io.BufferedReader(_Transcoder(stream, source))
            _pass_byte_order_mark(stream, source)
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError):
        raise InputError(
            f"{source.path}: the compressed file is damaged or truncated. Get it again."
        ) from None
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read ({error.strerror or error}).") from None


def _unzipped(file: Any, source: Source) -> io.BufferedReader:
    opener = _opener(file.peek(LONGEST_MARK)[:LONGEST_MARK])
    if opener is None:
        return cast(io.BufferedReader, file)
    return io.BufferedReader(Unpacking(opener(file), source.path), READ_AT_ONCE)


def is_packed(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of a compressed one."""
    return _opener(start) is not None


def _opener(start: bytes) -> Callable[[Any], Any] | None:
    """Return what unpacks a file that begins with some bytes; None for plain text."""
    if start.startswith(ZSTD):
        return _Unpacked
    if start.startswith(GZIP):
        return lambda file: gzip.GzipFile(fileobj=file)
    if start.startswith(XZ):
        return lzma.LZMAFile
    return _Bunzipped if BZIP2.match(start) else None


class _Bunzipped(bz2.BZ2File):
    """The bytes of a bzip2 file; damage raises EOFError, as truncation does."""

    def readinto(self, buffer: Any) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            if error.errno is not None:
                raise
            raise EOFError from None


class _Unpacked(io.RawIOBase):
    """The bytes of a zstd file of one or more frames; damage and truncation raise EOFError.

    The library's own stream takes a truncated file for a complete one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._library = require_extra("zstandard", "Files of zstd", "zstd")
        self._file = file
        self._frame: Any = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            self._packed = self._packed or self._file.read(PACKED_AT_ONCE)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError
                return 0
            self._unpack()
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpack(self) -> None:
        self._frame = self._frame or self._library.ZstdDecompressor().decompressobj()
        try:
            self._ready = self._frame.decompress(self._packed)
        except self._library.ZstdError:
            raise EOFError from None
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None


def wrong_encoding(source: Source) -> InputError:
    """The error that names the first byte of a file that is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    line, offset = 1, 0
    with open_regular(source.path) as file:
        stream = _unzipped(file, source)
        while raw := stream.read(READ_AT_ONCE):
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
            raw = self._stream.read(READ_AT_ONCE)
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


SAMPLE_BYTES = 1 << 16
SAMPLE_RECORDS = 20
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Layout:
    """How the records of a file are written."""

    names: tuple[str, ...]  # each of its own
    delimiter: bytes
    quote: bytes  # empty if cells are never quoted
    headed: bool = True  # whether the first record has the names
    written: tuple[str, ...] = ()  # the header, where columns share a name

    @property
    def fields(self) -> int:
        """The number of cells of a record."""
        return len(self.names)


def header(source: Source) -> tuple[str, ...]:
    """Return the names of the columns of a text file, or of all files of a pattern."""
    files = source.files
    names = dialect(files[0])[0]
    for file in files[1:]:
        require_same_columns(names, files[0], dialect(file)[0], file)
    return names


def written_header(source: Source) -> tuple[str, ...]:
    """Return the header of a text file as it is written, where columns may share a name."""
    first = source.files[0]
    with open_utf8(first) as file:
        layout, _, _ = open_layout(file, first)
    return layout.written or layout.names


def dialect(source: Source) -> tuple[tuple[str, ...], str]:
    """Return the names of the columns, and the delimiter."""
    with open_utf8(source) as file:
        layout, _, _ = open_layout(file, source)
    return layout.names, layout.delimiter.decode()


def require_same_columns(
    names: Sequence[str], first: Source, others: Sequence[str], file: Source
) -> None:
    """Raise unless a file of a pattern has the columns of the first one, in whatever order."""
    if set(names) == set(others):
        return
    difference = f"{len(others)} columns against {len(names)}"
    if file.header and not suspect_header(first) and not suspect_header(file):
        lacking = [name for name in names if name not in others]
        further = [name for name in others if name not in names]
        parts = [f"no {listed_columns(lacking)}"] if lacking else []
        difference = "; ".join(parts + ([f"also {listed_columns(further)}"] if further else []))
    raise InputError(
        f"{file.path}: its columns are not those of {first.path} ({difference}). Give all files of "
        "a pattern the same columns and the same kind of header, or choose fewer files."
    )


def suspect_header(source: Source) -> bool:
    """Return whether the first line of a text file may be a row, so that no name is repeated.

    One name looks like a cell or is a cell of its own column; or all columns are text, and half of
    the names are written like cells of their columns.
    """
    if not source.header:
        return False
    first = _FirstLine.of(source.files[0])
    return first.cell_like > 0 or (
        first.contrasting == 0 and 2 * first.written_like_cells >= first.names > 0
    )


def lacks_header(source: Source) -> bool:
    """Return whether the first line is most likely a row, unless the source states its header.

    Half of the names look like cells, or at least as many as differ from numbers or dates below.
    """
    if not source.header or "header" in source.model_fields_set:
        return False
    first = _FirstLine.of(source.files[0])
    return first.cell_like > 0 and (
        2 * first.cell_like >= first.names or first.cell_like >= first.contrasting
    )


@dataclass(frozen=True)
class _FirstLine:
    """How the first line of a text file compares with the next ones, in numbers of columns."""

    names: int
    cell_like: int  # look like cells, or are cells of their own column
    contrasting: int  # look like names above numbers, dates or addresses
    written_like_cells: int  # have letters, capitals and spaces as cells below have

    @classmethod
    def of(cls, source: Source) -> _FirstLine:
        with open_utf8(source) as file:
            text = file.read(SAMPLE_BYTES).decode("utf-8", "replace")
        names, delimiter = dialect(source)
        rows = [cells for cells, _ in _sample_records(text, delimiter, source.quote)][1:]
        if len(text) >= SAMPLE_BYTES // 2 and len(rows) > 1:
            rows.pop()  # cut at the end of the sample
        cell_like = contrasting = written_like_cells = 0
        for place, name in enumerate(names):
            cells = {row[place] for row in rows if place < len(row)} - {"", *source.missing}
            if looks_like_cell(name) or name in cells:
                cell_like += 1
            elif 2 * sum(map(looks_like_cell, cells)) > len(cells):
                contrasting += 1
            written_like_cells += _pattern(name) in map(_pattern, cells)
        return cls(len(names), cell_like, contrasting, written_like_cells)


def _pattern(text: str) -> str:
    """Return how a text is written: the classes of its characters, without repetition."""
    classes = re.sub(r"[^\W\d_]", lambda letter: "A" if letter[0].isupper() else "a", text)
    return re.sub(r"(.)\1+", r"\1", re.sub(r"\d", "9", classes))


def open_layout(file: IO[bytes], source: Source) -> tuple[Layout, bytes, int]:
    """Return the layout of the header, the bytes read beyond it, and its number of lines."""
    # A sample of whole lines shows the delimiter and the header.
    ahead = file.read(READ_AT_ONCE)
    if not ahead.strip():
        raise InputError(f"{source.path}: the file is empty. Expected a header and rows.")
    end = len(ahead)
    if end > SAMPLE_BYTES:
        end = ahead.rfind(b"\n", 0, SAMPLE_BYTES) + 1 or end
    sample = ahead[:end]
    if b"\0" in sample:
        raise nul_bytes(source)
    text = sample.decode("utf-8", "replace")
    delimiter = source.delimiter or (
        "\t" if source.resolved_format == "tsv" else _sniff(text, source)
    )
    records = _sample_records(text, delimiter, source.quote)
    names, lines = next(records, (None, 0))
    if names is None:
        raise InputError(
            f"{source.path}, line 1: the header cannot be read. Check its quotes, and that lines "
            "end with a line feed (or carriage return and line feed)."
        )
    # Without a header, columns are numbered and no line is passed.
    quote = (source.quote or "").encode()
    if not source.header:
        return Layout(tuple(numbered_names(len(names))), delimiter.encode(), quote, False), ahead, 0
    # The header ends with its last line; a cell may have several.
    place = 0
    for _ in range(lines):
        place = sample.find(b"\n", place) + 1 or len(sample)
    try:
        sample[:place].decode()
    except UnicodeDecodeError:
        raise wrong_encoding(source) from None
    # Names that recur as cells are not repeated in a message.
    repeated = any(name in row for row, _ in islice(records, SAMPLE_RECORDS) for name in names)
    distinct = distinct_names(names, str(source.path), suspect=repeated)
    written = () if distinct == names else tuple(names)
    layout = Layout(tuple(distinct), delimiter.encode(), quote, written=written)
    return layout, ahead[place:], lines


def _sniff(text: str, source: Source) -> str:
    """Return the delimiter that cuts the header in most names, best where rows agree with it."""
    best, best_score = ";" if source.decimal == "," else ",", (False, 1)
    for delimiter in DELIMITERS:
        if delimiter == source.decimal:
            continue
        records = islice(_sample_records(text, delimiter, source.quote), SAMPLE_RECORDS)
        widths = [len(names) for names, _ in records if names]
        if widths and widths[0] > 1:
            score = (len(set(widths)) == 1, widths[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _sample_records(
    text: str, delimiter: str, quote: str | None
) -> Iterator[tuple[list[str], int]]:
    """Yield the first records, each with the number of its last line, up to a damaged one."""
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        for record in reader:
            yield record, reader.line_num
    except csv.Error:
        return


def nul_bytes(source: Source) -> InputError:
    """Return the error of a text file with NUL bytes."""
    return InputError(
        f"{source.path}: the file holds NUL bytes, so it is not text in {source.encoding}. Set its "
        "`encoding:`, such as utf-16, or its `format:`."
    )
