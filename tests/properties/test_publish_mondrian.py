"""Whatever Mondrian publishes on any table keeps its promise, as derived from the files."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.properties.test_publish_full_domain import REQUIREMENTS, SENSITIVE, check_one
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

QUASI = ["colour", "zip", "age", "größe"]

TABLES = st.lists(
    st.tuples(
        st.sampled_from(["red", "blue", "ü", 'x, "y"', ""]),
        st.sampled_from(["01", "02", "11", "12"]),
        st.sampled_from(["1", "2", "3", "8", "9", "20", "007", "7", ""]),
        st.sampled_from(["-1.5", "0", "2.25", "1e1"]),
        st.sampled_from(["flu", "hiv", "cold", "x=1", ""]),
        st.sampled_from(["1", "2", "5", "40"]),
    ),
    min_size=1,
    max_size=40,
)
MORE_REQUIREMENTS = st.one_of(
    REQUIREMENTS,
    st.just({"beta-likeness": {"beta": 2, "attribute": "s"}}),
    st.just({"alpha-k-anonymity": {"alpha": 0.7, "k": 2, "attribute": "s"}}),
)


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*QUASI, *SENSITIVE, "note"])
        for number, row in enumerate(rows):
            writer.writerow([*row, f"note {number}"])


def job_for(requirements: list[dict], cuts: str, cells: str) -> dc.Job:
    return dc.Job(
        attributes={
            "colour": {"role": "quasi-identifier"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "größe": {"role": "quasi-identifier", "type": "number"},
            "s": {"role": "sensitive"},
            "v": {"role": "sensitive", "type": "integer"},
            "note": {"role": "insensitive", "allow_identifying": True},
        },
        requirements=requirements,
        method={"mondrian": {"cuts": cuts, "cells": cells}},
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=TABLES,
    requirements=st.lists(MORE_REQUIREMENTS, min_size=1, max_size=3),
    cuts=st.sampled_from(["strict", "relaxed"]),
    cells=st.sampled_from(["free", "free", "levels", "grid", "blind"]),
)
def test_what_is_published_keeps_its_promise(rows, requirements, cuts, cells):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "source.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(requirements, cuts, cells)
        try:
            make_release(source, job, seed=1).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures
            assert not place.exists()
            assume(False)
        published = naive.read_csv(place / "records.csv")
        manifest = naive.read_manifest(place)

        assert manifest["published_rows"] == len(published) == len(rows)
        assert manifest["suppressed_rows"] == 0
        groups = naive.classes(published, QUASI)
        for requirement, promise in zip(requirements, manifest["promises"], strict=True):
            ((name, parameters),) = requirement.items()
            assert promise["holds"]
            if name not in ("beta-likeness", "alpha-k-anonymity"):
                check_one(name, parameters, promise, groups)
            elif name == "beta-likeness":
                assert naive.beta_of(groups, "s") <= parameters["beta"]
            else:
                assert naive.k_of(groups) >= parameters["k"]
                assert naive.greatest_share_of(groups, "s") <= parameters["alpha"]

        source_of_note = {f"note {number}": row for number, row in enumerate(rows)}
        assert len({row["note"] for row in published}) == len(rows)
        for row in published:
            *quasi, s, v = source_of_note[row["note"]]
            assert (row["s"], row["v"]) == (s, v)
            if cells == "free":
                for name, value in zip(QUASI, quasi, strict=True):
                    assert naive.covers(row[name], value, mask=name == "zip"), (row[name], value)
        assert dc.audit(place, original=with_source(job, source)).ok


def with_source(job: dc.Job, path: Path) -> dc.Job:
    return job.model_copy(update={"source": dc.Source(path=path)})
