"""No output of a release holds a value that only a suppressed person has, not even unseen bytes."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.saving import UNATTACKED

import discreet as dc

SECRET = "diagnosis-of-one-suppressed-person"  # past 12 bytes, so Polars keeps it in a buffer
HELD = {"sensitive": "ill", "insensitive": "note", "quasi-identifier": "town", "set": "sets"}


def people() -> pl.DataFrame:
    rows = 20
    common = ["a diagnosis that is common", "another one that is common"] * (rows // 2)
    return pl.DataFrame(
        {
            "age": ["30", "31"] * (rows // 2) + ["90"],
            "town": ["a town of twenty people"] * rows + [f"town {SECRET}"],
            "ill": [*common, f"ill {SECRET}"],
            "sets": ["a member of some length|another member"] * rows + [f"member {SECRET}"],
            "note": [f"a note about person {n}" for n in range(rows)] + [f"note {SECRET}"],
        }
    )


JOB = dc.Job(
    attributes={
        "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "town": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "ill": {"role": "sensitive"},
        "sets": {"role": "sensitive", "multi_valued": "|"},
        "note": {"role": "insensitive", "allow_identifying": True},
    },
    requirements=[{"k-anonymity": {"k": 5}}],
    method={"full-domain": {"suppression": 0.05}},
)


def as_kind(frame: pl.DataFrame, kind: str) -> object:
    match kind:
        case "polars":
            return frame
        case "polars-categorical":
            return frame.with_columns(pl.col("ill", "note", "town").cast(pl.Categorical))
        case "polars-lazy":
            return frame.lazy()
        case "pandas":
            return frame.to_pandas()
        case "pandas-categorical":
            return frame.to_pandas().astype({"ill": "category", "note": "category"})
        case "arrow":
            return frame.to_arrow()
        case _:
            table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            return pa.table({name: table[name].dictionary_encode() for name in table.column_names})


def dumps(table: object) -> dict[str, bytes]:
    """The table in every form that its library writes."""
    out = {"pickle": pickle.dumps(table), "repr": repr(table).encode()}
    if isinstance(table, pl.LazyFrame):
        out["plan"] = table.serialize()
        table = table.collect()
    if isinstance(table, pl.DataFrame):
        ipc, stream, parquet = io.BytesIO(), io.BytesIO(), io.BytesIO()
        table.write_ipc(ipc)
        table.write_ipc_stream(stream)
        table.write_parquet(parquet, compression="uncompressed")
        out |= {"ipc": ipc.getvalue(), "stream": stream.getvalue()}
        out |= {"parquet": parquet.getvalue(), "serialize": table.serialize()}
        out["slice"] = pickle.dumps(table.head(1))
        table = table.to_arrow()
    if isinstance(table, pd.DataFrame):
        parquet = io.BytesIO()
        table.to_parquet(parquet, compression=None)
        out["pandas-parquet"] = parquet.getvalue()
        table = pa.Table.from_pandas(table)
    assert isinstance(table, pa.Table)
    feather, parquet = io.BytesIO(), io.BytesIO()
    pyarrow.feather.write_feather(table, feather, compression="uncompressed")
    pyarrow.parquet.write_table(table, parquet, compression="none")
    out |= {"feather": feather.getvalue(), "arrow-parquet": parquet.getvalue()}
    out["arrow-pickle"] = pickle.dumps(table)
    out["buffers"] = b"".join(
        buffer.to_pybytes()
        for column in table.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    )
    return out


@pytest.mark.parametrize(
    "kind",
    [
        "polars",
        "polars-categorical",
        "polars-lazy",
        "pandas",
        "pandas-categorical",
        "arrow",
        "dictionary",
    ],
)
def test_frames_hold_published_values_alone(kind):
    assert SECRET.encode() in dumps(people())["ipc"]  # the search would find it
    release = dc.publish(as_kind(people(), kind), JOB, seed=1)
    assert release.manifest.suppressed_rows == 1
    for table in release.tables.values():
        for form, written in dumps(table).items():
            assert SECRET.encode() not in written, form
    assert SECRET not in repr(release) + str(release) + release._repr_html_()


@pytest.mark.parametrize("method", [
    {"msa-diversity": {"suppression": 0.1}},
    {"msa-diversity": {"suppression": 0.1, "publish": "buckets"}},
    {"gal": {"l": 2}},
])  # fmt: skip
def test_frames_of_other_methods_do_so_too(method):
    frame = (
        people()
        .drop("sets")
        .with_columns(
            ill=pl.Series([f"diagnosis {n % 4} that is common" for n in range(20)] + [SECRET])
        )
    )
    frame = pl.concat([frame, frame.tail(1)] * 6)  # too many of one value: some are suppressed
    attributes = {name: a for name, a in JOB.attributes.items() if name != "sets"}
    job = dc.Job(attributes=attributes, requirements=[{"p-diversity": {"l": 2}}], method=method)
    release = dc.publish(frame, job, seed=1)
    for table in release.tables.values():
        shown = table.write_csv()
        for form, written in dumps(table).items():
            for secret in (f"note {SECRET}", f"town {SECRET}"):
                assert secret.encode() not in written or secret in shown, form


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_hold_published_values_alone(tmp_path, format):
    people().write_csv(tmp_path / "people.csv")
    output = {"url": f"sqlite:///{tmp_path}/release.db"}
    job = dc.Job(
        source={"path": tmp_path / "people.csv"},
        attributes=JOB.attributes,
        requirements=JOB.requirements,
        method=JOB.method,
        output=output,
    )
    dc.publish(None, job, seed=1).save(tmp_path / "release", format=format, **UNATTACKED)
    files = [tmp_path / "release.db", *(tmp_path / "release").iterdir()]
    assert len(files) == 4
    for file in files:
        assert SECRET.encode() not in Path(file).read_bytes(), file.name


def test_a_release_in_memory_cannot_be_pickled():
    release = dc.publish(people(), JOB, seed=1)
    with pytest.raises(dc.InputError, match="holds the source table"):
        pickle.dumps(release)
