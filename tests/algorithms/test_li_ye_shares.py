"""What the manifest of Li and Ye tells of shares is what a reader of the file sees."""

from __future__ import annotations

import polars as pl
from tests import naive

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
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release")
    manifest = naive.read_manifest(folder)
    assert manifest["method"]["masked_cells"] == {"ill": 3}
    groups = naive.classes(naive.read_csv(folder / "records.csv"), ["age"])
    for name, said in manifest["method"]["greatest_share"].items():
        shown = [group for group in groups if group[0][name] != "*"]
        assert abs(said - float(naive.greatest_share_of(shown, name))) < 1e-12
    assert manifest["method"]["greatest_share"]["ill"] < 1
