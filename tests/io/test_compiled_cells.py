"""Compiled code numbers the cells of a piece exactly as the records are defined, or not at all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.io.test_csv_records import ANYTHING, QUOTED, by_definition, piece_of

from discreet.io.csv import file_pieces, numbered_cells
from discreet.io.csv.file_pieces import FilePiece
from discreet.io.csv.numbered_cells import EMPTY, CompiledReader
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.table.kernels import tiers
from discreet.table.roles import ColumnSpec, Role

NUMBERS = [
    "0",
    "7",
    "10",
    "9999999",
    "10000000",
    "16777215",
    "16777216",
    "007",
    "-7",
    "7.0",
    "x",
    "",
]
LONG = ["abcdefg", "abcdefgh", "abcdefgi", "abcdefghi", "a\0", "a", "é" * 9, "x" * 100, "x" * 99]


def by_compiled(
    pieces: list[FilePiece], whole: list[bool] | None = None
) -> list[list[list[bytes]] | None]:
    """The cells of pieces that one reader takes, each of which it may decline."""
    reader, found, text_of = CompiledReader(), [], {EMPTY: b""}
    for piece in pieces:
        fields = piece.layout.fields
        asked = np.array(whole or [False] * fields)
        numbers = reader.read(piece, np.arange(fields), asked)
        try:
            for new, texts in reader.new_texts(piece).values():
                text_of |= zip(new.tolist(), [text.encode() for text in texts], strict=True)
        except UnicodeDecodeError:
            return [None] * len(pieces)
        found.append(
            None
            if numbers is None
            else [
                [
                    str(n).encode() if by_number and n != EMPTY else text_of[n]
                    for n, by_number in zip(row, asked, strict=True)
                ]
                for row in numbers.T.tolist()
            ]
        )
    return found


@settings(max_examples=600, deadline=None)
@given(pieces=ANYTHING, fields=st.integers(1, 3), quote=st.sampled_from([b'"', b"'", b"", b","]))
def test_compiled_code_agrees_with_the_definition_or_declines(
    pieces: list[bytes], fields: int, quote: bytes
) -> None:
    piece = piece_of(b"".join(pieces) + b"\n", fields, quote)
    found = by_compiled([piece])[0]
    assert found is None or found == by_definition(piece)


@settings(max_examples=200, deadline=None)
@given(
    tables=st.lists(
        st.lists(
            st.tuples(st.sampled_from(LONG), QUOTED, st.sampled_from(NUMBERS[:6])), max_size=8
        ),
        max_size=3,
    ),
    style=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_texts_keep_their_numbers_in_later_pieces(
    tables: list[list[tuple[str, str, str]]], style: int
) -> None:
    pieces, expected = [], []
    for rows in tables:
        written = io.StringIO(newline="")
        csv.writer(written, quoting=style, lineterminator="\n").writerows(rows)
        pieces.append(piece_of(written.getvalue().encode(), 3))
        cells = [[cell.encode() for cell in row] for row in rows]
        declined = any('"' in row[1] or "\r" in row[1] for row in rows)
        expected.append(None if declined else cells)
    assert by_compiled(pieces, [False, False, True]) == expected


@pytest.mark.parametrize("cell", NUMBERS)
@pytest.mark.parametrize("behind", [b"", b"1,bcdefghi\n"])
def test_only_plain_whole_numbers_are_read_as_such(cell: str, behind: bytes) -> None:
    piece = piece_of(f"{cell},a\n".encode() + behind, 2)
    plain = cell == "" or (cell.isdigit() and cell == str(int(cell)) and int(cell) < 1 << 24)
    found = by_compiled([piece], [True, False])[0]
    assert found == (by_definition(piece) if plain else None)


def test_a_text_is_told_from_another_with_the_same_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers.TIERS, "asked", "interpreted")
    monkeypatch.setitem(
        numbered_cells._number_cells.interpreted.__globals__,  # type: ignore[attr-defined]
        "_ODD",
        np.uint64(0),
    )
    piece = piece_of("".join(f"{a},{b}\n" for a in LONG[:6] for b in LONG[:6]).encode(), 2)
    assert by_compiled([piece]) == [by_definition(piece)]


def read(path: Path, data: str) -> list[list[str | None]]:
    path.write_text(data)
    source = Source(path=path, delimiter=",")
    names = column_names(source)
    table = read_table(source, dict.fromkeys(names, ColumnSpec(Role.STRUCTURE)))
    return [table[name].text.gather(table[name].codes).to_list() for name in names]


@pytest.mark.parametrize("most", [0, 3, 40, 1 << 15])
def test_pieces_that_are_declined_are_read_by_polars_among_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Cells are the same, by whatever code they were numbered."""
    monkeypatch.setattr(numbered_cells, "is_faster", lambda size: size > 100)
    monkeypatch.setattr(numbered_cells, "MOST_TEXTS", most)
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", 64)
    rows = [[f"t{n % 7}", str(n), "" if n % 5 else f"v{n % 11}", f"x{n % 3}"] for n in range(200)]
    rows[60][0], rows[120][2], rows[150][1], rows[170][2] = 'q"r', "s\r", "007", '"'
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows([["a", "b", "c", "d"], *rows])
    expected = [[row[column] or None for row in rows] for column in range(4)]
    assert read(tmp_path / "table.csv", written.getvalue()) == expected


def test_columns_of_several_files_may_be_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbered_cells, "is_faster", lambda _: True)
    (tmp_path / "1.csv").write_text("a,b\nx,y\ny,z\n")
    (tmp_path / "2.csv").write_text("b,a\nx,y\nz,w\n")
    source = Source(path=tmp_path / "*.csv")
    table = read_table(source, dict.fromkeys("ab", ColumnSpec(Role.STRUCTURE)))
    found = {name: table[name].text.gather(table[name].codes).to_list() for name in "ab"}
    assert found == {"a": ["x", "y", "y", "w"], "b": ["y", "z", "x", "z"]}
