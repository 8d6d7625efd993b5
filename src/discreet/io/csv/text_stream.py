"""The bytes of a text file in UTF-8, whatever its compression and encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from discreet.errors import InputError
from discreet.extras import require_extra
from discreet.io.source import Source
from discreet.regular_files import Unpacking, open_regular

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
TRANSCODED_AT_ONCE = 1 << 20
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
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(
            f"{source.path}: the compressed file is damaged or truncated. Get it again."
        ) from None
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read ({error.strerror or error}).") from None


def _unzipped(file: Any, source: Source) -> io.BufferedReader:
    start = file.peek(4)[:4]
    if start != ZSTD and start[:2] != GZIP:
        return cast(io.BufferedReader, file)
    packed = _Unpacked(file) if start == ZSTD else gzip.GzipFile(fileobj=file)
    return io.BufferedReader(Unpacking(packed, source.path), 1 << 20)


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
