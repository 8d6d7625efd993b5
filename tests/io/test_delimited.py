"""Text files: what is read, what is refused, and where the message says it is."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.io.csv import file_pieces, layout, numbered_cells
from discreet.io.header import check_columns
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.table.coded_table import CodedTable
from discreet.table.roles import ColumnSpec, Distance, Role, ValueType

QUASI = ColumnSpec(Role.QUASI_IDENTIFIER)


def read(path: Path, data: bytes | str, specs: dict[str, ColumnSpec] | None = None, **how: object):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    source = Source.model_validate({"path": path, **how})
    specs = specs or {}
    return read_table(source, {name: specs.get(name, QUASI) for name in column_names(source)})


def cells(table: CodedTable, name: str) -> list[str | None]:
    column = table[name]
    return [column.text[int(code)] for code in column.codes]


@pytest.fixture(params=["polars", "compiled"], autouse=True)
def either_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered_cells, "is_faster", lambda _: request.param == "compiled")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.csv"


def test_dictionary_is_sorted_and_null_is_last(path: Path) -> None:
    table = read(path, "zip,sex\n007,m\n7,\n010,f\n?,m\n", missing=["?"])
    assert table["zip"].text.to_list() == ["007", "010", "7", None]
    assert table["zip"].codes.tolist() == [0, 2, 1, 3]
    assert table["sex"].text.to_list() == ["f", "m", None]
    assert table["zip"].values.to_list() == table["zip"].text.to_list()
    assert table["zip"].codes.dtype == np.int32
    assert table["zip"].distance is Distance.EQUAL


def test_numbers_sort_by_value(path: Path) -> None:
    table = read(
        path, "n\n10\n9\n7\n007\n\n-1\n", {"n": ColumnSpec(Role.SENSITIVE, ValueType.INTEGER)}
    )
    column = table["n"]
    assert column.text.to_list() == ["-1", "7", "9", "10", None]
    assert column.numbers is not None
    np.testing.assert_array_equal(column.numbers, [-1, 7, 9, 10, np.nan])
    assert column.distance is Distance.ORDERED


def test_dates_are_days(path: Path) -> None:
    spec = {"d": ColumnSpec(Role.QUASI_IDENTIFIER, ValueType.DATE)}
    table = read(path, "d,x\n1970-01-02,a\n1969-12-31,b\n", spec)
    assert table["d"].text.to_list() == ["1969-12-31", "1970-01-02"]
    assert table["d"].numbers is not None and table["d"].numbers.tolist() == [-1, 1]


def test_sets_are_sorted_trimmed_and_without_doubles(path: Path) -> None:
    spec = {"d": ColumnSpec(Role.SENSITIVE, separator="|")}
    table = read(path, "d,x\nb|a,1\na | b|b,1\n||,1\nc,1\n", spec, delimiter=",")
    assert table["d"].text.to_list() == ["", "a|b", "c"]
    assert table["d"].codes.tolist() == [1, 1, 0, 2]


def test_an_empty_cell_is_an_empty_set_where_sets_become_bits_and_missing_elsewhere(
    path: Path,
) -> None:
    data = "d,x\n,1\n?,1\na,1\n"
    bits = read(path, data, {"d": ColumnSpec(Role.SENSITIVE, separator="|")}, missing=("?",))
    assert bits["d"].text.to_list() == ["", "a", None]
    sets = read(path, data, {"d": ColumnSpec(Role.QUASI_SENSITIVE, separator="|")}, missing=("?",))
    assert sets["d"].text.to_list() == ["a", None]


def test_identifiers_are_never_coded(path: Path) -> None:
    specs = {"name": ColumnSpec(Role.IDENTIFIER), "x": ColumnSpec(Role.DROP)}
    table = read(path, "name,age,x\nAnn,3,q\nBob,4,r\n", specs)
    assert list(table.columns) == ["age"]
    assert tuple(table.left_out) == ("name", "x")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a,b\r\n1,2\r\n3,\r\n", [["1", "3"], ["2", None]]),
        ('a,b\n"x\ny",2\n"q ""r""",4', [["x\ny", 'q "r"'], ["2", "4"]]),
        ("\ufeffa;b\n1;2\n", [["1"], ["2"]]),
        ("a\tb\n1,5\t2\n", [["1,5"], ["2"]]),
        ('a|b\n1|""\n', [["1"], [None]]),
        ('a,b\n5" pipe,x\n', [['5" pipe'], ["x"]]),
        ("a,b\n\n1,2\n\r\n3,4\n\n\n", [["1", "3"], ["2", "4"]]),
        ("a,b\n,\n", [[None], [None]]),
        ('a,b\r\n1,"x"\r\n', [["1"], ["x"]]),
    ],
)
def test_ways_to_write_a_table(path: Path, data: str, expected: list[list[str]]) -> None:
    table = read(path, data)
    assert [cells(table, name) for name in ("a", "b")] == expected


def test_a_blank_line_is_a_row_of_a_table_with_one_column(path: Path) -> None:
    assert cells(read(path, "a\nx\n\ny\n"), "a") == ["x", None, "y"]


