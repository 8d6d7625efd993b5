"""codip on tables at the border: one row, one value, nothing sensitive, nothing to generalize."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.api.explore import explore_projections


def job(attributes, requirements=(), **method) -> dc.Job:
    return dc.Job(attributes=attributes, requirements=list(requirements), method={"codip": method})


Q = {"role": "quasi-identifier", "hierarchy": "suppress"}
S = {"role": "sensitive"}


def test_one_row():
    release = dc.publish(pl.DataFrame({"q": ["a"], "s": ["x"], "t": ["y"]}),
                         job({"q": Q, "s": S, "t": S}))  # fmt: skip
    # nothing depends on anything, so nothing is lost, nothing exposed, and all merges are accepted
    assert release.manifest.method.plan == [["s", "t"]]
    assert release.private["method"]["association_loss"] == 0
    assert release.manifest.method.closeness == 0


def test_one_sensitive_attribute_is_one_table():
    frame = pl.DataFrame({"q": ["a", "b"] * 4, "s": list("xxyyxxyy")})
    release = dc.publish(frame, job({"q": Q, "s": S}, [{"k-anonymity": {"k": 2}}], beta=0.0))
    assert list(release.tables) == ["projection_1"]
    assert release.private["method"]["information_exposure"] == 0


def test_constant_and_missing_values():
    frame = pl.DataFrame(
        {
            "q": ["a", None, "a", None],
            "s": ["x", None, "x", None],
            "t": ["1"] * 4,
            "ü": list("abab"),
        }
    )
    release = dc.publish(frame, job({"q": Q, "s": S, "t": S, "ü": S}, beta=0.0))
    (first, *_) = release.tables.values()
    assert first["s"].null_count() == 2
    assert release.audit is not None
    assert release.audit.ok


def test_no_quasi_identifiers():
    frame = pl.DataFrame({"s": list("xyxy"), "t": list("aabb"), "u": list("xyxy")})
    release = dc.publish(
        frame, job({"s": S, "t": S, "u": S}, [{"t-closeness": {"t": 0}}], beta=0.0)
    )
    assert release.manifest.method.plan == [["s", "u"], ["t"]]
    assert all(table.height == 4 for table in release.tables.values())


def test_without_sensitive_attributes_it_is_refused():
    with pytest.raises(dc.JobError, match="no attribute is sensitive"):
        dc.publish(pl.DataFrame({"q": ["a"]}), job({"q": Q}))


def test_quasi_sensitive_attributes_are_refused():
    frame = pl.DataFrame({"q": ["a"], "s": ["x"], "z": ["m|n"]})
    sets = {"role": "quasi-sensitive", "multi_valued": "|"}
    with pytest.raises(dc.JobError, match="quasi-sensitive attributes belong to no projection"):
        dc.publish(frame, job({"q": Q, "s": S, "z": sets}))


def test_insensitive_columns_go_with_the_first_table():
    frame = pl.DataFrame({"q": ["a"] * 4, "s": list("xxyy"), "t": list("xyxy"), "n": list("1234")})
    release = dc.publish(
        frame,
        job(
            {"q": Q, "s": S, "t": S, "n": {"role": "insensitive", "allow_identifying": True}},
            beta=0.0,
        ),
    )
    assert [table.columns for table in release.tables.values()] == [["q", "s", "n"], ["q", "t"]]


def test_a_requirement_that_depends_on_the_table_splits_it():
    """Machanavajjhala et al. (2006), section 4.3: diverse in each, not in both together."""
    frame = pl.DataFrame({"q": ["a"] * 4, "s": ["1", "1", "2", "3"], "v": ["1", "2", "3", "3"]})
    asked = [{"multi-attribute-l-diversity": {"l": 2}}]
    release = dc.publish(frame, job({"q": Q, "s": S, "v": S}, asked))
    assert release.manifest.method.plan == [["s"], ["v"]]
    one = job({"q": Q, "s": S, "v": S}, asked, plan="given", tables=[["s", "v"]])
    with pytest.raises(dc.InfeasibleError, match="reaches l = 1 there at best"):
        dc.publish(frame, one)


def test_the_frontier_of_a_job_for_another_method():
    frame = pl.DataFrame({"q": list("aabb") * 2, "s": list("xxyyxyxy"), "t": list("xyxyyyxx")})
    found = explore_projections(frame, dc.Job(attributes={"q": Q, "s": S, "t": S}))
    assert [step.tables for step in found.steps] == [2, 1]
    assert found.frontier.baseline.closeness == pytest.approx(0.25)
    assert found.steps[0].feasible
    assert "<svg" in found._repr_html_()
    assert dc.explore_projections is explore_projections


def test_without_a_ceiling_the_single_class_is_left_out_and_may_be_all_there_is():
    frame = pl.DataFrame({"q": list("ab"), "s": list("xy"), "t": list("xy")})
    asked = [{"k-anonymity": {"k": 2}}]
    found = explore_projections(
        frame, dc.Job(attributes={"q": Q, "s": S, "t": S}, requirements=asked)
    )
    assert [step.closeness for step in found.steps] == [None, None]
    assert [step.chosen_closeness for step in found.steps] == [0, 0]
    with_ceiling = job({"q": Q, "s": S, "t": S}, asked, dm=4)
    found = explore_projections(frame, with_ceiling)
    assert [step.closeness for step in found.steps] == [0, 0]
    assert found.steps[0].improvement is None  # the baseline is 0


def test_frames_and_formats_come_back(tmp_path):
    frame = pl.DataFrame({"q": ["a", "b"] * 4, "s": list("xxyyxxyy"), "t": [1, 2, 3, 4] * 2})
    release = dc.publish(frame, job({"q": Q, "s": S, "t": S}, beta=0.0))
    release.save(tmp_path / "out", format="parquet", **UNATTACKED)
    assert dc.audit(tmp_path / "out").ok
    assert sorted(dc.read_release(tmp_path / "out")["projection_2"]["t"].to_list()) == [
        1, 1, 2, 2, 3, 3, 4, 4,
    ]  # fmt: skip


def test_a_requirement_with_a_number_for_each_attribute_goes_to_their_tables():
    frame = pl.DataFrame(
        {
            "q": list("ab") * 4,
            "s": list("xyzxyzxy"),
            "ill": ["f|g", "f", "g", ""] * 2,
            "t": list("01") * 4,
        }
    )
    sets = {"role": "sensitive", "multi_valued": "|"}
    asked = [{"sa-diversity": {"l": {"s": 3, "ill": 2}}}]
    made = job({"q": Q, "s": S, "ill": sets, "t": S}, asked, beta=0.0)
    release = dc.publish(frame, made)
    (promise,) = release.manifest.promises
    assert promise.parameters["l"] == {"s": 3, "ill=f": 2, "ill=g": 2}
    assert promise.by_attribute.keys() == {"s", "ill=f", "ill=g"}
    assert promise.holds
    assert release.manifest.method.plan == [
        ["s"],
        ["ill=f"],
        ["ill=g", "t"],
    ]  # g and t tell all of each other


def local_job(t: float, dm: float | None = None) -> tuple[dc.Job, pl.DataFrame]:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 60, 400)
    frame = pl.DataFrame(
        {
            "age": age,
            "ill": [f"i{v}" for v in (age // 15 + rng.integers(0, 2, 400)) % 4],
            "job": [f"j{v}" for v in (age // 20 + rng.integers(0, 3, 400)) % 3],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "ill": {"role": "sensitive"},
            "job": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": t}}],
        method={"codip": {"recoding": "mondrian"} | ({} if dm is None else {"dm": dm})},
    )
    return job, frame


def test_local_recodings_have_a_closest_t_and_an_unreachable_one_names_it():
    job, frame = local_job(t=0.9)
    steps = dc.explore_projections(frame, job).to_dict()["steps"]
    for step in steps:
        assert 0 < step["closeness"] <= step["chosen_closeness"] <= 0.9
    ceiling = 20_000  # an eighth of a single class
    job, _ = local_job(t=0.01, dm=ceiling)
    nearest = min(
        step["closeness"] for step in dc.explore_projections(frame, job).to_dict()["steps"]
    )
    assert nearest > 0.01
    with pytest.raises(dc.InfeasibleError, match="nearest point") as caught:
        dc.publish(frame, job, seed=0)
    assert f"t = {nearest:.6g}" in str(caught.value)
    reachable, _ = local_job(t=nearest, dm=ceiling)
    plan = dc.explore_projections(frame, reachable).to_dict()["steps"]
    assert any(step["feasible"] for step in plan)


def test_a_hierarchy_with_hundreds_of_levels():
    long = ["x" * 300, "y" * 300]
    frame = pl.DataFrame({"text": long * 4, "s": ["a", "b", "b", "a"] * 2, "t": ["c", "d"] * 4})
    attributes = {
        "text": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "s": {"role": "sensitive"},
        "t": {"role": "sensitive"},
    }
    release = dc.publish(frame, job(attributes, [dc.KAnonymity(k=5)], beta=0.9))
    for table in release.tables.values():
        assert table["text"].n_unique() == 1


def test_a_value_of_nearly_half_of_the_rows_does_not_leave_a_table_uncut(tmp_path):
    """Mondrian cannot cut it: one half has more than half. Groups along the curve mix the rows."""
    rows = 400
    frame = pl.DataFrame(
        {
            "age": [20 + 3 * row % 61 for row in range(rows)],
            "town": [str(row % 7) for row in range(rows)],
            "again": np.where(np.random.default_rng(3).permutation(rows) < 196, "yes", "no"),
            "drug": ["abcd"[row % 4] for row in range(rows)],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "town": {"role": "quasi-identifier"},
            "again": {"role": "sensitive", "sensitive_values": ["yes"]},
            "drug": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 4}}, {"p-diversity": {"l": 2}}],
        method="codip",
    )
    release = dc.publish(frame, job, seed=1)
    assert release.private["utility"]["loss"] < 0.2
    place = release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(place).ok
    for name in release.manifest.tables:
        columns = {n for n in release.tables[name].columns if n not in ("again", "drug")}
        secret = "again" if "again" in release.tables[name].columns else "drug"
        for _, group in release.tables[name].group_by(sorted(columns)):
            counts = group[secret].value_counts()
            if secret == "again":
                counts = counts.filter(pl.col("again") == "yes")
            assert len(group) >= 4
            assert 2 * (counts["count"].max() or 0) <= len(group)
