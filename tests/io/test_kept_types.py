"""Columns keep the types of their source; docs/files.md has the table that this module makes.

``DISCREET_UPDATE_SNAPSHOTS=1 pytest tests/io/test_kept_types.py`` writes the table anew.
"""

from __future__ import annotations

import datetime as dt
import io
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from tests.saving import UNATTACKED

import discreet as dc

ROWS = 12
TIME = dt.datetime(2024, 3, 1, 8, 30, 15)
DAYS = [TIME, TIME + dt.timedelta(days=1), TIME + dt.timedelta(days=2)]
LOW, ENUM = ["low", "mid", "high"], pl.Enum(["low", "mid", "high", "never"])


def column(cells: list[Any], dtype: Any = None) -> pl.Series:
    return pl.Series([cells[row % len(cells)] for row in range(ROWS)], dtype=dtype)


COLUMNS = {
    "8-bit integer": column([1, 2, 3], pl.Int8),
    "64-bit unsigned integer": column([2**63 + 1, 2, 3], pl.UInt64),
    "integer with missing": column([1, 2, None], pl.Int32),
    "32-bit float": column([1.5, 2.25, 3.0], pl.Float32),
    "float with missing": column([1.5, 2.25, None], pl.Float64),
    "whole floats": column([1.0, 2.0, 3.0], pl.Float64),
    "truth value": column([True, False]),
    "truth value with missing": column([True, False, None]),
    "text": column(["a", "b", "c"]),
    "category": column(["b", "a", "c"], pl.Categorical),
    "ordered category (Enum)": column(LOW, ENUM),
    "decimal": column([Decimal("1.50"), Decimal("2.25"), Decimal("3.00")], pl.Decimal(10, 2)),
    "date": column([dt.date(2024, 1, 1), dt.date(2024, 2, 1), None]),
    "time stamp": column(DAYS),
    "time stamp, milliseconds": column(DAYS, pl.Datetime("ms")),
    "time stamp at midnight": column([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), None]),
    "time stamp in UTC": column(DAYS).dt.replace_time_zone("UTC"),
    "time stamp in a zone": column(DAYS).dt.replace_time_zone("Europe/Berlin"),
    "time of day": column([dt.time(8), dt.time(9, 30), None]),
}
ROLES = {
    "unchanged": {"role": "insensitive"},
    "sensitive": {"role": "sensitive"},
    "exact": {"role": "quasi-identifier"},
    "generalized": {"role": "quasi-identifier", "hierarchy": "suppress"},
}
KINDS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "arrow": lambda frame: frame.to_arrow(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas with Arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
}


def job_for(role: str) -> dc.Job:
    level = {"exact": 1, "generalized": 12}.get(role, 2)
    return dc.Job(
        attributes={
            "x": {**ROLES[role], "allow_identifying": True},
            "g": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "s": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": level}}],
        method="full-domain" if role == "generalized" else "mondrian",
    )


def people(cells: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"x": cells, "g": ["u"] * ROWS, "s": column(["p", "q", "r"])})


def type_of(frame: Any) -> str:
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    kind = frame.schema.field("x").type if isinstance(frame, pa.Table) else frame["x"].dtype
    return "Enum" if isinstance(kind, pl.Enum) else str(kind)


def cells_of(frame: Any) -> list[str]:
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    cells = frame["x"].to_pylist() if isinstance(frame, pa.Table) else frame["x"].to_list()
    return sorted(map(str, cells))


def outcomes() -> Iterator[tuple[str, str, str, str]]:
    """Yield each type, role, frame, and the type that is published where it is another."""
    for name, cells in COLUMNS.items():
        for role in ROLES:
            for kind, convert in KINDS.items():
                given = convert(people(cells))
                release = dc.publish(given, job_for(role), seed=1)
                frame = release.tables["records"]
                schema = release.schema["records"]["x"]
                same = type_of(frame) == type_of(given)
                if role == "generalized":
                    text = type_of(convert(people(COLUMNS["text"])))
                    change = "" if name == "text" else "coarser"
                    assert (schema.change, type_of(frame)) == (change, schema.published)
                    assert schema.published in (text, "str"), (name, kind)
                else:
                    assert same == (schema.change == "")
                    assert cells_of(frame) == cells_of(given), (name, role, kind)
                yield name, role, kind, "" if same else type_of(frame)


