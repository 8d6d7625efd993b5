"""A requirement that speaks of no attribute promises nothing, so it does not hold."""

from __future__ import annotations

import polars as pl
import pytest
from tests.tables import coded_table

import discreet as dc
from discreet.requirements.registry import requirement_from_mapping
from discreet.table.counts import count_classes

SPEAKING_OF_VALUES = [
    {"distinct-l-diversity": {"l": 1}},
    {"entropy-l-diversity": {"l": 1}},
    {"recursive-cl-diversity": {"c": 1, "l": 1}},
    {"p-diversity": {"l": 1}},
    {"m-diversity": {"l": 1}},
    {"multi-attribute-l-diversity": {"l": 1}},
    {"t-closeness": {"t": 1}},
    {"alpha-k-anonymity": {"alpha": 1, "k": 1}},
    {"beta-likeness": {"beta": 9}},
    {"delta-disclosure": {"delta": 9}},
]


@pytest.mark.parametrize("written", SPEAKING_OF_VALUES, ids=lambda one: next(iter(one)))
def test_it_does_not_hold_where_nothing_is_sensitive(written):
    table = coded_table({"q": ["1", "1"]})
    counts = count_classes(table.classes, [], refined=True)
    assert not requirement_from_mapping(written).check(counts, {}).holds
    assert requirement_from_mapping({"k-anonymity": {"k": 2}}).check(counts, {}).holds


def test_a_floor_for_the_others_needs_others():
    frame = pl.DataFrame({"q": ["1", "2"] * 4, "s": ["a", "b", "c", "d"] * 2})
    attributes = {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    method = {"decomposition": {"conditional_l": {"l": 2}}}
    release = dc.publish(frame, dc.Job(attributes=attributes, method=method), seed=1)
    assert [promise.requirement for promise in release.manifest.promises] == ["sa-diversity"]
    asked = [{"conditional-l-diversity": {"l": 2, "known": "s"}}]
    job = dc.Job(attributes=attributes, requirements=asked, method="decomposition")
    with pytest.raises(dc.DiscreetError, match="no sensitive attribute beside 's'"):
        dc.publish(frame, job, seed=1)
