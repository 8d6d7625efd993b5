"""Attacks on a series count beliefs in sensitive values, by enumeration of all worlds."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.series_readers import series_of

from discreet.attacks.cross_release import correspondence, value_association
from discreet.attacks.series_beliefs import beliefs_together, connected, together

VALUES = "Nabc"


@st.composite
def releases(draw):
    """Two releases of a few people, some in both, whose values stay."""
    people = draw(st.integers(2, 5))
    value = draw(st.lists(st.sampled_from(VALUES), min_size=people, max_size=people))
    found = []
    for _ in range(2):
        here = [p for p in range(people) if draw(st.booleans())]
        group = {p: draw(st.integers(0, 1)) for p in here}
        own = [[p for p in here if group[p] == g] for g in (0, 1)]
        found.append([([f"p{p}" for p in g], [value[p] for p in g]) for g in own if g])
    return found


def enumerated(published, harmless):
    """By person the greatest belief in a sensitive value over all assignments of values."""
    names = sorted({name for one in published for people, _ in one for name in people})
    seen, worlds = {name: Counter() for name in names}, 0
    for world in itertools.product(VALUES, repeat=len(names)):
        has = dict(zip(names, world, strict=True))
        if all(
            Counter(has[name] for name in people) == Counter(values)
            for one in published
            for people, values in one
        ):
            worlds += 1
            for name in names:
                seen[name][has[name]] += 1
    return {
        name: max((n / worlds for v, n in seen[name].items() if v not in harmless), default=0.0)
        for name in names
    }


@settings(max_examples=80, deadline=None)
@given(releases(), st.sets(st.sampled_from(VALUES), min_size=1, max_size=2))
def test_beliefs_together_equal_the_enumeration(published, harmless):
    series = replace(series_of(published), harmless=frozenset(harmless))
    expected = enumerated(published, harmless)
    belief, joined, assessed = beliefs_together(series)
    _, linked = connected(series)
    for name, one, target, exact, in_several in zip(
        series.people, belief, joined, assessed, linked, strict=True
    ):
        if not in_several:
            assert not target
            continue
        assert target == exact == (expected[name] > 0)
        assert one == pytest.approx(expected[name])


def test_people_who_certainly_have_a_harmless_value_are_no_targets():
    """p and q are in a group of N alone: certain, and no secret."""
    first = [(["p", "q"], ["N", "N"]), (["r", "s"], ["a", "b"])]
    second = [(["p", "r"], ["N", "a"]), (["q", "s"], ["N", "b"])]
    plain = series_of([first, second])
    spared = replace(plain, harmless=frozenset("N"))
    assert value_association(plain).certain == 4
    found = value_association(spared)
    assert (found.targets, found.certain) == (2, 2)  # r and s: whoever is not N
    assert correspondence(spared).targets == 2
    both = together(spared, "s", [0.5, 0.5])
    assert (both.targets, both.certain, both.above) == (2, 2, 2)
