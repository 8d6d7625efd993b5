"""Whatever full-domain publishes on any table keeps its promise, as derived from the files."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

SENSITIVE = ["s", "v"]
QUASI = ["q", "zip", "n"]

TABLES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "ü", 'x, "y"', ""]),
        st.sampled_from(["01", "02", "11", "12", "007"]),
        st.sampled_from(["1", "2", "3", "8", "9", "20", ""]),
        st.sampled_from(["flu", "hiv", "cold", "x=1", ""]),
        st.sampled_from(["1", "2", "5", "40"]),
    ),
    min_size=1,
    max_size=40,
)

REQUIREMENTS = st.one_of(
    st.builds(lambda k: {"k-anonymity": {"k": k}}, st.integers(1, 6)),
    st.builds(lambda ell: {"distinct-l-diversity": {"l": ell}}, st.integers(1, 4)),
    st.builds(lambda ell: {"entropy-l-diversity": {"l": ell}}, st.sampled_from([1, 1.5, 2, 3])),
    st.builds(
        lambda c, ell: {"recursive-cl-diversity": {"c": c, "l": ell, "attribute": "s"}},
        st.sampled_from([0.5, 1, 2, 3.5]),
        st.integers(1, 3),
    ),
    st.builds(lambda t: {"t-closeness": {"t": t}}, st.sampled_from([0, 0.1, 0.25, 0.5])),
    st.builds(lambda ell: {"p-diversity": {"l": ell}}, st.sampled_from([1, 1.5, 2, 3])),
    st.builds(lambda ell: {"multi-attribute-l-diversity": {"l": ell}}, st.integers(1, 2)),
)


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *QUASI, *SENSITIVE, "note"])
        for number, row in enumerate(rows):
            writer.writerow([f"person {number}", *row, f"note {number % 3}"])


def job_for(requirements: list[dict], suppression: float, minimize: str) -> dc.Job:
    return dc.Job(
        attributes={
            "name": {"role": "identifier"},
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
            "n": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"intervals": [5, 10, "*"]},
            },
            "s": {"role": "sensitive"},
            "v": {"role": "sensitive", "type": "integer"},
            "note": {"role": "insensitive", "allow_identifying": True},
        },
        requirements=requirements,
        method={"full-domain": {"suppression": suppression, "minimize": minimize}},
    )


@given(
    rows=TABLES,
    requirements=st.lists(REQUIREMENTS, min_size=1, max_size=3),
    suppression=st.sampled_from([0.0, 0.1, 0.5]),
    minimize=st.sampled_from(["loss", "discernibility", "entropy", "class-size", "height"]),
    seed=st.integers(0, 5),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_every_promise_holds_in_the_files(rows, requirements, suppression, minimize, seed):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(requirements, suppression, minimize)
        try:
            make_release(source, job, seed=seed).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures or "rows" in str(error)
            assert not place.exists()
            assume(False)
        published = naive.read_csv(place / "records.csv")
        manifest = naive.read_manifest(place)

        assert manifest["source_rows"] == len(rows)
        assert manifest["published_rows"] == len(published)
        assert manifest["suppressed_rows"] == len(rows) - len(published)
        assert len(rows) - len(published) <= suppression * len(rows)
        assert "name" not in published[0]
        kept_values = Counter((row["s"], row["v"], row["note"]) for row in published)
        source_values = Counter((s, v, f"note {i % 3}") for i, (*_, s, v) in enumerate(rows))
        assert not kept_values - source_values

        groups = naive.classes(published, QUASI)
        for requirement, promise in zip(requirements, manifest["promises"], strict=True):
            ((name, parameters),) = requirement.items()
            assert promise["requirement"] == name
            assert promise["holds"]
            check_one(name, parameters, promise, groups)


def check_one(name, parameters, promise, groups):
    if name == "k-anonymity":
        assert naive.k_of(groups) == promise["achieved"]["k"] >= parameters["k"]
    elif name == "distinct-l-diversity":
        found = min(naive.distinct_of(groups, a) for a in SENSITIVE)
        assert found == promise["achieved"]["l"] >= parameters["l"]
    elif name == "entropy-l-diversity":
        found = min(naive.entropy_l_of(groups, a) for a in SENSITIVE)
        assert found == pytest.approx(promise["achieved"]["l"])
        assert found >= parameters["l"] - 1e-6
    elif name == "recursive-cl-diversity":
        c = Fraction(str(parameters["c"]))
        assert naive.recursive_holds(groups, "s", c, parameters["l"])
    elif name == "t-closeness":
        found = max(naive.t_equal_of(groups, "s"), naive.t_ordered_of(groups, "v"))
        assert float(found) == pytest.approx(promise["achieved"]["t"], abs=1e-9)
        assert float(found) <= parameters["t"] + 1e-6
    elif name == "p-diversity":
        ell = Fraction(str(parameters["l"]))
        assert all(naive.p_diversity_holds(groups, a, ell) for a in SENSITIVE)
    else:
        assert name == "multi-attribute-l-diversity"
        for attribute in SENSITIVE:
            found = naive.multi_attribute_distinct_of(groups, attribute, SENSITIVE)
            assert found >= parameters["l"]
