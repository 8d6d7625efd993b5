"""The reference page is made from the code, and current."""

from __future__ import annotations

from tests.docs.reference import PAGE, reference

import discreet as dc


def test_the_reference_is_current():
    assert PAGE.read_text(encoding="utf-8") == reference(), "run python -m tests.docs.reference"


def test_the_reference_has_every_public_name():
    text = reference()
    for name in dc.__all__:
        assert name == "__version__" or f"dc.{name}" in text, name
