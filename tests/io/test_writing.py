"""What is written reads back the same, and a failed write leaves nothing."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ReleaseError
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.io.writing import OutputFormat, write_table
from discreet.table.published import PublishedColumn
from discreet.table.roles import ColumnSpec, Role

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
TRICKY = st.text(st.sampled_from(' ,;\t|"\r\nab*é\ufeff'), max_size=6)
CELL = st.none() | TEXT | TRICKY


def published(name: str, cells: list[str | None]) -> PublishedColumn:
    labels = sorted({cell for cell in cells if cell is not None})
    dictionary: list[str | None] = [None, *labels]
    codes = np.array([dictionary.index(cell) for cell in cells], np.int32)
    return PublishedColumn(name, Role.SENSITIVE, codes, pl.Series(dictionary, dtype=pl.String))


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str | None]]:
    named = (TEXT | TRICKY).filter(lambda name: name and not (name[0] == "^" and name[-1] == "$"))
    names = draw(st.lists(named, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 8))
    column = st.lists(CELL, min_size=rows, max_size=rows)
    return {name: draw(column) for name in names}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@settings(max_examples=80, deadline=None)
@given(table=tables(), data=st.data())
def test_round_trip(
    format: OutputFormat, table: dict[str, list[str | None]], data: st.DataObject
) -> None:
    rows = len(next(iter(table.values())))
    order = np.array(data.draw(st.permutations(range(rows))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{format}"
        write_table(path, format, [published(*item) for item in table.items()], order)
        source = Source(path=path)
        names = column_names(source)
        assert names == tuple(table)
        back = read_table(source, {name: ColumnSpec(Role.SENSITIVE) for name in names})
    assert back.rows == rows
    for name, cells in table.items():
        expected = [cells[row] or None for row in order]
        column = back[name]
        assert [column.text[int(code)] for code in column.codes] == expected
        texts = [text for text in column.text if text is not None]
        assert texts == sorted({cell for cell in expected if cell is not None})


def test_csv_as_others_see_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    columns = [
        published("a b", ["x,y", None, 'q"r']),
        PublishedColumn("n", Role.INSENSITIVE, np.array([1, 0, 1], np.int32), pl.Series([1, 20])),
    ]
    write_table(path, "csv", columns, np.array([2, 0, 1]))
    assert path.read_bytes() == b'a b,n\n"q""r",20\n"x,y",20\n,1\n'
    with path.open(newline="") as file:
        assert list(csv.reader(file))[1] == ['q"r', "20"]


def test_a_lone_missing_cell_is_a_row_to_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, "csv", [published("a", ["x", None, "y"])])
    assert path.read_bytes() == b'a\nx\n""\ny\n'
    assert pl.read_csv(path).height == 3


def test_parquet_keeps_types(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    column = PublishedColumn(
        "n", Role.INSENSITIVE, np.array([1, 2, 0], np.int32), pl.Series([7, 8, None])
    )
    write_table(path, "parquet", [column])
    assert pl.read_parquet(path)["n"].to_list() == [8, None, 7]
    assert pl.read_parquet(path)["n"].dtype == pl.Int64


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("precious")
    with pytest.raises(ReleaseError, match="already exists"):
        write_table(path, "csv", [published("a", ["x"])])
    assert path.read_text() == "precious"
    with pytest.raises(ReleaseError, match=r"cannot be written .No such file"):
        write_table(tmp_path / "nowhere" / "t.csv", "csv", [published("a", ["x"])])


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np, polars as pl
from discreet.table.published import PublishedColumn
from discreet.table.roles import Role
from discreet.errors import ReleaseError
from discreet.io.writing import write_table
column = PublishedColumn("a", Role.SENSITIVE, np.arange(400_000, dtype=np.int32),
                         pl.Series([f"value {i * 7919}" for i in range(400_000)]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    write_table(Path(sys.argv[1]), sys.argv[2], [column])
except ReleaseError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, format: str) -> None:
    path = tmp_path / "t"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "cache").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path), format],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert "cannot be written (File too large)" in done.stdout
    assert not path.exists()


def test_columns_of_few_cells_are_written_as_if_each_were_by_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sizes = {"a": 3, "b": 300, "c": 4, "d": 5, "e": 2}  # c, d and e are joined, a and b are not
    rows = 16 * 3 * 5 * 4 * 2
    columns = [
        PublishedColumn(
            name,
            Role.INSENSITIVE,
            rng.integers(0, size, rows).astype(np.int32),
            pl.Series([None, 'a "b", c', *(f"{name}{i}" for i in range(2, size))]),
        )
        for name, size in sizes.items()
    ]
    order = rng.permutation(rows).astype(np.int32)
    write_table(tmp_path / "t.csv", "csv", columns, order)
    with (tmp_path / "t.csv").open(newline="") as file:
        found = list(csv.reader(file))
    cells = [c.dictionary.fill_null("").gather(c.codes[order]).to_list() for c in columns]
    assert found == [list(sizes), *map(list, zip(*cells, strict=True))]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("sizes", [(1, 256), (256, 1), (2, 128), (3, 85, 1), (16, 16, 16)])
def test_columns_that_are_written_as_one_text(
    tmp_path: Path, sizes: tuple[int, ...], shuffled: bool
) -> None:
    rows, path = 1 << 17, tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    cells = [[f"{column}-{code}" for code in range(size)] for column, size in enumerate(sizes)]
    codes = [rng.integers(0, size, rows, np.int32) for size in sizes]
    columns = [
        PublishedColumn(f"c{place}", Role.INSENSITIVE, own, pl.Series(texts))
        for place, (own, texts) in enumerate(zip(codes, cells, strict=True))
    ]
    order = rng.permutation(rows) if shuffled else np.arange(rows)
    write_table(path, "csv", columns, order if shuffled else None)
    back = pl.read_csv(path, infer_schema=False)
    for column, texts in zip(columns, cells, strict=True):
        expected = np.array(texts)[column.codes[order]]
        assert np.array_equal(back[column.name].to_numpy(), expected)
