"""msa-diversity bounds sensitive values alone, in all its forms, as derived from the files."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests import naive
from tests.saving import UNATTACKED

import discreet as dc

QUASI = ["zip", "n"]
SENSITIVE = ["s0", "s1", "s2"]
HARMLESS = ["no", "none"]
ATTRIBUTES = {
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": "right"}},
    "n": {"role": "quasi-identifier", "type": "integer"},
}

rows_of_tables = st.lists(
    st.tuples(
        st.sampled_from(["01", "02", "11", "12"]),
        st.integers(1, 20).map(str),
        st.sampled_from(["no", "no", "no", "yes"]),
        st.sampled_from(["none", "none", "no", "hiv", "flu", "pox"]),
        st.sampled_from(["a", "b", "c", "d", "e"]),
    ),
    min_size=4,
    max_size=30,
)


def job_of(frame, requirements, method, **more):
    attributes = dict(ATTRIBUTES)
    for name in SENSITIVE:
        harmless = sorted(set(frame[name].to_list()) & set(HARMLESS))
        spared = {"non_sensitive_values": harmless} if harmless else {}
        attributes[name] = {"role": "sensitive", **spared}
    return dc.Job(
        attributes=attributes | more.pop("attributes", {}),
        requirements=requirements,
        method={"msa-diversity": method},
        **more,
    )


def share_holds(values, ell):
    """No sensitive value fills more than 1/ℓ."""
    return all(
        times * ell <= len(values)
        for value, times in Counter(values).items()
        if value not in HARMLESS
    )


def distinct_holds(values, ell):
    """No sensitive value occurs, or ℓ values do."""
    return len(set(values)) >= ell or set(values) <= set(HARMLESS)


def ruled_out_holds(values, ell):
    """After any i values are ruled out, no sensitive value fills more than 1/(ℓ − i)."""
    count = Counter(values)
    for secret in set(count) - set(HARMLESS):
        others = sorted((n for v, n in count.items() if v != secret), reverse=True)
        for ruled_out in range(ell):
            left = len(values) - sum(others[:ruled_out])
            if count[secret] * (ell - ruled_out) > left:
                return False
    return True


FORMS = {
    "p-diversity": share_holds,
    "distinct-l-diversity": distinct_holds,
    "m-diversity": ruled_out_holds,
}


@given(
    rows=rows_of_tables,
    ell=st.sampled_from([2, 2, 3]),
    form=st.sampled_from(list(FORMS)),
    publish=st.sampled_from(["generalized", "buckets"]),
    grouping=st.sampled_from(["curve", "curve", "blocks", "paper"]),
    cells=st.sampled_from(["free", "free", "grid"]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_files_bound_sensitive_values_alone(rows, ell, form, publish, grouping, cells):
    frame = pl.DataFrame(rows, schema=[*QUASI, *SENSITIVE], orient="row")
    method = {"grouping": grouping, "publish": publish, "cells": cells, "suppression": 0.9}
    job = job_of(frame, [{form: {"l": ell}}], method, unit="rows")
    whole = {name: frame[name].to_list() for name in SENSITIVE}
    with tempfile.TemporaryDirectory() as folder:
        try:
            release = dc.publish(frame, job, seed=1)
        except dc.InfeasibleError as error:
            assert error.failures
            fits = all(FORMS[form](values, ell) for values in whole.values())
            shares = all(share_holds(values, ell) for values in whole.values())
            assert grouping == "paper" or not (fits and shares)
            assume(False)
        place = release.save(Path(folder) / "release", **UNATTACKED)
        assert dc.audit(place).ok
        manifest = naive.read_manifest(place)
        table = "records" if publish == "generalized" else "sensitive"
        records = naive.read_csv(place / f"{table}.csv")
        groups = naive.classes(records, QUASI if publish == "generalized" else ["group"])
    for group in groups:
        assert len(group) >= ell
        for name in SENSITIVE:
            assert FORMS[form]([row[name] for row in group], ell)
    if grouping != "paper" and all(share_holds(values, ell) for values in whole.values()):
        assert len(records) == len(rows)
    stated = {
        name: set(promise["parameters"].get("non_sensitive") or ())
        for promise in manifest["promises"]
        for name in _named(promise["parameters"])
    }
    for name in SENSITIVE:
        published = {row[name] for row in records}
        assert stated[name] == published & set(HARMLESS)


def _named(parameters):
    named = parameters.get("attribute") or SENSITIVE
    return [named] if isinstance(named, str) else named


@given(rows=rows_of_tables, ell=st.sampled_from([2, 2.5]))
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_of_persons_are_kept_with_the_same_bound(rows, ell):
    frame = pl.DataFrame(
        [(f"p{at // 2}", *row) for at, row in enumerate(rows)],
        schema=["person", *QUASI, *SENSITIVE],
        orient="row",
    )
    job = job_of(
        frame,
        [{"p-diversity": {"l": ell}}],
        {"suppression": 0.9},
        attributes={"person": {"role": "identifier"}},
        person={"column": "person", "rows": "keep"},
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            release = dc.publish(frame, job, seed=1)
        except dc.InfeasibleError:
            assume(False)
        place = release.save(Path(folder) / "release", **UNATTACKED)
        assert dc.audit(place).ok
        records = naive.read_csv(place / "records.csv")
    for group in naive.classes(records, QUASI):  # a value of all rows would be one of all persons
        for name in SENSITIVE:
            values = {row[name] for row in group}
            assert len(values) > 1 or values <= set(HARMLESS)


def test_a_harmless_majority_is_no_obstacle_and_a_sensitive_one_is_named():
    frame = pl.DataFrame(
        {
            "zip": ["01", "02", "11", "12"] * 10,
            "n": [str(1 + at % 20) for at in range(40)],
            "s0": ["yes"] * 2 + ["no"] * 38,
            "s1": ["hiv", "none", "none", "flu"] * 10,
            "s2": list("abcde") * 8,
        }
    )
    asked = [{"p-diversity": {"l": 3}}]
    release = dc.publish(frame, job_of(frame, asked, {}, unit="rows"), seed=1)
    assert release.manifest.suppressed_rows == 0
    plain = job_of(frame, asked, {}, unit="rows")
    attributes = {
        name: attribute.model_copy(update={"non_sensitive_values": None})
        for name, attribute in plain.attributes.items()
    }
    with pytest.raises(dc.InfeasibleError, match="most frequent value of 's0' under 'non_sens"):
        dc.publish(frame, plain.model_copy(update={"attributes": attributes}), seed=1)
