"""Files of other programs: the cells that are read, and a clear error for a malformed file."""

from __future__ import annotations

import bz2
import datetime as dt
import lzma
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import zstandard
from packaging.version import Version
from tests.real_data import real_data
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import InputError
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.io.writing import is_compressed
from discreet.table.coded_table import CodedTable
from discreet.table.roles import ColumnSpec, Role, ValueType

SECRET = "Wernicke"  # a cell that no message may repeat
FRAME = pl.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "age": [30, 41, 22, 99],
        "Größe_m": [1.75, None, 1.6, 2.0],
        "note": ["Åsa", SECRET, "", None],
        "born": [dt.date(1980, 1, 2), None, dt.date(1999, 12, 31), dt.date(1960, 2, 29)],
    }
)
LABELS = {"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}, "age": {99: "unknown"}}


def read(path: Path, types: dict[str, ValueType] | None = None, **given: object) -> CodedTable:
    source = Source.of_file(path, **given)
    names = column_names(source)
    return read_table(
        source, {name: ColumnSpec(Role.INSENSITIVE, (types or {}).get(name)) for name in names}
    )


def cells(table: CodedTable) -> dict[str, list[str | None]]:
    return {c.name: c.text.gather(pl.Series(c.codes)).to_list() for c in table}


def write_spss(path: Path) -> None:
    pyreadstat.write_sav(
        FRAME,
        str(path),
        column_labels={"sex": "Sex of the person"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9.0], "age": [{"lo": 90, "hi": 99}]},
    )


PLAIN = {
    "sex": ["1", "2", None, None],
    "age": ["30", "41", "22", None],
    "Größe_m": ["1.75", None, "1.6", "2.0"],
    "note": ["Åsa", SECRET, None, None],
    "born": ["1980-01-02", None, "1999-12-31", "1960-02-29"],
}


def test_spss_codes_labels_and_user_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "people.sav"
    write_spss(path)
    table = read(path)
    assert cells(table) == PLAIN
    assert [column.type for column in table] == [
        ValueType.INTEGER, ValueType.INTEGER, ValueType.NUMBER, ValueType.TEXT, ValueType.DATE,
    ]  # fmt: skip
    kept = cells(read(path, user_missing="keep"))
    assert kept["sex"] == ["1", "2", "9", None]
    assert kept["age"] == ["30", "41", "22", "99"]
    labelled = cells(read(path, labels=True, user_missing="keep"))
    assert labelled["sex"] == ["male", "female", "refused", None]
    assert labelled["age"] == ["30", "41", "22", "unknown"]


def test_stata_codes_labels_and_user_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "people.dta"
    frame = pd.DataFrame({"sex": [1, 2, "a", None], "note": ["Åsa", SECRET, "", "b"]})
    pyreadstat.write_dta(
        frame,
        str(path),
        missing_user_values={"sex": ["a"]},
        variable_value_labels={"sex": {1: "male", "a": "refused"}},
    )
    assert cells(read(path))["sex"] == ["1", "2", None, None]
    assert cells(read(path, user_missing="keep"))["sex"] == ["1", "2", ".a", None]
    both = cells(read(path, user_missing="keep", labels=True))
    assert both == {"sex": ["male", "2", "refused", None], "note": ["Åsa", SECRET, None, "b"]}


def test_sas_transport_files(tmp_path: Path) -> None:
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(FRAME.rename({"Größe_m": "height"}), str(path))
    found = cells(read(path))
    assert found["sex"] == ["1", "2", "9", None]
    assert found["born"] == PLAIN["born"]
    assert found["note"] == PLAIN["note"]


SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1">{head}</row><row r="2"><c r="A2"><v>30</v></c><c r="B2" t="inlineStr"><is><t>013</t></is>
</c><c r="C2" s="1"><v>29222</v></c><c r="D2"><v>1.5</v></c></row><row r="3"><c r="A3"><v>41</v></c>
<c r="B3" t="inlineStr"><is><t>Å&amp;b</t></is></c><c r="D3" t="b"><v>1</v></c></row>
</sheetData></worksheet>"""
STYLES = """<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>
<xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"""
MAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml."
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def write_book(path: Path, names: list[str], sheets: list[str]) -> None:
    """Write a workbook whose sheets all have the same two rows."""
    head = "".join(
        f'<c r="{letter}1" t="inlineStr"><is><t>{name}</t></is></c>'
        for letter, name in zip("ABCD", names, strict=True)
    )
    package = "http://schemas.openxmlformats.org/package/2006/"
    numbered = list(enumerate(sheets, 1))
    with zipfile.ZipFile(path, "w") as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{MAIN}worksheet+xml"/>'
            for i, _ in numbered
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}content-types"><Default Extension="rels" ContentType="'
            'application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
            f'"/xl/workbook.xml" ContentType="{MAIN}sheet.main+xml"/>{parts}</Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}relationships"><Relationship Id="r1" Type='
            f'"{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
            f'xmlns:r="{RELATIONS}"><sheets>'
            + "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in numbered)
            + "</sheets></workbook>",
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}relationships">'
            + "".join(
                f'<Relationship Id="r{i}" Type="{RELATIONS}/worksheet" '
                f'Target="worksheets/sheet{i}.xml"/>'
                for i, _ in numbered
            )
            + f'<Relationship Id="s" Type="{RELATIONS}/styles" Target="styles.xml"/>'
            "</Relationships>",
        )
        file.writestr("xl/styles.xml", STYLES)
        for i, _ in numbered:
            file.writestr(f"xl/worksheets/sheet{i}.xml", SHEET.format(head=head))


ROWS = [["30", "41"], ["013", "Å&b"], ["1980-01-02", None], ["1.5", "true"]]


def test_sheets_of_excel(tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    names = ["age", "zip code", "born", "odd=name"]
    write_book(path, names, ["first", "second one"])
    with pytest.raises(InputError, match="has the sheets 'first', 'second one'. Name one"):
        read(path)
    with pytest.raises(InputError, match="has no sheet 'third'"):
        read(path, sheet="third")
    found = cells(read(path, sheet="second one"))
    assert list(found) == names
    assert [found[name] for name in names[:3]] == ROWS[:3]
    assert found["odd=name"][0] == "1.5"
    headless = cells(read(path, sheet="first", header=False))
    assert list(headless) == ["column_1", "column_2", "column_3", "column_4"]
    assert headless["column_2"] == ["zip code", "013", "Å&b"]


ODS = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="people"><table:table-row>
<table:table-cell office:value-type="string"><text:p>age</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>zip code</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>born</text:p></table:table-cell>
</table:table-row><table:table-row>
<table:table-cell office:value-type="float" office:value="30"><text:p>30</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>013</text:p></table:table-cell>
<table:table-cell office:value-type="date" office:date-value="1980-01-02"><text:p>2.1.80</text:p>
</table:table-cell></table:table-row><table:table-row>
<table:table-cell office:value-type="float" office:value="41"><text:p>41</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Å&amp;b</text:p></table:table-cell>
<table:table-cell/></table:table-row></table:table></office:spreadsheet></office:body>
</office:document-content>"""


def test_sheets_of_open_document(tmp_path: Path) -> None:
    path = tmp_path / "people.ods"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", kind)
        file.writestr("content.xml", ODS.replace("\n", ""))
        file.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
            f'><manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
            "</manifest:manifest>",
        )
    found = read(path)
    assert cells(found) == dict(zip(["age", "zip code", "born"], ROWS[:3], strict=True))
    assert found["age"].type is ValueType.INTEGER


def test_a_sheet_whose_columns_share_a_name(tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    write_book(path, ["age", "zip", "born", "age"], ["one"])
    assert list(cells(read(path))) == ["age", "zip", "born", "age_2"]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_a_parquet_or_arrow_file_whose_columns_share_a_name(tmp_path: Path, ending: str) -> None:
    """Polars does not give such columns; pyarrow does, and its table is read."""
    path = tmp_path / f"people.{ending}"
    table = pa.table([[1, 2], ["flu", "ache"], ["a", "b"]], names=["age", "ill", "ill"])
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        make = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
        with make(path, table.schema) as writer:
            writer.write_table(table)
    if ending == "parquet" and Version(pl.__version__) < Version("2"):
        pytest.skip("this Polars reads one of the columns and does not tell")
    with pytest.raises(InputError, match=r"columns share a name\. Give each .* with pyarrow"):
        dc.profile(path)
    with pytest.warns(UserWarning, match="'ill' as 'ill_2'"):
        assert [one.name for one in dc.profile(table).columns] == ["age", "ill", "ill_2"]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "xlsx", "ods", "sas7bdat", "arrow"])
