"""Polars reads a piece of a text file exactly as the records are defined, or not at all."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.io.csv import file_pieces, layout
from discreet.io.csv.file_pieces import (
    Fault,
    FaultyRecordError,
    FilePiece,
    cut_file,
    read_piece,
    records,
)
from discreet.io.csv.layout import Layout

PIECES = ["a", "7", " ", ",", ",", ";", "\n", "\n", "\r\n", "\r", '"', '"', '""', '",', ',"', '"\n']
PIECES += ['\n"', "é", "\ufeff", "\0", "#", "\\", "'"]
ANYTHING = st.lists(st.sampled_from([p.encode() for p in PIECES] + [b"\xff"]), max_size=20)
CELLS = ["", "a", " b ", "007", "é", "\ufeff", '"', 'q"r', '""', "c,d", "e\nf", "\n\n", "g\r\nh"]
QUOTED = st.sampled_from([*CELLS, "\r\n", ",", ",,\n"])


def piece_of(data: bytes, fields: int, quote: bytes = b'"') -> FilePiece:
    names = tuple(f"c{number}" for number in range(fields))
    empty = b"," * (fields - 1) + b"\n"
    layout_ = Layout(names, b",", quote)
    sound = file_pieces._end_of_records(empty + data, layout_)[1]
    return FilePiece(empty + data, layout_, 2, sound)


def by_polars(piece: FilePiece) -> list[list[bytes]] | None:
    frame = read_piece(piece, {name: pl.String() for name in piece.layout.names})
    if frame is None:
        return None
    return [[(cell or "").encode() for cell in row] for row in frame.rows()]


def by_definition(piece: FilePiece) -> list[list[bytes]] | None:
    try:
        return [cells for _, cells in records(piece.records, piece.layout)]
    except FaultyRecordError:
        return None


@settings(max_examples=600, deadline=None)
@given(pieces=ANYTHING, fields=st.integers(1, 3), quote=st.sampled_from([b'"', b"'", b""]))
def test_polars_agrees_with_the_definition_or_declines(
    pieces: list[bytes], fields: int, quote: bytes
) -> None:
    piece = piece_of(b"".join(pieces) + b"\n", fields, quote)
    found = by_polars(piece)
    assert found is None or found == by_definition(piece)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.lists(QUOTED, min_size=3, max_size=3), max_size=8),
    style=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_other_programs_write_is_read_by_polars(
    rows: list[list[str]], style: int, end: str
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=style, lineterminator=end).writerows(rows)
    piece = piece_of(written.getvalue().encode(), 3)
    expected = [[cell.encode() for cell in row] for row in rows]
    assert by_definition(piece) == expected
    assert by_polars(piece) == expected


@settings(max_examples=200, deadline=None)
@given(pieces=ANYTHING, size=st.integers(1, 30), fields=st.integers(1, 2))
def test_pieces_are_whole_records(pieces: list[bytes], size: int, fields: int) -> None:
    data = b"".join(pieces)
    whole = piece_of(data + b"\n" * (not data.endswith(b"\n")), fields)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_pieces, "BLOCK_BYTES", size)
        parts = list(cut_file(io.BytesIO(data), whole.layout, b"", 2))
    together = b"".join(part.records for part in parts)
    assert whole.records.startswith(together)
    left_out = whole.records[len(together) :] if data else b""  # blank lines at the end
    assert not left_out.replace(b"\r\n", b"\n").strip(b"\n")
    assert fields > 1 or not left_out
    expected = by_definition(whole)
    if expected is not None and data:
        assert [row for part in parts for row in by_definition(part) or []] == expected
    if expected is not None and parts:
        assert parts[-1].line == 2 + sum(part.records.count(b"\n") for part in parts[:-1])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'"a""b",\n', [[b'a"b', b""]]),
        (b'5" pipe,x"y"\n', [[b'5" pipe', b'x"y"']]),
        (b'a, "b"\n', [[b"a", b' "b"']]),
        (b"a\r,\r\r\n\r,b\n", [[b"a\r", b"\r"], [b"\r", b"b"]]),
        (b"\r\n\n ,\n", [[b" ", b""]]),
        (b'"\r\n\n",""\r\n', [[b"\r\n\n", b""]]),
        (b"\xef\xbb\xbfa,\0\n", [[b"\xef\xbb\xbfa", b"\0"]]),
    ],
)
def test_odd_records(data: bytes, expected: list[list[bytes]]) -> None:
    piece = piece_of(data, 2)
    assert by_definition(piece) == expected
    assert by_polars(piece) in (None, expected)


@pytest.mark.parametrize(
    ("data", "fault", "line"),
    [
        (b"a,b\na\na,b,c\n", Fault.RAGGED, 3),  # the number of cells is right in sum
        (b"a,b\na,b,\na\n", Fault.RAGGED, 3),
        (b'a,"b\n\n"\n"a"b,c\n', Fault.TEXT_AFTER_QUOTE, 5),
        (b'a,b\n"a"\r,b\n', Fault.TEXT_AFTER_QUOTE, 3),
        (b'a,b\nc,"d\n\n', Fault.UNCLOSED, 3),
    ],
)
def test_faults(data: bytes, fault: Fault, line: int) -> None:
    piece = piece_of(data, 2)
    assert by_polars(piece) is None
    with pytest.raises(FaultyRecordError) as caught:
        list(records(piece.records, piece.layout))
    assert caught.value.fault is fault
    assert piece.line_at(caught.value.place) == line


def test_a_stray_quote_does_not_gather_the_rest_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", 100)
    monkeypatch.setattr(layout, "READ_AT_ONCE", 100)
    data = b'5" pipe,b\n' + b"a,b\n" * 10_000
    parts = list(cut_file(io.BytesIO(data), Layout(("x", "y"), b",", b'"'), b"", 2))
    assert max(len(part.data) for part in parts) < 300
    assert by_polars(parts[0]) is None and by_polars(parts[1]) is not None
