"""Nothing in a release names a value that only suppressed people have."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc

TREE = {"lungs": ["flu", "asthma"], "joints": {"knee": ["gout"], "hip": ["raremark"]}}
FULL_DOMAIN = {"full-domain": {"suppression": 0.05}}


def people(ill: list[str], rare: str, **further: list[str]) -> pl.DataFrame:
    """Twenty people of two ages, and one of another age with a value of their own."""
    return pl.DataFrame({"age": ["30", "31"] * 10 + ["90"], "ill": ill * 4 + [rare], **further})


def job_of(ill: dict, requirements: list, method: object = FULL_DOMAIN) -> dc.Job:
    return dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive", **ill},
        },
        requirements=requirements,
        method=method,
    )


def published(frame: pl.DataFrame, job: dc.Job, folder: Path, **how: str) -> dict:
    """The manifest of a release in which one person is suppressed and no file names their value."""
    source = folder / "people.csv"
    frame.write_csv(source)
    job = job.model_copy(update={"source": dc.Source(path=source), "folder": folder})
    release = dc.publish(None, job, seed=1)
    release.save(folder / "release", **how)
    manifest = naive.read_manifest(folder / "release")
    assert manifest["suppressed_rows"] == 1
    for file in (folder / "release").iterdir():
        assert b"raremark" not in file.read_bytes(), file.name
    for text in (str(release), repr(release), release._repr_html_()):
        assert "raremark" not in text
    assert dc.audit(folder / "release").ok
    audit = dc.audit(folder / "release", original=job)
    assert audit.ok, audit.problems
    assert dc.measure(folder / "release", original=job) is not None
    assert dc.attack(folder / "release", original=job, attacks=["linking"]) is not None
    return manifest


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_leaf_of_suppressed_people_is_not_named(tmp_path, format):
    manifest = published(
        people(["flu", "asthma", "gout", "gout", "flu"], "raremark"),
        job_of(
            {"hierarchy": {"tree": TREE}, "distance": "hierarchical"},
            [{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9}}],
        ),
        tmp_path,
        format=format,
    )
    leaves = {row[0] for row in manifest["attributes"]["ill"]["hierarchy"]}
    assert leaves == {"flu", "asthma", "gout"}


def test_labels_of_an_automatic_hierarchy_list_published_leaves_alone(tmp_path):
    manifest = published(
        people(["flu", "asthma", "gout", "cold", "flu"], "raremark"),
        job_of(
            {"hierarchy": "automatic", "distance": "hierarchical"},
            [{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9}}],
        ),
        tmp_path,
    )
    rows = manifest["attributes"]["ill"]["hierarchy"]
    assert {row[0] for row in rows} == {"flu", "asthma", "gout", "cold"}
    assert any(label.startswith("{") for row in rows for label in row[1:])


def test_ends_of_automatic_ranges_are_published_leaves(tmp_path):
    values = [str(number) for number in range(1, 21)]
    frame = pl.DataFrame({"age": ["30", "31"] * 10 + ["90"], "ill": [*values, "777"]})
    job = job_of(
        {"type": "integer", "hierarchy": "automatic", "distance": "hierarchical"},
        [{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9}}],
    )
    manifest = published(frame, job, tmp_path)
    labels = {label for row in manifest["attributes"]["ill"]["hierarchy"] for label in row}
    assert any(label.endswith(", 20]") for label in labels)
    assert not any("777" in label for label in labels)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("attribute", [None, "ill"])
def test_a_member_of_suppressed_people_has_no_column(tmp_path, format, attribute):
    manifest = published(
        people(["flu", "flu|gout", "gout", "", "flu"], "flu|raremark"),
        job_of(
            {"multi_valued": "|"},
            [{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9, "attribute": attribute}}],
        ),
        tmp_path,
        format=format,
    )
    assert list(manifest["tables"]["records"]["columns"]) == ["age", "ill=flu", "ill=gout"]
    assert list(manifest["bitmaps"]["ill"]["members"].values()) == ["flu", "gout"]
    assert manifest["promises"][1]["by_attribute"].keys() == {"ill=flu", "ill=gout"}
    sets = dc.read_release(tmp_path / "release")["records"]["ill"]
    assert sorted(sets.to_list()) == sorted(["flu", "flu|gout", "gout", "", "flu"] * 4)


def test_the_shared_bit_of_rare_members_goes_with_them(tmp_path):
    manifest = published(
        people(["flu", "flu|gout", "gout", "", "flu"], "raremark"),
        job_of({"multi_valued": "|", "min_support": 2}, [{"k-anonymity": {"k": 5}}]),
        tmp_path,
    )
    assert list(manifest["tables"]["records"]["columns"]) == ["age", "ill=flu", "ill=gout"]
    assert "rest" not in manifest["bitmaps"]["ill"]


def test_a_requirement_on_such_a_member_alone_is_not_promised(tmp_path):
    manifest = published(
        people(["flu", "flu|gout", "gout", "", "flu"], "raremark"),
        job_of(
            {"multi_valued": "|"},
            [
                {"k-anonymity": {"k": 5}},
                {"t-closeness": {"t": 0.9, "attribute": "ill=raremark"}},
            ],
        ),
        tmp_path,
    )
    assert [promise["requirement"] for promise in manifest["promises"]] == ["k-anonymity"]


def test_nothing_is_published_of_a_column_whose_members_are_all_suppressed(tmp_path):
    frame = people([""] * 5, "raremark")
    job = job_of({"multi_valued": "|"}, [{"k-anonymity": {"k": 5}}])
    with pytest.raises(dc.InputError, match="'ill': every row with a member was suppressed") as e:
        dc.publish(frame, job)
    assert "raremark" not in str(e.value)


@pytest.mark.parametrize(
    "asked",
    [
        {"pd-recursive-cl-diversity": {"c": 50, "l": 2, "disclosable": ["raremark", "flu"]}},
        {
            "npd-recursive-cl-diversity": {
                "c1": 50,
                "c2": 0,
                "l": 2,
                "disclosable": ["raremark", "flu"],
                "not_ruled_out": ["raremark", "gout"],
            }
        },
    ],
)
def test_parameters_name_published_values_alone(tmp_path, asked):
    manifest = published(
        people(["flu", "asthma", "gout", "gout", "flu"], "raremark"),
        job_of({}, [{"k-anonymity": {"k": 5}}, asked]),
        tmp_path,
    )
    promise = manifest["promises"][1]["parameters"]
    assert promise["disclosable"] == ["flu"]
    assert promise.get("not_ruled_out", ["gout"]) == ["gout"]


def test_a_bound_on_a_value_that_nobody_published_has_is_a_bound_on_sizes(tmp_path):
    asked = {"alpha-k-anonymity": {"alpha": 0.5, "k": 4, "value": "raremark"}}
    manifest = published(
        people(["flu", "asthma", "gout", "gout", "flu"], "raremark"),
        job_of({}, [{"k-anonymity": {"k": 5}}, asked]),
        tmp_path,
    )
    assert manifest["promises"][1]["requirement"] == "k-anonymity"
    assert manifest["promises"][1]["parameters"] == {"k": 4}


def test_a_value_that_must_stay_possible_is_not_forgotten():
    """A value of W that no published row has breaks the promise, so it may not be left out."""
    asked = dc.NpdRecursiveClDiversity(c1=50, c2=0.01, l=2, not_ruled_out=["raremark"])
    assert asked.naming({"ill": {"flu"}}) == asked


def test_an_audit_counts_the_people_whose_members_are_missing(tmp_path):
    """A forged release may not drop the column of a member that published people have."""
    frame = people(["flu", "flu|gout", "gout", "", "flu"], "flu|raremark")
    job = job_of({"multi_valued": "|"}, [{"k-anonymity": {"k": 5}}])
    without = frame.with_columns(pl.col("ill").str.replace("gout", ""))
    frame.write_csv(tmp_path / "people.csv")
    dc.publish(without, job, seed=1).save(tmp_path / "release", **UNATTACKED)
    source = dc.Source(path=tmp_path / "people.csv")
    audit = dc.audit(tmp_path / "release", original=job.model_copy(update={"source": source}))
    assert not audit.ok
    assert any("8 rows of the original have a set member" in line for line in audit.problems)
