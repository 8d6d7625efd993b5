"""The hierarchy of a sensitive attribute in a manifest names no value of the suppressed alone."""

from __future__ import annotations

import polars as pl
import pytest
from tests import naive

import discreet as dc

TREE = {"lungs": ["flu", "asthma"], "joints": {"knee": ["gout"], "hip": ["rare"]}}


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_value_of_suppressed_people_is_not_named(tmp_path, format):
    frame = pl.DataFrame(
        {
            "age": ["30", "31"] * 10 + ["90"],
            "ill": ["flu", "asthma", "gout", "gout", "flu"] * 4 + ["rare"],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}, "distance": "hierarchical"},
        },
        requirements=[{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9}}],
        method={"full-domain": {"suppression": 0.05}},
    )
    folder = dc.publish(frame, job, seed=1).save(tmp_path / "release", format=format)
    manifest = naive.read_manifest(folder)
    assert manifest["suppressed_rows"] == 1
    leaves = {row[0] for row in manifest["attributes"]["ill"]["hierarchy"]}
    assert leaves == {"flu", "asthma", "gout"}
    assert "rare" not in (folder / "manifest.json").read_text(encoding="utf-8")
    assert dc.audit(folder).ok
