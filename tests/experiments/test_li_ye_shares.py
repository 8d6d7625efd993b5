"""What the manifest of Li and Ye tells of shares is what a reader of the file sees."""

from __future__ import annotations

import polars as pl
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc


def test_the_shares_of_masked_values_are_not_told(tmp_path):
    frame = pl.DataFrame(
        {
            "age": ["20", "21", "22", "60", "61", "62"],
            "ill": ["flu", "flu", "flu", "gout", "flu", "cold"],
            "job": ["cook", "nurse", "clerk", "cook", "cook", "clerk"],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ill": {"role": "sensitive"},
            "job": {"role": "sensitive"},
        },
        method={"li-ye": {"alpha_qi": 3, "alpha_sa": 2}},
    )
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    manifest = naive.read_manifest(folder)
    assert manifest["method"]["masked_cells"] == {"ill": 3}
    groups = naive.classes(naive.read_csv(folder / "records.csv"), ["age"])
    for name, said in manifest["method"]["greatest_share"].items():
        shown = [group for group in groups if group[0][name] != "*"]
        assert abs(said - float(naive.greatest_share_of(shown, name))) < 1e-12
    assert manifest["method"]["greatest_share"]["ill"] < 1


def test_a_mask_covers_every_row_with_the_same_cells(tmp_path):
    """Two halves, {c, d} and {f, g}, have the same lowest ancestor; one of them needs a mask."""
    frame = pl.DataFrame(
        {"town": list("cdfg"), "ill": ["flu", "flu", "flu", "gout"], "job": list("1212")}
    )
    tree = {"All": {"West": list("abc"), "Middle": list("def"), "East": list("ghi")}}
    job = dc.Job(
        attributes={
            "town": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
            "ill": {"role": "sensitive"},
            "job": {"role": "sensitive"},
        },
        method={"li-ye": {"alpha_qi": 2, "alpha_sa": 2}},
    )
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    records = naive.read_csv(folder / "records.csv")
    for group in naive.classes(records, ["town"]):
        for name in ("ill", "job"):
            assert len({row[name] == "*" for row in group}) == 1
    assert len(records) == 4
