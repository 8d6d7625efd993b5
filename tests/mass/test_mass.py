"""Some cases of the mass driver for every method; ``make explore`` draws new ones, and more."""

from __future__ import annotations

import secrets

import pytest
from hypothesis import settings
from tests.mass.cases import METHODS, make_case
from tests.mass.endings import DEFECTS, PUBLISHED
from tests.mass.running import run


@pytest.mark.parametrize("method", METHODS)
def test_every_ending_is_sound(method: str) -> None:
    exploring = not settings.default.derandomize
    first = METHODS.index(method) + len(METHODS) * (secrets.randbelow(10**8) if exploring else 0)
    endings = [
        (number, *ending)
        for number in range(first, first + len(METHODS) * (200 if exploring else 12), len(METHODS))
        for ending in run(make_case(number))
    ]
    assert not [one for one in endings if one[1] in DEFECTS]
    assert any(outcome == PUBLISHED for _, outcome, _ in endings)
