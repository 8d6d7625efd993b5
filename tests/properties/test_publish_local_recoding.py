"""Whatever local recoding publishes on any table keeps its promise, as derived from the files."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.properties.test_publish_full_domain import (
    QUASI,
    REQUIREMENTS,
    TABLES,
    check_one,
    job_for,
    write,
)
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

METHODS = st.builds(
    lambda effort, reading: {"local-recoding": {"effort": effort, **reading}},
    st.sampled_from(["quick", "good"]),
    st.sampled_from([{}, {"ranges": True}, {"cells": "levels"}, {"cells": "grid"}]),
)


@given(
    rows=TABLES,
    requirements=st.lists(REQUIREMENTS, min_size=1, max_size=3),
    method=METHODS,
    seed=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_promise_holds_in_the_files(rows, requirements, method, seed):
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "table.csv", Path(folder) / "release"
        write(source, rows)
        job = job_for(requirements, 0.0, "loss").model_copy(
            update={"method": dc.LocalRecoding(**method["local-recoding"])}
        )
        try:
            make_release(source, job, seed=seed).save(place, **UNATTACKED)
        except dc.InfeasibleError as error:
            assert error.failures
            assert not place.exists()
            assume(False)
        published = naive.read_csv(place / "records.csv")
        manifest = naive.read_manifest(place)

        assert manifest["source_rows"] == manifest["published_rows"] == len(published) == len(rows)
        assert manifest["suppressed_rows"] == 0
        source_values = Counter((s, v, f"note {i % 3}") for i, (*_, s, v) in enumerate(rows))
        assert Counter((row["s"], row["v"], row["note"]) for row in published) == source_values

        groups = naive.classes(published, QUASI)
        for requirement, promise in zip(requirements, manifest["promises"], strict=True):
            ((name, parameters),) = requirement.items()
            assert promise["requirement"] == name
            assert promise["holds"]
            check_one(name, parameters, promise, groups)

        private = json.loads(place.with_name(f"{place.name}.private.json").read_text())
        facts = private["method"]
        assert facts["loss"] == pytest.approx(private["utility"]["loss"])
        assert facts["lower_bound"] <= facts["loss"] + 1e-12
        hidden = sum(all(row[name] == "*" for name in QUASI) for row in published)
        known = [source[:3] for source in rows if source[2]]  # no interval covers a missing number
        vague = sum(all(covers(row, *source) for source in known) for row in published)
        assert hidden <= facts["root_rows"] <= vague
        chosen = manifest["method"]
        assert ("hierarchies" in chosen) == (chosen["parameters"]["cells"] == "levels")
        check_cells(rows, published)


def check_cells(rows: list[tuple[str, ...]], published: list[naive.Row]) -> None:
    """Every source row finds a published row of its own sensitive values whose cells cover it."""
    left = list(published)
    open_ = [[] for _ in rows]
    for number, (q, zip_, n, s, v) in enumerate(rows):
        for place, row in enumerate(left):
            same = (row["s"], row["v"], row["note"]) == (s, v, f"note {number % 3}")
            if same and covers(row, q, zip_, n):
                open_[number].append(place)
    taken: dict[int, int] = {}

    def find(number: int, seen: set[int]) -> bool:
        for place in open_[number]:
            if place not in seen:
                seen.add(place)
                if place not in taken or find(taken[place], seen):
                    taken[place] = number
                    return True
        return False

    assert all(find(number, set()) for number in range(len(rows)))


def covers(row: naive.Row, q: str, zip_: str, n: str) -> bool:
    number = row["n"]
    if number.startswith("["):
        low, high = number[1:-1].split(", ")
        inside = n != "" and (
            int(low) <= int(n) <= int(high)
            if number.endswith("]")
            else int(low) <= int(n) < int(high)
        )
    else:
        inside = number in (n, "*")
    masked = row["zip"] == "*" or (
        len(row["zip"]) >= len(zip_) and zip_.startswith(row["zip"].rstrip("*"))
    )
    return inside and masked and row["q"] in (q, "*")
