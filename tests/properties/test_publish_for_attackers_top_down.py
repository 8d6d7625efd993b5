"""Whatever is published for attackers who know some columns keeps its promise to each of them.

Derived from the files in two ways: by grouping rows with the same cells in the known columns, and
by the rows that an attacker finds who knows the raw values of a person.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc
from discreet.pipeline.run import make_release

QUASI = ["colour", "zip", "age", "town"]
TABLES = st.lists(
    st.tuples(
        st.sampled_from(["red", "blue", "ü", ""]),
        st.sampled_from(["01", "02", "11", "12"]),
        st.sampled_from(["1", "2", "3", "8", "20"]),
        st.sampled_from(["A", "B", "C"]),
        st.sampled_from(["flu", "hiv", "cold"]),
        st.sampled_from(["1", "2"]),
    ),
    min_size=2,
    max_size=30,
)
METHODS = [
    {"full-domain": {}},
    {"full-domain": {"suppression": 0.3}},
    *({"mondrian": {"cells": cells}} for cells in ("free", "levels", "grid", "blind")),
    {"mondrian": {"cuts": "relaxed"}},
    {"top-down": {}},
    {"top-down": {}},
]
ATTACKERS = st.sampled_from(
    [
        {"one": ["colour", "zip"]},
        {"one": ["colour", "zip"], "two": ["zip", "age"], "three": ["town"]},
        {"one": ["colour", "zip"], "two": ["zip", "age"], "three": ["age", "colour"]},
        {"one": ["age"], "two": {"columns": ["town", "age"], "knows": "pay"}},
        {"some": {"any": 2}},
        {"some": {"any": 2, "of": ["colour", "zip", "town"]}, "one": ["age"]},
    ]
)


def attributes():
    return {
        "colour": {"role": "quasi-identifier"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "town": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "ill": {"role": "sensitive"},
        "pay": {"role": "sensitive"},
        "note": {"role": "insensitive", "allow_identifying": True},
    }


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*QUASI, "ill", "pay", "note"])
        writer.writerows([*row, f"note {number}"] for number, row in enumerate(rows))


def published_by(rows, job, place, source):
    write(source, rows)
    try:
        make_release(source, job, seed=1).save(place, **UNATTACKED)
    except dc.InfeasibleError:
        assert not place.exists()
        assume(False)
    return naive.read_csv(place / "records.csv")


def key_sets(attackers):
    for one in attackers.values():
        if isinstance(one, list):
            yield tuple(one), ()
        elif "columns" in one:
            yield tuple(one["columns"]), (one["knows"],)
        else:
            for names in combinations(one.get("of", QUASI), one["any"]):
                yield names, ()


def found_by(published, person, names):
    """The rows whose cells cover what is known of a person."""
    return [
        row
        for row in published
        if all(naive.covers(row[n], person[n], mask=n == "zip") for n in names)
    ]


def share(rows, name):
    return Fraction(max(Counter(row[name] for row in rows).values()), len(rows))


@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=TABLES, method=st.sampled_from(METHODS), attackers=ATTACKERS, k=st.integers(1, 4))
def test_requirements_hold_for_every_attacker(rows, method, attackers, k):
    job = dc.Job(
        attributes=attributes(), attackers=attackers, method=method,
        requirements=[
            {"k-anonymity": {"k": k}}, {"distinct-l-diversity": {"l": 2, "attribute": "ill"}},
        ],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "source.csv", Path(folder) / "release"
        published = published_by(rows, job, place, source)
        audit = dc.audit(place, original=job.model_copy(update={"source": dc.Source(path=source)}))
        assert audit.ok
        sizes, values = audit.promises
        groups = [
            group
            for names, known in key_sets(attackers)
            for group in naive.classes(published, [*names, *known])
        ]
        assert sizes.achieved["k"] == naive.k_of(groups) >= k
        assert values.achieved["l"] == naive.distinct_of(groups, "ill") >= 2
    if method in ({"full-domain": {}}, {"mondrian": {"cells": "free"}}):
        source_of_note = {
            f"note {number}": dict(zip([*QUASI, "ill", "pay"], row, strict=True))
            for number, row in enumerate(rows)
        }
        for row in published:
            person = source_of_note[row["note"]]
            for names, known in key_sets(attackers):
                found = found_by(published, person, names)
                found = [one for one in found if all(one[n] == person[n] for n in known)]
                assert len(found) >= k
                assert len({one["ill"] for one in found}) >= 2


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=TABLES, method=st.sampled_from(METHODS), length=st.integers(1, 4), k=st.integers(1, 4),
    c=st.sampled_from([0.4, 0.5, 0.7]),
)  # fmt: skip
def test_lkc_privacy_holds_for_every_combination(rows, method, length, k, c):
    job = dc.Job(
        attributes=attributes(), method=method,
        requirements=[{"lkc-privacy": {"l": length, "k": k, "c": c, "attribute": "ill"}}],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        source, place = Path(folder) / "source.csv", Path(folder) / "release"
        published = published_by(rows, job, place, source)
        (promise,) = dc.audit(place).promises
    worst, least = Fraction(0), len(rows)
    for size in range(1, length + 1):
        for names in combinations(QUASI, size):
            for group in naive.classes(published, names):
                worst, least = max(worst, share(group, "ill")), min(least, len(group))
    assert least >= k
    assert worst <= Fraction(str(c))
    assert promise.holds
    assert promise.achieved == {"c": pytest.approx(float(worst)), "k": least}


def test_a_release_that_states_too_much_fails_its_audit(tmp_path):
    rows = [("red", "01", "1", town, ill, "1") for town in "AB" for ill in ("flu", "hiv") * 2]
    job = dc.Job(
        attributes=attributes(), method="full-domain",
        requirements=[{"lkc-privacy": {"l": 1, "k": 4, "c": 0.5, "attribute": "ill"}}],
    )  # fmt: skip
    write(tmp_path / "source.csv", rows)
    make_release(tmp_path / "source.csv", job, seed=1).save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release").ok
    manifest = naive.read_manifest(tmp_path / "release")
    manifest["promises"][0]["parameters"]["k"] = 5
    naive.write_manifest(tmp_path / "release", manifest)
    found = dc.audit(tmp_path / "release")
    assert not found.ok
    assert not found.promises[0].holds
    manifest["promises"][0]["parameters"] |= {"k": 4, "attackers": {"x": ["ill"]}}
    naive.write_manifest(tmp_path / "release", manifest)
    with pytest.raises(dc.ReleaseError, match="lkc-privacy"):
        dc.audit(tmp_path / "release")