@pytest.mark.parametrize("damage", ["noise", "empty", "truncated", "flipped"])
def test_a_malformed_file_ends_in_an_error_without_cells(
    tmp_path: Path, ending: str, damage: str
) -> None:
    path = tmp_path / f"people.{ending}"
    write = {
        "sav": write_spss,
        "dta": lambda to: pyreadstat.write_dta(FRAME, str(to)),
        "xpt": lambda to: pyreadstat.write_xport(FRAME.drop("Größe_m"), str(to)),
        "xlsx": lambda to: write_book(to, [SECRET, "b", "c", "d"], ["one"]),
        "arrow": lambda to: FRAME.write_ipc_stream(to),
    }.get(ending, lambda to: to.write_bytes(SECRET.encode() * 100))
    write(path)
    data = bytearray(path.read_bytes())
    if damage == "noise":
        data = bytearray(random.Random(1).randbytes(2000))
    elif damage == "empty":
        data = bytearray()
    elif damage == "truncated":
        data = data[: len(data) // 3]
    else:
        for place in range(40, len(data), 97):
            data[place] ^= 0xFF
    path.write_bytes(data)
    try:
        read(path)
    except InputError as error:
        assert SECRET not in str(error)
        assert str(path) in str(error)
    else:
        assert damage == "flipped"  # the damage may be in cells alone


def test_the_message_where_a_package_is_missing(tmp_path: Path) -> None:
    write_spss(tmp_path / "people.sav")
    write_book(tmp_path / "people.xlsx", ["a", "b", "c", "d"], ["one"])
    (tmp_path / "people.csv.zst").write_bytes(zstandard.compress(b"a,b\n1,2\n"))
    for name, package, extra in (
        ("people.sav", "pyreadstat", "stats"),
        ("people.xlsx", "fastexcel", "excel"),
        ("people.csv.zst", "zstandard", "zstd"),
    ):
        script = (
            f"import sys; sys.modules[{package!r}] = None\n"
            "import discreet as dc\ndc.profile(sys.argv[1])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"need the package {package}. Install it: pip install 'discreet[{extra}]'."
        assert said in done.stderr


def test_zstd_text_and_its_damage(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.zst"
    packed = zstandard.compress(b"age,ill\n") + zstandard.compress(b"30,flu\n41,ache\n")
    path.write_bytes(packed)
    assert cells(read(path)) == {"age": ["30", "41"], "ill": ["flu", "ache"]}
    assert is_compressed(path)
    path.write_bytes(packed[:-6])
    with pytest.raises(InputError, match="damaged or truncated"):
        read(path)


@pytest.mark.parametrize("library", [bz2, lzma])
def test_bzip2_and_xz_text_and_its_damage(tmp_path: Path, library: Any) -> None:
    path = tmp_path / f"people.csv.{'xz' if library is lzma else 'bz2'}"
    text = b"age,ill\n" + b"".join(b"%d,%d\n" % (row % 90, row * row) for row in range(9000))
    packed = library.compress(text[:8]) + library.compress(text[8:])  # two streams in one file
    path.write_bytes(packed)
    assert read(path).rows == 9000
    assert cells(read(path))["ill"][-1] == str(8999 * 8999)
    assert is_compressed(path)
    place = len(packed) - 900
    for damaged in (packed[:-60], packed[:place] + b"\0" * 9 + packed[place + 9 :]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged or truncated"):
            read(path)


def test_a_column_may_be_called_as_bzip2_begins(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"BZh9,ill\n30,flu\n")
    assert cells(read(path)) == {"BZh9": ["30"], "ill": ["flu"]}


def test_text_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("30;flu;1,5\n41;ache;\n", encoding="utf-8")
    types = {"column_3": ValueType.NUMBER}
    source = Source.of_file(path, header=False, decimal=",")
    specs = {
        name: ColumnSpec(Role.INSENSITIVE, types.get(name), decimal=",")
        for name in column_names(source)
    }
    table = read_table(source, specs)
    assert cells(table) == {
        "column_1": ["30", "41"], "column_2": ["flu", "ache"], "column_3": ["1.5", None],
    }  # fmt: skip
    path.write_text("1,5;2,5\n1,5;2,5\n", encoding="utf-8")  # a comma would cut as evenly
    assert cells(read(path, header=False, decimal=","))["column_1"] == ["1,5", "1,5"]
    path.write_text("30;flu\n41\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: the row has 1 cell, the first row 2"):
        read(path, header=False)


JOB = """
source: {path: people.csv, decimal: ","}
attributes:
  born: {role: quasi-identifier, type: date, format: "%d.%m.%Y", hierarchy: {dates: [year, "*"]}}
  pay: {role: sensitive, type: number}
requirements: [{k-anonymity: {k: 2}}]
"""


def test_a_job_with_dates_of_another_format_and_a_decimal_comma(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "born;pay\n31.12.1980;1,5\n01.02.1980;2\n", encoding="utf-8"
    )
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    job = dc.Job.load(tmp_path / "job.yaml")
    release = dc.publish(None, job)
    release.save(tmp_path / "release", **UNATTACKED)
    assert sorted((tmp_path / "release" / "records.csv").read_text().split()) == [
        "1980,1.5", "1980,2", "born,pay",
    ]  # fmt: skip
    assert dc.audit(tmp_path / "release", original=job).ok


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "1980-12-31;1\n",
            "line 2, column 'born': .* not dates of the form %d.%m.%Y: '1980-12-31'",
        ),
        ("13.13.1980;1\n", "not dates of the form %d.%m.%Y"),
        ("31.12.1980;1.5\n", "column 'pay': of 1 distinct values 1 value is not numbers with ','"),
        ("31.12.1980;1,234,5\n", "column 'pay': .* not numbers with ','"),
    ],
)
def test_cells_of_another_form_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "people.csv").write_text("born;pay\n" + rows, encoding="utf-8")
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        dc.publish(None, tmp_path / "job.yaml")
    assert "1.5" not in str(error.value)
    assert "234" not in str(error.value)


