"""Sets as bits and back, for every method and through files."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED
from tests.tables import coded_column

import discreet as dc
from discreet.pipeline.prepare import prepare
from discreet.requirements.mutual_information import measure_information
from discreet.table.bitmaps import Bitmap, expand, sets_of
from discreet.table.roles import Role

MEMBERS = st.sampled_from(["flu", "hiv", "(rest)", "a=b", "ü", "x, y", "*"])
CELLS = st.lists(st.one_of(st.none(), st.frozensets(MEMBERS)), min_size=1, max_size=20)


def column_of(sets):
    cells = [None if s is None else "|".join(sorted(s)) for s in sets]
    return coded_column("ill", cells, Role.SENSITIVE, separator="|")


def cells_of(column):
    return column.values.gather(column.codes).to_list()


@given(sets=CELLS.filter(lambda sets: any(sets)))
@settings(max_examples=80, deadline=None)
def test_the_bits_say_who_has_what_and_give_the_sets_back(sets):
    bitmap, bits = expand(column_of(sets))
    held = sorted({member for s in sets if s for member in s})
    assert list(bitmap.members.values()) == held
    assert [bit.name for bit in bits] == [f"ill={member}" for member in held]
    for bit, member in zip(bits, held, strict=True):
        assert cells_of(bit) == [None if s is None else int(member in s) for s in sets]
        assert bit.counts.all()  # the dictionary holds what occurs
    back = sets_of(bitmap, {bit.name: pl.Series(bit.name, cells_of(bit)) for bit in bits})
    assert back is not None
    assert back.to_list() == [None if s is None else "|".join(sorted(s)) for s in sets]


@given(sets=CELLS.filter(lambda sets: any(sets)), floor=st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_rare_members_share_a_bit_under_a_name_that_no_member_has(sets, floor):
    bitmap, bits = expand(column_of(sets), floor)
    support = {m: sum(m in s for s in sets if s) for s in sets if s for m in s}
    rare = {member for member, rows in support.items() if rows < floor}
    assert set(bitmap.members.values()) == set(support) - rare
    assert bitmap.lossless == (not rare)
    if rare:
        assert bitmap.rest == bits[-1].name
        assert bitmap.rest.removeprefix("ill=") not in support
        assert cells_of(bits[-1]) == [None if s is None else int(bool(s & rare)) for s in sets]
        assert sets_of(bitmap, {bit.name: bit.values for bit in bits}) is None


def test_sets_stay_apart_where_a_bit_is_elsewhere_or_masked():
    bitmap = Bitmap("ill", "|", {"ill=flu": "flu", "ill=hiv": "hiv"})
    flu = pl.Series("ill=flu", ["0", "1"])
    assert sets_of(bitmap, {"ill=flu": flu}) is None
    assert sets_of(bitmap, {"ill=flu": flu, "ill=hiv": pl.Series(["*", "1"])}) is None


def job(method="full-domain", ill=None, requirements=()):
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "ill": {"role": "sensitive", "multi_valued": "|", **(ill or {})},
            "drug": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 2}}, *requirements],
        method=method,
    )


def write(path, rows):
    lines = ["age,ill,drug", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


ROWS = [
    ("1", "flu|hiv", "x"), ("1", "", "y"), ("2", " hiv ", "x"), ("2", "flu", "?"),
    ("3", "?", "y"), ("3", "flu|flu", "x"), ("1", "hiv|flu", "y"), ("2", "", "x"),
]  # fmt: skip
SETS = ["flu|hiv", "", "hiv", "flu", None, "flu", "flu|hiv", ""]


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_a_release_holds_bits_and_reads_back_as_sets(tmp_path, format_):
    source = tmp_path / "t.csv"
    write(source, ROWS)
    made = job().model_copy(update={"source": dc.Source(path=source, missing=["?"])})
    release = dc.publish(None, made)
    release.save(tmp_path / "out", format=format_, **UNATTACKED)
    manifest = naive.read_manifest(tmp_path / "out")
    assert list(manifest["tables"]["records"]["columns"]) == ["age", "ill=flu", "ill=hiv", "drug"]
    assert manifest["bitmaps"]["ill"]["members"] == {"ill=flu": "flu", "ill=hiv": "hiv"}
    assert dc.audit(tmp_path / "out", original=made).ok
    tables = dc.read_release(tmp_path / "out")
    assert tables["records"].columns == ["age", "ill", "drug"]
    key = lambda cell: (cell is None, cell)  # noqa: E731
    assert sorted(tables["records"]["ill"].to_list(), key=key) == sorted(SETS, key=key)
    raw = dc.read_release(tmp_path / "out", sets=False)["records"]
    assert raw["ill=hiv"].cast(pl.Int64).sum() == 3
    assert raw["ill=hiv"].null_count() == 1
    assert any("2 bits" in sentence for sentence in release.explanation)


def test_a_floor_is_said_not_to_be_lossless(tmp_path):
    source = tmp_path / "t.csv"
    write(source, [(a, ill, drug) for a, ill, drug in ROWS if ill != "?"])
    release = dc.publish(source, job(ill={"min_support": 4}))
    assert release.manifest.bitmaps["ill"].rest == "ill=(rest)"
    assert any("cannot be restored" in sentence for sentence in release.explanation)
    release.save(tmp_path / "out", **UNATTACKED)
    assert "ill=(rest)" in dc.read_release(tmp_path / "out")["records"].columns


def test_requirements_on_the_attribute_hold_for_all_its_bits(tmp_path):
    source = tmp_path / "t.csv"
    write(source, ROWS)
    asked = [{"distinct-l-diversity": {"l": 2, "attribute": "ill"}}]
    task = prepare(job(requirements=asked), source)
    assert task.requirements[1].named == ("ill=?", "ill=flu", "ill=hiv")
    release = dc.publish(source, job(requirements=asked))
    assert release.manifest.promises[1].by_attribute.keys() == {"ill=?", "ill=flu", "ill=hiv"}
    one = [{"distinct-l-diversity": {"l": 2, "attribute": "ill=flu"}}]
    assert prepare(job(requirements=one), source).requirements[1].named == ("ill=flu",)
    nobody = [{"distinct-l-diversity": {"l": 2, "attribute": "ill=plague"}}]
    with pytest.raises(dc.JobError, match="'ill=plague' is not a sensitive attribute"):
        prepare(job(requirements=nobody), source)


def test_which_values_are_sensitive(tmp_path):
    source = tmp_path / "t.csv"
    write(source, ROWS)
    by_name = {"ill": {"sensitive_values": {"hiv": None}}}
    task = prepare(job(ill=by_name["ill"]), source)
    marks = {name: mask.tolist() for name, mask in task.secrets.sensitive_values.items()}
    assert marks == {"ill=?": [False, False], "ill=flu": [False] * 2, "ill=hiv": [False, True]}
    share = measure_information(task.table.sensitive, task.secrets.sensitive_values).sensitive_share
    assert share == pytest.approx([0, 0, 3 / 8, 1])
    task = prepare(job(ill={"non_sensitive_values": ["flu", "?"]}), source)
    assert task.secrets.sensitive_values["ill=hiv"].tolist() == [False, True]
    assert not np.any(task.secrets.sensitive_values["ill=flu"])
    with pytest.raises(dc.JobError, match=r"ill.sensitive_values: 'plague' does not occur"):
        prepare(job(ill={"sensitive_values": ["plague"]}), source)


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ({"role": "sensitive", "multi_valued": "|", "hierarchy": "suppress"}, "becomes bits"),
        ({"role": "sensitive", "multi_valued": "|", "distance": "equal"}, "becomes bits"),
        ({"role": "sensitive", "min_support": 2}, "'min_support' is for"),
        ({"role": "quasi-sensitive", "multi_valued": "|", "min_support": 2}, "'min_support' is"),
        ({"role": "insensitive", "sensitive_values": ["a"]}, "not for role 'insensitive'"),
        ({"role": "sensitive", "sensitive_values": [], "non_sensitive_values": []}, "either"),
    ],
)
def test_what_does_not_fit_is_refused(attribute, problem):
    with pytest.raises(dc.JobError, match=problem):
        dc.Job(attributes={"ill": attribute})


def test_a_column_called_like_a_bit_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("ill,ill=flu\nflu,1\n", encoding="utf-8")
    attributes = {
        "ill": {"role": "sensitive", "multi_valued": "|"},
        "ill=flu": {"role": "insensitive"},
    }
    with pytest.raises(dc.InputError, match="Rename one"):
        dc.publish(tmp_path / "t.csv", dc.Job(attributes=attributes))


def test_a_column_of_empty_sets_is_refused(tmp_path):
    write(tmp_path / "t.csv", [("1", "", "x"), ("2", "|", "y")])
    with pytest.raises(dc.InputError, match="no cell holds a member"):
        prepare(job(), tmp_path / "t.csv")


def test_values_of_a_job_are_text_and_survive_json():
    attribute = dc.Attribute(role="sensitive", sensitive_values=[0, 1.5, "x", None])
    assert attribute.sensitive_values == ("0", "1.5", "x", None)
    assert json.loads(attribute.model_dump_json())["sensitive_values"] == ["0", "1.5", "x", None]
