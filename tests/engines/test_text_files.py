"""Text files in stretches, as workers read them: the rows of one machine, or its errors."""

from __future__ import annotations

import gzip
from itertools import pairwise

import pytest

pytest.importorskip("pyspark")

from discreet.addons.spark.text_files import SplitCellError, TextFiles
from discreet.errors import InputError
from discreet.io.source import Source

ROWS = [(f"{n:03}" * (1 + n % 4), f"x, {n}" if n % 3 else "") for n in range(60)]
TEXT = "a,b\n" + "".join(f'{a},"{b}"\n' if b else f"{a},\n" for a, b in ROWS)


def rows_of(folder, *texts: bytes, rows: int = 5, **how):
    """The cells of all stretches in order, of whole files where one may split a cell."""
    files = []
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_bytes(text)
        files.append(Source(path=folder / f"{number}.csv", **how))
    table = TextFiles.of(files[0], files)
    stretches = table.splits(rows, 2)
    for first, second in pairwise(stretches):
        assert first.source != second.source or first.end == second.begin
    try:
        tables = [own for one in stretches for own in one.tables({"b": "c1", "a": "c0"})]
    except SplitCellError:
        tables = [own for one in table.whole() for own in one.tables({"b": "c1", "a": "c0"})]
    return [(row["c0"], row["c1"]) for own in tables for row in own.to_pylist()]


@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_row_is_read_once_and_in_order(tmp_path, rows, end, mark):
    text = mark + TEXT.replace("\n", end).encode()
    assert rows_of(tmp_path, text, rows=rows) == ROWS
    assert rows_of(tmp_path, text.removesuffix(end.encode()), rows=rows) == ROWS


def test_files_may_have_their_columns_in_another_order(tmp_path):
    other = "b;a\n" + "".join(f"{b};{a}\n" for a, b in ROWS)
    assert rows_of(tmp_path, TEXT.encode(), other.encode()) == ROWS * 2
    with pytest.raises(InputError, match="columns are not those"):
        rows_of(tmp_path, TEXT.encode(), b"a,c\n1,2\n")


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 1000])
def test_a_cell_with_a_line_break_is_whole(tmp_path, rows):
    text = TEXT.replace("x, 10", "x,\n 10").replace("x, 40", "x,\n\n40")
    whole = [(a, b.replace("x, 10", "x,\n 10").replace("x, 40", "x,\n\n40")) for a, b in ROWS]
    assert rows_of(tmp_path, text.encode(), rows=rows) == whole


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_quotes_within_cells_do_not_hide_a_split_cell(tmp_path, rows):
    """The number of quotes is even on both sides of the line break."""
    text = b'a,b\n5" pipe,1\n2,"x\n3,y 6",4\n7",8\n'
    with pytest.raises(InputError, match="line 3: the row has 3 cells"):
        rows_of(tmp_path, text, rows=rows)
    text = b'a,b\n5" pipe,1\n2,"x\n3,y 6"\n7",8\n'
    found = [('5" pipe', "1"), ("2", "x\n3,y 6"), ('7"', "8")]
    assert rows_of(tmp_path, text, rows=rows) == found


def test_files_that_cannot_be_cut_are_read_whole(tmp_path):
    assert rows_of(tmp_path, TEXT.encode("utf-16"), encoding="utf-16") == ROWS
    assert rows_of(tmp_path, gzip.compress(TEXT.encode()), TEXT.encode()) == ROWS * 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"only one\n", "line 62: the row has 1 cell, the header 2"),
        (b"\xff,1\n", "is not utf-8"),
        (b"\0,1\n", "NUL"),
    ],
)
def test_a_faulty_record_is_reported_as_on_one_machine(tmp_path, row, said):
    with pytest.raises(InputError, match=said):
        rows_of(tmp_path, TEXT.encode() + row)