@pytest.mark.parametrize("format", ["%d.%m", "%H:%M", "day", "%d.%m.%Y %H", "%Y-%m-%m"])
def test_formats_that_name_no_day_are_refused(format: str) -> None:
    with pytest.raises(dc.JobError, match="must name day, month and year"):
        dc.Job(attributes={"born": {"role": "insensitive", "type": "date", "format": format}})
    with pytest.raises(dc.JobError, match="a format is for dates"):
        dc.Job(attributes={"born": {"role": "insensitive", "format": "%d.%m.%Y"}})


def test_streams_of_arrow(tmp_path: Path) -> None:
    path = tmp_path / "people.arrows"
    FRAME.write_ipc_stream(path)
    found = cells(read(path))
    assert found["age"] == ["30", "41", "22", "99"]
    assert found["born"] == PLAIN["born"]


def test_partitioned_folders_and_patterns(tmp_path: Path) -> None:
    for year, region, ages in (("2023", "nord süd", [1, 2]), ("2024", "west", [3])):
        folder = tmp_path / "people" / f"year={year}" / f"region={region.replace(' ', '%20')}"
        folder.mkdir(parents=True)
        pl.DataFrame({"age": ages}).write_parquet(folder / "part.parquet")
    whole = read(tmp_path / "people")
    assert cells(whole) == {
        "age": ["1", "2", "3"],
        "year": ["2023", "2023", "2024"],
        "region": ["nord süd", "nord süd", "west"],
    }
    assert whole["year"].type is ValueType.INTEGER
    some = cells(read(tmp_path / "people" / "year=2024" / "*" / "*.parquet"))
    assert some == {"age": ["3"], "region": ["west"]}
    with pytest.raises(InputError, match="no file matches the pattern"):
        read(tmp_path / "nobody*.parquet")
    other = tmp_path / "people" / "year=2024" / "region=west" / "other.parquet"
    pl.DataFrame({"height": [1]}).write_parquet(other)
    with pytest.raises(InputError, match="its files have different columns or types"):
        read(tmp_path / "people")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "spss"])
def test_standard_input(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data"
    frame = pl.DataFrame({"age": [30, 30, 41, 41], "ill": ["flu", "ache"] * 2})
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "parquet":
        frame.write_parquet(path)
    elif kind == "arrow":
        frame.write_ipc_stream(path)
    else:
        path = tmp_path / "data.sav"
        pyreadstat.write_sav(frame, str(path))
    with path.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "discreet", "profile", "-", "--json"],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
    assert done.returncode == 0, done.stderr
    assert '"rows": 4' in done.stdout
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_stream_of_batches_is_read_once() -> None:
    table = pa.table({"age": [30, 30, 41, 41], "ill": ["flu", "ache"] * 2})
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=2)],
    )
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    release = dc.publish(stream, job)
    assert isinstance(release.tables["records"], pl.DataFrame)
    assert release.manifest.published_rows == 4
    again = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert dc.check(again, quasi=["age"], k=2).ok


def test_real_sas_files() -> None:
    """Files that SAS wrote, such as those of pandas' tests: no library here writes them.

    They lie in ``sas/`` of the data folder. A CSV file of the same name has the cells, with dates
    as days since 1960.
    """
    folder = real_data("sas")
    files = sorted(folder.glob("*.sas7bdat"))
    assert files
    for path in files:
        table = read(path)
        found = pl.DataFrame([c.values.gather(pl.Series(c.codes)).alias(c.name) for c in table])
        assert found.height > 0
        if not path.with_suffix(".csv").exists():
            continue
        expected = pl.read_csv(path.with_suffix(".csv"), infer_schema_length=None)
        assert expected.columns == found.columns, path.name
        for name in found.columns:
            ours, theirs = found[name], expected[name]
            if ours.dtype == pl.Date:
                ours = (ours - pl.Series([dt.date(1960, 1, 1)])).dt.total_days()
            assert ours.is_null().to_list() == theirs.is_null().to_list(), (path.name, name)
            if theirs.dtype.is_numeric():
                assert ours.drop_nulls().to_list() == pytest.approx(
                    theirs.drop_nulls().to_list(), rel=1e-6
                ), (path.name, name)
            else:
                assert ours.to_list() == theirs.to_list(), (path.name, name)