def table(found: dict[tuple[str, str, str], str]) -> str:
    """Return the outcomes as they stand in the documentation."""
    lines = [
        "| type | unchanged | sensitive | exact quasi-identifier | generalized |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in COLUMNS:
        cells = []
        for role in ROLES:
            other = {kind: found[name, role, kind] for kind in KINDS if found[name, role, kind]}
            cells.append(
                "kept" if not other else
                "text" if role == "generalized" else
                "; ".join(f"{kind}: {dtype}" for kind, dtype in other.items())
            )  # fmt: skip
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_every_type_in_every_frame_and_role() -> None:
    found = {(name, role, kind): other for name, role, kind, other in outcomes()}
    assert len(found) == len(COLUMNS) * len(ROLES) * len(KINDS)
    page = Path(__file__).parents[2] / "docs" / "files.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- types -->\n", "\n<!-- end of types -->"
    before, _, rest = text.partition(begin)
    shown, _, after = rest.partition(end)
    if os.environ.get("DISCREET_UPDATE_SNAPSHOTS"):
        page.write_text(before + begin + table(found) + end + after, encoding="utf-8")
        return
    assert shown == table(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["category", "ordered category (Enum)"])
def test_a_category_that_only_a_suppressed_row_has_is_in_no_type(kind: str, name: str) -> None:
    cells = ["low", "mid"] * 6
    frame = pl.DataFrame(
        {"age": ["1"] * 12 + ["9"], "x": pl.Series([*cells, "high"], dtype=COLUMNS[name].dtype)}
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "x": {"role": "sensitive"},
        },
        requirements=[dc.KAnonymity(k=2)],
        method={"full-domain": {"suppression": 0.2, "levels": {"age": 0}}},
    )
    release = dc.publish(KINDS[kind](frame), job)
    published = release.tables["records"]
    published = published.collect() if kind == "lazy" else published
    assert release.schema["records"]["x"].change == ""
    if kind in ("polars", "lazy"):
        dtype = published["x"].dtype
        assert not isinstance(dtype, pl.Enum) or dtype.categories.to_list() == ["low", "mid"]
        published.write_ipc(file := io.BytesIO())
        assert b"high" not in file.getvalue()
        return
    arrow = published if kind == "arrow" else pa.Table.from_pandas(published)
    assert sorted(arrow["x"].combine_chunks().dictionary.to_pylist()) == ["low", "mid"]


@pytest.mark.parametrize("role", ["unchanged", "sensitive", "exact"])
def test_parquet_to_parquet(tmp_path: Path, role: str) -> None:
    """A file keeps types that Parquet has: a zone becomes UTC, a category text, a time its time."""
    for number, (name, cells) in enumerate(COLUMNS.items()):
        source = tmp_path / f"{number}-{role}.parquet"
        people(cells).write_parquet(source)
        place = tmp_path / f"{number}-{role}"
        dc.publish(source, job_for(role)).save(place, format="parquet", **UNATTACKED)
        assert dc.audit(place).ok
        job = job_for(role).model_copy(update={"source": dc.Source(path=source)})
        assert dc.audit(place, original=job).ok, (name, role)
        before = pq.read_schema(source).field("x").type
        after = pq.read_schema(place / "records.parquet").field("x").type
        if "category" in name:
            assert after in (pa.string(), pa.large_string())
        elif name == "time stamp in a zone":
            assert after == pa.timestamp("us", "UTC")
        else:
            assert str(after) in (str(before), str(before).removeprefix("large_")), (name, role)


def test_numeric_of_postgresql_is_a_number(postgres: Any, tmp_path: Path) -> None:
    import psycopg

    url = postgres()
    with psycopg.connect(url, autocommit=True) as base:
        base.execute("CREATE TABLE people (age numeric(5, 1), pay numeric, huge numeric)")
        for row in range(8):
            base.execute(
                "INSERT INTO people VALUES (%s, %s, %s)",
                (Decimal(row % 2) + Decimal("0.5"), Decimal("1.50") * row, Decimal(10) ** 60),
            )
    job = dc.Job(
        source={"url": url, "table": "people"},
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [2]}},
            "pay": {"role": "sensitive", "allow_identifying": True},
            "huge": {"role": "insensitive"},
        },
        requirements=[dc.KAnonymity(k=2)],
    )
    frame = dc.publish(None, job).tables["records"]
    assert frame.schema["pay"] == pl.Decimal(38, 2)
    assert frame.schema["huge"] == pl.String  # more digits than any library's decimals
    assert sorted(frame["pay"]) == [Decimal("1.50") * row for row in range(8)]
    assert dc.check(url, table="people", quasi=["age"], sensitive=["pay"], k=4).ok


def test_a_frame_of_the_release_is_read_as_its_file_is(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    roles = {name: {"role": "insensitive", "allow_identifying": True} for name in COLUMNS}
    job = dc.Job(
        attributes={**roles, "text": {"role": "quasi-identifier", "hierarchy": "suppress"}},
        requirements=[dc.KAnonymity(k=4)],
    )
    release = dc.publish(frame, job)
    release.save(tmp_path / "release", format="parquet", **UNATTACKED)
    assert release.proof is not None and release.audit is not None
    assert_frame_equal(
        dc.read_release(tmp_path / "release")["records"].select("decimal", "date", "time of day"),
        release.tables["records"].select("decimal", "date", "time of day"),
    )