def test_odd_names_are_kept(path: Path) -> None:
    names = (" a", "b ", "x=[1]", "größe", "c,d", 'e"f', "g\nh")
    header = ' a,b ,x=[1],größe,"c,d","e""f","g\nh"\n'
    assert tuple(read(path, header + "1,2,3,4,5,6,7\n").columns) == names


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "windows-1252", "utf-8", "utf-8-sig"])
def test_encodings(path: Path, encoding: str) -> None:
    table = read(path, "größe,b\nfünf,é\n".encode(encoding), encoding=encoding)
    assert cells(table, "größe") == ["fünf"]


def test_gzip_is_known_by_its_bytes(tmp_path: Path) -> None:
    table = read(tmp_path / "people.csv.gz", gzip.compress(b"a,b\n1,2\n"))
    assert cells(table, "b") == ["2"]


def test_blocks_do_not_show(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"v{i % 700}", f'"{"long " * (i % 9)}\n{i % 13}"', str(i)) for i in range(3000)]
    data = "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    whole = read(path, data)
    monkeypatch.setattr(file_pieces, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(layout, "READ_AT_ONCE", 1000)
    pieces = read(path, data)
    assert cells(whole, "b") == [b.strip('"') for _, b, _ in rows]
    for name in "abc":
        assert pieces[name].text.equals(whole[name].text)
        np.testing.assert_array_equal(pieces[name].codes, whole[name].codes)
    with pytest.raises(InputError, match=f"line {2 + 2 * 3000}: the row has 2 cells"):
        read(path, data + "x,y\n")


def test_row_numbers_of_other_programs_have_no_name(path: Path) -> None:
    """R and pandas write an empty name above row numbers."""
    table = read(path, '"","a","a"\n"1",x,y\n"2",z,y\n')
    assert list(table.columns) == ["column_1", "a", "a_2"]
    assert cells(table, "column_1") == ["1", "2"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3: the row has 3 cells, the header 2"),
        ('a,b\n"x\ny",2\n1\n', "line 4: the row has 1 cell, the header 2"),
        ('a,b\n1,2\n3,"x\n5,6\n', "line 3: a quote opens a cell"),
        ('a,b\n1,2\n"x"y,6\n', "line 3: text follows the closing quote"),
        ("a,,c,\n1,2,3,4\n", "no name for column 2, 4"),
        ("^a$,b\n1,2\n", "read as a pattern"),
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        (b"a,b\n1,2\n3,f\xfcnf\n", "line 3: byte 11 .0xfc. is not utf-8.*encoding: latin-1"),
        (b"a,b\nf\xfcnf,1\n", "line 2: byte 5"),
        (b"f\xfcnf,b\n1,1\n", "line 1: byte 1"),
        ("a,b\n1\0,2\n", "NUL bytes"),
        ("größe,b\n1,2\n".encode("utf-16"), "encoding: utf-16"),
    ],
)
def test_faults_have_a_place(path: Path, data: bytes | str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(path, data)
    assert str(path) in str(caught.value)


def test_a_wrong_encoding_is_found_where_it_begins(path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: byte 6 .0xff. is not euc_jp"):
        read(path, b"ab,b\nx\xff,2\n", encoding="euc_jp")


def test_damaged_gzip(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compressed file is damaged"):
        read(tmp_path / "x.csv.gz", gzip.compress(b"a,b\n" + bytes(range(32, 127)) * 99)[:-20])


def test_values_that_do_not_parse_have_a_line(path: Path) -> None:
    data = 'age,"x"\n1,"a\nb"\n\n2,b\nxyz,c\nxyz,d\n3.5,e\n'
    spec = {"age": ColumnSpec(Role.QUASI_IDENTIFIER, ValueType.INTEGER)}
    with pytest.raises(
        InputError, match=r"line 6, column 'age'.*2 values are not integers"
    ) as caught:
        read(path, data, spec)
    assert "'xyz'" in str(caught.value)


@pytest.mark.parametrize("role", [Role.SENSITIVE, Role.QUASI_SENSITIVE, Role.INSENSITIVE])
@pytest.mark.parametrize("kind", [ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE])
def test_no_message_tells_a_sensitive_cell(path: Path, role: Role, kind: ValueType) -> None:
    with pytest.raises(InputError, match="line 2, column 'a'") as caught:
        read(path, "a,b\nsecret,2\n", {"a": ColumnSpec(role, kind)})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "1,5", "0x10", "١", "1_000"])
def test_what_is_no_number(path: Path, text: str) -> None:
    with pytest.raises(InputError, match="not numbers"):
        read(path, f"a;b\n{text};2\n", {"a": ColumnSpec(Role.SENSITIVE, ValueType.NUMBER)})


def test_numbers_of_every_form(path: Path) -> None:
    data = "a;b\n" + "".join(f"{text};x\n" for text in ["1.5", "-2", "+3", ".5", "5.", "1e3", " 7"])
    column = read(path, data, {"a": ColumnSpec(Role.SENSITIVE, ValueType.NUMBER)})["a"]
    assert column.numbers is not None
    assert column.numbers.tolist() == [-2, 0.5, 1.5, 3, 5, 7, 1000]


@pytest.mark.parametrize("text", ["2020-02-30", "1.2.2020", "2020-1-1", "20200101"])
def test_what_is_no_date(path: Path, text: str) -> None:
    with pytest.raises(InputError, match="1 value is not dates of the form YYYY-MM-DD"):
        read(path, f"a,b\n{text},2\n", {"a": ColumnSpec(Role.SENSITIVE, ValueType.DATE)})


def test_missing_file_names_the_nearest(path: Path) -> None:
    path.write_text("a\n")
    with pytest.raises(InputError, match=r"Did you mean people\.csv"):
        column_names(Source(path=path.with_name("poeple.csv")))
    other = path.with_name("people.xyz")
    with pytest.raises(InputError, match=r"there is no such file.*people\.csv"):
        column_names(Source(path=other))
    other.write_text("a\n")
    with pytest.raises(InputError, match="format does not follow"):
        column_names(Source(path=other))


def test_columns_are_checked_all_at_once() -> None:
    problems = check_columns(["age", "zip", "sex"], ["age", "zipp"])
    assert len(problems) == 2
    assert "2 columns of the table have no role: 'zip', 'sex'" in problems[0]
    assert "no column 'zipp'. Did you mean 'zip'?" in problems[1]
    assert check_columns(["a"], ["a"]) == []


def test_many_distinct_values(path: Path) -> None:
    values = [f"v{i * 7919 % 100_003}" for i in range(50_000)]
    table = read(path, "a,b\n" + "".join(f"{v},{v}\n" for v in values))
    assert cells(table, "a") == values
    assert table["b"].text.to_list() == sorted(values)


def test_a_pattern_reads_all_files_each_by_its_own_header(tmp_path: Path) -> None:
    (tmp_path / "2024-01.csv").write_text("zip,sex\n01,m\n02,f\n")
    (tmp_path / "2024-02.csv").write_text("sex;zip\r\nf;03\r\n")
    with gzip.open(tmp_path / "2024-03.csv.gz", "wt") as packed:
        packed.write("zip,sex\n04,m\n")
    (tmp_path / "2024-04.csv").write_text("zip,sex\n")
    source = Source(path=tmp_path / "2024-*.csv*", format="csv")
    shares: list[float] = []
    table = read_table(source, dict.fromkeys(column_names(source), QUASI), shares.append)
    assert cells(table, "zip") == ["01", "02", "03", "04"]
    assert cells(table, "sex") == ["m", "f", "f", "m"]
    assert shares == sorted(shares)


def test_a_pattern_of_files_without_header(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.csv").write_text(f"{number},a\n")
    source = Source(path=tmp_path / "*.csv", header=False)
    table = read_table(source, dict.fromkeys(column_names(source), QUASI))
    assert cells(table, "column_1") == ["1", "2"]
    (tmp_path / "3.csv").write_text("3,a,b\n")
    with pytest.raises(InputError, match=r"3\.csv: its columns .* \(3 columns against 2\)"):
        column_names(source)


def test_a_pattern_names_the_file_that_differs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,sex\n01,m\n")
    other = tmp_path / "b.csv"
    source = Source(path=tmp_path / "*.csv")
    other.write_text("zip,gender\n01,m\n")
    differing = r"b\.csv: its columns .*a\.csv \(no 'sex'; also 'gender'\)"
    with pytest.raises(InputError, match=differing):
        column_names(source)
    other.write_text("99501,Anna Meyer\n99502,Bob\n")  # a row in place of the header
    with pytest.raises(InputError, match=r"b\.csv: its columns") as caught:
        column_names(source)
    assert "Anna" not in str(caught.value)
    assert "99501" not in str(caught.value)


def test_a_pattern_names_file_and_line_of_a_bad_cell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n2\n")
    (tmp_path / "b.csv").write_text("age\n\n3\nold\n")
    source = Source(path=tmp_path / "*.csv")
    with pytest.raises(InputError, match=r"b\.csv, line 4"):
        read_table(source, {"age": ColumnSpec(Role.SENSITIVE, ValueType.INTEGER)})
    (tmp_path / "b.csv").write_text("age\n3,4\n")
    with pytest.raises(InputError, match=r"b\.csv, line 2: the row has 2 cells"):
        read_table(source, {"age": QUASI})
    (tmp_path / "b.csv").write_bytes(b"age\n\xff\n")
    with pytest.raises(InputError, match=r"b\.csv, line 2: byte 4"):
        read_table(source, {"age": QUASI})


def test_patterns_that_mean_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file matches the pattern"):
        column_names(Source(path=tmp_path / "*.csv"))
    with pytest.raises(InputError, match="a pattern is for text, Parquet and Arrow"):
        column_names(Source(path=tmp_path / "*.sav"))
    with pytest.raises(InputError, match="the format does not follow"):
        column_names(Source(path=tmp_path / "2024-*"))
