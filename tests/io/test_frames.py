"""Frames of every kind give the same coded table, and come back as the same kind."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from polars.testing import assert_frame_equal
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import InputError
from discreet.io.frames import FrameKind, code_frame, frame_columns, frame_kind, to_frame
from discreet.io.source import Source
from discreet.io.tables import column_names, read_table
from discreet.table.published import PublishedColumn
from discreet.table.roles import ColumnSpec, Role, ValueType

FRAME = pl.DataFrame(
    {
        "id": ["p", "q", "r", "s"],
        "age": [30, None, -9, 30],
        "pay": [1.5, float("nan"), 2.0, 1.5],
        "born": [dt.date(1990, 1, 2), None, dt.date(1980, 5, 6), dt.date(1990, 1, 2)],
        "sex": ["m", "", "f", None],
        "well": [True, False, None, True],
        "wide": [2**60, -(2**60), 2**60, 0],
    }
)
WIDE = pa.table({"a": pa.array([Decimal("1.50")], pa.decimal256(50, 2))})
SPECS = {name: ColumnSpec(Role.QUASI_IDENTIFIER) for name in FRAME.columns} | {
    "id": ColumnSpec(Role.IDENTIFIER)
}
FRAMES = {
    FrameKind.POLARS: FRAME,
    FrameKind.POLARS_LAZY: FRAME.lazy(),
    FrameKind.ARROW: FRAME.to_arrow(),
    FrameKind.PANDAS: FRAME.to_pandas(use_pyarrow_extension_array=True),
}


@pytest.mark.parametrize("kind", FrameKind)
def test_every_kind_of_frame(kind: FrameKind) -> None:
    frame = FRAMES[kind]
    assert frame_kind(frame) is kind
    assert frame_columns(frame) == tuple(FRAME.columns)
    table = code_frame(frame, SPECS, missing=["-9"])
    assert tuple(table.left_out) == ("id",)
    assert table["age"].type is ValueType.INTEGER
    assert table["age"].values.to_list() == [30, None]
    assert table["age"].codes.tolist() == [0, 1, 1, 0]
    assert table["pay"].type is ValueType.NUMBER
    assert table["pay"].text.to_list() == ["1.5", "2.0", None]
    assert table["born"].type is ValueType.DATE
    assert table["born"].text.to_list() == ["1980-05-06", "1990-01-02", None]
    assert table["born"].numbers is not None
    assert table["born"].numbers[0] == (dt.date(1980, 5, 6) - dt.date(1970, 1, 1)).days
    assert table["sex"].text.to_list() == ["f", "m", None]
    assert table["sex"].codes.tolist() == [1, 2, 0, 2]
    assert table["well"].type is ValueType.TEXT
    assert table["well"].values.to_list() == [False, True, None]
    assert table["wide"].values.to_list() == [-(2**60), 0, 2**60]


@pytest.mark.parametrize("kind", FrameKind)
def test_the_same_kind_comes_back(kind: FrameKind) -> None:
    table = code_frame(FRAMES[kind], SPECS)
    columns = [PublishedColumn(c.name, c.role, c.codes, c.values) for c in table]
    back = to_frame(columns, kind, np.array([3, 2, 1, 0]))
    assert frame_kind(back) is kind
    again = code_frame(back, SPECS)
    for column in table:
        np.testing.assert_array_equal(again[column.name].codes, column.codes[::-1])
        assert again[column.name].text.equals(column.text)


def test_plain_pandas() -> None:
    frame = pd.DataFrame(
        {"a": [1, None, 3], "b": ["x", None, "y"], "c": pd.Categorical(["u", "v", "u"])}
    )
    frame["d"] = pd.to_datetime(["2020-01-01", None, "2019-01-01"])
    specs = {name: ColumnSpec(Role.SENSITIVE) for name in frame.columns}
    table = code_frame(frame, specs | {"a": ColumnSpec(Role.SENSITIVE, ValueType.INTEGER)})
    assert table["a"].text.to_list() == ["1", "3", None]
    assert table["b"].text.to_list() == ["x", "y", None]
    assert table["c"].text.to_list() == ["u", "v"]
    assert table["d"].text.to_list() == ["2019-01-01", "2020-01-01", None]
    assert table["d"].type is ValueType.DATE


def test_a_time_of_day_is_text() -> None:
    frame = pl.DataFrame({"a": [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1)]})
    table = code_frame(frame, {"a": ColumnSpec(Role.SENSITIVE)})
    assert table["a"].type is ValueType.TEXT
    assert table["a"].cardinality == 2


def test_categories_that_do_not_occur_are_no_values() -> None:
    series = pl.Series("a", ["z", "b", None], pl.Enum(["z", "y", "b"]))
    table = code_frame(series.to_frame(), {"a": ColumnSpec(Role.SENSITIVE)})
    assert table["a"].text.to_list() == ["b", "z", None]


@pytest.mark.parametrize(
    ("dtype", "low"), [(pl.UInt64, 2**64 - 3), (pl.Int128, -1), (pl.Int128, 2**100)]
)
def test_whole_numbers_of_any_width(dtype: type[pl.DataType], low: int) -> None:
    series = pl.Series("a", [low + 2, low, None, low + 1, low], dtype)
    table = code_frame(series.to_frame(), {"a": ColumnSpec(Role.SENSITIVE)})
    assert sorted(table["a"].text.drop_nulls()) == sorted(map(str, (low, low + 1, low + 2)))
    assert table["a"].text.gather(table["a"].codes).to_list() == series.cast(pl.String).to_list()


def test_declared_types_of_frames() -> None:
    frame = pl.DataFrame({"a": ["07", "7", "x"]})
    with pytest.raises(InputError, match="The table, row 3, column 'a'"):
        code_frame(frame, {"a": ColumnSpec(Role.QUASI_IDENTIFIER, ValueType.INTEGER)})
    table = code_frame(frame.head(2), {"a": ColumnSpec(Role.SENSITIVE, ValueType.INTEGER)})
    assert table["a"].text.to_list() == ["7"]
    numbers = pl.DataFrame({"a": [10, 9]})
    table = code_frame(numbers, {"a": ColumnSpec(Role.SENSITIVE, ValueType.TEXT)})
    assert table["a"].text.to_list() == ["10", "9"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name: 'a'"),
        (pd.DataFrame([[1, 2]]), "must be text, found some of type int"),
        (pd.DataFrame({"a": pd.cut(pd.Series([1, 2, 3]), 2)}), "type pandas.interval.*astype"),
        (pd.DataFrame({"a": pd.qcut(pd.Series([1, 2, 3]), 2)}), "type pandas.interval"),
        (pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")}), "pandas.period"),
        (pd.DataFrame({"a": [Decimal("1" * 40)]}), "type decimal256"),
        (pd.DataFrame({"a": WIDE.to_pandas(types_mapper=pd.ArrowDtype)["a"]}), "type decimal256"),
        (WIDE, "type decimal256"),
        (pa.table({"a": WIDE["a"].dictionary_encode()}), "type decimal256"),
        (pl.LazyFrame({"a": ["secret"]}).cast({"a": pl.Int8}), "collected .InvalidOperation"),
        (pl.LazyFrame({"a": ["secret"]}).select("b"), "collected .ColumnNotFound"),
        (pl.DataFrame({"a": [["secret"]]}, {"a": pl.List(pl.Enum(["secret"]))}), "type List"),
        (pl.DataFrame({"a": []}), "no row"),
        (pl.DataFrame({"a": [[1], [2]]}), "type List"),
        (pl.DataFrame({"a": [dt.timedelta(days=1)]}), "type Duration"),
        (pd.DataFrame({"a": [1, "x", dt.date(2020, 1, 1)]}), "one type"),
        (pa.table([[1], [2]], names=["a", "a"]), "same name: 'a'"),
        ([1, 2], "not list"),
    ],
)
def test_frames_that_are_refused(frame: object, message: str, capfd) -> None:
    with pytest.raises(InputError, match=message) as caught:
        code_frame(frame, {"a": ColumnSpec(Role.SENSITIVE)})
    assert "secret" not in str(caught.value)
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_wide_decimals_of_a_file_are_refused(tmp_path: Path, capfd, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pyarrow.parquet.write_table(WIDE, path)
    else:
        pyarrow.feather.write_feather(WIDE, path)
    names_types = pl.__version__ >= "2"  # others panic on them in their own words
    message = "'a' holds values of type decimal256" if names_types else "not a valid"
    with pytest.raises(InputError, match=message):
        read_table(Source(path=path), {"a": ColumnSpec(Role.SENSITIVE)})
    assert "panicked" not in capfd.readouterr().err or not names_types


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("hour", [0, 5])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_times_of_any_zone_are_published(tmp_path: Path, zone, hour, format) -> None:
    times = [dt.datetime(2020, 1, day, hour) for day in (1, 2, 3, 4)]
    frame = pl.DataFrame({"age": ["1"] * 4, "seen": times})
    frame = frame.with_columns(pl.col("seen").dt.replace_time_zone(zone))
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "seen": {"role": "sensitive", "allow_identifying": True},
        },
        requirements=[dc.KAnonymity(k=2)],
        method=dc.FullDomain(),
    )
    dc.publish(frame, job).save(tmp_path / "release", format=format, **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok


@pytest.mark.parametrize("dtype", [pl.Int128, pl.Time, pl.Decimal(20, 2)])
def test_unusual_types_are_published_in_parquet(tmp_path: Path, dtype) -> None:
    cells = [dt.time(1), dt.time(2)] if dtype == pl.Time else [1, 2]
    frame = pl.DataFrame({"age": ["1", "1"], "x": pl.Series(cells).cast(dtype)})
    job = dc.Job(
        attributes={"age": {"role": "quasi-identifier"}, "x": {"role": "sensitive"}},
        requirements=[dc.KAnonymity(k=2)],
        method=dc.FullDomain(),
    )
    dc.publish(frame, job).save(tmp_path / "release", format="parquet", **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_typed_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people.{ending}"
    frame = FRAME.rename({"sex": "a.b [c]"}).drop("id")
    if ending == "parquet":
        frame.write_parquet(path)
    else:
        pyarrow.feather.write_feather(frame.to_arrow(), path)
    source = Source(path=path, missing=("-9",))
    specs = {name: ColumnSpec(Role.SENSITIVE) for name in frame.columns}
    assert column_names(source) == tuple(frame.columns)
    table = read_table(source, specs)
    expected = code_frame(frame, specs, ["-9"])
    for column in expected:
        np.testing.assert_array_equal(table[column.name].codes, column.codes)
        assert table[column.name].values.equals(column.values)
    path.write_bytes(b"nonsense of some length, not a table")
    with pytest.raises(InputError, match=f"not a valid {ending} file"):
        read_table(source, specs)


def test_frames_are_left_as_they_were() -> None:
    frame = FRAME.clone()
    code_frame(frame, SPECS, ["30"])
    assert_frame_equal(frame, FRAME)


def test_integers_beside_a_null_in_pandas_are_published_as_integers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [55, None, 51, 55, 55, None], "s": ["x", "y"] * 3})
    job = dc.Job(
        attributes={
            "a": {"role": "quasi-identifier", "type": "integer"},
            "s": {"role": "sensitive"},
        },
        method={"anatomy": {"l": 2}},
    )
    folder = dc.publish(frame, job).save(tmp_path / "release", **UNATTACKED)
    published = pl.read_csv(folder / "quasi_identifiers.csv", infer_schema=False)
    assert sorted(published["a"].fill_null("")) == ["", "", "51", "55", "55", "55"]
