"""A table with a column that the release makes for itself is refused before the method runs."""

from __future__ import annotations

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.prepare import prepare

METHODS = [
    ({"decomposition": {}}, "group"),
    ({"anatomy": {"l": 2}}, "group"),
    ({"anatomy": {"l": 2}}, "count"),
    ({"mmdcf": {"l": 2}}, "group"),
    ({"msa-diversity": {"publish": "buckets"}}, "group"),
]


def job(method: dict, name: str) -> dc.Job:
    attributes = {name: {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    return dc.Job(attributes=attributes, method=method)


@pytest.mark.parametrize(("method", "name"), METHODS, ids=str)
def test_a_taken_name_is_refused_in_preparation(method, name):
    frame = pl.DataFrame({name: list("abab"), "s": list("xyzw")})
    with pytest.raises(dc.InputError, match=f"a column '{name}' of its own"):
        prepare(job(method, name), frame)


def test_other_methods_take_such_a_name():
    frame = pl.DataFrame({"group": list("aabb"), "s": list("xyzw")})
    assert prepare(job({"msa-diversity": {}}, "group"), frame).table.rows == 4
    assert dc.publish(frame, job({"mondrian": {}}, "group")).manifest.published_rows == 4


def test_every_set_of_a_release_has_its_members_escaped(tmp_path):
    """Whether a hierarchy or a partition made the set, so that a reader needs one rule."""
    signs = ["*", "\\*", "[1, 2]", "plain"] * 3
    frame = pl.DataFrame({"sign": signs, "s": ["a", "b", "c"] * 4})
    attributes = {
        "sign": {"role": "quasi-identifier", "escape": True},
        "s": {"role": "sensitive"},
    }
    for method in ("full-domain", "mondrian"):
        job = dc.Job(attributes=attributes, requirements=[dc.KAnonymity(k=6)], method=method)
        folder = dc.publish(frame, job).save(tmp_path / method, **UNATTACKED)
        cells = pl.read_csv(folder / "records.csv")["sign"].unique().to_list()
        sets = [cell for cell in cells if cell.startswith("{")]
        assert sets
        assert all(r"\\*" in cell or r"\*" in cell or "plain" in cell for cell in sets)
        assert not any('"[1' in cell for cell in sets)
