"""Exports of a release hold its cells, and no label of a value that it does not have."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.places.export import ENDINGS
from discreet.addons.places.statistical_files import allowed_names

ROWS = 12
FRAME = pl.DataFrame(
    {
        "sex": [1, 2] * 6,
        "Größe in m": [1.5, 2.0, None] * 4,
        "zip": ["01", "02", "03"] * 4,
        "ill": [7, 8, 9, None] * 3,
        "born": [dt.date(1980, 1, 2), dt.date(1899, 12, 31), None] * 4,
        "note": ["a, b", 'say "Å"', "", "plain"] * 3,
    }
)
LABELS = {
    "sex": {1: "male", 2: "female", 3: "divers"},
    "ill": {7: "flu", 8: "ache", 9: "refused", 66: "Wernicke"},
}
ATTRIBUTES = {
    "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "Größe in m": {"role": "insensitive", "type": "number"},
    "zip": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "ill": {"role": "sensitive"},
    "born": {"role": "insensitive", "type": "date"},
    "note": {"role": "insensitive"},
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        FRAME.rename({"Größe in m": "height"}),
        str(path),
        column_labels={"sex": "Sex of the person", "ill": "Diagnosis"},
        variable_value_labels=LABELS,
        missing_ranges={"ill": [9, 66]},
    )
    return path


def published(folder: Path, frame: pl.DataFrame = FRAME, **parts: object) -> Path:
    job = dc.Job(
        attributes={name: ATTRIBUTES[name] for name in frame.columns},
        requirements=[dc.KAnonymity(k=2)],
        method=parts.pop("method", dc.FullDomain()),
        **parts,
    )
    dc.publish(frame, job).save(folder, **UNATTACKED)
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return published(tmp_path / "release")


@pytest.mark.parametrize("ending", [*ENDINGS.values(), ".csv.gz", ".csv.zst"])
def test_an_export_reads_as_the_release_does(release: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    made = dc.export(release, path)
    assert (made.rows, made.table) == (ROWS, "records")
    job = dc.Job(
        source={"path": path, "user_missing": "keep"},
        attributes={
            made.renamed.get(name, name): {
                "role": "insensitive", "type": ATTRIBUTES[name].get("type")
            }
            for name in FRAME.columns
        },
    )  # fmt: skip
    again = dc.publish(None, job).tables["records"]
    expected = pl.read_csv(release / "records.csv", infer_schema=False)
    for name in FRAME.columns:
        found = [None if c is None else str(c) for c in again[made.renamed.get(name, name)]]
        if name == "Größe in m":
            found = [None if c is None else str(float(c)) for c in found]
        assert sorted(found, key=str) == sorted(expected[name].to_list(), key=str), name
    with pytest.raises(dc.ReleaseError, match="already exists"):
        dc.export(release, path)
    dc.export(release, path, force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["release", "release.private.html",
        "release.private.json", path.name]  # fmt: skip


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_of_published_values_alone(
    release: Path, source: Path, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"table{ending}"
    dc.export(release, path, labels=source)
    read = pyreadstat.read_sav if ending == ".sav" else pyreadstat.read_dta
    frame, found = read(str(path), output_format="polars", user_missing=True)
    kept = {
        name: {int(code): label for code, label in labels.items()}
        for name, labels in found.variable_value_labels.items()
    }
    assert kept["ill"] == {7: "flu", 8: "ache", 9: "refused"}
    assert found.column_names_to_labels["ill"] == "Diagnosis"
    assert b"Wernicke" not in path.read_bytes()
    assert b"divers" not in path.read_bytes()
    if ending == ".sav":
        assert found.missing_ranges == {"ill": [{"lo": 9.0, "hi": 9.0}]}
    published_sex = set(pl.read_csv(release / "records.csv", infer_schema=False)["sex"])
    assert ("sex" in kept) == (published_sex == {"1", "2"})
    assert frame.height == ROWS


def test_a_generalized_column_keeps_no_value_label(source: Path, tmp_path: Path) -> None:
    # A cell 1 that is the name of a group of values would have the label of another value.
    frame = FRAME.with_columns(sex=pl.Series([1, 2, 3, 4] * 3))
    tree = {"tree": {"1": ["1", "2"], "9": ["3", "4"]}}
    job = dc.Job(
        attributes={**ATTRIBUTES, "sex": {"role": "quasi-identifier", "hierarchy": tree},
                    "zip": {"role": "drop"}},
        requirements=[dc.KAnonymity(k=6)],
        method=dc.FullDomain(),
    )  # fmt: skip
    dc.publish(frame, job).save(tmp_path / "release", **UNATTACKED)
    cells = set(pl.read_csv(tmp_path / "release" / "records.csv", infer_schema=False)["sex"])
    assert cells == {"1", "9"}
    dc.export(tmp_path / "release", tmp_path / "table.sav", labels=source)
    found = pyreadstat.read_sav(str(tmp_path / "table.sav"), output_format="polars")[1]
    assert "sex" not in found.variable_value_labels


def test_a_forged_release_is_not_exported(release: Path, tmp_path: Path) -> None:
    file = release / "records.csv"
    file.write_text(file.read_text(encoding="utf-8") + "1,,01,7,,x\n", encoding="utf-8")
    with pytest.raises(dc.AuditError, match="does not pass its audit"):
        dc.export(release, tmp_path / "table.sav")
    with pytest.raises(dc.AuditError, match="does not pass its audit"):
        dc.codebook(release)
    assert not (tmp_path / "table.sav").exists()


def test_cells_that_a_format_does_not_hold_are_refused(tmp_path: Path) -> None:
    frame = FRAME.with_columns(note=pl.Series(["ends in a space "] * ROWS))
    folder = published(tmp_path / "release", frame)
    with pytest.raises(dc.ReleaseError, match="does not hold the cells of 'note'"):
        dc.export(folder, tmp_path / "table.sav")
    assert not list(tmp_path.glob("*.sav*"))
    dc.export(folder, tmp_path / "table.xlsx")
    frame = FRAME.with_columns(note=pl.Series(["a\x01b"] * ROWS))
    folder = published(tmp_path / "other", frame)
    with pytest.raises(dc.ReleaseError, match="control characters") as error:
        dc.export(folder, tmp_path / "other.xlsx")
    assert "\x01" not in str(error.value)
    assert not list(tmp_path.glob(".*partial*"))


def test_a_release_of_several_tables_needs_a_name(tmp_path: Path) -> None:
    frame = FRAME.select("sex", "ill").with_columns(ill=pl.Series([1, 2, 3] * 4))
    folder = published(tmp_path / "release", frame, method=dc.Anatomy(l=2))
    with pytest.raises(dc.InputError, match="has the tables 'quasi_identifiers', 'sensitive'"):
        dc.export(folder, tmp_path / "table.dta")
    with pytest.raises(dc.InputError, match="has no table 'records'"):
        dc.export(folder, tmp_path / "table.dta", table="records")
    assert dc.export(folder, tmp_path / "table.dta", table="sensitive").rows > 0
    for path in ("table.doc", "table", "table.dta.gz"):
        with pytest.raises(dc.InputError, match="tables are exported as"):
            dc.export(folder, tmp_path / path)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    cells=st.lists(st.none() | TEXT | st.integers().map(str), min_size=4, max_size=8),
    ending=st.sampled_from([".sav", ".dta", ".xlsx", ".parquet"]),
)
def test_an_export_is_exact_or_refused(tmp_path_factory, cells, ending) -> None:
    folder = tmp_path_factory.mktemp("export")
    frame = pl.DataFrame({"sex": ["1"] * len(cells), "note": pl.Series(cells, dtype=pl.String)})
    try:
        release = published(folder / "release", frame)
    except dc.DiscreetError:
        return  # such as cells that look like ranges
    path = folder / f"table{ending}"
    try:
        dc.export(release, path)
    except dc.DiscreetError:
        assert not path.exists()
        return
    job = dc.Job(
        source={"path": path}, attributes={name: {"role": "insensitive"} for name in frame.columns}
    )
    again = dc.publish(None, job).tables["records"]["note"]
    found = sorted("" if cell is None else str(cell) for cell in again)
    assert found == sorted(cell or "" for cell in cells)


@given(
    names=st.lists(st.text(min_size=1, max_size=70), min_size=1, max_size=6, unique=True),
    format=st.sampled_from(["spss", "stata", "xport"]),
)
@settings(max_examples=50, deadline=None)
def test_names_are_allowed_and_differ(names, format) -> None:
    made = allowed_names(names, format)
    assert len({name.casefold() for name in made}) == len(names)
    for name in made:
        assert name[0].isalpha()
        assert all(sign.isalnum() or sign == "_" for sign in name)
        assert len(name.encode()) <= (64 if format == "spss" else 32)


def test_the_codebook(release: Path, source: Path, tmp_path: Path) -> None:
    book = dc.codebook(release, labels=source)
    for ending in ("json", "csv", "xml"):
        book.save(tmp_path / f"book.{ending}")
    with pytest.raises(dc.InputError, match="already exists"):
        book.save(tmp_path / "book.xml")
    with pytest.raises(dc.InputError, match="ends in .json, .csv or .xml"):
        book.save(tmp_path / "book.pdf")
    columns = {
        c["name"]: c
        for c in json.loads((tmp_path / "book.json").read_text())["tables"][0]["columns"]
    }
    assert columns["ill"]["values"] == [
        {"value": "7", "label": "flu", "rows": 3},
        {"value": "8", "label": "ache", "rows": 3},
        {"value": "9", "label": "refused", "rows": 3},
    ]
    assert (columns["ill"]["missing"], columns["ill"]["label"]) == (3, "Diagnosis")
    assert (columns["born"]["least"], columns["born"]["greatest"]) == ("1899-12-31", "1980-01-02")
    lines = list(csv.DictReader(io.StringIO((tmp_path / "book.csv").read_text(encoding="utf-8"))))
    assert [line["value_label"] for line in lines if line["column"] == "ill"] == [
        "flu", "ache", "refused",
    ]  # fmt: skip
    root = ET.parse(tmp_path / "book.xml").getroot()
    assert root.tag == "{ddi:codebook:2_5}codeBook"
    name = {"d": "ddi:codebook:2_5"}
    ill = root.find(".//d:var[@name='ill']", name)
    assert ill is not None
    assert [c.findtext("d:labl", None, name) for c in ill.findall("d:catgry", name)] == [
        "flu", "ache", "refused",
    ]  # fmt: skip
    assert root.findtext(".//d:caseQnty", None, name) == str(ROWS)
    for ending in ("json", "csv", "xml"):
        assert "Wernicke" not in (tmp_path / f"book.{ending}").read_text(encoding="utf-8")


def run(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "discreet", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False)


def test_the_commands(release: Path, source: Path, tmp_path: Path) -> None:
    done = run("export", release, "--to", tmp_path / "t.sav", "--labels", source)
    assert done.returncode == 0
    assert b"12 rows of 'records', read back and compared." in done.stderr
    assert "is 'Größe_in_m' in the file".encode() in done.stderr
    piped = run("export", release, "--to", "-")
    assert piped.stdout == (release / "records.csv").read_bytes()
    assert run("export", release, "--to", "-", "--format", "doc").returncode == 2
    assert run("codebook", release, "--to", tmp_path / "book.xml").returncode == 0
    (release / "records.csv").write_bytes(piped.stdout[:-3])
    assert run("export", release, "--to", "-").returncode == 1
