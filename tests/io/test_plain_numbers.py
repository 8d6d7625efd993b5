"""Whole numbers in plain form number themselves; every other cell keeps its text."""

import polars as pl
import pytest

from discreet.io.csv import file_pieces, numbered_cells
from discreet.io.source import Source
from discreet.io.tables import read_table
from discreet.table.roles import ColumnSpec, Role, ValueType

PLAIN = [str(number) for number in (7, 0, 1_000, 99, 16_777_215, 7, 10, 1)] * 3
ODD = ["007", "+7", " 7", "7 ", "-0", "-7", "7.0", "1e3", "", "x", "16777216", "4294967296", "٣"]


@pytest.fixture(params=["polars", "compiled"])
def either_reader(request, monkeypatch):
    monkeypatch.setattr(numbered_cells, "is_faster", lambda _: request.param == "compiled")


def read_back(tmp_path, rows, line_end="\n"):
    """The cells of a column after a text and before another number."""
    path = tmp_path / "table.csv"
    lines = ["a,b,c", *(f"t{place % 3},{cell},{place}" for place, cell in enumerate(rows))]
    path.write_bytes((line_end.join(lines) + line_end).encode())
    specs = {name: ColumnSpec(Role.STRUCTURE, ValueType.TEXT) for name in "abc"}
    table = read_table(Source(path=path, delimiter=","), specs)
    assert table["c"].text.gather(table["c"].codes).to_list() == [
        str(place) for place in range(len(rows))
    ]
    assert table["b"].text.drop_nulls().is_sorted()
    return table["b"].text.gather(table["b"].codes).to_list()


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize("bytes_", [16, 64, 1 << 23])
@pytest.mark.parametrize("odd", ODD)
def test_cells_that_are_not_plain_numbers_keep_their_text(tmp_path, monkeypatch, odd, bytes_):
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", bytes_)
    for place in (0, 1, 11, len(PLAIN)):
        rows = [*PLAIN[:place], odd, *PLAIN[place:]]
        assert read_back(tmp_path, rows) == [cell or None for cell in rows], place


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize("bytes_", [16, 1 << 23])
def test_quoted_cells_and_other_line_ends_are_read_as_ever(tmp_path, monkeypatch, bytes_):
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", bytes_)
    rows = [*PLAIN, '"8"', *PLAIN]
    assert read_back(tmp_path, rows) == [cell.strip('"') for cell in rows]
    assert read_back(tmp_path, PLAIN, "\r\n") == PLAIN
    assert read_back(tmp_path, ['"8"', *PLAIN]) == ["8", *PLAIN]


def test_plain_numbers_are_read_as_numbers(tmp_path, monkeypatch):
    types = []
    real = pl.read_csv

    def read_csv(*arguments, **options):
        types.append(options["schema"]["b"])
        return real(*arguments, **options)

    monkeypatch.setattr(numbered_cells, "is_faster", lambda _: False)
    monkeypatch.setattr(pl, "read_csv", read_csv)
    assert read_back(tmp_path, PLAIN) == PLAIN
    assert types == [pl.UInt32]


@pytest.mark.parametrize("form", ["{}", "x{}"])
@pytest.mark.parametrize("empty", [0, 200, 300, 69_000, None])
def test_pieces_whose_numbers_have_different_widths(tmp_path, monkeypatch, form, empty):
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", 1 << 13)
    rows = [form.format(number % 70_000) for number in range(70_300)]
    if empty is not None:
        rows[empty] = ""
    assert read_back(tmp_path, rows) == [cell or None for cell in rows]
